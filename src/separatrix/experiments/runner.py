"""Run a study: measure what is missing, check every sentence, draw."""

from __future__ import annotations

import difflib
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from ..errors import InputError
from ..plot.style import style
from ..progress import Progress
from ..views.palettes import LIGHT
from .catalog import STUDIES
from .journal import Journal
from .study import Experiment, Study

BAR = 30


def names() -> list[str]:
    """The names of all experiments, in the order of the report."""
    return [study.name for study in STUDIES]


def find(name: str) -> Study:
    """The study of a name; underscores are as good as hyphens."""
    wanted = name.strip().lower().replace("_", "-")
    for study in STUDIES:
        if study.name == wanted:
            return study
    near = difflib.get_close_matches(wanted, names(), n=1, cutoff=0.4)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    raise InputError(f"There is no experiment {name!r}.{meant} There are: {', '.join(names())}.")


def run(
    name: str, *, quick: bool = False, directory: str | os.PathLike[str] | None = None, heading: str = ""
) -> Experiment:
    """Make one experiment.

    Parameters
    ----------
    name : str
        One of `names`.
    quick : bool
        A plan of a second or so instead of the full one; the same question, with fewer repetitions.
    directory : path, optional
        Where the table is kept, as Parquet and as CSV. What is there already is not measured again; a run
        that was interrupted goes on where it was.
    heading : str
        What the progress line says before the name.

    Returns
    -------
    Experiment

    Examples
    --------
    >>> from separatrix import experiments
    >>> result = experiments.run("learning-rate", quick=True)
    >>> result.holds
    True
    """
    study, begun = find(name), time.perf_counter()
    plan = study.plan(quick)
    journal = Journal(study, plan, None if directory is None else Path(directory))
    with _interrupts() as interrupts:
        table = journal.finished()
        if table is None:
            try:
                with Progress() as progress:
                    for cell, settings in enumerate(plan):
                        if progress.due():
                            progress.show(f"{heading}{study.name} {_bar(cell, len(plan))}")
                        if cell not in journal.done:
                            record = study.measure(**settings)
                            if interrupts:  # a solver returned what it had by then: that is no measurement
                                raise KeyboardInterrupt
                            journal.add(cell, record)
            finally:
                journal.keep()
            table = journal.close()
        findings = (*(bounded.check(table) for bounded in study.bounds), *study.findings(table))
        with style(LIGHT):
            figure = study.draw(table)
        if interrupts:  # pictures ask solvers too
            raise KeyboardInterrupt
    return Experiment(
        name=study.name,
        title=study.title,
        source=study.source,
        question=study.question,
        method=study.method,
        theorem=study.theorem,
        reference=study.reference,
        quick=quick,
        table=table,
        findings=findings,
        tightness=max((bounded.tightness(table) for bounded in study.bounds), default=None),
        figure=figure,
        seconds=time.perf_counter() - begun,
    )


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Collect the interrupts of the keyboard, which solvers answer by returning what they have."""
    seen: list[int] = []
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield seen
        return

    def note(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        usual(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, usual)


def _bar(done: int, total: int) -> str:
    filled = BAR * done // max(1, total)
    return f"[{'#' * filled}{'-' * (BAR - filled)}] {done} of {total}"
