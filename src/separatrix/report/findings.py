"""Everything that a report shows, found out once."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from ..bounds import BoundReport, mistake_bounds
from ..errors import ConvergenceWarning, SeparatrixError
from ..estimators.linear import Perceptron
from ..estimators.margin import MaxMargin, SoftMargin
from ..proofs.verdict import Verdict, separability
from ..result import RunResult, Status
from .tables import NamedData, read

# Numbers of the data up to which the bounds are computed: they need a largest margin and a soft margin.
BOUNDED = 20_000_000
# Numbers read by a perceptron that is known to end.
READ = 2_000_000_000


@dataclass(frozen=True, eq=False)
class Findings:
    """What was found out about some data.

    Attributes
    ----------
    data : NamedData
    title : str
        What the data are called.
    verdict : Verdict
    model : estimator
        The classifier whose boundary, margins and weights are shown.
    run : Perceptron or None
        The perceptron whose mistakes are shown.
    bounds : BoundReport or None
    facts : tuple of (str, str)
        What else is to be said about the data: where they come from, what was left out.
    """

    data: NamedData
    title: str
    verdict: Verdict
    model: Any
    run: Perceptron | None
    bounds: BoundReport | None
    facts: tuple[tuple[str, str], ...] = ()


def investigate(
    X: Any,
    y: Any,
    *,
    title: str = "Data",
    names: Any = None,
    verdict: Verdict | None = None,
    model: Any = None,
    facts: tuple[tuple[str, str], ...] = (),
    places: Any = None,
) -> Findings:
    """Fill in what is not given: the verdict, a classifier that suits it, a perceptron and its bounds.

    Parameters
    ----------
    X, y : rows and labels
    title : str
        What the data are called.
    names : sequence of str, optional
        Of the columns, if X has none.
    verdict : Verdict, optional
    model : fitted classifier, optional
        By default the largest margin where the classes are separable, else the soft margin.
    facts : tuple of (str, str)
    places : callable, optional
        Says of rows, counted from zero, where they stand in the file; without it they are counted from zero.
    """
    data = read(X, y, names, places)
    verdict = verdict or separability(data.X, data.y, feature_names=data.names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        run = model if isinstance(model, Perceptron) else _learn(data, verdict)
        if model is None:
            model = _boundary(data, verdict)
    bounds = None
    if data.X.shape[0] * data.X.shape[1] <= BOUNDED and run.result_.status is not Status.ONLINE:
        separable = None if verdict.parts else _by_planes(verdict)
        bounds = mistake_bounds(run, data.X, data.y, separable=separable)
    return Findings(data, title, verdict, model, run, bounds, facts)


def updates(result: RunResult) -> tuple[int, int]:
    """The updates of a whole run, and those behind the weights that it kept, which may be earlier ones."""
    kept = int(result.counts.sum())
    return sum(record.mistakes for record in result.history) if result.history else kept, kept


def _by_planes(verdict: Verdict) -> bool | None:
    """Whether the rows themselves are separable; None where that is open, or a kernel's images were meant."""
    return None if verdict.reason else verdict.separable


def _learn(data: NamedData, verdict: Verdict) -> Perceptron:
    """A perceptron, with patience where it is known to end."""
    passes = READ // max(1, data.X.size) if _by_planes(verdict) else 100
    return Perceptron(max_iter=min(max(100, passes), 10_000)).fit(data.X, data.y)


def _boundary(data: NamedData, verdict: Verdict) -> Any:
    """The separator farthest from all rows, or the best compromise where there is none in floating point."""
    if _by_planes(verdict):
        try:
            return MaxMargin().fit(data.X, data.y)
        except SeparatrixError:
            pass
    return SoftMargin().fit(data.X, data.y)
