"""The playground's answers are those of the library, and its texts are complete."""

from __future__ import annotations

import json
import math
import pathlib
import re
from typing import get_args, get_type_hints

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import separatrix as sx
from separatrix.playground.api import requests
from separatrix.playground.api.answers import write
from separatrix.playground.api.requests import RequestError, read
from separatrix.playground.compute import engine, methods, verdicts
from separatrix.playground.content import presets
from separatrix.playground.content.lessons import LESSONS
from separatrix.playground.server.worker import answer
from separatrix.views.palettes import THEMES

STATIC = pathlib.Path(presets.__file__).parents[1] / "static"
BOX = requests.Rectangle(-3.0, 3.0, -3.0, 3.0)
LINEAR = requests.LinearBlock()
SQUARE = requests.PowerBlock(requests.ShiftedBlock(LINEAR, 1.0), 2)
EXP = requests.ExponentialBlock(requests.ScaledBlock(SQUARE, 0.05))


def opened(name):
    found = presets.PRESETS[name]()
    return found.data, found.settings


def made(name, **changes):
    data, settings = opened(name)
    return data, replace(settings, **{"updates": min(settings.updates, 200), **changes})


def _nothing():
    import contextlib

    return contextlib.nullcontext()


@pytest.mark.parametrize("name", ["separable", "three", "overlapping", "iris", "orthonormal"])
@pytest.mark.parametrize("order", ["cyclic", "shuffled", "worst"])
def test_the_last_step_is_the_result_of_the_library(name, order):
    data, settings = made(name, method="perceptron", order=order)
    seen = engine.run(requests.RunRequest(data, settings))
    X, y = engine.arrays(data)
    model = methods.estimator_of(settings)
    with pytest.warns() if not seen.converged else _nothing():
        model.fit(X, y)
    result = model.result_
    assert seen.updates.upper[-1] <= result.margin_upper * (1 + 1e-9)
    if result.separated:
        assert seen.updates.lower[-1] == pytest.approx(result.margin_lower, rel=1e-9)
    assert seen.updates.errors[-1] == result.errors
    assert (seen.updates.lowest[-1] > 0) == result.separated
    assert seen.model.lowest == pytest.approx(seen.updates.lowest[-1], rel=1e-9, abs=1e-9)
    assert np.array_equal(seen.counts, result.mistake_counts)


@pytest.mark.parametrize("name", ["separable", "three", "overlapping"])
@pytest.mark.parametrize(
    "way",
    [
        {},
        {"order": "shuffled"},
        {"order": "shuffled", "start": "random"},
        {"method": "kernel"},
        {"method": "kernel", "order": "shuffled", "budget": 5},
    ],
)
def test_every_visit_is_a_look_at_the_row_that_the_run_looked_at(name, way):
    """Replayed by hand: a visit whose score is not positive is the next update, and no other is."""
    data, settings = made(name, **way)
    seen = engine.run(requests.RunRequest(data, settings))
    visits, updates = seen.visits, seen.updates
    mistaken = [at for at, score in enumerate(visits.scores) if score <= 1e-12]
    assert len(mistaken) >= len(updates.rows)
    at_update = [
        at
        for at in range(len(visits.rows))
        if at + 1 < len(visits.rows) and visits.updates[at + 1] > visits.updates[at]
    ]
    rows = [int(visits.rows[at]) for at in at_update]
    assert rows == updates.rows[: len(rows)].tolist()
    assert len(updates.rows) - len(rows) <= 1  # the last may be the last visit
    for at, number in zip(at_update, range(len(rows)), strict=True):
        assert visits.scores[at] == pytest.approx(updates.scores[number], abs=1e-9)


def test_the_curves_keep_to_novikoffs_argument():
    for name in ("separable", "three", "orthonormal", "hull", "rings", "spirals", "three by kernel"):
        data, settings = made(name.partition(" ")[0], **({"method": "kernel"} if "kernel" in name else {}))
        seen = engine.run(requests.RunRequest(data, settings))
        times = np.arange(len(seen.updates.squares))
        assert np.all(seen.updates.squares <= seen.proof.radius**2 * times * (1 + 1e-9) + 1e-12)
        assert np.all(seen.updates.progress >= seen.proof.margin * times * (1 - 1e-6) - 1e-9)
        assert len(seen.updates.rows) <= seen.proof.bound
        assert np.all(np.diff(seen.updates.lower[1:]) >= 0)
        assert np.all(np.diff(seen.updates.upper[1:]) <= 0)


def test_the_presets_have_the_answers_that_they_claim():
    for name, mistakes in (("smallest", 2), ("hull", 89), ("orthonormal", 5)):
        assert engine.run(requests.RunRequest(*opened(name))).mistakes == mistakes
    model = sx.MaxMargin().fit(*engine.arrays(opened("separable")[0]))
    assert model.margin_lower_ == pytest.approx(0.15, abs=1 / 64)
    told = {
        name: verdicts.ask(requests.VerdictRequest(*opened(name))).status
        for name in ("xor", "rings", "spirals")
    }
    assert told == {"xor": "overlapping", "rings": "separable", "spirals": "separable"}


def test_a_kernels_field_is_the_decision_of_the_model():
    for name, way in (
        ("rings", {}),
        ("rings", {"average": "voted"}),
        ("three", {"method": "kernel"}),
        ("separable", {"average": "voted"}),
    ):
        data, settings = made(name, **way)
        seen = engine.run(requests.RunRequest(data, settings, BOX))
        model = methods.estimator_of(settings).fit(*engine.arrays(data))
        size = seen.field.size
        centres = np.linspace(-3.0, 3.0, size)
        cells = np.stack(np.meshgrid(centres, centres), axis=-1).reshape(-1, 2)
        final = _unpacked(seen.field.final).reshape(len(model.classes_), -1)
        told = np.searchsorted(model.classes_, model.predict(cells))
        assert np.mean(final.argmax(axis=0) == told) > 0.999  # a tie of the vote may be rounded
        if seen.field.coefficients is not None and not way.get("average"):
            columns = _unpacked(seen.field.columns).reshape(len(seen.field.support), -1)
            states = _unpacked(seen.field.coefficients).reshape(
                len(seen.updates.rows) + 1, len(seen.field.support), -1
            )
            last = states[-1].T @ columns
            wanted = final[1:] if len(model.classes_) == 2 else final
            assert np.allclose(last, wanted, atol=1e-4 * np.abs(wanted).max())


def _unpacked(text):
    import base64

    return np.frombuffer(base64.b64decode(text), dtype="<f4")


@pytest.mark.parametrize("slope", [1.0, -1.0, 0.0])
def test_the_hull_of_points_on_a_line_has_its_two_ends(slope):
    line = [(x, slope * x) for x in (1.0, 0.0, 3.0, 2.0)]
    data = presets.points([*line, (9.0, 5.0)], [0, 0, 0, 0, 1])
    found = verdicts.ask(requests.VerdictRequest(data, presets.PLAIN))
    assert [sorted(hull) for hull in found.hulls] == [[1, 2], [4]]


def test_a_verdict_has_its_witness_its_common_point_and_a_certificate_that_verifies():
    data, settings = made("xor")
    found = verdicts.ask(requests.VerdictRequest(data, settings))
    json.loads(write(found))
    assert found.status == "overlapping"
    assert found.common == ("0", "0")
    assert [each.weight for each in found.witness] == ["1/2"] * 4
    check = requests.VerifyRequest(data, json.loads(json.dumps(found.certificate)))
    assert verdicts.check(check).holds
    moved = replace(data, rows=((1.0, 1.5), *data.rows[1:]))
    refused = verdicts.check(replace(check, data=moved))
    assert not refused.holds
    assert refused.reason


def test_more_than_two_columns_are_seen_along_and_across_w():
    data, settings = made("orthonormal")
    seen = engine.run(requests.RunRequest(data, settings))
    assert not seen.view.flat
    X, _ = engine.arrays(data)
    planes, weights = np.asarray(seen.model.planes), np.asarray(seen.model.weights)
    places = np.column_stack([seen.view.places, np.ones(len(X))])
    assert np.allclose((planes @ places.T)[1], (weights @ np.column_stack([X, np.ones(len(X))]).T)[1])


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{}", "missing required field `left`"),
        (b"[]", "Expected `object`, got `array`"),
        (b'{"left": 1e300}', "<= 1000000000.0"),
        (b'{"left": 1, "right": 2, "bottom": 3, "top": 4, "more": 1}', "unknown field `more`"),
        (b'{"left": null}', "got `null` - at `$.left`"),
        (b'{"%s": 1}' % (b"x" * 100_000), "unknown field"),
    ],
)
def test_a_body_that_is_no_request_is_refused_with_the_reason_and_the_place(body, said):
    with pytest.raises(RequestError) as refused:
        read(requests.Rectangle, body)
    assert refused.value.code == "invalid"
    assert said in refused.value.message
    assert len(refused.value.message) <= 300


def test_the_limits_are_said():
    data, settings = made("xor")
    value = msgspec.to_builtins({"data": data, "settings": settings})

    def refused(**changes):
        status, body = answer("run", json.dumps({**value, **changes}).encode())
        assert status == 422, body
        return json.loads(body)

    many = {"columns": ["x", "y"], "classes": ["a", "b"], "rows": [[0, 0]] * 5001, "labels": [0] * 5001}
    assert refused(data=many)["code"] == "invalid"
    assert refused(settings={"updates": 20001})["code"] == "invalid"
    assert refused(settings={"kernel": {"kind": "polynomial", "degree": 11}})["code"] == "invalid"
    deep: dict = {"kind": "linear"}
    for _ in range(7):
        deep = {"kind": "scaled", "part": deep, "c": 2}
    assert refused(settings={"method": "kernel", "kernel": deep})["code"] == "kernel_too_large"
    assert refused(settings={"rate": 0})["code"] == "invalid"
    assert refused(data={**many, "rows": [[0, 0]], "labels": [0]})["code"] == "one_class"
    assert refused(data={**many, "rows": [[0, 0], [1]], "labels": [0, 1]})["code"] == "ragged"
    assert refused(data={**many, "rows": [[0, 0], [1, 1]], "labels": [0, 2]})["code"] == "labels"
    assert json.loads(answer("verify", b'{"certificate":' + b'{"a":' * 100_000)[1])["code"] == "not_json"
    assert json.loads(answer("run", b'{"data": NaN}')[1])["code"] == "not_json"


def test_a_kernel_that_grows_too_large_is_refused_before_it_is_computed():
    data, settings = made("xor", method="kernel")
    tower: requests.KernelBlock = LINEAR
    for _ in range(4):
        tower = requests.ExponentialBlock(tower)
    grows = replace(settings, kernel=tower)
    for asked in (
        lambda: engine.run(requests.RunRequest(data, grows, BOX)),
        lambda: verdicts.ask(requests.VerdictRequest(data, grows)),
    ):
        with pytest.raises(RequestError, match="Scale the kernel or the columns down") as refused:
            asked()
        assert refused.value.code == "kernel_range"
    once = replace(settings, kernel=requests.ExponentialBlock(LINEAR))
    seen = engine.run(requests.RunRequest(data, once, BOX))
    assert seen.converged
    assert np.isfinite(_unpacked(seen.field.final)).all()
    far = requests.Rectangle(-9.0, 9.0, -9.0, 9.0)  # the picture may be larger than the points
    with pytest.raises(RequestError, match="the picture around them"):
        engine.run(requests.RunRequest(data, once, far))


def test_the_exponential_separates_what_its_strictness_promises():
    data, settings = made("rings", method="kernel", kernel=EXP)
    found = verdicts.ask(requests.VerdictRequest(data, settings))
    assert found.status == "separable"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["data", "settings", "kernel", "kind", "rows", "labels", "name", "text"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_no_value_makes_the_reader_fail_otherwise_than_with_a_code(value):
    for kind in requests.REQUESTS.values():
        try:
            read(kind, json.dumps(value).encode("utf-8", "surrogatepass"))
        except RequestError as refused:
            told = refused
            assert told.code in ("invalid", "not_json")


def test_every_method_of_the_settings_is_computed_by_the_server_or_the_page_alone():
    alone = {"passive_aggressive", "winnow", "network"}
    assert set(get_args(get_type_hints(requests.Settings)["method"])) == methods.METHODS.keys() | alone


def test_the_page_has_the_colours_of_every_picture():
    css = (STATIC / "play.css").read_text("utf-8")
    light, dark = css.split(':root[data-theme="dark"]')
    for part, palette in ((light, THEMES["light"]), (dark, THEMES["dark"])):
        names = {
            "paper": palette.paper,
            "ink": palette.ink,
            "muted": palette.muted,
            "faint": palette.faint,
            "accent": palette.accent,
        }
        names |= {f"class-{at}": palette.color(at) for at in range(4)}
        for name, color in names.items():
            assert re.search(rf"--{name}: {color};", part), name


def _texts():
    tables = [(STATIC / "js" / name).read_text("utf-8") for name in ("words.js", "lesson_words.js")]
    lines = [
        line for table in tables for line in table[table.index("= {\n") + 4 : table.index("\n};")].split("\n")
    ]
    found = [re.fullmatch(r'  "?([\w-]+)"?: (\[".*"\]),', line) for line in lines]
    assert None not in found
    texts = dict(each.groups() for each in found)
    assert len(texts) == len(lines)
    return texts


def test_every_text_is_there_in_english_and_german_with_the_same_values():
    texts = {key: json.loads(value) for key, value in _texts().items()}
    assert len(texts) > 200
    for key, pair in texts.items():
        assert len(pair) == 2, key
        assert all(words.strip() for words in pair), key
        english, german = (set(re.findall(r"\{(\w+)\}", words)) for words in pair)
        assert english == german, key


def test_every_text_that_the_page_asks_for_is_there():
    texts = _texts()
    used = set()
    for path in [*STATIC.glob("js/*.js"), STATIC / "index.html"]:
        source = path.read_text("utf-8")
        used |= set(re.findall(r'\bt\("([\w-]+)"', source)) | set(
            re.findall(r'data-(?:text|label)="([\w-]+)"', source)
        )
    assert used <= texts.keys(), used - texts.keys()
    for name in presets.PRESETS:
        assert f"preset_{name}" in texts
    for word in ("separable", "quasi-separable", "overlapping", "inseparable", "undecided"):
        assert {f"says_{word}", f"means_{word}"} <= texts.keys()
    for status in ("separated", "inseparable", "pass_limit", "update_limit", "time_limit"):
        assert f"ended_{status}" in texts


def test_nothing_of_the_page_comes_from_elsewhere_or_is_inline():
    for path in STATIC.rglob("*"):
        if path.suffix not in (".html", ".js", ".css"):
            continue
        source = path.read_text("utf-8").replace("http://www.w3.org/", "")
        assert not re.search(r"https?://", source), path
        assert "innerHTML" not in source, path
    page = (STATIC / "index.html").read_text("utf-8")
    assert not re.search(r"\son\w+=|\sstyle=|<style|<script(?! type=\"module\" src)", page)


# What the lessons tell as facts, as (chapter, state): status, mistakes, whole bound.
TOLD = {
    ("0", 2): ("separated", 89, 10001),
    ("1", 4): ("inseparable", None, None),
    ("2", 1): ("separated", 2, 2),
    ("2", 3): ("separated", 5, 5),
    ("3", 2): ("separated", 5, 21),
    ("3", 3): ("separated", 68, 321),
    ("4", 1): ("separated", 4, 333),
}


def test_the_lessons_open_and_tell_the_truth():
    texts = _texts()
    for lesson in LESSONS:
        for number, state in enumerate(lesson["states"], 1):
            key = f"lesson_{lesson['name']}_{number}"
            assert {
                key,
                *(f"{key}_{part}" for part in ("question", "options", "answer", "task")),
            } <= texts.keys()
            for options in json.loads(texts[f"{key}_options"]):
                assert 0 <= state["answer"] < len(options.split("|"))
            data, settings = _opened(state)
            seen = engine.run(requests.RunRequest(data, settings))
            verdicts.ask(requests.VerdictRequest(data, settings))
            if (lesson["name"], number) in TOLD:
                status, mistakes, bound = TOLD[lesson["name"], number]
                assert seen.status == status
                assert mistakes in (None, seen.mistakes)
                assert bound in (None, math.floor(seen.proof.bound))


def _opened(state):
    base = presets.PRESETS[state["preset"]]() if "preset" in state else None
    data = state.get("data") or base.data
    settings = {**(msgspec.to_builtins(base.settings) if base else {}), **state["settings"]}
    request = read(requests.RunRequest, write({"data": data, "settings": settings}))
    return request.data, request.settings


def test_the_numbers_in_the_lessons_are_those_of_the_runs():
    data, settings = made("hull")
    seen = engine.run(requests.RunRequest(data, settings))
    (good, bad), _ = engine.arrays(data)
    apart = float(np.linalg.norm(good - bad))
    assert (seen.mistakes, math.floor(seen.proof.bound)) == (89, 10001)
    assert round(apart, 2) == 0.38
    assert math.floor(4 * (good @ good) / apart**2) == 27
    assert seen.proof.margin == pytest.approx(0.01, rel=1e-3)
    data, settings = made("separable")
    counts = {
        way: engine.run(requests.RunRequest(data, replace(settings, **dict(way))))
        for way in ((), (("order", "worst"),))
    }
    assert [seen.mistakes for seen in counts.values()] == [23, 35]
    assert int((counts[()].counts > 0).sum()) == 9
    largest = engine.run(requests.RunRequest(data, replace(settings, method="max_margin")))
    assert sorted(np.asarray(data.labels)[np.flatnonzero(largest.counts)].tolist()) == [0, 1]
    assert verdicts.ask(requests.VerdictRequest(data, replace(settings, lift=False))).status == "overlapping"


@pytest.mark.slow
def test_no_pair_of_columns_of_the_tumours_has_fewer_errors_than_the_preset():
    import itertools

    from sklearn.datasets import load_breast_cancer

    loaded = load_breast_cancer()
    X = (loaded.data - loaded.data.mean(axis=0)) / loaded.data.std(axis=0)
    names = loaded.feature_names.tolist()

    def errors(pair):
        model = sx.SoftMargin(C=1.0, fit_intercept=True).fit(X[:, pair], loaded.target)
        return int((model.predict(X[:, pair]) != loaded.target).sum())

    best = errors([names.index(name) for name in presets.BEST_PAIR])
    assert best == 23
    assert all(errors(list(pair)) >= best for pair in itertools.combinations(range(30), 2))
