"""The geometry behind the perceptron: hyperplanes, sides, margins, projections and convex hulls."""

from . import convex, hulls
from .convex import *
from .hulls import *

__all__ = [*convex.__all__, *hulls.__all__]
