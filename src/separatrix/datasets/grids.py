"""Problems for paper: rows are rounded to whole or decimal numbers, and the answer is computed again."""

from __future__ import annotations

from dataclasses import replace
from math import lcm

import numpy as np

from ..certificates.claims import Separation
from ..errors import InputError
from ..geometry import exact_margin
from ..geometry.degree import smallest_separating_degree
from ..proofs.verdict import Verdict, separability
from .conditions import check, check_count
from .problems import Floats, Problem

__all__ = ["to_decimals", "to_integers"]


def to_decimals(problem: Problem, decimals: int = 1) -> Problem:
    """Round the rows of a problem to a number of decimals, and compute its answer again.

    Parameters
    ----------
    problem : Problem
    decimals : int
        No number may have more than 15 digits.

    Returns
    -------
    Problem
        Its answer is exact for the decimal numbers as they are written. For two separable classes it is the
        hyperplane of largest margin, with the margin's square as a fraction. For three or more it says only
        that they are separable. Otherwise it is the rows that prove that no hyperplane separates the classes.

    Examples
    --------
    >>> from separatrix.datasets import make_separable, to_decimals
    >>> problem = to_decimals(make_separable(12, margin=0.2, random_state=5), 1)
    >>> print(problem.X[0].tolist(), problem.margin_squared)
    [0.5, 0.2] 1/20
    """
    check_count("decimals", decimals, 0, "rows are rounded to this number of digits after the point")
    scale = 10**decimals
    fits = decimals <= 15 and float(np.abs(problem.X).max()) * scale < 1e15
    check("decimals", decimals, fits, "smaller: floats hold decimal numbers of at most 15 digits")
    return _rounded(problem, np.rint(problem.X * scale), scale)


def to_integers(problem: Problem, largest: int = 10) -> Problem:
    """Scale the rows so that the largest number is as given, round them, and compute the answer again.

    Parameters
    ----------
    problem : Problem
    largest : int

    Returns
    -------
    Problem
        As in `to_decimals`.
    """
    check_count("largest", largest, 1, "the largest whole number of the rows")
    return _rounded(problem, np.rint(problem.X * (largest / np.abs(problem.X).max())), 1)


def _rounded(problem: Problem, whole: Floats, scale: int) -> Problem:
    """Return the problem with the rows ``whole / scale``; questions are about the whole numbers."""
    whole = whole + 0.0  # no minus zero
    verdict, wanted = separability(whole, problem.y), problem.separation
    if verdict.status != wanted and (wanted != "inseparable" or verdict.separable is not False):
        raise InputError(
            f"After rounding, the classes are {verdict.status}, and before they are {wanted}.",
            remedy="Keep more decimals, ask for a larger margin or gap, or for fewer rows.",
            parameter="decimals",
        )
    if problem.degree is not None:
        found = smallest_separating_degree(whole, problem.y, problem.degree).degree
        if found != problem.degree:
            raise InputError(
                f"After rounding, the classes need degree {found} instead of {problem.degree}.",
                remedy="Keep more decimals, or ask for fewer rows.",
                parameter="decimals",
            )
    bare = Problem(whole / scale, problem.y, degree=problem.degree, units=problem.units)
    if verdict.status == Separation.QUASI_SEPARABLE:  # the hyperplane is a column, whose signs stay
        bare = replace(bare, weights=problem.weights, intercept=0.0, margin=0.0)
    if verdict.status != Separation.SEPARABLE:
        return _with_witnesses(bare, verdict)
    return bare if np.unique(problem.y).size > 2 else _with_margin(bare, whole, scale)


def _with_witnesses(problem: Problem, verdict: Verdict) -> Problem:
    rows = verdict.witness_rows
    whole = lcm(*(share.denominator for share in rows.values()))
    multipliers = np.array([int(whole * rows[row]) for row in sorted(rows)])
    return replace(problem, witness_rows=np.array(sorted(rows)), witness_weights=multipliers)


def _with_margin(problem: Problem, whole: Floats, scale: int) -> Problem:
    found = exact_margin(whole, problem.y)
    length = float(sum(value * value for value in found.weights)) ** 0.5
    squared = found.squared / scale**2
    return replace(
        problem,
        weights=np.array([float(value) for value in found.weights]) / length,
        intercept=float(found.intercept) / length / scale,
        margin=float(squared) ** 0.5,
        margin_squared=squared,
        exact_margin=None if found.margin is None else found.margin / scale,
        radius=float(np.linalg.norm(problem.X, axis=1).max()),
    )
