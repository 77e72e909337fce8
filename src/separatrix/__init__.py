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
    from . import datasets, errors, experiments, features, geometry, kernels, playground, plot, river
    from .bounds import BoundReport, mistake_bounds
    from .certificates.check import verify
    from .errors import SeparationWarning
    from .estimators.kernel import KernelPerceptron
    from .estimators.linear import Perceptron
    from .estimators.linear_program import LinearProgram
    from .estimators.margin import MaxMargin, SoftMargin
    from .geometry.degree import SeparatingDegree, smallest_separating_degree
    from .proofs.verdict import Verdict, check_separation, separability
    from .report.page import write_report
    from .result import Result, Status
    from .storage.models import load, save
    from .storage.onnx import export_onnx

__version__ = "0.1.0"

# Where each public name lives (a module, or the module that has it); imported when first used, so that
# `import separatrix` is instant.
_HOMES = {
    "BoundReport": ".bounds",
    "KernelPerceptron": ".estimators.kernel",
    "LinearProgram": ".estimators.linear_program",
    "MaxMargin": ".estimators.margin",
    "Perceptron": ".estimators.linear",
    "Result": ".result",
    "SoftMargin": ".estimators.margin",
    "Status": ".result",
    "SeparationWarning": ".errors",
    "Verdict": ".proofs.verdict",
    "check_separation": ".proofs.verdict",
    "datasets": ".datasets",
    "errors": ".errors",
    "export_onnx": ".storage.onnx",
    "load": ".storage.models",
    "experiments": ".experiments",
    "features": ".features",
    "geometry": ".geometry",
    "kernels": ".kernels",
    "mistake_bounds": ".bounds",
    "playground": ".playground",
    "plot": ".plot",
    "river": ".river",
    "SeparatingDegree": ".geometry.degree",
    "save": ".storage.models",
    "separability": ".proofs.verdict",
    "smallest_separating_degree": ".geometry.degree",
    "verify": ".certificates.check",
    "write_report": ".report.page",
}

__all__ = [
    "BoundReport",
    "KernelPerceptron",
    "LinearProgram",
    "MaxMargin",
    "Perceptron",
    "Result",
    "SeparatingDegree",
    "SeparationWarning",
    "SoftMargin",
    "Status",
    "Verdict",
    "check_separation",
    "datasets",
    "errors",
    "experiments",
    "export_onnx",
    "features",
    "geometry",
    "kernels",
    "load",
    "mistake_bounds",
    "playground",
    "plot",
    "river",
    "save",
    "separability",
    "smallest_separating_degree",
    "verify",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    module = import_module(home, __name__)
    value = module if home.endswith(f".{name}") else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
