"""The exact margin is that of an exact solver of quadratic programs, and of the hulls."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix.errors import InputError
from separatrix.geometry import exact_margin
from tests import naive_exact

law = settings(max_examples=60, deadline=None)


def small(seed):
    generator = np.random.default_rng(seed)
    columns = int(generator.integers(1, 4))
    X = generator.integers(-4, 5, (int(generator.integers(2, 9)), columns))
    y = generator.integers(0, 2, len(X))
    y[:2] = 0, 1
    return X + 5 * int(generator.integers(0, 2)) * y[:, None], y


@law
@given(seed=st.integers(0, 10**6))
def test_the_squared_margin_is_the_optimum_of_an_exact_quadratic_program(seed):
    X, y = small(seed)
    found = exact_margin(X, y)
    if not sx.separability(X, y, quasi=False).separable:
        assert found.squared == 0
        assert not any(found.weights)
        return
    signs = np.where(y == 1, 1, -1)
    assert found.squared == naive_exact.margin_square(X.tolist(), y.tolist(), True)
    w = found.weights
    scores = [
        sign * (sum(a * int(v) for a, v in zip(w, row, strict=True)) + found.intercept)
        for row, sign in zip(X.tolist(), signs.tolist(), strict=True)
    ]
    length = sum(a * a for a in w)
    assert min(scores) ** 2 / length == found.squared  # the hyperplane has this margin
    assert found.margin is None or found.margin**2 == found.squared


def test_decimals_are_read_as_they_are_written():
    found = exact_margin([["0.1"], ["0.4"]], [0, 1])
    assert (found.squared, found.margin) == (Fraction(9, 400), Fraction(3, 20))
    assert exact_margin([[0.1], [0.4]], [0, 1]).squared != found.squared  # binary fractions


def test_an_exact_margin_is_between_two_classes():
    with pytest.raises(InputError, match="two classes"):
        exact_margin([[0], [1], [2]], [0, 1, 2])
