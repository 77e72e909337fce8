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
_ANSWER = {
    "separable": "Yes: the classes can be separated.",
    "quasi-separable": "Almost: the classes can be separated but for rows on the boundary itself.",
    "overlapping": "No: the classes cannot be separated.",
    "inseparable": "No: the classes cannot be separated.",
    "undecided": "Undecided: neither a separator nor a proof against one was found.",
}


def answer(verdict: Verdict) -> str:
    """The answer in two short sentences, the first in the words of statistics, the second in plain ones."""
    trade, plain = _TRADE.get(verdict.status, ""), _ANSWER[verdict.status]
    strict, all_rows = verdict.strict_rows.size, verdict.n_rows
    if verdict.parts:
        which = "each" if verdict.status == "separable" else "the hardest"
        trade += f", in {which} of {len(verdict.parts)} questions"
    elif verdict.status == "overlapping":
        trade += ": a finite estimate exists"
    elif verdict.status == "quasi-separable" and 2 * strict < all_rows:  # "almost" would be too much
        plain = f"In part: {strict:,} of {all_rows:,} rows can be separated; the others stay on the boundary."
    return f"{trade}. {plain}" if verdict.status in _TRADE else plain


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
            "The verdict is that of the hardest of them.",
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
            f"One choice of weights gives {every} its largest score for its own class, and no other."
            if verdict.joint
            else f"One plane has {every} strictly on its own side."
        )
        return [found, exactly]
    words = [_witness(verdict)]
    if verdict.status == "overlapping":
        everything = (
            f"More than that: all {verdict.n_rows:,} rows, each with a positive weight, cancel exactly. "
        )
        if _near(verdict):
            everything = f"More than that: these rows span all {verdict.n_rows:,}. "
        words.append(
            everything
            + (
                "So all weights but those under which every row ties give some row a larger score for "
                "another class."
                if verdict.joint
                else "So every plane that does not hold all rows has one on its wrong side."
            )
        )
    if verdict.status == "quasi-separable":
        tight = verdict.n_rows - verdict.strict_rows.size
        strict = f"{verdict.strict_rows.size:,} rows"
        words.append(
            f"Yet one choice of weights gives no row a larger score for another class: {strict} have the "
            f"largest for their own alone, and {tight:,} tie, as they must under all such weights."
            if verdict.joint
            else f"Yet one plane has no row on its wrong side: {strict} lie strictly on their own side, and "
            f"{tight:,} on the plane itself, as they must on every such plane."
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
            "Weights that gave each of them a positive score would give zero a positive score."
        )
    if certificate is not None and certificate.lift and certificate.question != "joint":
        return (
            f"{few:,} rows, weighed as in the table, make one and the same point out of either class. That "
            "point lies in the convex hulls of both, so no plane can have the two on different sides."
        )
    return (
        f"{few:,} signed rows, weighed as in the table, cancel to exactly zero. Weights that gave each of "
        "them a positive score would give zero a positive score."
    )


def consequence(verdict: Verdict) -> str:
    """What the answer means for a logistic regression; empty where it means nothing."""
    if verdict.parts or verdict.separation is None:
        return ""
    where = " of these features" if verdict.kernel else ""
    if verdict.separation == "overlap":
        return (
            f"A logistic regression{where} has a finite maximum-likelihood estimate, and only one unless "
            "some columns depend on others. Fit it as usual."
        )
    return (
        f"A logistic regression{where} has no finite maximum-likelihood estimate: the coefficients below "
        "grow without end, and whatever a program prints for them is where it gave up."
    )


def separated_rows(verdict: Verdict, data: NamedData) -> str:
    """Which rows are separated strictly, in a few words; empty where none are."""
    strict, rest = verdict.strict_rows, verdict.n_rows - verdict.strict_rows.size
    if not strict.size:
        return ""
    if not rest:
        return f"all {strict.size:,} strictly"
    first = ", ".join(data.row_words(strict[:SHOWN].tolist()))
    more = f" and {strict.size - SHOWN:,} more" if strict.size > SHOWN else ""
    return f"{strict.size:,} strictly ({first}{more}); {rest:,} stay on the boundary"
