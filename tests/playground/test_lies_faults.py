"""Faults of a server that strangers reach, and of text that a terminal would obey; each was seen before."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import separatrix as sx
from separatrix.report.page import report_text
from separatrix.result import margin_text, often_corrected
from tests.run import run

SOURCE = {**os.environ, "PYTHONPATH": str(pathlib.Path(sx.__file__).parent.parent)}
SERVE = """
import sys
from separatrix.playground.api.limits import Limits
from separatrix.playground.server.listen import listen
with listen("127.0.0.1", 0) as place:
    place = type(place)(place.socket, place.host, place.address, sys.argv[2] or None, place.note)
    print(place.socket.getsockname()[1], flush=True)
    place.serve(Limits(**eval(sys.argv[1])))
"""
POINTS = {"columns": ["x", "y"], "classes": ["a", "b"], "rows": [[0, 1], [2, 0], [3, 3]], "labels": [0, 1, 1]}
FEW = json.dumps({"data": POINTS, "settings": {}}).encode()
LONG = json.dumps(
    {
        "data": {
            **POINTS,
            "rows": [[(i * 37 % 101) / 7, (i * 53 % 103) / 9] for i in range(3000)],
            "labels": [i % 2 for i in range(3000)],
        },
        "settings": {"method": "kernel", "updates": 8000},
    }
).encode()
linux = pytest.mark.skipif(sys.platform != "linux", reason="finds the worker processes in /proc")


class Served:
    """A playground in a process of its own, spoken to over sockets, byte by byte."""

    def __init__(self, process: subprocess.Popen, port: int) -> None:
        self.process, self.port = process, port

    def connect(self, seconds: float = 300.0) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=seconds)

    def send(self, sent: bytes, seconds: float = 300.0) -> tuple[int, bytes]:
        """Send bytes, and read until the server hangs up: the status and the body."""
        with self.connect(seconds) as link:
            link.sendall(sent)
            found = b"".join(iter(lambda: link.recv(1 << 16), b""))
        head, _, body = found.partition(b"\r\n\r\n")
        return (int(head.split()[1]) if head else 0), body

    def post(self, question: str, body: bytes, *lines: str, host: str = "127.0.0.1") -> tuple[int, bytes]:
        return self.send(request(question, body, *lines, host=host))

    def workers(self) -> list[int]:
        """The processes that compute."""
        found = []
        for children in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            found += [int(each) for each in children.read_text().split()]
        return found


def request(question: str, body: bytes, *lines: str, host: str = "127.0.0.1") -> bytes:
    head = [f"POST /api/{question} HTTP/1.1", f"Host: {host}", "Content-Type: application/json"]
    head += [f"Content-Length: {len(body)}", "Connection: close", *lines, "", ""]
    return "\r\n".join(head).encode() + body


def get(path: str, *lines: str, host: str = "127.0.0.1") -> bytes:
    return "\r\n".join(
        [f"GET {path} HTTP/1.1", f"Host: {host}", "Connection: close", *lines, "", ""]
    ).encode()


@contextlib.contextmanager
def served(token: str = "", **limits: float):
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, repr(limits), token], stdout=subprocess.PIPE, env=SOURCE, text=True
    )
    try:
        yield Served(process, int(process.stdout.readline()))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def until(condition, seconds: float = 90.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.fixture(scope="module")
def play():
    with served(workers=1, seconds=120.0) as server:
        yield server


@linux
def test_processes_that_are_killed_while_they_start_or_while_they_are_idle_are_replaced_and_nobody_notices():
    with served(workers=1, seconds=120.0) as server:
        assert until(server.workers)
        first = server.workers()
        os.kill(first[0], signal.SIGKILL)  # while it starts
        assert server.post("run", FEW)[0] == 200
        for _ in range(2):
            idle = server.workers()
            assert not set(idle) & set(first)
            for each in idle:
                os.kill(each, signal.SIGKILL)
            assert server.post("run", FEW)[0] == 200
            first = idle


@linux
def test_a_request_whose_process_is_killed_is_answered_by_the_next():
    with served(workers=1, seconds=120.0) as server:
        assert server.post("run", FEW)[0] == 200
        old = server.workers()
        with server.connect() as link:
            link.sendall(request("run", FEW))
            for each in old:
                os.kill(each, signal.SIGKILL)
            assert b" 200 " in link.recv(20)


def test_clients_that_have_gone_are_not_computed_for():
    with served(workers=1, seconds=600.0) as server:
        assert server.post("run", FEW)[0] == 200
        began = time.monotonic()
        assert server.post("run", LONG)[0] == 200
        one = time.monotonic() - began
        for _ in range(6):
            with server.connect() as link:
                link.sendall(request("run", LONG))
        began = time.monotonic()
        assert server.post("run", FEW)[0] == 200
        assert time.monotonic() - began < 4.0 * one  # six of them would take six times as long


@pytest.mark.parametrize("half", [b"", b"GET / HTTP/1.1\r\nX: ", get("/") + b"GET / HT"])
def test_clients_that_send_half_of_a_request_keep_nobody_out_and_are_hung_up_on(half):
    with served(workers=0, connections=8, upload_seconds=1.0, token="secret") as server:
        half = half.replace(b"Connection: close\r\n", b"")
        with contextlib.ExitStack() as held:
            links = [held.enter_context(server.connect(20)) for _ in range(20)]
            for link in links:
                with contextlib.suppress(OSError):
                    link.sendall(half)
            time.sleep(0.2)
            assert server.send(get("/", "Cookie: separatrix=secret"))[0] == 200
            for link in links:
                with contextlib.suppress(OSError):
                    while link.recv(1 << 16):
                        link.sendall(b"y")  # a drop now and then gains no time


def test_a_body_that_never_ends_holds_no_connection_of_who_has_no_token():
    sent = request("run", b"").replace(b"Length: 0", b"Length: 999").replace(b": close", b": keep-alive")
    with (
        served(workers=0, connections=8, upload_seconds=1.0, token="secret") as server,
        server.connect(20) as link,
    ):
        link.sendall(sent)
        end = time.monotonic() + 15.0
        with contextlib.suppress(OSError):
            assert b" 403 " in link.recv(1 << 16)
            while time.monotonic() < end:
                link.sendall(b"y")
                time.sleep(0.1)
        assert time.monotonic() < end


HOSTS = [
    "[::1].evil.com", "[::1]evil.com", "[::1]:80.evil.com", "::1", "[127.0.0.1]", "[::1", "127.0.0.1:80:80",
    "127.0.0.1:x", "localhost:80@evil.com", "user@localhost", "evil.com:80", "localhost/x", "[]", ":80",
]  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_that_only_begins_like_one_of_ours_is_refused(play, host):
    assert play.send(get("/", host=host))[0] in (400, 421)


@pytest.mark.parametrize("host", ["[::1]", "[::1]:8317", "LOCALHOST:1", "127.0.0.1:65535"])
def test_hosts_of_this_machine_are_let_in(play, host):
    assert play.send(get("/", host=host))[0] == 200


@pytest.mark.parametrize(
    "lines",
    [
        ("Origin: http://evil.example", "Origin: http://127.0.0.1"),
        ("Origin: http://127.0.0.1", "Origin: http://evil.example"),
        ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-origin"),
        ("Host: evil.example",),
        ("Content-Type: text/plain",),
        ("Content-Length: 1",),
    ],
)
def test_a_header_that_decides_who_is_let_in_may_not_be_repeated(play, lines):
    status, body = play.post("run", FEW, *lines)
    assert 400 <= status < 500, body


def said(play: Served, question: str, text: str) -> tuple[int, str]:
    status, body = play.post(question, text.encode("utf-8", "surrogatepass"))
    return status, json.loads(body)["code"] if status != 200 else ""


@pytest.mark.parametrize("half", ["\\ud800", "\\uDFFF", "\udc00"])
def test_half_a_surrogate_pair_is_refused_wherever_it_stands(play, half):
    name = f'"a{half}"'
    points = json.dumps(POINTS)
    for question, text in (
        ("run", f'{{"data": {points}, "settings": {{}}, {name}: 1}}'),
        ("run", f'{{"data": {points.replace(chr(34) + "x" + chr(34), name)}, "settings": {{}}}}'),
        ("verify", f'{{"data": {points}, "certificate": {{{name}: {name}}}}}'),
    ):
        status, code = said(play, question, text)
        assert (status, code in ("not_text", "not_json")) == (422, True), (question, code)
    whole = points.replace('"x"', '"\\ud83d\\ude00"')
    assert said(play, "run", f'{{"data": {whole}, "settings": {{}}}}')[0] == 200


NUMBERS = [
    "NaN",
    "Infinity",
    "1e999",
    "-1e999",
    "1" * 400,
    "1" * 5000,
    "1e-999",
    "-0.0",
    "true",
    '"1"',
    "[]",
    "null",
]


@pytest.mark.parametrize("number", NUMBERS)
def test_no_number_is_a_bug(play, number):
    texts = [
        ("run", FEW.decode().replace("[0, 1]", f"[0, {number}]")),
        ("run", FEW.decode().replace('"labels": [0', f'"labels": [{number}')),
        ("run", FEW.decode().replace('"settings": {}', f'"settings": {{"rate": {number}}}')),
        ("run", FEW.decode().replace('"settings": {}', f'"settings": {{"seed": {number}}}')),
        (
            "verify",
            json.dumps({"data": POINTS})[:-1] + f', "certificate": {{"format": {number}, "a": [{number}]}}}}',
        ),
    ]
    for question, text in texts:
        status, code = said(play, question, text)
        assert status in (200, 422), (question, text[-80:], code)


@pytest.mark.parametrize(
    "text", ["", "[", "[]", "1", '""', "{}", "null", "[" * 100_000, '{"a":' * 100_000, "{}{}"]
)
def test_no_json_is_a_bug(play, text):
    for question in ("run", "verdict", "verify"):
        assert said(play, question, text)[0] == 422


@pytest.mark.parametrize(
    "path",
    ["/static/%00", "/static/" + "a" * 5000, "/static/%ff%fe", "/static/../../server.py",
     "/static//etc/passwd", "/static/%2e%2e/%2e%2e/server.py", "/static/", "/static", "/api/", "/api/run/x",
     "//evil.example/", "/%0d%0aX: y", "http://evil.example/", "*", "/static/js/main.js/x", "/api/%00",
     "/?token=%ff&token=%00"],
)  # fmt: skip
def test_no_path_is_a_bug_or_a_way_out(play, path):
    status, body = play.send(get(path))
    assert status in (200, 307, 400, 404, 405), status
    assert b"Workers" not in body
    assert b"root:" not in body


@pytest.mark.parametrize(
    "lines",
    [
        ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: AAAA", "Sec-WebSocket-Version: 13"),
        ("X: " + "y" * 70_000,),
        tuple(f"X-{i}: y" for i in range(5000)),
        ("Expect: 100-continue",),
        ("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
        ("Cookie: ;;;=;separatrix",),
        ("X-Forwarded-Proto: https", "X-Forwarded-For: 1.2.3.4"),
    ],
)  # fmt: skip
def test_no_header_is_a_bug(play, lines):
    assert play.send(get("/", *lines))[0] in (200, 400, 431, 501)
    assert play.send(get("/"))[0] == 200


def test_requests_that_come_before_the_answer_to_the_last_are_answered_in_turn(play):
    one = request("run", FEW).replace(b"Connection: close\r\n", b"")
    status, body = play.send(one + one + get("/about.json"))
    assert status == 200
    assert body.count(b"HTTP/1.1 200") == 2


def test_a_body_in_chunks_is_read_as_any_other(play):
    head = request("run", b"", "Transfer-Encoding: chunked").replace(b"Content-Length: 0\r\n", b"")
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (FEW[:5], FEW[5:])) + b"0\r\n\r\n"
    assert play.send(head + chunks)[0] == 200
    assert play.send(head + b"zz\r\n" + FEW)[0] in (0, 400)
    assert play.send(head.replace(b"Transfer", b"Content-Length: 3\r\nTransfer") + chunks)[0] in (200, 400)
    assert play.post("run", FEW)[0] == 200


# What a terminal, or a page, obeys instead of showing it: commands, marks that turn the direction of writing,
# ends of lines. Written as they stand in a name, with letters around them, so that no blanks are trimmed.
ACTS = "\x1b]0;title\x07\x9b2J\u202e\u2066\u061c\u200f\u2028\x7f\t."
ACTING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
TARGET, DOSE, WEIGHT, KIND = f"out{ACTS}", f"dose{ACTS}", f"we\nErrorful{ACTS}", f"kind{ACTS}"


def quoted(cell: object) -> str:
    return '"' + str(cell).replace('"', '""') + '"'


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Tables whose file names, columns, labels and cells hold such characters."""
    folder = tmp_path_factory.mktemp("hostile")

    def table(name: str, rows: list) -> str:
        path = folder / f"{name}{ACTS.replace(chr(9), '')}csv"
        lines = [",".join(map(quoted, row)) for row in [(DOSE, WEIGHT, KIND, TARGET), *rows]]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(path)

    def row(i: int, positive: bool, dose: object = None) -> tuple:
        return i % 7 if dose is None else dose, i * 5 % 11, f"l{ACTS}{i % 3}", f"{'yn'[positive]}{ACTS}e"

    return {
        "folder": folder,
        "name": lambda end: str(folder / f"file{ACTS.replace(chr(9), '')}{end}"),
        "separable": table("separable", [row(i, i % 7 > 3) for i in range(40)]),
        "overlapping": table("overlapping", [row(i, i % 2 > 0) for i in range(40)]),
        "unlabelled": table("unlabelled", [(*row(i, True)[:3], f"y{ACTS}e"[: i % 5]) for i in range(40)]),
        "stray": table("stray", [row(i, i % 7 > 3, f"x{ACTS}e" if i == 20 else None) for i in range(40)]),
    }  # fmt: skip


def obeyed(text: str) -> list[str]:
    """The characters of a text that would act, and the lines that its names begin."""
    return sorted({ascii(each) for each in ACTING.findall(text)}) + re.findall(r"^Errorful.*", text, re.M)


def test_no_command_shows_a_name_a_label_or_a_cell_that_acts_on_the_terminal(hostile, monkeypatch):
    monkeypatch.chdir(hostile["folder"])
    name, separable, overlapping = hostile["name"], hostile["separable"], hostile["overlapping"]
    certificate, model, report, features = (
        name("c.json"),
        name("m.skops"),
        name("r.html"),
        f"{quoted(DOSE)},{quoted(WEIGHT)}",
    )
    works = [
        ["check", separable, "-t", TARGET, "--certificate", certificate, "--report", report],
        ["check", overlapping, "-t", TARGET, "--report", name("o.html")],
        ["check", overlapping, "-t", TARGET, "--row-names", KIND, "--kernel", "linear"],
        ["verify", certificate, separable],
        ["verify", certificate, separable, "--json"],
        ["fit", separable, "-t", TARGET, "-o", model, "--report", name("f.html")],
        ["fit", overlapping, "-t", TARGET, "--max-iter", "3"],
        ["fit", separable, "-t", TARGET, "--json"],
        ["fit", overlapping, "-t", TARGET, "--model", "soft-margin"],
        ["learn", separable, "-t", TARGET, "-o", name("l.skops")],
        ["inspect", model],
        ["inspect", model, "--json"],
        ["inspect", certificate],
        ["inspect", certificate, "--json"],
        ["predict", model, separable, "--scores", "-t", TARGET, "-o", name("p.csv")],
        ["export", model, "--onnx", name("m.onnx")],
        ["film", separable, "-t", TARGET, "--features", features, "-o", name("f.gif")],
    ]  # fmt: skip
    for command in works:
        found = run(*command)
        assert found.exit_code == 0, (command, found.output)
        assert not obeyed(found.stdout + found.stderr), (command[0], found.output)
        if command[-1] == "--json":
            assert isinstance(json.loads(found.stdout), dict)
    told = run("check", separable, "-t", TARGET, "--json").stdout
    assert DOSE in json.loads(told)["responsible_features"]
    for page in hostile["folder"].glob("*.html"):
        assert not ACTING.search(page.read_text(encoding="utf-8")), page  # an end of a line is a blank there


def test_no_error_shows_a_name_a_label_or_a_cell_that_acts_on_the_terminal(hostile, monkeypatch):
    monkeypatch.chdir(hostile["folder"])
    name, separable = hostile["name"], hostile["separable"]
    fails = [
        ["check", separable], ["check", separable, "-t", "nothing"], ["check", separable, "-t", f"x{ACTS}e"],
        ["check", separable, "-t", TARGET, "--features", f"x{ACTS}e"],
        ["check", hostile["unlabelled"], "-t", TARGET],
        ["check", hostile["stray"], "-t", TARGET, "--features", quoted(DOSE), "--decimal", ","],
        ["check", separable, "-t", TARGET, "--certificate", separable], ["check", name("none.csv")],
        ["check", separable, separable], [f"check{ACTS}"], ["check", f"--no{ACTS}"],
        ["check", "--fail-if", ACTS],
        ["check", separable, "-t", TARGET, "--where", ACTS], ["check", "--sql", f"select {ACTS}"],
        ["check", separable, "--formula", f"{ACTS} ~ x"],
        ["check", separable, "-t", TARGET, "--kernel", ACTS],
        ["fit", separable, "-t", TARGET, "--start", ACTS],
        ["fit", hostile["overlapping"], "-t", TARGET, "--model", "max-margin"],
        ["verify", separable, separable], ["predict", separable, separable], ["inspect", separable],
        ["generate", ACTS], ["experiment", ACTS], ["play", "--host", ACTS], ["play", "--lesson", ACTS],
        ["check", separable, "-t", TARGET, "--row-names", f"x{ACTS}e"],
    ]  # fmt: skip
    for command in fails:
        found = run(*command)
        assert found.exit_code == 2, (command, found.output)
        assert not obeyed(found.stdout + found.stderr), (command, found.output)


def test_the_library_itself_says_names_and_labels_that_act_as_escapes(tmp_path):
    X, y = (
        [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]],
        [f"a{ACTS}e", f"a{ACTS}e", f"b{ACTS}e", f"b{ACTS}e"],
    )
    verdict = sx.separability(X, y, feature_names=[DOSE, WEIGHT])
    assert not obeyed(str(verdict))
    assert not obeyed(verdict._repr_html_())
    assert r"dose\x1b]0;title\x07\x9b2J\u202e" in str(verdict)
    with pytest.warns(sx.SeparationWarning) as caught:
        sx.check_separation(X, y, feature_names=[DOSE, WEIGHT])
    assert not obeyed(str(caught[0].message))
    with pytest.raises(sx.errors.SeparatrixError) as error:
        raise sx.errors.InputError(f"The column {DOSE}.", remedy=f"Rename {WEIGHT}.")
    assert not obeyed(str(error.value) + error.value.problem + error.value.remedy)


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of Unix")
def test_a_terminal_is_sent_nothing_of_a_name_but_what_is_seen(hostile):
    import pty

    model = hostile["name"]("t.skops")
    fit = ["fit", hostile["separable"], "-t", TARGET, "-o", model]
    for command in (
        fit,
        ["predict", model, hostile["separable"]],
        ["check", hostile["overlapping"], "-t", TARGET],
    ):
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "separatrix.cli", *command],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env=SOURCE,
        )
        os.close(follower)
        seen = b""
        with contextlib.suppress(OSError):
            while part := os.read(leader, 1 << 16):
                seen += part
        os.close(leader)
        assert process.wait() == 0, seen
        text = seen.decode()
        assert "\x1b]" not in text
        assert "\\x1b]0;title" in text.replace("\r\n", "")
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")  # rich's own colors and moves
        assert not obeyed(plain), ascii(plain)


OVERLAPPING = np.random.default_rng(0).normal(size=(79, 3)), np.arange(79) % 2


def test_a_report_counts_the_errors_of_the_model_that_it_shows():
    X, y = OVERLAPPING
    model = sx.SoftMargin().fit(X, y)
    wrong = int((model.predict(X) != y).sum())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        perceptron = sx.Perceptron(max_iter=100).fit(X, y)
    assert perceptron.result_.errors != wrong  # or this test says nothing
    page = report_text(X, y)
    tiles = re.findall(r"<div><b>([^<]*)</b><span>([^<]*)</span></div>", page)
    assert [value for value, name in tiles if name == "misclassified rows"] == [str(wrong)]
    assert "<h2>SoftMargin</h2>" in page


def test_more_updates_than_rows_were_read_are_explained(tmp_path):
    X, y = OVERLAPPING
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sx.Perceptron(max_iter=100, n_iter_no_change=None).fit(X, y)
        result = model.result_
        cyclic = sx.Perceptron(max_iter=100, order="cyclic").fit(X, y).result_
    assert result.mistakes > 100 * 79
    why = "between two scans, only the rows with the lowest scores are corrected"
    assert why in often_corrected(result)
    assert why in report_text(X, y, model=model)
    assert why not in often_corrected(cyclic)
    path = tmp_path / "few.csv"
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="")
    assert why in " ".join(run("fit", str(path), "-t", "y", "--max-iter", "100").stdout.split())


def test_a_page_marks_overlap_as_good_before_a_regression_and_separation_as_a_problem():
    X, y = OVERLAPPING
    overlap = report_text(X, y)
    separated = report_text([[0.0], [1.0], [3.0]], ["a", "a", "b"])
    signs = [
        re.search(r'<header class="([^"]*)"><span[^>]*>(.)</span>', page) for page in (overlap, separated)
    ]
    assert [sign.groups() for sign in signs] == [("verdict good", "✓"), ("verdict caution", "!")]


@pytest.mark.parametrize(
    ("lower", "upper"), [(0.0099999999999, 0.01), (1 / 3, 1 / 3), (0.25, 0.25), (0.1, 0.3), (1e-300, 2e-300)]
)
def test_an_interval_never_names_one_number_as_two(lower, upper):
    said = margin_text(lower, upper)
    ends = re.findall(r"[0-9][0-9.e-]*", said)
    assert len(ends) == len(set(ends)) == (2 if said.startswith("between") else 1)


def test_an_average_is_told_to_go_on_only_if_the_classes_can_be_separated(tmp_path):
    X, y = OVERLAPPING
    path = tmp_path / "few.csv"
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="")
    found = run("fit", str(path), "-t", "y", "--model", "averaged", "--max-iter", "5")
    said = " ".join((found.stdout + found.stderr).split())
    assert "If the classes can be separated, raise --max-iter" in said
    assert "If they cannot, keep the average" in said


SEPARATED = "größe,gräße,y\n1,2,0\n2,5,0\n3,1,0\n7,2,1\n8,5,1\n9,1,1\n"


def shell(line: str, path: pathlib.Path, **environment: str) -> subprocess.CompletedProcess:
    """A line of a shell, in which $SX is the program."""
    told = {**SOURCE, **environment}
    line = line.replace("$SX", f"{shlex.quote(sys.executable)} -m separatrix.cli")
    return subprocess.run(["bash", "-c", line], capture_output=True, cwd=path, env=told, timeout=300)


@pytest.fixture(scope="module")
def separated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("separated")
    (folder / "t.csv").write_text(SEPARATED, encoding="utf-8")
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of Unix")
def test_an_answer_that_nobody_reads_does_not_end_as_another(separated):
    for options in ("", "--json"):
        found = shell(
            f"$SX check t.csv -t y --fail-if separable {options} | true; exit ${{PIPESTATUS[0]}}", separated
        )
        assert found.returncode in (1, 141)
        assert found.stderr == b""


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of Unix")
def test_a_closed_stream_is_no_file_and_no_bug(separated):
    closed = shell("$SX check t.csv -t y --certificate c.json >&- 2>&- <&-", separated)
    assert closed.returncode == 0
    assert json.loads((separated / "c.json").read_text())["format"] == "separatrix certificate"
    assert b"can be separated" in shell("$SX check t.csv -t y 2>&-", separated).stdout
    refused = shell("$SX check none.csv -t y 2>&-", separated)
    assert (refused.returncode, refused.stdout) == (2, b"")  # an error is no result
    assert b"standard input' is empty" in shell("$SX check - -t y <&-", separated).stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a disk that is full")
@pytest.mark.parametrize(
    "line", ["check t.csv -t y", "check t.csv -t y --json", "--help", "check --help", "--version"]
)
def test_output_that_cannot_be_written_ends_with_a_message(separated, line):
    found = shell(f"$SX {line} > /dev/full", separated)
    assert found.returncode == 2
    assert b"No space left" in found.stderr
    assert b"Traceback" not in found.stderr


def test_a_terminal_that_lacks_characters_does_not_make_two_names_one(separated):
    found = shell("$SX check t.csv -t y", separated, PYTHONIOENCODING="ascii")
    assert b"gr\\xf6\\xdfe" in found.stdout
    assert b"gr\\xe4\\xdfe" in found.stdout
    told = json.loads(shell("$SX check t.csv -t y --json", separated, PYTHONIOENCODING="ascii").stdout)
    assert set(told["data"]["columns"]) >= {"größe", "gräße"}
