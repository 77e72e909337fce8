"""Models as ONNX graphs, which run without Python: sx.export_onnx.

The graph is the formula of the decision function and nothing else: the affine scaling of a pipeline, the
kernel if there is one, a matrix product, and the choice of the class. It has one input ``X`` and two outputs,
``label`` and ``scores``, which are those of ``predict`` and ``decision_function``.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from ..atomic import write_bytes
from ..errors import InputError, InputTypeError, needs
from ..estimators.decision import Decision
from ..estimators.hyperplane import Hyperplane
from ..estimators.network import PerceptronNetwork
from ..random_state import random_state_kept
from ..sparse import dense

with random_state_kept():
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

OPSET = 17  # old enough for runtimes of 2022, new enough for all that is used here
IR_VERSION = 8  # the oldest that has this opset
DTYPES = ("float64", "float32")


def export_onnx(model: Any, path: str | PathLike[str], *, dtype: str = "float64") -> None:
    """Write a fitted model as an ONNX file.

    Parameters
    ----------
    model : estimator
        A linear or kernel model or a network of this library, or a pipeline of StandardScaler, MinMaxScaler
        or MaxAbsScaler before one. The voted perceptron has no such formula and is refused.
    path : str or path
    dtype : {"float64", "float32"}
        The type of the input and the arithmetic. With float32, rows very near the boundary may be classified
        differently.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import onnxruntime
    >>> import separatrix as sx
    >>> model = sx.Perceptron().fit([[0.0], [1.0], [3.0]], ["low", "low", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sx.export_onnx(model, pathlib.Path(folder) / "model.onnx")
    ...     session = onnxruntime.InferenceSession(pathlib.Path(folder) / "model.onnx")
    >>> session.run(["label"], {"X": [[2.9]]})[0]
    array(['high'], dtype=object)
    """
    write_bytes(path, to_onnx(model, dtype=dtype).SerializeToString())


def to_onnx(model: Any, *, dtype: str = "float64") -> Any:
    """Return the fitted model as an ``onnx.ModelProto``; see `export_onnx`."""
    if dtype not in DTYPES:
        raise InputError(
            f"The 'dtype' parameter of export_onnx must be one of {', '.join(DTYPES)}. Got {dtype!r} "
            "instead.",
            parameter="dtype",
        )
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    check_is_fitted(steps[-1])
    graph = _Graph(np.dtype(dtype))
    features = graph.input("X", steps[0].n_features_in_)
    for step in steps[:-1]:
        features = _scaled(graph, features, step)
    _choose(graph, _scores(graph, features, steps[-1]), steps[-1].classes_)
    return graph.model(getattr(model, "feature_names_in_", None))


class _Graph:
    """A graph under construction; each method returns the name of what it computes."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.onnx = _onnx()
        self.dtype = dtype
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.ends: list[Any] = []

    def input(self, name: str, width: int) -> str:
        self.start = self._end(name, self.dtype, width)
        return name

    def output(self, name: str, dtype: np.dtype[Any], width: int | None) -> None:
        self.ends.append(self._end(name, dtype, width))

    def _end(self, name: str, dtype: np.dtype[Any], width: int | None) -> Any:
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(dtype)
        shape: list[Any] = ["rows"] if width is None else ["rows", width]
        return self.onnx.helper.make_tensor_value_info(name, kind, shape)

    def number(self, values: Any) -> str:
        """Add constants in the type of the graph."""
        return self.constant(np.asarray(values, dtype=self.dtype))

    def constant(self, array: NDArray[Any]) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, kind: str, *inputs: str, name: str | None = None, **options: Any) -> str:
        name = name or f"v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [name], **options))
        return name

    def products(self, rows: str, anchors: NDArray[Any]) -> str:
        """Add the inner products of every row with every anchor."""
        return self.node("MatMul", rows, self.number(anchors.T))

    def model(self, feature_names: Any) -> Any:
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, "separatrix", [self.start], self.ends, self.constants)
        made = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="separatrix",
            producer_version=__version__,
        )
        if feature_names is not None:
            helper.set_model_props(made, {"feature_names": "\n".join(map(str, feature_names))})
        self.onnx.checker.check_model(made, full_check=True)
        return made


def _scaled(graph: _Graph, features: str, step: Any) -> str:
    """Add the nodes of an affine transformer, with the operations in scikit-learn's order."""
    if isinstance(step, StandardScaler):
        if step.with_mean:
            features = graph.node("Sub", features, graph.number(step.mean_))
        return graph.node("Div", features, graph.number(step.scale_)) if step.with_std else features
    if isinstance(step, MinMaxScaler) and not step.clip:
        features = graph.node("Mul", features, graph.number(step.scale_))
        return graph.node("Add", features, graph.number(step.min_))
    if isinstance(step, MaxAbsScaler) and not getattr(step, "clip", False):
        return graph.node("Div", features, graph.number(step.scale_))
    if step is None or step == "passthrough":
        return features
    raise InputTypeError(
        f"{type(step).__name__} cannot be exported to ONNX; StandardScaler, MinMaxScaler and MaxAbsScaler "
        "can. Export the last step of the pipeline alone, and transform the rows before they reach it."
    )


def _scores(graph: _Graph, features: str, model: Any) -> str:
    """Add the nodes of the decision function: a vector for two classes, one column per class for more."""
    if not isinstance(model, Decision):
        raise InputTypeError(
            f"{type(model).__name__} cannot be exported to ONNX; linear and kernel models of separatrix can. "
            "For models of scikit-learn use skl2onnx."
        )
    if getattr(model, "average", False) == "voted":
        raise InputTypeError(
            "The voted perceptron predicts by a vote of many weight vectors, which ONNX cannot express.",
            remedy="Fit with average='averaged', which is one weight vector.",
            parameter="average",
        )
    if isinstance(model, PerceptronNetwork):
        return _first_firing(graph, features, model)
    kernel = getattr(model, "kernel_", None)
    if kernel is None:
        return _affine(graph, features, model.coef_, model.intercept_)
    anchors = np.asarray(dense(model.support_vectors_), dtype=np.float64)
    values = kernel.onnx(graph, features, anchors)
    if isinstance(model, Hyperplane):
        return _affine(graph, values, model.dual_coef_, model.intercept_)
    if model.fit_intercept:
        values = graph.node("Add", values, graph.number(1.0))
    return _affine(graph, values, model.dual_coef_.T, np.zeros(model.dual_coef_.shape[1]))


def _first_firing(graph: _Graph, features: str, model: PerceptronNetwork) -> str:
    """Add the list of half-spaces: the scores of the first one that fires, or those of the default."""
    hidden, scores = model.float_units()
    sums = graph.node("MatMul", features, graph.number(hidden[:, :-1].T))
    fires = graph.node("Greater", graph.node("Add", sums, graph.number(hidden[:, -1])), graph.number(0.0))
    first = graph.node("ArgMax", graph.node("Cast", fires, to=1), axis=1, keepdims=0)
    return graph.node("Gather", graph.number(scores), first)


def _affine(graph: _Graph, features: str, coefficients: NDArray[Any], intercepts: NDArray[Any]) -> str:
    """Add ``features @ coefficients.T + intercepts``; a single column becomes a vector."""
    columns = graph.node("MatMul", features, graph.number(coefficients.T))
    scores = graph.node("Add", columns, graph.number(intercepts))
    if len(coefficients) > 1:
        return scores
    return graph.node("Squeeze", scores, graph.constant(np.array([1])))


def _choose(graph: _Graph, scores: str, classes: NDArray[Any]) -> None:
    """Add the two outputs: the scores, and the label with the highest score."""
    two = len(classes) == 2
    if two:
        positive = graph.node("Greater", scores, graph.number(0.0))
        chosen = graph.node("Cast", positive, to=graph.onnx.TensorProto.INT64)
    else:
        chosen = graph.node("ArgMax", scores, axis=1, keepdims=0)
    labels = _labels(classes)
    graph.node("Gather", graph.constant(labels), chosen, name="label")
    graph.output("label", labels.dtype, None)
    graph.node("Identity", scores, name="scores")
    graph.output("scores", graph.dtype, None if two else len(classes))


def _labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Return the classes in a type that ONNX has: text, integers, booleans or floats."""
    if classes.dtype.kind in "iu":
        return classes.astype(np.int64)
    if classes.dtype.kind in "bf":
        return classes
    return np.array([str(label) for label in classes], dtype=object)


def _onnx() -> Any:
    with needs("export_onnx", extra="onnx"):
        import onnx
    return onnx
