"""The interior-point method: it separates, or finds Tucker's partition; its verdicts are the others'."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import separatrix as sx
from separatrix.deadline import Deadline
from separatrix.margins.lp.interior_point import gram, solve_interior
from separatrix.proofs import signed_rows
from separatrix.proofs.strategies import interior_point
from separatrix.result import Status


def planted(seed, n_tight, n_strict, width):
    """Rows of which the first ones have a vanishing combination, and the others a coordinate of their own."""
    rng = np.random.default_rng(seed)
    tight = rng.normal(size=(n_tight, width))
    tight[-1] = -(rng.uniform(0.5, 1.0, n_tight - 1) @ tight[:-1])
    tight /= np.abs(tight).max(axis=1, keepdims=True)
    strict = rng.normal(size=(n_strict, width + 1))
    strict[:, -1] = rng.uniform(0.1, 1.0, n_strict)
    return np.vstack([np.hstack([tight, np.zeros((n_tight, 1))]), strict])


@pytest.mark.parametrize("seed", range(10))
def test_what_is_called_separated_is(seed):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1.0, 1.0, (200, 30))
    w = rng.normal(size=30)
    rows *= np.sign(rows @ w)[:, None]
    found = solve_interior(rows)
    assert found.status is Status.REACHED
    assert (rows @ found.weights > 0.0).all()
    assert np.abs(found.weights).max() <= 1.0


@pytest.mark.parametrize("seed", range(10))
def test_the_rows_that_no_plane_can_improve_on_are_told_from_those_that_one_separates(seed):
    rows = planted(seed, 40, 25 * (seed % 3), 12)
    found = solve_interior(rows[:, rows.any(axis=0)])
    assert found.status is Status.NOT_SEPARABLE
    np.testing.assert_array_equal(np.flatnonzero(found.tight), np.arange(40))
    multipliers = found.multipliers * found.tight
    assert (multipliers[:40] > 0.0).all()
    assert np.abs(rows.T @ multipliers).max() < 1e-9


def test_a_deadline_that_has_come_ends_it_before_the_first_step():
    rows = planted(0, 40, 10, 12)
    assert solve_interior(rows, Deadline.after(0.0)).status is Status.TIME_LIMIT


@pytest.mark.parametrize("shape", [(7, 3), (3000, 200)])
def test_inner_products_of_columns_on_all_cores_are_those_of_one_product(shape):
    rng = np.random.default_rng(1)
    matrix, factors = rng.normal(size=shape), rng.uniform(size=shape[0])
    expected = np.einsum("ij,i,ik->jk", matrix, factors**2, matrix)
    np.testing.assert_allclose(gram(matrix, factors), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["whole", "floats", "tight", "far"])
@pytest.mark.parametrize("seed", range(6))
def test_verdicts_by_it_are_those_of_the_exact_methods(seed, kind, monkeypatch):
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(20, 120)), int(rng.integers(3, 25))
    X = rng.integers(-3, 4, (n, width)) if kind in ("whole", "tight") else rng.normal(size=(n, width))
    y = rng.integers(0, 2, n)
    if kind == "tight":  # half of the rows are separated by one column, the others lie on its plane
        X[: n // 2, 0] = 0
        X[n // 2 :, 0] = 2 * y[n // 2 :] - 1
    if kind == "far":
        X = X + (1e6, 1e9)[seed % 2]
    expected = sx.separability(X, y)
    monkeypatch.setattr(signed_rows, "SMALL", 0)
    monkeypatch.setattr(interior_point, "FEWEST", 0)
    found = sx.separability(X, y)
    assert found.status == expected.status
    assert sx.verify(found.certificate, X, y)


@pytest.mark.parametrize("seed", range(6))
def test_sparse_rows_take_the_path_of_the_same_rows_as_an_array(seed):
    rng = np.random.default_rng(seed)
    rows = np.vstack([planted(seed, 40, 20, 12), np.eye(13)[rng.integers(0, 12, 5)] * 0.5])
    rows[rng.uniform(size=rows.shape) < 0.2] = 0.0
    found, expected = solve_interior(sparse.csr_array(rows)), solve_interior(rows)
    assert found.status is expected.status
    if found.status is Status.REACHED:
        assert (rows @ found.weights > 0.0).all()
    else:
        np.testing.assert_array_equal(found.tight, expected.tight)
