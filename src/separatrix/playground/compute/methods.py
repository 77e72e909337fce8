"""The methods of the page: the estimator that the settings stand for, and the Python code that repeats it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import separatrix as sx

from ..api.requests import PointData, RequestError, Settings
from .kernel_blocks import kernel_of, source_of

STEPWISE = ("perceptron", "kernel")  # the methods that learn step by step; the others solve one problem
WEIGHTS = 'print("weights", model.coef_, "intercept", model.intercept_)'
ENDING = 'print(model.result_.status.value, f"{model.mistakes_} mistakes")'


@dataclass(frozen=True)
class Method:
    """An estimator by its name and parameters.

    Attributes
    ----------
    name : str
        A public name of the library.
    parameters : dict
    prints : tuple of str
        Lines of Python that print what the fitted ``model`` has learned.
    sources : dict
        The Python code of the parameters whose repr is not Python code.
    """

    name: str
    parameters: dict[str, Any]
    prints: tuple[str, ...]
    sources: dict[str, str] = field(default_factory=dict)

    def estimator(self) -> Any:
        """Return a new estimator, not fitted."""
        return getattr(sx, self.name)(**self.parameters)

    def source(self) -> str:
        """Return Python code that makes the estimator; parameters at their defaults are left out."""
        usual = getattr(sx, self.name)().get_params(deep=False)
        told = [
            f"{name}={self.sources.get(name, repr(value))}"
            for name, value in self.parameters.items()
            if name in self.sources or usual[name] != value
        ]
        return f"sx.{self.name}({', '.join(told)})"


def method_of(settings: Settings) -> Method:
    """Return the method that the settings describe."""
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


def _perceptron(settings: Settings) -> Method:
    own = {"eta0": settings.rate, "init": settings.start, "renormalise": settings.renormalise}
    film = "# sx.plot.RunDisplay.from_estimator(model, X, y).save('run.gif')"
    trace = "trace = model.result_.trace  # every update: rows, scores before, weights after"
    return Method("Perceptron", _steps(settings) | own, (ENDING, WEIGHTS, trace, film))


def _kernel(settings: Settings) -> Method:
    if settings.order == "working_set":
        raise RequestError(
            "kernel_order", "The kernel perceptron visits rows in turn, shuffled, or the worst first."
        )
    own = {"kernel": kernel_of(settings.kernel), "budget": settings.budget, "removal": settings.removal}
    support = 'print("support", model.support_, "coefficients", model.dual_coef_.tolist())'
    film = "# sx.plot.kernel_film(model, X, y).save('run.gif')"
    source = {"kernel": source_of(settings.kernel)}
    return Method("KernelPerceptron", own | _steps(settings), (ENDING, support, film), source)


def _intercept(settings: Settings) -> bool | str:
    return settings.lift and ("lifted" if settings.intercept == "lifted" else True)


def _max_margin(settings: Settings) -> Method:
    margin = 'print("margin between", model.margin_lower_, "and", model.margin_upper_)'
    return Method("MaxMargin", {"fit_intercept": _intercept(settings)}, (WEIGHTS, margin))


def _soft_margin(settings: Settings) -> Method:
    objective = 'print("objective", model.objective_, "and its lower bound", model.dual_objective_)'
    parameters = {"C": settings.C, "fit_intercept": _intercept(settings)}
    return Method("SoftMargin", parameters, (WEIGHTS, objective))


def _linear_program(settings: Settings) -> Method:
    parameters = {"form": settings.form, "fit_intercept": settings.lift}
    return Method("LinearProgram", parameters, (WEIGHTS,))


METHODS: dict[str, Callable[[Settings], Method]] = {
    "perceptron": _perceptron,
    "kernel": _kernel,
    "max_margin": _max_margin,
    "soft_margin": _soft_margin,
    "linear_program": _linear_program,
}


def script(data: PointData, settings: Settings) -> str:
    """Return a Python program that learns from the same points in the same way, and prints what is shown."""
    method = method_of(settings)
    question = f", kernel={method.sources['kernel']}" if method.sources else ""
    question += "" if settings.lift else ", fit_intercept=False"
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
        f"model = {method.source()}",
        "model.fit(X, y)",
        "",
        *method.prints,
        "",
        f"verdict = sx.separability(X, y{question})",
        "print(verdict)",
        "if verdict.certificate is not None:",
        "    print(sx.verify(verdict.certificate, X, y))",
    ]
    return "\n".join(lines) + "\n"
