"""Read X exactly as it is: arrays, lists, sparse matrices and data frames, as an array or a CSR matrix.

Numeric and boolean columns of data frames are read as they are, and so are columns of Python objects whose
cells are all numbers. Decimals, and integers beside floats, are read exactly or refused. All other columns
(text, dates, categories) are refused with their name and type, whatever their cells look like.

This module imports neither compiled code nor scikit-learn, because the checker of certificates uses it.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, InputTypeError, not_finite
from ..rows import threads
from ..sparse import dense, sparse

__all__ = ["as_matrix", "distributed", "is_collection", "read_floats", "read_table", "refuse_not_finite"]

LARGEST_EXACT = float(1 << 53)  # every integer up to this one is a float64
Place = tuple[int, int] | tuple[int, int, str]  # a row, a column, and the name of the column if it has one


def is_collection(X: Any) -> bool:
    """Whether X is a Dask array or data frame; Dask is not imported to find out."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(type(X), "__dask_graph__")


def distributed() -> Any:
    """Import the package that reads Dask collections. No other module of the core imports it."""
    from .. import distributed as package

    return package


def read_table(X: Any, *, check_finite: bool = True) -> tuple[Any, tuple[str, ...] | None]:
    """Return X as an array or CSR matrix of at most 64 bits per number, not rounded, and its column names."""
    names = None if type(X) is np.ndarray else titles(X)
    is_sparse = sparse.issparse(X)
    matrix: Any = _read_sparse(X) if is_sparse else _read_dense(X)
    values = matrix.data if is_sparse else matrix
    if check_finite or values.dtype.itemsize > 8:
        refuse_not_finite(matrix, names)
    usual = _usual_type(values)
    if usual is not values:
        matrix = (
            sparse.csr_array((usual, matrix.indices, matrix.indptr), matrix.shape) if is_sparse else usual
        )
    return matrix, names


def read_floats(X: Any) -> NDArray[np.float64]:
    """Return X as a dense array of float64; refuse integers that it cannot hold."""
    matrix = dense(read_table(X)[0])
    refuse_rounded(matrix, partial(place_of, matrix))
    return matrix.astype(np.float64, copy=False)


def as_matrix(X: Any) -> Any:
    """Return X as a 2-D array or CSR matrix of real numbers, without a copy if it is one already."""
    refuse_masked(X, "X")
    X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise InputError(f"Rows must be a matrix of shape (rows, columns). Got shape {X.shape} instead.")
    if X.dtype.kind not in "biuf":
        raise InputTypeError(f"Rows must be real numbers. Got an array of {X.dtype} instead.")
    return X


def titles(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame or PyArrow table, or None if X has no such names."""
    named = getattr(X, "column_names", getattr(X, "columns", None))
    return None if named is None else tuple(map(str, named))


def refuse_not_finite(matrix: Any, names: tuple[str, ...] | None = None) -> None:
    """Raise an error that names the first NaN or infinity, if there is one."""
    values = matrix.data if sparse.issparse(matrix) else matrix
    if values.dtype.kind != "f" or not values.size:
        return
    with np.errstate(all="ignore"):
        parts = [(values[slice(*each)],) for each in threads.chunks(len(values), values.size)]
        total = sum(threads.run_all(_total, parts))
    # A finite sum has no infinite or missing term. Otherwise the sum may have overflowed: look at each term.
    if np.isfinite(total):
        return
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        row, column = place_of(matrix, int(bad[0]))
        raise not_finite(values.ravel()[bad[0]], row, column, names)


def _total(values: NDArray[Any]) -> Any:
    with np.errstate(all="ignore"):  # other threads do not inherit the setting of the caller
        return values.sum()


def place_of(matrix: Any, at: int) -> tuple[int, int]:
    """Return the row and the column of a number that an array or CSR matrix stores."""
    if sparse.issparse(matrix):
        return int(np.searchsorted(matrix.indptr, at, side="right")) - 1, int(matrix.indices[at])
    return divmod(at, int(matrix.shape[1]))


def refuse_masked(values: Any, name: str) -> None:
    """Refuse a masked array with masked values, which NumPy would read as if they were not masked."""
    if np.ma.isMaskedArray(values) and np.ma.is_masked(values):
        raise InputError(
            f"{name} is a masked array, and some of its values are masked. Leave out their rows."
        )


# Arrays and lists


def _read_dense(X: Any) -> NDArray[Any]:
    if type(X) is not np.ndarray:
        refuse_masked(X, "X")
    try:
        matrix = read_frame(X) if is_frame(X) else np.asarray(X)
        if matrix.dtype.kind not in "biuf":
            matrix = _from_objects(X, matrix)
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError):
        lazy = hasattr(X, "collect")
        raise InputTypeError(
            "X is a frame whose rows are not in memory yet. Pass X.collect()."
            if lazy
            else "X is not a table of numbers. Numbers of at most 64 bits are needed; encode text first, for "
            "example with OneHotEncoder."
        ) from None
    if matrix.ndim != 2:
        raise InputError(
            f"X must have two dimensions, rows and columns. Got an array of shape {matrix.shape} instead. "
            "Reshape your data: for one column use X.reshape(-1, 1)."
        )
    listed = isinstance(X, list | tuple) and matrix.dtype.kind == "f"
    if listed and np.abs(matrix).max(initial=0.0) >= LARGEST_EXACT:
        matrix = _from_objects(X, matrix)  # NumPy may have rounded integers beside floats
    return matrix


def _from_objects(X: Any, matrix: NDArray[Any]) -> NDArray[Any]:
    """Read an array of Python objects, or of a type that is not numeric."""
    if matrix.dtype.kind == "c":
        raise InputTypeError(
            "Complex data not supported: only real numbers can be put in order. Use real and imaginary parts."
        )
    if matrix.dtype.kind != "O":
        matrix = np.array(X, dtype=object)
    if matrix.ndim != 2:
        if matrix.ndim == 0 or not_a_number(matrix.ravel().tolist()):
            raise TypeError
        return matrix  # the caller refuses its shape
    refuse_columns((str(j), not_a_number(matrix[:, j].tolist())) for j in range(matrix.shape[1]))
    return from_cells(matrix.ravel().tolist(), partial(place_of, matrix)).reshape(matrix.shape)


def not_a_number(cells: Sequence[Any]) -> str:
    """Return the type of a cell that is neither a real number nor missing, or "" if all cells are fine."""
    kinds = {kind.__name__: kind for kind in set(map(type, cells))}
    odd = [
        name
        for name, kind in kinds.items()
        if not issubclass(kind, numbers.Real | Decimal | np.bool_)
        and name not in ("NAType", "NaTType", "NoneType")
    ]
    return min(odd, default="")


def from_cells(cells: Sequence[Any], place: Callable[[int], Place]) -> NDArray[Any]:
    """Convert real numbers of any type to 64-bit integers or to floats, without rounding.

    ``place`` returns the row and column of a cell, for the error.
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
    """Refuse integers that are about to become floats, if float64 cannot hold one of them."""
    for at in rounded_at(values):
        raise _rounded(int(values.ravel()[at]), *place(at))


def rounded_at(values: NDArray[Any]) -> Iterator[int]:
    """Yield the positions, in the flat array, of the integers that float64 cannot hold."""
    flat = values.ravel()
    if flat.dtype.kind in "iu" and flat.size and max(-int(flat.min()), int(flat.max())) > LARGEST_EXACT:
        for at in np.flatnonzero((flat >= LARGEST_EXACT) | (flat <= -LARGEST_EXACT)).tolist():
            if int(flat[at]) != int(float(flat[at])):
                yield at


def _rounded(value: Any, row: int, column: int, name: str = "") -> InputError:
    return InputError(
        f"X has {'an integer' if isinstance(value, int) else 'a number'} that float64 cannot hold exactly",
        remedy="Subtract a constant from that column, or round it first: X.astype(float).",
        row=row,
        column=column,
        column_name=name,
        value=value,
    )


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or pandas' NA or NaT, which is found without importing pandas."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, np.datetime64 | np.timedelta64) and bool(np.isnat(value)))
        or (isinstance(value, float | np.floating) and value != value)
        or (isinstance(value, Decimal) and value.is_nan())
    )


def as_objects(values: Sequence[Any]) -> NDArray[Any]:
    """Return a 1-D array of Python objects."""
    return np.fromiter(values, dtype=object, count=len(values))


def _usual_type(values: NDArray[Any]) -> NDArray[Any]:
    """Return the same numbers in a type of at most 64 bits and native byte order."""
    if values.dtype == np.bool_:
        return values.view(np.uint8)
    if values.dtype == np.float16:
        return values.astype(np.float32)
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        narrow = values.astype(np.float64)
        if not np.array_equal(narrow, values):
            raise InputError(
                "X has numbers that float64 cannot hold exactly.", remedy="Round them first: X.astype(float)."
            )
        return narrow
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


# Data frames


class FrameColumn(NamedTuple):
    """The name and type of a column, and a function that reads it: None if its type is not numeric."""

    name: str
    type: str
    read: Callable[[], Any] | None


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or Polars data frame, or a PyArrow table."""
    return _library(X) in LIBRARIES and hasattr(X, "shape") and titles(X) is not None


def read_frame(X: Any) -> NDArray[Any]:
    """Return the numbers of a data frame as an array of the type that NumPy gives them together."""
    kinds = set(X.dtypes) if _library(X) == "pandas" else set()
    if len(kinds) == 1 and isinstance(kind := kinds.pop(), np.dtype) and kind.kind in "biuf":
        return np.asarray(X)  # without a copy
    columns = list(columns_of(X))
    refuse_columns((each.name, each.type) for each in columns if each.read is None)
    found = [np.asarray(each.read()) for each in columns if each.read is not None]
    cells = {j: values.tolist() for j, values in enumerate(found) if values.dtype.kind == "O"}
    refuse_columns((columns[j].name, not_a_number(values)) for j, values in cells.items())
    places = [partial(_named_place, j, each.name) for j, each in enumerate(columns)]
    for j, values in cells.items():
        found[j] = from_cells(values, places[j])
    matrix = np.empty(X.shape, dtype=np.result_type(*{each.dtype for each in found} or {np.dtype(float)}))
    for j, numbers_of in enumerate(found):
        matrix[:, j] = numbers_of
        if matrix.dtype.kind == "f":
            refuse_rounded(numbers_of, places[j])
    return matrix


def _named_place(column: int, name: str, row: int) -> Place:
    return row, column, name


def columns_of(X: Any) -> Iterator[FrameColumn]:
    """Yield the columns of a pandas or Polars data frame, or of a PyArrow table."""
    return LIBRARIES[_library(X)](X)


def refuse_columns(named: Iterable[tuple[str, str]], shown: int = 10) -> None:
    """Refuse columns that do not hold numbers, given as (name, type); a column with type "" is accepted."""
    odd = [f"{name} ({kind})" for name, kind in named if kind]
    more = f" and {len(odd) - shown} more" if len(odd) > shown else ""
    if odd:
        raise InputTypeError(
            f"These columns of X do not contain numbers: {', '.join(odd[:shown])}{more}.",
            remedy="Each argument must be converted from string to number first, for example with "
            "sklearn.preprocessing.OneHotEncoder. To check for separation, you can also use a formula: "
            "check_separation('y ~ a + b', data=frame).",
        )


def _library(X: Any) -> str:
    """Return the library of a frame; for a proxy such as formulaic's, that of the frame inside."""
    return str(X.__class__.__module__.partition(".")[0])


def _of_pandas(X: Any) -> Iterator[FrameColumn]:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    for j, (name, kind) in enumerate(zip(X.columns, X.dtypes, strict=True)):
        if isinstance(kind, np.dtype):
            number = kind.kind in "biufO"
        else:
            number = str(kind) != "category" and (is_numeric_dtype(kind) or is_bool_dtype(kind))
        yield FrameColumn(str(name), str(kind), X.iloc[:, j].to_numpy if number else None)


def _of_polars(X: Any) -> Iterator[FrameColumn]:
    for series in X.get_columns():
        kind, read = series.dtype, None
        if str(kind).startswith(("Object", "Decimal", "Int128", "UInt128")):
            read = partial(_objects, series.to_list)
        elif kind.is_numeric() or str(kind) == "Boolean":
            read = series.to_numpy
        yield FrameColumn(series.name, str(kind), read)


def _of_arrow(X: Any) -> Iterator[FrameColumn]:
    from pyarrow import types

    for name, column in zip(X.column_names, X.columns, strict=True):
        kind, read = column.type, None
        if types.is_decimal(kind):
            read = partial(_objects, column.to_pylist)
        elif types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
            read = partial(column.to_numpy, zero_copy_only=False)
        yield FrameColumn(str(name), str(kind), read)


def _objects(listed: Callable[[], list[Any]]) -> NDArray[Any]:
    return as_objects(listed())


LIBRARIES = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_arrow}


# Sparse matrices


def _read_sparse(X: Any) -> Any:
    if X.ndim != 2:
        raise InputError(
            f"X must have two dimensions, rows and columns. Got a sparse array of {X.ndim} instead."
        )
    if X.dtype.kind not in "biuf":
        raise InputTypeError(f"X has entries of type {X.dtype}; real numbers are needed.")
    if X.format == "csc":
        X = _compressed(X, sparse.csc_array)
    elif X.format != "csr":
        given = X.tocoo()
        X = sparse.coo_array((given.data, (given.row, given.col)), given.shape)
        X.has_canonical_format = True  # or SciPy would add up duplicates, rounded or modulo 2**bits
    matrix = _compressed(X.tocsr(), sparse.csr_array)
    return matrix if matrix.has_canonical_format else _canonical(matrix)


def _compressed(X: Any, kind: Any) -> Any:
    """Return a new matrix of the same arrays, after SciPy has checked that they fit together."""
    try:
        matrix = kind((X.data, X.indices, X.indptr), X.shape)
        if not _in_order(matrix, X.shape[kind is sparse.csr_array]):
            matrix.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"X is a damaged sparse matrix: {error}.") from None
    return matrix


def _in_order(matrix: Any, width: int) -> bool:
    """Whether the indices of each row ascend from 0 or more to less than the width; SciPy checks the rest."""
    starts, ends = matrix.indptr[:-1], matrix.indptr[1:]
    if not (starts <= ends).all() or not matrix.has_canonical_format:
        return False
    filled = starts < ends
    firsts, lasts = matrix.indices[starts[filled]], matrix.indices[ends[filled] - 1]
    return bool(firsts.min(initial=0) >= 0 and lasts.max(initial=-1) < width)


def _canonical(matrix: Any) -> Any:
    """Sort the rows of a CSR matrix; refuse several entries at one place, whose sum might be rounded."""
    matrix = matrix.sorted_indices()
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    again = np.flatnonzero((np.diff(rows) == 0) & (np.diff(matrix.indices) == 0))
    if again.size:
        raise InputError(
            "X has several entries at one place",
            remedy="Add them up first: X.sum_duplicates().",
            row=int(rows[again[0]]),
        )
    return matrix
