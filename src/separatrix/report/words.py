"""A verdict and its proof in plain words, for the terminal and for the page."""

from __future__ import annotations

from ..proofs.verdict import Verdict
from .tables import NamedData

SHOWN = 6  # rows named

# First in the words of statistics (Albert and Anderson 1984), then in plain ones.
_TRADE = {
    "separable": "Complete separation",
    "quasi-separable": "Quasi-complete separation",
    "overlapping": "Overlap",
    "inseparable": "Overlap or quasi-complete separation",
}


def answer(verdict: Verdict) -> str:
    """The answer in two short sentences, the first in the words of statistics, the second in plain ones."""
    trade = _TRADE.get(verdict.status, "")
    if verdict.parts:
        decided = sum(part.separable is not None for part in verdict.parts.values())
        which = "each" if verdict.separable else "the hardest"
        trade += f", in {which} of {decided} {'question' if decided == 1 else 'questions'}"
        trade += "" if decided == len(verdict.parts) else " that were decided"
    elif verdict.status == "overlapping":
        trade += ": a finite estimate exists"
    return f"{trade}. {_plain(verdict)}" if verdict.status in _TRADE else _plain(verdict)


def _plain(verdict: Verdict) -> str:
    """The answer in plain words: who can or cannot be separated, and under which condition."""
    if verdict.separable is None:
        return f"Undecided: no proof was found that {verdict.separated('can')}, and none of the opposite."
    if verdict.status != "quasi-separable" or verdict.parts:
        return f"{'Yes' if verdict.separable else 'No'}: {verdict.claim}."
    strict, all_rows = verdict.strict_rows.size, verdict.n_rows
    almost = 2 * strict >= all_rows
    if verdict.joint:
        ties = f"{all_rows - strict:,} of {all_rows:,} rows tie with another class"
        some = f", {verdict.partly_strict:,} of them with some only" if verdict.partly_strict else ""
        return f"{'Almost' if almost else 'In part'}: {verdict.separated('can')} but for ties; {ties}{some}."
    if almost:
        return f"Almost: {verdict.separated('can')} but for rows on the boundary itself."
    some = f"{strict:,} of {all_rows:,} rows can be separated {verdict.condition}"
    return f"In part: {some}; the others stay on the boundary."


def proof(verdict: Verdict) -> list[str]:
    """Why the answer is true, a sentence an item."""
    said = _proof(verdict)
    if verdict.reason and verdict.certificate is not None:
        said.append(f"Planes and points are those of the feature space: {verdict.reason}.")
    return said


def _proof(verdict: Verdict) -> list[str]:
    if verdict.parts:
        return [
            f"{len(verdict.parts)} questions were asked. Each answer but an undecided one has its own proof.",
            *filter(None, [verdict.hardest]),
        ]
    if verdict.status == "undecided":
        return ["Nothing was proved. Whatever is not proved is not claimed."]
    if verdict.certificate is None:
        return [f"There is no certificate to check; the answer rests on this: {verdict.reason}."]
    if verdict.status == "separable":
        exactly = (
            "Every sign was checked exactly: with a bound of the rounding error, and in whole numbers where "
            "that does not decide."
        )
        every = f"each of the {verdict.n_rows:,} rows"
        found = (
            f"One choice of weights {verdict.condition} gives {every} its largest score for its own class, "
            "and no other."
            if verdict.joint
            else f"One hyperplane {verdict.condition} has {every} strictly on its own side."
        )
        return [found, exactly]
    words = [_witness(verdict)]
    if verdict.status == "overlapping":
        rivals = ", against every other class" if verdict.joint else ""
        everything = (
            f"More than that: all {verdict.n_rows:,} rows{rivals}, each with a positive weight, cancel "
            "exactly. "
        )
        if _near(verdict):
            everything = f"More than that: these rows span all {verdict.n_rows:,}. "
        meaning = verdict.meaning
        words.append(f"{everything}So {meaning[0].lower()}{meaning[1:]}")
    if verdict.status == "quasi-separable":
        tight = verdict.n_rows - verdict.strict_rows.size
        strict = f"{verdict.strict_rows.size:,} rows"
        words.append(
            f"Yet one choice of weights {verdict.condition} gives no row a larger score for another class: "
            f"{strict} have the largest for their own alone, and {tight:,} tie with another class, as they "
            "must under all such weights."
            if verdict.joint
            else f"Yet one hyperplane {verdict.condition} has no row on its wrong side: {strict} lie "
            f"strictly on their own side, and {tight:,} on the hyperplane itself, as they must on every such "
            "hyperplane."
        )
    return words


def _near(verdict: Verdict) -> bool:
    """Whether the proof is by approximate multipliers."""
    return verdict.certificate is not None and verdict.certificate.approximate is not None


def _witness(verdict: Verdict) -> str:
    certificate, few = verdict.certificate, len(verdict.witness)
    if _near(verdict):
        return (
            f"{few:,} signed rows, weighed as in the table, cancel nearly to zero. It is proved, with all "
            "rounding counted, that exact positive weights near these make them cancel to exactly zero. "
            f"{_gordan(verdict)}"
        )
    if certificate is not None and certificate.lift and certificate.question != "joint":
        return (
            f"{few:,} rows, weighed as in the table, make one and the same point out of either side. That "
            f"point lies in the convex hulls of both, so {verdict.claim}."
        )
    return f"{few:,} signed rows, weighed as in the table, cancel to exactly zero. {_gordan(verdict)}"


def _gordan(verdict: Verdict) -> str:
    """Why rows that cancel cannot be separated."""
    return (
        "Weights that gave each of them a positive score would give zero a positive score, so "
        f"{verdict.claim}."
    )


def consequence(verdict: Verdict) -> str:
    """What the answer means for a logistic regression; empty where it means nothing."""
    if verdict.parts or verdict.separation is None:
        return ""
    regression = (
        f"A {'multinomial ' if verdict.joint else ''}logistic regression "
        f"{'with' if verdict.lift else 'without'} an intercept"
        f"{' of these features' if verdict.kernel else ''}"
    )
    if verdict.separation == "overlap":
        return (
            f"{regression} has a finite maximum-likelihood estimate, and only one unless some columns depend "
            "on others. Fit it as usual."
        )
    said = f"{regression} has no finite maximum-likelihood estimate: "
    if not verdict.coefficients:
        return f"{said}whatever a program prints for it is where it gave up."
    said += "whatever a program prints for the coefficients below is where it gave up."
    if "not determined" in verdict.coefficients.values():
        said += (
            " Those that are not determined may grow without end in either direction, or not at all: the "
            "data leave it open."
        )
    if verdict.not_identified:
        said += (
            " Those that are not identified belong to columns that depend on each other: leave out all but "
            "one of each such set, and ask again."
        )
    return said


def separated_rows(verdict: Verdict, data: NamedData) -> str:
    """Which rows are separated strictly, in a few words; empty where none are."""
    strict, rest = verdict.strict_rows, verdict.n_rows - verdict.strict_rows.size
    if not strict.size:
        some = verdict.partly_strict
        return f"none strictly from all other classes; {some:,} from some of them" if some else ""
    if not rest:
        return f"all {strict.size:,} strictly"
    first = ", ".join(data.row_words(strict[:SHOWN].tolist()))
    more = f" and {strict.size - SHOWN:,} more" if strict.size > SHOWN else ""
    stay = "tie with another class" if verdict.joint else "stay on the boundary"
    return f"{strict.size:,} strictly ({first}{more}); {rest:,} {stay}"
