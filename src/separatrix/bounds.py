"""Every mistake bound of the perceptron, for a run that was made: how many mistakes theory allowed it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import inputs, notebook
from .deadline import Deadline
from .dual.kernel_margin import KernelRows, accuracy, certified_bracket, solve_kernel_margin
from .errors import InputError, InputTypeError
from .estimators.hyperplane import EXACT_SECONDS
from .estimators.kernel import KernelPerceptron
from .margins.hard.max_margin import solve_max_margin
from .margins.pairs import Pairs, row_scores, rows_of
from .margins.soft.soft_margin import solve_soft_margin
from .proofs.verdict import separability
from .result import Floats, Result, Status, margin_text
from .rows.memory import MemoryRows

SAFE = 1.0 + 1e-12  # covers the rounding of the few operations that follow a guarded number


@dataclass(frozen=True)
class Bound:
    """One bound on the mistakes of a run.

    Attributes
    ----------
    name : str
    value : float
        Infinite where the bound says nothing about this run.
    formula : str
    certified : bool
        Whether the value was computed from the data, at some u, with the rounding of that turned against it.
    tightness : float
        Mistakes made over mistakes allowed: one is tight.
    note : str
        Why the bound says nothing, or what it is evaluated at.
    """

    name: str
    value: float
    formula: str
    certified: bool
    tightness: float
    note: str


@dataclass(frozen=True)
class BoundReport:
    """The mistakes of a run beside every bound that theory gives for it.

    Attributes
    ----------
    mistakes : float
        M, the updates that led to the weights. Where the weights of shards were mixed, an update counts as
        much as its shard did: that is the number that the theorems bound then.
    radius : float
        R, the largest norm of a lifted row.
    margin_lower, margin_upper : float
        The bracket of the best margin of the lifted rows, with all rounding counted; the lower end is zero
        or less where no separator was found.
    n_classes : int
    start_norm : float
        The norm of the first weights.
    bounds : tuple of Bound
    """

    mistakes: float
    radius: float
    margin_lower: float
    margin_upper: float
    n_classes: int
    start_norm: float
    bounds: tuple[Bound, ...]

    def __getitem__(self, name: str) -> Bound:
        for bound in self.bounds:
            if bound.name == name:
                return bound
        raise KeyError(f"{name!r}; there are {', '.join(bound.name for bound in self.bounds)}")

    @property
    def best(self) -> Bound:
        """The smallest bound."""
        return min(self.bounds, key=lambda bound: bound.value)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain Python values."""
        return asdict(self)

    def summary(self) -> str:
        """A table to read."""
        head = ("bound", "mistakes allowed", "tightness", "certified", "", "note")
        lines = (
            f"{name:<22}{value:>18}{share:>12}  {sure:<11}{note}"
            for name, value, share, sure, _, note in (head, *map(_cells, self.bounds))
        )
        return "\n".join([self._headline(), *lines])

    def _headline(self) -> str:
        return (
            f"{self.mistakes:.12g} mistakes, {self.n_classes} classes, R = {self.radius:.6g}, "
            f"best margin {margin_text(self.margin_lower, self.margin_upper)}"
        )

    def _repr_html_(self) -> str:
        return notebook.table(
            self._headline(),
            ("bound", "allowed", "tightness", "certified", "formula", "note"),
            map(_cells, self.bounds),
        )


def _cells(bound: Bound) -> tuple[str, ...]:
    """A bound as a row of a table."""
    value, share = "no bound", ""
    if np.isfinite(bound.value):
        value, share = f"{bound.value:,.1f}", f"{bound.tightness:.3g}"
    return bound.name, value, share, "yes" if bound.certified else "no", bound.formula, bound.note


class MistakeBounds(BaseEstimator):
    """What the input checks need to know of an estimator, and what their errors call it."""

    def __init__(self, fit_intercept: bool | str = True) -> None:
        self.fit_intercept = fit_intercept


def mistake_bounds(
    run: Any,
    X: Any,
    y: Any,
    *,
    u: Any = None,
    eta0: float | None = None,
    row_weights: Any = None,
    renormalised: bool | None = None,
    separable: bool | None = None,
) -> BoundReport:
    """Compare the mistakes of a perceptron run with every bound on them.

    Parameters
    ----------
    run : fitted Perceptron, KernelPerceptron or Result
        A run made by one call of fit, or all calls of partial_fit of a model; X and y are then all rows that
        it has seen, in order. Of a kernel the report holds Novikoff's bound in the feature space.
    X, y : the rows and labels of that run
    u : array or fitted linear classifier, optional
        Weights (intercept last) at which to evaluate the bounds too.
    eta0 : float, optional
        The step of the updates; taken from the model, or one for a bare Result.
    row_weights : array of shape (rows,), optional
        What scaled the update of each row, if anything did (sample or class weights). A model's
        own class weights are known; its sample weights are not and must be given here.
    renormalised : bool, optional
        Whether the weights were scaled to length one after each update; taken from the model. The bounds of
        plain runs do not hold then; the one of renormalised runs needs zero first weights and small steps.
    separable : bool, optional
        Whether the classes can be separated, where that is known. If not, no margin is looked for, which
        would take long; where a run did not separate and nobody says, a verdict is asked for first.

    Returns
    -------
    BoundReport

    Notes
    -----
    The theorems are about exact arithmetic: in floats a row may be corrected whose score is
    positive, if by rounding error only. With more than two classes an update moves two weight vectors, each
    by half a step, so R stands for ``sqrt(2) max |x|`` in the formulas, but for that of Novikoff, ``2 (R /
    margin)^2``, in which the 2 is written out. Where updates are scaled, row by row, the theorems speak of
    the scaled rows. The first weights of a bare Result are what its updates leave of the last weights: zero,
    if that is rounding error.

    Of a renormalised run let c be the cosine between w and a separator, s and g the largest length and the
    margin of the rows times their steps. An update makes c at least ``(c + g) / sqrt(1 + s^2)``, as long as
    ``c >= -g``. From zero weights the first update gives ``c >= g / s``, and each further one adds at least
    ``(1 + g) / sqrt(1 + s^2) - 1``. That is positive if the step is below ``2 margin / (R^2 - margin^2)``.
    From other weights c may be below -g, and nothing is proved.

    Where the weights of shards were mixed, every theorem for plain runs holds with M the sum of
    ``mixed_counts`` and each loss weighed by them: a mixture gains as much along u as its parts do on
    average, and its squared length is at most the average of theirs.

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
        return _kernel_bounds(run, X, y)
    result, rows, steps, renormalised = _read(run, X, y, eta0, row_weights, renormalised)
    case = _Case(rows, result, steps, _start(run, result, rows, steps, renormalised))
    if separable is None and result.errors != 0:
        separable = _can_be_separated(rows)
    hard = None if separable is False else solve_max_margin(rows, gap=1e-6)
    separator = hard.weights if hard is not None and hard.margin_lower > 0.0 else None
    lower, upper = (0.0, 0.0) if hard is None else (hard.margin_lower, hard.margin_upper)
    names: tuple[str, ...] = ("renormalised",) if renormalised else ("Novikoff", "any start")
    bounds = [case.bound(name, separator, "at the largest margin") for name in names]
    if not renormalised:
        best = case.best_hinge()
        bounds.append(case.bound("hinge", best, "at the best u for this form"))
        bounds.append(case.bound("sharp hinge", best, "at the same u"))
    if u is not None:
        given = _weights_of(u, rows)
        bounds += [case.bound(each.name, given, "at the given u", suffix=" at u") for each in tuple(bounds)]
    norm = float(np.linalg.norm(case.start))
    return BoundReport(case.mistakes, rows.radius, lower, upper, rows.n_classes, norm, tuple(bounds))


def _kernel_bounds(model: KernelPerceptron, X: Any, y: Any) -> BoundReport:
    """Novikoff's bound in feature space, at the bracket's own separator, with all rounding counted in."""
    if model.budget is not None or model.class_weight is not None:
        raise InputError(
            "Novikoff's bound is for equal steps and a support that may grow. With a budget see "
            "budget_bound_; with class weights no bound is computed here."
        )
    check_is_fitted(model)
    rows, _, _ = inputs.read_training(MistakeBounds(False), X, y, None)
    if rows.n_rows != model._rows_seen or rows.n_classes != max(2, model.classes_.size):
        raise InputError(
            f"The run has {model._rows_seen} rows and {model.classes_.size} classes; X and y have "
            f"{rows.n_rows} and {rows.n_classes}. Pass the data the run was made on."
        )
    mapped = KernelRows(
        model.kernel_, rows.matrix, rows.labels, rows.n_classes, rows.order, bool(model.fit_intercept), False
    )
    found = solve_kernel_margin(mapped, gap=1e-6, deadline=Deadline.after(EXACT_SECONDS))
    lower, upper = certified_bracket(mapped, found)
    radius = float(np.sqrt(accuracy(mapped)[0] + mapped.lift)) * SAFE
    many = rows.n_classes > 2
    formula = "2 (R / margin)^2" if many else "(R / margin)^2"
    value = (2.0 if many else 1.0) * (radius / lower) ** 2 * SAFE if lower > 0.0 else np.inf
    note = "at the largest margin in feature space" if lower > 0.0 else "no separator was found"
    share = model.mistakes_ / value if np.isfinite(value) else 0.0
    bound = Bound("Novikoff", float(value), formula, bool(np.isfinite(value)), share, note)
    return BoundReport(model.mistakes_, radius, lower, upper, rows.n_classes, 0.0, (bound,))


def _can_be_separated(rows: MemoryRows) -> bool | None:
    """The verdict on the rows that count; None where it takes long."""
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

    def __init__(self, rows: MemoryRows, result: Result, steps: Floats, start: Floats) -> None:
        self.rows, self.counts, self.steps = rows, result.multipliers, steps
        self.mistakes: float = self.counts.sum().item()
        self.many = rows.n_classes > 2
        # With many classes an update moves two vectors by half a step each.
        self.factor = np.broadcast_to(steps * (0.5 if self.many else 1.0), (rows.n_rows,))
        width = rows.n_columns + rows.lifted
        self.rounding = (width + 8) * 2.0**-52
        norms = np.sqrt(rows.squared_norms) * (np.sqrt(2.0) if self.many else 1.0)
        self.norms = norms * (1.0 + self.rounding)
        self.radius = float((self.norms * self.factor)[rows.order].max())
        self.start = start

    def bound(self, name: str, weights: Floats | None, note: str, suffix: str = "") -> Bound:
        """The bound of that name at some weights, or why it says nothing about this run."""
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
        """The theorem in a line."""
        start = bool(self.start.any())
        return {
            "Novikoff": "2 (R / margin)^2" if self.many else "(R / margin)^2",
            "any start": "the larger root of g^2 t^2 + (2 c1 g - R^2) t + c1^2 - c0^2",
            "hinge": "R^2 |u|^2 + 2 L(u)",
            "sharp hinge": "L' + A^2/2 + sqrt(A^4/4 + A^2 L' + c0^2 |u|^2), L' = L - <w0, u>"
            if start
            else "(A/2 + sqrt(A^2/4 + L))^2, A = R |u|",
            "renormalised": "1 + (1 - g / s) / ((1 + g) / sqrt(1 + s^2) - 1), rows times their steps",
        }[name]

    def need_zero_start(self) -> None:
        if np.isnan(self.start).any():
            raise _SaysNothing("the first weights are not known")
        if self.start.any():
            raise _SaysNothing("the run did not start at zero")

    def margin(self, weights: Floats) -> tuple[float, Floats]:
        """The margin of the scaled rows, rounded down, and the unit vector that has it."""
        norm = float(np.linalg.norm(weights))
        unit = weights / norm if norm > 0.0 else weights
        scores = row_scores(self.rows, unit) - 2.0 * self.rounding * self.norms
        lowest = float((scores * self.factor)[self.rows.order].min()) * (1.0 - 4.0 * self.rounding)
        if not lowest > 0.0:
            raise _SaysNothing("the margin there is not positive")
        return lowest, unit

    def novikoff(self, weights: Floats) -> float:
        self.need_zero_start()
        gamma, _ = self.margin(weights)
        return (self.radius / gamma) ** 2

    def any_start(self, weights: Floats) -> float:
        gamma, unit = self.margin(weights)
        c0 = float(np.linalg.norm(self.start)) * SAFE
        c1 = float(np.vdot(self.start, unit)) - 2.0 * self.rounding * c0
        middle = self.radius**2 - 2.0 * c1 * gamma
        inside = middle**2 + 4.0 * gamma**2 * max(0.0, c0**2 - c1**2)
        return max(0.0, (middle + float(np.sqrt(inside))) / (2.0 * gamma**2))

    def renormalised(self, weights: Floats) -> float:
        """The first update gives a cosine of g / s, each further one adds the gain; it never exceeds one."""
        self.need_zero_start()
        gamma, _ = self.margin(weights)
        gain = (1.0 + gamma) / np.sqrt(1.0 + self.radius**2) - 1.0 - 8.0 * 2.0**-52
        if not gain > 0.0:
            raise _SaysNothing("the step is not below 2 margin / (R^2 - margin^2)")
        return float(1.0 + (1.0 - gamma / self.radius) / gain)

    def losses(self, weights: Floats) -> float:
        """The hinge loss over the mistakes of the whole run, each against the rival it was made with."""
        if not self.many:
            scores = row_scores(self.rows, weights)[:, None]
        else:
            outputs = self.rows.outputs(weights)
            own = self.rows.labels[:, None].astype(np.int64)
            scores = np.take_along_axis(outputs, own, axis=1) - outputs
        error = 2.0 * self.rounding * self.norms * float(np.linalg.norm(weights))
        scaled = (scores - error[:, None]) * self.factor[:, None]
        return float(np.sum(self.counts * np.maximum(0.0, 1.0 - scaled))) * SAFE

    def hinge(self, weights: Floats) -> float:
        self.need_zero_start()
        size = self.radius * float(np.linalg.norm(weights)) * SAFE
        return size**2 + 2.0 * self.losses(weights)

    def sharp_hinge(self, weights: Floats) -> float:
        """Any start: M - L + <w0, u> <= |u| sqrt(c0^2 + R^2 M), solved for M."""
        norm = float(np.linalg.norm(weights)) * SAFE
        size = self.radius * norm
        pull = norm * float(np.linalg.norm(self.start)) * SAFE
        loss = self.losses(weights) - float(np.vdot(self.start, weights)) + 4.0 * self.rounding * pull
        inside = max(0.0, size**4 / 4.0 + size**2 * loss + pull**2)
        return max(0.0, loss + size**2 / 2.0 + float(np.sqrt(inside)))

    def best_hinge(self) -> Floats:
        """The u that makes the first hinge form smallest: a soft margin with C = 1 / R^2.

        With scaled rows the scale is taken as one number, their mean over the mistakes; any u
        gives a bound, and this one need not be the best then.
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


def _read(
    run: Any, X: Any, y: Any, eta0: float | None, row_weights: Any, renormalised: bool | None
) -> tuple[Result, MemoryRows, Floats, bool]:
    """The run and its rows, checked to belong together."""
    result = run if isinstance(run, Result) else getattr(run, "result_", None)
    if isinstance(result, Result) and result.status is Status.ONLINE and run is not result:
        result = _whole_stream(run, result)
    if not isinstance(result, Result):
        raise InputTypeError(
            f"mistake_bounds needs a fitted Perceptron or a Result. Got {type(run).__name__} instead; "
            "fit it first."
        )
    if result.status is Status.ONLINE:
        raise InputError(
            "This is what the last call of partial_fit gave back; the ledger of all calls is in the model. "
            "Pass the model itself, with all rows that it has seen, in order."
        )
    lifted = len(np.shape(X)) == 2 and result.weights.shape[-1] == np.shape(X)[1] + 1
    rows, classes, _ = inputs.read_training(MistakeBounds(lifted), X, y, None)
    if rows.weights_shape != result.weights.shape or rows.n_rows != result.counts.shape[0]:
        raise InputError(
            f"The run has {result.counts.shape[0]} rows and weights of shape {result.weights.shape}; X and y "
            f"have {rows.n_rows} rows and {rows.n_classes} classes. Pass the data the run was made on."
        )
    rate = getattr(run, "eta0", 1.0) if eta0 is None else eta0
    steps = np.full(1, float(rate))
    class_weight = getattr(run, "class_weight", None)
    if row_weights is not None:
        steps = rate * np.asarray(row_weights, dtype=np.float64)
    elif class_weight is not None:
        steps = rate * inputs.class_weights(class_weight, classes, rows)
    if steps.shape not in ((1,), (rows.n_rows,)) or not np.all(np.isfinite(steps)) or np.any(steps < 0.0):
        raise InputError(
            f"row_weights must be one finite, non-negative number for each of the {rows.n_rows} rows. "
            f"Got shape {np.shape(row_weights)}."
        )
    if renormalised is None:
        renormalised = bool(getattr(run, "renormalise", False))
    return result, rows, steps, renormalised


def _whole_stream(model: Any, last: Result) -> Result:
    """The run of all calls of partial_fit, from the ledger that the model keeps."""
    if model._counts.size:
        raise InputError(
            "This model was fitted before partial_fit went on with it; its ledger begins there. Bound the "
            "two runs apart: fit one model, and let another one learn online."
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


def _start(run: Any, result: Result, rows: MemoryRows, steps: Floats, renormalised: bool) -> Floats:
    """The first weights: as the model was told, or else what the run tells of them.

    The updates of a plain run leave them of the last weights. Those of a renormalised run do not: NaN stands
    for what nobody knows, a random start that was not traced or that of a bare Result.
    """
    zeros, warm = np.zeros_like(result.weights), getattr(run, "_first_weights", None)
    init = getattr(run, "init", None) if warm is None else warm
    known = init is not None and not (isinstance(init, str) and init == "random")
    told = zeros if isinstance(init, str) else np.asarray(init, dtype=np.float64) if known else None
    if renormalised:
        traced = np.full(rows.weights_shape, np.nan) if result.trace is None else result.trace.start
        return traced if not known or told is None else told
    total = np.zeros_like(result.weights)
    rows.combine(result.multipliers, steps, total)
    start: Floats = result.weights - total
    noise = 1e-9 * (np.linalg.norm(result.weights) + np.linalg.norm(total))
    if not known or told is None:
        return start if np.linalg.norm(start) > noise else zeros
    added = float(result.multipliers.sum(axis=1) @ (np.sqrt(rows.squared_norms) * steps))
    if np.linalg.norm(start - told) > noise + 1e-9 * added:
        raise InputError(
            "The weights of the run are not what its mistakes on these rows add up to. Pass the data the run "
            "was made on, and row_weights= if it had sample weights."
        )
    return told


def _weights_of(u: Any, rows: MemoryRows) -> Floats:
    """The given u, or the weights of a given linear classifier."""
    if hasattr(u, "coef_"):
        coef, intercept = np.atleast_2d(u.coef_), np.atleast_1d(u.intercept_)
        u = np.column_stack([coef, intercept]) if rows.lifted else coef
    weights: NDArray[np.float64] = np.asarray(u, dtype=np.float64)
    if weights.size == int(np.prod(rows.weights_shape)):
        weights = weights.reshape(rows.weights_shape)
    if weights.shape != rows.weights_shape or not np.all(np.isfinite(weights)):
        raise InputError(
            f"u must be finite weights of shape {rows.weights_shape} (the intercept last), or a fitted "
            f"linear classifier. Got shape {weights.shape} instead."
        )
    return weights
