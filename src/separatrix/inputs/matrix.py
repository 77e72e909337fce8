"""A matrix of numbers in memory, from whatever holds one, exactly as it is.

No compiled code and no scikit-learn here: whoever checks a proof imports this.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, InputTypeError, not_finite
from ..rows import threads
from ..rows.facts import known_facts
from ..sparse import sparse
from .labels import is_missing, refuse_masked

WHOLE = float(1 << 53)  # up to here every whole number is a float64


def read_table(X: Any, *, check_finite: bool = True) -> tuple[Any, tuple[str, ...] | None]:
    """Read a table of numbers, not rounded: an array or CSR matrix of at most 64 bits; and its names."""
    names = None if type(X) is np.ndarray else titles(X)
    matrix: Any = _read_sparse(X) if sparse.issparse(X) else _read_dense(X)
    values = matrix.data if sparse.issparse(matrix) else matrix
    if check_finite or values.dtype.itemsize > 8:
        refuse_not_finite(matrix, names)
    usual = _usual_type(values)
    if usual is not values:
        csr = sparse.issparse(matrix)
        matrix = sparse.csr_array((usual, matrix.indices, matrix.indptr), matrix.shape) if csr else usual
    return matrix, names


def as_matrix(X: Any) -> Any:
    """Rows as a 2-D array or CSR matrix of real numbers; what is one already is not copied."""
    X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise InputError(f"Rows must be a matrix of shape (rows, columns). Got shape {X.shape} instead.")
    if X.dtype.kind not in "biuf":
        raise InputTypeError(f"Rows must be real numbers. Got an array of {X.dtype} instead.")
    return X


def refuse_not_finite(matrix: Any, names: tuple[str, ...] | None = None) -> None:
    """Name the first NaN or infinity, if there is one."""
    values = matrix.data if sparse.issparse(matrix) else matrix
    if values.dtype.kind != "f" or not values.size:
        return
    known = known_facts(matrix)
    if known is not None and known.finite:
        return
    with np.errstate(all="ignore"):
        parts = [(values[slice(*each)],) for each in threads.chunks(len(values), values.size)]
        total = sum(threads.run_all(_total, parts))
    # A finite sum has no infinite or missing term; only otherwise is it worth looking one by one.
    if np.isfinite(total):
        return
    bad = np.flatnonzero(~np.isfinite(values))
    if not bad.size:
        return
    at = int(bad[0])
    if sparse.issparse(matrix):
        row, column = int(np.searchsorted(matrix.indptr, at, side="right")) - 1, int(matrix.indices[at])
    else:
        row, column = divmod(at, matrix.shape[1])
    raise not_finite(values.ravel()[at], row, column, names)


def _total(values: NDArray[Any]) -> Any:
    with np.errstate(all="ignore"):  # which other threads do not inherit
        return values.sum()


def titles(X: Any) -> tuple[str, ...] | None:
    """The names of the columns, where there are any: of PyArrow, or of pandas and polars."""
    named = getattr(X, "column_names", getattr(X, "columns", None))
    return None if named is None else tuple(map(str, named))


def not_numbers(X: Any) -> list[str]:
    """Name the columns of a frame or object array that cannot be read as numbers."""
    if getattr(getattr(X, "dtype", None), "kind", "O") not in "OUSmMTV":
        return []
    named = titles(X)
    if named is not None:
        columns = list(zip(named, _columns(X), strict=True))
    else:
        table = np.asarray(X, dtype=object) if not hasattr(X, "tocsr") else np.empty(0)
        if table.ndim != 2:
            return []
        columns = [(str(j), table[:, j]) for j in range(table.shape[1])]
    return [name for name, values in columns if not _reads_as_numbers(values)]


def _reads_as_numbers(values: NDArray[Any]) -> bool:
    try:
        return values.dtype.kind not in "mMc" and values.astype(np.float64) is not None
    except (ValueError, TypeError):
        return False


def _read_dense(X: Any) -> NDArray[Any]:
    if type(X) is not np.ndarray:
        refuse_masked(X, "X")
        refuse_categories(X)
    try:
        matrix = np.asarray(X)
        if matrix.dtype.kind not in "biuf":
            matrix = _from_objects(matrix)
    except (InputError, InputTypeError):
        raise
    except (TypeError, ValueError, OverflowError):
        named = ", ".join(not_numbers(X))
        raise InputTypeError(
            (f"Columns of X that do not hold numbers: {named}. " if named else "X is no table of numbers. ")
            + "Numbers of at most 64 bits are needed; encode text first, for example with OneHotEncoder."
        ) from None
    if matrix.ndim != 2:
        raise InputError(
            f"X must have two dimensions, rows and columns. Got an array of shape {matrix.shape} instead. "
            "For one column use X.reshape(-1, 1)."
        )
    if type(X) is not np.ndarray and matrix.dtype.kind == "f" and np.abs(matrix).max(initial=0.0) >= WHOLE:
        _refuse_rounded(X, matrix)
    return matrix


def refuse_categories(X: Any) -> None:
    """Refuse columns of categories, whose numbers would be taken for measurements."""
    kinds = zip(X.columns, X.dtypes, strict=True) if hasattr(X, "columns") and hasattr(X, "dtypes") else ()
    named = [str(name) for name, kind in kinds if str(kind) == "category"]
    if named:
        raise InputTypeError(
            f"Columns of X that hold categories: {', '.join(named)}. Encode them first, for example with "
            "OneHotEncoder, or ask by a formula: check_separation('y ~ a + b', data=frame)."
        )


def _refuse_rounded(X: Any, matrix: NDArray[Any]) -> None:
    """Refuse whole numbers that became floats beside others, and are not what they were."""
    for j, given in enumerate(_columns(X)):
        for i in np.flatnonzero(np.abs(matrix[:, j]) >= WHOLE).tolist():
            value = given[i]
            if isinstance(value, int | np.integer) and int(value) != int(matrix[i, j]):
                raise InputError(
                    f"X has whole numbers beside fractions, and float64 cannot hold {value} (row {i}, "
                    f"column {j}) exactly.",
                    remedy="Subtract a constant from that column, or round it first: X.astype(float).",
                )


def _columns(X: Any) -> Iterator[Any]:
    """The columns of a list of rows or of a frame, each with its own type."""
    if isinstance(X, list | tuple):
        yield from zip(*X, strict=True)
    elif hasattr(X, "columns"):
        by_place = getattr(X, "iloc", X)
        arrow = hasattr(X, "column_names")
        yield from (np.asarray(X[j] if arrow else by_place[:, j]) for j in range(X.shape[1]))


def _from_objects(matrix: NDArray[Any]) -> NDArray[Any]:
    if matrix.dtype.kind == "c":
        raise InputTypeError(
            "X has complex numbers; only real ones can be put in order. Use real and imaginary parts."
        )
    if matrix.dtype.kind != "O":
        raise TypeError
    values = matrix.ravel().tolist()
    if all(isinstance(v, int | np.integer) for v in values):
        return matrix.astype(np.int64)
    values = [np.nan if is_missing(v) else v for v in values]
    read = np.array(values, dtype=object).astype(np.float64)
    for at, (value, number) in enumerate(zip(values, read.tolist(), strict=True)):
        if value != number and value == value and not isinstance(value, str):
            raise InputError(
                f"X has numbers that float64 cannot hold exactly: {value} in row {at // matrix.shape[-1]}.",
                remedy="Round them first: X.astype(float).",
            )
    return read.reshape(matrix.shape)


def _read_sparse(X: Any) -> Any:
    matrix = sparse.csr_array(X)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if matrix.dtype.kind not in "biuf":
        raise InputTypeError(f"X has entries of type {matrix.dtype}; real numbers are needed.")
    return matrix


def _usual_type(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in a type of at most 64 bits and this machine's byte order."""
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
