"""A scheduler and three workers over TLS, each a process: started as users do, by the example's script."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import separatrix as sx
from separatrix.datasets import make_overlapping, make_separable

pytest.importorskip("cryptography")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
yaml = pytest.importorskip("yaml")

EXAMPLE = Path(__file__).parents[2] / "examples" / "cluster"
needs_bash = pytest.mark.skipif(os.name != "posix", reason="the script is one of bash")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where the cluster keeps its keys and its address, while it runs; then it is stopped."""
    directory = tmp_path_factory.mktemp("a cluster")
    source = str(Path(sx.__file__).parent.parent)
    environment = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": source, "HOST": "127.0.0.1"}
    script = subprocess.Popen([EXAMPLE / "start.sh", directory], env=environment, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 60.0
    while not (directory / "scheduler.json").exists():
        assert script.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)
    yield directory
    script.send_signal(signal.SIGTERM)
    assert script.wait(30.0) == 128 + signal.SIGTERM


def security(directory, role="client"):
    """The keys of a role, given by hand, so that the tests leave Dask's configuration as it is."""
    own = str(directory / f"{role}.pem")
    return distributed.Security(
        tls_ca_file=str(directory / "ca.pem"),
        tls_client_cert=own,
        tls_client_key=own,
        require_encryption=True,
    )


@pytest.fixture(scope="module")
def client(place):
    file = str(place / "scheduler.json")
    with distributed.Client(scheduler_file=file, security=security(place), timeout=30) as client:
        client.wait_for_workers(3, timeout=60)
        yield client


@needs_bash
@pytest.mark.slow
def test_three_workers_answer_over_tls_what_memory_answers(client):
    addresses = [*client.scheduler_info(n_workers=-1)["workers"], client.scheduler.address]
    assert len(addresses) == 4
    assert all(address.startswith("tls://127.0.0.1:") for address in addresses)
    for problem in (make_separable(900, 3, margin=0.1), make_overlapping(900, 3, noise=0.2)):
        X, y = da.from_array(problem.X, chunks=(200, 3)), da.from_array(problem.y, chunks=200)
        found = sx.separability(X, y)
        assert found.status == sx.separability(problem.X, problem.y).status
        assert sx.verify(found.certificate, X, y)
        assert sx.verify(found.certificate, problem.X, problem.y)
    easy = make_separable(900, 3, margin=0.1)
    X = da.from_array(easy.X, chunks=(200, 3))
    for order in ("mixed", "working_set"):
        model = sx.Perceptron(order=order).fit(X, easy.y)
        assert model.converged_
        assert (model.predict(easy.X) == easy.y).all()


@needs_bash
@pytest.mark.slow
def test_who_has_no_key_of_the_cluster_is_refused(client, tmp_path):
    subprocess.run(
        [sys.executable, EXAMPLE / "keys.py", tmp_path / "others"], check=True, capture_output=True
    )
    with pytest.raises(OSError, match=r"(?i)certificate|ssl|timed out"):
        distributed.Client(client.scheduler.address, security=security(tmp_path / "others"), timeout=2)


def test_keys_are_for_their_owner_only_and_are_not_made_twice(tmp_path):
    command = [sys.executable, EXAMPLE / "keys.py", tmp_path / "keys"]
    subprocess.run(command, check=True, capture_output=True)
    made = {file.name: file.read_bytes() for file in (tmp_path / "keys").iterdir()}
    assert set(made) == {"ca.pem", "scheduler.pem", "worker.pem", "client.pem", "dask.yaml"}
    subprocess.run(command, check=True, capture_output=True)
    assert made == {file.name: file.read_bytes() for file in (tmp_path / "keys").iterdir()}
    if os.name == "posix":
        assert all(file.stat().st_mode & 0o77 == 0 for file in (tmp_path / "keys").iterdir())


def test_the_containers_run_the_commands_of_the_script_with_the_same_settings(tmp_path):
    services = yaml.safe_load((EXAMPLE / "compose.yaml").read_text())["services"]
    script = (EXAMPLE / "start.sh").read_text().replace("\\\n", " ")
    for role in ("scheduler", "worker"):
        here = re.search(rf"-m dask {role} [^>]*", script)[0]
        there = services[role]["command"]
        assert there.startswith(f"python -m dask {role} --protocol tls")
        assert set(re.findall(r"--[a-z-]+", there)) <= set(re.findall(r"--[a-z-]+", here))
    subprocess.run([sys.executable, EXAMPLE / "keys.py", tmp_path], check=True, capture_output=True)
    wanted = yaml.safe_load((tmp_path / "dask.yaml").read_text())
    from dask.config import collect_env

    for service in services.values():
        assert service["volumes"] == ["./keys:/keys:ro"]
        found = collect_env(service["environment"])
        told = str(found).replace("/keys/", f"{tmp_path}/").replace("_", "-")
        assert told == str(wanted).replace("_", "-")
