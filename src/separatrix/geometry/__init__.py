"""The geometry behind the perceptron: hyperplanes, sides, margins, projections and convex hulls."""

from . import convex, hulls, shortest
from .convex import *
from .hulls import *
from .shortest import *

__all__ = [*convex.__all__, *hulls.__all__, *shortest.__all__]
