"""Reports as PDF: the page of the experiments, printed by a browser without a window."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .. import atomic
from ..errors import OutputError
from .study import Experiment
from .study_page import run_all

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
SECONDS = 120.0  # to print a page


def write_pdf(path: str | os.PathLike[str], names: Sequence[str], *, quick: bool = False) -> list[Experiment]:
    """Run some experiments, and write the page that shows them as PDF.

    Parameters
    ----------
    path : path
        The file.
    names : sequence of str
        The experiments.
    quick : bool
        Small plans.

    Returns
    -------
    list of Experiment
    """
    browser = find_browser()
    with tempfile.TemporaryDirectory() as folder:
        every = run_all(folder, quick=quick, only=names, tables=False)
        printed = Path(folder) / "report.pdf"
        print_page(browser, Path(folder) / "index.html", printed)
        atomic.write_bytes(Path(path), printed.read_bytes())
    return every


def find_browser() -> str:
    """Return a browser that can print without a window."""
    for name in BROWSERS:
        found = shutil.which(name)
        if found is not None:
            return found
    raise OutputError(
        "No browser that can print a page as PDF was found: Chromium, Chrome or Edge is needed.",
        remedy="Install one of them, or name a folder, open its index.html and print it to PDF.",
        parameter="output",
    )


def print_page(browser: str, page: Path, target: Path) -> None:
    """Print a page in the style for paper."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0  # Chromium has no sandbox for root
    with tempfile.TemporaryDirectory() as profile:
        command = [
            *(browser, "--headless", "--disable-gpu", "--no-pdf-header-footer"),
            *(["--no-sandbox"] if root else []),
            *(f"--user-data-dir={profile}", f"--print-to-pdf={target}", page.resolve().as_uri()),
        ]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
        except (OSError, subprocess.SubprocessError) as error:
            raise OutputError(
                f"The browser {browser!r} did not print the page: {type(error).__name__}.",
                remedy="Name a folder instead, open its index.html and print it to PDF.",
                parameter="output",
            ) from error
    if not target.exists():
        raise OutputError(
            f"The browser {browser!r} wrote no PDF.",
            remedy="Name a folder instead, open its index.html and print it to PDF.",
            parameter="output",
        )
