"""A worker that dies, a client that goes away, an interrupt: the same answer, or a clear error."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import separatrix as sx
from separatrix.certificates.digest import start_digest
from separatrix.errors import ClusterError
from separatrix.inputs.data import read_data
from separatrix.progress import spoken
from separatrix.rows.block_rows import cluster_rows
from separatrix.rows.blocks import BlockMatrix
from tests.partitions import as_dask, as_dask_frame, cluster_of_two

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LENGTHS = [9000, 1000, 20_000, 0, 10_000]


@pytest.fixture(scope="module")
def data():
    """Rows that are separable, and their labels."""
    rng = np.random.default_rng(0)
    X, normal = rng.normal(size=(sum(LENGTHS), 5)), rng.normal(size=5)
    scores = X @ normal
    return X + 0.1 * np.outer(np.sign(scores), normal), (scores > 0.0).astype(int)


def rows_of(data):
    return cluster_rows(data.matrix, data.beside, data.codes)


def scanned(there, known):
    found = rows_of(known).scan(np.arange(6.0), 50)
    return found.mistakes, found.rows.tolist(), found.scores.tolist()


def taken(there, known):
    return rows_of(known).take(np.arange(0, sum(LENGTHS), 37)).matrix.tolist()


def hashed(there, known):
    return start_digest(known)()


def predicted(there, known):
    model = sx.Perceptron()
    model.classes_, model.n_features_in_ = np.array([0, 1]), 5
    model.coef_, model.intercept_ = np.arange(5.0)[None], np.array([0.1])
    model._lifted, model._voters = True, None
    return model.predict(there[0]).compute().tolist()


def verified(there, known):
    certificate = sx.separability(*there).certificate
    return sx.verify(certificate, *there)


def mixed(there, known):
    model = sx.Perceptron(order="mixed", average=True, max_iter=30)
    found = model.fit(there[0], np.roll(known.codes, 7)).result_  # no plane separates these
    return [each.tolist() for each in (found.weights, found.average, found.mixed_counts)]


DEEDS = [scanned, taken, hashed, mixed, predicted, verified]


class Doomed:
    """Two workers, processes of their own over TCP, one of which can be killed and another be started.

    Not by Dask's nannies: these do not always bring back a worker that dies early.
    """

    def __init__(self, client):
        self.client, self.running = client, []

    def complete(self):
        """Start workers until there are two, and wait until these two, and no others, are known."""
        self.running = [each for each in self.running if each.poll() is None]
        while len(self.running) < 2:
            options = ["--no-nanny", "--no-dashboard", "--nthreads", "1"]
            command = [sys.executable, "-m", "distributed.cli.dask_worker", self.client.scheduler.address]
            self.running.append(subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL))
        ours, until = {each.pid for each in self.running}, time.monotonic() + 120.0
        while self._known() != ours:
            assert time.monotonic() < until
            time.sleep(0.05)

    def _known(self):
        with suppress(OSError):  # one that the scheduler has not missed yet does not answer
            return set(self.client.run(os.getpid).values())
        return set()

    def kill_after(self, seconds, which):
        """Kill one of the two after so many seconds; the thread that does so."""
        killer = threading.Timer(seconds, _end, self.running[which : which + 1])
        killer.start()
        return killer

    def end(self):
        for each in self.running:
            _end(each)


def _end(process):
    process.kill()
    process.wait()


def survives(workers, data, deed, kills):
    X, y = data
    there = as_dask(X, LENGTHS), as_dask(y, LENGTHS)
    known = read_data(*there)
    expected = deed(there, known)
    started = time.monotonic()
    assert deed(there, known) == expected
    usual = time.monotonic() - started
    moments = np.random.default_rng(0).uniform(0.0, 1.2 * usual, kills)
    for k, moment in enumerate(moments):
        workers.complete()
        killer = workers.kill_after(moment, k % 2)
        while killer.is_alive():
            assert deed(there, known) == expected
        killer.join()
        assert deed(there, known) == expected


@pytest.fixture
def doomed():
    """Workers of a test that kills them."""
    with (
        distributed.LocalCluster(
            n_workers=0, protocol="tcp", dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster.scheduler_address, set_as_default=False) as client,
        client.as_current(),
    ):
        workers = Doomed(client)
        try:
            workers.complete()
            yield workers
        finally:
            workers.end()


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.__name__)
def test_a_worker_that_is_killed_changes_nothing(doomed, data, deed):
    survives(doomed, data, deed, 1)


@pytest.mark.slow
@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.__name__)
def test_twenty_workers_that_are_killed_change_nothing(doomed, data, deed):
    survives(doomed, data, deed, 20)


@pytest.fixture
def impatient():
    """Two workers of a scheduler that waits for signs of life as briefly as Dask allows: five seconds."""
    import dask

    with (
        dask.config.set({"distributed.scheduler.worker-ttl": "1s"}),
        cluster_of_two() as client,
        client.as_current(),
    ):
        yield client


def test_a_worker_that_hangs_does_not_stop_a_round_for_ever(impatient, data):
    X, y = data
    there = as_dask(X, LENGTHS), as_dask(y, LENGTHS)
    known = read_data(*there)
    expected = scanned(there, known), hashed(there, known)
    stopped = sorted(impatient.run(os.getpid).values())[0]
    os.kill(stopped, signal.SIGSTOP)
    started = time.monotonic()
    try:
        assert (scanned(there, known), hashed(there, known)) == expected
    finally:
        with suppress(ProcessLookupError):  # its nanny has ended it
            os.kill(stopped, signal.SIGCONT)
    assert time.monotonic() - started > 1.0  # it was waited for
    assert (scanned(there, known), hashed(there, known)) == expected  # also when it is back


def test_a_client_that_is_closed_in_mid_run_is_named(data):
    X, y = data
    with distributed.LocalCluster(
        n_workers=1, processes=False, dashboard_address=":0", silence_logs=50
    ) as cluster:
        client = distributed.Client(cluster, set_as_default=False)
        with client.as_current():
            rows = rows_of(read_data(as_dask(X, LENGTHS), y))
            rows.scan(np.ones(6))
        client.close()
        with pytest.raises(ClusterError, match="client was closed"):
            rows.scan(np.ones(6))


def test_a_collection_of_a_closed_client_is_named(data):
    X, y = data
    with distributed.LocalCluster(
        n_workers=1, processes=False, dashboard_address=":0", silence_logs=50
    ) as cluster:
        with distributed.Client(cluster, set_as_default=False) as client, client.as_current():
            persisted = client.persist(as_dask(X, LENGTHS))
        with pytest.raises(ClusterError, match="open a client"):
            sx.separability(persisted, y)


def test_an_interrupt_leaves_the_model_so_far(data, monkeypatch):
    X, y = data
    there = as_dask(X, [10_000] * 4), as_dask(y, [10_000] * 4)
    from separatrix.distributed import partitions

    calls, taught = [], partitions._taught

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return taught(*arguments)

    monkeypatch.setattr(partitions, "_taught", interrupted)
    ours = sx.Perceptron()
    with pytest.raises(KeyboardInterrupt):
        ours.partial_fit(*there, classes=[0, 1])
    theirs = sx.Perceptron().partial_fit(X[:20_000], y[:20_000], classes=[0, 1])
    assert np.array_equal(ours.coef_, theirs.coef_)
    assert ours._rows_seen == 20_000


@pytest.mark.parametrize("order", ["working_set", "mixed"])
def test_an_interrupt_of_a_fit_leaves_the_model_so_far(data, monkeypatch, order):
    X, y = data
    calls, mapped = [], BlockMatrix.map

    def interrupted(self, name, *arguments, **options):
        calls.append(name)
        if calls.count("scan") + calls.count("pass") == 4:
            calls.clear()  # once
            raise KeyboardInterrupt
        return mapped(self, name, *arguments, **options)

    monkeypatch.setattr(BlockMatrix, "map", interrupted)
    model = sx.Perceptron(order=order, max_iter=50).fit(as_dask(X, LENGTHS), np.roll(y, 7))
    assert model.result_.status.name == "INTERRUPTED"
    assert np.any(model.coef_)
    lifted = np.hstack([X, np.ones((len(X), 1))]) * (2.0 * np.roll(y, 7) - 1.0)[:, None]
    assert np.allclose(model.result_.multipliers.ravel() @ lifted, [*model.coef_[0], *model.intercept_])


def test_rounds_are_shown_while_they_run(client, data, capfd):
    X, y = data
    with spoken(2):
        rows = rows_of(read_data(as_dask(X, LENGTHS), y))
        rows.scan(np.ones(6))
    assert re.search(r"^round \d+ \(look\): \d+ of \d+ tasks done$", capfd.readouterr().err, re.MULTILINE)


def test_tasks_are_called_by_what_they_do(client, data):
    X, y = data
    rows = rows_of(read_data(as_dask(X, LENGTHS), y))
    rows.scan(np.ones(6))
    rows.take(np.arange(3))
    known = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    assert {"separatrix-scan", "separatrix-take", "separatrix-look"} <= set(known)


COMPILES = """
import numpy as np
from separatrix.rows.memory import as_rows
rows = as_rows(np.arange(6000.0).reshape(3000, 2), np.arange(3000) % 2)
print(rows.scan(np.array([1.0, -2.0, 0.5]), 3).rows.tolist())
"""


@pytest.mark.slow
def test_workers_that_compile_at_once_into_one_cache_do_not_disturb_each_other(tmp_path):
    source = str(Path(sx.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": source, "NUMBA_CACHE_DIR": str(tmp_path)}

    def begin():
        return subprocess.Popen(
            [sys.executable, "-c", COMPILES],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    first = [each.communicate() for each in [begin() for _ in range(3)]]
    files = {file.name: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nb[ic]")}
    later = begin().communicate()
    assert files
    assert {later} == {*first}
    assert later[1] == ""
    assert files == {file.name: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nb[ic]")}


def lose_every_block(workers):
    """Kill the two workers and start others, so that every block is computed again."""
    for which in (0, 1):
        workers.kill_after(0.0, which).join()
    workers.complete()


@pytest.mark.parametrize("whose", ["X", "y"])
def test_a_partition_that_is_not_the_same_when_it_is_computed_again_is_named(doomed, whose):
    """The answer would be about a mixture of two data sets; codes of labels are kept here, and stay."""
    import dask.array as da
    from dask.delayed import delayed

    def joined(task, shape):  # workers know functions of this module by their code only
        made = [delayed(lambda k: task(np.random.default_rng(k)), pure=False)(k) for k in range(3)]
        return da.concatenate([da.from_delayed(each, shape, dtype=float) for each in made])

    X = joined(lambda rng: (np.random.default_rng() if whose == "X" else rng).normal(size=(200, 5)), (200, 5))
    y = joined(lambda _: np.random.default_rng().integers(0, 2, 200), (200,)) if whose == "y" else None
    y = np.arange(600) % 2 if y is None else y
    known = read_data(X, y)
    before = scanned(None, known)
    assert scanned(None, known) == before
    lose_every_block(doomed)
    if whose == "y":
        assert scanned(None, known) == before
        return
    with pytest.raises(ClusterError, match=r"In partition \d.*: it was computed twice.*have changed"):
        scanned(None, known)


def test_partitions_that_are_the_same_when_they_are_computed_again_are_used(doomed, data):
    X, y = data
    frame = pytest.importorskip("pandas").DataFrame(X).rename(columns=str)
    labels = np.array(["no", "yes"], dtype=object)[y]
    there = as_dask_frame(frame, LENGTHS), as_dask(labels, LENGTHS)
    known = read_data(*there)
    before = scanned(None, known)
    lose_every_block(doomed)
    assert scanned(None, known) == before
