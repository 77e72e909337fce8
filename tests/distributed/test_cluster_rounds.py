"""A round on a cluster: few tasks, few bytes, and the answers of one task a block."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.inputs.data import read_data
from separatrix.rows.client import _at_once, _shared_out
from separatrix.rows.cluster import _lowest_of, _scan, cluster_rows
from separatrix.rows.memory import as_rows
from separatrix.rows.protocol import Scan
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


def test_one_task_a_thread_answers_for_the_blocks_of_a_worker(client):
    X, y = problem()
    data = read_data(as_dask(X, LENGTHS), as_dask(y, LENGTHS))
    rows, here = cluster_rows(data.matrix, data.beside, data.codes), as_rows(X, y)
    weights = np.array([1.0, -2.0, 0.0, 1.0])
    holders = client.who_has([handle.future for handle in data.matrix.handles])
    placed = Counter(where[0] for where in holders.values())
    tasks, found = tasks_of(client, lambda: rows.scan(weights, 5))
    even = max(placed.values()) <= 6  # of seven blocks on two workers; else the scheduler shares them out
    if all(len(where) == 1 for where in holders.values()):
        assert tasks["separatrix-scan"] == (len(placed) if even else 7)
    assert_same(found, here.scan(weights, 5))
    for limit in (1, 2, 40, 199, 300):
        assert_same(rows.scan(weights, limit), here.scan(weights, limit))


def assert_same(found, expected):
    assert (found.mistakes, found.cost) == (expected.mistakes, expected.cost)
    assert np.array_equal(found.rows, expected.rows)
    assert np.array_equal(found.scores, expected.scores)


@given(st.integers(0, 10**6), st.integers(1, 60))
def test_blocks_that_know_the_scores_before_them_keep_the_lowest_of_all(seed, limit):
    X, y = problem(seed)
    weights = np.array([1.0, -2.0, 0.0, 1.0])
    edges = np.cumsum([0, *LENGTHS])
    found = []
    for first, end in pairwise(edges.tolist()):
        part = as_rows(X[first:end], y[first:end])
        found.append(_scan(part, weights, limit, None, tuple(found)))
    rows = np.concatenate([each.rows + first for each, first in zip(found, edges, strict=False)])
    scores = np.concatenate([each.scores for each in found])
    kept = np.lexsort((rows, scores))[:limit]
    expected = as_rows(X, y).scan(weights, limit)
    assert np.array_equal(rows[kept], expected.rows)
    assert np.array_equal(scores[kept], expected.scores)
    assert sum(each.mistakes for each in found) == expected.mistakes


@given(st.lists(st.integers(0, 50), max_size=30, unique=True), st.integers(1, 8))
def test_calls_are_shared_out_evenly_and_in_order(calls, threads):
    parts = _shared_out(calls, threads)
    assert [k for part in parts for k in part] == calls
    assert len(parts) == min(threads, len(calls))
    assert not parts or max(map(len, parts)) - min(map(len, parts)) <= 1


@given(st.lists(st.integers(0, 30), max_size=20), st.integers(0, 50))
def test_blocks_of_a_crowded_worker_are_read_a_few_at_a_time(lengths, most):
    parts = _at_once(list(range(len(lengths))), dict(enumerate(lengths)), most)
    assert [k for part in parts for k in part] == list(range(len(lengths)))
    assert all(len(part) == 1 or sum(lengths[k] for k in part) <= most for part in parts)
    for one, other in pairwise(parts):  # no part could have taken one more
        assert sum(lengths[k] for k in one) + lengths[other[0]] > most


def test_a_crowded_worker_gives_the_same_answers(client):
    X, y = problem(2)
    data = read_data(as_dask(X, LENGTHS), as_dask(y, LENGTHS))
    rows, weights = cluster_rows(data.matrix, data.beside, data.codes), np.array([1.0, 0.0, -1.0, 1.0])
    rows.scan(weights)
    runner = data.matrix.runner
    if not runner._where:  # all on one worker: the scheduler shares them out
        return
    runner._room = dict.fromkeys(runner._threads, 1)  # no two blocks at once
    tasks, found = tasks_of(client, lambda: rows.scan(weights, 5))
    expected = as_rows(X, y).scan(weights, 5)
    assert tasks["separatrix-scan"] >= 7  # a task that is moved to an idle worker is seen again
    assert np.array_equal(found.rows, expected.rows)
    assert np.array_equal(found.scores, expected.scores)


@given(st.lists(st.lists(st.integers(-2, 2), max_size=6), min_size=1, max_size=5), st.integers(1, 12))
def test_scores_that_are_left_out_are_not_among_the_lowest(blocks, limit):
    scans = [
        Scan(sum(s <= 0 for s in each), 0.0, np.arange(len(each)), np.array(each, dtype=float))
        for each in blocks
    ]
    thinned = _lowest_of(scans, limit)
    lowest = sorted((s, k, i) for k, each in enumerate(blocks) for i, s in enumerate(each))[:limit]
    left = sorted(
        (s, k, i)
        for k, each in enumerate(thinned)
        for i, s in zip(each.rows.tolist(), each.scores.tolist(), strict=True)
    )
    assert left == lowest
    assert [each.mistakes for each in thinned] == [each.mistakes for each in scans]


def test_a_round_after_a_worker_was_lost_finds_the_blocks_anew(client):
    X, y = problem(1)
    data = read_data(as_dask(X, LENGTHS), as_dask(y, LENGTHS))
    rows, weights = cluster_rows(data.matrix, data.beside, data.codes), np.array([1.0, 1.0, 0.0, -1.0])
    expected = as_rows(X, y).scan(weights, 9)
    rows.scan(weights)
    runner = data.matrix.runner
    runner._where = dict.fromkeys(runner._where, "tcp://127.0.0.1:1")  # nobody is there
    runner._threads["tcp://127.0.0.1:1"] = 2
    for _ in range(2):
        found = rows.scan(weights, 9)
        assert np.array_equal(found.rows, expected.rows)
        assert np.array_equal(found.scores, expected.scores)
    assert "tcp://127.0.0.1:1" not in runner._where.values()
    assert set(runner._where.values()) <= set(client.nthreads())
