"""Brackets of margins hold for the exact numbers of the data, at any shift and scale."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix.margins.hard.max_margin import solve_max_margin
from separatrix.margins.rounding import proved_margin
from separatrix.margins.rounding.proved_margin import proved_lower, proved_upper
from separatrix.margins.rounding.proved_soft import proved_bound, proved_objective
from separatrix.margins.soft.soft_margin import solve_soft_margin
from separatrix.result import Status
from separatrix.rows.memory import as_rows
from tests import fuzz_brackets, naive_exact


def shortest_square(points):
    """The squared length of the shortest point of a convex hull, in rational numbers.

    It is the point nearest to zero of the plane through some of the points, as a convex combination of those.
    """
    best = None
    for size in range(1, len(points[0]) + 2):
        for some in combinations(points, size):
            weights = nearest(some)
            if weights is not None and min(weights) >= 0:
                places = range(len(some[0]))
                point = [sum(w * p[j] for w, p in zip(weights, some, strict=True)) for j in places]
                square = sum(v * v for v in point)
                best = square if best is None else min(best, square)
    return best


def nearest(points):
    """Weights of sum one of the point nearest to zero in the plane through independent points; else None."""
    n = len(points)
    gram = [[sum(a * b for a, b in zip(p, q, strict=True)) for q in points] for p in points]
    table = [[*row, Fraction(1), Fraction(0)] for row in gram]
    table.append([Fraction(1)] * n + [Fraction(0), Fraction(1)])
    for i in range(n + 1):
        pivot = next((r for r in range(i, n + 1) if table[r][i]), None)
        if pivot is None:
            return None
        table[i], table[pivot] = table[pivot], table[i]
        table[i] = [v / table[i][i] for v in table[i]]
        for r in range(n + 1):
            if r != i and table[r][i]:
                table[r] = [v - table[r][i] * u for v, u in zip(table[r], table[i], strict=True)]
    return [row[-1] for row in table[:n]]


def exact_square(X, y, intercept):
    """The square of the best margin, exactly; of differences of rows, which is twice it, where free."""
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    if intercept is True:
        above = [row for row, label in zip(rows, y, strict=True) if label]
        below = [row for row, label in zip(rows, y, strict=True) if not label]
        hull = [[a - b for a, b in zip(p, q, strict=True)] for p in above for q in below]
        return shortest_square(hull) / 4
    lifted = [[*row, Fraction(1)] if intercept == "lifted" else row for row in rows]
    return shortest_square([[v if label else -v for v in row] for row, label in zip(lifted, y, strict=True)])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("intercept", fuzz_brackets.INTERCEPTS)
def test_the_referee_has_the_margin_that_trying_all_supports_has(seed, intercept):
    rng = np.random.default_rng(seed)
    X, y = fuzz_brackets.small_problem(rng, 2)
    X, y = X[:6, :2], y[:6]
    assert naive_exact.margin_square(X.tolist(), y.tolist(), intercept) == exact_square(X, y, intercept)


def test_the_bracket_holds_the_exact_margin_and_no_proof_refuses_separable_rows():
    found = [fuzz_brackets.hard_margin(seed) for seed in range(100, 250)]
    assert set(found) <= set(fuzz_brackets.TRUE)
    assert found.count("holds") > 60


def test_margins_of_verdicts_and_distances_of_hulls_lie_in_their_brackets():
    assert {fuzz_brackets.verdict_margin(seed) for seed in range(150)} == {"holds"}


def test_the_bracket_holds_the_exact_margin_of_many_columns_far_from_zero():
    assert {fuzz_brackets.far_margin(seed) for seed in range(12)} <= set(fuzz_brackets.TRUE)


@pytest.mark.parametrize("shift", [1e3, 1e6, -1e8])
def test_a_soft_margin_with_a_free_intercept_reaches_its_gap_far_from_zero(shift):
    rng = np.random.default_rng(0)
    X, y = rng.integers(-8, 9, (60, 3)) / 4.0, np.arange(60) % 2
    X[:, 0] += y
    near, far = (sx.SoftMargin(fit_intercept=True).fit(rows, y) for rows in (X, X + shift))
    assert far.converged_
    assert far.dual_objective_ <= near.objective_
    assert near.dual_objective_ <= far.objective_  # sums of these numbers are exact: the rows are the same


@pytest.mark.parametrize("scale", [1e6, 1e20, 1e100])
@pytest.mark.parametrize("intercept", fuzz_brackets.INTERCEPTS)
def test_a_soft_margin_of_large_rows_is_the_largest_margin(scale, intercept):
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -2.0], [-3.0, 0.5]]) * scale, np.array([1, 1, 0, 0])
    model = sx.SoftMargin(fit_intercept=intercept).fit(X, y)
    least = naive_exact.least_objective(X.tolist(), y.tolist(), [Fraction(1)] * 4, intercept)
    assert Fraction(model.dual_objective_) <= least <= Fraction(model.objective_)
    assert model.converged_


def test_the_least_objective_lies_between_the_two_that_are_reported():
    found = [fuzz_brackets.soft_margin(seed) for seed in range(100, 250)]
    assert set(found) <= {"holds", "wide", "too large"}
    assert found.count("holds") > 60


@pytest.mark.parametrize("seed", [2, 3, 4, 8, 19, 20, 25, 27, 28])
def test_the_bracket_of_a_kernel_holds_the_exact_margin_and_the_least_objective(seed):
    assert fuzz_brackets.kernel_margins(seed) in ("holds", "wide")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.booleans(), st.booleans(), st.sampled_from([-300, 0, 300]))
def test_any_weights_and_multipliers_prove_true_bounds(seed, free, csr, power):
    rng = np.random.default_rng(seed)
    X = np.ldexp(rng.standard_normal((5, 2)) + float(rng.choice([0.0, 1e8])), power)
    y = np.array([0, 1, 0, 1, 1])
    square = exact_square(X, y, True if free else "lifted")
    rows = as_rows(sparse.csr_array(X) if csr else X, y, lift=True)
    lower = proved_lower(rows, rng.standard_normal(3), free)
    assert lower <= 0 or Fraction(lower) ** 2 <= square
    nothing = np.zeros(5, dtype=np.int64)
    for precision in (0.0, math.inf):
        upper = proved_upper(rows, np.arange(5), nothing, rng.random(5) + 0.01, free, precision)
        assert np.isinf(upper) or Fraction(upper) ** 2 >= square


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 3), st.booleans(), st.sampled_from([-200, 0, 200]))
def test_any_weights_and_multipliers_prove_true_objectives(seed, n_classes, free, power):
    rng = np.random.default_rng(seed)
    X = np.ldexp(rng.standard_normal((5, 2)) + float(rng.choice([0.0, 1e8])), power)
    y = np.array([0, 1, n_classes - 1, 1, 0])
    caps = rng.random(5) + 0.1
    rows = as_rows(X, y, n_classes=n_classes, lift=True)
    least = naive_exact.least_objective(
        X.tolist(), y.tolist(), caps.tolist(), True if free else "lifted", n_classes
    )
    weights = np.ldexp(rng.standard_normal(rows.weights_shape), -power)
    if n_classes == 2:
        multipliers = caps * rng.random(5)
        total = rows.combination(multipliers)
    else:
        against = rng.random((5, n_classes)) * caps[:, None] / n_classes
        against[np.arange(5), y] = 0.0
        multipliers = -against
        multipliers[np.arange(5), y] = against.sum(axis=1)
        total = multipliers.T @ np.column_stack([X, np.ones(5)])
    for precision in (0.0, math.inf):
        assert Fraction(proved_objective(rows, caps, weights, free, precision)) >= least
        assert Fraction(proved_bound(rows, caps, multipliers, total, free, precision)) <= least


@pytest.mark.parametrize("size", [1e153, 1e155, 1e300])
def test_weights_whose_square_is_beyond_floats_prove_no_objective(size):
    rows = as_rows(np.array([[1.0], [-1.0]]), np.array([1, 0]))
    found = proved_objective(rows, np.ones(2), np.array([size, 0.0]), True, 1e-3)
    assert found >= 0.5 * size * size


@pytest.mark.parametrize("n_classes", [2, 3])
def test_brackets_of_more_products_than_are_summed_exactly_are_moved_outwards(monkeypatch, n_classes):
    X, y = fuzz_brackets.small_problem(np.random.default_rng(3), n_classes)
    rows = as_rows(X, y, n_classes=n_classes, lift=True)
    sharp = solve_max_margin(rows, free_intercept=True, gap=1e-14)
    monkeypatch.setattr(proved_margin, "MOST_PRODUCTS", 1)
    plain = solve_max_margin(rows, free_intercept=True, gap=1e-14)
    assert plain.margin_lower <= sharp.margin_lower <= sharp.margin_upper <= plain.margin_upper


def test_columns_far_from_zero_are_moved_and_come_back():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.standard_normal((40, 3)) + 4.0 * y[:, None]
    near = sx.MaxMargin().fit(X, y)
    for shift in (1e6, 1e10, 1e14):
        by = np.array([shift, 0.0, -shift])
        far = X + by
        back = far - by  # what rounding left of the rows
        model, same = sx.MaxMargin().fit(far, y), sx.MaxMargin().fit(back, y)
        assert model.converged_
        assert model.margin_lower_ == pytest.approx(same.margin_lower_, rel=1e-8)
        assert model.coef_ == pytest.approx(same.coef_, rel=1e-5)
        assert model.margin_lower_ == pytest.approx(near.margin_lower_, rel=0.1)
    assert sx.MaxMargin().fit(X + 1e6, y).score(X + 1e6, y) == 1.0


@pytest.mark.parametrize("shift", [1e6, 1e8, 1e10])
def test_lifted_rows_far_from_zero_are_separated_and_the_warning_says_why_the_bracket_is_wide(shift):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.standard_normal((40, 3)) + 4.0 * y[:, None] + shift
    with pytest.warns(sx.errors.ConvergenceWarning, match="far from zero: subtract their means"):
        model = sx.MaxMargin(fit_intercept="lifted").fit(X, y)
    square = naive_exact.margin_square(X.tolist(), y.tolist(), "lifted")
    assert Fraction(model.margin_lower_) ** 2 <= square <= Fraction(model.margin_upper_) ** 2
    assert model.score(X, y) == 1.0


def test_weights_that_are_worse_than_the_solver_thought_are_not_believed():
    """Scores that are kept up to date step by step had lost their digits: 2.1e-12 was claimed for 3e-4."""
    rng = np.random.default_rng(20)
    rng.random()
    X, y = fuzz_brackets.small_problem(rng, 3)
    caps = np.full(y.size, 10.0)
    found = solve_soft_margin(as_rows(X, y, n_classes=3, lift=True), caps, gap=1e-3)
    least = naive_exact.least_objective(X.tolist(), y.tolist(), caps.tolist(), "lifted", 3)
    assert Fraction(found.dual) <= least <= Fraction(found.primal)


@pytest.mark.parametrize("free", [False, True])
def test_a_gap_that_was_reached_is_no_wider_than_asked_for(free):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((int(rng.integers(5, 80)), int(rng.integers(1, 12))))
        side = X @ rng.standard_normal(X.shape[1])
        gap = float(rng.choice([0.3, 1e-2, 1e-6, 1e-9, 1e-12]))
        rows = as_rows(X, (side > np.median(side)).astype(np.int32), lift=True)
        found = solve_max_margin(rows, gap=gap, free_intercept=free)
        assert found.status is not Status.REACHED or found.gap <= gap
