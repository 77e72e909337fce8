"""The results of runs: how a run ended, what it learned, and how it got there."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
COLUMNS = ("mistakes", "errors", "margin_lower", "margin_upper")  # of a history in a file


class Status(enum.Enum):
    """How a run ended; the value of each member is a sentence, and files keep its name.

    A member may have a remedy and the parameter that it is about, see `SeparatrixError`.
    """

    SEPARATED = "A separator was found: the last scan of all rows found no mistake."
    INSEPARABLE = (
        "No weights of this model separate these rows: the run came back to an earlier state.",
        "",
        "average",
    )
    PASS_LIMIT = (
        "The run reached the limit of passes before it separated the rows",
        "raise max_iter, or scale the columns",
        "max_iter",
    )
    NO_PROGRESS = (
        "Further passes gained almost nothing, as is usual if classes overlap",
        "set n_iter_no_change=None to continue anyway",
        "average",
    )
    UPDATE_LIMIT = (
        "The run reached the limit of updates before it separated the rows",
        "raise max_updates, or scale the columns",
        "max_updates",
    )
    MARGIN_MISSED = (
        "The weights separate the rows, but the run ended before every score was above margin",
        "raise max_iter, or lower margin",
        "max_iter",
    )
    SETTLED = "The losses per pass no longer decrease by more than tol."
    STEP_LIMIT = (
        "The solver reached the limit of steps before the requested gap",
        "raise max_iter, or set a larger gap",
        "gap",
    )
    TIME_LIMIT = "The time limit was reached; the weights are those reached so far."
    ONLINE = "Each row was visited once, in the order in which it came, and no row was read again."
    INTERRUPTED = "The run was interrupted; the weights are those reached so far."
    REACHED = "The requested gap was reached; it was recomputed from the data."
    STALLED = (
        "Rounding stopped the solver before the requested gap; the gap that it reached is stated",
        "scale the columns, or set a larger gap",
        "gap",
    )
    NOT_SEPARABLE = (
        "Up to rounding, the convex hulls of the classes meet: no margin is larger than the rounding errors."
    )

    problem: str
    remedy: str
    parameter: str | None

    def __new__(cls, fact: str, remedy: str = "", parameter: str | None = None) -> Status:
        """Make a member whose sentence is the fact and the remedy."""
        member = object.__new__(cls)
        member._value_ = f"{fact}; {remedy}." if remedy else fact
        member.problem, member.remedy, member.parameter = f"{fact}." if remedy else fact, remedy, parameter
        return member

    def __reduce__(self) -> tuple[type[Status], tuple[str]]:
        return type(self), (self.name,)

    @classmethod
    def _missing_(cls, value: object) -> Status | None:
        return cls.__members__.get(str(value))


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """The result of a solver.

    Attributes
    ----------
    status : Status
        How the run ended.
    history : tuple
        How it got there: a `PassRecord` per reading of all rows, or the successive brackets of a margin
        solver.
    seconds : float
        How long a margin solver took; zero if it was not measured.
    """

    status: Status
    history: tuple[Any, ...] = field(default=(), kw_only=True)
    seconds: float = field(default=0.0, kw_only=True)

    @property
    def bracket(self) -> tuple[float, float]:
        """The proved lower and upper bound; infinite if nothing is proved."""
        return -math.inf, math.inf

    @property
    def gap(self) -> float:
        """The width of the bracket, relative to its upper end."""
        lower, upper = self.bracket
        return relative_gap(upper, lower)

    @property
    def outcome(self) -> Status:
        """The status, under the name that it had in optima before version 0.2."""
        return self.status

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, "status" if name == "outcome" else name, value)


@dataclass(frozen=True)
class PassRecord:
    """One reading of every row.

    Attributes
    ----------
    mistakes : int
        The number of updates since the last record.
    errors : int or None
        The number of rows that this reading found on the wrong side; None if the weights changed during it.
    margin_lower, margin_upper : float
        A bracket of the best margin, up to rounding, from the weights and the counts at that moment; an
        earlier bracket may have been narrower.
    """

    mistakes: int
    errors: int | None
    margin_lower: float
    margin_upper: float

    @property
    def wrong(self) -> int:
        """The rows that this reading found wrong: the errors of a scan, or the mistakes of a pass."""
        return self.mistakes if self.errors is None else self.errors


@dataclass(frozen=True, eq=False, repr=False)
class Updates:
    """What `Trace` and `KernelTrace` say about every update that led to the weights of a run, in order.

    Attributes
    ----------
    rows : ndarray of shape (mistakes,)
        The row that was corrected.
    rivals : ndarray of shape (mistakes,)
        The class that it was mistaken for (0 with two classes).
    scores : ndarray of shape (mistakes,)
        Its score before the update: zero or less, up to rounding.
    """

    rows: Ints
    rivals: Ints
    scores: Floats

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.rows):,} updates>"


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Updates):
    """The updates of a perceptron, with the weights after each of them; other fields are as in `Updates`.

    Attributes
    ----------
    weights : ndarray of shape (mistakes, ...)
        The weights after the update.
    start : ndarray
        The weights before the first update.
    """

    weights: Floats
    start: Floats


@dataclass(frozen=True, eq=False, repr=False)
class KernelTrace(Updates):
    """The updates of a kernel perceptron; other fields are as in `Updates`.

    Attributes
    ----------
    support : ndarray of shape (mistakes, budget) or None
        With a budget, the rows of the support after each update; -1 for a free place.
    coef : ndarray of shape (mistakes, budget, 1 or classes) or None
        With a budget, their coefficients. Without one, an update adds its row to the support or to its
        coefficient there, and changes nothing else.
    """

    support: Ints | None = None
    coef: Floats | None = None


@dataclass(frozen=True, eq=False)
class Cycle:
    """A proof that no separator exists: the weights of an integer run came back.

    Every update increases the inner product ``<w, u>`` with any separator u, so the weights cannot return
    if there is one. ``multipliers[i, r]`` counts the updates on row i against rival r in between. They are
    not negative, not all zero, and the sum of the signed rows times the multipliers is exactly zero (Gordan's
    certificate).

    Attributes
    ----------
    first_pass, last_pass : int
        The readings after which the weights were equal.
    multipliers : ndarray of int64, shape (rows, rivals)
    """

    first_pass: int
    last_pass: int
    multipliers: Ints


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RunResult(Solution):
    """What `Result` and `KernelResult` have in common; they document the fields."""

    counts: Ints
    mistakes: int
    passes: int
    order: str
    errors: int | None = None
    radius: float = 0.0
    margin_lower: float = -math.inf
    margin_upper: float = math.inf
    visits: int = 0

    @property
    def bracket(self) -> tuple[float, float]:
        """The margin of the weights, and the bound that the counts prove."""
        return self.margin_lower, self.margin_upper

    @property
    def kept_mistakes(self) -> int:
        """The number of updates that led to the weights that were kept."""
        return int(self.counts.sum())

    @property
    def mistake_counts(self) -> Ints:
        """The number of updates on each row that led to the weights; the sum is ``kept_mistakes``."""
        total: Ints = self.counts.sum(axis=1) if self.counts.shape[1] > 1 else self.counts[:, 0]
        return total

    @property
    def separated(self) -> bool:
        """Whether the weights separate every row."""
        return self.status in (Status.SEPARATED, Status.MARGIN_MISSED)

    def __repr__(self) -> str:
        made = f"{self.mistakes:,} mistakes in {self.passes:,} passes"
        return f"<{type(self).__name__}: {self.status.name.lower()}; {made}>"

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, with the history as columns: writing thousands of records takes seconds."""
        records = [(r.mistakes, -1 if r.errors is None else r.errors) for r in self.history]
        counts = np.array(records, dtype=np.int64).reshape(-1, 2).T
        brackets = np.array([(r.margin_lower, r.margin_upper) for r in self.history]).reshape(-1, 2).T
        return vars(self) | {"history": dict(zip(COLUMNS, (*counts, *brackets), strict=True))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        history = state["history"]
        if isinstance(history, dict):  # -1 errors are unknown
            columns = zip(*(history[name].tolist() for name in COLUMNS), strict=True)
            history = tuple(PassRecord(made, None if e < 0 else e, *ends) for made, e, *ends in columns)
        super().__setstate__(state | {"history": history})


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(RunResult):
    """The outcome of a perceptron run.

    Attributes
    ----------
    status : Status
    weights : ndarray of shape (width,) or (classes, width)
        The final weights; with a lift, the last coordinate is the intercept. If the working set did not
        separate the rows, these are the weights with the lowest cost of errors that a scan saw.
    counts : ndarray of int64, shape (rows, rivals)
        The number of updates on each row that led to these weights: one column for two classes, else one for
        each class that the row was mistaken for. The sum is ``kept_mistakes``.
    mixed_counts : ndarray of float64, shape (rows, rivals), or None
        If weights of shards were averaged (with order "mixed", and on a cluster with "working_set" as long as
        many rows are wrong), the counts as they went into the weights: an update counts as much as its
        shard counted in the average. The weights are the sum of the signed rows times these numbers, and
        Novikoff's theorem bounds the sum of these numbers.
    mistakes : int
        The number of updates in the whole run. It is larger than ``kept_mistakes`` if earlier weights were
        better than the last ones, and were kept.
    errors : int or None
        The number of rows that the final weights get wrong; a tie is an error. None if there was no scan:
        online, and if fewer than twenty passes over large data ended without a clean one.
    passes : int
        How often every row was read, in passes that learn and in scans that do not.
    radius : float
        R, the largest norm of a lifted row.
    margin_lower, margin_upper : float
        A bracket of the best margin of the lifted rows, up to rounding. The lower end is the margin of the
        final weights (zero or less if rows are wrong, minus infinity if there was no scan); the upper end
        comes from the counts.
    history : tuple of PassRecord
        One record per reading of all rows, and one for the final scan if updates came after those. The final
        scan, which counts the errors of an unfinished run, is not one of the passes.
    order : str
        The order that was used.
    visits : int
        The number of rows visited one by one.
    average : ndarray or None
        The mean of the weights over every visit, if it was requested.
    average_sum : ndarray or None
        What is needed to continue the mean: ``visits * (weights - average)``.
    votes : Votes or None
        The mistakes and survival counts of the voted perceptron, if they were requested.
    trace : Trace or None
        Every update that led to the weights, if it was requested.
    cycle : Cycle or None
        The proof that no separator exists, if the status is INSEPARABLE.
    """

    weights: Floats
    mixed_counts: Floats | None = None
    average: Floats | None = None
    average_sum: Floats | None = None
    votes: Votes | None = None
    trace: Trace | None = None
    cycle: Cycle | None = None

    @property
    def multipliers(self) -> NDArray[Any]:
        """How often each row went into the weights: ``mixed_counts`` if there are any, else ``counts``."""
        return self.counts if self.mixed_counts is None else self.mixed_counts


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class OnlineResult(RunResult):
    """The outcome of a run of `PassiveAggressive` or `Winnow`; other fields are as in `Result`.

    Attributes
    ----------
    weights : ndarray of shape (width,) or (classes, width)
    counts : ndarray of int64, shape (rows, rivals)
        The number of mistakes on each row: visits at which its score was zero or less.
    multipliers : ndarray of shape (rows, rivals)
        The sum of the steps on each row. The sum of the signed rows times these numbers is the weights of
        `PassiveAggressive`, and the exponents of `Winnow`. With more than two classes, half of each is added
        to the weights of the row's own class, and half is subtracted from those of the rival.
    squared_loss : float
        The sum over all visits of ``max(0, 1 - score)**2``, with the score before the update; `Winnow` leaves
        it at zero.
    """

    weights: Floats
    multipliers: Floats
    squared_loss: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class KernelResult(RunResult):
    """The outcome of a run of the kernel perceptron.

    Attributes
    ----------
    status : Status
    counts : ndarray of int64, shape (rows, rivals)
        The number of updates on each row: one column for two classes, else one for each class that the row
        was mistaken for.
    mistakes : int
        The number of updates.
    errors : int or None
        The number of rows that the last weights get wrong: zero after a clean pass, None without a scan.
    passes : int
        How often every row was read.
    radius : float
        R: the largest length of a row in the feature space.
    margin_lower, margin_upper : float
        A bracket, up to rounding, of the best margin in the feature space, lift included.
    history : tuple of PassRecord
    order : str
    visits : int
        The number of rows visited one by one.
    settled : int
        The number of rows that were scored again, alone, because rounding might have changed the answer.
    trace : KernelTrace or None
        Every update, if it was requested.
    """

    settled: int
    trace: KernelTrace | None = None


@dataclass(frozen=True, eq=False)
class Votes:
    """Every intermediate weight vector, as mistakes to replay.

    The m-th weight vector is the start plus the first m corrections; it survived
    ``survivals[m]`` visits.

    Attributes
    ----------
    rows, rivals : ndarray of shape (mistakes,)
    survivals : ndarray of shape (mistakes + 1,)
    """

    rows: Ints
    rivals: Ints
    survivals: Ints


def often_corrected(result: RunResult) -> str:
    """Explain more updates than rows were read, as the end of a sentence; "" if there are not more."""
    if result.mistakes <= result.passes * result.counts.shape[0]:
        return ""
    return " (between two scans, only the rows with the lowest scores are corrected)"


def margin_text(lower: float, upper: float, digits: int = 6) -> str:
    """Return a bracket in words, rounded outward, without a lower end of zero or less.

    Examples
    --------
    >>> margin_text(0.12345678, 0.2), margin_text(0.01, 0.010000000001), margin_text(-1.0, 2 / 3)
    ('between 0.123456 and 0.2', '0.01', 'at most 0.666667')
    """
    if upper <= 0.0:
        return "none"
    if upper == math.inf:
        return f"at least {rounded(lower, ROUND_FLOOR, digits)}" if lower > 0.0 else "not known"
    if lower <= 0.0:
        return f"at most {rounded(upper, ROUND_CEILING, digits)}"
    if f"{lower:.{digits}g}" == f"{upper:.{digits}g}":
        return f"{upper:.{digits}g}"
    ends = rounded(lower, ROUND_FLOOR, digits), rounded(upper, ROUND_CEILING, digits)
    return f"between {ends[0]} and {ends[1]}"


def relative_gap(upper: float, lower: float) -> float:
    """Return the difference of two bounds, relative to the upper one; one if that is infinite."""
    if not math.isfinite(upper):
        return 1.0
    return max(0.0, upper - lower) / upper if upper > 0.0 else 0.0


def rounded(value: float, direction: str = ROUND_CEILING, digits: int = 3) -> str:
    """Return a bound as text that is still a bound: rounded up, or down, to a number of digits.

    Examples
    --------
    >>> rounded(0.12341), rounded(0.12349, ROUND_FLOOR)
    ('0.124', '0.123')
    """
    if not math.isfinite(value):
        return f"{value}"
    near = Context(prec=digits, rounding=direction).create_decimal_from_float(float(value))
    return f"{float(near):.{digits}g}"
