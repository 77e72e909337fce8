"""Brackets that are called proved, against rational arithmetic: six targets of ``make fuzz``.

Small problems at any shift and scale, degenerate ones among them. The exact optimum has to lie between the
two ends that the library reports, and no certificate may refuse separable classes.
"""

from __future__ import annotations

import random
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy import sparse

import separatrix as sx
from separatrix.errors import NotSeparable, NumericOverflowError, SeparatrixError
from separatrix.geometry.hulls import hull_distance
from tests import naive_exact

SHIFTS = (0.0, 0.0, 0.0, 1.0, 1e3, 1e6, 1e7, 1e10, 1e14)
SCALES = (0, 0, 0, 0, -300, -160, -140, -20, -6, 6, 30, 100, 150)
INTERCEPTS = (True, "lifted", False)
# "wide": true, but wider than asked for; "too large": squares beyond float64; "unresolved": no claim was made
TRUE = ("holds", "inseparable", "wide", "too large", "unresolved")


def small_rows(rng: np.random.Generator, n_rows: int, n_columns: int) -> np.ndarray:
    """Rows of one of several kinds, a few of which are hard for floating point."""
    shape = n_rows, n_columns
    kind = rng.integers(6)
    if kind == 0:
        return rng.integers(-4, 5, shape) * 1.0
    if kind == 1:
        return rng.integers(-1, 2, shape) * 1.0
    noise = 1e-6 * rng.standard_normal(shape)
    if kind == 2:  # all but on a line
        return rng.standard_normal((n_rows, 1)) @ rng.standard_normal((1, n_columns)) + noise
    if kind == 3:  # rows that come twice
        centres = rng.standard_normal((2, n_columns))[rng.integers(0, 2, n_rows)]
        return centres + 0.1 * rng.integers(0, 3, shape)
    return rng.standard_normal(shape)


def small_problem(rng: np.random.Generator, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """A few rows, separable more often than not, moved and scaled: all columns alike, or each by itself."""
    n_rows, n_columns = int(rng.integers(n_classes, 8)), int(rng.integers(1, 5))
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)]
    X = small_rows(rng, n_rows, n_columns)
    if n_classes == 2:
        X[:, 0] += float(rng.choice([0.0, 2.0, 6.0])) * y
    else:
        X = X + float(rng.choice([2.0, 6.0])) * rng.standard_normal((n_classes, n_columns))[y]
    each = n_columns if rng.random() < 0.2 else 1
    X = X + rng.choice(SHIFTS, each) * rng.choice([1.0, -1.0, 0.3], each)
    return X * 10.0 ** rng.choice(SCALES, 1 if rng.random() < 0.9 else n_columns), y


def stored(rng: np.random.Generator, X: np.ndarray) -> object:
    """The rows as an array, most often, or as a sparse matrix."""
    return sparse.csr_array(X) if rng.random() < 0.2 else X


def hard_margin(seed: int) -> str:
    """What `MaxMargin` made of a problem: one of `TRUE`, or what is wrong."""
    rng = np.random.default_rng(seed)
    n_classes = 3 if rng.random() < 0.25 else 2
    X, y = small_problem(rng, n_classes)
    intercept = INTERCEPTS[rng.integers(3)]
    return judged(X, y, n_classes, intercept, stored(rng, X))


def far_margin(seed: int) -> str:
    """The same of a problem of 21 weights or more, far from zero: each column at a place of its own."""
    rng = np.random.default_rng(seed)
    n_classes = 3 if rng.random() < 0.25 else 2
    n_rows, n_columns = int(rng.integers(n_classes, 14)), int(rng.integers(21, 32))
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)]
    X = small_rows(rng, n_rows, n_columns)
    X = X + float(rng.choice([0.5, 2.0, 6.0])) * rng.standard_normal((n_classes, n_columns))[y]
    X = X + 10.0 ** rng.integers(6, 15) * rng.choice([1.0, -1.0, 0.3, 0.0], n_columns)
    return judged(X, y, n_classes, INTERCEPTS[rng.integers(3)], X)


def judged(X: np.ndarray, y: np.ndarray, n_classes: int, intercept: bool | str, data: object) -> str:
    """What `MaxMargin` made of rows, against their exact margin."""
    square = naive_exact.margin_square(X.tolist(), y.tolist(), intercept, n_classes)
    where = f"fit_intercept={intercept!r}, {n_classes} classes, margin {float(square) ** 0.5:.3g}"
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", sx.errors.ConvergenceWarning)
            model = sx.MaxMargin(fit_intercept=intercept).fit(data, y)
    except SeparatrixError as problem:
        proved = isinstance(problem, NotSeparable) and problem.certificate is not None
        if proved:
            return "inseparable" if square == 0 else f"refused, though separable ({where}): {problem}"
        return "too large" if isinstance(problem, NumericOverflowError) else "unresolved"
    lower, upper = Fraction(model.margin_lower_), Fraction(model.margin_upper_)
    if not lower**2 <= square <= upper**2 or lower > upper:
        return f"missed ({where}): {model.margin_lower_!r} {model.margin_upper_!r}"
    return "holds" if model.converged_ else "wide"


def soft_margin(seed: int) -> str:
    """What `SoftMargin` made of a problem: "holds", "wide", or what is wrong."""
    rng = np.random.default_rng(seed)
    n_classes = 3 if rng.random() < 0.25 else 2
    X, y = small_problem(rng, n_classes)
    intercept = INTERCEPTS[rng.integers(3)]
    data = stored(rng, X)
    C = float(10.0 ** rng.integers(-3, 4)) if rng.random() < 0.9 else float(10.0 ** rng.integers(-30, 30))
    weights = rng.integers(0, 3, y.size) * 0.3 if rng.random() < 0.3 else None
    by_class = {each: 0.1 * (each + 1) for each in range(n_classes)} if rng.random() < 0.2 else None
    if weights is not None and np.unique(y[weights > 0.0]).size < n_classes:
        weights = None
    caps = [Fraction(C)] * y.size
    if weights is not None:
        caps = [cap * Fraction(float(weight)) for cap, weight in zip(caps, weights, strict=True)]
    if by_class is not None:
        caps = [cap * Fraction(by_class[int(label)]) for cap, label in zip(caps, y, strict=True)]
    counted = [i for i, cap in enumerate(caps) if cap]
    least = naive_exact.least_objective(
        X[counted].tolist(), y[counted].tolist(), [caps[i] for i in counted], intercept, n_classes
    )
    gap = float(rng.choice([1e-6, 1e-6, 1e-9, 1e-3]))
    model = sx.SoftMargin(C, fit_intercept=intercept, class_weight=by_class, gap=gap)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", sx.errors.ConvergenceWarning)
            model.fit(data, y, weights)
    except NumericOverflowError:
        return "too large"
    where = f"fit_intercept={intercept!r}, {n_classes} classes, C={C}, least objective {float(least):.17g}"
    if not Fraction(model.dual_objective_) <= least <= Fraction(model.objective_):
        return f"missed ({where}): {model.dual_objective_!r} {model.objective_!r}"
    if model.converged_ and not model.objective_ - model.dual_objective_ <= gap * model.objective_:
        return f"called converged ({where})"
    return "holds" if model.converged_ else "wide"


def verdict_margin(seed: int) -> str:
    """What `separability` and `hull_distance` bracket: "holds", or what is wrong."""
    rng = np.random.default_rng(seed)
    n_classes = 3 if rng.random() < 0.25 else 2
    X, y = small_problem(rng, n_classes)
    intercept = INTERCEPTS[1 + rng.integers(2)]
    with np.errstate(all="ignore"):
        verdict = sx.separability(X, y, fit_intercept=intercept == "lifted")
    square = naive_exact.margin_square(X.tolist(), y.tolist(), intercept, n_classes)
    if verdict.separable is not None and verdict.separable != (square > 0):
        return f"wrong verdict: {verdict.status}"
    if not within(verdict.margin, square):
        return f"missed the margin ({verdict.status}, {intercept!r}, {n_classes} classes): {verdict.margin}"
    if n_classes == 2:
        with np.errstate(all="ignore"):
            hulls = hull_distance(X[y == 0], X[y == 1])
        square = 4 * naive_exact.margin_square(X.tolist(), y.tolist(), True)
        if not within((hulls.lower, hulls.upper), square):
            return f"missed the distance {float(square) ** 0.5!r}: {hulls.lower!r} {hulls.upper!r}"
    return "holds"


def within(bracket: tuple[float, float], square: Fraction) -> bool:
    """Whether the root of a number lies in a bracket."""
    lower, upper = bracket
    return (
        lower <= upper
        and (lower <= 0.0 or Fraction(lower) ** 2 <= square)
        and upper >= 0.0
        and (upper == np.inf or square <= Fraction(upper) ** 2)
    )


def check_verdicts(rng: random.Random, count: int, _folder: Path) -> None:
    """Margins of verdicts and distances of hulls lie in what is reported of them."""
    for seed in (rng.randrange(10**9) for _ in range(count)):
        found = verdict_margin(seed)
        assert found == "holds", f"verdict_margin({seed}): {found}"


def check_hard(rng: random.Random, count: int, _folder: Path) -> None:
    """The exact margin lies in the bracket, and no proof refuses what can be separated."""
    for seed in (rng.randrange(10**9) for _ in range(count)):
        found = hard_margin(seed)
        assert found in TRUE, f"hard_margin({seed}): {found}"


def check_far(rng: random.Random, count: int, _folder: Path) -> None:
    """The same far from zero."""
    for seed in (rng.randrange(10**9) for _ in range(count)):
        found = far_margin(seed)
        assert found in TRUE, f"far_margin({seed}): {found}"


def check_soft(rng: random.Random, count: int, _folder: Path) -> None:
    """The least objective lies between the two that are reported."""
    for seed in (rng.randrange(10**9) for _ in range(count)):
        found = soft_margin(seed)
        assert found in ("holds", "wide", "too large"), f"soft_margin({seed}): {found}"


def polynomial_gram(X: np.ndarray, degree: int, lift: bool) -> list[list[Fraction]]:
    """The exact values of ``(<x, x'> + 1)^degree``, with the constant coordinate of a lift."""
    plain = naive_exact.gram_of(X.tolist())
    return [[(value + 1) ** degree + int(lift) for value in row] for row in plain]


def kernel_margins(seed: int) -> str:
    """What `MaxMargin` and `SoftMargin` with a polynomial kernel made of a problem."""
    rng = np.random.default_rng(seed)
    n_classes = 3 if rng.random() < 0.25 else 2
    X, y = small_problem(rng, n_classes)
    X = X / max(1.0, float(np.abs(X).max())) * float(rng.choice([0.01, 1.0, 1.0, 30.0]))
    intercept, degree = INTERCEPTS[rng.integers(3)], int(rng.integers(1, 4))
    gram = polynomial_gram(X, degree, intercept == "lifted")
    kernel, free = sx.kernels.Polynomial(degree=degree, c=1.0), intercept is True
    where = f"degree {degree}, fit_intercept={intercept!r}, {n_classes} classes"
    caps = [Fraction(float(rng.choice([0.1, 1.0, 100.0])))] * y.size
    least = naive_exact.highest_bound(gram, y.tolist(), n_classes, caps, free)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", sx.errors.ConvergenceWarning)
        soft = sx.SoftMargin(float(caps[0]), kernel=kernel, fit_intercept=intercept).fit(X, y)
        try:
            hard = sx.MaxMargin(kernel=kernel, fit_intercept=intercept).fit(X, y)
        except SeparatrixError:
            hard = None
    if not Fraction(soft.dual_objective_) <= least <= Fraction(soft.objective_):
        return (
            f"missed soft ({where}): {soft.dual_objective_!r} {soft.objective_!r}, least {float(least):.17g}"
        )
    if hard is None:
        return "refused"
    square = naive_exact.margin_square_of(gram, y.tolist(), free, n_classes)
    lower, upper = Fraction(hard.margin_lower_), Fraction(hard.margin_upper_)
    if lower > upper or not lower**2 <= square <= upper**2:
        return f"missed ({where}): {float(square) ** 0.5!r} in {hard.margin_lower_!r} {hard.margin_upper_!r}"
    return "holds" if hard.converged_ else "wide"


def check_kernels(rng: random.Random, count: int, _folder: Path) -> None:
    """Margins and objectives in a feature space lie between what is reported of them."""
    for seed in (rng.randrange(10**9) for _ in range(count)):
        found = kernel_margins(seed)
        assert found in ("holds", "wide", "refused"), f"kernel_margins({seed}): {found}"


def raw_polynomial(seed: int) -> str:
    """What `SoftMargin` with a polynomial kernel made of columns that were never scaled, and of a large C."""
    rng = np.random.default_rng(seed)
    n_classes = 3 if rng.random() < 0.2 else 2
    X, y = small_problem(rng, n_classes)
    X = X / max(1.0, float(np.abs(X).max())) * 10.0 ** rng.integers(-2, 7)
    if rng.random() < 0.5:
        X = X * 10.0 ** rng.integers(-3, 4, X.shape[1])
    intercept, degree, C = INTERCEPTS[rng.integers(3)], int(rng.integers(1, 5)), 10.0 ** rng.integers(-2, 9)
    gap = None if rng.random() < 0.3 else 1e-14  # which rounding does not allow: all methods are tried
    kernel = sx.kernels.Polynomial(degree=degree, c=1.0)
    gram = polynomial_gram(X, degree, intercept == "lifted")
    least = naive_exact.highest_bound(gram, y.tolist(), n_classes, [Fraction(C)] * y.size, intercept is True)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", sx.errors.ConvergenceWarning)
        try:
            soft = sx.SoftMargin(C, kernel=kernel, fit_intercept=intercept, gap=gap).fit(X, y)
        except NumericOverflowError:
            return "too large"
    where = f"degree {degree}, C={C}, fit_intercept={intercept!r}, {n_classes} classes"
    if not Fraction(soft.dual_objective_) <= least <= Fraction(soft.objective_):
        return f"missed ({where}): {soft.dual_objective_!r} {soft.objective_!r}, least {float(least):.17g}"
    if not soft.converged_ and soft.objective_ > C * y.size * (1.0 + 1e-12):
        return f"worse than zero weights ({where}): {soft.objective_!r}"
    return "holds" if soft.converged_ else "wide"


def check_raw_polynomials(rng: random.Random, count: int, _folder: Path) -> None:
    """The least objective lies between what is reported; if the gap is missed, zero weights are no better."""
    for seed in (rng.randrange(10**9) for _ in range(count)):
        found = raw_polynomial(seed)
        assert found in ("holds", "wide", "too large"), f"raw_polynomial({seed}): {found}"
