"""Perturbation bounds: exact positive multipliers, whose signed rows sum to zero, are near approximate ones.

docs/certificates.md ("Approximate multipliers") has the theorem, its proof and every bound below. In short:
let the signed rows be the columns of A, with multipliers l, and let a matrix B have ``|I - A B| <= q < 1``.
Then some d with ``|d| <= |B| |A l| / (1 - q)`` has ``A (l + d) = 0``. If that bound is below l, the
combination l + d is positive. Nothing is assumed about B, and all rounding and underflow is counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deadline import NEVER, Pause
from ..float_environment import HALF_UNIT
from ..rows.blocks import BlockMatrix
from ..rows.threads import calm_threads
from ..sparse import sparse
from .claims import Approximate
from .monomials import Floats, Ints
from .numbers import BYTES_AT_A_TIME, BYTES_PER_INTEGER, NUMBERS_AT_A_TIME
from .scores import Signs, need_memory

MAX_NUMBERS = 1 << 26  # of the matrix A: half a gigabyte, and three times that while it is worked on
OPERATIONS_PER_SECOND = 2e10  # of matrix products and inverses: half of what a core of an AMD EPYC did
UNDERFLOW = 2.0**-1000  # more than any operation loses to underflow, whether gradual or not

Failure = tuple[str, int | None]  # what fails, and the row if there is one


@dataclass(frozen=True, eq=False)
class Scaled:
    """The signed rows and multipliers of a proof, scaled by powers of two.

    Attributes
    ----------
    rows : ndarray of shape (k, p)
        The transpose of A. All magnitudes are below 1, and each column has one of at least 1/2.
    multipliers : ndarray of shape (k,)
        At least 1/2 and below 1.
    """

    rows: Floats
    multipliers: Floats


@dataclass(frozen=True)
class Bounds:
    """``q``, and the largest part of a multiplier that its correction may be."""

    q: float
    share: float

    @property
    def proved(self) -> bool:
        """Whether exact positive multipliers exist."""
        return self.q < 1.0 and self.share < 1.0


def first_failure(
    m: Approximate, signs: Signs, everywhere: bool, pause: Pause = NEVER.need, memory: float = math.inf
) -> Failure | None:
    """Return the first thing that fails; None if it is proved that no hyperplane separates the listed rows.

    With ``everywhere``, it is also proved that they span all signed rows of the question.
    """
    width = int(signs.matrix.shape[1]) + signs.lift
    classes = used_classes(m, signs)
    if everywhere and signs.joint and classes.size < signs.n_classes:
        absent = np.setdiff1d(np.arange(signs.n_classes), classes)[0]
        return f"No row with a multiplier is about class {absent}.", None
    kept = np.setdiff1d(np.arange(width), [terms[0][0] for terms in m.left_out])
    k, p = len(m.rows), kept.size * max(1, classes.size - 1)
    if p * k > MAX_NUMBERS:
        return f"{k} multipliers in {p} coordinates are more than this checker accepts.", None
    if k <= p:
        return f"{k} multipliers prove nothing in {p} coordinates: at least {p + 1} are needed.", None
    need_memory(64.0 * p * k + 32.0 * p * p, memory)
    seconds = 8.0 * k * p * p / OPERATIONS_PER_SECOND
    pause(seconds)
    rows = signs.order if everywhere else np.asarray(m.rows, dtype=np.int64)
    failure = wrong_relation(m, signs, rows, pause)
    if failure is not None:
        return failure
    scaled = scale(m, signs, kept)
    if isinstance(scaled, str):
        return scaled, None
    found = Bounds(math.inf, math.inf)
    with calm_threads(p):
        for inverse in (normal_inverse, orthogonal_inverse):
            pause(seconds)
            found = bounds(scaled, inverse(scaled.rows), pause)
            if found.proved:
                return None
    if not found.q < 1.0:
        return (
            f"The rows with multipliers nearly depend on each other: |I - A B| <= {found.q:.3g}.",
            None,
        )
    return f"The multipliers are too far from exact ones: by up to {found.share:.3g} of themselves.", None


def used_classes(m: Approximate, signs: Signs) -> Ints:
    """Return the classes that the listed rows are about: none, unless the question is joint."""
    if not signs.joint:
        return np.zeros(0, dtype=np.int64)
    own = signs.codes[np.asarray(m.rows, dtype=np.int64)]
    return np.unique(np.concatenate([own, np.asarray(m.rivals, dtype=np.int64)]))


def scale(m: Approximate, signs: Signs, kept: Ints) -> Scaled | str:
    """Return the transposed matrix A of the theorem in the kept coordinates, or why there is no A."""
    table = _signed_rows(m, signs, kept)
    if table is None:
        return "The rows with multipliers have integers that are not floats."
    fraction, powers = np.frexp(np.array(m.values))
    exponents = np.frexp(table)[1] + powers.astype(np.int32)[:, None]
    exponents[table == 0.0] = np.iinfo(np.int32).min
    top = exponents.max(axis=0)
    if (top == np.iinfo(np.int32).min).any():
        place = int(np.argmin(top)) % max(1, kept.size)
        return f"Coordinate {kept[place]} is zero in all rows with multipliers, but it is not left out."
    shifts = powers.astype(np.int32)[:, None] - top
    with np.errstate(all="ignore"):
        rows = np.ldexp(table, shifts)
        exact = np.ldexp(rows, -shifts) == table
    if not exact.all():
        place = int(np.argmin(exact.all(axis=0))) % kept.size
        return f"The numbers of coordinate {kept[place]} span too many powers of two."
    return Scaled(rows, fraction)


def _signed_rows(m: Approximate, signs: Signs, kept: Ints) -> Floats | None:
    """Return the listed signed rows in the coordinates that are kept; None if they do not fit float64."""
    rows = np.asarray(m.rows, dtype=np.int64)
    lifted = lifted_rows(signs, rows, kept)
    if lifted is None:
        return None
    if not signs.joint:
        return lifted * signs.signs[rows][:, None]
    own, rivals = signs.codes[rows], np.asarray(m.rivals, dtype=np.int64)
    blocks = used_classes(m, signs)[:-1].tolist()
    return np.hstack([lifted * ((own == each) * 1.0 - (rivals == each))[:, None] for each in blocks])


def lifted_rows(signs: Signs, rows: Ints, kept: Ints) -> Floats | None:
    """Return some rows in some coordinates, with the intercept; None if they do not fit float64."""
    width = int(signs.matrix.shape[1])
    inner = kept[kept < width]
    block = signs.matrix[rows][:, inner]
    values = block.toarray() if sparse.issparse(block) else np.asarray(block)
    largest = max(int(values.max(initial=0)), -int(values.min(initial=0))) if values.dtype.kind in "iu" else 0
    if largest > int(1 / HALF_UNIT):
        return None
    out = np.ones((rows.size, kept.size))
    out[:, : inner.size] = values
    return out


def normal_inverse(rows: Floats) -> Floats:
    """Return an approximate right inverse of A: ``A' (A A')^-1``."""
    with np.errstate(all="ignore"):
        try:
            return rows @ np.linalg.inv(rows.T @ rows)
        except np.linalg.LinAlgError:
            return np.full_like(rows, np.inf)


def orthogonal_inverse(rows: Floats) -> Floats:
    """Do the same with ``A' = Q R``, which loses half as many digits and takes three times as long."""
    with np.errstate(all="ignore"):
        try:
            q, r = np.linalg.qr(rows)
            return np.asarray(q @ np.linalg.inv(r).T)
        except np.linalg.LinAlgError:
            return np.full_like(rows, np.inf)


def bounds(scaled: Scaled, inverse: Floats, pause: Pause = NEVER.need) -> Bounds:
    """Bound ``|I - A B|`` and how much a multiplier has to change, whatever B is."""
    rows = scaled.rows
    k, p = rows.shape
    h = (p + k + 16) * 2.0**-52
    outwards = 1.0 + 8.0 * h
    with np.errstate(all="ignore"):
        b = np.abs(inverse).sum(axis=1)
        t = (p + 1.0) * (k + 1.0) * UNDERFLOW * (1.0 + float(b.max()))
        q = 0.0
        step = max(1, NUMBERS_AT_A_TIME // k)
        for start in range(0, p, step):
            pause()
            part = rows[:, start : start + step]
            product = part.T @ inverse
            product[np.arange(len(product)), np.arange(start, start + len(product))] -= 1.0
            sums = np.abs(product).sum(axis=1) + h * (b @ np.abs(part)) + t
            q = max(q, float(sums.max())) if np.isfinite(sums).all() else math.inf
        q *= outwards
        if not q < 1.0:
            return Bounds(q, math.inf)
        r = outwards * residual(scaled)[1]
        share = outwards * float(((b + t) / scaled.multipliers).max()) * r / (1.0 - q)
    return Bounds(q, share if share == share else math.inf)


def residual(scaled: Scaled) -> tuple[Floats, float]:
    """Return ``A l``, far more exact than a product of floats, and a bound of its largest magnitude."""
    rows, values = scaled.rows, scaled.multipliers
    k, p = rows.shape
    bits = (51 - math.ceil(math.log2(k + 1))) // 2
    l1, l2, l3 = _cut(values, bits)
    f, g = np.empty(p), np.empty(p)
    step = max(1, NUMBERS_AT_A_TIME // k)
    for start in range(0, p, step):
        a1, a2, a3 = (part.T for part in _cut(rows[:, start : start + step], bits))
        here = slice(start, start + step)
        f[here] = a1 @ l1 + (a1 @ l2 + a2 @ l1)
        g[here] = f[here] + (a1 @ l3 + a2 @ (l2 + l3) + a3 @ values)
    error = 4.0 * (p + k + 16) * 2.0**-52 * k * 4.0**-bits + (k + 1.0) * UNDERFLOW
    return g, float((np.abs(g) + 2.0 * HALF_UNIT * np.abs(f)).max(initial=0.0)) + error


def _cut(values: Floats, bits: int) -> Iterator[Floats]:
    """Cut numbers below 1 into multiples of ``2**-bits``, multiples of ``2**(-2 bits)``, and the rest."""
    first = np.ldexp(np.rint(np.ldexp(values, bits)), -bits)
    rest = values - first
    second = np.ldexp(np.rint(np.ldexp(rest, 2 * bits)), -2 * bits)
    yield first
    yield second
    yield rest - second


def wrong_relation(m: Approximate, signs: Signs, rows: Ints, pause: Pause) -> Failure | None:
    """Return the first relation of the left-out coordinates that does not hold on some row of the data."""
    for terms in m.left_out:
        pause()
        if isinstance(signs.matrix, BlockMatrix):
            found = signs.matrix.find(rows)
            each = [(places,) for _, _, places in found]
            among = [k for k, *_ in found]
            parts = signs.matrix.map("verify", _first_unrelated, terms, among=among, each=each, pause=pause)
            places = [
                int(which[part]) for (_, which, _), part in zip(found, parts, strict=True) if part is not None
            ]
            wrong = min(places, default=None)
        else:
            wrong = _first_unrelated(signs.matrix, terms, rows, pause)
        if wrong is not None:
            row = int(rows[wrong])
            return f"The relation that leaves out coordinate {terms[0][0]} does not hold in row {row}.", row
    return None


def _first_unrelated(
    matrix: Any, terms: tuple[tuple[int, int], ...], rows: Ints, pause: Pause = NEVER.need
) -> int | None:
    """Return the place of the first row on which a relation does not hold; None if it holds on all."""
    width = int(matrix.shape[1])
    inner = [(c, v) for c, v in terms if c < width]
    columns, factors = np.array([c for c, _ in inner], dtype=np.int64), [v for _, v in inner]
    constant = sum(v for c, v in terms if c == width)
    longest = max((v.bit_length() for _, v in terms), default=0)
    step = max(1, BYTES_AT_A_TIME // (BYTES_PER_INTEGER * len(terms) + longest // 4))
    for start in range(0, rows.size, step):
        pause()
        some = rows[start : start + step]
        values = (
            matrix[some][:, columns].toarray() if sparse.issparse(matrix) else matrix[np.ix_(some, columns)]
        )
        wrong = _nonzero_sum(values, factors, constant)
        if wrong is not None:
            return start + wrong
    return None


def _nonzero_sum(values: NDArray[Any], factors: list[int], constant: int) -> int | None:
    """Return the first row whose numbers, times the factors, do not sum to minus the constant."""
    if not constant and len(factors) == 1:
        wrong = np.flatnonzero(values[:, 0])
    elif not constant and sorted(factors) == [-1, 1]:
        wrong = np.flatnonzero(values[:, 0] != values[:, 1])
    else:
        whole, lowest = _common_integers(values)
        total = whole.dot(np.array(factors, dtype=object)) if factors else np.zeros(len(values), dtype=object)
        wrong = np.flatnonzero((total + (constant << -lowest)) != 0)
    return int(wrong[0]) if wrong.size else None


def _common_integers(values: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return numbers as Python integers times one power of two, and its exponent, which is not positive."""
    if values.dtype.kind != "f":
        return values.astype(object), 0
    fraction, exponent = np.frexp(values.astype(np.float64))
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    lowest = min(0, int(exponent.min(initial=0)) - 53)
    shifts = (exponent.astype(np.int64) - 53 - lowest).astype(object)
    return mantissa.astype(object) << shifts, lowest
