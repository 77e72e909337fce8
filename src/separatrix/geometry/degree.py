"""The smallest degree of a polynomial that separates the classes, with a proof at each degree."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

from ..errors import InputError
from ..kernels import Polynomial
from ..proofs.verdict import Verdict, separability


@dataclass(frozen=True, eq=False, repr=False)
class SeparatingDegree:
    """The verdict at each degree that was asked about.

    Attributes
    ----------
    degree : int or None
        The smallest degree of a polynomial that is positive on one class and negative on the other, where
        it is proved that it is one and that no lower one is; else None.
    separable : bool or None
        Whether some degree up to the largest asked about separates; None where that is not settled.
    verdicts : dict of int to Verdict
        In order of the degrees, each with the proof that it has.
    conflict : bool
        Whether identical rows have different labels, so that no degree will ever do.
    """

    degree: int | None
    separable: bool | None
    verdicts: dict[int, Verdict]
    conflict: bool

    def summary(self) -> str:
        """The answer in a few lines of text."""
        if self.degree is not None:
            head = f"degree {self.degree} is the smallest that separates"
        elif self.conflict:
            head = "no degree separates: identical rows have different labels"
        elif self.separable is False:
            head = f"no degree up to {max(self.verdicts)} separates"
        else:
            head = "the smallest degree is not settled"
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
        Class labels; with more than two classes, one polynomial a class, all at once.
    max_degree : int
        The largest degree to ask about.
    sample_weight : array of shape (rows,), optional
        Rows of weight zero are left out.

    Returns
    -------
    SeparatingDegree
        The verdict at a degree whose monomials are not too many carries a certificate, which `verify` checks
        from X and y alone, unless it is undecided; at a higher degree it rests on identical rows or on the
        margin's bracket. Each degree has the time limit of `separability`.

    Notes
    -----
    A polynomial of degree d is a plane among the monomials up to d, so each degree is a question of linear
    separability, asked exactly where they are not too many. What separates at one degree separates at all
    above it, and a proof that none does at one degree holds for all below it.

    Examples
    --------
    >>> found = smallest_separating_degree([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1], max_degree=3)
    >>> print(found)
    degree 2 is the smallest that separates
      degree 1   inseparable
      degree 2   separable
    """
    if isinstance(max_degree, bool) or not isinstance(max_degree, Integral) or max_degree < 1:
        raise InputError(
            "The 'max_degree' parameter of smallest_separating_degree must be a whole number of 1 or more. "
            f"Got {max_degree!r} instead."
        )
    verdicts: dict[int, Verdict] = {}
    conflict = False
    for degree in range(1, int(max_degree) + 1):
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
