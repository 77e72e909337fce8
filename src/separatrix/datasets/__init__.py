"""Problems with a known answer: a separator and its margin, or a proof that no hyperplane separates the rows.

Every claim below is about the floats returned, read as exact rational numbers; if rounding has an effect,
the docstring says how large it may be. ``eps`` is 2**-52.
"""

from __future__ import annotations

from .curved import make_checkerboard, make_rings, make_spirals, make_xor
from .planes import make_multiclass, make_overlapping, make_separable
from .problems import Problem

__all__ = [
    "Problem",
    "make_checkerboard",
    "make_multiclass",
    "make_overlapping",
    "make_rings",
    "make_separable",
    "make_spirals",
    "make_xor",
]
