"""The exercises and claims of the course as experiments: table, figure, and an answer that was checked."""

from __future__ import annotations

from ..errors import needs

with needs("sx.experiments", extra="plot"):
    from .runner import find, matching, names, run
    from .study import Experiment, Finding, Study
    from .study_page import run_all, save_figure, write_pdf

__all__ = [
    "Experiment",
    "Finding",
    "Study",
    "find",
    "matching",
    "names",
    "run",
    "run_all",
    "save_figure",
    "write_pdf",
]
