"""Pictures of separators, of runs and of proofs; needs matplotlib (the extra ``plot``)."""

from __future__ import annotations

from ..errors import needs
from ..views.palettes import DARK, LIGHT, Palette

with needs("sx.plot", extra="plot"):
    from .gram import GramDisplay
    from .hull_display import HullDisplay
    from .kernel_film import kernel_film
    from .margin_bracket import BracketDisplay
    from .regions import DecisionRegionDisplay
    from .run_display import RunDisplay
    from .style import new_figure, palette, settings, style

__all__ = [
    "DARK",
    "LIGHT",
    "BracketDisplay",
    "DecisionRegionDisplay",
    "GramDisplay",
    "HullDisplay",
    "Palette",
    "RunDisplay",
    "kernel_film",
    "new_figure",
    "palette",
    "settings",
    "style",
]
