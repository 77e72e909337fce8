"""Settings that every test shares."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

# scikit-learn skips its array-API checks without this, and scipy reads it once, when it is imported.
os.environ["SCIPY_ARRAY_API"] = "1"

# What is started in the background ignores the signal of Ctrl-C, and so does all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import pytest
from hypothesis import HealthCheck, Phase, settings

NOBODY = 65534  # a user without rights, of every Unix

# Compiling a loop takes a second or two, once: no deadline can tell that from a slow test.
settings.register_profile(
    "separatrix",
    deadline=None,
    max_examples=25,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],  # explaining takes minutes, shrinking seconds
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
# Other cases each time, and more of them: make test-random.
settings.register_profile("random", settings.get_profile("separatrix"), derandomize=False, print_blob=True)
# Fewer cases, where every line is counted: make coverage.
settings.register_profile("coverage", settings.get_profile("separatrix"), max_examples=5)
settings.load_profile("separatrix")

RANDOM_TIMES = 10


def pytest_configure(config):
    """Let two checkers look at every certificate that a test makes; about larger data in the slow tests."""
    from tests import second

    second.install(second.SHORT if config.getoption("markexpr") else second.LONG)


def pytest_runtest_teardown():
    """Ask the second checker about the larger proofs of a test."""
    from tests import second

    second.settle()


def pytest_collection_modifyitems(config, items):
    """Let a profile change the number of examples also of a test that says how many it wants.

    A random run has ten times as many; one that counts lines has at most five.
    """
    change = {"random": lambda own: RANDOM_TIMES * own, "coverage": lambda own: min(own, 5)}.get(
        config.getoption("--hypothesis-profile")
    )
    if change is None:
        return
    tests = {id(test): test for item in items if (test := getattr(item, "obj", None)) is not None}
    for test in tests.values():
        if not getattr(test, "is_hypothesis_test", False):
            continue
        own = test._hypothesis_internal_use_settings
        test._hypothesis_internal_use_settings = settings(own, max_examples=change(own.max_examples))


@pytest.fixture
def many_threads(monkeypatch):
    """Let the smallest problem be cut between threads."""
    from separatrix.rows import threads

    def choose(count):
        monkeypatch.setattr(threads, "n_threads", lambda: count)
        monkeypatch.setattr(threads, "WORTH_A_THREAD", 1)

    return choose


@pytest.fixture
def ordinary_user():
    """A directory of a user who may not do everything: who runs the tests, or nobody in the stead of root.

    What a test needs is imported before: nobody may not read the home of root.
    """
    with tempfile.TemporaryDirectory() as folder:
        if os.geteuid() != 0:
            yield Path(folder)
            return
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
        try:
            yield Path(folder)
        finally:
            os.seteuid(0)


@pytest.fixture(scope="session")
def two_workers():
    """A cluster that many tests share: whoever kills a worker makes one of their own."""
    pytest.importorskip("distributed")
    from tests.partitions import cluster_of_two

    with cluster_of_two() as client:
        yield client


@pytest.fixture
def client(two_workers):
    """The shared cluster as the current one."""
    with two_workers.as_current():
        yield two_workers
