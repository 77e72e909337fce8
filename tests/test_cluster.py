"""The same questions, asked of Dask collections: the same answers."""

from __future__ import annotations

import subprocess
import sys

import dask.array as da
import numpy as np
import pytest

import separatrix as sx


@pytest.fixture(scope="module")
def client():
    """Two workers, each a process of its own, over TCP."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, protocol="tcp", dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def problem(n=400, d=4, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=d) - 0.3
    far = np.abs(scores) > 0.1
    y = (scores + noise * rng.normal(size=n) > 0.0).astype(int)
    return (X[far], y[far]) if not noise else (X, y)


@pytest.mark.parametrize("with_client", [False, True])
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_a_verdict_on_a_collection_is_that_on_the_same_rows_in_memory(with_client, noise, request):
    if with_client:
        request.getfixturevalue("client")
    X, y = problem(6000, noise=noise)
    there = da.from_array(X, chunks=(1234, 4)), da.from_array(y, chunks=1234)
    here, found = sx.separability(X, y), sx.separability(*there)
    assert found.status == here.status
    assert found.certificate.sha256 == here.certificate.sha256
    assert sx.verify(found.certificate, X, y)
    assert sx.verify(found.certificate, *there)
    assert sx.verify(here.certificate, *there)


def test_models_of_a_collection_are_those_of_the_same_rows_in_memory(client):
    X, y = problem(3000)
    there = da.from_array(X, chunks=(700, 4)), da.from_array(y, chunks=700)
    assert sx.Perceptron().fit(*there).converged_
    hard, hard_there = sx.MaxMargin().fit(X, y), sx.MaxMargin().fit(*there)
    assert hard_there.margin_lower_ <= hard.margin_upper_
    assert hard_there.margin_upper_ >= hard.margin_lower_
    assert (hard_there.predict(X) == y).all()
    noisy = problem(3000, noise=0.3)[1]
    soft = sx.SoftMargin().fit(X[:2000], noisy[:2000])
    soft_there = sx.SoftMargin().fit(there[0][:2000], noisy[:2000])
    assert soft_there.dual_objective_ <= soft.objective_
    assert soft.dual_objective_ <= soft_there.objective_


def test_dask_is_not_imported_unless_a_collection_comes():
    code = (
        "import sys, separatrix as sx; sx.separability([[1.0], [2.0]], [0, 1]); "
        "sx.Perceptron().fit([[1.0], [2.0]], [0, 1]); "
        "assert not {'dask', 'distributed'} & {name.partition('.')[0] for name in sys.modules}"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
