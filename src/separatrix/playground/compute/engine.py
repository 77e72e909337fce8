"""Learn from the points of a request, and report the run; the library does all the mathematics."""

from __future__ import annotations

import base64
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import LabelError, NotSeparable
from ...result import Floats, Ints
from ...rows.numpy_loops import signed_scores
from ...views.model import Model, Plane, Points, plane_for, plane_scores, plane_weights, read_model
from ..api.answers import Field, ModelAnswer, RunAnswer, ViewAnswer
from ..api.limits import LIMITS
from ..api.requests import PointData, RequestError, RunRequest, Settings
from .kernel_blocks import need_range
from .methods import STEPWISE, estimator_of
from .steps import Steps, proof_of, similarity, steps_of, updates_of, visits_of


def arrays(data: PointData) -> tuple[Floats, Ints]:
    """Return the points as an array, and their labels; refuse data that are not a table of two classes."""
    if len(data.rows) != len(data.labels):
        raise RequestError(
            "labels", f"There are {len(data.rows)} points and {len(data.labels)} labels; one each is needed."
        )
    if any(len(row) != len(data.columns) for row in data.rows):
        raise RequestError(
            "ragged", f"Every point needs {len(data.columns)} coordinates, one for each column."
        )
    if any(label >= len(data.classes) for label in data.labels):
        raise RequestError("labels", f"Labels are counted from 0 to {len(data.classes) - 1}.")
    X = np.array(data.rows, dtype=np.float64).reshape(len(data.rows), len(data.columns))
    y = np.array(data.labels, dtype=np.int64)
    if np.unique(y).size < 2:
        raise RequestError("one_class", "Add points of a second class: two are needed to separate anything.")
    return X, y


def fitted(data: PointData, settings: Settings) -> tuple[Any, Points]:
    """Fit the model of the settings to the points; a request that it cannot fit is refused."""
    X, y = arrays(data)
    estimator = estimator_of(settings)
    if settings.method == "kernel":
        need_range(estimator.kernel, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how the run ended is part of the answer
        try:
            estimator.fit(X, y)
        except NotSeparable as problem:
            raise RequestError("not_separable", problem.problem) from None
        except LabelError as problem:
            raise RequestError("one_class", problem.problem) from None
    codes = np.searchsorted(estimator.classes_, y)
    return estimator, Points(X, X, codes, estimator.classes_, data.columns)


def run(request: RunRequest) -> RunAnswer:
    """Learn from the points, and report every step."""
    settings = request.settings
    estimator, points = fitted(request.data, settings)
    X, model = points.X, read_model(estimator, points)
    plane = plane_for(model, points, model.scores(X) if X.shape[1] > 2 and not model.linear else np.empty(0))
    steps = updates = visits = proof = field = None
    if settings.method in STEPWISE:
        steps = steps_of(estimator, points)
        updates = updates_of(estimator, points, plane, steps)
        if not request.live:
            visits = visits_of(estimator, points, settings, steps)
            proof, progress = proof_of(estimator, points, steps)
            updates = replace(updates, progress=progress)
    if not model.linear and request.box is not None:
        field = _field(estimator, model, points, plane, request, steps)
    answer = _model(estimator, model, plane, points, settings)
    return RunAnswer(
        **_ending(estimator, settings, answer.predicted != points.codes),
        converged=bool(estimator.converged_),
        classes=estimator.classes_,
        lifted=settings.lift,
        view=ViewAnswer(plane.labels, plane.place(X), flat=X.shape[1] == 2, exact=plane.exact),
        model=answer,
        updates=updates,
        visits=visits,
        proof=proof,
        field=field,
        counts=_counts(estimator, points),
    )


def _ending(estimator: Any, settings: Settings, wrong: Any) -> dict[str, Any]:
    if settings.method not in STEPWISE:
        status = "solved" if estimator.converged_ else "unfinished"
        return {"status": status, "mistakes": 0, "errors": int(wrong.sum())}
    return {
        "status": estimator.result_.status.name.lower(),
        "mistakes": int(estimator.mistakes_),
        "errors": estimator.result_.errors,
    }


def _counts(estimator: Any, points: Points) -> Floats:
    """Return how often each row was corrected, or the size of its multiplier."""
    if hasattr(estimator, "mistake_counts_"):
        return np.asarray(estimator.mistake_counts_)
    carried = np.zeros(len(points.codes))
    carried[estimator.support_] = np.abs(estimator.dual_coef_).sum(axis=0)
    return carried


def _model(estimator: Any, model: Model, plane: Plane, points: Points, settings: Settings) -> ModelAnswer:
    planes = weights = lowest = None
    if model.weights is not None and model.intercepts is not None:
        planes = np.column_stack(plane_weights(model, plane))
        weights = np.column_stack([model.weights, model.intercepts])
        lowest = float(signed_scores(model.scores(points.X), points.codes).min())
    margin: tuple[float | None, float | None] = (None, None)
    if settings.method in STEPWISE:
        margin = (estimator.result_.margin_lower, estimator.result_.margin_upper)
    elif settings.method == "max_margin":
        margin = (estimator.margin_lower_, estimator.margin_upper_)
    return ModelAnswer(
        planes=planes,
        weights=weights,
        margin=margin,
        objective=(getattr(estimator, "objective_", None), getattr(estimator, "dual_objective_", None)),
        predicted=np.searchsorted(points.classes, estimator.predict(points.X)),
        lowest=lowest,
        margin_planes=settings.method in ("max_margin", "soft_margin"),
    )


def _field(
    estimator: Any, model: Model, points: Points, plane: Plane, request: RunRequest, steps: Steps | None
) -> Field:
    """Compute the scores over the rectangle: of the model, and with a kernel what every step needs."""
    box = request.box
    assert box is not None
    if request.settings.method == "kernel":
        corners = np.array([[x, y] for x in (box.left, box.right) for y in (box.bottom, box.top)])
        need_range(estimator.kernel, plane.lift(corners))
    stepwise = not request.live and steps is not None and steps.gram is not None
    support = steps.support if steps is not None and stepwise else np.zeros(0, dtype=np.int64)
    size = min(LIMITS.grid, max(16, int((LIMITS.field / max(1, len(support))) ** 0.5)))
    xs, ys = np.linspace(box.left, box.right, size), np.linspace(box.bottom, box.top, size)
    cells = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    return Field(
        size=size,
        box=(box.left, box.right, box.bottom, box.top),
        support=support,
        columns=_packed(
            similarity(estimator, plane.lift(cells), points.table[support]).T if stepwise else xs[:0]
        ),
        coefficients=_packed(steps.states) if steps is not None and len(support) else None,
        final=_packed(plane_scores(model, plane, points, cells).T),
    )


def _packed(values: Floats) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")
