"""Planes, sides and margins: what the definitions say, and what cannot be measured."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix.errors import InputError
from separatrix.geometry.convex import (
    common_point,
    distance,
    functional_margin,
    geometric_margin,
    in_half_space,
)
from tests import naive_exact

X = np.array([[3.0, 4.0], [0.0, 0.0], [-3.0, 1.0]])


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_a_distance_is_that_of_the_nearest_point_of_the_plane(seed):
    rng = np.random.default_rng(seed)
    rows, w, b = (
        rng.standard_normal((5, 3)),
        rng.standard_normal(3) * 10.0 ** rng.integers(-9, 9),
        rng.standard_normal(),
    )
    far = distance(rows, w, b)
    unit = w / np.linalg.norm(w)
    feet = rows - far[:, None] * unit
    assert feet @ w == pytest.approx(np.full(5, -b), abs=1e-9 * np.abs(w).max() * np.abs(rows).max() + 1e-12)
    assert distance(sparse.csr_array(rows), w, b) == pytest.approx(far)
    assert np.array_equal(in_half_space(rows, w, b), rows @ w + b > 0)
    y = rng.choice([-1, 1], 5)
    assert geometric_margin(rows, y, w, b) == pytest.approx(
        functional_margin(rows, y, w, b) / np.linalg.norm(w)
    )
    assert functional_margin(rows, y, 4.0 * w, 4.0 * b) == 4.0 * functional_margin(rows, y, w, b)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: distance(X, [0.0, 0.0]), "not all zero"),
        (lambda: distance(X, [1.0, np.nan]), "finite"),
        (lambda: distance(X, [1.0, 2.0, 3.0]), r"3 columns.*\(3, 2\)"),
        (lambda: distance(X[0], [1.0, 2.0]), r"2 columns.*\(2,\)"),
        (lambda: functional_margin(X, [0, 1, 1], [1.0, 2.0]), "-1 and 1"),
        (lambda: functional_margin(X, ["a", "b", "b"], [1.0, 2.0]), "-1 and 1"),
        (lambda: geometric_margin(X, [1, -1], [1.0, 2.0]), "3 rows"),
        (lambda: geometric_margin(X[:0], [], [1.0, 2.0]), "0 rows"),
        (lambda: common_point(X, [0, 1, 1], {0: Fraction(1), 7: Fraction(1)}), "row 7"),
        (lambda: common_point(X, [0, 1, 1], {}), "no common point"),
        (lambda: common_point(X, [0, 1, 1], {0: Fraction(1), 1: Fraction(1)}), "no common point"),
        (lambda: common_point(X, [0, 1, 1], {0: Fraction(-1), 1: Fraction(1)}), "positive"),
    ],
)
def test_what_cannot_be_measured_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()


# ---------------------------------------------------------------- projections and hulls


@given(data=st.data())
def test_a_projection_is_on_the_plane_and_nearest(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    X, w, b = rng.standard_normal((5, 3)), rng.standard_normal(3), float(rng.standard_normal())
    feet = sx.geometry.project(X, w, b)
    assert sx.geometry.distance(feet, w, b) == pytest.approx(np.zeros(5), abs=1e-12)
    assert np.linalg.norm(X - feet, axis=1) == pytest.approx(np.abs(sx.geometry.distance(X, w, b)))


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_point_in_a_hull_is_an_exact_combination_and_one_outside_has_a_plane(data):
    width = data.draw(st.integers(1, 3))
    number = st.integers(-3, 3)
    rows = data.draw(st.lists(st.lists(number, min_size=width, max_size=width), min_size=1, max_size=7))
    point = data.draw(st.lists(number, min_size=width, max_size=width))
    found = sx.geometry.in_hull(point, rows)
    table = np.array([*rows, point], dtype=np.float64)
    assert sx.verify(found.certificate, table, np.repeat([0, 1], [len(rows), 1])).holds
    if found:
        assert sum(found.combination.values()) == 1
        assert all(weight > 0 for weight in found.combination.values())
        made = [sum(weight * rows[row][j] for row, weight in found.combination.items()) for j in range(width)]
        assert made == point
    else:
        assert found.combination == {}


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), apart=st.sampled_from([0.0, 0.5, 5.0]))
def test_the_distance_of_hulls_is_that_of_its_two_points(seed, apart):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((6, 3)), rng.standard_normal((5, 3)) + np.array([apart, 0.0, 0.0])
    found = sx.geometry.hull_distance(X, Y)
    between = float(np.linalg.norm(found.points[0] - found.points[1]))
    assert between == pytest.approx(found.upper, rel=1e-6, abs=1e-12)
    assert found.lower <= found.upper * (1 + 1e-12)
    assert found.upper - found.lower <= 1e-6 * found.upper
    verdict = sx.separability(np.vstack([X, Y]), [0] * 6 + [1] * 5)
    assert (found.upper == 0.0) == (not verdict.separable)
    if found.upper == 0.0:
        assert str(found) == "the hulls meet"


@given(data=st.data())
def test_the_dimension_of_an_affine_hull_is_exact(data):
    dimension, width = data.draw(st.integers(0, 3)), 4
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    directions = rng.integers(-3, 4, (dimension, width)).astype(float)
    base = rng.integers(-3, 4, width).astype(float)
    rows = base + rng.integers(-2, 3, (6, dimension)) @ directions
    hull = sx.geometry.affine_hull(rows)
    assert hull.dimension == np.linalg.matrix_rank(rows - rows[0]) <= dimension
    assert len(hull.rows) == hull.dimension + 1
    assert all(hull.contains(row) for row in rows)
    point = rng.standard_normal(width)
    foot = hull.project(point)
    slopes = (point - foot) @ (hull.points[1:] - hull.points[0]).T
    assert slopes == pytest.approx(np.zeros(hull.dimension), abs=1e-9)


def test_a_last_bit_off_the_line_is_off_it():
    line = sx.geometry.affine_hull([[0.0, 0.0], [1.0, 1.0]])
    assert line.contains([0.5, 0.5])
    assert not line.contains([0.5, np.nextafter(0.5, 1.0)])
    assert sx.geometry.affine_hull([[7.0, 8.0]]).dimension == 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: sx.geometry.in_hull([1.0], [[1.0, 2.0]]), "2 finite coordinates"),
        (lambda: sx.geometry.in_hull([np.nan], [[1.0]]), "1 finite coordinates"),
        (lambda: sx.geometry.in_hull([1.0], np.zeros((0, 1))), "at least one row|minimum of 1"),
        (lambda: sx.geometry.hull_distance([[1.0]], [[1.0, 2.0]]), "1 columns and Y has 2"),
        (lambda: sx.geometry.affine_hull([[np.inf]]), "finite"),
    ],
)
def test_what_has_no_hull_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()


BIG = 2**53
MASKED = np.ma.array([[0.0], [1.0], [9.0]], mask=[[0], [1], [0]])
TWICE = sparse.coo_array(([1e16, 1.0, -1e16], ([0, 0, 0], [0, 0, 0])), shape=(2, 1))


@pytest.mark.parametrize(
    "call",
    [
        lambda: sx.geometry.in_hull([BIG], np.array([[BIG + 1], [BIG + 3]])),
        lambda: sx.geometry.in_hull([BIG + 1], [[BIG + 2], [BIG + 4]]),
        lambda: sx.geometry.hull_distance(np.array([[BIG]]), np.array([[BIG + 1]])),
        lambda: sx.geometry.affine_hull(np.array([[BIG], [BIG + 1]])),
        lambda: sx.geometry.affine_hull([[0.0], [1.0]]).contains([BIG + 1]),
        lambda: common_point([[BIG + 1], [float(BIG)]], [0, 1], {0: Fraction(1), 1: Fraction(1)}),
        lambda: sx.geometry.exact_margin(MASKED, [0, 0, 1]),
        lambda: distance(MASKED, [1.0]),
        lambda: sx.kernels.Gaussian()(MASKED),
        lambda: sx.geometry.hull_distance(MASKED, [[1.0]]),
        lambda: sx.geometry.exact_margin(TWICE, [0, 1]),
        lambda: sx.geometry.exact_margin([[1, 2], [3], [4, 5, 6]], [0, 0, 1]),
        lambda: sx.geometry.exact_margin(["12", "40"], [0, 1]),
        lambda: sx.geometry.exact_margin([[np.inf], [1]], [0, 1]),
        lambda: sx.geometry.exact_margin([["one"], [1]], [0, 1]),
    ],
)
def test_geometry_never_answers_about_other_numbers_than_those_it_was_given(call):
    with pytest.raises(InputError):
        call()


def test_geometry_reads_what_estimators_read():
    X, signs = np.array([[2**60 + 2], [2**60 + 1]]), [1, -1]
    assert sx.geometry.exact_margin(X, signs).margin == Fraction(1, 2)
    assert sx.geometry.exact_margin([X[0], X[1]], signs).margin == Fraction(1, 2)
    for rows in (
        pd.DataFrame({"a": [1, 3]}, dtype="Int64"),
        [[Fraction(1)], [3]],
        sparse.dok_array([[1], [3]]),
    ):
        assert distance(rows, [2.0]).tolist() == [1.0, 3.0]
        assert sx.geometry.hull_distance(rows, [[5]]).upper == pytest.approx(2.0)


def test_of_many_columns_a_combination_is_near_exact_ones():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 210))
    point = X[:400].mean(axis=0)
    found = sx.geometry.in_hull(point, X)
    assert found.inside
    assert found.certificate.approximate is not None
    assert min(found.combination.values()) > 0
    assert sum(found.combination.values()) == 1
    made = sum(float(share) * X[row] for row, share in found.combination.items())
    np.testing.assert_allclose(made, point, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_the_distance_of_hulls_is_exact_whatever_the_scales_of_the_columns(seed):
    rng = np.random.default_rng(seed)
    size, other, columns = (int(rng.integers(1, 4)) for _ in range(3))
    scales = 2.0 ** rng.integers(-300, 300, columns)
    X = rng.integers(-3, 4, (size, columns)) * scales
    Y = (rng.integers(-3, 4, (other, columns)) + rng.integers(0, 6, columns)) * scales
    square = 4 * naive_exact.margin_square(np.vstack([X, Y]).tolist(), [0] * size + [1] * other, True)
    found = sx.geometry.hull_distance(X, Y)
    assert Fraction(found.lower) ** 2 <= square <= Fraction(found.upper) ** 2
    assert found.upper - found.lower <= 1e-9 * found.upper
    between = [
        Fraction(a) - Fraction(b) for a, b in zip(*(each.tolist() for each in found.points), strict=True)
    ]
    largest = np.abs([*X.ravel(), *Y.ravel()]).max()
    assert sum(v * v for v in between) <= (Fraction(found.upper) + Fraction(1e-12 * largest)) ** 2
