"""Learn from a table in one pass; a run that was stopped continues, and ends with the same bits."""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, SeparatrixError
from ..files.encoding import Encoding
from ..files.formats.libsvm import LibsvmTable
from ..files.reader import Batch, Table
from . import checkpoint
from .linear import Perceptron

HEAD = 1 << 20
MANY = 1000  # the fewest rows whose order is not taken for chance
BATCH: int | None = None  # rows per call of partial_fit; None leaves it to the table


@dataclass(frozen=True)
class Milestone:
    """The rows and mistakes of a run so far, and since the last report.

    The mistakes so far prove that no hyperplane has a margin above ``margin_upper`` on these rows. If the
    rows can be separated, Novikoff's bound is therefore at least ``bound_lower``.
    """

    rows: int
    mistakes: int
    recent_rows: int
    recent_mistakes: int
    margin_upper: float = math.inf
    bound_lower: float = 0.0

    @property
    def rate(self) -> float:
        """Mistakes per row."""
        return self.mistakes / max(1, self.rows)

    @property
    def recent_rate(self) -> float:
        """Mistakes per row since the last report."""
        return self.recent_mistakes / max(1, self.recent_rows)


@dataclass(frozen=True, eq=False)
class Learned:
    """The result of a run.

    Attributes
    ----------
    model : Perceptron
    encoding : Encoding
    rows, mistakes : int
        The totals, including those before a checkpoint.
    resumed : int
        The number of rows that were seen before this process began.
    interrupted : bool
        Whether the run was stopped from the keyboard; the checkpoint is up to date.
    stretches : int
        The number of stretches of rows of one class, in this process.
    """

    model: Perceptron
    encoding: Encoding
    rows: int
    mistakes: int
    resumed: int
    interrupted: bool
    stretches: int

    @property
    def rate(self) -> float:
        """Mistakes per row."""
        return self.mistakes / max(1, self.rows)

    @property
    def sorted(self) -> bool:
        """Whether the rows came class by class, so that the next label was easy to guess."""
        return self.rows - self.resumed >= MANY and self.stretches <= 2 * len(self.model.classes_)


def learn(
    table: Table,
    *,
    classes: Any = None,
    average: bool = False,
    path: str | os.PathLike[str] | None = None,
    every_rows: int | None = None,
    every_seconds: float = 30.0,
    report: Callable[[Milestone], None] | None = None,
) -> Learned:
    """Visit each row of a table once, in order.

    Parameters
    ----------
    table : Table
    classes : array, optional
        Every class that will be seen. If it is not given, the target is read once before.
    average : bool
        Predict with the mean of the weights.
    path : path, optional
        The checkpoint. If it exists, the run continues from it: the result is that of a run that was never
        interrupted, bit for bit. Rows that were added to the data since then are learned, too.
    every_rows, every_seconds : number
        How often the checkpoint is written.
    report : callable, optional
        Called after each batch.

    Returns
    -------
    Learned
    """
    if path is None:
        return _Run(table, classes, average).go(None, every_rows, every_seconds, report)
    target = Path(os.path.realpath(path))
    with checkpoint.locked(target):
        return _Run(table, classes, average).go(target, every_rows, every_seconds, report)


def novikoff_so_far(model: Perceptron) -> tuple[float, float]:
    """Return what the mistakes of an online run prove: bounds of margins and of Novikoff's bound.

    With M updates from zero weights, ``<w, u> >= eta0 M margin`` for every unit vector u, so no margin is
    above ``|w| / (eta0 M)``, and ``(R / margin)^2`` is at least the second number. With more than two classes
    an update moves two weight vectors by half a step each.
    """
    made, many = model.mistakes_, len(model.classes_) > 2
    if not made:
        return math.inf, 0.0
    upper = float(np.linalg.norm(model._weights)) / (model.eta0 * made * (0.5 if many else 1.0))
    factor = 2.0 if many else 1.0
    return upper, factor * (model._longest / upper) ** 2 if upper > 0.0 else math.inf


class _Run:
    """A model, and how many rows it has seen."""

    def __init__(self, table: Table, classes: Any, average: bool) -> None:
        if table.target_name is None:
            raise InputError(
                "Which column is the target?", remedy="Name it with 'target'.", parameter="target"
            )
        self.table, self.classes = table, classes
        # The columns of this LIBSVM file were not counted: the model grows with them.
        free = isinstance(table, LibsvmTable) and table.request.encoding is None
        self.uncounted = cast(LibsvmTable, table) if free else None
        self.model = Perceptron(
            average="averaged" if average else False,
            fit_intercept=table.request.intercept,
        )
        self.rows = 0
        self.mistakes = 0
        self.first, self.last = 1, 0  # column numbers of a LIBSVM file seen so far
        self.stretches, self.label = 0, np.empty(0)

    def go(
        self,
        path: Path | None,
        every_rows: int | None,
        every_seconds: float,
        report: Callable[[Milestone], None] | None,
    ) -> Learned:
        found = None if path is None else checkpoint.load(path)
        if path is not None and found is not None:
            self._resume(path, *found)
        known = self.table.classes if found is None and self.classes is None else self.classes
        resumed, saved_rows, saved_at = self.rows, self.rows if found else -1, time.monotonic()
        reported = (self.rows, self.mistakes)
        interrupted = False
        try:
            file = self.uncounted
            rows = self.table.batches(BATCH, self.rows) if file is None else self._batches_of(file)
            for X, y in rows:
                assert y is not None  # the table has a target
                try:
                    self.model.partial_fit(X, y, classes=None if self.rows else known)
                except SeparatrixError as error:
                    if error.row is not None:
                        error.row += self.rows
                    raise
                self.rows, self.mistakes = self.model._rows_seen, self.model.mistakes_
                self._count_stretches(y)
                if report is not None:
                    recent = self.rows - reported[0], self.mistakes - reported[1]
                    report(Milestone(self.rows, self.mistakes, *recent, *novikoff_so_far(self.model)))
                    reported = (self.rows, self.mistakes)
                due = every_rows is not None and self.rows - saved_rows >= every_rows
                if path is not None and (due or time.monotonic() - saved_at >= every_seconds):
                    self._save(path)
                    saved_rows, saved_at = self.rows, time.monotonic()
        except KeyboardInterrupt:
            # `partial_fit` is done or has left the model as it was; it counts the rows with what it learns.
            interrupted = True
            self.rows = getattr(self.model, "_rows_seen", 0)
            self.mistakes = getattr(self.model, "mistakes_", 0)
        if not self.rows:
            if interrupted:
                raise KeyboardInterrupt
            raise self.table.empty()
        if path is not None and self.rows != saved_rows:
            self._save(path)
        encoding = self._settled_columns() if self.uncounted else self.table.encoding
        return Learned(self.model, encoding, self.rows, self.mistakes, resumed, interrupted, self.stretches)

    def _count_stretches(self, y: NDArray[Any]) -> None:
        begins = not np.array_equal(self.label, y[:1])
        self.stretches += int(np.count_nonzero(y[1:] != y[:-1])) + begins
        self.label = y[-1:].copy()

    def _batches_of(self, file: LibsvmTable) -> Iterator[Batch]:
        """Yield the rows that were not seen yet, with the column numbers of the file."""
        skipped = self.rows
        for X, y in file.pieces():
            if skipped >= y.size:
                skipped -= y.size
                continue
            self.first = min(self.first, int(X.indices.min(initial=1)))
            self.last = max(self.last, X.shape[1] - 1)
            width = getattr(self.model, "n_features_in_", X.shape[1])
            if X.shape[1] > width:
                width = max(X.shape[1], 2 * width)
                self.model._reshape_online(0, width)
            X.resize(X.shape[0], max(1, width))
            yield (X[skipped:] if skipped else X), y[skipped:]
            skipped = 0
        self.table.need_unchanged()

    def _settled_columns(self) -> Encoding:
        """Drop the weights of columns that the LIBSVM file does not have."""
        width = max(1, self.last + 1 - self.first)
        self.model._reshape_online(self.first, width)
        return Encoding(intercept=self.table.request.intercept, width=width, first=self.first)

    def _save(self, path: Path) -> None:
        classes = self.model.classes_
        facts = {
            "asked": self._asked(),
            "data": _identity(self.table),
            "classes": classes.tolist(),
            "rows": self.rows,
            "columns": [self.first, self.last],
        }
        checkpoint.save(path, facts, self.model._online_state())

    def _resume(self, path: Path, facts: dict[str, Any], state: checkpoint.State) -> None:
        asked = self._asked()
        for name, value in asked.items():
            if facts["asked"].get(name) != value:
                raise InputError(
                    f"{os.fspath(path)!r} is the checkpoint of another run: {name} was "
                    f"{_short(facts['asked'].get(name))}, and is {_short(value)} now. Repeat the command "
                    "as it was, or name another checkpoint."
                )
        _need_same_data(path, self.table, facts["data"])
        classes = np.array(facts["classes"])
        if self.classes is not None and not np.array_equal(np.unique(np.asarray(self.classes)), classes):
            raise InputError(f"{os.fspath(path)!r} was made with the classes {_short(classes.tolist())}.")
        self.model._resume_online(state, classes)
        self.rows, self.mistakes = int(facts["rows"]), self.model.mistakes_
        self.first, self.last = facts["columns"]

    def _asked(self) -> dict[str, Any]:
        return {
            "target": self.table.target_name,
            "columns": self.table.encoding.as_dict() if self.uncounted is None else None,
            "intercept": self.table.request.intercept,
            "rows": {
                each: getattr(self.table.request, each) for each in ("where", "sql", "table", "missing")
            },
            "average": self.model.average,
            "eta0": float(self.model.eta0),
        }


def _identity(table: Table, length: int = HEAD) -> dict[str, Any]:
    """Return what identifies a file that may grow: its size and a checksum of its beginning."""
    paths = table.paths
    if not paths:
        return {"files": 0, "size": 0, "head": 0, "sha256": ""}
    with open(paths[0], "rb") as file:
        head = file.read(length)
    size = sum(os.path.getsize(each) for each in paths)
    return {"files": len(paths), "size": size, "head": len(head), "sha256": hashlib.sha256(head).hexdigest()}


def _need_same_data(path: Path, table: Table, before: dict[str, Any]) -> None:
    now = _identity(table, before["head"])
    if table.paths and (now["sha256"] != before["sha256"] or now["size"] < before["size"]):
        raise InputError(
            f"{table.name!r} is not the data that {os.fspath(path)!r} was made from: it begins "
            "differently, or is shorter. Name another checkpoint to start again."
        )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
