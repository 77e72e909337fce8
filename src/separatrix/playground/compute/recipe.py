"""From settings to an estimator of the library, and to the Python code that makes the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import separatrix as sx

from ..api.codec import RequestError
from ..api.requests import PointData, Settings
from .kernel_blocks import kernel_of, source_of

AVERAGES = {"last": False, "averaged": "averaged", "voted": "voted"}


@dataclass(frozen=True)
class Recipe:
    """An estimator as a name and its parameters; those in ``sources`` are written otherwise than by repr."""

    name: str
    parameters: dict[str, Any]
    sources: dict[str, str]

    def estimator(self) -> Any:
        """A new estimator, not fitted."""
        return getattr(sx, self.name)(**self.parameters)

    def source(self) -> str:
        """Python that makes it; parameters at their defaults are left out."""
        usual = getattr(sx, self.name)().get_params(deep=False)
        told = [
            f"{name}={self.sources.get(name, repr(value))}"
            for name, value in self.parameters.items()
            if name in self.sources or usual[name] != value
        ]
        return f"sx.{self.name}({', '.join(told)})"


def recipe_of(settings: Settings) -> Recipe:
    """Which estimator these settings mean."""
    if settings.method == "perceptron":
        return Recipe("Perceptron", _perceptron(settings), {})
    if settings.method == "kernel":
        return Recipe("KernelPerceptron", _kernel(settings), {"kernel": source_of(settings.kernel)})
    intercept = settings.lift and ("lifted" if settings.intercept == "lifted" else True)
    if settings.method == "max_margin":
        return Recipe("MaxMargin", {"fit_intercept": intercept}, {})
    if settings.method == "soft_margin":
        return Recipe("SoftMargin", {"C": settings.C, "fit_intercept": intercept}, {})
    return Recipe("LinearProgram", {"form": settings.form, "fit_intercept": settings.lift}, {})


def _perceptron(settings: Settings) -> dict[str, Any]:
    return {
        "order": settings.order,
        "average": AVERAGES[settings.average],
        "fit_intercept": settings.lift,
        "eta0": settings.rate,
        "init": settings.start,
        "renormalise": settings.renormalise,
        "max_iter": settings.passes,
        "max_updates": settings.updates,
        "trace": True,
        "random_state": settings.seed,
    }


def _kernel(settings: Settings) -> dict[str, Any]:
    if settings.order == "working_set":
        raise RequestError(
            "kernel_order", "The kernel perceptron visits rows in turn, shuffled, or the worst first."
        )
    return {
        "kernel": kernel_of(settings.kernel),
        "fit_intercept": settings.lift,
        "order": settings.order,
        "average": AVERAGES[settings.average],
        "budget": settings.budget,
        "removal": settings.removal,
        "max_iter": settings.passes,
        "max_updates": settings.updates,
        "trace": True,
        "random_state": settings.seed,
    }


def script(data: PointData, settings: Settings) -> str:
    """A Python program that learns from the same points in the same way, and prints what the page shows."""
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
        f"model = {recipe_of(settings).source()}",
        "model.fit(X, y)",
        "",
        *_ending(settings),
        "",
        f"verdict = sx.separability(X, y{_question(settings)})",
        "print(verdict)",
        "if verdict.certificate is not None:",
        "    print(sx.verify(verdict.certificate, X, y))",
    ]
    return "\n".join(lines) + "\n"


def _ending(settings: Settings) -> list[str]:
    if settings.method == "perceptron":
        return [
            'print(model.result_.status.value, f"{model.mistakes_} mistakes")',
            'print("weights", model.coef_, "intercept", model.intercept_)',
            "# every update: rows, scores before, weights after",
            "trace = model.result_.trace",
            "# sx.plot.RunDisplay.from_estimator(model, X, y).save('run.gif')",
        ]
    if settings.method == "kernel":
        return [
            'print(model.result_.status.value, f"{model.mistakes_} mistakes")',
            'print("support", model.support_, "coefficients", model.dual_coef_.tolist())',
            "# sx.plot.kernel_film(model, X, y).save('run.gif')",
        ]
    lines = ['print("weights", model.coef_, "intercept", model.intercept_)']
    if settings.method == "max_margin":
        lines.append('print("margin between", model.margin_lower_, "and", model.margin_upper_)')
    elif settings.method == "soft_margin":
        lines.append('print("objective", model.objective_, "and its lower bound", model.dual_objective_)')
    return lines


def _question(settings: Settings) -> str:
    kernel = f", kernel={source_of(settings.kernel)}" if settings.method == "kernel" else ""
    return f"{kernel}{'' if settings.lift else ', fit_intercept=False'}"
