"""Sparse rows: what columns of one sign settle changes no verdict, and its weights reach all rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import separatrix as sx
from separatrix.deadline import Deadline, OutOfTime
from separatrix.proofs import signed_rows
from separatrix.proofs.exact.integer_rows import relative_floats
from separatrix.proofs.strategies import interior_point, sparse_elimination
from separatrix.proofs.strategies.sparse_elimination import eliminate, frequent_parts
from tests.problems import chain


def texts(seed, n_rows=60, n_columns=25, words=4):
    """Counts of few words a row, and labels; some columns have numbers of one class only."""
    rng = np.random.default_rng(seed)
    often = 1.0 / np.arange(1, n_columns + 1)
    picked = rng.choice(n_columns, (n_rows, words), p=often / often.sum())
    places = np.repeat(np.arange(n_rows), words)
    X = sparse.csr_array((np.ones(picked.size), (places, picked.ravel())), shape=(n_rows, n_columns))
    X.sum_duplicates()
    if seed % 3 == 0:
        X.data *= rng.choice([-1.0, 1.0], X.data.size)
    return X, rng.integers(0, 2, n_rows)


def signed_matrix(X, y):
    lifted = sparse.hstack([X, np.ones((X.shape[0], 1))], format="csr")
    return sparse.csr_array(sparse.diags_array(2.0 * y - 1.0) @ lifted)


def naive_eliminate(Z):
    """The same one column at a time, on an array."""
    left = np.arange(len(Z))
    while True:
        for column in Z[left].T:
            if (column != 0).any() and ((column >= 0).all() or (column <= 0).all()):
                left = left[column == 0]
                break
        else:
            return left


@pytest.mark.parametrize("seed", range(30))
def test_the_same_rows_are_left_as_by_one_column_at_a_time(seed):
    Z = signed_matrix(*texts(seed))
    found = eliminate(Z)
    np.testing.assert_array_equal(found.places, naive_eliminate(Z.toarray()))
    for part in found.settled:
        np.testing.assert_array_equal(part.gains, part.rows[:, part.columns] @ part.signs)
        assert (part.gains > 0.0).all()


def test_stored_zeros_have_no_sign():
    Z = sparse.csr_array(([1.0, 0.0, -1.0, 2.0], ([0, 1, 1, 1], [0, 0, 1, 2])), shape=(2, 3))
    assert Z.nnz == 4
    found = eliminate(Z)
    assert not found.places.size
    assert (Z @ found.extended(np.zeros(3)) > 0.0).all()


@pytest.mark.parametrize("seed", range(30))
def test_weights_of_what_is_left_are_extended_to_all_rows(seed):
    X, y = texts(seed, words=6)
    rng = np.random.default_rng(seed)
    scores = X @ rng.normal(size=X.shape[1])
    Z = signed_matrix(X, (scores > np.median(scores)).astype(int))
    found = eliminate(Z)
    weights = np.zeros(Z.shape[1])
    if found.places.size:
        X, y = Z[found.places].toarray()[:, :-1], Z[found.places].toarray()[:, -1]
        verdict = sx.separability(X * y[:, None], y)
        assert verdict.status == "separable"
        weights = relative_floats(verdict.certificate.weights[0])
        # rows of the leftover keep their scores: they use no column that was settled
        before = Z[found.places] @ weights
        np.testing.assert_array_equal(before, Z[found.places] @ found.extended(weights))
    assert (Z @ found.extended(weights) > 0.0).all()


def test_rows_that_use_frequent_columns_alone():
    Z = signed_matrix(*texts(1, n_rows=200))
    uses = np.bincount(Z.indices, minlength=Z.shape[1])
    order = np.argsort(-uses, kind="stable")
    for size, places in zip((5, 10, 20), frequent_parts(Z, 5, 0.0), strict=True):
        rare = Z.toarray()[:, order[size:]]
        np.testing.assert_array_equal(places, np.flatnonzero(~rare.any(axis=1)))
    assert not list(frequent_parts(Z, 5, 1000.0))
    assert not list(frequent_parts(Z, 500, 0.0))


@pytest.mark.parametrize("quasi", [True, False])
@pytest.mark.parametrize("seed", range(24))
def test_verdicts_on_sparse_rows_are_those_of_the_exact_methods(seed, quasi, monkeypatch):
    X, y = texts(seed, n_rows=40 + 10 * (seed % 5), words=3 + seed % 4)
    expected = sx.separability(X.toarray(), y, quasi=quasi)
    monkeypatch.setattr(signed_rows, "SMALL", 0)
    for module in (interior_point, sparse_elimination):
        monkeypatch.setattr(module, "FEWEST", 0)
    monkeypatch.setattr(sparse_elimination, "FREQUENT", 5)
    monkeypatch.setattr(interior_point, "SPARSE_PRODUCT", 0.0 if seed % 2 else np.inf)
    found = sx.separability(X, y, quasi=quasi)
    assert found.status == expected.status
    assert sx.verify(found.certificate.to_json(), X, y)


def test_texts_with_a_planted_conflict_are_inseparable():
    """Four texts of which two together have the words of the other two, among thousands of others."""
    rng = np.random.default_rng(5)
    X = sparse.random_array((900, 6000), density=0.004, rng=rng, format="csr")
    X.data = np.ceil(3.0 * X.data)
    conflict = sparse.vstack([X[[0]] + X[[1]], X[[2]] + X[[3]], X[[0]] + X[[2]], X[[1]] + X[[3]]])
    rows = sparse.csr_array(sparse.vstack([X, conflict], format="csr"))
    y = np.append(rng.integers(0, 2, 900), [0, 0, 1, 1])
    verdict = sx.separability(rows, y, quasi=False, time_limit=600.0)
    assert verdict.status == "inseparable"
    assert set(verdict.witness_rows) == {900, 901, 902, 903}
    assert sx.verify(verdict.certificate, rows, y)


def test_part_of_the_rows_is_a_question_of_its_own():
    X, y = texts(2)
    question = signed_rows.SignedRows(sx.inputs.data.read_data(X, y), 1, np.ones(60, dtype=bool), True)
    part = question.part(np.array([3, 7, 20]))
    np.testing.assert_array_equal(part.ids, [3, 7, 20])
    assert part.n_used == len(np.unique(X[[3, 7, 20]].indices)) + 1


def test_rows_that_settle_one_after_the_other_get_weights_that_floats_hold():
    Z = chain(3000)
    found = eliminate(Z)
    assert len(found.settled) == 1500  # from both ends
    assert (Z @ found.extended(np.zeros(3001)) > 0.0).all()


def test_weights_that_no_float_holds_are_not_given():
    Z = chain(3000)
    Z.data[Z.data < 0.0] = -4.0
    assert eliminate(Z).extended(np.zeros(3001)) is None


def test_a_deadline_that_has_come_ends_the_settling():
    Z = chain(5)
    with pytest.raises(OutOfTime):
        eliminate(Z, Deadline.after(0.0))
    with pytest.raises(OutOfTime):
        eliminate(Z).extended(np.zeros(6), Deadline.after(0.0))
