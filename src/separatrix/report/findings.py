"""Everything that a report shows, computed once."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from ..bounds import BoundReport, mistake_bounds
from ..errors import ConvergenceWarning, SeparatrixError
from ..estimators.kernel import KernelPerceptron
from ..estimators.linear import Perceptron
from ..estimators.margin import MaxMargin, SoftMargin
from ..kernels import Linear
from ..proofs.verdict import Verdict, separability
from ..result import RunResult, Status
from .tables import NamedData, read


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
    planes : Verdict or None
        Where the verdict is about the feature space of a kernel: the one about planes in the data's own.
    prepared : str
        What the columns went through before the classifier, such as a scaler; the data are those after it.
    """

    data: NamedData
    title: str
    verdict: Verdict
    model: Any
    run: Perceptron | KernelPerceptron | None
    bounds: BoundReport | None
    facts: tuple[tuple[str, str], ...] = ()
    planes: Verdict | None = None
    prepared: str = ""


def investigate(
    X: Any,
    y: Any,
    *,
    title: str = "Data",
    names: Any = None,
    verdict: Verdict | None = None,
    model: Any = None,
    kernel: Any = None,
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
    model : fitted classifier or pipeline, optional
        By default the largest margin where the classes are separable, else the soft margin. Of a pipeline,
        the last step is shown, on the columns as the other steps make them. The verdict is about the feature
        space of the model's kernel, where it has one, and about planes besides; with an intercept if the
        given verdict has one, or else if the model has.
    kernel : str, Kernel or callable, optional
        Ask in the feature space of this kernel, and show a kernel perceptron, where no model is given.
    facts : tuple of (str, str)
    places : callable, optional
        Says where rows, counted from zero, are in the file; without it they are counted from zero.
    """
    prepared = ""
    if hasattr(model, "steps"):
        X, names, model, prepared = _through(model, X, names)
    data = read(X, y, names, places)
    lift = bool(getattr(model, "fit_intercept", True)) if verdict is None else verdict.lift
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if kernel is not None and model is None:
            learner = KernelPerceptron(kernel=kernel, fit_intercept=lift, max_iter=1000)
            model = learner.fit(data.X, data.y)
        in_space = verdict if verdict is not None and verdict.kernel else None
        if in_space is None and (curved := _kernel_of(model)) is not None:
            in_space = separability(
                data.X,
                data.y,
                kernel=curved,
                fit_intercept=lift,
                feature_names=data.names,
                time_limit=60.0,
            )
        straight = verdict if verdict is not None and not verdict.kernel else None
        straight = straight or separability(data.X, data.y, fit_intercept=lift, feature_names=data.names)
        run = model if isinstance(model, Perceptron | KernelPerceptron) else _learn(data, straight)
        if model is None:
            model = _boundary(data, straight)
    bounds = None
    # Bounds need a largest margin and a soft margin, which take minutes on data larger than this.
    small = data.X.shape[0] * data.X.shape[1] <= 20_000_000
    if isinstance(run, Perceptron) and small and run.result_.status is not Status.ONLINE:
        same = not straight.parts and straight.lift == bool(run.fit_intercept)  # else other planes were meant
        separable = _by_planes(straight) if same else None
        bounds = mistake_bounds(run, data.X, data.y, separable=separable)
    asked, planes = (straight, None) if in_space is None else (in_space, straight)
    return Findings(data, title, asked, model, run, bounds, facts, planes, prepared)


def _through(pipeline: Any, X: Any, names: Any) -> tuple[Any, Any, Any, str]:
    """What a pipeline's last step sees: the columns, their names, the step; and what they went through."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a pipeline that knows names is asked about numbers, or the reverse
        seen = pipeline[:-1].transform(X) if len(pipeline) > 1 else X
        given = getattr(X, "columns", None) if names is None else names
        try:
            own = pipeline[:-1].get_feature_names_out(
                None if given is None else [str(each) for each in given]
            )
        except (AttributeError, ValueError):
            own = given if given is not None and len(given) == seen.shape[1] else None
    steps = ", then ".join(type(step).__name__ for _, step in pipeline.steps[:-1])
    return seen, None if own is None else [str(each) for each in own], pipeline[-1], steps


def _kernel_of(model: Any) -> Any:
    """The kernel of a model that has one and is not linear."""
    found = getattr(model, "kernel_", None) if getattr(model, "kernel", None) is not None else None
    return None if isinstance(found, Linear) else found


def updates(result: RunResult) -> tuple[int, int]:
    """The updates of a whole run, and those behind the weights that it kept, which may be earlier ones."""
    kept = int(result.counts.sum())
    return sum(record.mistakes for record in result.history) if result.history else kept, kept


def _by_planes(verdict: Verdict) -> bool | None:
    """Whether the rows themselves are separable; None where that is open, or a kernel's images were meant."""
    return None if verdict.reason else verdict.separable


def _learn(data: NamedData, verdict: Verdict) -> Perceptron:
    """A perceptron, with up to 10,000 passes if it is known to end and the data are small."""
    passes = 2_000_000_000 // max(1, data.X.size) if _by_planes(verdict) else 100
    learner = Perceptron(max_iter=min(max(100, passes), 10_000), fit_intercept=verdict.lift)
    return learner.fit(data.X, data.y)


def _boundary(data: NamedData, verdict: Verdict) -> Any:
    """The separator with the largest margin, or a soft margin if there is none in floating point."""
    if _by_planes(verdict):
        try:
            return MaxMargin(fit_intercept=verdict.lift).fit(data.X, data.y)
        except SeparatrixError:
            pass
    return SoftMargin(fit_intercept="lifted" if verdict.lift else False).fit(data.X, data.y)
