"""Pictures of separators, runs and proofs. They need matplotlib (the extra ``plot``)."""

from __future__ import annotations

from ..errors import needs
from ..views.palettes import DARK, LIGHT, Palette

with needs("sx.plot", extra="plot"):
    from .distance_display import DistanceDisplay, distance
    from .errors_display import ErrorsDisplay
    from .film import kernel_film
    from .hull_display import HullDisplay
    from .margin_bracket import BracketDisplay
    from .regions import DecisionRegionDisplay
    from .run_display import RunDisplay
    from .style import new_figure, palette, settings, style

__all__ = [
    "DARK",
    "LIGHT",
    "BracketDisplay",
    "DecisionRegionDisplay",
    "DistanceDisplay",
    "ErrorsDisplay",
    "HullDisplay",
    "Palette",
    "RunDisplay",
    "distance",
    "kernel_film",
    "new_figure",
    "palette",
    "settings",
    "style",
]
