"""The Python code that the page offers repeats what the page shows."""

from __future__ import annotations

import json
import warnings

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix.playground.api import requests
from separatrix.playground.api.answers import write
from separatrix.playground.api.requests import RequestError
from separatrix.playground.compute import engine, methods, verdicts
from separatrix.playground.compute.kernel_blocks import kernel_of, need_range
from separatrix.playground.content.presets import PRESETS
from tests.planar import NODE, SETTINGS, engine_in_node

pytestmark = pytest.mark.skipif(NODE is None, reason="the code is written in JavaScript: install Node")
EXP = {"kind": "exp", "part": {"kind": "scaled", "part": {"kind": "linear"}, "c": 0.05}}
WAYS = [
    {"method": "perceptron"},
    {"method": "perceptron", "order": "shuffled", "seed": 7},
    {"method": "perceptron", "order": "shuffled", "start": "random", "seed": 3},
    {"method": "perceptron", "order": "worst"},
    {"method": "perceptron", "order": "working_set"},
    {"method": "perceptron", "rate": 0.3, "lift": False},
    {"method": "perceptron", "margin": 2.0},
    {"method": "perceptron", "average": "averaged"},
    {"method": "perceptron", "average": "voted"},
    {"method": "perceptron", "renormalise": True, "updates": 40},
    {"method": "kernel"},
    {"method": "kernel", "order": "shuffled", "seed": 5, "lift": False},
    {"method": "kernel", "average": "voted"},
    {"method": "kernel", "kernel": EXP},
    {"method": "kernel", "budget": 6},
    {"method": "max_margin"},
    {"method": "soft_margin", "C": 2.0},
    {"method": "linear_program", "form": "dual"},
]


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    with engine_in_node(tmp_path_factory.mktemp("engine")) as asked:
        yield asked


def asked_for(name, **changes):
    """A preset with other settings, as the page sends it."""
    made = json.loads(write(PRESETS[name]()))
    chosen = made["settings"] | {"updates": min(made["settings"]["updates"], 200)} | changes
    return {"data": made["data"], "settings": chosen}


def read_as(kind, request):
    return requests.read(kind, json.dumps(request).encode())


def executed(code):
    """The names that the code defines, without its warnings."""
    scope: dict = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(code, scope)
    return scope


def without_verdict(code):
    return code.partition("verdict = ")[0].replace("print(", "(lambda *_: None)(")


def _named(way):
    return "-".join(str(value["kind"] if isinstance(value, dict) else value) for value in way.values())


@pytest.mark.parametrize("name", list(PRESETS))
@pytest.mark.parametrize("way", WAYS, ids=_named)
def test_the_code_offered_reproduces_exactly_what_is_seen(ask, name, way):
    request = asked_for(name, **way)
    run = read_as(requests.RunRequest, {**request, "box": None})
    try:
        seen = engine.run(run)
    except RequestError as refused:
        if refused.code == "kernel_range":
            with pytest.raises(RequestError):
                need_range(kernel_of(run.settings.kernel), engine.arrays(run.data)[0])
            return
        if refused.code != "not_separable":
            raise
        with pytest.raises(sx.errors.NotSeparable):
            methods.estimator_of(run.settings).fit(*engine.arrays(run.data))
        return
    scope = executed(without_verdict(ask("code", request)))
    model = scope["model"]
    assert np.array_equal(np.searchsorted(model.classes_, model.predict(scope["X"])), seen.model.predicted)
    if seen.updates is not None:
        trace = model.result_.trace
        assert np.array_equal(trace.rows, seen.updates.rows)
        assert np.array_equal(trace.scores, seen.updates.scores)
        assert model.mistakes_ == seen.mistakes
    if run.settings.method == "perceptron":
        assert np.array_equal(model.result_.trace.weights, seen.updates.weights[1:])
    if seen.model.weights is not None and len(model.classes_) == 2:
        plane = np.asarray(seen.model.weights)[1] - np.asarray(seen.model.weights)[0]
        assert np.array_equal(plane, [*model.coef_[0], model.intercept_[0]])


@pytest.mark.parametrize("method", ["passive_aggressive", "winnow", "network"])
def test_the_code_of_methods_that_only_the_page_computes_runs(ask, method, capsys):
    model = executed(ask("code", asked_for("separable", method=method, rate=0.03)))["model"]
    assert model.errors_ == 0 if method == "network" else model.converged_
    assert "holds=True" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["xor", "rings", "hull"])
def test_the_code_asks_for_the_verdict_that_the_page_shows(ask, name, capsys):
    request = asked_for(name)
    shown = verdicts.ask(read_as(requests.VerdictRequest, request))
    scope = executed(ask("code", request))
    assert scope["verdict"].status == shown.status
    assert (scope["verdict"].certificate is None) == (shown.certificate is None)
    assert "holds=True" in capsys.readouterr().out


def kernel_blocks():
    simple = st.one_of(
        st.just({"kind": "linear"}),
        st.builds(
            lambda d, c: {"kind": "polynomial", "degree": d, "c": c}, st.integers(1, 2), st.floats(0, 2)
        ),
        st.builds(lambda c: {"kind": "gaussian", "c": c}, st.floats(0.1, 2)),
        st.builds(lambda d: {"kind": "geometric", "degree": d}, st.integers(1, 2)),
    )
    return st.recursive(
        simple,
        lambda inner: st.one_of(
            st.builds(
                lambda k, parts: {"kind": k, "parts": parts},
                st.sampled_from(["sum", "product"]),
                st.lists(inner, min_size=1, max_size=2),
            ),
            st.builds(lambda part, c: {"kind": "scaled", "part": part, "c": c}, inner, st.floats(0.5, 2)),
            st.builds(lambda part: {"kind": "power", "part": part, "exponent": 2}, inner),
            st.builds(lambda part, c: {"kind": "shifted", "part": part, "c": c}, inner, st.floats(0, 2)),
            st.builds(lambda part: {"kind": "exp", "part": part}, inner),
        ),
        max_leaves=3,
    )


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(kernel_blocks())
def test_the_kernel_that_is_computed_is_the_kernel_that_the_code_writes(ask, value):
    block = msgspec.convert({"kernel": value}, requests.Settings).kernel
    X = np.array([[0.5, -1.0], [1.5, 0.25], [0.0, 0.0]])
    try:
        kernel = kernel_of(block)
        need_range(kernel, X)
    except RequestError as refused:
        if refused.code not in ("kernel_too_large", "kernel_range"):
            raise
        return
    data = {"columns": ["x", "y"], "classes": ["a", "b"], "rows": X.tolist(), "labels": [0, 1, 1]}
    code = ask("code", {"data": data, "settings": SETTINGS | {"method": "kernel", "kernel": value}})
    verdict = next(line for line in code.splitlines() if line.startswith("verdict = "))
    written = eval(verdict.partition(", kernel=")[2][:-1], {"sx": sx})
    assert np.array_equal(kernel(X), written(X))
