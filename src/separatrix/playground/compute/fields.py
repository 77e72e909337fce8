"""The kernel perceptron as the page sees it: its updates, and its scores over the rectangle shown."""

from __future__ import annotations

import base64
import warnings
from typing import Any

import numpy as np

from ...errors import SeparatrixError
from ...estimators.margin import MaxMargin
from ...result import Floats, Ints, KernelTrace
from ...rows.class_leads import leads
from ...views.model import Model, Plane, Points, plane_scores
from ..api import limits
from ..api.answers import Field, ProofAnswer, Updates
from ..api.requests import Rectangle

CHUNK = 1 << 20  # kernel values that are held at a time
STATES = 1 << 23  # coefficients, of all steps together, up to which every step is worked out
BEST_ROWS = 400  # points up to which the largest margin is found for a bound
SENT = 1 << 21  # the same, up to which the page gets them


def kernel_updates(estimator: Any, points: Points) -> Updates:
    """Every update, and what the weights after it prove in feature space."""
    trace: KernelTrace = estimator.result_.trace
    if not stepwise(estimator, points):
        nothing = np.full(len(trace.rows) + 1, np.nan)
        return Updates(
            rows=trace.rows,
            rivals=trace.rivals,
            scores=trace.scores,
            weights=None,
            planes=None,
            squares=nothing,
            progress=None,
            lowest=nothing,
            lower=nothing,
            upper=nothing,
            errors=None,
        )
    squares, lowest, errors = _replay(estimator, points)
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = np.where(squares > 0.0, lowest / np.sqrt(squares), -np.inf)
        made = np.arange(len(squares)) * (0.5 if points.classes.size > 2 else 1.0)
        upper = np.where(made > 0.0, np.sqrt(squares) / made, np.inf)
    if trace.coef is not None:
        upper = np.full(len(squares), np.inf)  # shrunk or projected weights are no sum of whole updates
    return Updates(
        rows=trace.rows,
        rivals=trace.rivals,
        scores=trace.scores,
        weights=None,
        planes=None,
        squares=squares,
        progress=None,
        lowest=lowest,
        lower=np.maximum.accumulate(lower),
        upper=np.minimum.accumulate(upper),
        errors=errors,
    )


def stepwise(estimator: Any, points: Points, most: int = STATES) -> bool:
    """Whether the coefficients of every step are few enough to be worked out."""
    trace: KernelTrace = estimator.result_.trace
    ever = trace.rows if trace.support is None else trace.support[trace.support >= 0]
    return (len(trace.rows) + 1) * np.unique(ever).size * points.classes.size <= most


def kernel_proof(estimator: Any, points: Points, updates: Updates) -> tuple[ProofAnswer, Floats | None]:
    """Novikoff's bound in feature space, and the weights' progress towards the best separator there.

    The margin is the largest one where few enough points are separated for that to be found soon, else that
    of the run's own weights. On a budget, weights are no sum of updates, and nothing is claimed.
    """
    result, many = estimator.result_, points.classes.size > 2
    if estimator.budget is not None:
        return ProofAnswer(None, "", None, None, 0.0, ()), None
    radius = float(result.radius) * (0.5**0.5 if many else 1.0)
    best = _best(estimator, points) if result.separated else None
    margin = result.margin_lower if best is None else best.margin_lower_
    if not margin > 0.0:
        return ProofAnswer(None, "", radius, None, 0.0, ()), None
    value = (2.0 if many else 1.0) * (result.radius / margin) ** 2
    bound = {
        "name": "Novikoff",
        "value": value,
        "formula": "2 (R / margin)^2" if many else "(R / margin)^2",
        "note": "at the largest margin" if best is not None else "at the margin of the run's own weights",
        "tightness": result.mistakes / value,
    }
    told = None if best is None else margin / (2.0 if many else 1.0)
    progress = None if best is None or updates.errors is None else _progress(estimator, points, best)
    return ProofAnswer(value, "Novikoff", radius, told, 0.0, (bound,)), progress


def _best(estimator: Any, points: Points) -> Any:
    """The largest margin in feature space, fitted; None where it would take long or is not found."""
    if len(points.codes) > BEST_ROWS:
        return None
    lifted = "lifted" if estimator.fit_intercept else False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            best = MaxMargin(kernel=estimator.kernel, fit_intercept=lifted).fit(points.X, points.codes)
        except SeparatrixError:
            return None
    return best if best.margin_lower_ > 0.0 else None


def _progress(estimator: Any, points: Points, best: Any) -> Floats:
    """The inner product of the weights after each update with the best separator of length one."""
    states, support = _states(estimator, points)
    table = points.table
    coef, constant = best.dual_coef_.T, best.intercept_ * float(estimator.fit_intercept)
    across = np.asarray(estimator.kernel.block(table[support], table[best.support_])) @ coef + constant
    own = np.asarray(estimator.kernel.block(table[best.support_], table[best.support_]))
    length = np.sqrt(np.einsum("ic,ij,jc->", coef, own, coef) + constant @ constant)
    return np.asarray(np.einsum("tsc,sc->t", states, across) / length)


def kernel_scores(estimator: Any, points: Points, rows: Ints, made: Ints) -> Floats:
    """The score of each row looked at, after so many updates."""
    states, support = _states(estimator, points)
    gram = _similarity(estimator, points.table, points.table[support])
    found = np.empty(len(rows))
    step = max(1, CHUNK // max(1, states.shape[1] * states.shape[2]))
    for first in range(0, len(rows), step):
        part = slice(first, first + step)
        outputs = np.einsum("vs,vsc->vc", gram[rows[part]], states[made[part]])
        found[part] = leads(outputs, points.codes[rows[part]])
    return found


def field_of(
    estimator: Any, model: Model, points: Points, plane: Plane, box: Rectangle, *, steps: bool = True
) -> Field:
    """The scores over the rectangle: of the model, and for a kernel of every step on the way to it."""
    states, support = None, np.zeros(0, dtype=np.int64)
    if steps and hasattr(estimator, "support_") and stepwise(estimator, points, SENT):
        states, support = _states(estimator, points)
    most = limits.GRID if steps else limits.LIVE_GRID
    size = min(most, max(16, int((limits.FIELD / max(1, len(support))) ** 0.5)))
    xs, ys = np.linspace(box.left, box.right, size), np.linspace(box.bottom, box.top, size)
    cells = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    final = plane_scores(model, plane, points, cells).T
    columns, changes = np.zeros((0, size * size)), None
    if states is not None and len(support):
        columns = _similarity(estimator, plane.lift(cells), points.table[support]).T
        changes = states
    return Field(
        size=size,
        box=(box.left, box.right, box.bottom, box.top),
        support=support,
        columns=_packed(columns),
        coefficients=None if changes is None else _packed(changes),
        final=_packed(final),
    )


def corners(box: Rectangle) -> Floats:
    """The four corners of the rectangle."""
    return np.array([[x, y] for x in (box.left, box.right) for y in (box.bottom, box.top)])


def _packed(values: Floats) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def _similarity(estimator: Any, left: Floats, right: Floats) -> Floats:
    if not len(right):
        return np.zeros((len(left), 0))
    values = np.asarray(estimator.kernel.block(left, right), dtype=np.float64)
    return values + float(estimator.fit_intercept)


def _states(estimator: Any, points: Points) -> tuple[Floats, Ints]:
    """The coefficients of the support after each update, the start first: (updates + 1, support, columns)."""
    trace: KernelTrace = estimator.result_.trace
    columns = 1 if points.classes.size == 2 else points.classes.size
    if trace.support is not None and trace.coef is not None:
        ever = np.unique(trace.support)
        support = ever[ever >= 0]
        states = np.zeros((len(trace.rows) + 1, len(support), columns))
        step, slot = np.nonzero(trace.support >= 0)
        places = np.searchsorted(support, trace.support[step, slot])
        np.add.at(states, (step + 1, places), trace.coef[step, slot])
        return states, support
    support, places = np.unique(trace.rows, return_inverse=True)
    changes = np.zeros((len(trace.rows) + 1, len(support), columns))
    every, own = np.arange(1, len(trace.rows) + 1), points.codes[trace.rows]
    if columns == 1:
        changes[every, places, 0] = 2.0 * own - 1.0
    else:
        changes[every, places, own] += 0.5
        changes[every, places, trace.rivals] -= 0.5
    return np.cumsum(changes, axis=0, out=changes), support


def _replay(estimator: Any, points: Points) -> tuple[Floats, Floats, Ints]:
    """The squared length of the weights after each update, the smallest score, and the rows not right."""
    states, support = _states(estimator, points)
    gram = _similarity(estimator, points.table, points.table[support])
    inner = gram[support]
    total = len(states)
    squares, lowest, errors = np.zeros(total), np.zeros(total), np.zeros(total, dtype=np.int64)
    step = max(1, CHUNK // max(1, len(points.codes) * states.shape[2]))
    for first in range(0, total, step):
        part = states[first : first + step]
        squares[first : first + step] = np.einsum("tsc,sr,trc->t", part, inner, part, optimize=True)
        outputs = np.einsum("ns,tsc->tnc", gram, part, optimize=True)
        codes = np.broadcast_to(points.codes, outputs.shape[:2])
        scores = leads(outputs.reshape(-1, part.shape[2]), codes.ravel()).reshape(codes.shape)
        lowest[first : first + step] = scores.min(axis=1)
        errors[first : first + step] = (scores <= 0.0).sum(axis=1)
    return np.maximum(squares, 0.0), lowest, errors
