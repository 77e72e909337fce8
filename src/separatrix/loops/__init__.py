"""Compiled code, behind the one decorator `loop`.

Loops are short functions over arrays. Arrays and named tuples of arrays flow in; loops write their results
into arrays of the caller and return a few numbers. `compiling` has the decorator, `rows` the loops that all
methods share (score, correct, learn, scan), and `layouts` the named tuples. Each other module serves one
reader or one family of methods. A module, and numba with it, is imported when one of its loops is first used,
so code without loops does not wait for the compiler.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any


def __getattr__(name: str) -> Any:
    if name not in {module.name for module in iter_modules(__path__)}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f".{name}", __name__)
