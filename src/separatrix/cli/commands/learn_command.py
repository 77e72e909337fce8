"""``separatrix learn``: learn online, visiting each row once, with checkpoints."""

from __future__ import annotations

import shlex
import signal
import sys
import time
from collections.abc import Callable
from typing import Annotated, Any

import typer

from ...progress import Progress
from .. import options
from ..console import facts, heading, say, show, write_json


def learn(
    source: options.Reading,
    *,
    classes: str | None = None,
    average: bool = False,
    intercept: bool = True,
    output: str | None = None,
    checkpoint: str | None = None,
    every: options.Count = None,
    seconds: Annotated[float, {"min": 0.0}] = 30.0,
    json: bool = False,
) -> None:
    """Learn online: visit each row once, in order, and correct every mistake immediately.

    With --checkpoint, you can kill the run at any moment. The same command continues from the last saved
    state, and its final weights and counts are the same as those of a run that was never stopped. Repeat the
    command to learn from rows that were added to the data. Standard input is read to its end first.

    For example:

        separatrix learn clicks.parquet --target clicked --checkpoint clicks.npz -o model.skops

        zcat mail.svm.gz | separatrix learn - --classes=-1,1 --average

    Options
    -------
    classes: All classes, separated by commas. Default: the target column is read first to find them.
    average, --last: Predict with the mean of all weights, or with the last weights.
    checkpoint FILE: Save the state to this file, and continue from it when the command is repeated.
    every N: Save the state every N rows.
    seconds: The number of seconds between two saved states.
    """
    from ...estimators.online import learn as learn_online

    if checkpoint is None and every is not None:
        raise typer.BadParameter("--every needs a file for the state. Name it with --checkpoint.")
    options.need_apart(source.data, output=output, checkpoint=checkpoint)
    rows = source.open(intercept=intercept)
    begun = time.perf_counter()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # handle it like Ctrl-C
    with options.naming_rows(rows), Progress() as line:
        learned = learn_online(
            rows,
            classes=None if classes is None else options.labels(classes),
            average=average,
            path=checkpoint,
            every_rows=every,
            every_seconds=seconds,
            report=_reporter(line) if line.watched else None,
        )
    taken = time.perf_counter() - begun
    if learned.resumed:
        say(f"Continued from row {learned.resumed:,}.")
    if output is not None and not learned.interrupted:
        from ...storage.models import save

        options.name_features(learned.model, learned.encoding)
        save(learned.model, output, columns=learned.encoding.as_dict())
    if json:
        from ...files.label_spelling import doubts

        told = [*doubts(str(rows.target_name), learned.model.classes_.tolist()), *rows.notes]
        write_json(_plain(learned, taken, output) | {"notes": told})
    else:
        options.show_doubts(rows.target_name, learned.model.classes_)
        _show(learned, taken)
        options.say_notes(rows)
    if learned.interrupted:
        _say_how_to_resume(learned, checkpoint)
        raise typer.Exit(130)
    if output is not None or checkpoint is None:
        options.say_saved(output)


def _plain(learned: Any, seconds: float, output: str | None) -> dict[str, Any]:
    return {
        "rows": learned.rows,
        "mistakes": learned.mistakes,
        "mistake_rate": learned.rate,
        "sorted_by_class": learned.sorted,
        "resumed_from": learned.resumed,
        "interrupted": learned.interrupted,
        "classes": learned.model.classes_,
        "features": learned.encoding.n_features,
        "seconds": seconds,
        "rows_per_second": _speed(learned, seconds),
        "model_file": None if learned.interrupted else output,
    }


def _show(learned: Any, seconds: float) -> None:
    """Print the result of the pass."""
    from ...estimators.online import novikoff_so_far
    from ...files.encoding import shown
    from ...result import rounded

    upper, bound = novikoff_so_far(learned.model)
    known = (
        f"if the classes can be separated, Novikoff's bound allows at least {bound:,.0f} mistakes, because "
        f"the best margin is at most {rounded(upper)} (up to rounding)"
    )
    show(
        heading(f"{learned.mistakes:,} mistakes in {learned.rows:,} rows: {100 * learned.rate:.2f} %."),
        "",
        facts(
            [
                ("features", f"{learned.encoding.n_features:,}"),
                ("classes", shown(learned.model.classes_.tolist())),
                ("bound", known if 0.0 < bound < float("inf") else "none yet"),
                ("time", f"{seconds:.2f} s, {_speed(learned, seconds):,.0f} rows/s"),
            ]
        ),
        "",
    )
    if learned.sorted:
        say(
            "The rows are sorted by class, so this mistake rate says little about new rows. Shuffle the "
            "file, or use separatrix fit, which makes several passes."
        )


def _speed(learned: Any, seconds: float) -> float:
    return float((learned.rows - learned.resumed) / max(seconds, 1e-9))


def _say_how_to_resume(learned: Any, checkpoint: str | None) -> None:
    if checkpoint is None:
        say(
            f"Stopped after row {learned.rows:,}. Nothing was saved. With --checkpoint, you can resume a run."
        )
        return
    command = shlex.join(["separatrix", *sys.argv[1:]])
    say(f"Stopped after row {learned.rows:,}; the state is in {checkpoint}. To continue: {command}")


def _reporter(line: Progress) -> Callable[[Any], None]:
    """Return a function that shows the current mistake rate on the terminal."""
    begun, rows = time.perf_counter(), 0

    def report(progress: Any) -> None:
        nonlocal rows
        rows += progress.recent_rows
        if not line.due():
            return
        bound = ""
        if 0.0 < progress.bound_lower < float("inf"):
            bound = f"; Novikoff's bound is at least {progress.bound_lower:,.0f} mistakes"
        speed = rows / (time.perf_counter() - begun)
        line.show(
            f"row {progress.rows:,}, {progress.mistakes:,} mistakes ({100 * progress.rate:.2f} %, recently "
            f"{100 * progress.recent_rate:.2f} %), {speed:,.0f} rows/s{bound}"
        )

    return report
