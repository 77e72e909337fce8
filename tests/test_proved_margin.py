"""Brackets of the largest margin hold for the exact numbers of the data, at any shift and scale."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix.margins.max_margin import solve_max_margin
from separatrix.margins.proved import proved_lower, proved_upper
from separatrix.rows.memory import as_rows


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
    if intercept == "free":
        above = [row for row, label in zip(rows, y, strict=True) if label]
        below = [row for row, label in zip(rows, y, strict=True) if not label]
        hull = [[a - b for a, b in zip(p, q, strict=True)] for p in above for q in below]
        return shortest_square(hull) / 4
    lifted = [[*row, Fraction(1)] if intercept == "lifted" else row for row in rows]
    return shortest_square([[v if label else -v for v in row] for row, label in zip(lifted, y, strict=True)])


def small_problem(seed):
    """A few rows, separable more often than not, at a shift and a scale."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(3, 7)), int(rng.integers(1, 3))
    shape = n_rows, n_columns
    X = rng.standard_normal(shape) if rng.random() < 0.6 else rng.integers(-4, 5, shape) * 1.0
    y = np.r_[0, 1, rng.integers(0, 2, n_rows - 2)]
    X[y == 1, 0] += float(rng.choice([0.0, 2.0, 6.0]))
    X = X + float(rng.choice([0.0, 0.0, 1e3, 1e6, 1e7, 1e10, 1e14])) * rng.choice([1.0, -1.0, 0.3])
    return X * 10.0 ** float(rng.choice([0.0, 0.0, -140.0, -20.0, 30.0, 140.0])), y


def check(seed, intercept):
    """Whether the bracket holds; None where the classes were refused, with a proof or without."""
    X, y = small_problem(seed)
    square = exact_square(X, y, intercept)
    try:
        with np.errstate(all="ignore"):
            model = sx.MaxMargin(intercept=intercept).fit(X, y)
    except sx.errors.NotSeparable as problem:
        falsely = square > 0 and problem.certificate is not None
        return "falsely refused" if falsely else "refused" if square else "inseparable"
    except sx.errors.SeparatrixError:
        return "refused"
    lower, upper = Fraction(model.margin_lower_), Fraction(model.margin_upper_)
    assert 0 < lower <= upper
    assert lower**2 <= square <= upper**2
    return "converged" if model.converged_ else "not"


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
@pytest.mark.parametrize("intercept", ["free", "lifted", None])
def test_the_bracket_holds_the_exact_margin(intercept):
    found = [check(seed, intercept) for seed in range(60)]
    assert found.count("converged") > 10
    assert "falsely refused" not in found
    if intercept == "free":
        assert not {"refused", "not"} & set(found)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
@pytest.mark.parametrize("intercept", ["free", "lifted", None])
@pytest.mark.parametrize("part", range(4))
def test_the_bracket_holds_the_exact_margin_of_many_problems(intercept, part):
    for seed in range(200 * part + 1000, 200 * part + 1200):
        check(seed, intercept)


def joint_square(X, y):
    """The square of the best margin of three classes at once through the origin: of Kesler's rows."""
    hull = []
    for row, own in zip(X.tolist(), y.tolist(), strict=True):
        for rival in {0, 1, 2} - {own}:
            blocks = [[Fraction(0)] * len(row) for _ in range(3)]
            blocks[own] = [Fraction(v) for v in row]
            blocks[rival] = [-Fraction(v) for v in row]
            hull.append([v for block in blocks for v in block])
    return shortest_square(hull)


@pytest.mark.parametrize("seed", range(4))
def test_the_bracket_of_three_classes_holds_the_exact_margin(seed):
    rng = np.random.default_rng(seed)
    y = np.array([0, 1, 2, int(rng.integers(3))])
    X = np.array([[5.0, 0.0], [-3.0, 5.0], [-3.0, -5.0]])[y] + 0.5 * rng.standard_normal((4, 2))
    model = sx.MaxMargin(intercept=None).fit(X, y)
    assert model.converged_
    assert Fraction(model.margin_lower_) ** 2 <= joint_square(X, y) <= Fraction(model.margin_upper_) ** 2


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.booleans(), st.booleans(), st.sampled_from([-300, 0, 300]))
def test_any_weights_and_multipliers_prove_true_bounds(seed, free, csr, power):
    rng = np.random.default_rng(seed)
    X = np.ldexp(rng.standard_normal((5, 2)) + float(rng.choice([0.0, 1e8])), power)
    y = np.array([0, 1, 0, 1, 1])
    square = exact_square(X, y, "free" if free else "lifted")
    rows = as_rows(sparse.csr_array(X) if csr else X, y, lift=True)
    lower = proved_lower(rows, rng.standard_normal(3), free)
    assert lower <= 0 or Fraction(lower) ** 2 <= square
    nothing = np.zeros(5, dtype=np.int64)
    upper = proved_upper(rows, np.arange(5), nothing, rng.random(5) + 0.01, free)
    assert np.isinf(upper) or Fraction(upper) ** 2 >= square


def test_brackets_of_more_products_than_are_summed_exactly_are_moved_outwards(monkeypatch):
    from separatrix.margins import proved

    X, y = small_problem(3)
    rows = as_rows(X, y, lift=True)
    sharp = solve_max_margin(rows, free_intercept=True)
    monkeypatch.setattr(proved, "MOST_PRODUCTS", 1)
    plain = solve_max_margin(rows, free_intercept=True)
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
