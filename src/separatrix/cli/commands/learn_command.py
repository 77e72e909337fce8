"""``separatrix learn``: visit each row once, in order, and be ready to stop at any time."""

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


@options.reads(*options.CLUSTER)
def learn(
    source: options.Reading,
    classes: Annotated[
        str | None,
        typer.Option(
            "--classes",
            help="All classes, separated by commas. Default: the target is read once before.",
        ),
    ] = None,
    average: Annotated[
        bool,
        typer.Option("--average/--last", help="Predict with the mean of all weights, or with the last ones."),
    ] = False,
    intercept: options.Intercept = True,
    output: options.ModelFile = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            metavar="FILE",
            help="Save the state here, and go on from it when the command is repeated.",
        ),
    ] = None,
    every: Annotated[
        int | None,
        typer.Option("--every", min=1, metavar="N", help="Save the state after N rows."),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.0, help="Save the state after this many seconds.")
    ] = 30.0,
    json: options.Json = False,
) -> None:
    """Learn online: each row is visited once, in order, and every mistake is corrected at once.

    With --checkpoint the run may be killed at any moment: the same command continues from the last state that
    was saved, and ends with the same weights and counts as a run that was never stopped. Rows that are added
    to the data later are learned when the command is repeated. With --classes, LIBSVM and CSV of plain
    numbers are learned from standard input as they arrive; other tables are read to their end first.

    For example:

        separatrix learn clicks.parquet --target clicked --checkpoint clicks.npz -o model.skops

        zcat mail.svm.gz | separatrix learn - --classes=-1,1 --average
    """
    from ...estimators.online import learn as learn_online

    if checkpoint is None and every is not None:
        raise typer.BadParameter("--every says how often the state is saved; name a file with --checkpoint.")
    options.need_apart(source.data, output=output, checkpoint=checkpoint)
    rows = source.open(intercept=intercept, count_columns=False, live=True)
    begun = time.perf_counter()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a request to end is handled like Ctrl-C
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
    """Say what one pass over the rows gave."""
    from ...estimators.online import novikoff_so_far
    from ...files.encoding import shown
    from ...result import rounded

    upper, bound = novikoff_so_far(learned.model)
    known = (
        f"no margin is above {rounded(upper)}, up to rounding: if the classes can be separated at all, "
        f"Novikoff's bound is {bound:,.0f} mistakes or more"
    )
    show(
        heading(f"{learned.mistakes:,} mistakes in {learned.rows:,} rows: {100 * learned.rate:.2f} %."),
        "",
        facts(
            [
                ("features", f"{learned.encoding.n_features:,}"),
                ("classes", shown(learned.model.classes_.tolist())),
                ("bound", known if 0.0 < bound < float("inf") else "says nothing yet"),
                ("time", f"{seconds:.2f} s, {_speed(learned, seconds):,.0f} rows/s"),
            ]
        ),
        "",
    )
    if learned.sorted:
        say(
            "The rows are sorted by class: guessing that the next row is like the last one is nearly always "
            "right, so this rate says little about new rows. Shuffle the file, or fit with several passes."
        )


def _speed(learned: Any, seconds: float) -> float:
    return float((learned.rows - learned.resumed) / max(seconds, 1e-9))


def _say_how_to_resume(learned: Any, checkpoint: str | None) -> None:
    if checkpoint is None:
        say(f"Stopped after row {learned.rows:,}. Nothing was saved; with --checkpoint a run can be resumed.")
        return
    command = shlex.join(["separatrix", *sys.argv[1:]])
    say(f"Stopped after row {learned.rows:,}; the state is in {checkpoint}. To continue: {command}")


def _reporter(line: Progress) -> Callable[[Any], None]:
    """Show the running mistake rate on the terminal."""
    begun, rows = time.perf_counter(), 0

    def report(progress: Any) -> None:
        nonlocal rows
        rows += progress.recent_rows
        if not line.due():
            return
        bound = ""
        if 0.0 < progress.bound_lower < float("inf"):
            bound = f"; Novikoff's bound is {progress.bound_lower:,.0f} mistakes or more"
        speed = rows / (time.perf_counter() - begun)
        line.show(
            f"row {progress.rows:,}, {progress.mistakes:,} mistakes ({100 * progress.rate:.2f} %; of late "
            f"{100 * progress.recent_rate:.2f} %), {speed:,.0f} rows/s{bound}"
        )

    return report
