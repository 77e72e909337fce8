"""Problems with a known answer: a separator and its margin, or a proof that no hyperplane separates the rows.

Every claim below is about the floats returned, read as exact rational numbers; if rounding has an effect,
the docstring says how large it may be. ``eps`` is 2**-52.
"""

from __future__ import annotations

from . import curved, grids, planes
from .curved import *
from .grids import *
from .planes import *
from .problems import Problem

__all__ = ["Problem", *curved.__all__, *grids.__all__, *planes.__all__]
