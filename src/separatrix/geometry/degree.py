"""The smallest degree of a polynomial that separates the classes, with a proof at each degree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..features import whole_degree
from ..kernels import Polynomial
from ..proofs.verdict import Verdict, separability


@dataclass(frozen=True, eq=False, repr=False)
class SeparatingDegree:
    """The verdict at each degree that was tried.

    Attributes
    ----------
    degree : int or None
        The smallest degree of a polynomial that separates the classes. None if it is not proved that this
        degree separates them and that no lower degree does.
    separable : bool or None
        Whether some degree up to the largest that was tried separates the classes; None if it is undecided.
    verdicts : dict of int to Verdict
        The verdicts in the order of the degrees.
    conflict : bool
        Whether identical rows have different labels; then no degree separates the classes.
    """

    degree: int | None
    separable: bool | None
    verdicts: dict[int, Verdict]
    conflict: bool

    def summary(self) -> str:
        """Return the answer in a few lines of text."""
        if self.degree is not None:
            head = f"degree {self.degree} is the smallest that separates"
        elif self.conflict:
            head = "no degree separates: identical rows have different labels"
        elif self.separable is False:
            head = f"no degree up to {max(self.verdicts)} separates"
        else:
            head = "the smallest separating degree is undecided"
        return "\n".join([head, *(f"  degree {d:<3} {v.status}" for d, v in self.verdicts.items())])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        head, *_ = self.summary().split("\n")
        return f"<SeparatingDegree: {head}>"


def smallest_separating_degree(
    X: Any, y: Any, max_degree: int = 5, *, sample_weight: Any = None
) -> SeparatingDegree:
    """Find the smallest degree at which a polynomial in the columns separates the classes.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (rows, columns)
    y : array of shape (rows,)
        Class labels. With more than two classes, there is one polynomial per class.
    max_degree : int
        The largest degree to try.
    sample_weight : array of shape (rows,), optional
        Rows of weight zero are left out.

    Returns
    -------
    SeparatingDegree
        If there are at most 5,000 monomials, and at most 2**25 numbers for all rows, each decided verdict has
        a certificate, which `verify` checks with X and y alone. If there are more, a verdict follows from
        identical rows or from the bounds of the margin. Each degree has the time limit of `separability`.

    Notes
    -----
    A polynomial of degree d is a linear function of the monomials up to degree d, so each degree is a
    question of linear separability. Degree d means "at most d", so a polynomial of degree d is also one of
    degree d + 1. Therefore a proof that no polynomial of degree d separates also holds for all lower degrees.

    Examples
    --------
    >>> found = smallest_separating_degree([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1], max_degree=3)
    >>> print(found)
    degree 2 is the smallest that separates
      degree 1   inseparable
      degree 2   separable
    """
    largest = whole_degree("'max_degree' parameter of smallest_separating_degree", max_degree)
    verdicts: dict[int, Verdict] = {}
    conflict = False
    for degree in range(1, largest + 1):
        verdict = separability(X, y, quasi=False, kernel=Polynomial(degree), sample_weight=sample_weight)
        verdicts[degree] = verdict
        conflict = verdict.conflict
        if verdict.separable or conflict:
            break
    return _settled(verdicts, conflict)


def _settled(verdicts: dict[int, Verdict], conflict: bool) -> SeparatingDegree:
    last = max(verdicts)
    refuted = max((d for d, verdict in verdicts.items() if verdict.separable is False), default=0)
    smallest = last if verdicts[last].separable and refuted == last - 1 else None
    separable = True if verdicts[last].separable else (False if refuted == last or conflict else None)
    return SeparatingDegree(smallest, separable, verdicts, conflict)
