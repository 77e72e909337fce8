"""What a run gives back: how it ended, what it learnt, and how it got there."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import notebook

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Explained(enum.Enum):
    """Members whose value is a sentence; files keep their names, so that a sentence may be improved.

    A member may have, beside the fact, a remedy and the parameter that it is about: see `SeparatrixError`.
    """

    problem: str
    parameter: str | None

    def __new__(cls, fact: str, remedy: str = "", parameter: str | None = None) -> Explained:
        """Make a member whose sentence is the fact and the remedy."""
        member = object.__new__(cls)
        member._value_ = f"{fact}; {remedy}." if remedy else fact
        member.problem, member.parameter = f"{fact}." if remedy else fact, parameter
        return member

    def __reduce__(self) -> tuple[type[Explained], tuple[str]]:
        return type(self), (self.name,)

    @classmethod
    def _missing_(cls, value: object) -> Explained | None:
        return cls.__members__.get(str(value))


class Status(Explained):
    """How a run ended; each member is its own explanation."""

    SEPARATED = "A separator was found: the last look at every row found no mistake."
    INSEPARABLE = (
        "No weights of this model separate these rows: the run came back to an earlier state.",
        "",
        "average",
    )
    PASS_LIMIT = "The pass limit came first", "raise max_iter, or scale the columns", "max_iter"
    UPDATE_LIMIT = "The update limit came first", "raise max_updates, or scale the columns", "max_updates"
    STEP_LIMIT = "The step limit came first", "raise max_iter, or ask for a wider gap", "gap"
    TIME_LIMIT = "The time limit came first; the weights are those reached so far."
    ONLINE = "Each row was visited once, in the order it came; none was read again."
    INTERRUPTED = "The run was interrupted; the weights are those reached so far."
    REACHED = "The gap asked for was reached; it was recomputed from the data."
    STALLED = "Rounding stopped the progress before the gap asked for; the gap reached is stated."
    NOT_SEPARABLE = "The hulls of the classes meet to rounding: no margin above rounding error exists."
    ILLEGAL = "The kernel is not an inner product of these rows: there is no margin to speak of."


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """What every solver gives back.

    Attributes
    ----------
    status : Status
        How the run ended.
    history : tuple
        How it got there: a `PassRecord` for each reading of all rows, or the brackets that a margin solver
        had one after the other.
    seconds : float
        How long a margin solver took; zero where nobody measured it.
    """

    status: Status
    history: tuple[Any, ...] = field(default=(), kw_only=True)
    seconds: float = field(default=0.0, kw_only=True)

    @property
    def bracket(self) -> tuple[float, float]:
        """Bounds of what was looked for, below and above; infinite where none is proved."""
        return -math.inf, math.inf

    @property
    def gap(self) -> float:
        """The width of the bracket, relative to its upper end."""
        lower, upper = self.bracket
        return relative_gap(upper, lower)

    @property
    def outcome(self) -> Status:
        """The status, by the name that it had in optima before version 0.2."""
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
        Updates made since the last record.
    errors : int or None
        Rows that this reading found on the wrong side; None where the weights moved during it.
    margin_lower, margin_upper : float
        A bracket of the best margin, to rounding, from the weights and the counts of that moment; an earlier
        one may have been narrower.
    """

    mistakes: int
    errors: int | None
    margin_lower: float
    margin_upper: float


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """Every update that led to the weights of a run, in order.

    Attributes
    ----------
    rows : ndarray of shape (mistakes,)
        The row that was corrected.
    rivals : ndarray of shape (mistakes,)
        The class it was taken for (0 with two classes).
    scores : ndarray of shape (mistakes,)
        Its score before the update: zero or less, up to rounding.
    weights : ndarray of shape (mistakes, ...)
        The weights after the update.
    start : ndarray
        The weights before the first update.
    """

    rows: Ints
    rivals: Ints
    scores: Floats
    weights: Floats
    start: Floats

    def __repr__(self) -> str:
        return f"<Trace: {len(self.rows):,} updates>"

    def _repr_html_(self) -> str:
        facts = [("updates", f"{len(self.rows):,}"), ("rows corrected", f"{np.unique(self.rows).size:,}")]
        if not len(self.rows):
            return notebook.card("A run without updates", facts)
        lengths = np.sqrt((self.weights.reshape(len(self.rows), -1) ** 2).sum(axis=1))
        facts += [
            ("most often", most_often(np.bincount(self.rows))),
            ("scores", f"from {self.scores.min():.4g} to {self.scores.max():.4g} before the update"),
            ("length of the weights", f"{np.linalg.norm(self.start):.4g}, at last {lengths[-1]:.4g}"),
        ]
        picture = notebook.line(lengths.tolist(), "length of the weights after each update")
        return notebook.card("Every update of a run", facts, picture)


@dataclass(frozen=True, eq=False, repr=False)
class KernelTrace:
    """Every update of a kernel perceptron, in order.

    Attributes
    ----------
    rows : ndarray of shape (mistakes,)
        The row that was corrected.
    rivals : ndarray of shape (mistakes,)
        The class it was taken for (0 with two classes).
    scores : ndarray of shape (mistakes,)
        Its score before the update: zero or less, up to rounding.
    support : ndarray of shape (mistakes, budget) or None
        With a budget, the rows of the support after each update; -1 for a place that is free.
    coef : ndarray of shape (mistakes, budget, 1 or classes) or None
        With a budget, their coefficients. Without one, an update adds its row to the support or to its
        coefficient there, and changes nothing else.
    """

    rows: Ints
    rivals: Ints
    scores: Floats
    support: Ints | None = None
    coef: Floats | None = None

    def __repr__(self) -> str:
        return f"<KernelTrace: {len(self.rows):,} updates>"


@dataclass(frozen=True, eq=False)
class Cycle:
    """A proof that no separator exists: the weights of an integer run came back.

    Every update raises the inner product ``<w, u>`` with any separator u, so the weights cannot return
    if there is one. ``multipliers[i, r]`` updates on row i against rival r were made in between; they are not
    negative, not all zero, and the combination of signed rows that they weigh is exactly zero
    (Gordan's certificate).

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
    """What `Result` and `KernelResult`, which say what each field is, have in common."""

    counts: Ints
    mistakes: int
    errors: int | None
    passes: int
    radius: float
    margin_lower: float
    margin_upper: float
    order: str
    visits: int = 0

    @property
    def bracket(self) -> tuple[float, float]:
        """The margin of the weights, and the bound that the counts prove."""
        return self.margin_lower, self.margin_upper

    @property
    def kept_mistakes(self) -> int:
        """Updates that led to the weights that were kept; the rest of the run was given up for them."""
        return int(self.counts.sum())

    @property
    def mistake_counts(self) -> Ints:
        """Updates on each row that led to the weights; they sum to ``kept_mistakes``."""
        total: Ints = self.counts.sum(axis=1) if self.counts.shape[1] > 1 else self.counts[:, 0]
        return total

    @property
    def separated(self) -> bool:
        """Whether the weights separate every row."""
        return self.status is Status.SEPARATED

    def __repr__(self) -> str:
        made = f"{self.mistakes:,} mistakes in {self.passes:,} passes"
        return f"<{type(self).__name__}: {self.status.name.lower()}; {made}>"

    def __getstate__(self) -> dict[str, Any]:
        """The fields, with the history as columns: a file of thousands of records would take seconds."""
        return vars(self) | {"history": _columns(self.history)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        history = state["history"]
        known = _records(history) if isinstance(history, dict) else history
        super().__setstate__(state | {"history": known})

    def _repr_html_(self) -> str:
        return result_card(self)


def _columns(history: tuple[PassRecord, ...]) -> dict[str, Any]:
    """The fields of the records, each as one array; -1 where the errors are not known."""
    return {
        "mistakes": np.array([record.mistakes for record in history], dtype=np.int64),
        "errors": np.array([-1 if (e := record.errors) is None else e for record in history], dtype=np.int64),
        "margin_lower": np.array([record.margin_lower for record in history], dtype=np.float64),
        "margin_upper": np.array([record.margin_upper for record in history], dtype=np.float64),
    }


def _records(columns: dict[str, Any]) -> tuple[PassRecord, ...]:
    fields = (columns[name].tolist() for name in ("mistakes", "errors", "margin_lower", "margin_upper"))
    return tuple(
        PassRecord(made, None if errors < 0 else errors, lower, upper)
        for made, errors, lower, upper in zip(*fields, strict=True)
    )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(RunResult):
    """The outcome of a perceptron run.

    Attributes
    ----------
    status : Status
    weights : ndarray of shape (width,) or (classes, width)
        The final weights; with a lift, the last coordinate is the intercept. Where the working set
        did not separate the rows: of all weights that a scan saw, those whose errors cost least.
    counts : ndarray of int64, shape (rows, rivals)
        Updates on each row that led to these weights; one column for two classes, else one for each
        class it was taken for. They sum to ``kept_mistakes``.
    mixed_counts : ndarray of float64, shape (rows, rivals), or None
        Where weights of shards were mixed (with order "mixed", and on a cluster with "working_set" while many
        rows are wrong), the counts as they went into the weights: an update counts as much as the weights
        of its shard did when they were mixed. The sum of the signed rows so weighed is the weights, and the
        sum of these numbers is what Novikoff's theorem bounds.
    mistakes : int
        Updates made in the whole run: more than ``kept_mistakes`` where earlier weights were better than the
        last, and kept.
    errors : int or None
        Rows that the final weights get wrong; a tie is an error. None where nobody scanned: online,
        and where fewer than twenty passes over large data ended without a clean one.
    passes : int
        How often every row was read: passes that learn and scans that do not.
    radius : float
        R, the largest norm of a lifted row.
    margin_lower, margin_upper : float
        A bracket of the best margin of the lifted rows, to rounding: the lower end is the margin of
        the final weights (zero or less where rows are wrong, minus infinity where nobody scanned), the
        upper end comes from the counts.
    history : tuple of PassRecord
        One for each reading of all rows, and one for the closing scan where updates came after those.
        The closing scan, which counts the errors of an unfinished run, is not among the passes.
    order : str
        The order that was used.
    visits : int
        Rows visited, one by one.
    average : ndarray or None
        The mean of the weights over every visit, where it was asked for.
    average_sum : ndarray or None
        What the mean needs to be carried on: ``visits * (weights - average)``.
    votes : Votes or None
        The mistakes and survival counts of the voted perceptron, where it was asked for.
    trace : Trace or None
        Every update that led to the weights, where it was asked for.
    cycle : Cycle or None
        The proof of non-separability, where status is INSEPARABLE.
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
        """How often each row went into the weights: ``counts``, or ``mixed_counts`` where there are any."""
        return self.counts if self.mixed_counts is None else self.mixed_counts


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class KernelResult(RunResult):
    """The outcome of a run of the kernel perceptron.

    Attributes
    ----------
    status : Status
    counts : ndarray of int64, shape (rows, rivals)
        Updates on each row; one column for two classes, else one for each class it was taken for.
    mistakes : int
        Updates made.
    errors : int or None
        Rows that the last weights get wrong: zero after a clean pass, None where nobody scanned.
    passes : int
        How often every row was read.
    radius : float
        R: the largest length of a row in the feature space.
    margin_lower, margin_upper : float
        A bracket, up to rounding, of the best margin in the feature space, lift included.
    history : tuple of PassRecord
    order : str
    visits : int
        Rows visited, one by one.
    settled : int
        Rows that had to be scored again, alone, because rounding might have changed the answer.
    trace : KernelTrace or None
        Every update, where it was asked for.
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


def result_card(result: RunResult) -> str:
    """A result as a notebook shows it."""
    rows = result.counts.shape[0]
    wrong = "nobody scanned" if result.errors is None else f"{result.errors:,} of {rows:,} rows"
    facts = [
        ("mistakes", _mistakes_text(result)),
        ("on the wrong side or on the plane", wrong),
        ("readings of all rows", f"{result.passes:,}, order {result.order}{often_corrected(result)}"),
        ("best margin", margin_text(result.margin_lower, result.margin_upper)),
        ("radius", f"{result.radius:.6g}"),
    ]
    if result.mistakes:
        facts.append(("hardest rows", most_often(result.mistake_counts)))
    if isinstance(result, Result) and result.trace is not None:
        facts.append(("trace", f"{len(result.trace.rows):,} updates"))
    if isinstance(result, Result) and result.cycle is not None:
        cycle = result.cycle
        facts.append(("proof", f"equal weights after readings {cycle.first_pass} and {cycle.last_pass}"))
    picture = notebook.line([record.mistakes for record in result.history], "mistakes in each reading")
    return notebook.card(result.status.value, facts, picture)


def _mistakes_text(result: RunResult) -> str:
    """The updates of the run, and apart from them those behind the weights where these are fewer."""
    kept = result.kept_mistakes
    made = f"{result.mistakes:,}"
    return made if kept == result.mistakes else f"{made}; {kept:,} of them led to the weights that were kept"


def often_corrected(result: RunResult) -> str:
    """Why there are more updates than rows were read, where there are: the end of a sentence."""
    if result.mistakes <= result.passes * result.counts.shape[0]:
        return ""
    return "; between two readings, the hardest rows are corrected again and again"


def most_often(counts: Ints, shown: int = 5) -> str:
    """The rows of the largest counts, in words."""
    order = np.argsort(-counts, kind="stable")[:shown]
    return ", ".join(f"row {row} ({counts[row]:,})" for row in order.tolist() if counts[row])


def margin_text(lower: float, upper: float, digits: int = 6) -> str:
    """A bracket in words, rounded outwards; a lower end of zero or less is no bound that helps.

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
    """What is left between two bounds, relative to the first; one where that is not finite."""
    if not math.isfinite(upper):
        return 1.0
    return max(0.0, upper - lower) / upper if upper > 0.0 else 0.0


def rounded(value: float, direction: str = ROUND_CEILING, digits: int = 3) -> str:
    """A bound as text that is still a bound: rounded up, or down, to so many digits.

    Examples
    --------
    >>> rounded(0.12341), rounded(0.12349, ROUND_FLOOR)
    ('0.124', '0.123')
    """
    if not math.isfinite(value):
        return f"{value}"
    near = Context(prec=digits, rounding=direction).create_decimal_from_float(float(value))
    return f"{float(near):.{digits}g}"
