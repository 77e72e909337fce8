"""A verdict and its proof in plain words, for the terminal and for the page."""

from __future__ import annotations

from ..proofs.verdict import Verdict
from .tables import NamedData

SHOWN = 6  # rows named

# The terms of statistics (Albert and Anderson 1984).
_TERMS = {
    "separable": "Complete separation",
    "quasi-separable": "Quasi-complete separation",
    "overlapping": "Overlap",
    "inseparable": "Overlap or quasi-complete separation",
}


def answer(verdict: Verdict) -> str:
    """The answer in two short sentences: first in the terms of statistics, then in plain words."""
    term = _TERMS.get(verdict.status, "")
    if verdict.parts:
        decided = sum(part.separable is not None for part in verdict.parts.values())
        which = "each" if verdict.separable else "the hardest"
        term += f", in {which} of {decided} {'question' if decided == 1 else 'questions'}"
        term += "" if decided == len(verdict.parts) else " that were decided"
    elif verdict.status == "overlapping":
        term += ": a finite estimate exists"
    return f"{term}. {_plain(verdict)}" if verdict.status in _TERMS else _plain(verdict)


def _plain(verdict: Verdict) -> str:
    """The answer in plain words: what can or cannot be separated, and under which condition."""
    if verdict.separable is None:
        return (
            f"Undecided: neither a proof that {verdict.separated('can')} nor one of the opposite exists yet."
        )
    if verdict.status != "quasi-separable" or verdict.parts:
        return f"{'Yes' if verdict.separable else 'No'}: {verdict.claim}."
    strict, all_rows = verdict.strict_rows.size, verdict.n_rows
    almost = 2 * strict >= all_rows
    if verdict.joint:
        ties = f"{all_rows - strict:,} of {all_rows:,} rows tie with another class"
        some = f", {verdict.partly_strict:,} of them only with some classes" if verdict.partly_strict else ""
        part = "Almost" if almost else "In part"
        return f"{part}: {verdict.separated('can')}, except for ties: {ties}{some}."
    if almost:
        return f"Almost: {verdict.separated('can')}, except for rows on the boundary itself."
    some = f"{strict:,} of {all_rows:,} rows can be separated {verdict.condition}"
    return f"In part: {some}; the others are on the boundary."


def proof(verdict: Verdict) -> list[str]:
    """Why the answer is true, one sentence per item."""
    said = _proof(verdict)
    if verdict.reason and verdict.certificate is not None:
        said.append(f"Hyperplanes and points are those of the feature space: {verdict.reason}.")
    return said


def _proof(verdict: Verdict) -> list[str]:
    if verdict.parts:
        return [
            f"{len(verdict.parts)} questions were asked. Each answer that is decided has its own proof.",
            *filter(None, [verdict.hardest]),
        ]
    if verdict.status == "undecided":
        return ["Nothing was proved, so nothing is claimed."]
    if verdict.certificate is None:
        return [f"There is no certificate to check. The reason for the answer is: {verdict.reason}."]
    if verdict.status == "separable":
        exactly = (
            "Every sign was checked exactly: with a bound on the rounding error, and in whole numbers if "
            "that does not decide."
        )
        every = f"each of the {verdict.n_rows:,} rows"
        found = (
            f"One choice of weights {verdict.condition} gives {every} its largest score for its own class "
            "alone."
            if verdict.joint
            else f"One hyperplane {verdict.condition} has {every} strictly on its own side."
        )
        return [found, exactly]
    words = [_witness(verdict)]
    if verdict.status == "overlapping":
        rivals = ", against every other class" if verdict.joint else ""
        everything = (
            f"Moreover, all {verdict.n_rows:,} rows{rivals}, each with a positive weight, cancel exactly. "
        )
        if _near(verdict):
            everything = f"Moreover, these rows span all {verdict.n_rows:,}. "
        meaning = verdict.meaning
        words.append(f"{everything}So {meaning[0].lower()}{meaning[1:]}")
    if verdict.status == "quasi-separable":
        tight = verdict.n_rows - verdict.strict_rows.size
        strict = f"{verdict.strict_rows.size:,} rows"
        words.append(
            f"But one choice of weights {verdict.condition} gives no row a larger score for another class: "
            f"{strict} have their largest score for their own class alone, and {tight:,} tie with another "
            "class, as they do under all such weights."
            if verdict.joint
            else f"But one hyperplane {verdict.condition} has no row on the wrong side: {strict} are "
            f"strictly on the correct side, and {tight:,} on the hyperplane itself, as they are for every "
            "such hyperplane."
        )
    return words


def _near(verdict: Verdict) -> bool:
    """Whether the proof is by approximate multipliers."""
    return verdict.certificate is not None and verdict.certificate.approximate is not None


def _witness(verdict: Verdict) -> str:
    certificate, few = verdict.certificate, len(verdict.witness)
    if _near(verdict):
        return (
            f"{few:,} signed rows, weighted as in the table, almost cancel. It is proved, with all rounding "
            "counted, that exact positive weights near these make them cancel exactly. "
            f"{_gordan(verdict)}"
        )
    if certificate is not None and certificate.lift and certificate.question != "joint":
        return (
            f"{few:,} rows, weighted as in the table, give the same point for both sides. That point lies in "
            f"both convex hulls, so {verdict.claim}."
        )
    return f"{few:,} signed rows, weighted as in the table, add up to exactly zero. {_gordan(verdict)}"


def _gordan(verdict: Verdict) -> str:
    """Why rows that cancel cannot be separated."""
    return (
        "Weights that gave each of them a positive score would also give zero a positive score, so "
        f"{verdict.claim}."
    )


def consequence(verdict: Verdict) -> str:
    """What the answer means for a logistic regression; empty if it means nothing."""
    if verdict.parts or verdict.separation is None:
        return ""
    regression = (
        f"A {'multinomial ' if verdict.joint else ''}logistic regression "
        f"{'with' if verdict.lift else 'without'} an intercept"
        f"{' of these features' if verdict.kernel else ''}"
    )
    if verdict.separation == "overlap":
        return (
            f"{regression} has a finite maximum-likelihood estimate. It is unique unless some columns depend "
            "on others. Fit it as usual."
        )
    said = f"{regression} has no finite maximum-likelihood estimate: "
    if not verdict.coefficients:
        return f"{said}whatever a program prints for it shows only where the program stopped."
    said += "whatever a program prints for the coefficients below shows only where the program stopped."
    if "not determined" in verdict.coefficients.values():
        said += (
            " Coefficients that are not determined may grow without limit in either direction, or not at "
            "all: the data do not say."
        )
    if verdict.not_identified:
        said += (
            " Coefficients that are not identified belong to columns that depend on each other: leave out "
            "all but one of each such set, and check again."
        )
    return said


def separated_rows(verdict: Verdict, data: NamedData) -> str:
    """Which rows are separated strictly, in a few words; empty if none are."""
    strict, rest = verdict.strict_rows, verdict.n_rows - verdict.strict_rows.size
    if not strict.size:
        some = verdict.partly_strict
        return f"none strictly from all other classes; {some:,} from some of them" if some else ""
    if not rest:
        return f"all {strict.size:,} strictly"
    first = ", ".join(data.row_words(strict[:SHOWN].tolist()))
    more = f" and {strict.size - SHOWN:,} more" if strict.size > SHOWN else ""
    stay = "tie with another class" if verdict.joint else "are on the boundary"
    return f"{strict.size:,} strictly ({first}{more}); {rest:,} {stay}"
