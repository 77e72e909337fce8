"""An exact change of columns that makes integer rows well conditioned, so that floats suffice for them.

Whether rows can be separated does not change under an invertible change of columns: ``(Z T) w = Z (T w)``,
and multipliers of rows do not change at all. Floats suggest T, integers carry it out. Let R be the triangular
factor of a QR decomposition of the rows in floats. Its inverse, rounded to integers with a diagonal without
zeros, is invertible whatever rounding did to R, and the product of integer matrices is exact. If R is
correct to a few digits, the product has nearly orthogonal columns. If the condition number is beyond the
precision of floats, each change reduces it by the digits that floats resolve, and further changes follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flint
import numpy as np
import scipy  # loads linalg when it is used: small questions do without it

from ...deadline import Deadline
from ...rows.protocol import Floats, Ints, Mask
from .integer_rows import bits

CONDITIONED = 1e3  # a condition number at which a linear program in floats has digits to spare
NOTHING = -(10**8)  # counts as the exponent of a zero
UNDERFLOW = -1070  # exponents below which floats are zeros
# Measured on matrices of 1,000 x 100 to 5,574 x 300 numbers of 53 to 115 bits: 1e-9 to 3e-9.
MULTIPLIED = 3e-9  # seconds for each product of two entries, for each 64 bits


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows in other columns: ``numbers == rows @ change``.

    Attributes
    ----------
    numbers : fmpz_mat of shape (rows, rank)
        Of full column rank.
    change : fmpz_mat of shape (columns of the rows, rank)
    """

    numbers: Any
    change: Any

    def changed(self, matrix: Any, deadline: Deadline) -> Columns:
        """Return both times an invertible matrix. Raises OutOfTime if too little time is left."""
        width = self.numbers.ncols()
        words = 1 + (bits(self.numbers) + bits(matrix)) / 64
        deadline.need(MULTIPLIED * words * width**2 * (self.numbers.nrows() + width))
        return Columns(self.numbers * matrix, self.change * matrix)


@dataclass(frozen=True, eq=False)
class Balanced:
    """Integer rows as floats: ``values[i, j] * 2**(rows[i] + columns[j])`` is the entry, except for rounding.

    The largest magnitude of each row is between 1/2 and 1, or zero.
    """

    values: Floats
    rows: Ints
    columns: Ints


def well_conditioned(
    columns: Columns, among: Mask, sizes: Ints | None, deadline: Deadline
) -> tuple[Columns, Balanced]:
    """Change the columns until some of the rows are well conditioned.

    Parameters
    ----------
    columns : Columns
    among : mask over the rows
        Rows of full rank.
    sizes : ndarray of int64, or None
        Row i is weighted by ``2**-sizes[i]``; by default, all rows have about the same weight.
    deadline : Deadline
        When to give up: OutOfTime is raised.
    """
    mantissas, exponents = mantissas_exponents(columns.numbers)
    if sizes is None:
        sizes = _balanced(mantissas, exponents, exponents.max(axis=0)).rows
    for _ in range(8):  # each takes about 15 digits off the condition number
        deadline.need()
        weighted = exponents[among] - sizes[among, None]
        powers = weighted.max(axis=0)
        table = np.ldexp(mantissas[among], np.maximum(weighted - powers, UNDERFLOW).astype(np.int32))
        triangle: Any = np.linalg.qr(table, mode="r")
        values = np.linalg.svd(triangle, compute_uv=False)
        if values[0] <= CONDITIONED * values[-1]:
            break
        columns = columns.changed(_integer_inverse(triangle, powers), deadline)
        mantissas, exponents = mantissas_exponents(columns.numbers)
    return columns, _balanced(mantissas, exponents, powers)


def _integer_inverse(triangle: Floats, powers: Ints) -> Any:
    """Return an invertible integer matrix near the inverse of ``triangle * 2**powers``, columns scaled."""
    diagonal = triangle.diagonal().copy()
    smallest = 2.0**-56 * np.abs(diagonal).max()  # below, rounding has left nothing
    np.fill_diagonal(triangle, np.where(np.abs(diagonal) < smallest, smallest, diagonal))
    inverse = scipy.linalg.solve_triangular(triangle, np.eye(len(triangle)))
    inverse /= np.abs(inverse).max(axis=0)
    whole = [[int(v) for v in row] for row in np.rint(np.ldexp(inverse, 60)).tolist()]
    for i, row in enumerate(whole):
        row[i] = row[i] or 1
    shifts = (int(powers.max()) - powers).tolist()
    return flint.fmpz_mat([[v << shift for v in row] for row, shift in zip(whole, shifts, strict=True)])


def mantissas_exponents(matrix: Any) -> tuple[Floats, Ints]:
    """Return the entries of an integer matrix as ``mantissa * 2**exponent``, rounded."""
    shape, entries = (matrix.nrows(), matrix.ncols()), matrix.entries()
    try:
        mantissas, powers = np.frexp(np.fromiter(map(float, entries), np.float64, len(entries)))
        exponents = powers.astype(np.int64)
    except OverflowError:
        mantissas, exponents = _floats_of_any_size([int(v) for v in entries])
    exponents[mantissas == 0.0] = NOTHING
    return mantissas.reshape(shape), exponents.reshape(shape)


def _floats_of_any_size(values: list[int]) -> tuple[Floats, Ints]:
    """Return integers of any size as ``mantissa * 2**exponent``, rounded."""
    cut = [max(0, value.bit_length() - 62) for value in values]
    leading = np.array([float(value >> shift) for value, shift in zip(values, cut, strict=True)])
    mantissas, powers = np.frexp(leading)
    return mantissas, powers + np.array(cut, dtype=np.int64)


def _balanced(mantissas: Floats, exponents: Ints, powers: Ints) -> Balanced:
    powers = np.where(powers <= NOTHING, 0, powers)
    relative = exponents - powers
    rows = relative.max(axis=1, initial=NOTHING)
    rows[rows < NOTHING // 2] = 0
    values = np.ldexp(mantissas, np.maximum(relative - rows[:, None], UNDERFLOW).astype(np.int32))
    return Balanced(values, rows, powers)
