"""Pictures of separators, of runs and of proofs; needs matplotlib (the extra ``plot``)."""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("matplotlib") is None:
    raise ImportError("sx.plot needs matplotlib. Install it with: pip install 'separatrix[plot]'")

from .bracket import BracketDisplay
from .gram import GramDisplay
from .hulls import HullDisplay
from .regions import DecisionRegionDisplay
from .run import RunDisplay
from .style import DARK, LIGHT, Palette, new_figure, palette, settings, style

__all__ = [
    "DARK",
    "LIGHT",
    "BracketDisplay",
    "DecisionRegionDisplay",
    "GramDisplay",
    "HullDisplay",
    "Palette",
    "RunDisplay",
    "new_figure",
    "palette",
    "settings",
    "style",
]
