"""A round on a cluster: a task for each block, and the answers of rows in memory."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from separatrix.inputs.data import read_data
from separatrix.rows.block_rows import cluster_rows
from separatrix.rows.memory import as_rows
from tests.partitions import as_dask

pytest.importorskip("distributed")

# threads of the cluster use that module
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")

LENGTHS = [30, 1, 50, 0, 20, 40, 9, 50]


def problem(seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 4, (sum(LENGTHS), 3)).astype(float), rng.integers(0, 2, sum(LENGTHS))


def tasks_of(client, deed):
    """How many tasks of each name a deed takes; and what it returns."""
    from distributed import get_task_stream

    with get_task_stream(client) as stream:
        found = deed()
        client.run(int)  # later than the last task's record
    return Counter("-".join(str(each["key"]).split("-")[:2]) for each in stream.data), found


@pytest.mark.parametrize("weighted", [False, True])
def test_a_scan_is_one_task_a_block_and_finds_what_a_scan_in_memory_finds(client, weighted):
    X, y = problem()
    data = read_data(as_dask(X, LENGTHS), as_dask(y, LENGTHS))
    rows, here = cluster_rows(data.matrix, data.beside, data.codes), as_rows(X, y)
    weights = np.array([1.0, -2.0, 0.0, 1.0])
    costs = 2.0 ** (np.arange(len(y)) % 3) if weighted else None
    tasks, found = tasks_of(client, lambda: rows.scan(weights, 5, costs))
    assert tasks["separatrix-scan"] == sum(length > 0 for length in LENGTHS)
    assert_same(found, here.scan(weights, 5, costs))
    for limit in (1, 2, 40, 199, 300):
        assert_same(rows.scan(weights, limit, costs), here.scan(weights, limit, costs))


def assert_same(found, expected):
    assert (found.mistakes, found.cost) == (expected.mistakes, expected.cost)
    assert np.array_equal(found.rows, expected.rows)
    assert np.array_equal(found.scores, expected.scores)
