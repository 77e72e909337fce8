"""Whom the playground lets in, what it allows them, and that it goes on serving whatever they send."""

from __future__ import annotations

import asyncio
import concurrent.futures
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import separatrix as sx
from separatrix.errors import InputError
from separatrix.playground import create_app
from separatrix.playground.api.limits import Limits
from separatrix.playground.server.listen import listen, server_of
from separatrix.playground.server.workers import Workers

SOURCE = {**os.environ, "PYTHONPATH": str(pathlib.Path(sx.__file__).parent.parent)}
FEW = {
    "data": {
        "columns": ["x", "y"],
        "classes": ["a", "b"],
        "rows": [[0, 1], [2, 0], [3, 3]],
        "labels": [0, 1, 1],
    },
    "settings": {},
}


class Running:
    """A server in a thread, on a port of its own."""

    def __init__(self, limits: Limits, token: str | None = None) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        app = create_app(limits=limits, token=token, hosts={"play.example"})
        self.server = server_of(app, limits)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)
        self.thread.start()

    def ask(
        self,
        path: str,
        body: object = None,
        *,
        raw: bytes | None = None,
        seconds: float = 120.0,
        **headers: str,
    ):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            sent = raw if raw is not None else None if body is None else json.dumps(body).encode()
            told = {
                "Host": f"127.0.0.1:{self.port}",
                **({"Content-Type": "application/json"} if sent is not None else {}),
            }
            told |= {name.replace("_", "-"): value for name, value in headers.items()}
            link.request("GET" if sent is None else "POST", path, sent, told)
            answer = link.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            link.close()

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(10)
        self.socket.close()


@pytest.fixture(scope="module")
def running():
    server = Running(Limits(workers=1, seconds=120.0, body=100_000))
    assert server.ask("/api/run", FEW)[0] == 200  # the worker is there
    yield server
    server.stop()


@pytest.fixture(scope="module")
def guarded():
    server = Running(Limits(workers=0), token="a-secret-token")
    yield server
    server.stop()


def test_the_page_is_served_with_a_strict_policy(running):
    status, headers, body = running.ask("/")
    assert status == 200
    assert b"<title>" in body
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert not any(name.startswith("access-control") for name in headers)
    for path in ("/static/js/main.js", "/static/play.css"):
        assert running.ask(path)[0] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", ""]
)
def test_a_foreign_host_is_refused(running, host):
    assert running.ask("/", Host=host)[0] in (400, 421)
    assert running.ask("/api/run", FEW, Host=host)[0] in (400, 421)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]:8000", "play.example"])
def test_hosts_of_its_own_are_let_in(running, host):
    assert running.ask("/", Host=host)[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"])
def test_a_foreign_origin_is_refused(running, origin):
    status, _, body = running.ask("/api/run", FEW, Origin=origin)
    assert status == 403
    assert json.loads(body)["code"] == "origin"
    assert running.ask("/api/run", FEW, Origin=f"http://127.0.0.1:{running.port}")[0] == 200
    assert running.ask("/api/run", FEW, Sec_Fetch_Site="cross-site")[0] == 403


def test_requests_are_json_and_nothing_else(running):
    assert running.ask("/api/run", raw=b"{}", Content_Type="text/plain")[0] == 415
    assert running.ask("/api/nothing", {})[0] == 404
    assert running.ask("/api/run")[0] == 405
    assert running.ask("/../pyproject.toml")[0] == 404
    assert running.ask("/static/..%2f..%2fserver.py")[0] == 404


def test_a_request_that_is_too_large_is_refused_before_it_is_read(running):
    status, _, body = running.ask("/api/run", raw=b" " * 200_000)
    assert status == 413
    assert json.loads(body)["values"]["most"] == 100_000
    with socket.create_connection(("127.0.0.1", running.port), timeout=30) as link:  # no length told
        head = (
            "POST /api/run HTTP/1.1", f"Host: 127.0.0.1:{running.port}", "Content-Type: application/json",
            "Transfer-Encoding: chunked", "", "",
        )  # fmt: skip
        link.sendall("\r\n".join(head).encode())
        try:
            for _ in range(30):
                link.sendall(b"2000\r\n" + b" " * 0x2000 + b"\r\n")
        except OSError:
            pass  # it has hung up
        assert b" 413 " in link.recv(100)


def test_without_the_token_nobody_is_let_in_and_with_it_the_page_gets_a_cookie(guarded):
    for path in ("/", "/about.json", "/static/js/main.js", "/?token=wrong"):
        status, _, body = guarded.ask(path)
        assert (status, json.loads(body)["code"]) == (403, "token")
    status, headers, _ = guarded.ask("/?lesson=2&token=a-secret-token")
    assert (status, headers["location"]) == (303, "/?lesson=2")
    status, headers, _ = guarded.ask("/?token=a-secret-token")
    assert status == 303
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert guarded.ask("/", Cookie=cookie.partition(";")[0])[0] == 200
    assert guarded.ask("/", Cookie="separatrix=other")[0] == 403


SLOW = {
    "data": {
        "columns": ["x", "y"],
        "classes": ["a", "b"],
        "rows": [[(i * 37 % 101) / 7, (i * 53 % 103) / 9] for i in range(3000)],
        "labels": [i % 2 for i in range(3000)],
    },
    "settings": {"method": "kernel", "updates": 20000},
}


def test_a_computation_that_takes_too_long_is_stopped_and_the_others_go_on():
    async def story():
        workers = Workers(Limits(workers=1, seconds=1.5, cold_seconds=60.0))
        try:
            await workers.start()
            workers.add()  # a second one, that does not compile everything first
            few, slow = json.dumps(FEW).encode(), json.dumps(SLOW).encode()
            stopped = asyncio.create_task(workers.ask("run", slow))
            others = [await workers.ask("run", few) for _ in range(3)]
            assert not stopped.done() or (await stopped).status == 503
            ended = await stopped
            after = await workers.ask("run", few)
            return [each.status for each in others], ended, after.status
        finally:
            await workers.close()

    others, ended, after = asyncio.run(story())
    assert set(others) <= {200}
    assert (ended.status, json.loads(ended.body)["code"]) == (503, "too_slow")
    assert after == 200


def test_too_many_that_wait_are_turned_away():
    async def story():
        workers = Workers(Limits(workers=0, waiting=2, cold_seconds=0.3))
        await workers.start()
        return [
            reply.status for reply in await asyncio.gather(*(workers.ask("run", b"{}") for _ in range(5)))
        ]

    assert asyncio.run(story()) == [503] * 5


@pytest.mark.slow
def test_200_clients_at_once_and_10000_malformed_requests_leave_it_serving_with_bounded_memory(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "separatrix.cli", "play", "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env=SOURCE,
    )
    try:
        port = int(process.stdout.readline().rsplit(":", 1)[1].strip(" /\n"))
        client = Running.__new__(Running)
        client.port = port
        assert client.ask("/api/run", FEW)[0] == 200
        before = _memory(process.pid)
        with concurrent.futures.ThreadPoolExecutor(200) as pool:
            answers = list(pool.map(lambda _: _patiently(client), range(200)))
        assert set(answers) <= {200, 503}
        assert answers.count(200) > 50
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            statuses = list(pool.map(lambda seed: _malformed(port, random.Random(seed)), range(10_000)))
        assert len(statuses) == 10_000
        assert client.ask("/api/run", FEW)[0] == 200
        assert _memory(process.pid) < before + 150_000_000
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _patiently(client):
    try:
        return client.ask("/api/run", FEW)[0]
    except OSError:
        return 503


def _malformed(port, chance):
    """A request that is broken in one of many ways."""
    body = json.dumps(FEW).encode()
    kind = chance.randrange(8)
    if kind == 0:
        sent = chance.randbytes(chance.randrange(1, 400))
    elif kind == 1:
        sent = b"POST /api/run HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n"
    elif kind == 2:
        sent = b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 70_000 + b"\r\n\r\n"
    elif kind == 3:
        sent = b"POST /api/run HTTP/1.1\r\nHost: a\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}"
    else:
        cut = body[: chance.randrange(len(body))] if kind == 4 else bytearray(body)
        if kind > 4:
            for _ in range(chance.randrange(1, 6)):
                cut[chance.randrange(len(cut))] = chance.randrange(256)
        question = chance.choice(["run", "verdict", "verify"])
        head = (
            f"POST /api/{question} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json",
            "Connection: close", f"Content-Length: {len(cut)}", "", "",
        )  # fmt: skip
        sent = "\r\n".join(head).encode() + bytes(cut)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as link:
            link.sendall(sent)
            link.shutdown(socket.SHUT_WR)
            found = link.recv(64)
    except OSError:
        return 0
    return int(found.split()[1]) if found.startswith(b"HTTP/1.1 ") else 0


def _memory(pid):
    fields = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in fields if line.startswith("VmRSS"))


@pytest.mark.skipif(os.name == "nt", reason="a signal of Unix")
def test_ctrl_c_ends_it_at_once_and_its_workers_with_it():
    process = subprocess.Popen(
        [sys.executable, "-m", "separatrix.cli", "play", "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=SOURCE,
    )
    port = int(process.stdout.readline().rsplit(":", 1)[1].strip(" /\n"))
    client = Running.__new__(Running)
    client.port = port
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            assert client.ask("/")[0] == 200
            break
        except OSError:
            time.sleep(0.1)
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers = children.read_text().split() if children.exists() else []
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert time.monotonic() - began < 3.0
    assert process.returncode == 130
    assert "Traceback" not in said, said
    time.sleep(0.3)
    assert not [worker for worker in workers if pathlib.Path(f"/proc/{worker}/cmdline").exists()]


def test_a_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"Port {port} is taken"), listen("127.0.0.1", port):
            pass


def test_others_are_let_in_by_a_token_only():
    with listen("127.0.0.1", 0) as place:
        assert place.token is None
        assert place.address == f"http://127.0.0.1:{place.socket.getsockname()[1]}/"
    with listen("0.0.0.0", 0) as place:
        assert len(place.token) >= 32
        assert place.address.endswith(f"?token={place.token}")
        assert "token" in place.note
    with listen("0.0.0.0", 0, lesson="3") as place:
        assert place.address.endswith(f"/?lesson=3&token={place.token}")
    with pytest.raises(InputError, match="cannot listen"), listen("203.0.113.7", 0):
        pass


def test_a_lesson_that_does_not_exist_is_refused_with_those_that_do():
    with (
        pytest.raises(InputError, match=r"no lesson '7'\. .*0, 1, 2, 3, 4"),
        listen("127.0.0.1", 0, lesson="7"),
    ):
        pass


def test_no_browser_is_said(monkeypatch):
    import webbrowser

    def nothing(*_):
        raise webbrowser.Error("none")

    monkeypatch.setattr(webbrowser, "get", nothing)
    with listen("127.0.0.1", 0) as place:
        assert place.open_browser() is False


def test_the_socket_names_its_protocol_so_that_answers_are_sent_at_once():
    """asyncio turns Nagle's algorithm off only for sockets that say they are TCP."""
    with listen("127.0.0.1", 0) as place:
        assert place.socket.proto == socket.IPPROTO_TCP


def test_a_process_that_computes_says_that_it_is_ready_and_nothing_else():
    started = subprocess.run(
        [sys.executable, "-m", "separatrix.playground.server.worker", "0", "first"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=SOURCE,
        timeout=300,
    )
    assert (started.returncode, started.stdout, started.stderr) == (0, b"ready", b"")
