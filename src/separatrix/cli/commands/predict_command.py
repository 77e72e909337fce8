"""``separatrix predict``: predict the class of every row, in batches."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from ...printable import printable
from .. import options
from ..console import say, write_json


def predict(
    model: str,
    source: Annotated[options.Reading, ("features", "exclude", "text")],
    *,
    output: str | None = None,
    scores: bool = False,
    json: bool = False,
) -> None:
    """Predict the class of every row, in bounded memory.

    For example:

        separatrix predict model.skops new.csv -o predictions.parquet

        separatrix predict model.skops new.csv --scores | head

    Options
    -------
    model MODEL: The file that fit or learn wrote.
    output, -o FILE: Write to this .parquet or .csv file. Default: CSV to standard output. In CSV, labels that
        begin with =, +, - or @ and are not numbers get an apostrophe in front, so that spreadsheets do not
        read them as formulas.
    scores: Also write the score of each class.
    target, -t: Also compare the predictions with this column.
    json: Write a summary as JSON. Needs --output.
    """
    from ...files.encoding import Encoding
    from ...storage.models import read

    if json and output is None:
        raise typer.BadParameter(
            "--json writes a summary to standard output. Name a file for the predictions with --output."
        )
    if output is not None and Path(output).suffix.lower() not in (".csv", ".parquet"):
        raise typer.BadParameter(f"--output must end in .csv or .parquet. Got {output!r} instead.")
    options.need_apart(source.data, output=output)
    saved = read(model)
    known = None if saved.columns is None else Encoding.from_dict(saved.columns)
    target = source.target
    rows = source.open(known=known)
    counted = _Counted(rows, saved.model, scores, compare=target is not None, safe=_safe(output))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # arrays have no column names; the encoding has checked them
        _write(counted.batches(), output)
    if json:
        summary = {"rows": counted.rows, "agreed": counted.agreed, "output": output}
        write_json({**summary, "classes": counted.classes, "notes": rows.notes})
        return
    where, many = "" if output is None else f"{output}, ", "" if counted.rows == 1 else "s"
    said = f"Predictions: {where}{counted.rows:,} row{many}."
    if counted.agreed is not None:
        said += f" {100 * counted.agreed / counted.rows:.2f} % agree with {target!r}."
    say(said)
    options.say_notes(rows)


def _safe(output: str | None) -> Callable[[str], str]:
    """Return what makes text safe to write: for spreadsheets that open a CSV file, and for a terminal."""
    if output is not None and Path(output).suffix.lower() == ".parquet":
        return str
    if output is None and sys.stdout.isatty():
        return lambda text: printable(options.harmless(text))
    return options.harmless


class _Counted:
    """The predictions of a model for the rows of a table."""

    def __init__(
        self, rows: Any, model: Any, scores: bool, *, compare: bool, safe: Callable[[str], str]
    ) -> None:
        import numpy as np

        self.source, self.model, self.scores, self.safe = rows, model, scores, safe
        self.rows = 0
        self.agreed: int | None = 0 if compare else None
        self.classes = [label.item() if hasattr(label, "item") else label for label in model.classes_]
        text = [safe(label) if isinstance(label, str) else label for label in self.classes]
        self.written = np.array(text, dtype=object) if text != self.classes else model.classes_

    def batches(self, at_once: int = 16_384) -> Iterator[Any]:
        """Yield the predictions as Arrow batches of ``at_once`` rows, and count them."""
        import numpy as np
        import pyarrow as pa

        from ...estimators.decision import winners
        from ...inputs import refuse_not_finite

        identities = self.source.identities()
        for X, y in self.source.batches(at_once):
            with options.naming_rows(self.source, self.rows):
                if hasattr(self.model, "steps"):
                    refuse_not_finite(X)  # a scaler would not name the row and column
                found = self.model.decision_function(X)
            codes = winners(found)
            numbers, names = zip(*islice(identities, len(codes)), strict=True)
            columns = {"row": pa.array(numbers)}
            if names[0] is not None:
                columns["name"] = pa.array([self.safe(name) for name in names])
            columns["label"] = pa.array(self.written[codes])
            if self.scores and found.ndim == 1:
                columns["score"] = pa.array(found)
            elif self.scores:
                heads = [self.safe(f"score_{label}") for label in self.classes]
                columns |= {head: pa.array(found[:, k]) for k, head in enumerate(heads)}
            self.rows += len(codes)
            if self.agreed is not None:
                self.agreed += int(np.count_nonzero(_equal(self.model.classes_[codes], np.asarray(y))))
            yield pa.RecordBatch.from_pydict(columns)
        if not self.rows:
            raise self.source.empty()


def _equal(labels: Any, others: Any) -> Any:
    """Compare labels as numbers if all of them are numbers, so that 1 equals 1.0, and as text otherwise."""
    numbers = all(each.dtype.kind in "biuf" for each in (labels, others))
    return labels == others if numbers else labels.astype(str) == others.astype(str)


def _write(batches: Iterator[Any], output: str | None) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    from ...atomic import replacing

    with ExitStack() as stack:
        path: Any = sys.stdout.buffer if output is None else str(stack.enter_context(replacing(output)))
        parquet = output is not None and Path(output).suffix.lower() == ".parquet"
        kind = pyarrow.parquet.ParquetWriter if parquet else pyarrow.csv.CSVWriter
        writer: Any = None
        for batch in batches:
            if writer is None:
                writer = stack.enter_context(kind(path, batch.schema))
            writer.write_batch(batch)
