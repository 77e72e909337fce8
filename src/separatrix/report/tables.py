"""The tables of an answer: rows that prove it, variables that separate, hardest rows, mistake bounds."""

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
    from ..bounds.bound_report import BoundReport
    from ..files.reader import Place
    from ..proofs.existence import Estimate
    from ..proofs.fewest.fewest_errors import FewestErrors

    Places = Callable[[Sequence[int]], list[Place]]


LIMITS = {"+infinity": "to +∞", "-infinity": "to \N{MINUS SIGN}∞", None: "undecided"}


@dataclass(frozen=True)
class Listing:
    """A table of text.

    Attributes
    ----------
    title : str
    columns : tuple of str
        Columns that start with ``>`` are aligned to the right.
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
        """A note on how rows are counted: from 0 as in Python, or from 1 as in a file."""
        return f"Rows are counted from {0 if self.places is None else 1}."

    def row_words(self, rows: list[int]) -> list[str]:
        """Return the name of each row."""
        if self.places is None:
            return [f"row {row}" for row in rows]
        return [place.words for place in self.places(rows)]

    def row_cells(self, rows: list[int]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the columns of a table that identify rows, and their cells."""
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
        """Return a few values of a row."""
        return [float(self.X[row, column]) for column in columns]

    def column(self, index: int) -> Floats:
        """Return all values of a column; X may be larger than memory, so it is read in blocks."""
        X, found = self.X, np.empty(self.X.shape[0])
        step = max(1, (1 << 20) // max(1, X.shape[1]))  # rows per block
        for start in range(0, found.size, step):
            part = slice(start, start + step)
            found[part] = X[part, index] if isinstance(X, np.ndarray) else dense(X[part, [index]])[:, 0]
            threads.relax()
        return found


def read(X: Any, y: Any, names: Any = None, places: Places | None = None) -> NamedData:
    """Read arrays, frames and sparse matrices as data; ``places`` returns where rows are in a file."""
    matrix, own = read_table(X, check_finite=False)
    columns = own or names
    named = range(matrix.shape[1]) if columns is None else columns
    titles = tuple(f"x{name}" if columns is None else str(name) for name in named)
    return NamedData(matrix, np.asarray(y), titles, places)


def witness_table(verdict: Verdict, data: NamedData, most: int = 12) -> Listing | None:
    """Return the rows that prove that no hyperplane separates, with their weights and values."""
    if not verdict.witness:
        return None
    found = sorted(verdict.witness_rows.items(), key=lambda item: -item[1])[:most]
    rows = [key[0] if isinstance(key, tuple) else key for key, _ in found]
    classes = verdict.certificate.classes if verdict.certificate is not None else ()
    columns, (head, places) = _differing(data, rows), data.row_cells(rows)
    shown = [
        (
            *place,
            f"{data.y[row]}, not {classes[key[1]]}" if isinstance(key, tuple) else str(data.y[row]),
            fraction(weight),
            *map(short, data.values(row, columns)),
        )
        for place, (key, weight), row in zip(places, found, rows, strict=True)
    ]
    left, hidden, notes = len(verdict.witness_rows) - most, len(data.names) - len(columns), [data.counting]
    notes += [f"{left:,} more rows are in the certificate."] if left > 0 else []
    notes += [f"{hidden:,} of {len(data.names):,} columns are not shown."] if hidden else []
    names = (f">{data.names[j]}" for j in columns)
    return Listing("Rows that prove it", (*head, "class", ">weight", *names), tuple(shown), " ".join(notes))


def wrong_table(fewest: FewestErrors, data: NamedData, most: int = 20) -> Listing | None:
    """Return the rows without which the classes are separable."""
    wrong = fewest.wrong_rows.tolist()
    if not wrong:
        return None
    columns = _differing(data, wrong[:most], 4)
    named, cells = data.row_cells(wrong[:most])
    every = dict.fromkeys(fewest.in_every.tolist(), "yes")
    rows = [
        (
            *place,
            str(data.y[row]),
            *([every.get(row, "")] if every else []),
            *map(short, data.values(row, columns)),
        )
        for row, place in zip(wrong, cells, strict=False)
    ]
    more = f"{len(wrong) - most:,} more rows are not shown." if len(wrong) > most else ""
    settled = ["in every smallest set"] if every else []
    head = (*named, "class", *settled, *(f">{data.names[j]}" for j in columns))
    title = "Without these rows, the classes are separable"
    return Listing(title, head, tuple(rows), f"{data.counting} {more}".strip())


def variable_table(verdict: Verdict, data: NamedData, most: int = 12) -> Listing | None:
    """Return the variables whose coefficients are not finite, with their values in each class."""
    features = _not_finite(verdict)
    if verdict.parts or not features:
        return None
    classes = np.unique(data.y).tolist()
    classes = classes if len(classes) == 2 else []
    shown = []
    for name, becomes in list(features.items())[:most]:
        values = [""] * len(classes)
        if classes and name in data.names:
            column = data.column(data.names.index(name))
            values = [describe(column[data.y == label], column) for label in classes]
        shown.append((name, becomes, *values))
    left = len(features) - len(shown)
    counted = any("(" in value for row in shown for value in row[2:])
    notes = ["The number of rows is in parentheses."] if counted else []
    notes += [f"{left:,} more variables are not shown."] if left > 0 else []
    head = ("variable", "coefficient", *(f"values in class {label}" for label in classes))
    return Listing("Variables that separate", head, tuple(shown), " ".join(notes))


def parts_table(verdict: Verdict) -> Listing | None:
    """Return the answer for each class or pair of classes."""
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
    """Return the rows that were corrected most often, or that are nearest to the wrong side."""
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


def bound_table(report: BoundReport) -> Listing:
    """Return the mistakes that each theorem allows, and those of the run in percent of them."""
    rows = [
        (
            bound.name,
            "no bound" if not math.isfinite(bound.value) else f"{bound.value:,.1f}",
            "" if not math.isfinite(bound.value) else f"{100 * bound.tightness:.3g}",
            bound.note,
        )
        for bound in report.bounds
    ]
    margin = margin_text(report.margin_lower, report.margin_upper)
    aggressive = report.bounds[0].name.startswith("PA")  # it also updates on rows that are no mistakes
    what = "mistakes were made" if aggressive else "updates led to the weights"
    return Listing(
        "What theory allows",
        ("bound", ">mistakes allowed", ">made, in %", "condition"),
        tuple(rows),
        f"{report.mistakes:,.12g} {what}. The longest row has norm R = "
        f"{short(report.radius)}. "
        + (
            f"The best margin is {margin}; with an intercept, it is the margin of the rows with a constant "
            "coordinate."
            if report.margin_upper > 0.0
            else "No margin is positive."
        ),
    )


def describe(values: Floats, whole: Floats, levels: int = 4) -> str:
    """Describe values by the number of rows with each, such as ``0 (30), 1 (10)``, or by their range."""
    if not values.size:
        return "no rows"
    if np.unique(whole).size <= levels:
        found, times = np.unique(values, return_counts=True)
        return ", ".join(f"{short(float(v))} ({n:,})" for v, n in zip(found, times, strict=True))
    return f"{short(float(values.min()))} to {short(float(values.max()))}"


def coefficient_table(found: Estimate, most: int = 40) -> Listing | None:
    """Return what happens to each coefficient of a regression; those that are not finite come first."""
    answers = sorted(found.coefficients.items(), key=lambda each: each[1] == "finite")
    rows = tuple((name, LIMITS.get(answer, str(answer))) for name, answer in answers[:most])
    more = (
        f"{len(answers) - most:,} more are {LIMITS.get(answers[-1][1], answers[-1][1])}."
        if answers[most:]
        else ""
    )
    return Listing("Coefficients", ("coefficient", "estimate"), rows, more) if rows else None


def responsible_table(found: Estimate, data: NamedData, most: int = 12) -> Listing | None:
    """Return the rows that keep the estimate of a regression from existing, with their values."""
    rows, names = found.responsible_rows.tolist(), data.names[:8]
    if not rows:
        return None
    heads, places = data.row_cells(rows[:most])
    shown = [
        (*place, *(_cell(data.X[name].iloc[row]) for name in names))
        for row, place in zip(rows, places, strict=False)
    ]
    left = f" {len(rows) - most:,} more rows are not shown." if len(rows) > most else ""
    title = f"The {counted(len(rows), 'row')} responsible, of {found.n_rows:,}"
    return Listing(title, (*heads, *names), tuple(shown), data.counting + left)


def _not_finite(verdict: Verdict) -> dict[str, str]:
    """Describe the coefficients that are not finite; those that are not identified come first."""
    found = {name: verdict.coefficients[name] for name in verdict.not_identified}
    found |= {name: verdict.coefficients[name] for name in verdict.responsible_features}
    return {name: LIMITS.get(answer, str(answer)) for name, answer in found.items()}


def infinite_words(verdict: Verdict, most: int = 3) -> list[str]:
    """Name the coefficients that go to infinity, in one sentence; the list is empty if all are finite."""
    found = [(name, way) for name, way in _not_finite(verdict).items() if way.startswith("to ")]
    if verdict.parts or not found:
        return []
    if len(found) == 1:
        return [f"The coefficient of {found[0][0]} goes {found[0][1]}."]
    listed = ", ".join(f"{name} ({way})" for name, way in found[:most])
    more = f" and {len(found) - most:,} more" if len(found) > most else ""
    return [f"These coefficients are infinite: {listed}{more}."]


def fraction(value: Fraction) -> str:
    """Write the exact value if it is short, and six digits otherwise."""
    return str(value) if value.denominator <= 1_000_000 else f"≈ {float(value):.6g}"


def short(value: float) -> str:
    """Write up to six digits."""
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e9 else f"{value:.6g}"


def counted(number: int, what: str) -> str:
    """Write a number of things: ``1 feature``, ``2 features``."""
    return f"{number:,} {what}" + ("" if number == 1 else "es" if what.endswith("s") else "s")


def _cell(value: Any) -> str:
    return short(float(value)) if isinstance(value, float | np.number) else str(value)


def class_counts(y: Any, most: int = 12) -> str:
    """Write the classes, with the number of rows of each."""
    labels, counts = np.unique(y, return_counts=True)
    named = (f"{label} ({count:,})" for label, count in zip(labels[:most], counts[:most], strict=True))
    return ", ".join(named) + (f" and {labels.size - most} more" if labels.size > most else "")


def size_of(X: Any) -> str:
    """Write the number of rows and features."""
    return f"{counted(X.shape[0], 'row')}, {counted(X.shape[1], 'feature')}"


MARGINS = {
    "lifted": "lifted: weights and intercept together have length one",
    "affine": "affine: the weights alone have length one",
    "origin": "of hyperplanes through the origin",
}


def margin_words(margin: tuple[float, float], kind: str, kernel: str = "") -> str:
    """Write a bracket of the best margin, and which margin it is."""
    found = margin_text(*margin)
    if found == "none":
        return found
    return f"{found} ({MARGINS[kind]}{f', in the feature space of {kernel}' if kernel else ''})"


def _differing(data: NamedData, rows: list[int], most: int = 6) -> list[int]:
    """Return the first columns in which these rows differ, or that are not zero in all of them, or any."""
    part = dense(data.X[rows])
    apart = np.flatnonzero(part.max(axis=0) > part.min(axis=0)).tolist()
    used = np.flatnonzero(part.any(axis=0)).tolist()
    return (apart or used or list(range(part.shape[1])))[:most]
