"""Separate the classes, or prove that it cannot be done: the perceptron and its family.

>>> import separatrix as sx
>>> problem = sx.datasets.make_separable(n_rows=1000, n_columns=5, margin=0.05, random_state=0)
>>> sx.Perceptron().fit(problem.X, problem.y).converged_
True
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

# The module that each public name is from. It is imported when the name is first used, so that
# `import separatrix` is instant.
_HOMES = {
    name.name: node.module
    for node in ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
    if isinstance(node, ast.ImportFrom)
    for name in node.names
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    value = import_module(f".{home or name}", __name__)
    if home is not None:
        value = getattr(value, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
