"""Which columns hold numbers, and these exactly: one rule for every library of data frames.

Numeric and boolean columns are read as they are, and so are columns of Python objects whose cells are all
numbers. Decimals, and whole numbers beside floats, are read exactly or not at all. All other columns (text,
dates, categories) are refused with their name and type, whatever their cells look like.

No compiled code and no scikit-learn here: whoever checks a proof imports this.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, InputTypeError
from .labels import as_objects, is_missing

WHOLE = float(1 << 53)  # up to here every whole number is a float64
INTERCHANGED = (0, 1, 2, 20)  # whole numbers, unsigned ones, floats and booleans of `__dataframe__`
SHOWN = 10  # columns that a message names
MISSING = ("NAType", "NaTType", "NoneType")
Place = tuple[int, int] | tuple[int, int, str]  # a row, a column, and its name if it has one


@dataclass(frozen=True)
class Column:
    """A column of a frame.

    Attributes
    ----------
    name, type : str
    read : callable or None
        Returns its numbers as an array, or its cells as an array of objects; None if these are no numbers by
        their type.
    """

    name: str
    type: str
    read: Callable[[], NDArray[Any]] | None


def is_frame(X: Any) -> bool:
    """Whether X has columns with names and types of their own."""
    known = _library(X) in COLUMNS and hasattr(X, "shape") and titles(X) is not None
    return known or hasattr(X, "__dataframe__")


def titles(X: Any) -> tuple[str, ...] | None:
    """The names of the columns, where there are any: of PyArrow, or of pandas and polars."""
    named = getattr(X, "column_names", getattr(X, "columns", None))
    return None if named is None else tuple(map(str, named))


def read_frame(X: Any) -> NDArray[Any]:
    """The numbers of a data frame as an array of the type that NumPy gives them together."""
    if _library(X) not in COLUMNS:
        return _read_foreign(X)
    kinds = set(X.dtypes) if _library(X) == "pandas" else set()
    if len(kinds) == 1 and isinstance(kind := kinds.pop(), np.dtype) and kind.kind in "biuf":
        return np.asarray(X)  # without a copy
    columns = list(columns_of(X))
    refuse_columns((each.name, each.type) for each in columns if each.read is None)
    found = [each.read() for each in columns if each.read is not None]
    cells = {j: values.tolist() for j, values in enumerate(found) if values.dtype.kind == "O"}
    refuse_columns((columns[j].name, not_a_number(values)) for j, values in cells.items())
    places = [partial(_place, j, each.name) for j, each in enumerate(columns)]
    for j, values in cells.items():
        found[j] = from_cells(values, places[j])
    matrix = np.empty(X.shape, dtype=np.result_type(*{each.dtype for each in found} or {np.dtype(float)}))
    for j, numbers_of in enumerate(found):
        matrix[:, j] = numbers_of
        if matrix.dtype.kind == "f":
            refuse_rounded(numbers_of, places[j])
    return matrix


def _place(column: int, name: str, row: int) -> Place:
    return row, column, name


def columns_of(X: Any) -> Iterator[Column]:
    """The columns of a data frame of a library that is known."""
    return COLUMNS[_library(X)](X)


def refuse_columns(named: Iterable[tuple[str, str]]) -> None:
    """Refuse columns that do not hold numbers, given by name and type; those without a type hold them."""
    told = [f"{name} ({kind})" for name, kind in named if kind]
    more = f" and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    if told:
        raise InputTypeError(
            f"Columns of X that do not hold numbers: {', '.join(told[:SHOWN])}{more}.",
            remedy="Each argument must be converted from string to number first, for example with "
            "sklearn.preprocessing.OneHotEncoder, or "
            "ask by a formula: check_separation('y ~ a + b', data=frame).",
        )


def not_a_number(cells: Sequence[Any]) -> str:
    """The type of a cell that is no real number and not missing; an empty text if there is none."""
    kinds = {kind.__name__: kind for kind in set(map(type, cells))}
    odd = [
        name
        for name, kind in kinds.items()
        if not issubclass(kind, numbers.Real | Decimal | np.bool_) and name not in MISSING
    ]
    return min(odd, default="")


def from_cells(cells: Sequence[Any], place: Callable[[int], Place]) -> NDArray[Any]:
    """Real numbers of any type as whole ones of 64 bits, or as floats; nothing is rounded.

    ``place`` says of a cell in which row and column it is.
    """
    values = [each.item() if isinstance(each, np.generic) else each for each in cells]
    if all(isinstance(each, int) for each in values):
        low, high = min(values, default=0), max(values, default=0)
        for kind in (np.int64, np.uint64):
            if np.iinfo(kind).min <= low <= high <= np.iinfo(kind).max:
                return np.array(values, dtype=kind)
    found = np.empty(len(values))
    for at, value in enumerate(values):
        if is_missing(value):
            found[at] = np.nan
            continue
        try:
            found[at] = number = float(value)
        except OverflowError:
            number = np.nan
        if number != value:
            raise _rounded(value, *place(at))
    return found


def refuse_rounded(values: NDArray[Any], place: Callable[[int], Place]) -> None:
    """Refuse whole numbers that are to become floats, where float64 cannot hold one of them."""
    if values.dtype.kind not in "iu":
        return
    flat = values.ravel()
    for at in np.flatnonzero((flat >= WHOLE) | (flat <= -WHOLE)).tolist():
        value = int(flat[at])
        if value != int(float(value)):
            raise _rounded(value, *place(at))


def _rounded(value: Any, row: int, column: int, name: str = "") -> InputError:
    beside = "whole numbers beside fractions" if isinstance(value, int) else "numbers"
    return InputError(
        f"X has {beside} that float64 cannot hold exactly",
        remedy="Subtract a constant from that column, or round it first: X.astype(float).",
        row=row,
        column=column,
        column_name=name,
        value=value,
    )


def _library(X: Any) -> str:
    """The library of a frame; of a proxy, such as formulaic's model matrix, that of the frame inside."""
    return str(X.__class__.__module__.partition(".")[0])


def _of_pandas(X: Any) -> Iterator[Column]:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    for j, (name, kind) in enumerate(zip(X.columns, X.dtypes, strict=True)):
        if isinstance(kind, np.dtype):
            number = kind.kind in "biufO"
        else:
            number = str(kind) != "category" and (is_numeric_dtype(kind) or is_bool_dtype(kind))
        yield Column(str(name), str(kind), X.iloc[:, j].to_numpy if number else None)


def _of_polars(X: Any) -> Iterator[Column]:
    for series in X.get_columns():
        kind, read = series.dtype, None
        if str(kind).startswith(("Object", "Decimal", "Int128", "UInt128")):
            read = _reader_of_cells(series.to_list)
        elif kind.is_numeric() or str(kind) == "Boolean":
            read = series.to_numpy
        yield Column(series.name, str(kind), read)


def _of_arrow(X: Any) -> Iterator[Column]:
    from pyarrow import types

    for name, column in zip(X.column_names, X.columns, strict=True):
        kind, read = column.type, None
        if types.is_decimal(kind):
            read = _reader_of_cells(column.to_pylist)
        elif types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
            read = _reader_of_arrow(column)
        yield Column(str(name), str(kind), read)


COLUMNS: dict[str, Callable[[Any], Iterator[Column]]] = {
    "pandas": _of_pandas,
    "polars": _of_polars,
    "pyarrow": _of_arrow,
}


def _reader_of_cells(listed: Callable[[], list[Any]]) -> Callable[[], NDArray[Any]]:
    return lambda: as_objects(listed())


def _reader_of_arrow(column: Any) -> Callable[[], NDArray[Any]]:
    return lambda: np.asarray(column.to_numpy(zero_copy_only=False))


def _read_foreign(X: Any) -> NDArray[Any]:
    """The numbers of a frame of another library, which says by ``__dataframe__`` what its columns are."""
    frame = X.__dataframe__()
    names = list(map(str, frame.column_names()))
    kinds = [each.dtype for each in frame.get_columns()]
    refuse_columns(
        (name, str(kind[0])) for name, kind in zip(names, kinds, strict=True) if kind[0] not in INTERCHANGED
    )
    matrix = np.asarray(X)
    if matrix.dtype.kind == "f":
        for j, kind in enumerate(kinds):
            large = np.flatnonzero(np.abs(matrix[:, j]) >= WHOLE) if kind[0] < 2 else np.zeros(0)
            if large.size:  # what it was before it became a float is not known
                raise _rounded(int(matrix[large[0], j]), int(large[0]), j, names[j])
    return matrix
