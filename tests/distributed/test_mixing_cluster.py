"""Shards that learn side by side on a cluster: the bits of the same shards in memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import separatrix as sx
from separatrix.datasets import make_separable
from separatrix.perceptron.learner import Learner
from separatrix.perceptron.mixing import solve_mixed
from separatrix.perceptron.run import Run
from separatrix.rows.memory import as_rows

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
quietly = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def workers():
    """Two workers, each a process of its own, over TCP."""
    options = {"n_workers": 2, "threads_per_worker": 1, "protocol": "tcp", "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        yield cluster


def same_shards(X, y, weights, *, mixing, epochs, chunk):
    """The run over the same shards in memory."""
    rows = as_rows(X, y, n_classes=3, keep=weights > 0.0)
    learner = Learner(rows, start=np.zeros(rows.weights_shape), steps=weights, averaging=True)
    solve_mixed(Run(learner, max_iter=epochs), rows.cut_at(np.arange(0, len(y), chunk)), mixing)
    return learner


@quietly
@pytest.mark.parametrize("where", ["threads", "workers"])
def test_mixing_on_a_cluster_gives_the_bits_of_the_same_shards_in_memory(where, request):
    if where == "workers":
        request.getfixturevalue("workers")
    rng = np.random.default_rng(3)
    X, y, weights = rng.normal(size=(400, 4)), rng.integers(0, 3, 400), rng.choice([0.0, 1.0, 0.3], 400)
    dense, labels = da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)
    for matrix in (dense, dense.map_blocks(sparse.csr_matrix)):
        for mixing in ("mistakes", "even"):
            options = {"mixing": mixing, "average": True, "max_iter": 7, "n_iter_no_change": None}
            model = sx.Perceptron(order="mixed", **options)
            found = model.fit(matrix, labels, sample_weight=weights).result_
            learner = same_shards(X, y, weights, mixing=mixing, epochs=7, chunk=100)
            assert np.array_equal(found.weights, learner.weights)
            assert np.array_equal(found.counts, learner.tally.counts)
            assert np.array_equal(found.mixed_counts, learner.mixed)
            assert np.array_equal(found.average_sum, learner.tally.average)


def test_the_partitions_are_the_shards():
    problem = make_separable(300, 4, margin=0.1, random_state=0)
    X = da.from_array(problem.X, chunks=(100, 4))
    assert sx.Perceptron(order="mixed", shards=3).fit(X, problem.y).converged_
    with pytest.raises(sx.errors.InputError, match=r"3 partitions.*rechunk"):
        sx.Perceptron(order="mixed", shards=4).fit(X, problem.y)


def noisy(n_rows=6000, seed=0):
    """Rows of which a tenth has the wrong label."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    y = (X @ np.array([1.0, -2.0, 0.5, 0.0]) + 0.3 > 0).astype(int)
    return X, np.where(rng.random(n_rows) < 0.1, 1 - y, y)


@quietly
@pytest.mark.parametrize("weights", [None, "some"])
def test_sets_on_a_cluster_mix_where_many_rows_are_wrong(weights):
    X, y = noisy()
    given = None if weights is None else np.random.default_rng(1).choice([0.0, 1.0, 0.5], len(y))
    there = da.from_array(X, chunks=(1000, 4))
    found, again = (
        sx.Perceptron(max_iter=20, n_iter_no_change=None).fit(there, y, sample_weight=given) for _ in range(2)
    )
    result = found.result_
    assert result.passes == 20
    assert result.mixed_counts is not None
    assert result.mixed_counts.sum() < result.counts.sum()
    signed = np.hstack([X, np.ones((len(X), 1))]) * (2.0 * y - 1.0)[:, None]
    total = result.mixed_counts[:, 0] @ signed  # weights of rows that are not zero change nothing here
    assert np.allclose(total, result.weights)  # the ledger explains the weights that were kept
    assert result.margin_upper == pytest.approx(np.linalg.norm(total) / result.mixed_counts.sum())
    counted = np.ones(len(y), dtype=bool) if given is None else given > 0
    wrong = np.count_nonzero(signed[counted] @ result.weights <= 0.0)
    assert wrong == result.errors <= 0.2 * counted.sum()
    assert np.array_equal(result.weights, again.result_.weights)


def test_sets_on_a_cluster_separate_within_the_bound_of_the_mixed_counts():
    problem = make_separable(5000, 6, margin=0.02, random_state=1)
    there = da.from_array(problem.X, chunks=(700, 6))
    result = sx.Perceptron(max_iter=1000).fit(there, problem.y).result_
    assert result.separated
    assert result.mixed_counts.sum() <= (result.radius / problem.margin) ** 2
    assert np.linalg.norm(problem.X, axis=1).max() <= result.radius


@quietly
def test_sets_on_a_cluster_do_not_mix_where_each_update_is_asked_for():
    X, y = noisy(3000)
    there = da.from_array(X, chunks=(1000, 4))
    result = sx.Perceptron(max_iter=5, trace=True).fit(there, y).result_
    assert result.mixed_counts is None
    assert len(result.trace.rows) == result.kept_mistakes
    limited = sx.Perceptron(max_iter=5, max_updates=50).fit(there, y).result_
    assert limited.mixed_counts is None
    assert limited.mistakes == 50
