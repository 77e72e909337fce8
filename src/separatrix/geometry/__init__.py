"""The geometry behind the perceptron: hyperplanes, sides, margins, projections and convex hulls."""

from .convex import common_point, distance, functional_margin, geometric_margin, in_half_space, project
from .hulls import AffineHull, HullDistance, Membership, affine_hull, hull_distance, in_hull

__all__ = [
    "AffineHull",
    "HullDistance",
    "Membership",
    "affine_hull",
    "common_point",
    "distance",
    "functional_margin",
    "geometric_margin",
    "hull_distance",
    "in_half_space",
    "in_hull",
    "project",
]
