"""``separatrix predict``: the class of every row, a few rows at a time."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ...printable import printable
from .. import options
from ..console import say, write_json


@options.reads("target", "features", "exclude", "text")
def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The file that fit or learn wrote.")],
    source: options.Reading,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A .parquet or .csv file. Default: CSV to standard output. In CSV, labels that begin with "
            "=, +, - or @ and are not numbers get an apostrophe in front, so that no spreadsheet takes them "
            "for formulas.",
        ),
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Also write the score of each class.")] = False,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="Also compare with this column, and say how often it agrees."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Write a summary as JSON; needs --output.")] = False,
) -> None:
    """Predict the class of every row, in bounded memory.

    For example:

        separatrix predict model.skops new.csv -o predictions.parquet

        separatrix predict model.skops new.csv --scores | head
    """
    from ...files.encoding import Encoding
    from ...storage.models import read

    if json and output is None:
        raise typer.BadParameter(
            "--json writes a summary to standard output; name a file for the predictions with --output."
        )
    if output is not None and Path(output).suffix.lower() not in (".csv", ".parquet"):
        raise typer.BadParameter(
            f"Predictions are written to a .csv or .parquet file. Got {output!r} instead."
        )
    options.need_apart(source.data, output=output)
    saved = read(model)
    known = None if saved.columns is None else Encoding.from_dict(saved.columns)
    rows = replace(source, target=target).open(known=known)
    counted = _Counted(rows, saved.model, scores, compare=target is not None)
    found = counted.outputs()
    if source.elsewhere:
        from ...distributed.command_rows import outputs

        found = outputs(rows, source.connect(), saved.model, here=found)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # arrays have no column names; the encoding has seen to them
        _write(counted.batches(found), output)
    if json:
        write_json(
            {
                "rows": counted.rows,
                "agreed": counted.agreed,
                "output": output,
                "classes": counted.classes,
                "notes": rows.notes,
            }
        )
    else:
        agreed = (
            ""
            if counted.agreed is None
            else f", {100 * counted.agreed / counted.rows:.2f} % as in {target!r}"
        )
        say(f"{counted.rows:,} rows{agreed}{'' if output is None else f': {output}'}")
        options.say_notes(rows)


class _Counted:
    """Predictions of a model for the rows of a table."""

    def __init__(self, rows: Any, model: Any, scores: bool, *, compare: bool) -> None:
        self.source, self.model, self.scores = rows, model, scores
        self.rows = 0
        self.agreed: int | None = 0 if compare else None
        self.classes = [label.item() if hasattr(label, "item") else label for label in model.classes_]

    def outputs(self, at_once: int = 16_384) -> Iterator[tuple[Any, Any]]:
        """The scores of the rows, and their labels if there is a target; so many rows at a time."""
        from ...inputs import refuse_not_finite

        done = 0
        for X, y in self.source.batches(at_once):
            with options.naming_rows(self.source, done):
                if hasattr(self.model, "steps"):
                    refuse_not_finite(X)  # by its row and column, which a scaler does not name
                found = self.model.decision_function(X)
            done += len(found)
            yield found, y

    def batches(self, outputs: Iterator[tuple[Any, Any]]) -> Iterator[Any]:
        """The same as Arrow batches, which are counted."""
        import numpy as np
        import pyarrow as pa

        identities = self.source.identities()
        for found, y in outputs:
            codes = (found > 0.0).astype(np.intp) if found.ndim == 1 else found.argmax(axis=1)
            labels = self.model.classes_[codes]
            numbers, names = identities.take(len(labels))
            columns = {"row": pa.array(numbers)}
            if names is not None:
                columns["name"] = pa.array(names)
            columns["label"] = pa.array(labels)
            if self.scores and found.ndim == 1:
                columns["score"] = pa.array(found)
            elif self.scores:
                columns |= {f"score_{label}": pa.array(found[:, k]) for k, label in enumerate(self.classes)}
            self.rows += len(labels)
            if self.agreed is not None:
                self.agreed += int(np.count_nonzero(_equal(labels, np.asarray(y))))
            yield pa.RecordBatch.from_pydict(columns)
        if not self.rows:
            raise self.source.empty()


def _equal(labels: Any, others: Any) -> Any:
    """Whether labels are the same: 1 and 1.0 are, as numbers; a number and a text are if they read alike."""
    numbers = all(each.dtype.kind in "biuf" for each in (labels, others))
    return labels == others if numbers else labels.astype(str) == others.astype(str)


def _write(batches: Iterator[Any], output: str | None) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    from ...atomic import replacing

    if output is None and sys.stdout.isatty():
        batches = map(_seen, batches)
    with ExitStack() as stack:
        path: Any = sys.stdout.buffer if output is None else str(stack.enter_context(replacing(output)))
        parquet = output is not None and Path(output).suffix.lower() == ".parquet"
        kind = pyarrow.parquet.ParquetWriter if parquet else pyarrow.csv.CSVWriter
        writer: Any = None
        for batch in batches:
            if writer is None:
                writer = stack.enter_context(kind(path, batch.schema))
            writer.write_batch(batch if parquet else _harmless(batch))


def _seen(batch: Any) -> Any:
    """The rows as a terminal may show them: it would obey some characters."""
    import pyarrow as pa

    columns = [
        pa.array([None if cell is None else printable(cell) for cell in cells.to_pylist()], pa.string())
        if pa.types.is_string(cells.type)
        else cells
        for cells in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=list(map(printable, batch.schema.names)))


def _harmless(batch: Any) -> Any:
    """Put an apostrophe before text that a spreadsheet would take for a formula."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def harmless(cells: Any) -> Any:
        number = pc.match_substring_regex(cells, options.PLAIN_NUMBER)
        formula = pc.and_not(pc.match_substring_regex(cells, options.FORMULA), number)
        return pc.if_else(formula, pc.binary_join_element_wise("'", cells, ""), cells)

    columns = [harmless(cells) if pa.types.is_string(cells.type) else cells for cells in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
