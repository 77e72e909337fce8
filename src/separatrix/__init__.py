"""Separate the classes, or prove that it cannot be done: the perceptron and its family.

>>> import separatrix as sx
>>> problem = sx.datasets.make_separable(n_rows=1000, n_columns=5, margin=0.05, random_state=0)
>>> sx.Perceptron().fit(problem.X, problem.y).converged_
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, errors, geometry
    from .bounds import BoundReport, mistake_bounds
    from .certificates.check import verify
    from .errors import SeparationWarning
    from .estimators.linear import Perceptron
    from .estimators.margin import LinearProgram, MaxMargin, SoftMargin
    from .result import Result, Status
    from .verdict import Verdict, check_separation, separability

__version__ = "0.1.0"

# Where each public name lives; imported when first used, so that `import separatrix` is instant.
_HOMES = {
    "BoundReport": ".bounds",
    "LinearProgram": ".estimators.margin",
    "MaxMargin": ".estimators.margin",
    "Perceptron": ".estimators.linear",
    "Result": ".result",
    "SoftMargin": ".estimators.margin",
    "Status": ".result",
    "SeparationWarning": ".errors",
    "Verdict": ".verdict",
    "check_separation": ".verdict",
    "datasets": "",
    "errors": "",
    "geometry": "",
    "mistake_bounds": ".bounds",
    "separability": ".verdict",
    "verify": ".certificates.check",
}

__all__ = [
    "BoundReport",
    "LinearProgram",
    "MaxMargin",
    "Perceptron",
    "Result",
    "SeparationWarning",
    "SoftMargin",
    "Status",
    "Verdict",
    "check_separation",
    "datasets",
    "errors",
    "geometry",
    "mistake_bounds",
    "separability",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    value = getattr(import_module(home, __name__), name) if home else import_module(f".{name}", __name__)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
