"""A verdict and its proof in plain words, for the terminal and for the report."""

from __future__ import annotations

from ..certificates.claims import Separation
from ..proofs.verdict import Verdict
from .tables import NamedData

# The terms of statistics (Albert and Anderson 1984).
_TERMS = {
    "separable": "Complete separation",
    "quasi-separable": "Quasi-complete separation",
    "overlapping": "Overlap",
    "inseparable": "Overlap or quasi-complete separation",
}

# How good an answer is: a style, a sign, and a text for screen readers.
OPEN = "open", "?", "not decided"
GOOD = "good", "✓", "proved, good news"
CAUTION = "caution", "!", "proved, needs attention"


def answer(verdict: Verdict) -> str:
    """Return the answer in two short sentences: in the terms of statistics, and in plain words."""
    term = _TERMS.get(verdict.status, "")
    if verdict.parts:
        decided = sum(part.separable is not None for part in verdict.parts.values())
        which = "each" if verdict.separable else "the hardest"
        term += f", in {which} of {decided} {'question' if decided == 1 else 'questions'}"
        term += "" if decided == len(verdict.parts) else " that were decided"
    elif verdict.status == Separation.OVERLAPPING:
        term += " (a finite estimate exists)"
    return f"{term}. {plain(verdict)}" if verdict.status in _TERMS else plain(verdict)


def headline(verdict: Verdict, *, regression: bool) -> str:
    """Return the answer in one short sentence, in the terms of whoever asked."""
    term = _TERMS.get(verdict.status)
    if term is None:
        return "Undecided"
    if verdict.separation is None or verdict.parts or not regression:
        return "The classes can be separated" if verdict.separable else "The classes cannot be separated"
    exists = "a finite estimate exists" if verdict.separation == "overlap" else "there is no finite estimate"
    return f"{term}: {exists}"


def tone(verdict: Verdict, *, regression: bool) -> tuple[str, str, str]:
    """Return how good the answer is for whoever asked: a style, a sign, and a text for screen readers.

    Before a regression, overlap is good news, and separation needs a remedy. For a classifier, separable
    classes are good news.
    """
    if verdict.status in (Separation.UNDECIDED, Separation.INSEPARABLE) and regression:
        return OPEN
    if verdict.separable is None:
        return OPEN
    good = verdict.status == Separation.OVERLAPPING if regression else verdict.separable
    return GOOD if good else CAUTION


def plain(verdict: Verdict) -> str:
    """Say in plain words what can or cannot be separated, and under which condition."""
    if verdict.separable is None:
        return f"Undecided: it was neither proved nor disproved that {verdict.asked.separated('can')}."
    if verdict.status != Separation.QUASI_SEPARABLE or verdict.parts:
        return f"{'Yes' if verdict.separable else 'No'}: {verdict.claim}."
    strict, all_rows = verdict.strict_rows.size, verdict.n_rows
    almost = 2 * strict >= all_rows
    if verdict.joint:
        part, ties = "Almost" if almost else "In part", f"{all_rows - strict:,} of {all_rows:,} rows"
        can = verdict.asked.separated("can")
        return f"{part}: {can}, except that {ties} tie with at least one other class."
    if almost:
        return f"Almost: {verdict.asked.separated('can')}, except for rows on the boundary."
    some = f"{strict:,} of {all_rows:,} rows can be separated {verdict.condition}"
    return f"In part: {some}; the others are on the boundary."


def proof(verdict: Verdict) -> list[str]:
    """Say why the answer is true, one paragraph per item."""
    said = _proof(verdict)
    if verdict.reason and verdict.certificate is not None:
        said.append(f"This proof is about the feature space: {verdict.reason}.")
    return said


def _proof(verdict: Verdict) -> list[str]:
    if verdict.parts:
        return [
            f"There are {len(verdict.parts)} questions. Each one that is decided has its own proof.",
            *filter(None, [verdict.hardest]),
        ]
    if verdict.status == Separation.UNDECIDED:
        return ["Nothing was proved."]
    if verdict.certificate is None:
        return [f"There is no certificate for this answer. Its reason is: {verdict.reason}."]
    if verdict.status == Separation.SEPARABLE:
        exactly = (
            "The side of every row was checked with a bound on the rounding error and, if this did not "
            "decide, in exact integers."
        )
        every = f"each of the {verdict.n_rows:,} rows"
        found = (
            f"Some weights {verdict.condition} give {every} a larger score for its own class than for "
            "every other class."
            if verdict.joint
            else f"Some hyperplane {verdict.condition} has {every} strictly on its own side."
        )
        return [found, exactly]
    words = [_witness(verdict)]
    if verdict.status == Separation.OVERLAPPING:
        everything = (
            f"There are also positive weights for the comparisons of all {verdict.n_rows:,} rows with every "
            "other class, such that these sums are exactly zero. "
            if verdict.joint
            else f"There are also positive weights for all {verdict.n_rows:,} rows, such that the weighted "
            "sums of the classes are exactly equal. "
        )
        if _near(verdict):
            everything = f"These rows also span all {verdict.n_rows:,} rows. "
        meaning = verdict.meaning
        words.append(f"{everything}Therefore {meaning[0].lower()}{meaning[1:]}")
    if verdict.status == Separation.QUASI_SEPARABLE:
        tight = verdict.n_rows - verdict.strict_rows.size
        strict = f"{verdict.strict_rows.size:,} rows"
        words.append(
            f"But some weights {verdict.condition} give no row a larger score for another class. With them, "
            f"{strict} have a larger score for their own class than for every other class, and {tight:,} tie "
            "with another class. These ties occur with all such weights."
            if verdict.joint
            else f"But some hyperplane {verdict.condition} has no row on the wrong side: {strict} are "
            f"strictly on the correct side, and {tight:,} are on the hyperplane. These {tight:,} are on "
            "every such hyperplane."
        )
    return words


def _near(verdict: Verdict) -> bool:
    """Return whether the proof uses approximate multipliers."""
    return verdict.certificate is not None and verdict.certificate.approximate is not None


def _witness(verdict: Verdict) -> str:
    certificate, few = verdict.certificate, len(verdict.witness)
    almost = "almost" if _near(verdict) else "exactly"
    close = (
        "It is proved, with a bound on all rounding errors, that some positive weights close to these make "
        "the sum exactly zero. "
        if _near(verdict)
        else ""
    )
    if verdict.joint:
        return (
            f"The table lists {few:,} comparisons of a row with another class. Multiply each row by its "
            "weight, add it to the sum of its own class, and subtract it from the sum of the other class: "
            f"then the sum of every class is {almost} zero. {close}If a model gave each of these rows a "
            "larger score for its own class than for the other class, the weighted sum of the differences "
            f"would be positive, but it is zero. Therefore {verdict.claim}."
        )
    if certificate is not None and certificate.lift and not _near(verdict):
        return (
            f"With the weights in the table, the weighted means of the two classes are the same point: "
            f"{few:,} rows prove this. The point lies in both convex hulls, so {verdict.claim}."
        )
    return (
        f"With the weights in the table, {few:,} signed rows (each row times 1 or -1, depending on its "
        f"class) {'almost add up to' if _near(verdict) else 'add up to exactly'} zero. {close}If a model "
        "gave each of them a positive score, it would also give their sum, which is zero, a positive score. "
        f"Therefore {verdict.claim}."
    )


def consequence(verdict: Verdict) -> str:
    """Say what the answer means for a logistic regression; empty if it means nothing."""
    if verdict.parts or verdict.separation is None:
        return ""
    regression = (
        f"A {'multinomial ' if verdict.joint else ''}logistic regression "
        f"{'on these features ' if verdict.kernel else ''}"
        f"{'with' if verdict.lift else 'without'} an intercept"
    )
    if verdict.separation == "overlap":
        return (
            f"{regression} has a finite maximum-likelihood estimate, which is unique unless some column is a "
            "linear combination of others. Fit it as usual."
        )
    said = f"{regression} has no finite maximum-likelihood estimate. "
    of_these = " for the coefficients below" if verdict.coefficients else ""
    said += f"If a program prints numbers{of_these}, they only show where it stopped iterating."
    if "not determined" in verdict.coefficients.values():
        said += (
            " For coefficients that are not determined, the data do not tell whether and in which direction "
            "they grow without limit."
        )
    if verdict.not_identified:
        said += (
            " Coefficients that are not identified belong to columns that are linear combinations of others. "
            "Leave out one column at a time until no column is a linear combination of the others, and check "
            "again."
        )
    return said


def separated_rows(verdict: Verdict, data: NamedData, most: int = 6) -> str:
    """Say which rows are separated strictly; the text is empty if no row is."""
    strict, rest = verdict.strict_rows, verdict.n_rows - verdict.strict_rows.size
    if not strict.size:
        some = verdict.partly_strict
        return f"no row strictly from all other classes; {some:,} strictly from some of them" if some else ""
    if not rest:
        return f"all {strict.size:,} strictly"
    first = ", ".join(data.row_words(strict[:most].tolist()))
    more = f" and {strict.size - most:,} more" if strict.size > most else ""
    stay = "tie with another class" if verdict.joint else "are on the boundary"
    return f"{strict.size:,} strictly ({first}{more}); {rest:,} {stay}"
