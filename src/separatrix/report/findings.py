"""Everything that a report shows, computed once."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bounds.bound_report import BoundReport
from ..bounds.mistakes import mistake_bounds
from ..errors import ConvergenceWarning, SeparatrixError
from ..estimators.kernel import KernelPerceptron
from ..estimators.linear import Perceptron
from ..estimators.margin import MaxMargin, SoftMargin
from ..kernels import Linear
from ..proofs.verdict import Verdict, separability
from ..result import RunResult, Status
from .remedies import Origin
from .tables import NamedData, read

if TYPE_CHECKING:
    from ..proofs.fewest.fewest_errors import FewestErrors


@dataclass(frozen=True, eq=False)
class Findings:
    """What a report says about some data.

    Attributes
    ----------
    data : NamedData
    title : str
        The name of the data.
    verdict : Verdict
    model : estimator
        The classifier whose boundary, margins and weights are shown.
    bounds : BoundReport or None
        The mistake bounds of the model, if it is a perceptron.
    facts : tuple of (str, str)
        Further facts about the data, such as the file and the rows that were left out.
    prepared : str
        The steps of a pipeline before the classifier, such as a scaler. The data are their output.
    fewest : FewestErrors or None
        The fewest errors of any hyperplane, if they were asked for.
    given : bool
        Whether the report is about a classifier that was given. Otherwise, it is about a regression.
    origin : Origin
        Where the data come from.
    """

    data: NamedData
    title: str
    verdict: Verdict
    model: Any
    bounds: BoundReport | None
    facts: tuple[tuple[str, str], ...] = ()
    prepared: str = ""
    given: bool = False
    fewest: FewestErrors | None = None
    origin: Origin = field(default_factory=Origin)

    @cached_property
    def errors(self) -> int:
        """The number of rows that the model misclassifies."""
        return int(np.count_nonzero(self.model.predict(self.data.X) != self.data.y))

    @property
    def run(self) -> RunResult | None:
        """The run of the model, if it is a perceptron."""
        return self.model.result_ if isinstance(self.model, Perceptron | KernelPerceptron) else None


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
    fewest: FewestErrors | None = None,
    origin: Origin | None = None,
) -> Findings:
    """Compute what is not given: the verdict, a classifier, and the mistake bounds of a perceptron.

    Parameters
    ----------
    X, y : rows and labels
    title : str
        The name of the data.
    names : sequence of str, optional
        The names of the columns, if X has none.
    verdict : Verdict, optional
        By default, the verdict is about the feature space of the model's kernel, and has an intercept if the
        model has one.
    model : fitted classifier or pipeline, optional
        By default, the largest margin if a hyperplane separates the classes, and the soft margin if not. Of a
        pipeline, the last step is shown, with the data that the other steps pass to it.
    kernel : str, Kernel or callable, optional
        If no model is given, the report is about a kernel perceptron with this kernel.
    facts : tuple of (str, str)
    places : callable, optional
        Returns where rows are in the file. Without it, rows are counted from zero.
    fewest : FewestErrors, optional
        The fewest errors on the same rows; the report has a section about them if they are given.
    origin : Origin, optional
        Where the data come from, for lines of code that name the file.
    """
    prepared, given = "", model is not None or kernel is not None
    if hasattr(model, "steps"):
        X, names, model, prepared = _through(model, X, names)
    data = read(X, y, names, places)
    lift = bool(getattr(model, "fit_intercept", True)) if verdict is None else verdict.lift
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if kernel is not None and model is None:
            model = KernelPerceptron(kernel=kernel, fit_intercept=lift, max_iter=1000).fit(data.X, data.y)
        if verdict is None:
            curved = _kernel_of(model)
            limit = {} if curved is None else {"kernel": curved, "time_limit": 60.0}
            verdict = separability(data.X, data.y, fit_intercept=lift, feature_names=data.names, **limit)
        if model is None:
            model = _boundary(data, verdict)
    bounds = _bounds(model, data, verdict)
    return Findings(data, title, verdict, model, bounds, facts, prepared, given, fewest, origin or Origin())


def _through(pipeline: Any, X: Any, names: Any) -> tuple[Any, Any, Any, str]:
    """Return what the last step of a pipeline sees (columns, names), the step, and the steps before it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names may be known to only one of the pipeline and X
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
    """Return the kernel of a model, or None if it has none or a linear one."""
    found = getattr(model, "kernel_", None) if getattr(model, "kernel", None) is not None else None
    return None if isinstance(found, Linear) else found


def _boundary(data: NamedData, verdict: Verdict) -> Any:
    """Return the separator with the largest margin, or a soft margin if floating point finds none."""
    if verdict.separable and not verdict.kernel:
        try:
            return MaxMargin(fit_intercept=verdict.lift).fit(data.X, data.y)
        except SeparatrixError:
            pass
    return SoftMargin(fit_intercept="lifted" if verdict.lift else False).fit(data.X, data.y)


def _bounds(model: Any, data: NamedData, verdict: Verdict, most: int = 20_000_000) -> BoundReport | None:
    """Return the mistake bounds of a perceptron; they take minutes for more than ``most`` numbers."""
    if not isinstance(model, Perceptron) or model.result_.status is Status.ONLINE:
        return None
    if data.X.shape[0] * data.X.shape[1] > most:
        return None
    same = not verdict.parts and not verdict.kernel and verdict.lift == bool(model.fit_intercept)
    return mistake_bounds(model, data.X, data.y, separable=verdict.separable if same else None)
