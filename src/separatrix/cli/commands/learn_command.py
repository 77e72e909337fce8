"""``separatrix learn``: visit each row once, in order, and be ready to stop at any time."""

from __future__ import annotations

import shlex
import signal
import sys
import time
from contextlib import nullcontext
from typing import Annotated, Any

import typer

from .. import options
from ..console import facts, heading, say, show, write_json


@options.reads(*options.CLUSTER)
def learn(
    source: options.Reading,
    classes: Annotated[
        str | None,
        typer.Option(
            "--classes",
            help="Every class to come, separated by commas. Default: the target is read once before.",
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
        int | None, typer.Option("--every", min=1, metavar="ROWS", help="Save the state after so many rows.")
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.0, help="Save the state after so many seconds.")
    ] = 30.0,
    json: options.Json = False,
) -> None:
    """Learn online: each row is seen once, in order, and every mistake is corrected at once.

    With --checkpoint the run may be killed at any moment: the same command goes on from the last state that
    was saved, and ends with the same weights and counts as a run that was never stopped. Rows added to the
    data later are learnt when the command is repeated. With --classes, LIBSVM and CSV of plain numbers are
    learnt from standard input as they come; other tables are read to their end first.

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
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a request to end is handled as Ctrl-C is
    line = _Line() if sys.stderr.isatty() else None
    with options.naming_rows(rows), line or nullcontext():
        learnt = learn_online(
            rows,
            classes=None if classes is None else options.labels(classes),
            average=average,
            path=checkpoint,
            every_rows=every,
            every_seconds=seconds,
            report=None if line is None else line.report,
        )
    taken = time.perf_counter() - begun
    if learnt.repaired:
        say(f"{checkpoint} was damaged; the state saved before it was used.")
    if learnt.resumed:
        say(f"Went on from row {learnt.resumed:,}.")
    if output is not None and not learnt.interrupted:
        from ...storage.models import save

        options.name_features(learnt.model, learnt.encoding)
        save(learnt.model, output, columns=learnt.encoding.as_dict())
    if json:
        from ...files.label_spelling import doubts

        told = [*doubts(str(rows.target_name), learnt.model.classes_.tolist()), *rows.notes]
        write_json(_plain(learnt, taken, output) | {"notes": told})
    else:
        options.show_doubts(rows.target_name, learnt.model.classes_)
        show_learnt(learnt, taken)
        options.say_notes(rows)
    if learnt.interrupted:
        _say_how_to_resume(learnt, checkpoint)
        raise typer.Exit(130)
    if output is not None or checkpoint is None:
        options.say_saved(output)


def _plain(learnt: Any, seconds: float, output: str | None) -> dict[str, Any]:
    return {
        "rows": learnt.rows,
        "mistakes": learnt.mistakes,
        "mistake_rate": learnt.rate,
        "sorted_by_class": learnt.sorted,
        "resumed_from": learnt.resumed,
        "interrupted": learnt.interrupted,
        "classes": learnt.model.classes_,
        "features": learnt.encoding.n_features,
        "seconds": seconds,
        "rows_per_second": _speed(learnt, seconds),
        "model_file": None if learnt.interrupted else output,
    }


def show_learnt(learnt: Any, seconds: float) -> None:
    """Say what one pass over the rows came to."""
    from ...estimators.online import novikoff_so_far
    from ...files.encoding import shown
    from ...result import rounded

    upper, bound = novikoff_so_far(learnt.model)
    known = (
        f"no margin is above {rounded(upper)}, to rounding: Novikoff's bound is {bound:,.0f} mistakes or "
        "more if the classes can be separated at all"
    )
    show(
        heading(f"{learnt.mistakes:,} mistakes in {learnt.rows:,} rows: {100 * learnt.rate:.2f} %."),
        "",
        facts(
            [
                ("features", f"{learnt.encoding.n_features:,}"),
                ("classes", shown(learnt.model.classes_.tolist())),
                ("bound", known if 0.0 < bound < float("inf") else "says nothing yet"),
                ("time", f"{seconds:.2f} s, {_speed(learnt, seconds):,.0f} rows/s"),
            ]
        ),
        "",
    )
    if learnt.sorted:
        say(
            "The rows come sorted by class: a guess that the next is like the last is nearly always right, "
            "and this rate says little about new rows. Shuffle the file, or fit with more than one pass."
        )


def _speed(learnt: Any, seconds: float) -> float:
    return float((learnt.rows - learnt.resumed) / max(seconds, 1e-9))


def _say_how_to_resume(learnt: Any, checkpoint: str | None) -> None:
    if checkpoint is None:
        say(f"Stopped after row {learnt.rows:,}. Nothing was saved; with --checkpoint a run can be resumed.")
        return
    command = shlex.join(["separatrix", *sys.argv[1:]])
    say(f"Stopped after row {learnt.rows:,}; the state is in {checkpoint}. To go on: {command}")


def _against_the_bound(progress: Any) -> str:
    """The mistakes beside what Novikoff's bound allows at least, in a few words."""
    if not 0.0 < progress.bound_lower < float("inf"):
        return ""
    return f"; {progress.mistakes:,} mistakes, Novikoff's bound is {progress.bound_lower:,.0f} or more"


class _Line:
    """The running mistake rate on the terminal."""

    def __init__(self) -> None:
        from ...progress import Progress

        self._progress, self._begun = Progress(), time.perf_counter()
        self._rows, self._rate = 0, 0.0

    def __enter__(self) -> _Line:
        self._progress.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._progress.__exit__(*error)

    def report(self, progress: Any) -> None:
        """Show how far the run is, when it is time to."""
        # Of late: a mean over about the last hundred batches.
        weight = 0.01 if self._rows else 1.0
        self._rate += weight * (progress.recent_rate - self._rate)
        self._rows += progress.recent_rows
        if self._progress.due():
            speed = self._rows / (time.perf_counter() - self._begun)
            self._progress.show(
                f"row {progress.rows:,}, mistakes {100 * progress.rate:.2f} % (of late "
                f"{100 * self._rate:.2f} %), {speed:,.0f} rows/s{_against_the_bound(progress)}"
            )
