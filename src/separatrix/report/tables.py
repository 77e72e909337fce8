"""Small tables for people: the rows that prove, the variables that separate, the rows that were hardest."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..inputs import read_table
from ..proofs.verdict import Verdict
from ..result import Floats, Ints, margin_text
from ..rows import threads
from ..sparse import dense

if TYPE_CHECKING:  # it imports scikit-learn, which the answer of a check does not need
    from ..bounds import BoundReport
    from ..files.reader import Place

    Places = Callable[[Sequence[int]], list[Place]]

SHOWN = 12  # rows or variables in a table
AT_ONCE = 1 << 20  # numbers of the data that are read together


@dataclass(frozen=True)
class Listing:
    """Text in rows and columns.

    Attributes
    ----------
    title : str
    columns : tuple of str
        Those that start with ``>`` are set to the right.
    rows : tuple of tuples of str
    note : str
        What the table leaves out, or how to read it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True, eq=False)
class NamedData:
    """Rows with their labels and the names of their columns."""

    X: Any
    y: NDArray[Any]
    names: tuple[str, ...]
    places: Places | None = None

    @property
    def counting(self) -> str:
        """How the rows are counted: as in Python, or as the rows of a file."""
        return f"Rows are counted from {0 if self.places is None else 1}."

    def row_words(self, rows: list[int]) -> list[str]:
        """Each row in words."""
        if self.places is None:
            return [f"row {row}" for row in rows]
        return [place.words for place in self.places(rows)]

    def row_cells(self, rows: list[int]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The columns that say which rows these are, and their cells."""
        if self.places is None:
            return (">row",), [(str(row),) for row in rows]
        found = self.places(rows)
        columns = {
            ">row": [f"{place.row:,}" for place in found],
            ">line": ["" if place.line is None else f"{place.line:,}" for place in found],
            "file": [place.file for place in found],
            "name": [place.name or "" for place in found],
        }
        used = {head: cells for head, cells in columns.items() if any(cells)}
        return tuple(used), list(zip(*used.values(), strict=True))

    def values(self, row: int, columns: list[int]) -> list[float]:
        """A few values of a row."""
        return [float(self.X[row, column]) for column in columns]

    def column(self, index: int) -> Floats:
        """All values of a column."""
        found, step = np.empty(self.X.shape[0]), max(1, AT_ONCE // max(1, self.X.shape[1]))
        for start in range(0, found.size, step):
            part = slice(start, start + step)
            plain = isinstance(self.X, np.ndarray)
            found[part] = self.X[part, index] if plain else dense(self.X[part, [index]])[:, 0]
            threads.relax()
        return found


def read(X: Any, y: Any, names: Any = None, places: Places | None = None) -> NamedData:
    """Read arrays, frames and sparse matrices as data; ``places`` says where rows are in a file."""
    matrix, own = read_table(X, check_finite=False)
    columns = own or names
    named = range(matrix.shape[1]) if columns is None else columns
    titles = tuple(f"x{name}" if columns is None else str(name) for name in named)
    return NamedData(matrix, np.asarray(y), titles, places)


def witness_table(verdict: Verdict, data: NamedData | None) -> Listing | None:
    """The rows that prove that no hyperplane separates, with their weights and, given data, their values."""
    if not verdict.witness:
        return None
    found = sorted(verdict.witness_rows.items(), key=lambda item: -item[1])
    left = len(found) - SHOWN
    notes = [f"{left:,} more rows are in the certificate."] if left > 0 else []
    found = found[:SHOWN]
    rows = [key[0] if isinstance(key, tuple) else key for key, _ in found]
    title, weights = "Rows that prove it", [fraction(weight) for _, weight in found]
    if data is None:
        cells = tuple(zip(map(str, rows), weights, strict=True))
        return Listing(title, (">row", ">weight"), cells, " ".join(["Rows are counted from 0.", *notes]))
    columns = _differing(data, rows)
    classes = verdict.certificate.classes if verdict.certificate is not None else ()
    labels = [
        f"{data.y[row]}, not {classes[key[1]]}" if isinstance(key, tuple) else str(data.y[row])
        for (key, _), row in zip(found, rows, strict=True)
    ]
    head, places = data.row_cells(rows)
    shown = [
        (*place, label, weight, *map(short, data.values(row, columns)))
        for place, label, weight, row in zip(places, labels, weights, rows, strict=True)
    ]
    if len(columns) < len(data.names):
        notes.append(f"{len(data.names) - len(columns):,} of {len(data.names):,} columns are not shown.")
    names = (f">{data.names[j]}" for j in columns)
    return Listing(
        title, (*head, "class", ">weight", *names), tuple(shown), " ".join([data.counting, *notes])
    )


def variable_table(verdict: Verdict, data: NamedData | None) -> Listing | None:
    """The variables whose coefficients are infinite, with their values in each class from the data."""
    features = _not_finite(verdict)
    if verdict.parts or not features:
        return None
    classes = [] if data is None else np.unique(data.y).tolist()
    classes = classes if len(classes) == 2 else []
    shown = []
    for name, becomes in list(features.items())[:SHOWN]:
        values = [""] * len(classes)
        if data is not None and classes and name in data.names:
            column = data.column(data.names.index(name))
            values = [describe(column[data.y == label], column) for label in classes]
        shown.append((name, becomes, *values))
    left = len(features) - len(shown)
    counted = any("(" in value for row in shown for value in row[2:])
    notes = ["The number of rows is in parentheses."] if counted else []
    notes += [f"{left:,} more variables are not shown."] if left > 0 else []
    head = ("variable", "coefficient", *(f"where {label}" for label in classes))
    return Listing("Variables that separate", head, tuple(shown), " ".join(notes))


def parts_table(verdict: Verdict) -> Listing | None:
    """The answer for each class or pair of classes."""
    if not verdict.parts:
        return None
    rows = [
        (
            " and ".join(map(str, key)) if isinstance(key, tuple) else f"{key} against the rest",
            part.status,
            margin_text(*part.margin),
        )
        for key, part in verdict.parts.items()
    ]
    return Listing("Each question", ("classes", "verdict", ">margin"), tuple(rows))


def hardest_table(data: NamedData, counts: Ints | None, leads: Floats, unit: str, limit: int = 10) -> Listing:
    """The rows that were corrected most, or that are nearest to the wrong side."""
    if counts is not None and counts.any():
        order = np.lexsort((leads, -counts))[:limit]
        order = order[counts[order] > 0]
    else:
        order, counts = np.argsort(leads, kind="stable")[:limit], None
    columns = _differing(data, order.tolist(), 4)
    named, cells = data.row_cells(order.tolist())
    rows = [
        (
            *place,
            str(data.y[row]),
            *(() if counts is None else (f"{counts[row]:,}",)),
            short(float(leads[row])),
            *map(short, data.values(row, columns)),
        )
        for row, place in zip(order.tolist(), cells, strict=True)
    ]
    head = (*named, "class", *(() if counts is None else (">updates",)), f">{unit}")
    return Listing(
        "Hardest rows",
        (*head, *(f">{data.names[j]}" for j in columns)),
        tuple(rows),
        data.counting,
    )


def bound_table(report: BoundReport, *, formulas: bool = True) -> Listing:
    """The mistakes of the run beside what each theorem allows."""
    rows = [
        (
            bound.name,
            "no bound" if not math.isfinite(bound.value) else f"{bound.value:,.1f}",
            "" if not math.isfinite(bound.value) else f"{100 * bound.tightness:.3g} %",
            *([bound.formula] if formulas else []),
            bound.note,
        )
        for bound in report.bounds
    ]
    return Listing(
        "What theory allows",
        ("bound", ">mistakes allowed", ">used", *(["formula"] if formulas else []), "where"),
        tuple(rows),
        f"The bounds are compared with the {report.mistakes:,.12g} updates behind the weights. The longest "
        f"row has norm R = {short(report.radius)}. "
        + (
            f"The best margin is {margin_text(report.margin_lower, report.margin_upper)}; with an intercept, "
            "it is the margin of the rows with a constant coordinate."
            if report.margin_upper > 0.0
            else "No margin is positive."
        ),
    )


def describe(values: Floats, whole: Floats, levels: int = 4) -> str:
    """The number of rows with each value if there are few values, else the range: ``0 (30), 1 (10)``."""
    if not values.size:
        return "no rows"
    if np.unique(whole).size <= levels:
        found, times = np.unique(values, return_counts=True)
        return ", ".join(f"{short(float(v))} ({n:,})" for v, n in zip(found, times, strict=True))
    return f"{short(float(values.min()))} to {short(float(values.max()))}"


def _not_finite(verdict: Verdict) -> dict[str, str]:
    """What becomes of the coefficients that are not finite; those that are not identified come first."""
    found = {name: verdict.coefficients[name] for name in verdict.not_identified}
    found |= {name: verdict.coefficients[name] for name in verdict.responsible_features}
    words = {"+infinity": "to +∞", "-infinity": "to \N{MINUS SIGN}∞", None: "undecided"}
    return {name: words.get(answer, str(answer)) for name, answer in found.items()}


def fraction(value: Fraction) -> str:
    """The exact value if it is short, else six digits."""
    return str(value) if value.denominator <= 1_000_000 else f"≈ {float(value):.6g}"


def short(value: float) -> str:
    """Up to six digits."""
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e9 else f"{value:.6g}"


def counted(number: int, what: str) -> str:
    """A number of things: ``1 feature``, ``2 features``."""
    return f"{number:,} {what}" + ("" if number == 1 else "es" if what.endswith("s") else "s")


def size_of(X: Any) -> str:
    """How many rows and features."""
    return f"{counted(X.shape[0], 'row')}, {counted(X.shape[1], 'feature')}"


MARGINS = {
    "lifted": "lifted: weights and intercept together have length one",
    "affine": "affine: the weights alone have length one",
    "origin": "of hyperplanes through the origin",
}


def margin_words(margin: tuple[float, float], kind: str, kernel: str = "") -> str:
    """A bracket of the best margin, and which margin it is."""
    found = margin_text(*margin)
    if found == "none":
        return found
    return f"{found} ({MARGINS[kind]}{f', in the feature space of {kernel}' if kernel else ''})"


def _differing(data: NamedData, rows: list[int], most: int = 6) -> list[int]:
    """The first columns in which these rows differ; if there are none, those that are not zero; or any."""
    part = dense(data.X[rows])
    apart = np.flatnonzero(part.max(axis=0) > part.min(axis=0)).tolist()
    used = np.flatnonzero(part.any(axis=0)).tolist()
    return (apart or used or list(range(part.shape[1])))[:most]
