"""Multipliers that nearly vanish are corrected, and rows that can have none are found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from separatrix.deadline import NEVER, Deadline, OutOfTime
from separatrix.proofs.strategies import corrected_multipliers
from separatrix.proofs.strategies.corrected_multipliers import polished


def combination(seed, width=6, size=15):
    """Signed rows of whole numbers, and positive multipliers of a combination of all that vanishes."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-5, 6, (size, width)).astype(float)
    values = rng.integers(1, 9, size).astype(float)
    return np.vstack([rows, -values @ rows]), np.append(values, 1.0)


def with_two_columns(rows, values, more):
    """The same with two columns of zeros, and more rows, which alone use these, with tiny multipliers."""
    rng = np.random.default_rng(len(more))
    extra = np.hstack([rng.integers(-5, 6, (len(more), rows.shape[1])), np.array(more, dtype=float)])
    return np.vstack([np.hstack([rows, np.zeros((len(rows), 2))]), extra]), np.append(
        values, np.full(len(more), 1e-8)
    )


def shaken(values, seed, size=1e-7):
    return values * (1.0 + size * np.random.default_rng(seed).normal(size=values.size))


@given(st.integers(0, 10**6))
def test_corrected_multipliers_are_positive_and_their_combination_vanishes(seed):
    rows, exact = combination(seed)
    values = shaken(exact, seed)
    places, found = polished(sparse.csr_array(rows), values, NEVER)
    used = np.flatnonzero(rows.any(axis=1))
    assert set(used) <= set(places)
    assert (found > 0.0).all()
    assert np.abs(found @ rows[places]).max() <= 1e-12 * (found @ np.abs(rows[places])).max()
    assert np.allclose(found, values[places], rtol=1e-5)


# Columns that no combination cancels: of one sign, one after the other, of both signs with a positive sum.
IMPOSSIBLE = {
    "one sign": [(2, 0), (1, 0)],
    "one after the other": [(2, -1), (0, 3), (0, 1)],
    "a sum of columns": [(2, -1), (-1, 2), (3, -1)],
}


@pytest.mark.parametrize("more", IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())
@pytest.mark.parametrize("seed", range(5))
def test_rows_that_can_have_no_multiplier_go(more, seed):
    rows, exact = combination(seed)
    wider, values = with_two_columns(rows, shaken(exact, seed), more)
    places, found = polished(sparse.csr_array(wider), values, NEVER)
    assert set(places) <= set(range(len(rows)))
    assert set(np.flatnonzero(rows.any(axis=1))) <= set(places)
    assert np.abs(found @ wider[places]).max() <= 1e-12 * (found @ np.abs(wider[places])).max()


def test_rows_that_are_separable_leave_nothing():
    rows = np.array([[1.0, 1.0], [2.0, 1.0], [-1.0, 1.0]])
    assert polished(sparse.csr_array(rows), np.ones(3), NEVER) is None


def test_rows_of_zeros_keep_their_multipliers():
    places, found = polished(sparse.csr_array((3, 4)), np.array([1.0, 2.0, 3.0]), NEVER)
    assert places.tolist() == [0, 1, 2]
    assert found.tolist() == [1.0, 2.0, 3.0]


def test_a_correction_that_takes_too_long_is_not_begun(monkeypatch):
    rows, values = combination(0)
    soon = Deadline.after(60.0)
    assert polished(sparse.csr_array(rows), values, soon) is not None
    monkeypatch.setattr(corrected_multipliers, "OPERATIONS_A_SECOND", 1.0)
    assert polished(sparse.csr_array(rows), values, soon) is None


def test_nothing_is_corrected_after_the_deadline():
    rows, values = combination(0)
    with pytest.raises(OutOfTime):
        polished(sparse.csr_array(rows), values, Deadline.after(-1.0))
