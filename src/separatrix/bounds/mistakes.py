"""Mistake bounds of the perceptron, evaluated for a run: how many mistakes the theorems allow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import inputs
from ..deadline import Deadline
from ..dual.kernel_margin import certified_bracket, solve_kernel_margin
from ..dual.kernel_rows import KernelRows
from ..dual.kernel_soft import solve_kernel_soft
from ..errors import InputError, InputTypeError
from ..estimators.hyperplane import EXACT_SECONDS
from ..estimators.kernel import KernelPerceptron
from ..kernels import check_gram, is_precomputed
from ..margins.hard.max_margin import solve_max_margin
from ..margins.pairs import Pairs, row_scores, rows_of
from ..margins.soft.soft_margin import solve_soft_margin
from ..proofs.verdict import separability
from ..result import Floats, Ints, OnlineResult, Result, Status
from ..rows.memory import MemoryRows, lifted_by
from .bound_report import SAFE, Bound, BoundReport
from .online_bounds import OnlineRun


class MistakeBounds(BaseEstimator):
    """What the checks of inputs need from an estimator; their errors use its name."""

    def __init__(self, fit_intercept: bool | str = True) -> None:
        self.fit_intercept = fit_intercept


def mistake_bounds(
    run: Any,
    X: Any,
    y: Any,
    *,
    u: Any = None,
    row_weights: Any = None,
    separable: bool | None = None,
) -> BoundReport:
    """Compare the mistakes of a perceptron run with the known mistake bounds that apply to it.

    Parameters
    ----------
    run : fitted Perceptron, KernelPerceptron, PassiveAggressive or Winnow
        A model after one call of fit, or after any number of calls of partial_fit; in the second case, X and
        y are all rows that it has seen, in order. The bounds of a kernel are those of its feature space.
    X, y : the rows and labels of that run
    u : array or fitted linear classifier, optional
        Weights, with the intercept last, for which the bounds are also evaluated; not for a kernel.
    row_weights : array of shape (rows,), optional
        The factor of each row's update (sample or class weights). The class weights of a model are known,
        but its sample weights are not stored: if it had any, pass the factors here.
    separable : bool, optional
        Whether the classes are separable, if you know it. If False, the function does not search for a
        margin, which saves time. If None, and the run did not separate the rows, it asks for a verdict first.

    Returns
    -------
    BoundReport

    Notes
    -----
    The theorems are about exact arithmetic. In floating point, a row whose score is barely positive may be
    corrected because of a rounding error. If updates have factors, the theorems are about the rows times
    their factors. R is the norm of the longest row. With more than two classes, an update changes two weight
    vectors: Novikoff's bound is then ``2 (R / margin)^2``, and in all other formulas R is ``sqrt(2)`` times
    the norm of the longest row.

    The names of the bounds: "Novikoff" is for a start at zero, and "any start" for other initial weights.
    "hinge" and "sharp hinge" are for any weights u, also if the classes overlap: they count the hinge losses
    L(u) of the mistakes.

    The bounds of plain runs do not hold for a renormalized run. Let c be the cosine between w and a
    separator, and let s and g be the largest length and the margin of the rows times their learning rates. If
    ``c >= -g``, an update makes c at least ``(c + g) / sqrt(1 + s^2)``. From zero weights, the first update
    gives ``c >= g / s``, and each further update adds at least ``(1 + g) / sqrt(1 + s^2) - 1``, which is
    positive if the learning rate is below ``2 margin / (R^2 - margin^2)``. From other weights, c may be below
    -g, and nothing is proved.

    A run with a margin b updates on every row with a score of at most b. The theorems hold for its updates,
    with ``R^2 + 2 b / eta0`` instead of ``R^2``, where R is the norm of the longest row.

    The bounds of `PassiveAggressive` and `Winnow` are named after the variant, "PA", "PA-I" or "PA-II", and
    "Winnow". Their classes state the theorems. "PA" and "PA-II" bound the sum of the squared losses, of which
    each mistake is at least one; the tightness is the part of the bound that this sum reaches.

    For order="mixed", take the sum of ``mixed_counts`` for the number of mistakes, and multiply the loss of
    each row by its count: then every theorem for runs without averaging holds. The reason is that averaging
    keeps the mean progress along u, and by convexity does not increase the mean squared length.

    Examples
    --------
    >>> import numpy as np
    >>> import separatrix as sx
    >>> X, y = np.vstack([np.eye(3), -np.eye(3)]), [1, 1, 1, 0, 0, 0]
    >>> model = sx.Perceptron(order="cyclic", fit_intercept=False).fit(X, y)
    >>> report = sx.mistake_bounds(model, X, y)
    >>> print(report.mistakes, f"{report['Novikoff'].value:.4f} {report['Novikoff'].tightness:.4f}")
    3 3.0000 1.0000
    """
    if isinstance(run, KernelPerceptron):
        if u is not None or row_weights is not None:
            raise InputError("u and row_weights are for runs without a kernel. Leave them out.")
        return _kernel_bounds(run, X, y, separable)
    if isinstance(getattr(run, "result_", None), OnlineResult):
        return _online_bounds(run, X, y, u)
    result, rows, steps = _read(run, X, y, row_weights)
    case = _Case(rows, result, steps, _start(run, result, rows, steps), run.margin)
    if run._constant != 1.0:
        case.suffix += f", R^2 = max |x|^2 + s^2, s = {run._constant:g}"
    if separable is None and result.errors != 0:
        separable = _can_be_separated(rows)
    hard = None if separable is False else solve_max_margin(rows, gap=1e-6)
    separator = hard.weights if hard is not None and hard.margin_lower > 0.0 else None
    lower, upper = (0.0, 0.0) if hard is None else (hard.margin_lower, hard.margin_upper)
    names: tuple[str, ...] = ("renormalised",) if run.renormalise else ("Novikoff", "any start")
    bounds = [case.bound(name, separator, "at the largest margin") for name in names]
    if not run.renormalise:
        best = case.best_hinge()
        bounds.append(case.bound("hinge", best, "at the weights u of a soft margin"))
        bounds.append(case.bound("sharp hinge", best, "at the same weights u"))
    if u is not None:
        given = _weights_of(u, rows, run._constant)
        bounds += [
            case.bound(each.name, given, "at the given weights u", suffix=" at u") for each in tuple(bounds)
        ]
    norm = float(np.linalg.norm(case.start))
    known = case.mistakes, rows.radius, lower, upper, rows.n_classes, norm
    return BoundReport(*known, tuple(bounds), update_margin=float(run.margin))


def _kernel_bounds(model: KernelPerceptron, X: Any, y: Any, separable: bool | None) -> BoundReport:
    """Return the bounds in feature space, with all rounding errors counted."""
    if model.budget is not None or model.class_weight is not None:
        raise InputError(
            "The bounds are for equal steps and a support that may grow. With a budget or with class weights "
            "no bound is computed here."
        )
    check_is_fitted(model)
    rows, _, _ = inputs.read_training(MistakeBounds(False), X, y, None)
    if rows.n_rows != model._rows_seen or rows.n_classes != max(2, model.classes_.size):
        raise InputError(
            f"The run has {model._rows_seen} rows and {model.classes_.size} classes; X and y have "
            f"{rows.n_rows} and {rows.n_classes}. Pass the data of the run."
        )
    matrix = check_gram(rows.matrix) if is_precomputed(model.kernel_) else rows.matrix
    mapped = KernelRows(
        model.kernel_, matrix, rows.labels, rows.n_classes, rows.order, bool(model.fit_intercept), False
    )
    case = _KernelCase(mapped, model.mistake_counts_)
    lower, upper, separator = 0.0, 0.0, None
    if separable is not False:
        hard = solve_kernel_margin(mapped, gap=1e-6, deadline=Deadline.after(EXACT_SECONDS))
        lower, upper = certified_bracket(mapped, hard)
        separator = (hard.rows, hard.coefficients, hard.intercept) if lower > 0.0 else None
    soft, inside = case.best_hinge(), "at the largest margin in feature space"
    bounds = (
        *(case.bound(name, separator, inside) for name in ("Novikoff", "any start")),
        case.bound("hinge", soft, "at the weights u of a soft margin in feature space"),
        case.bound("sharp hinge", soft, "at the same weights u"),
    )
    radius = float(np.sqrt(mapped.largest + mapped.lift)) * SAFE
    return BoundReport(model.mistakes_, radius, lower, upper, rows.n_classes, 0.0, bounds)


def _online_bounds(model: Any, X: Any, y: Any, u: Any) -> BoundReport:
    """Return the bound of the theorem on passive-aggressive learners, or on Winnow, for a run."""
    rows, classes, _ = inputs.read_training(MistakeBounds(model._lifted), X, y, None, classes=model.classes_)
    if rows.n_rows != model._rows_seen or rows.weights_shape != model._weights.shape or not model._rounds:
        raise InputError(
            f"The run has {model._rows_seen} rows and weights of shape {model._weights.shape}; X and y have "
            f"{rows.n_rows} rows and {classes.size} classes. Pass all rows of one call of fit, or of a model "
            "that only partial_fit has taught."
        )
    hard = solve_max_margin(rows, gap=1e-6)
    separator = hard.weights if hard.margin_lower > 0.0 else None
    counts = model.result_.counts
    run = OnlineRun(model, rows, model._rounds, counts if len(counts) == rows.n_rows else counts[:0])
    bounds = run.bounds(separator, None if u is None else _weights_of(u, rows, 1.0))
    known = float(model.mistakes_), rows.radius, hard.margin_lower, hard.margin_upper, rows.n_classes, 0.0
    return BoundReport(*known, tuple(bounds))


def _can_be_separated(rows: MemoryRows) -> bool | None:
    """Ask for a verdict on the rows that count; None if it takes too long."""
    inside = slice(None) if rows.order.size == rows.n_rows else rows.order
    codes = rows.labels[inside]
    if np.unique(codes).size < 2:
        return None
    matrix, lift = rows.matrix[inside], rows.lifted
    return separability(matrix, codes, quasi=False, fit_intercept=lift, time_limit=EXACT_SECONDS).separable


class _SaysNothing(Exception):
    """Why a bound says nothing about a run."""


class _Case:
    """A run in the terms of the theorems: signed rows scaled by their steps, a start, mistakes."""

    def __init__(self, rows: MemoryRows, result: Result, steps: Floats, start: Floats, margin: float) -> None:
        self.rows, self.counts, self.steps = rows, result.multipliers, steps
        self.mistakes: float = self.counts.sum().item()
        self.many = rows.n_classes > 2
        # With many classes an update moves two vectors by half a step each.
        self.factor = np.broadcast_to(steps * (0.5 if self.many else 1.0), (rows.n_rows,))
        width = rows.n_columns + rows.lifted
        self.rounding = (width + 8) * 2.0**-52
        norms = np.sqrt(rows.squared_norms) * (np.sqrt(2.0) if self.many else 1.0)
        self.norms = norms * (1.0 + self.rounding)
        # A row with a score of at most b makes |w|^2 larger by at most R^2 + 2b, and no other step of a proof
        # uses that scores of mistakes are not positive: R^2 + 2b takes the place of R^2 in every theorem.
        longest = float((self.norms * self.factor)[rows.order].max())
        reach = 2.0 * margin * float(self.factor[rows.order].max())
        self.radius = float(np.sqrt(longest**2 + reach)) * SAFE if margin else longest
        self.suffix = ", with R^2 + 2 b / eta0 for R^2" if margin else ""
        self.start = start

    def bound(self, name: str, weights: Any, note: str, suffix: str = "") -> Bound:
        """Return the bound of that name at some weights, or why it says nothing about this run."""
        theorem = {
            "Novikoff": self.novikoff,
            "any start": self.any_start,
            "hinge": self.hinge,
            "sharp hinge": self.sharp_hinge,
            "renormalised": self.renormalised,
        }[name]
        try:
            if weights is None:
                raise _SaysNothing("no separator was found")
            value = float(theorem(weights)) * SAFE
            if not np.isfinite(value):
                raise _SaysNothing(note)
        except _SaysNothing as why:
            return Bound(name + suffix, np.inf, self.formula(name), False, 0.0, str(why))
        tightness = self.mistakes / value if value > 0.0 else 1.0
        return Bound(name + suffix, value, self.formula(name), True, tightness, note)

    def formula(self, name: str) -> str:
        """Return the formula of a theorem."""
        start = bool(self.start.any())
        formulas = {
            "Novikoff": "2 (R / margin)^2" if self.many else "(R / margin)^2",
            "any start": "the larger root of g^2 t^2 + (2 c1 g - R^2) t + c1^2 - c0^2",
            "hinge": "R^2 |u|^2 + 2 L(u)",
            "sharp hinge": "L' + A^2/2 + sqrt(A^4/4 + A^2 L' + c0^2 |u|^2), L' = L - <w0, u>"
            if start
            else "(A/2 + sqrt(A^2/4 + L))^2, A = R |u|",
            "renormalised": "1 + (1 - g / s) / ((1 + g) / sqrt(1 + s^2) - 1), rows times their steps",
        }
        return formulas[name] + self.suffix

    def need_zero_start(self) -> None:
        if np.isnan(self.start).any():
            raise _SaysNothing("the initial weights are not known")
        if self.start.any():
            raise _SaysNothing("the run did not start at zero")

    def margin(self, weights: Any) -> tuple[float, Any]:
        """Return the margin of the scaled rows, rounded down, and the unit vector that has it."""
        norm = float(np.linalg.norm(weights))
        unit = weights / norm if norm > 0.0 else weights
        scores = row_scores(self.rows, unit) - 2.0 * self.rounding * self.norms
        lowest = float((scores * self.factor)[self.rows.order].min()) * (1.0 - 4.0 * self.rounding)
        if not lowest > 0.0:
            raise _SaysNothing("the margin there is not positive")
        return lowest, unit

    def length(self, weights: Any) -> float:
        """Return |u|, rounded up."""
        return float(np.linalg.norm(weights)) * SAFE

    def along(self, weights: Any) -> float:
        """Return <w0, u>, rounded down."""
        pull = float(np.linalg.norm(weights)) * float(np.linalg.norm(self.start))
        return float(np.vdot(self.start, weights)) - 4.0 * self.rounding * pull

    def novikoff(self, weights: Any) -> float:
        self.need_zero_start()
        gamma, _ = self.margin(weights)
        return (self.radius / gamma) ** 2

    def any_start(self, weights: Any) -> float:
        gamma, unit = self.margin(weights)
        c0 = float(np.linalg.norm(self.start)) * SAFE
        c1 = self.along(unit)
        middle = self.radius**2 - 2.0 * c1 * gamma
        inside = middle**2 + 4.0 * gamma**2 * max(0.0, c0**2 - c1**2)
        return max(0.0, (middle + float(np.sqrt(inside))) / (2.0 * gamma**2))

    def renormalised(self, weights: Any) -> float:
        """Use that the first update gives a cosine of g / s, and that each further one adds the gain."""
        self.need_zero_start()
        gamma, _ = self.margin(weights)
        gain = (1.0 + gamma) / np.sqrt(1.0 + self.radius**2) - 1.0 - 8.0 * 2.0**-52
        if not gain > 0.0:
            raise _SaysNothing("the step is not below 2 margin / (R^2 - margin^2)")
        return float(1.0 + (1.0 - gamma / self.radius) / gain)

    def losses(self, weights: Any) -> float:
        """Return the hinge loss over the mistakes of the run, each against the rival of its update."""
        if not self.many:
            scores = row_scores(self.rows, weights)[:, None]
        else:
            outputs = self.rows.outputs(weights)
            own = self.rows.labels[:, None].astype(np.int64)
            scores = np.take_along_axis(outputs, own, axis=1) - outputs
        error = 2.0 * self.rounding * self.norms * float(np.linalg.norm(weights))
        scaled = (scores - error[:, None]) * self.factor[:, None]
        return float(np.sum(self.counts * np.maximum(0.0, 1.0 - scaled))) * SAFE

    def hinge(self, weights: Any) -> float:
        self.need_zero_start()
        size = self.radius * self.length(weights)
        return size**2 + 2.0 * self.losses(weights)

    def sharp_hinge(self, weights: Any) -> float:
        """Solve M - L + <w0, u> <= |u| sqrt(c0^2 + R^2 M) for M, with any start."""
        norm = self.length(weights)
        size = self.radius * norm
        pull = norm * float(np.linalg.norm(self.start)) * SAFE
        loss = self.losses(weights) - self.along(weights)
        inside = max(0.0, size**4 / 4.0 + size**2 * loss + pull**2)
        return max(0.0, loss + size**2 / 2.0 + float(np.sqrt(inside)))

    def best_hinge(self) -> Any:
        """Return the u with the smallest first hinge bound: a soft margin with C = 1 / R^2.

        If rows are scaled, one number is used for all of them, their mean over the mistakes. Any u gives a
        bound, and this one may then not be the best.
        """
        shape = self.rows.weights_shape
        if self.mistakes == 0 or self.radius == 0.0:
            return np.zeros(shape)
        per_row = self.counts.sum(axis=1)
        scale = float(per_row @ self.factor) / self.mistakes
        radius = self.radius / scale
        if self.many:
            pairs = Pairs(self.rows)
            pairs.members, pairs.rivals = np.nonzero(self.counts)
            caps = self.counts[pairs.members, pairs.rivals] / radius**2
            found = solve_soft_margin(rows_of(pairs.matrix()), caps).weights
        else:
            found = solve_soft_margin(self.rows, per_row / radius**2).weights
        return found.reshape(shape) / scale


class _KernelCase(_Case):
    """A run in feature space, from zero weights; weights u are (support, coefficients, intercept)."""

    def __init__(self, rows: KernelRows, counts: Ints) -> None:
        self.mapped, self.updates, self.start, self.suffix = rows, counts, np.zeros(1), ""
        self.mistakes, self.many = int(counts.sum()), rows.n_classes > 2
        # With many classes, half of an update is added and half subtracted: u and 2u change places.
        self.radius = float(np.sqrt((2.0 if self.many else 1.0) * (rows.largest + rows.lift))) * SAFE

    def margin(self, weights: Any) -> tuple[float, Any]:
        lowest = float(self.mapped.safe_scores(self.mapped.order, *weights).min())
        if not lowest > 0.0:
            raise _SaysNothing("the margin there is not positive")
        return lowest / self.length(weights) / SAFE, weights

    def losses(self, weights: Any) -> float:
        """Return the loss of each mistake against the best rival, which is no less than against its own."""
        order = self.mapped.order
        scores = self.mapped.safe_scores(order, *weights)
        return float(self.updates[order] @ np.maximum(0.0, 1.0 - scores)) * SAFE

    def length(self, weights: Any) -> float:
        return float(np.sqrt(self.mapped.square_above(*weights[:2]))) * SAFE

    def along(self, weights: Any) -> float:
        return 0.0

    def best_hinge(self) -> Any:
        """Return the u with the smallest first hinge bound: a soft margin with C = 1 / R^2."""
        columns = self.mapped.n_classes if self.many else 1
        if self.mistakes == 0 or self.radius == 0.0:
            return np.zeros(0, dtype=np.int64), np.zeros((columns, 0)), np.zeros(columns)
        caps = self.updates / self.radius**2
        found = solve_kernel_soft(self.mapped, caps, deadline=Deadline.after(EXACT_SECONDS))
        return found.rows, found.coefficients, found.intercept


def _read(run: Any, X: Any, y: Any, row_weights: Any) -> tuple[Result, MemoryRows, Floats]:
    """Return the run, its rows and its steps, after a check that they belong together."""
    result = getattr(run, "result_", None)
    if not isinstance(result, Result):
        raise InputTypeError(
            "mistake_bounds needs a fitted Perceptron, KernelPerceptron, PassiveAggressive or Winnow. Got "
            f"{type(run).__name__} instead; fit it first."
        )
    if result.status is Status.ONLINE:
        result = _whole_stream(run, result)
    lifted = len(np.shape(X)) == 2 and result.weights.shape[-1] == np.shape(X)[1] + 1
    rows, classes, _ = inputs.read_training(MistakeBounds(lifted), X, y, None)
    rows = lifted_by(rows, run._constant)
    if rows.weights_shape != result.weights.shape or rows.n_rows != result.counts.shape[0]:
        raise InputError(
            f"The run has {result.counts.shape[0]} rows and weights of shape {result.weights.shape}; X and y "
            f"have {rows.n_rows} rows and {rows.n_classes} classes. Pass the data of the run."
        )
    steps = np.full(1, float(run.eta0))
    if row_weights is not None:
        steps = run.eta0 * np.asarray(row_weights, dtype=np.float64)
    elif run.class_weight is not None:
        steps = run.eta0 * inputs.class_weights(run.class_weight, classes, rows)
    if steps.shape not in ((1,), (rows.n_rows,)) or not np.all(np.isfinite(steps)) or np.any(steps < 0.0):
        raise InputError(
            f"row_weights must be one finite, non-negative number for each of the {rows.n_rows} rows. "
            f"Got shape {np.shape(row_weights)}."
        )
    return result, rows, steps


def _whole_stream(model: Any, last: Result) -> Result:
    """Return the run of all calls of partial_fit, from the counts that the model keeps."""
    if model._counts.size:
        raise InputError(
            "This model was fitted before partial_fit continued, and its counts begin there. Use two models, "
            "one with fit and one with partial_fit."
        )
    counts = model._ledger()
    return replace(
        last,
        status=Status.PASS_LIMIT,
        counts=counts,
        mistakes=int(counts.sum()),
        errors=None,
        weights=model._weights,
        radius=model._longest,
    )


def _start(run: Any, result: Result, rows: MemoryRows, steps: Floats) -> Floats:
    """Return the initial weights: those of the model, or those that follow from a run with a random start.

    They are the last weights minus all updates, or unknown (NaN) for a renormalized run without a trace.
    """
    zeros = np.zeros_like(result.weights)
    warm = getattr(run, "_first_weights", None)
    init = run.init if warm is None else warm
    random = isinstance(init, str) and init == "random"
    known = zeros if isinstance(init, str) else np.asarray(init, dtype=np.float64)
    if run.renormalise:
        if not random:
            return known
        traced = np.full(rows.weights_shape, np.nan) if result.trace is None else result.trace.start.copy()
        if run._constant != 1.0:  # the trace has intercepts
            traced[..., -1] /= run._constant
        return traced
    total = np.zeros_like(result.weights)
    rows.combine(result.multipliers, steps, total)
    start: Floats = result.weights - total
    if random:
        return start
    noise = 1e-9 * (np.linalg.norm(result.weights) + np.linalg.norm(total))
    added = float(result.multipliers.sum(axis=1) @ (np.sqrt(rows.squared_norms) * steps))
    if np.linalg.norm(start - known) > noise + 1e-9 * added:
        raise InputError(
            "The weights of the run are not the sum of its updates on these rows. Pass the data of the run, "
            "and row_weights= if it had sample weights."
        )
    return known


def _weights_of(u: Any, rows: MemoryRows, constant: float) -> Floats:
    """Return the given u, or the weights of a given linear classifier, for rows lifted by a constant."""
    lifted = rows.lifted or constant != 1.0
    if hasattr(u, "coef_"):
        coef, intercept = np.atleast_2d(u.coef_), np.atleast_1d(u.intercept_)
        u = np.column_stack([coef, intercept]) if lifted else coef
    weights: NDArray[np.float64] = np.asarray(u, dtype=np.float64)
    if weights.size == int(np.prod(rows.weights_shape)):
        weights = weights.reshape(rows.weights_shape)
    if weights.shape != rows.weights_shape or not np.all(np.isfinite(weights)):
        raise InputError(
            f"u must be finite weights of shape {rows.weights_shape} (the intercept last), or a fitted "
            f"linear classifier. Got shape {weights.shape} instead."
        )
    if constant != 1.0:
        weights = weights.copy()
        weights[..., -1] /= constant
    return weights
