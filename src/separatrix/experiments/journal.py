"""What was measured so far, kept as Parquet: an interrupted experiment goes on where it was."""

from __future__ import annotations

import csv
import hashlib
import inspect
import io
import json
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__, atomic
from ..errors import OutputError, needs
from .study import Record, Study, Table, as_table
from .themes import fitting, theory

KEEP_EVERY = 2.0  # seconds of work that a killed process may lose
STAMP = b"separatrix.experiment"
CELL = "cell"


class Journal:
    """The records of a study, by the number of the measurement; without a directory, in memory only."""

    def __init__(self, study: Study, plan: list[Record], directory: Path | None) -> None:
        self.name, self.plan, self.directory = study.name, plan, directory
        self.stamp = _stamp(study, plan)
        self.done: dict[int, list[Record]] = {}
        self._fresh: list[int] = []
        self._kept = time.monotonic()
        if directory is not None:
            _make(directory)
            for part in sorted(self._parts.glob("*.parquet")):
                self.done.update(_by_cell(_read(part, self.stamp)))

    @property
    def _parts(self) -> Path:
        assert self.directory is not None
        return self.directory / ".unfinished" / self.name

    def finished(self) -> Table | None:
        """The whole table, where an earlier run left it."""
        if self.directory is None:
            return None
        table = _read(self.directory / f"{self.name}.parquet", self.stamp)
        if table is not None:
            self._clear()  # what a run that was killed at its end left
        return table

    def add(self, cell: int, records: list[Record]) -> None:
        """Keep the records of one measurement."""
        self.done[cell] = [{**self.plan[cell], **record} for record in records]
        self._fresh.append(cell)
        if time.monotonic() - self._kept > KEEP_EVERY:
            self.keep()

    def keep(self) -> None:
        """Write what is not yet on disk."""
        if self.directory is None or not self._fresh:
            return
        _make(self._parts)
        records = [{CELL: cell, **record} for cell in self._fresh for record in self.done[cell]]
        _write(self._parts / f"{self._fresh[0]:06d}.parquet", as_table(records), self.stamp)
        self._fresh, self._kept = [], time.monotonic()

    def close(self) -> Table:
        """Join all records, write them as Parquet and CSV, and clear the parts away."""
        table = as_table([record for cell in sorted(self.done) for record in self.done[cell]])
        if self.directory is not None:
            # The Parquet file comes last: where it is, all is there.
            atomic.write_text(self.directory / f"{self.name}.csv", csv_text(table))
            _write(self.directory / f"{self.name}.parquet", table, self.stamp)
            self._clear()
        return table

    def _clear(self) -> None:
        """Clear the parts away, and their directory if no other experiment has parts there."""
        shutil.rmtree(self._parts, ignore_errors=True)
        remaining = self._parts.parent
        if remaining.is_dir() and not any(remaining.iterdir()):
            remaining.rmdir()


def csv_text(table: Table) -> str:
    """The table as comma-separated text; floats in full."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
    return text.getvalue()


def _stamp(study: Study, plan: list[Record]) -> str:
    """What the records depend on: the plan, the code that measures, and the library."""
    home = inspect.getmodule(study.measure) or study.measure
    sources = [inspect.getsource(part) for part in (home, fitting, theory)]
    content = json.dumps([study.name, plan, __version__, sources])
    return hashlib.sha256(content.encode()).hexdigest()


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise OutputError(
            f"The output directory {str(directory)!r} is a file, or lies in one. Name a directory; it is "
            "made if it does not exist."
        ) from None
    except OSError as error:
        raise OutputError(
            f"The output directory {str(directory)!r} cannot be made: {error.strerror}. Name another one."
        ) from error


def _arrow() -> tuple[Any, Any]:
    with needs("Keeping tables as Parquet", extra="cli"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    return pa, pq


def _write(path: Path, table: Table, stamp: str) -> None:
    arrow, parquet = _arrow()
    content = arrow.table({name: column.tolist() for name, column in table.items()})
    with atomic.replacing(path) as temporary:
        parquet.write_table(content.replace_schema_metadata({STAMP: stamp}), temporary)


def _read(path: Path, stamp: str) -> Table | None:
    """The table in a file, if it belongs to this plan; a file that cannot be read is as if absent."""
    if not path.is_file():
        return None
    arrow, parquet = _arrow()
    try:
        content = parquet.read_table(path)
    except (arrow.ArrowException, OSError):
        return None
    if (content.schema.metadata or {}).get(STAMP) != stamp.encode():
        return None
    return {name: np.array(content[name].to_pylist()) for name in content.column_names}


def _by_cell(table: Table | None) -> dict[int, list[Record]]:
    if table is None:
        return {}
    columns = {name: column.tolist() for name, column in table.items()}
    cells = columns.pop(CELL)
    found: dict[int, list[Record]] = {}
    for place, cell in enumerate(cells):
        found.setdefault(cell, []).append({name: column[place] for name, column in columns.items()})
    return found
