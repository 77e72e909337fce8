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
from separatrix.rows.shards import cut_at

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
    solve_mixed(Run(learner, max_iter=epochs), cut_at(rows, np.arange(0, len(y), chunk)), mixing)
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
            model = sx.Perceptron(order="mixed", mixing=mixing, average=True, max_iter=7)
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
