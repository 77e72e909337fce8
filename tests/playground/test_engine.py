"""The engine of the page gives the answers of the library: the same mistakes and verdicts, valid proofs."""

from __future__ import annotations

import csv
import io
import json
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix.playground.api.answers import write
from separatrix.playground.content.presets import PRESETS
from tests.planar import (
    ENGINE,
    NODE,
    SETTINGS,
    WHOLE_KERNELS,
    ask_library,
    compare,
    engine_in_node,
    random_points,
    random_problem,
)
from tests.run import fine

pytestmark = pytest.mark.skipif(NODE is None, reason="the engine is JavaScript: install Node to run it")
RANDOM = st.randoms(use_true_random=False)
LIMITED = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
TWO = {"columns": ["x", "y"], "classes": ["no", "yes"]}


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    with engine_in_node(tmp_path_factory.mktemp("engine")) as asked:
        yield asked


def presets():
    return {name: json.loads(write(make())) for name, make in PRESETS.items()}


@LIMITED
@given(RANDOM)
def test_both_engines_make_the_same_mistakes_and_give_the_same_verdict(ask, chance):
    data, chosen = random_problem(chance)
    assert not compare(ask, data, chosen)


@pytest.mark.parametrize("name", [name for name in PRESETS if name not in ("orthonormal", "tumours")])
def test_the_presets_have_the_same_answers(ask, name):
    made = presets()[name]
    request = {"data": made["data"], "settings": made["settings"]}
    assert ask("verdict", request)["status"] == ask_library("verdict", request)["status"]
    ours, library = (each("run", {**request, "box": None, "live": False}) for each in (ask, ask_library))
    assert (ours["status"], ours["mistakes"]) == (library["status"], library["mistakes"])
    assert ours["updates"]["rows"] == library["updates"]["rows"]
    if library["proof"]["margin"] is not None:
        assert ours["proof"]["bound"] == pytest.approx(library["proof"]["bound"], rel=1e-4)
        assert ours["updates"]["progress"] == pytest.approx(
            library["updates"]["progress"], rel=1e-3, abs=1e-6
        )


@LIMITED
@given(RANDOM, st.sampled_from(WHOLE_KERNELS), st.booleans())
def test_a_field_has_the_scores_of_the_library(ask, chance, kernel, live):
    data = random_points(chance)
    box = {"left": -3.0, "right": 3.0, "bottom": -2.0, "top": 2.0}
    chosen = SETTINGS | {"method": "kernel", "kernel": kernel, "updates": 40}
    request = {"data": data, "settings": chosen, "box": box, "live": live}
    ours, library = ask("run", request), ask_library("run", request)
    if "refused" in library:
        assert ours["refused"] == library["refused"]
        return
    for field in ("size", "box", "support"):
        assert ours["field"][field] == library["field"][field]
    for field in ("columns", "coefficients", "final"):
        found, told = (numbers(each["field"][field]) for each in (ours, library))
        assert np.allclose(found, told, rtol=1e-4, atol=1e-5 * np.abs(told).max(initial=0.0))


def numbers(text):
    import base64

    return np.frombuffer(base64.b64decode(text or ""), dtype="<f4")


@LIMITED
@given(RANDOM, st.integers(2, 60))
def test_the_paraboloid_has_the_verdict_of_the_lifted_rows(ask, chance, size):
    rows = [[chance.randint(-8, 8) / 4, chance.randint(-8, 8) / 4] for _ in range(size)]
    labels = [int(x * x + y * y < 2) for x, y in rows]
    labels[0], labels[1] = 0, 1
    found = ask("lift", {"data": {**TWO, "rows": rows, "labels": labels}})
    lifted = np.column_stack([rows, (np.array(rows) ** 2).sum(axis=1)])
    verdict = sx.separability(lifted, np.array(labels))
    assert found["status"] == verdict.status
    if verdict.separable:
        scores = np.column_stack([lifted, np.ones(size)]) @ found["plane"]
        assert ((scores > 0) == (np.array(labels) == 1)).all()
        assert found["margin"] == pytest.approx(sx.MaxMargin().fit(lifted, labels).margin_lower_, rel=1e-6)


NAMES = st.one_of(
    st.lists(st.sampled_from(["-1", "1", "0", "10", "9", "2", "007"]), min_size=2, max_size=4, unique_by=int),
    st.lists(st.sampled_from(["\N{MINUS SIGN}", "+", "a b", "\xe9", "\U0001f600", "Z", "a", "x,y", 'q"']),
             min_size=2, max_size=4, unique=True),
)  # fmt: skip


@settings(LIMITED, max_examples=8)
@given(RANDOM, NAMES)
def test_the_certificate_of_a_page_fits_the_csv_of_the_same_page(ask, tmp_path_factory, chance, names):
    rows = [[chance.randint(-4, 4) / 4, chance.randint(-4, 4) / 4] for _ in range(12)]
    labels = [*range(len(names)), *(chance.randrange(len(names)) for _ in range(12 - len(names)))]
    data = {"columns": ["x", "y"], "classes": names, "rows": rows, "labels": labels}
    folder = tmp_path_factory.mktemp("page")
    certificate, library = (
        each("verdict", {"data": data, "settings": SETTINGS})["certificate"] for each in (ask, ask_library)
    )
    assert (certificate["data"], certificate["question"]) == (library["data"], library["question"])
    (folder / "certificate.json").write_text(json.dumps(certificate))
    with (folder / "points.csv").open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["x", "y", "class"])
        lines.writerows([*row, names[label]] for row, label in zip(rows, labels, strict=True))
    fine("verify", folder / "certificate.json", folder / "points.csv", "--target", "class")


def test_a_certificate_with_one_changed_number_is_refused(ask):
    chance = random.Random(4)
    for _ in range(60):
        data = random_points(chance)
        certificate = ask("verdict", {"data": data, "settings": SETTINGS})["certificate"]
        assert ask("verify", {"data": data, "certificate": certificate})["holds"]
        if certificate["multipliers"]:
            certificate["multipliers"]["coarse"][0] += "1"
        else:
            certificate["weights"] = [["0"] * len(each) for each in certificate["weights"]]
        assert not ask("verify", {"data": data, "certificate": certificate})["holds"]
        moved = {**data, "rows": [[x + 1.0, y] for x, y in data["rows"]]}
        assert not ask("verify", {"data": moved, "certificate": certificate})["holds"]


def test_tables_are_read_with_their_names_and_target(ask):
    found = ask("table", {"text": "a;b;kind\n1;2;yes\n3;4;no\n5;;no\n"})
    assert found["columns"] == ["a", "b", "kind"]
    assert found["numeric"] == [True, True, False]
    assert found["rows"] == [[1.0, 2.0, "yes"], [3.0, 4.0, "no"]]
    assert (found["target"], found["skipped"]) == (2, 1)
    assert found["scaled"] == [[-1.0, 1.0], [-1.0, 1.0], []]
    for text in ("only one line", "x,y\n", "x\n1\n", "x,y\n1,\n", 'x,y\n1,"2\n'):
        assert ask("table", {"text": text})["refused"] == "table"


def test_numbers_with_a_decimal_comma_are_numbers(ask):
    found = ask("table", {"text": "x;y;Klasse\n1,5;-2;ja\n0,25;3,125;nein\n"})
    assert found["rows"] == [[1.5, -2.0, "ja"], [0.25, 3.125, "nein"]]
    assert found["numeric"] == [True, True, False]


CELLS = st.text(st.sampled_from("ab 1.;\"',\t\xe9"), min_size=1, max_size=6)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@LIMITED
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6), st.sampled_from([",", "\t", ";"]), ENDS)
def test_cells_are_those_of_the_csv_module(ask, cells, separator, end):
    text = io.StringIO(newline="")
    lines = csv.writer(text, delimiter=separator, lineterminator=end)
    lines.writerow(["one", "two"])
    lines.writerows([(f"a{left}", f"b{right}") for left, right in cells])
    first = text.getvalue().split(end)[1]
    found = ask("table", {"text": text.getvalue()})
    if first.count(separator) == 1 and first.count(";") in (0, 1):
        assert found["rows"] == [[f"a{left}".strip(), f"b{right}".strip()] for left, right in cells]


@LIMITED
@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=20))
def test_scaled_columns_have_mean_0_and_deviation_1_in_64ths(ask, column):
    text = "a,kind\n" + "".join(f"{value!r},{'yes' if at else 'no'}\n" for at, value in enumerate(column))
    found = np.array(ask("table", {"text": text})["scaled"][0])
    assert np.array_equal(found * 64, np.round(found * 64))
    assert abs(found.mean()) <= 1 / 64
    if np.ptp(column) > 1e-6 * max(map(abs, column)):
        assert abs(found.std() - 1) <= 1 / 64
    if not np.ptp(column):
        assert not found.any()


DEEP = {"kind": "power", "part": {"kind": "polynomial", "degree": 6, "c": 1.0}, "exponent": 2}
STEEP = {"kind": "exp", "part": {"kind": "scaled", "c": 1e6, "part": {"kind": "linear"}}}


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"rate": 0.0}, "invalid"), ({"rate": "1"}, "invalid"), ({"passes": 1.5}, "invalid"),
        ({"order": "none"}, "invalid"), ({"updates": 20_001}, "invalid"), ({"seed": -1}, "invalid"),
        ({"method": "magic"}, "invalid"), ({"average": "voted", "order": "worst"}, "library"),
        ({"average": "averaged", "renormalise": True}, "library"),
        ({"method": "kernel", "order": "worst"}, "kernel_order"),
        ({"method": "kernel", "kernel": DEEP}, "kernel_too_large"),
        ({"method": "kernel", "kernel": STEEP}, "kernel_range"),
    ],
)  # fmt: skip
def test_settings_that_the_library_refuses_are_refused(ask, changed, code):
    request = {
        "data": {**TWO, "rows": [[0.0, 1.0], [2.0, 3.0]], "labels": [0, 1]},
        "settings": SETTINGS | changed,
    }
    request |= {"box": None, "live": False}
    assert ask("run", request)["refused"] == ask_library("run", request)["refused"] == code


def test_questions_beyond_the_engine_are_left_to_the_server(ask):
    few = {**TWO, "rows": [[0.0, 1.0], [2.0, 3.0]], "labels": [0, 1]}
    many = {**TWO, "rows": [[float(at), 1.0] for at in range(501)], "labels": [at % 2 for at in range(501)]}
    wide = {**few, "columns": ["x", "y", "z"], "rows": [[0.0, 1.0, 2.0], [2.0, 3.0, 4.0]]}
    run = {"settings": SETTINGS, "box": None, "live": False}
    for data in (many, wide):
        assert ask("run", {**run, "data": data}) is None
        assert ask("verdict", {"data": data, "settings": SETTINGS}) is None
    for changed in (
        {"method": "soft_margin"},
        {"method": "kernel", "budget": 3},
        {"method": "linear_program"},
    ):
        assert ask("run", {**run, "data": few, "settings": SETTINGS | changed}) is None
    for method in ("passive_aggressive", "winnow", "network"):  # which the server refuses in the same words
        alone = {**run, "data": wide, "settings": SETTINGS | {"method": method}}
        assert ask("run", alone)["refused"] == ask_library("run", alone)["refused"] == "planar_only"
    assert ask("film", {"data": few, "settings": SETTINGS}) is None


def test_a_seed_gives_numpys_shuffles_and_starts(ask):
    chance = random.Random(1)
    for seed in [0, 1, 2**31 - 1, *(chance.randrange(2**31) for _ in range(20))]:
        data = {**TWO, "rows": [[1.0, 0.0], [0.0, 1.0], [3.0, -1.0]], "labels": [0, 1, 0]}
        chosen = SETTINGS | {"start": "random", "order": "shuffled", "seed": seed, "passes": 3}
        found = ask("run", {"data": data, "settings": chosen, "box": None, "live": False})
        numpys = np.random.default_rng(seed)
        assert found["updates"]["weights"][0] == pytest.approx(numpys.standard_normal(3), rel=1e-15)
        order = np.concatenate([numpys.permutation(3) for _ in range(3)])
        assert found["visits"]["rows"] == order[: len(found["visits"]["rows"])].tolist()


def test_the_engine_has_no_dependency_and_stays_small():
    sources = {path.name: path.read_text(encoding="utf-8") for path in ENGINE.glob("*.js")}
    for name, text in sources.items():
        assert all(
            line.split('"')[1].startswith("./") for line in text.splitlines() if line.startswith("import ")
        ), name
        assert len(text.splitlines()) < 500, name
    assert sum(map(len, sources.values())) < 100_000
