"""Points and settings in, a run with every step out: all mathematics is the library's."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ...bounds import mistake_bounds
from ...deadline import Deadline
from ...errors import LabelError, NotSeparable
from ...margins.hard.max_margin import solve_max_margin
from ...proofs.verdict import separability
from ...result import Floats, Ints, Trace
from ...rows.class_leads import leads
from ...rows.memory import as_rows
from ...views.model import Plane, Points, plane_for, plane_weights, read_model
from ..api import limits
from ..api.answers import ModelAnswer, ProofAnswer, RunAnswer, Updates, ViewAnswer, Visits
from ..api.codec import RequestError
from ..api.requests import PointData, RunRequest, Settings
from . import fields
from .kernel_blocks import need_range
from .recipe import recipe_of, script

CHUNK = 1 << 20  # scores that are held at a time
BOUND_SECONDS = 2.0  # for the verdict and the margin behind a bound


def arrays(data: PointData) -> tuple[Floats, Ints]:
    """The points as a table, and the labels; refuse what is no table."""
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


def run(request: RunRequest) -> RunAnswer:
    """Learn from the points, and say every step."""
    began = time.perf_counter()
    X, y = arrays(request.data)
    settings = request.settings
    estimator = recipe_of(settings).estimator()
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
    names = request.data.columns
    points = Points(X, X, np.searchsorted(estimator.classes_, y), estimator.classes_, names)
    model = read_model(estimator, points)
    plane = plane_for(model, points, model.scores(X) if X.shape[1] > 2 and not model.linear else np.empty(0))
    updates, visits, proof = None, None, None
    if settings.method == "perceptron":
        updates = _updates(estimator, points, plane)
        if not request.live:
            visits = _visits(estimator, points, settings)
            proof, progress = _proof(estimator, points, settings, updates.weights)
            updates = replace(updates, progress=progress)
    elif settings.method == "kernel":
        updates = fields.kernel_updates(estimator, points)
        if not request.live:
            visits = _visits(estimator, points, settings, kernel=True)
            proof, progress = fields.kernel_proof(estimator, points, updates)
            updates = replace(updates, progress=progress)
    field = None
    if not model.linear and request.box is not None:
        if settings.method == "kernel":
            need_range(estimator.kernel, plane.lift(fields.corners(request.box)))
        field = fields.field_of(estimator, model, points, plane, request.box, steps=not request.live)
    return RunAnswer(
        **_ending(estimator, points, model),
        classes=estimator.classes_,
        lifted=settings.lift,
        radius=_radius(X, settings),
        view=ViewAnswer(
            labels=plane.labels,
            places=plane.place(X),
            flat=X.shape[1] == 2,
            exact=plane.exact,
            directions=plane.directions,
            rest=plane.rest,
        ),
        model=_model(estimator, model, plane, points, settings),
        updates=updates,
        visits=visits,
        proof=proof,
        field=field,
        counts=_counts(estimator, points),
        seconds=time.perf_counter() - began,
        code="" if request.live else script(request.data, settings),
    )


def _ending(estimator: Any, points: Points, model: Any) -> dict[str, Any]:
    result = getattr(estimator, "result_", None)
    if result is not None:
        return {
            "status": result.status.name.lower(),
            "sentence": result.status.problem,
            "converged": bool(estimator.converged_),
            "mistakes": int(estimator.mistakes_),
            "kept": int(result.kept_mistakes),
            "errors": result.errors,
            "passes": int(result.passes),
        }
    wrong = int((estimator.predict(points.X) != points.classes[points.codes]).sum())
    done = bool(estimator.converged_)
    optimum = getattr(estimator, "optimum_", None)
    return {
        "status": "solved" if done else "unfinished",
        "sentence": "Solved." if optimum is None else optimum.outcome.value,
        "converged": done,
        "mistakes": 0,
        "kept": 0,
        "errors": wrong,
        "passes": int(estimator.n_iter_),
    }


def _radius(X: Floats, settings: Settings) -> float:
    """The largest length of a row, lifted if it is."""
    return float(np.sqrt((X**2).sum(axis=1) + settings.lift).max())


def _counts(estimator: Any, points: Points) -> Any:
    """How often each row was corrected, or how much it carries."""
    if hasattr(estimator, "mistake_counts_"):
        return estimator.mistake_counts_
    carried = np.zeros(len(points.codes))
    carried[estimator.support_] = np.abs(estimator.dual_coef_).sum(axis=0)
    return carried


def _model(estimator: Any, model: Any, plane: Plane, points: Points, settings: Settings) -> ModelAnswer:
    planes = weights = None
    if model.linear:
        inside, offsets = plane_weights(model, plane)
        planes = np.column_stack([inside, offsets])
        weights = np.column_stack([model.weights, model.intercepts])
    margin = objective = (None, None)
    if settings.method == "max_margin":
        margin = (estimator.margin_lower_, estimator.margin_upper_)
    elif settings.method == "soft_margin":
        objective = (estimator.objective_, estimator.dual_objective_)
    elif settings.method == "linear_program":
        objective = (estimator.objective_, None)
    else:
        margin = (estimator.result_.margin_lower, estimator.result_.margin_upper)
    multipliers = None
    if hasattr(estimator, "dual_coef_") and settings.method != "kernel":
        multipliers = np.zeros((len(np.atleast_2d(estimator.dual_coef_)), len(points.codes)))
        multipliers[:, estimator.support_] = estimator.dual_coef_
    return ModelAnswer(
        planes=planes,
        weights=weights,
        multipliers=multipliers,
        margin=margin,
        objective=objective,
        predicted=np.searchsorted(points.classes, estimator.predict(points.X)),
        lowest=float(leads(model.scores(points.X), points.codes).min()) if model.linear else None,
        margin_planes=settings.method in ("max_margin", "soft_margin"),
    )


def _lifted(X: Floats, lift: bool) -> Floats:
    return np.column_stack([X, np.ones(len(X))]) if lift else X


def _updates(estimator: Any, points: Points, plane: Plane) -> Updates:
    """The trace of the library, and what each of its weights proves."""
    trace: Trace = estimator.result_.trace
    full = np.concatenate([trace.start[None], trace.weights])
    many = full.ndim == 3
    squares = (full.reshape(len(full), -1) ** 2).sum(axis=1)
    rows = _lifted(points.table, estimator.fit_intercept)
    lowest, errors = _lowest(full, rows, points.codes)
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = np.where(squares > 0.0, lowest / np.sqrt(squares), -np.inf)
        made = np.arange(len(full)) * estimator.eta0 / (2.0 if many else 1.0)
        upper = np.sqrt(squares) / made
    plain = not trace.start.any() and not estimator.renormalise
    upper = (
        np.minimum.accumulate(np.where(made > 0.0, upper, np.inf)) if plain else np.full(len(full), np.inf)
    )
    return Updates(
        rows=trace.rows,
        rivals=trace.rivals,
        scores=trace.scores,
        weights=full,
        planes=_planes(full, plane, points.table.shape[1]),
        squares=squares,
        progress=None,
        lowest=lowest,
        lower=np.maximum.accumulate(lower),
        upper=upper,
        errors=errors,
    )


def _lowest(full: Floats, rows: Floats, codes: Ints) -> tuple[Floats, Ints]:
    """The smallest score of any row under each weights, and how many are not positive."""
    lowest, errors = np.empty(len(full)), np.empty(len(full), dtype=np.int64)
    step = max(1, CHUNK // (len(rows) * max(1, full[0].size // rows.shape[1])))
    every = np.arange(len(rows))
    for first in range(0, len(full), step):
        part = full[first : first + step]
        if part.ndim == 2:
            scores = (part @ rows.T) * np.where(codes == 1, 1.0, -1.0)
        else:
            outputs = part @ rows.T  # (updates, classes, rows)
            own = outputs[:, codes, every].copy()
            outputs[:, codes, every] = -np.inf
            scores = own - outputs.max(axis=1)
        lowest[first : first + step] = scores.min(axis=1)
        errors[first : first + step] = (scores <= 0.0).sum(axis=1)
    return lowest, errors


def _planes(full: Floats, plane: Plane, columns: int) -> Floats:
    """For each weights and class, the score in the coordinates of the view."""
    if full.ndim == 2:
        full = np.stack([np.zeros_like(full), full], axis=1)
    own = full[:, :, :columns]
    constant = full[:, :, columns] if full.shape[2] > columns else np.zeros(full.shape[:2])
    inside = own @ plane.directions.T
    return np.concatenate([inside, (constant + own @ plane.rest)[:, :, None]], axis=2)


def _visits(estimator: Any, points: Points, settings: Settings, *, kernel: bool = False) -> Visits | None:
    """Every look at a row, where rows are visited in turn and not too many times."""
    result, n_rows = estimator.result_, len(points.codes)
    if result.order not in ("cyclic", "shuffled") or result.visits > limits.VISITS:
        return None
    if kernel and not fields.stepwise(estimator, points):
        return None
    total = int(result.visits)
    passes = -(-total // n_rows)
    if result.order == "cyclic":
        rows = np.tile(np.arange(n_rows), passes)[:total]
    else:
        chance = np.random.default_rng(settings.seed)
        if settings.start == "random" and not kernel:
            chance.standard_normal(result.trace.start.shape)
        rows = np.concatenate([chance.permutation(n_rows) for _ in range(passes)])[:total]
    moments = _moments(rows, result.trace.rows, n_rows)
    if moments is None:
        return None
    made = np.searchsorted(moments, np.arange(total), side="left")
    scores = (
        fields.kernel_scores(estimator, points, rows, made)
        if kernel
        else _scores_at(estimator, points, rows, made)
    )
    return Visits(rows=rows, scores=scores, updates=made)


def _moments(looked: Ints, corrected: Ints, n_rows: int) -> Ints | None:
    """The visit of each correction: the next look at that row. None if there is no such visit."""
    passes = -(-len(looked) // n_rows)
    places = np.full((passes, n_rows), np.iinfo(np.int64).max)
    places[np.arange(len(looked)) // n_rows, looked] = np.arange(len(looked))
    found = np.empty(len(corrected), dtype=np.int64)
    before, at = -1, 0
    for number, row in enumerate(corrected.tolist()):
        while at < passes and places[at, row] <= before:
            at += 1
        if at == passes or places[at, row] >= len(looked):
            return None
        found[number] = before = places[at, row]
    return found


def _scores_at(estimator: Any, points: Points, rows: Ints, made: Ints) -> Floats:
    """The score of each row looked at, under the weights of that moment."""
    trace: Trace = estimator.result_.trace
    full = np.concatenate([trace.start[None], trace.weights])
    lifted, codes = _lifted(points.table, estimator.fit_intercept)[rows], points.codes[rows]
    if full.ndim == 2:
        return np.asarray(np.einsum("vj,vj->v", full[made], lifted) * np.where(codes == 1, 1.0, -1.0))
    outputs = np.einsum("vcj,vj->vc", full[made], lifted)
    every = np.arange(len(rows))
    own = outputs[every, codes].copy()
    outputs[every, codes] = -np.inf
    return np.asarray(own - outputs.max(axis=1))


def _proof(
    estimator: Any, points: Points, settings: Settings, weights: Floats
) -> tuple[ProofAnswer, Floats | None]:
    """The bounds of the library, the two curves of Novikoff's proof, and the weights' progress towards u."""
    X, y = points.X, points.classes[points.codes]
    known: bool | None = True if estimator.converged_ else None
    if known is None:
        known = separability(
            X, y, quasi=False, fit_intercept=settings.lift, time_limit=BOUND_SECONDS
        ).separable
    many = points.classes.size > 2
    report = mistake_bounds(estimator, X, y, separable=known if known is not None else False)
    start = float(np.linalg.norm(estimator.result_.trace.start))
    finite = [bound for bound in report.bounds if math.isfinite(bound.value)]
    told = {bound.name: bound for bound in finite}
    best = told.get("Novikoff") or told.get("any start") or min(finite, key=lambda b: b.value, default=None)
    radius = margin = progress = None
    if not settings.renormalise:
        radius = settings.rate * report.radius / math.sqrt(2.0 if many else 1.0)
        if known and report.margin_lower > 0.0:
            margin = settings.rate * report.margin_lower / (2.0 if many else 1.0)
            progress = _progress(points, settings, weights)
    proof = ProofAnswer(
        bound=None if best is None else best.value,
        name="" if best is None else best.name,
        radius=radius,
        margin=margin,
        start=start,
        bounds=tuple(
            {"name": b.name, "value": b.value, "formula": b.formula, "note": b.note, "tightness": b.tightness}
            for b in report.bounds
        ),
    )
    return proof, progress


def _progress(points: Points, settings: Settings, full: Floats) -> Floats:
    """The inner product of each weights with the best separator of length one."""
    rows = as_rows(points.table, points.codes, n_classes=points.classes.size, lift=settings.lift)
    hard = solve_max_margin(rows, gap=1e-6, deadline=Deadline.after(BOUND_SECONDS))
    unit = hard.weights / np.linalg.norm(hard.weights)
    return np.asarray(full.reshape(len(full), -1) @ unit.ravel())
