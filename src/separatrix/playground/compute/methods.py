"""The methods of the page: the estimator that the settings describe, and the Python code that repeats it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import separatrix as sx

from ..api.requests import PointData, RequestError, Settings
from .kernel_blocks import kernel_of, source_of

STEPWISE = ("perceptron", "kernel")  # the methods that learn step by step; the others solve one problem
WEIGHTS = 'print("weights", model.coef_, "intercept", model.intercept_)'
ENDING = 'print(model.result_.status.value, f"{model.mistakes_} mistakes")'
# Lines of Python that print what the fitted ``model`` has learned.
PRINTS = {
    "perceptron": (
        ENDING,
        WEIGHTS,
        "trace = model.result_.trace  # every update: rows, scores before, weights after",
        "# sx.plot.RunDisplay.from_estimator(model, X, y).save('run.gif')",
    ),
    "kernel": (
        ENDING,
        'print("support", model.support_, "coefficients", model.dual_coef_.tolist())',
        "# sx.plot.kernel_film(model, X, y).save('run.gif')",
    ),
    "max_margin": (WEIGHTS, 'print("margin between", model.margin_lower_, "and", model.margin_upper_)'),
    "soft_margin": (
        WEIGHTS,
        'print("objective", model.objective_, "and its lower bound", model.dual_objective_)',
    ),
    "linear_program": (WEIGHTS,),
}


def estimator_of(settings: Settings) -> Any:
    """Return the estimator that the settings describe, not fitted."""
    return METHODS[settings.method](settings)


def _steps(settings: Settings) -> dict[str, Any]:
    return {
        "fit_intercept": settings.lift,
        "order": settings.order,
        "average": False if settings.average == "last" else settings.average,
        "max_iter": settings.passes,
        "max_updates": settings.updates,
        "trace": True,
        "random_state": settings.seed,
    }


def _perceptron(settings: Settings) -> Any:
    own: dict[str, Any] = {"init": settings.start, "renormalise": settings.renormalise}
    own["n_iter_no_change"] = None  # the page shows every pass
    return sx.Perceptron(**_steps(settings), eta0=settings.rate, **own)


def _kernel(settings: Settings) -> Any:
    if settings.order in ("working_set", "worst"):
        raise RequestError("kernel_order", "The kernel perceptron visits rows in turn or shuffled.")
    return sx.KernelPerceptron(kernel_of(settings.kernel), budget=settings.budget, **_steps(settings))


def _intercept(settings: Settings) -> bool | str:
    return settings.lift and ("lifted" if settings.intercept == "lifted" else True)


METHODS: dict[str, Callable[[Settings], Any]] = {
    "perceptron": _perceptron,
    "kernel": _kernel,
    "max_margin": lambda settings: sx.MaxMargin(fit_intercept=_intercept(settings)),
    "soft_margin": lambda settings: sx.SoftMargin(settings.C, fit_intercept=_intercept(settings)),
    "linear_program": lambda settings: sx.LinearProgram(form=settings.form, fit_intercept=settings.lift),
}


def script(data: PointData, settings: Settings) -> str:
    """Return a Python program that learns from the same points in the same way, and prints what is shown."""
    estimator = estimator_of(settings)
    usual = type(estimator)().get_params(deep=False)
    chosen = estimator.get_params(deep=False).items()
    given = {name: repr(value) for name, value in chosen if usual[name] != value}
    question = "" if settings.lift else ", fit_intercept=False"
    if settings.method == "kernel":
        given["kernel"] = source_of(settings.kernel)
        question = f", kernel={given['kernel']}{question}"
    parameters = ", ".join(f"{name}={value}" for name, value in given.items())
    lines = [
        "import numpy as np",
        "import separatrix as sx",
        "",
        f"columns = {list(data.columns)!r}",
        f"names = {list(data.classes)!r}  # of the classes 0, 1, ...",
        "X = np.array([",
        *(f"    {list(row)!r}," for row in data.rows),
        "])",
        f"y = np.array({list(data.labels)!r})",
        "",
        f"model = sx.{type(estimator).__name__}({parameters})",
        "model.fit(X, y)",
        "",
        *PRINTS[settings.method],
        "",
        f"verdict = sx.separability(X, y{question})",
        "print(verdict)",
        "if verdict.certificate is not None:",
        "    print(sx.verify(verdict.certificate, X, y))",
    ]
    return "\n".join(lines) + "\n"
