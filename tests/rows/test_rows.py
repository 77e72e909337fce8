"""Laws of signed rows: whatever the storage, they answer as an explicit matrix would."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from separatrix.errors import InputError, NumericOverflowError
from separatrix.rows.memory import as_rows
from tests import naive
from tests.elsewhere import PROTOCOL, Elsewhere
from tests.problems import STORAGES, TWO_STORAGES, Case, clouds, grids

every_storage = pytest.mark.parametrize("storage", STORAGES)


def whole_weights(rows):
    """Small whole weights of the right shape, ties with zero included."""
    size = int(np.prod(rows.weights_shape))
    return st.lists(st.integers(-3, 3), min_size=size, max_size=size).map(
        lambda values: np.array(values, dtype=np.float64).reshape(rows.weights_shape)
    )


def matrix_of(rows):
    """The numbers a Rows holds, back as a plain matrix."""
    storage = rows.storage
    if hasattr(storage, "values"):
        return np.asarray(storage.values, dtype=np.float64)
    parts = (storage.data, storage.indices, storage.indptr)
    return sparse.csr_array(parts, shape=(rows.n_rows, rows.n_columns)).toarray()


def check_scan(case, rows, weights, limit, keep=None):
    found = rows.scan(weights, limit)
    scores = naive.scores(case.X, case.codes, case.n_classes, case.lift, weights)
    here = np.arange(len(scores)) if keep is None else np.flatnonzero(keep)
    lowest = np.sort(scores[here])[: max(1, limit)]
    assert found.mistakes == np.sum(scores[here] <= 0)
    assert np.array_equal(found.scores, lowest)
    assert np.array_equal(scores[found.rows], lowest)
    assert np.unique(found.rows).size == found.rows.size
    assert np.isin(found.rows, here).all()
    assert found.rows[0] == here[np.argmin(scores[here])]


@every_storage
@given(data=st.data())
def test_a_scan_finds_the_lowest_scores_and_counts_the_mistakes(storage, data):
    case = data.draw(grids(storage=storage))
    rows = case.rows()
    check_scan(case, rows, data.draw(whole_weights(rows)), data.draw(st.integers(1, 15)))


@given(data=st.data(), count=st.integers(2, 5))
def test_a_scan_by_threads_is_a_scan(many_threads, data, count):
    many_threads(count)
    case = data.draw(grids(storage=data.draw(st.sampled_from(TWO_STORAGES)), max_rows=30))
    rows = case.rows()
    check_scan(case, rows, data.draw(whole_weights(rows)), data.draw(st.integers(1, 30)))


@given(data=st.data())
def test_a_scan_does_not_depend_on_the_number_of_threads(many_threads, data):
    case = data.draw(grids(storage="float64 by rows", max_rows=30))
    rows = case.rows()
    weights, limit = data.draw(whole_weights(rows)), data.draw(st.integers(1, 10))
    many_threads(1)
    alone = rows.scan(weights, limit)
    many_threads(data.draw(st.integers(2, 4)))
    together = rows.scan(weights, limit)
    assert np.array_equal(alone.rows, together.rows)
    assert np.array_equal(alone.scores, together.scores)
    assert (alone.mistakes, alone.cost) == (together.mistakes, together.cost)


@given(data=st.data())
def test_rows_left_out_are_never_seen(data):
    case = data.draw(grids(storage=data.draw(st.sampled_from(TWO_STORAGES))))
    n_rows = len(case.codes)
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows)))
    keep[data.draw(st.integers(0, n_rows - 1))] = True
    rows = case.rows(keep=keep)
    check_scan(case, rows, data.draw(whole_weights(rows)), data.draw(st.integers(1, 15)), keep)
    norms = np.linalg.norm(naive.lifted(case.X, case.lift), axis=1)
    assert rows.radius == pytest.approx(norms[keep].max())


@given(data=st.data())
def test_the_cost_of_a_scan_is_what_its_mistakes_cost(data):
    case = data.draw(grids(storage="float64 by rows"))
    rows = case.rows()
    weights = data.draw(whole_weights(rows))
    costs = np.arange(1.0, rows.n_rows + 1)
    wrong = naive.scores(case.X, case.codes, case.n_classes, case.lift, weights) <= 0
    assert rows.scan(weights, 1, costs).cost == costs[wrong].sum()
    assert rows.scan(weights, 1, np.full(1, 3.0)).cost == 3.0 * wrong.sum()


@given(data=st.data(), case=clouds())
def test_scores_of_random_floats_agree_to_rounding(data, case):
    rows = case.rows()
    seed = data.draw(st.integers(0, 2**32 - 1))
    weights = np.random.default_rng(seed).standard_normal(rows.weights_shape)
    found = rows.scan(weights, rows.n_rows)
    expected = naive.scores(case.X, case.codes, case.n_classes, case.lift, weights)
    assert np.sort(expected) == pytest.approx(found.scores, rel=1e-12, abs=1e-12)
    outputs = naive.lifted(case.X, case.lift) @ np.atleast_2d(weights).T
    assert rows.outputs(weights) == pytest.approx(outputs, rel=1e-12, abs=1e-12)


@every_storage
@given(data=st.data())
def test_the_radius_is_the_length_of_the_longest_lifted_row(storage, data):
    case = data.draw(grids(storage=storage, n_classes=2))
    norms = np.linalg.norm(naive.lifted(case.X, case.lift), axis=1)
    assert case.rows().radius == pytest.approx(norms.max(), rel=1e-15)
    assert case.rows().integral


@given(case=clouds(n_classes=2))
def test_fractions_are_not_called_whole(case):
    assert case.rows().integral == bool(np.all(np.floor(case.X) == case.X))


@every_storage
@given(data=st.data())
def test_taken_rows_are_those_rows(storage, data):
    case = data.draw(grids(storage=storage))
    rows = case.rows()
    picks = np.array(data.draw(st.lists(st.integers(0, rows.n_rows - 1), min_size=1, max_size=8)))
    taken = rows.take(picks)
    assert np.array_equal(matrix_of(taken), case.X[picks])
    assert np.array_equal(taken.storage.labels, case.codes[picks])
    weights = data.draw(whole_weights(rows))
    part = Case(case.X[picks], case.codes[picks], case.n_classes, case.lift, storage)
    check_scan(part, taken, weights, 3)


@every_storage
@given(data=st.data())
def test_rows_combined_by_counts_are_the_sum_of_their_corrections(storage, data):
    case = data.draw(grids(storage=storage))
    rows = case.rows()
    shape = rows.n_rows, 1 if case.n_classes == 2 else case.n_classes
    counts = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 4, shape)
    if case.n_classes > 2:
        counts[np.arange(rows.n_rows), case.codes] = 0  # no row is its own class's rival
    steps = data.draw(st.sampled_from([np.full(1, 2.0), np.arange(rows.n_rows) + 1.0]))
    found = np.ones(rows.weights_shape)
    rows.combine(counts, steps, found)
    assert np.array_equal(
        found, 1.0 + naive.combination(case.X, case.codes, case.n_classes, case.lift, counts, steps)
    )


def test_norms_that_a_pass_offers_are_kept_only_if_every_row_has_a_finite_one():
    X = np.array([[3.0, 4.0], [1.0, 0.0]])
    for offered, kept in (([25.0, 1.0], True), ([25.0, -1.0], False), ([np.inf, 1.0], False)):
        rows = as_rows(X, np.array([0, 1]), lift=False)
        norms = np.array(offered)
        rows.offer_norms(norms)
        assert (rows.squared_norms is norms) == kept
        assert rows.squared_norms.tolist() == [25.0, 1.0]
        assert rows.radius == 5.0


def test_rows_in_memory_have_all_that_the_protocol_lists_and_rows_elsewhere_no_more():
    rows = as_rows(np.eye(2), np.array([0, 1]))
    assert {"scan", "take", "combine", "squared_norms"} <= PROTOCOL
    assert all(hasattr(each, name) for each in (rows, Elsewhere(rows)) for name in PROTOCOL)
    assert not any(hasattr(Elsewhere(rows), name) for name in ("storage", "matrix", "offer_norms"))


@pytest.mark.parametrize("storage", [name for name in STORAGES if "CSR" not in name])
def test_a_dense_matrix_is_copied_only_if_its_numbers_do_not_lie_row_by_row(storage):
    X = STORAGES[storage](np.arange(12.0).reshape(4, 3))
    rows = as_rows(X, np.array([0, 1, 0, 1]))
    assert np.shares_memory(rows.storage.values, X) == X.flags.c_contiguous
    assert np.array_equal(rows.storage.values, X)
    assert rows.storage.values.dtype == X.dtype


@pytest.mark.parametrize("storage", ["CSR int32", "CSR int64"])
def test_a_sparse_matrix_is_never_copied(storage):
    X = STORAGES[storage](np.arange(12.0).reshape(4, 3))
    rows = as_rows(X, np.array([0, 1, 0, 1]))
    for mine, theirs in zip(rows.storage[:3], (X.data, X.indices, X.indptr), strict=True):
        assert np.shares_memory(mine, theirs)
        assert mine.dtype == theirs.dtype


def test_bytes_are_scanned_without_being_expanded():
    X = np.random.default_rng(0).integers(0, 256, (20_000, 50), dtype=np.uint8)
    rows = as_rows(X, (np.arange(20_000) % 2).astype(np.int32))
    weights = np.random.default_rng(1).standard_normal(51)
    for _ in range(2):  # the first scan also measures the rows
        rows.scan(weights, 5)
    tracemalloc.start()
    try:
        rows.scan(weights, 5)
        _ = rows.squared_norms, rows.integral
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes


@pytest.mark.parametrize(
    "make",
    [
        lambda X: X > 0,
        lambda X: X.astype(np.float16),
        lambda X: X.astype(np.longdouble),
        lambda X: X.astype(">f8"),
        lambda X: X.astype(np.int8),
        lambda X: X[::-1],
    ],
    ids=["bool", "half", "long double", "big endian", "int8", "backwards"],
)
def test_unusual_numbers_are_read_as_the_numbers_they_are(make):
    X = make(np.array([[1.0, -2.0], [0.0, 3.0], [2.0, 2.0]]))
    outputs = as_rows(X, np.array([0, 1, 0])).outputs(np.array([2.0, 5.0, 7.0]))
    assert np.array_equal(outputs[:, 0], np.asarray(X, dtype=float) @ [2.0, 5.0] + 7.0)


def test_a_matrix_that_must_not_be_written_is_read():
    X = np.array([[1.0, -2.0], [0.0, 3.0]])
    X.flags.writeable = False
    assert np.array_equal(as_rows(X, np.array([0, 1])).outputs(np.array([1.0, 1.0, 0.0]))[:, 0], [-1.0, 3.0])


@pytest.mark.parametrize("storage", ["float64 by rows", "float64 by columns", "float32", "CSR int64"])
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_a_value_that_is_not_finite_is_named_by_row_and_column(storage, value, word):
    X = np.ones((6, 3))
    X[4, 1] = value
    rows = as_rows(STORAGES[storage](X), np.zeros(6, dtype=int), names=("a", "b", "c"))
    with pytest.raises(InputError, match=rf"{word}: row 4, column 1 \('b'\)"):
        _ = rows.squared_norms


def test_the_first_value_that_is_not_finite_is_named_by_any_number_of_threads(many_threads):
    many_threads(3)
    X = np.ones((30, 2))
    X[17, 1] = X[28, 0] = np.nan
    with pytest.raises(InputError, match="row 17, column 1"):
        _ = as_rows(X, np.zeros(30, dtype=int)).squared_norms


def test_a_row_whose_square_overflows_is_named():
    X = np.array([[1.0, 1.0], [1e200, 0.0]])
    with pytest.raises(NumericOverflowError, match="Row 1 of X"):
        _ = as_rows(X, np.array([0, 1])).squared_norms
