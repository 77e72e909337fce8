"""A matrix of numbers in memory, from whatever holds one, exactly as it is.

No compiled code and no scikit-learn here: whoever checks a proof imports this.
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, InputTypeError, not_finite
from ..rows import threads
from ..sparse import sparse
from .frames import WHOLE, from_cells, is_frame, not_a_number, read_frame, refuse_columns, titles
from .labels import refuse_masked


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
        raise InputTypeError(
            "X is no table of numbers. Numbers of at most 64 bits are needed; encode text first, for example "
            "with OneHotEncoder."
        ) from None
    if matrix.ndim != 2:
        raise InputError(
            f"X must have two dimensions, rows and columns. Got an array of shape {matrix.shape} instead. "
            "Reshape your data: for one column use X.reshape(-1, 1)."
        )
    if isinstance(X, list | tuple) and matrix.dtype.kind == "f" and np.abs(matrix).max(initial=0.0) >= WHOLE:
        matrix = _from_objects(X, matrix)  # whole numbers may have become floats beside others
    return matrix


def _from_objects(X: Any, matrix: NDArray[Any]) -> NDArray[Any]:
    """The numbers of an array of objects, or of what NumPy has no type of numbers for."""
    if matrix.dtype.kind == "c":
        raise InputTypeError(
            "Complex data not supported: only real numbers can be put in order. Use real and imaginary parts."
        )
    if matrix.dtype.kind != "O":
        matrix = np.array(X, dtype=object)
    if matrix.ndim != 2:
        if matrix.ndim == 0 or not_a_number(matrix.ravel().tolist()):
            raise TypeError
        return matrix  # whose shape is refused
    refuse_columns((str(j), not_a_number(matrix[:, j].tolist())) for j in range(matrix.shape[1]))
    width = max(1, matrix.shape[1])
    return from_cells(matrix.ravel().tolist(), lambda at: divmod(at, width)).reshape(matrix.shape)


def _read_sparse(X: Any) -> Any:
    if X.ndim != 2:
        raise InputError(
            f"X must have two dimensions, rows and columns. Got a sparse array of {X.ndim} instead."
        )
    if X.dtype.kind not in "biuf":
        raise InputTypeError(f"X has entries of type {X.dtype}; real numbers are needed.")
    if X.format not in ("csr", "csc"):
        given = X.tocoo()
        X = sparse.coo_array((given.data, (given.row, given.col)), given.shape)
        X.has_canonical_format = (
            True  # or else its duplicates were summed by SciPy, rounded or modulo 2**bits
        )
    elif X.format == "csc":
        X = _compressed(X, sparse.csc_array)
    matrix = _compressed(X.tocsr(), sparse.csr_array)
    return matrix if matrix.has_canonical_format else _canonical(matrix)


def _compressed(X: Any, kind: Any) -> Any:
    """The same arrays in a new matrix, about which nothing is known yet; refused where they make none."""
    try:
        matrix = kind((X.data, X.indices, X.indptr), X.shape)
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"X is a damaged sparse matrix: {error}.") from None
    return matrix


def _canonical(matrix: Any) -> Any:
    """A CSR matrix with sorted rows, its duplicates added up: exactly, or refused."""
    matrix = matrix.sorted_indices()
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    again = (np.diff(rows, prepend=-1) == 0) & (np.diff(matrix.indices, prepend=-1) == 0)
    starts = np.flatnonzero(~again)
    values, kept = matrix.data, matrix.data[starts]
    ends = np.append(starts[1:], values.size)
    for at in np.flatnonzero(ends - starts > 1).tolist():
        kept[at] = _exact_sum(values[starts[at] : ends[at]], int(rows[starts[at]]))
    indptr = np.searchsorted(rows[starts], np.arange(matrix.shape[0] + 1)).astype(matrix.indptr.dtype)
    return sparse.csr_array((kept, matrix.indices[starts], indptr), matrix.shape)


def _exact_sum(values: NDArray[Any], row: int) -> Any:
    """The sum of some numbers in their own type; NaN where one is not finite."""
    if not np.isfinite(values).all():
        return np.nan
    total = sum(Fraction(*value.as_integer_ratio()) for value in values.tolist())
    with suppress(OverflowError), np.errstate(over="ignore"):
        found = values.dtype.type(float(total) if total.denominator > 1 else int(total))
        if Fraction(*found.item().as_integer_ratio()) == total:
            return found
    raise InputError(
        f"X has several entries at one place, and {values.dtype} cannot hold their sum exactly",
        remedy="Give it a wider type, or add them up first: X.sum_duplicates().",
        row=row,
    )


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
