"""Model files carry everything, and execute nothing."""

from __future__ import annotations

import dataclasses
import io
import json
import pathlib
import re
import zipfile

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import separatrix as sx
from separatrix.errors import ModelFileError, OutputError
from separatrix.result import PassRecord, RunResult
from separatrix.storage import models, registry

PROBLEM = sx.datasets.make_separable(n_rows=120, n_columns=4, margin=0.05, random_state=0)
X, y = PROBLEM.X, np.where(PROBLEM.y == PROBLEM.y.max(), "yes", "no")
SQUARE = np.array([[0, 0], [1, 1], [0, 1], [1, 0]])

MODELS = {
    "perceptron": sx.Perceptron(trace=True),
    "averaged": sx.Perceptron(average="averaged", random_state=0),
    "voted": sx.Perceptron(average="voted", random_state=0),
    "random": sx.Perceptron(order="shuffled", random_state=np.random.default_rng(1), max_iter=5000),
    "max-margin": sx.MaxMargin(),
    "soft-margin": sx.SoftMargin(),
    "linear-program": sx.LinearProgram(form="dual"),
    "kernel": sx.KernelPerceptron(kernel="poly"),
    "kernel, averaged": sx.KernelPerceptron(average="averaged", max_iter=20),
    "kernel, voted": sx.KernelPerceptron(average="voted", max_iter=20),
    "kernel, budget": sx.KernelPerceptron(
        kernel=sx.kernels.Polynomial(degree=2) + sx.kernels.Linear(), budget=90
    ),
    "kernel, max-margin": sx.MaxMargin(
        kernel=2 * sx.kernels.Gaussian(c=0.5) * sx.kernels.Geometric(degree=2)
    ),
    "pipeline": make_pipeline(StandardScaler(), sx.Perceptron()),
}


def same(a, b):
    """Equal all the way down, bit by bit."""
    if isinstance(a, np.ndarray):
        return (
            isinstance(b, np.ndarray)
            and (a.dtype, a.shape) == (b.dtype, b.shape)
            and (a.dtype == object or a.tobytes() == b.tobytes())
            and repr(a) == repr(b)
        )
    if sparse.issparse(a):
        return same(a.toarray(), b.toarray())
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.random.Generator):
        return a.bit_generator.state == b.bit_generator.state
    if hasattr(a, "__dict__") and not isinstance(a, type) and type(a).__module__.startswith("separatrix"):
        return type(a) is type(b) and (a is b or same(a.__getstate__(), b.__getstate__()))
    return type(a) is type(b) and repr(a) == repr(b)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_saved_model_comes_back_bit_by_bit(name, tmp_path):
    model = MODELS[name].fit(X, y)
    path = tmp_path / "model.skops"
    sx.save(model, path)
    again = sx.load(path)
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert np.array_equal(again.predict(X), model.predict(X))
    last, last_again = (m[-1] if name == "pipeline" else m for m in (model, again))
    assert same(vars(last), vars(last_again))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_cycles_sparse_voters_names_and_the_ledger_survive(tmp_path):
    path = tmp_path / "model.skops"
    cycle = sx.Perceptron(order="cyclic").fit(SQUARE, [0, 0, 1, 1])
    voted = sx.Perceptron(average="voted", random_state=0).fit(sparse.csr_array(X), y)
    import pandas as pd

    named = sx.Perceptron().fit(pd.DataFrame(X, columns=list("abcd")), y)
    for model in (cycle, voted, named):
        sx.save(model, path)
        again = sx.load(path)
        assert same(vars(model), vars(again))
        assert np.array_equal(again.mistake_counts_, model.mistake_counts_)
    assert again.feature_names_in_.tolist() == list("abcd")
    assert again.classes_.tolist() == ["no", "yes"]


def test_an_online_model_goes_on_where_it_was(tmp_path):
    half = sx.Perceptron().partial_fit(X[:60], y[:60], classes=["no", "yes"])
    sx.save(half, tmp_path / "half.skops")
    again = sx.load(tmp_path / "half.skops").partial_fit(X[60:], y[60:])
    whole = half.partial_fit(X[60:], y[60:])
    assert np.array_equal(again.coef_, whole.coef_)
    assert np.array_equal(again.mistake_counts_, whole.mistake_counts_)


def test_every_trusted_name_is_a_type_that_exists():
    for name in models.TRUSTED:
        module, _, kind = name.rpartition(".")
        assert isinstance(getattr(__import__(module, fromlist=[kind]), kind), type)


def classes_in(value, seen):
    """Every class of this package that can be reached from what a value keeps."""
    if id(value) in seen:
        return set()
    seen[id(value)] = value
    found = {type(value)} if type(value).__module__.split(".")[0] == "separatrix" else set()
    inside = list(value.values()) if isinstance(value, dict) else []
    inside += list(value) if isinstance(value, list | tuple | set) else []
    if hasattr(value, "__dict__") and not isinstance(value, type):
        inside.append(value.__getstate__())
    return found.union(*(classes_in(each, seen) for each in inside))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_class_that_a_fitted_model_holds_is_in_the_registry():
    models_to_search = [model.fit(X, y) for model in MODELS.values()]
    models_to_search.append(sx.KernelPerceptron(budget=3).fit(X, y))
    models_to_search.append(sx.Perceptron(order="cyclic").fit(SQUARE, [0, 0, 1, 1]))
    found = classes_in(models_to_search, {})
    assert {f"{kind.__module__}.{kind.__name__}" for kind in found} <= set(registry.TYPES.values())
    assert {sx.Perceptron, sx.Result, sx.kernels.Gaussian, sx.kernels.Product} <= found


def test_names_of_the_registry_are_stable_and_stand_for_one_class_each():
    assert all(re.fullmatch(r"separatrix/[A-Z][A-Za-z]+/[1-9][0-9]*", name) for name in registry.TYPES)
    assert all(name.split("/")[1] == home.rpartition(".")[2] for name, home in registry.TYPES.items())
    versions = {}
    for name, home in registry.TYPES.items():
        versions.setdefault(home, []).append(int(name.rpartition("/")[2]))
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in versions.values())
    assert len({name.split("/")[1] for name in registry.TYPES}) == len(versions)
    assert set(registry.RENAMED.values()) <= set(registry.TYPES)
    assert set(registry.RENAMED).isdisjoint(registry.TYPES)


def test_an_optimum_of_the_first_format_is_read(tmp_path):
    path = tmp_path / "model.skops"
    model = MODELS["max-margin"].fit(X, y)
    sx.save(model, path)
    old = path.read_bytes()

    def as_it_was(node):
        if node.get("__type__") == "separatrix/Status/1":
            node["__type__"] = "separatrix/Outcome/1"
        if node.get("__type__") == "separatrix/HardOptimum/2":
            node["__type__"] = "separatrix/HardOptimum/1"
            content = node["content"]["content"]
            content["outcome"] = content.pop("status")
            for name in ("history", "seconds"):
                content.pop(name)
        return node

    path.write_bytes(registry._rewritten(old, as_it_was))
    again = sx.load(path)
    assert again.optimum_.status is model.optimum_.status
    assert again.optimum_.bracket == model.optimum_.bracket


HISTORY = tuple(PassRecord(n, None if n % 3 else n, -np.inf, 1.5 / (n + 1)) for n in range(2000))


@pytest.mark.parametrize("fitted", ["perceptron", "kernel"])
def test_a_long_history_is_kept_in_a_short_file(fitted, tmp_path):
    model = MODELS[fitted].fit(X, y)
    sx.save(model, tmp_path / "short.skops")
    model.result_ = dataclasses.replace(model.result_, history=HISTORY)
    sx.save(model, tmp_path / "long.skops")
    assert sx.load(tmp_path / "long.skops").result_.history == HISTORY
    sizes = [(tmp_path / name).stat().st_size for name in ("long.skops", "short.skops")]
    assert sizes[0] - sizes[1] < 40 * len(HISTORY)  # four numbers a record


@pytest.mark.parametrize("fitted", ["perceptron", "kernel"])
def test_a_file_with_a_history_of_records_is_read(fitted, tmp_path, monkeypatch):
    model = MODELS[fitted].fit(X, y)
    model.result_ = dataclasses.replace(model.result_, history=HISTORY[:3])
    kind = type(model.result_)
    older = {name: home for name, home in registry.TYPES.items() if name != f"separatrix/{kind.__name__}/2"}
    with monkeypatch.context() as before:
        before.setattr(RunResult, "__getstate__", lambda self: vars(self))
        before.setattr(registry, "TYPES", older)
        sx.save(model, tmp_path / "old.skops")
    assert f"separatrix/{kind.__name__}/1" in schema_of((tmp_path / "old.skops").read_bytes())
    assert sx.load(tmp_path / "old.skops").result_.history == HISTORY[:3]


@pytest.mark.parametrize(
    ("model", "before"),
    [
        (sx.MaxMargin(), "free"),
        (sx.MaxMargin(fit_intercept="lifted"), "lifted"),
        (sx.SoftMargin(fit_intercept=False), None),
        (sx.LinearProgram(), "lifted"),
    ],
    ids=repr,
)
def test_a_file_in_which_the_intercept_has_its_old_name_is_read_without_a_warning(
    model, before, tmp_path, monkeypatch
):
    kind = type(model)
    model.fit(X, y)
    older = {name: home for name, home in registry.TYPES.items() if name != f"separatrix/{kind.__name__}/2"}

    def old_state(self):
        state = {name: value for name, value in vars(self).items() if name != "fit_intercept"}
        return state | {"intercept": before}

    with monkeypatch.context() as past:
        past.setattr(kind, "__getstate__", old_state)
        past.setattr(registry, "TYPES", older)
        sx.save(model, tmp_path / "old.skops")
    schema = schema_of((tmp_path / "old.skops").read_bytes())
    assert f"separatrix/{kind.__name__}/1" in schema
    assert '"fit_intercept"' not in schema
    again = sx.load(tmp_path / "old.skops")
    assert again.get_params() == model.get_params()
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    sx.save(again, tmp_path / "new.skops")
    assert sx.load(tmp_path / "new.skops").get_params() == model.get_params()


def schema_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read("schema.json").decode()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_module_path_of_ours_stands_in_a_file(name, tmp_path):
    sx.save(MODELS[name].fit(X, y), tmp_path / "model.skops")
    schema = schema_of((tmp_path / "model.skops").read_bytes())
    assert "separatrix." not in schema
    assert "separatrix/Perceptron/3" in schema or name not in ("perceptron", "pipeline")


def test_a_perceptron_of_the_first_version_has_the_default_stopping_rule(tmp_path):
    model = sx.Perceptron().fit(X, y)
    del model.n_iter_no_change  # which the first version did not have
    sx.save(model, tmp_path / "model.skops")
    data = (tmp_path / "model.skops").read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    older = schema_of(data).replace("separatrix/Perceptron/3", "separatrix/Perceptron/1")
    (tmp_path / "model.skops").write_bytes(zipped(members | {"schema.json": older}))
    loaded = sx.load(tmp_path / "model.skops")
    assert loaded.get_params()["n_iter_no_change"] == sx.Perceptron().n_iter_no_change
    assert np.array_equal(loaded.fit(X, y).coef_, model.coef_)


def test_what_looks_like_a_type_in_a_users_dictionary_stays_what_it_is(tmp_path):
    columns = {
        "__type__": "separatrix/Perceptron/3",
        "__module__": "separatrix.result",
        "__class__": "Status",
    }
    models.save(sx.Perceptron().fit(X, y), tmp_path / "model.skops", columns=columns)
    assert models.read(tmp_path / "model.skops").columns == columns


@pytest.mark.parametrize(
    "other",
    [
        '"__type__": "separatrix/Perceptron/4"',
        '"__type__": "separatrix/perceptron/1"',
        '"__type__": "separatrix/../Perceptron/3"',
        '"__type__": "separatrix.estimators.linear.Perceptron"',
        '"__type__": "builtins/eval/1"',
        '"__type__": "separatrix/Perceptron/3", "__module__": "os", "__class__": "system"',
        '"__type__": "separatrix/Perceptron/3", "__class__": "MaxMargin"',
        '"__module__": "separatrix.estimators.linear", "__class__": "Perceptron"',
        '"__module__": "separatrix", "__class__": "Perceptron"',
    ],
)
def test_a_name_that_is_not_in_the_registry_is_refused_and_nothing_is_imported(other, tmp_path, monkeypatch):
    sx.save(sx.Perceptron().fit(X, y), tmp_path / "whole.skops")
    data = (tmp_path / "whole.skops").read_bytes()
    schema = schema_of(data)
    assert schema.count('"__type__": "separatrix/Perceptron/3"') == 1
    members = {"schema.json": schema.replace('"__type__": "separatrix/Perceptron/3"', other)}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members |= {name: archive.read(name) for name in archive.namelist() if name != "schema.json"}
    monkeypatch.setattr(skops.io, "loads", lambda *_, **__: pytest.fail("the file was opened"))
    refused(tmp_path, zipped(members), "not one of this release|by its module")


def test_a_file_that_names_types_by_module_is_refused_with_advice(tmp_path):
    refused(
        tmp_path, skops.io.dumps(envelope(sx.Perceptron().fit(X, y))), "development version, fit and save"
    )


def test_columns_and_versions_are_kept(tmp_path):
    path = tmp_path / "model.skops"
    models.save(MODELS["soft-margin"].fit(X, y), path, columns={"features": ["a"], "levels": {"b": ["x"]}})
    saved = models.read(path)
    assert saved.columns == {"features": ["a"], "levels": {"b": ["x"]}}
    assert (saved.version, saved.release) == (models.VERSION, sx.__version__)


class Hostile:
    """Would write a file if anything of it were called."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return pathlib.Path.touch, (self.mark,)

    def __setstate__(self, state):
        pathlib.Path(state["mark"]).touch()


def envelope(model, **others):
    return {
        "format": models.FORMAT,
        "version": models.VERSION,
        "release": "0",
        "columns": None,
        "model": model,
    } | others


def written(fields):
    """A file as sx.save would write it, if it did not look at what it writes."""
    return registry.named(skops.io.dumps(fields))


def refused(tmp_path, data, match):
    path = tmp_path / "model.skops"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=match) as problem:
        sx.load(path)
    assert "model.skops" in str(problem.value)


def test_a_foreign_type_is_refused_and_never_touched(tmp_path):
    model = sx.Perceptron().fit(X, y)
    model.extra_ = Hostile(str(tmp_path / "mark"))
    refused(tmp_path, written(envelope(model)), "not trusted: .*Hostile")
    assert not (tmp_path / "mark").exists()
    with pytest.raises(ModelFileError, match="Hostile"):
        sx.save(model, tmp_path / "other.skops")
    assert not (tmp_path / "other.skops").exists()


def test_a_function_in_a_pipeline_is_refused(tmp_path):
    model = make_pipeline(FunctionTransformer(pathlib.Path), sx.SoftMargin())
    refused(tmp_path, written(envelope(model)), "pathlib")
    with pytest.raises(ModelFileError, match="pathlib"):
        sx.save(model, tmp_path / "other.skops")


def test_a_pickle_is_refused(tmp_path):
    import pickle

    refused(tmp_path, pickle.dumps(Hostile(tmp_path / "mark")), "not a model file")
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(share, tmp_path):
    sx.save(MODELS["max-margin"].fit(X, y), tmp_path / "whole.skops")
    data = (tmp_path / "whole.skops").read_bytes()
    refused(tmp_path, data[: int(share * len(data))], "not a model file, or only a part")


def test_a_flipped_byte_is_found(tmp_path):
    sx.save(MODELS["max-margin"].fit(X, y), tmp_path / "whole.skops")
    data = bytearray((tmp_path / "whole.skops").read_bytes())
    data[200] ^= 1
    refused(tmp_path, bytes(data), "checksum|part of one")


def zipped(members, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_zip_bombs_are_refused_before_they_expand(tmp_path, monkeypatch):
    zeros = bytes(5_000_000)
    refused(tmp_path, zipped({"schema.json": zeros}, zipfile.ZIP_DEFLATED), "would expand to 5,000,")
    monkeypatch.setattr(models, "UNFOLDED_BYTES", 1_000_000)
    nested = zipped({"data.npy": zeros}, zipfile.ZIP_DEFLATED)
    refused(tmp_path, zipped({"schema.json": "{}", "1.npz": nested}), "would expand to 5,000,")


def test_deep_or_senseless_schemas_are_refused(tmp_path):
    deep = '{"a":' * 100_000
    for schema in (deep, "[]", "{}", json.dumps({"protocol": 99}), '{"__loader__": "JsonNode"}', "\xff"):
        refused(tmp_path, zipped({"schema.json": schema}), "not a model file")
    refused(tmp_path, zipped({"other.json": "{}"}), "not a model file")


def test_other_formats_and_versions_are_named(tmp_path):
    refused(tmp_path, skops.io.dumps(LogisticRegression()), "not one of separatrix")
    refused(tmp_path, written(envelope(sx.Perceptron(), version=2, release="9.9")), "version 2, .*9.9")
    refused(tmp_path, skops.io.dumps(envelope([1, 2])), "holds no model, but list")
    refused(
        tmp_path,
        skops.io.dumps(envelope(sx.Perceptron()), compression=zipfile.ZIP_DEFLATED),
        "expand|compressed",
    )


def test_what_is_no_estimator_is_not_saved(tmp_path):
    with pytest.raises(TypeError, match="needs an estimator"):
        sx.save({"a": 1}, tmp_path / "model.skops")
    with pytest.raises(OutputError, match="directory"):
        sx.save(sx.Perceptron(), tmp_path / "none" / "model.skops")
    with pytest.raises(FileNotFoundError):
        sx.load(tmp_path / "none.skops")
