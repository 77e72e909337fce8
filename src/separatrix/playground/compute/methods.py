"""The methods that the server computes: the estimator that the settings describe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import separatrix as sx

from ..api.requests import RequestError, Settings
from .kernel_blocks import kernel_of

STEPWISE = ("perceptron", "kernel")  # the methods that learn step by step; the others solve one problem


def estimator_of(settings: Settings) -> Any:
    """Return the estimator that the settings describe, not fitted."""
    if settings.method not in METHODS:
        raise RequestError(
            "planar_only", "The page computes this method itself, for a few points in the plane."
        )
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
    return sx.Perceptron(
        **_steps(settings),
        eta0=settings.rate,
        margin=settings.margin,
        init=settings.start,
        renormalise=settings.renormalise,
        n_iter_no_change=None,  # the page shows every pass
    )


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
