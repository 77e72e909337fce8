"""The exercises and claims of the course as experiments: table, figure, and an answer that was checked."""

from __future__ import annotations

from ..errors import needs

with needs("sx.experiments", extra="plot"):
    from .runner import find, names, run
    from .study import Experiment, Finding, Study
    from .study_page import run_all, save_figure

__all__ = ["Experiment", "Finding", "Study", "find", "names", "run", "run_all", "save_figure"]
