"""Every method of the search gives the verdict of rational arithmetic, on numbers of any size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import separatrix as sx
from separatrix.deadline import NEVER, Deadline
from separatrix.proofs import search, signed_rows
from separatrix.proofs.search import Search
from separatrix.proofs.strategies.tight_planes import reduced_rows
from separatrix.rank import FIRST_PRIME
from tests import naive
from tests.problems import chain

METHODS = {
    "program": {},  # the linear program gets all rows at once
    "working set": {"SMALL": 0},
    "central": {"SMALL": 0, "MANY": 0, "DENSE": 0, "FREQUENT": (1, 2, 3)},
}


def numbers(rng, kind, shape):
    """Small whole numbers, times powers of two for each row or each number, or of low rank."""
    whole = rng.integers(-3, 4, shape).astype(float)
    if kind == "lengths":
        return np.ldexp(whole, rng.integers(-500, 500, (shape[0], 1)))
    if kind == "extreme":
        return np.ldexp(whole, rng.integers(-1070, 900, shape))
    if kind == "rank two":
        return (
            rng.integers(-2, 3, (shape[0], 2)) @ rng.integers(-2, 3, (2, shape[1])) / rng.choice([1.0, 3.0])
        )
    return whole


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["whole", "lengths", "extreme", "rank two"])
@pytest.mark.parametrize("part", range(3))
def test_verdicts_by_every_method_are_those_of_rational_arithmetic(method, kind, part, monkeypatch):
    for name, value in METHODS[method].items():
        monkeypatch.setattr(signed_rows if name == "SMALL" else search, name, value)
    rng = np.random.default_rng(part)
    for case in range(12):
        X = numbers(rng, kind, (int(rng.integers(2, 13)), int(rng.integers(1, 5))))
        y = np.append([0, 1], rng.integers(0, 2, len(X) - 2))
        if case % 3 == 0:
            X = X * (2.0 * y - 1.0)[:, None]
        lift = case % 2 == 0
        monkeypatch.setattr(signed_rows, "SPARSE_PRODUCT", rng.choice([0.0, 60.0, np.inf]))
        truth = naive.separation(naive.exact_signed_rows(X.tolist(), y.tolist(), lift=lift))
        for matrix in (X, sparse.csr_array(X)):
            verdict = sx.separability(matrix, y, fit_intercept=lift)
            assert verdict.status == truth
            assert sx.verify(verdict.certificate, matrix, y)


@pytest.mark.parametrize("whole", [False, True])
def test_a_row_of_zeros_lies_on_every_plane_through_the_origin(whole):
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (400, 250)) if whole else rng.standard_normal((400, 250))
    X[7], y = 0, np.arange(400) % 2
    verdict = sx.separability(X, y, fit_intercept=False, quasi=False)
    assert verdict.status == "inseparable"
    assert sx.verify(verdict.certificate, X, y)


def test_no_multiplier_at_all_proves_nothing():
    X, y = np.array([[1.0], [2.0], [3.0]]), [0, 1, 0]
    rows = signed_rows.SignedRows(sx.inputs.data.read_data(X, y), 1, np.ones(3, dtype=bool), True, NEVER)
    asked = Search(rows, np.ones(3, dtype=bool), search.NOTHING, lambda *_: pytest.fail("nothing to prove"))
    assert asked._combination_of(np.arange(3), np.array([0.0, np.inf, np.nan])) is None
    assert asked._combination_of(search.NOTHING, np.zeros(0)) is None


def test_a_question_of_many_rows_that_settle_in_turn_keeps_its_time_limit():
    Z, y = chain(20_000), np.arange(20_000) % 2
    X = sparse.csr_array(sparse.diags_array(2.0 * y - 1.0) @ Z)
    begin = Deadline.after(0.0).moment
    verdict = sx.separability(X, y, fit_intercept=False, time_limit=2.0)
    assert verdict.status in ("separable", "undecided")
    assert Deadline.after(0.0).moment - begin < 60.0  # it took minutes, and gigabytes


def test_rows_that_are_independent_but_not_in_floats_have_no_planes_to_be_seen_on():
    """A row less a third of another is zero in floats, where the third was rounded; exactly it is not."""
    X, y = sparse.csr_array([[3.0, 1.0, 0.0], [1.0, 1.0 / 3.0, 0.0], [0.0, 0.0, 1.0]]), np.array([1, 1, 0])
    rows = signed_rows.SignedRows(sx.inputs.data.read_data(X, y), 1, np.ones(3, dtype=bool), False, NEVER)
    basis = np.arange(2)
    assert rows.independent(basis, FIRST_PRIME).size == 2
    assert reduced_rows(rows, basis, np.array([False, False, True])) is None
    assert reduced_rows(rows, basis[:1], np.array([False, False, True])) is not None
