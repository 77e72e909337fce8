"""Replay a perceptron run step by step; the mathematics behind `engine`, which assembles the answer.

After each update the weights are a linear combination of a few vectors: the coordinate vectors for a linear
model, the rows of the support in feature space for a kernel. Everything below is computed from the
coefficients and from the inner products of the rows with these vectors.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...bounds.bound_report import LengthBounds
from ...bounds.mistakes import mistake_bounds
from ...errors import SeparatrixError
from ...estimators.margin import MaxMargin
from ...kernels.base import BLOCK_VALUES
from ...proofs.verdict import separability
from ...result import Floats, Ints, KernelTrace, Trace
from ...rows.numpy_loops import signed_scores
from ...views.model import Plane, Points, traced_weights
from ..api.answers import Updates, Visits
from ..api.limits import LIMITS
from ..api.requests import Settings


@dataclass(frozen=True)
class Steps:
    """The weights of a run before the first update and after each one.

    Attributes
    ----------
    states : ndarray of shape (updates + 1, basis, classes, or 1 for two)
        The coefficients of the weights.
    features : ndarray of shape (rows, basis)
        The inner product of each row with each vector of the basis.
    gram : ndarray of shape (basis, basis) or None
        The inner products of the basis; None if it is orthonormal.
    support : ndarray of shape (basis,)
        With a kernel, the rows that are the basis.
    """

    states: Floats
    features: Floats
    gram: Floats | None
    support: Ints

    def squares(self, part: slice) -> Floats:
        """Return the squared lengths of the weights."""
        states = self.states[part]
        if self.gram is None:
            return np.asarray(np.einsum("tsc,tsc->t", states, states))
        lengths = np.einsum("tsc,sr,trc->t", states, self.gram, states, optimize=True)
        return np.asarray(np.maximum(lengths, 0.0))


def steps_of(estimator: Any, points: Points) -> Steps | None:
    """Return the steps of a run; None if a kernel has more of them than fit into memory."""
    trace, table = estimator.result_.trace, points.table
    nothing = np.zeros(0, dtype=np.int64)
    if not hasattr(estimator, "kernel"):
        full = np.concatenate([trace.start[None], trace.weights])
        states = full[:, :, None] if full.ndim == 2 else full.transpose(0, 2, 1)
        rows = np.column_stack([table, np.ones(len(table))]) if estimator.fit_intercept else table
        return Steps(states, rows, None, nothing)
    ever = np.unique(trace.rows if trace.support is None else trace.support[trace.support >= 0])
    if (len(trace.rows) + 1) * ever.size * points.classes.size > LIMITS.states:
        return None
    features = similarity(estimator, table, table[ever])
    return Steps(_coefficients(trace, ever, points), features, features[ever], ever)


def similarity(estimator: Any, left: Floats, right: Floats) -> Floats:
    """Return the inner products in feature space, with the constant feature if the model has an intercept."""
    if not len(right):
        return np.zeros((len(left), 0))
    return np.asarray(estimator.kernel.block(left, right), dtype=np.float64) + float(estimator.fit_intercept)


def _coefficients(trace: KernelTrace, support: Ints, points: Points) -> Floats:
    columns = 1 if points.classes.size == 2 else points.classes.size
    states = np.zeros((len(trace.rows) + 1, len(support), columns))
    if trace.support is not None and trace.coef is not None:
        step, slot = np.nonzero(trace.support >= 0)
        places = np.searchsorted(support, trace.support[step, slot])
        np.add.at(states, (step + 1, places), trace.coef[step, slot])
        return states
    every, own = np.arange(1, len(trace.rows) + 1), points.codes[trace.rows]
    places = np.searchsorted(support, trace.rows)
    if columns == 1:
        states[every, places, 0] = 2.0 * own - 1.0
    else:
        states[every, places, own] += 0.5
        states[every, places, trace.rivals] -= 0.5
    return np.cumsum(states, axis=0, out=states)


def updates_of(estimator: Any, points: Points, plane: Plane, steps: Steps | None) -> Updates:
    """Return every update, and what the weights after it prove."""
    trace = estimator.result_.trace
    told = {"rows": trace.rows, "rivals": trace.rivals, "scores": trace.scores, "progress": None}
    if steps is None:
        nothing = np.full(len(trace.rows) + 1, np.nan)
        told |= {"weights": None, "planes": None, "squares": nothing, "lowest": nothing}
        return Updates(**told, lower=nothing, upper=nothing, errors=None)
    squares, lowest, errors = _replay(steps, points.codes)
    made = (
        np.arange(len(squares)) * getattr(estimator, "eta0", 1.0) / (1.0 if len(points.classes) == 2 else 2.0)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = np.where(squares > 0.0, lowest / np.sqrt(squares), -np.inf)
        upper = np.where(made > 0.0, np.sqrt(squares) / made, np.inf)
    linear = steps.gram is None
    if (trace.start.any() or estimator.renormalise) if linear else trace.coef is not None:
        upper[:] = np.inf  # the weights are not a sum of whole updates
    return Updates(
        **told,
        weights=np.concatenate([trace.start[None], trace.weights]) if linear else None,
        planes=_planes(trace, plane) if linear else None,
        squares=squares,
        lowest=lowest,
        lower=np.maximum.accumulate(lower),
        upper=np.minimum.accumulate(upper),
        errors=errors,
    )


def _replay(steps: Steps, codes: Ints) -> tuple[Floats, Floats, Ints]:
    """Return, for each step, the squared length, the smallest score, and the number of rows not right."""
    total, _, columns = steps.states.shape
    squares, lowest, errors = np.empty(total), np.empty(total), np.empty(total, dtype=np.int64)
    width = max(1, BLOCK_VALUES // (len(codes) * columns))
    for first in range(0, total, width):
        part = slice(first, first + width)
        outputs = np.einsum("ns,tsc->tnc", steps.features, steps.states[part], optimize=True)
        labels = np.broadcast_to(codes, outputs.shape[:2])
        scores = signed_scores(outputs.reshape(-1, columns), labels.ravel()).reshape(labels.shape)
        squares[part] = steps.squares(part)
        lowest[part], errors[part] = scores.min(axis=1), (scores <= 0.0).sum(axis=1)
    return squares, lowest, errors


def _planes(trace: Trace, plane: Plane) -> Floats:
    """Return the score of each class, after each update, in the coordinates of the view."""
    weights, constants = traced_weights(trace, len(plane.rest))
    constants = constants + weights @ plane.rest
    return np.concatenate([weights @ plane.directions.T, constants[:, :, None]], axis=2)


def visits_of(estimator: Any, points: Points, settings: Settings, steps: Steps | None) -> Visits | None:
    """Return every look at a row, if rows are visited in turn and not too many times."""
    result, n_rows = estimator.result_, len(points.codes)
    if steps is None or result.order not in ("cyclic", "shuffled") or result.visits > LIMITS.visits:
        return None
    total = int(result.visits)
    passes = -(-total // n_rows)
    if result.order == "cyclic":
        rows = np.tile(np.arange(n_rows), passes)[:total]
    else:
        chance = np.random.default_rng(settings.seed)
        if settings.start == "random" and steps.gram is None:
            chance.standard_normal(result.trace.start.shape)
        rows = np.concatenate([chance.permutation(n_rows) for _ in range(passes)])[:total]
    moments = _moments(rows, result.trace.rows, n_rows)
    if moments is None:
        return None
    made = np.searchsorted(moments, np.arange(total), side="left")
    return Visits(rows=rows, scores=_scores_at(steps, points.codes, rows, made), updates=made)


def _moments(looked: Ints, corrected: Ints, n_rows: int) -> Ints | None:
    """Return the visit of each correction: the next look at that row. None if there is no such visit."""
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


def _scores_at(steps: Steps, codes: Ints, rows: Ints, made: Ints) -> Floats:
    """Return the score of each row that is looked at, under the weights of that moment."""
    found = np.empty(len(rows))
    width = max(1, BLOCK_VALUES // max(1, steps.states[0].size))
    for first in range(0, len(rows), width):
        part = slice(first, first + width)
        outputs = np.einsum("vs,vsc->vc", steps.features[rows[part]], steps.states[made[part]])
        found[part] = signed_scores(outputs, codes[rows[part]])
    return found


def proof_of(
    estimator: Any, points: Points, steps: Steps | None, kernel_rows: int = 400
) -> tuple[LengthBounds, Floats | None]:
    """Return the bounds of the library, and the progress of the weights toward the best separator.

    With a kernel there is a bound only if the run separated at most ``kernel_rows`` points, because finding
    the largest margin of more points takes long. With a budget the weights are not a sum of updates, and no
    bound is claimed.
    """
    X, y = points.X, points.classes[points.codes]
    many = 2.0 if points.classes.size > 2 else 1.0
    known: bool | None = bool(estimator.converged_)
    if hasattr(estimator, "kernel") and (estimator.budget is not None or not known or len(y) > kernel_rows):
        reach = None if estimator.budget is not None else estimator.result_.radius / math.sqrt(many)
        return LengthBounds(None, "", 0.0, reach, None), None
    if not known:
        options: Any = {"fit_intercept": estimator.fit_intercept, "time_limit": LIMITS.verdict_seconds}
        known = separability(X, y, quasi=False, **options).separable
    report = mistake_bounds(estimator, X, y, separable=bool(known))
    proof = report.lengths(getattr(estimator, "eta0", 1.0))
    if getattr(estimator, "renormalise", False):
        return replace(proof, radius=None, margin=None), None
    if proof.margin is None or steps is None:
        return proof, None
    return proof, _progress(estimator, points, steps)


def _progress(estimator: Any, points: Points, steps: Steps) -> Floats | None:
    """Return the inner product of each weights with the best separator of length one."""
    kernel, lift = getattr(estimator, "kernel", None), estimator.fit_intercept
    model = MaxMargin(kernel=kernel, fit_intercept="lifted" if lift else False, gap=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(points.X, points.codes)
        except SeparatrixError:
            return None
    if kernel is None:
        unit = np.hstack([model.coef_, model.intercept_[:, None]]).T if lift else model.coef_.T
        return np.asarray(np.einsum("tsc,sc->t", steps.states, unit) / np.linalg.norm(unit))
    table, coef, constant = points.table, model.dual_coef_.T, model.intercept_ * float(lift)
    across = np.asarray(kernel.block(table[steps.support], table[model.support_])) @ coef + constant
    own = np.asarray(kernel.block(table[model.support_], table[model.support_]))
    length = np.sqrt(np.einsum("ic,ij,jc->", coef, own, coef) + constant @ constant)
    return np.asarray(np.einsum("tsc,sc->t", steps.states, across) / length)
