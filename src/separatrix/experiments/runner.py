"""Run a study: measure, check every sentence, draw, and write the table."""

from __future__ import annotations

import csv
import difflib
import io
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import FrameType

from .. import atomic
from ..errors import InputError
from ..plot.style import style
from ..progress import Progress
from ..views.palettes import LIGHT
from .study import Description, Experiment, Study, Table, as_table
from .themes import (
    convergence,
    dual,
    embedding,
    generalization,
    learners,
    multiclass,
    noise,
    separators,
    variants,
)

# In the order of the report.
THEMES = (convergence, variants, learners, dual, multiclass, noise, embedding, separators, generalization)
STUDIES = tuple(study for theme in THEMES for study in vars(theme).values() if isinstance(study, Study))


def names() -> list[str]:
    """Return the names of all experiments, in the order of the report."""
    return [study.name for study in STUDIES]


def find(name: str) -> Study:
    """Return the study with this name; underscores count as hyphens."""
    wanted = name.strip().lower().replace("_", "-")
    for study in STUDIES:
        if study.name == wanted:
            return study
    near = difflib.get_close_matches(wanted, names(), n=1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    raise InputError(f"There is no experiment {name!r}.{meant} There are: {', '.join(names())}.")


def matching(name: str) -> list[Study]:
    """Return the studies that a name means: one, those of an exercise (``exercise-3``), or ``all``."""
    if name == "all":
        return list(STUDIES)
    number = re.fullmatch(r"exercise[-_ ]?(\d+)", name.strip().lower())
    if number is None:
        return [find(name)]
    answering = [study for study in STUDIES if int(number[1]) in study.exercises]
    if not answering:
        last = max(max(study.exercises, default=0) for study in STUDIES)
        raise InputError(f"There is no exercise {number[1]}. The exercises are 1 to {last}.")
    return answering


def run(
    name: str, *, quick: bool = False, directory: str | os.PathLike[str] | None = None, heading: str = ""
) -> Experiment:
    """Run one experiment.

    Parameters
    ----------
    name : str
        One of `names`.
    quick : bool
        Use the small plan, with fewer repetitions, which takes seconds.
    directory : path, optional
        Where the table is written, as CSV.
    heading : str
        Text that the progress line shows before the name.

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
    target = None if directory is None else atomic.made(Path(directory)) / study.name
    plan, records = study.plan(quick), []
    with _interrupts() as interrupts:
        with Progress() as progress:
            for number, settings in enumerate(plan):
                if progress.due():
                    progress.show(f"{heading}{study.name}: {number} of {len(plan)}")
                records += [{**settings, **record} for record in study.measure(**settings)]
                if interrupts:  # what an interrupted solver returned is not a measurement
                    raise KeyboardInterrupt
        table = as_table(records)
        findings = (*(bounded.check(table) for bounded in study.bounds), *study.findings(table))
        with style(LIGHT):
            figure = study.draw(table)
        if interrupts:  # a figure may call solvers too
            raise KeyboardInterrupt
    if target is not None:
        _write(target, table)
    return Experiment(
        **{field.name: getattr(study, field.name) for field in fields(Description)},
        quick=quick,
        table=table,
        findings=findings,
        tightness=max((bounded.tightness(table) for bounded in study.bounds), default=None),
        figure=figure,
        seconds=time.perf_counter() - begun,
    )


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Collect keyboard interrupts: a solver that is interrupted returns what it has by then."""
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


def _write(target: Path, table: Table) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
    atomic.write_text(target.with_suffix(".csv"), text.getvalue())
