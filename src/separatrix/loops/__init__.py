"""Compiled code, behind the one decorator `loop`.

Short functions over arrays that know nothing of files, models or people. Arrays and named tuples of arrays
flow in; results go into arrays that the caller gives, and a few numbers flow out. `compiling` has the
decorator, `rows` what all methods share (score, correct, learn, scan); each other module serves one reader or
one family of methods; `layouts` has what they read and fill. A module is imported, and numba with it, when
a loop of it is first asked for: what needs no loop does not wait for a compiler.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any


def __getattr__(name: str) -> Any:
    if name not in {module.name for module in iter_modules(__path__)}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f".{name}", __name__)
