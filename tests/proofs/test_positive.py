"""Positive combinations that vanish: where several do, a positive one of them is found, exactly."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix.deadline import NEVER, Deadline, OutOfTime
from separatrix.proofs.exact.linear_systems import IntegerRows, combination
from separatrix.proofs.strategies import positive
from separatrix.proofs.strategies.positive import positive_combination
from separatrix.rank import FIRST_PRIME


def planted(seed, rank, more, noise=1e-3):
    """Whole rows of low rank with a positive combination that vanishes, and floats near it."""
    rng = np.random.default_rng(seed)
    width = rank + 5
    rows = rng.integers(-4, 5, (rank + more, rank)) @ rng.integers(-3, 4, (rank, width))
    multipliers = rng.integers(1, 50, rank + more)
    rows = np.vstack([rows, -(multipliers @ rows)])
    near = np.append(multipliers, 1).astype(float) * (1.0 + noise * rng.uniform(-1.0, 1.0, rank + more + 1))
    entries = [[int(v) for v in row] for row in rows]
    return IntegerRows(entries, np.arange(width), [0] * width), near


@pytest.mark.parametrize("seed", range(20))
def test_it_is_positive_and_vanishes_exactly(seed):
    rows, near = planted(seed, 3 + seed, 1 + seed % 7)
    found = positive_combination(rows, near, FIRST_PRIME, NEVER)
    assert found is not None
    assert min(found) > 0
    for column in zip(*rows.entries, strict=True):
        assert sum(m * v for m, v in zip(found, column, strict=True)) == 0


def test_near_multipliers_of_some_rows_do_not_make_the_others_positive():
    """Why it is needed: solved for from a few fixed ones, multipliers become negative."""
    negative = 0
    for seed in range(20):
        rows, near = planted(seed, 30, 5, noise=0.3)
        order = np.argsort(-near)
        rows = IntegerRows([rows.entries[i] for i in order], rows.columns, rows.grid)
        fixed = {i: round(value * 2**30) for i, value in enumerate(near[order])}
        solved = combination(rows, fixed, FIRST_PRIME)
        negative += min(solved) < 0
        assert min(positive_combination(rows, near[order], FIRST_PRIME, NEVER)) > 0
    assert negative > 0


def test_rows_that_no_combination_uses_get_zero():
    rows, near = planted(1, 4, 3)
    width = len(rows.columns)
    entries = [[*row, 0] for row in rows.entries] + [[0] * width + [1]]
    found = positive_combination(
        IntegerRows(entries, np.arange(width + 1), [0] * (width + 1)),
        np.append(near, 1e-9),
        FIRST_PRIME,
        NEVER,
    )
    assert found[-1] == 0
    assert min(found[:-1]) > 0


def test_where_no_combination_is_positive_there_is_none():
    entries = [[1, 0], [2, 0], [0, 1], [0, 3]]
    assert (
        positive_combination(IntegerRows(entries, np.arange(2), [0, 0]), np.ones(4), FIRST_PRIME, NEVER)
        is None
    )


def test_one_combination_or_too_many_are_left_to_others(monkeypatch):
    rows, near = planted(2, 5, 4)
    monkeypatch.setattr(positive, "MOST", 3)
    assert positive_combination(rows, near, FIRST_PRIME, NEVER) is None
    rows, near = planted(2, 5, 0)
    assert positive_combination(rows, near, FIRST_PRIME, NEVER) is None


def test_a_deadline_that_has_come_ends_it():
    rows, near = planted(2, 5, 4)
    with pytest.raises(OutOfTime):
        positive_combination(rows, near, FIRST_PRIME, Deadline.after(0.0))


def test_a_solution_that_would_come_too_late_is_not_begun(monkeypatch):
    rows, near = planted(2, 5, 4)
    assert positive_combination(rows, near, FIRST_PRIME, Deadline.after(60.0)) is not None
    monkeypatch.setattr(positive, "seconds_to_solve", lambda size, bits: 60.0)
    assert positive_combination(rows, near, FIRST_PRIME, Deadline.after(60.0)) is None


def test_rows_of_any_length_have_a_positive_combination():
    """Multipliers of short rows against those of long ones leave the range of floats."""
    rows, near = planted(3, 5, 4)
    entries = [[v << 700 * (i % 3) for v in row] for i, row in enumerate(rows.entries)]
    near = np.ldexp(near, 700 - 700 * (np.arange(len(near)) % 3))
    found = positive_combination(IntegerRows(entries, rows.columns, rows.grid), near, FIRST_PRIME, NEVER)
    assert min(found) > 0
    for column in zip(*entries, strict=True):
        assert sum(m * v for m, v in zip(found, column, strict=True)) == 0
