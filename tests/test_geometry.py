"""Planes, sides and margins: what the definitions say, and what cannot be measured."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from separatrix.errors import InputError
from separatrix.proofs.geometry import (
    common_point,
    distance,
    functional_margin,
    geometric_margin,
    in_half_space,
)

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
