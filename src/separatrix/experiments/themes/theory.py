"""The perceptron that experiments run, and the formulas that they are compared with, each with its source."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from scipy.stats import binomtest, sem, t

from ...errors import ConvergenceWarning
from ...estimators.linear import Perceptron
from ..study import Table, percent, values, where


def perceptron(X: Any, y: Any, **options: Any) -> Perceptron:
    """Fit a perceptron through the origin; by default, it visits the rows in turn until none is wrong."""
    done = {"max_iter": 10**6, "n_iter_no_change": None}
    settings = {"order": "cyclic", "fit_intercept": False, **done, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the caller reads converged_
        return Perceptron(**settings).fit(X, y)


def novikoff(radius: float, margin: float) -> float:
    """Return ``(R / g)^2``, the most mistakes with two classes from zero weights (Novikoff 1962)."""
    return (radius / margin) ** 2


def any_start(radius: float, margin: float, length: float, along: float, rate: float = 1.0) -> float:
    """Return the most mistakes from weights of a given length and component along the separator's normal.

    The larger root of ``r^2 g^2 t^2 + (2 r c1 g - r^2 R^2) t + c1^2 - c0^2``: after t mistakes at rate r,
    ``c1 + t r g <= <w, u> <= |w| <= sqrt(c0^2 + t r^2 R^2)``.
    """
    middle = (rate * radius) ** 2 - 2.0 * rate * along * margin
    inside = middle**2 + 4.0 * (rate * margin) ** 2 * max(0.0, length**2 - along**2)
    return (middle + math.sqrt(inside)) / (2.0 * (rate * margin) ** 2)


def lifted(radius: float, margin: float, offset: float, constant: float = 1.0) -> float:
    """Return the bound for a hyperplane at ``offset`` from the origin, if rows get a coordinate ``constant``.

    The lifted rows have length at most ``sqrt(R^2 + s^2)``, and ``(u, b / s)`` has margin g on them:
    ``(R^2 + s^2) (1 + b^2 / s^2) / g^2``. If b is not zero, it is smallest at ``s^2 = R |b|``: there it
    is ``((R + |b|) / g)^2``.
    """
    return (radius**2 + constant**2) * (1.0 + (offset / constant) ** 2) / margin**2


def renormalised(radius: float, margin: float, rate: float) -> float:
    """Return the most updates if weights are scaled to length one after each; NaN if nothing is proved.

    Let c be the cosine between w and the separator. An update makes it at least ``(c + r g) / q`` with
    ``q = sqrt(1 + r^2 R^2)``, provided that ``c >= -r g``: below that the numerator may be negative, and
    dividing by q, the largest possible length, gives no bound. From zero weights the condition holds: the
    first update gives ``c >= g / R``, each further one adds at least ``(1 + r g - q) / q``, which is
    positive if and only if ``r < 2 g / (R^2 - g^2)``, and c never exceeds one.
    """
    length = math.sqrt(1.0 + (rate * radius) ** 2)
    gain = (1.0 + rate * margin - length) / length
    return 1.0 + (1.0 - margin / radius) / gain if gain > 0.0 else math.nan


def widest_angle(margin: float, best_margin: float) -> float:
    """Return the largest angle, in degrees, between a separator of this margin and the best one.

    The largest margin g and its unit normal u have ``g u = sum of l_i z_i`` for a convex combination, so a
    unit v whose scores are at least m has ``g <v, u> >= m``: the cosine is at least ``m / g``.
    """
    return math.degrees(math.acos(min(1.0, max(-1.0, margin / best_margin))))


def cover(n_points: int, dimension: int) -> float:
    """Return the share of labelings of points in general position that hyperplanes through 0 realize.

    ``2^(1 - n) * sum over k < N of C(n - 1, k)`` (Cover 1965): one half at ``n = 2 N``.
    """
    total = sum(math.comb(n_points - 1, k) for k in range(min(dimension, n_points)))
    return float(total / 2 ** (n_points - 1))


def monomial_count(n_columns: int, degree: int) -> int:
    """Return ``C(n + d, d)``, the number of monomials of degree at most d in n variables."""
    return math.comb(n_columns + degree, degree)


def angle(v: np.ndarray, u: np.ndarray) -> float:
    """Return the angle between two vectors in degrees, accurate for nearly parallel ones, too (Kahan)."""
    v, u = v.ravel() / np.linalg.norm(v), u.ravel() / np.linalg.norm(u)
    return math.degrees(2.0 * math.atan2(float(np.linalg.norm(v - u)), float(np.linalg.norm(v + u))))


def share_interval(hits: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson (1934) for a probability, given ``hits`` in ``trials``.

    It contains the true probability with a chance of at least ``level``, also if the event was seen never or
    always.
    """
    low, high = binomtest(hits, trials).proportion_ci(level, method="exact")
    return float(low), float(high)


def mean_interval(seen: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Return Student's interval for a mean; its level is exact if the values are normal."""
    low, high = t.interval(level, len(seen) - 1, loc=np.mean(seen), scale=sem(seen))
    return float(low), float(high)


def means(table: Table, column: str, *by: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return, for each pair of values of two columns, both values, the mean of a column, and its interval."""
    cells = [(a, b) for a in values(table[by[0]]) for b in values(table[by[1]])]
    seen = [where(table, **dict(zip(by, cell, strict=True)))[column] for cell in cells]
    ends = np.array([mean_interval(each) for each in seen])
    return *np.array(cells).T, np.array([each.mean() for each in seen]), ends


def ends_text(pair: np.ndarray) -> str:
    """Write the interval of a mean share; a share is not negative."""
    return f"95% interval {percent(max(0.0, pair[0]))} to {percent(pair[1])}"
