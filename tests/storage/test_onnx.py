"""An exported graph decides as the model does."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PolynomialFeatures, StandardScaler

import separatrix as sx
from separatrix.storage import onnx as sx_onnx


def run(model, X, dtype="float64"):
    session = ort.InferenceSession(sx_onnx.to_onnx(model, dtype=dtype).SerializeToString())
    return session.run(["label", "scores"], {"X": X.astype(dtype)})


def problem(n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 5)) * [1, 10, 0.1, 3, 1] + [0, 5, 0, -2, 1]
    return X, (X @ rng.normal(size=(5, n_classes))).argmax(axis=1)


MODELS = [
    sx.Perceptron(),
    sx.Perceptron(fit_intercept=False, max_iter=20),
    sx.Perceptron(average="averaged", max_iter=20, random_state=0),
    sx.MaxMargin(inseparable="warn"),
    sx.SoftMargin(),
    sx.LinearProgram(inseparable="warn"),
    make_pipeline(StandardScaler(), sx.SoftMargin()),
    make_pipeline(StandardScaler(with_mean=False), MinMaxScaler((-1, 1)), sx.SoftMargin()),
    make_pipeline(MaxAbsScaler(), "passthrough", StandardScaler(with_std=False), sx.SoftMargin()),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model", MODELS, ids=lambda m: "-".join(type(s).__name__ for s in getattr(m, "steps", [m]))
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_graph_gives_the_models_scores_and_labels(model, n_classes, dtype):
    X, y = problem(n_classes)
    X = X.astype(dtype)
    model.fit(X, y)
    label, scores = run(model, X, dtype)
    expected = model.decision_function(X)
    assert scores.shape == expected.shape
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    np.testing.assert_array_equal(label, model.predict(X))


KERNELS = [
    sx.kernels.Linear(),
    sx.kernels.Polynomial(degree=3),
    sx.kernels.Gaussian(c=0.7),
    sx.kernels.Geometric(degree=4),
    sx.kernels.Monomial(degree=3),
    2 * sx.kernels.Polynomial(degree=2) + sx.kernels.Gaussian(c=0.5) * sx.kernels.Linear(),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_kernel_models_decide_alike(kernel, n_classes):
    X, y = problem(n_classes)
    X = X / np.abs(X).max(axis=0)
    models = [
        sx.KernelPerceptron(kernel=kernel, max_iter=5),
        sx.KernelPerceptron(kernel=kernel, max_iter=5, average="averaged", fit_intercept=False),
        sx.KernelPerceptron(kernel=kernel, max_iter=2, budget=30),
        sx.MaxMargin(kernel=kernel, inseparable="warn", gap=1e-3),
    ]
    for model in models:
        model.fit(X, y)
        label, scores = run(model, X)
        expected = model.decision_function(X)
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
        np.testing.assert_array_equal(label, model.predict(X))


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1], [1.0, 2.0], [3, 200]])
def test_labels_keep_their_type(labels):
    X, y = problem(2)
    y = np.array(labels)[y]
    model = sx.SoftMargin().fit(X, y)
    label, _ = run(model, X)
    assert label.tolist() == model.predict(X).tolist()


def test_feature_names_are_in_the_file():
    import pandas as pd

    X, y = problem(2)
    model = sx.SoftMargin().fit(pd.DataFrame(X, columns=list("abcde")), y)
    properties = {p.key: p.value for p in sx_onnx.to_onnx(model).metadata_props}
    assert properties["feature_names"].split("\n") == list("abcde")


def test_what_has_no_formula_is_refused():
    X, y = problem(2)
    with pytest.raises(TypeError, match="voted"):
        sx_onnx.to_onnx(sx.Perceptron(average="voted", max_iter=5000, random_state=0).fit(X, y))
    with pytest.raises(TypeError, match="PolynomialFeatures"):
        sx_onnx.to_onnx(make_pipeline(PolynomialFeatures(), sx.SoftMargin()).fit(X, y))
    with pytest.raises(TypeError, match="skl2onnx"):
        sx_onnx.to_onnx(StandardScaler().fit(X))
    with pytest.raises(ValueError, match="dtype"):
        sx_onnx.to_onnx(sx.SoftMargin().fit(X, y), dtype="float16")


class Cubic(sx.kernels.Kernel):
    """A kernel of a user's own that states its formula and nothing else."""

    def __str__(self):
        return "<x, x'>^3"

    def formula(self, values, left, right):
        values **= 3


def cubic(X, Y):
    return (X @ Y.T) ** 3


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "kernel", [Cubic(), 2 * Cubic() + sx.kernels.Linear(), cubic, sx.kernels.as_kernel(cubic)]
)
def test_a_kernel_that_states_no_graph_cannot_be_exported_and_the_error_says_so(kernel):
    X, y = problem(2)
    model = sx.KernelPerceptron(kernel, max_iter=2).fit(X[:40] / 10, y[:40])
    with pytest.raises(TypeError, match=r"The kernel (Cubic|Custom) cannot be exported to ONNX"):
        sx_onnx.to_onnx(model)


def test_a_failed_export_leaves_the_old_file(tmp_path):
    X, y = problem(2)
    path = tmp_path / "model.onnx"
    sx.export_onnx(sx.SoftMargin().fit(X, y), path)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        sx.export_onnx(StandardScaler().fit(X), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
