"""A proof from approximate multipliers: exact positive ones, whose signed rows sum to zero, are near them.

The theorem, its proof and every bound below are in docs/certificates.md ("Approximate multipliers"). In
short: with the signed rows as the columns of A, multipliers l and any matrix B with ``|I - A B| <= q < 1``,
some d with ``|d| <= |B| |A l| / (1 - q)`` has ``A (l + d) = 0``. Where that is below l, the combination l + d
is positive. Nothing is assumed of B; all rounding, underflow included, is counted outwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deadline import NEVER
from ..rows.blocks import BlockMatrix
from ..rows.threads import calm_threads
from ..sparse import sparse
from .claims import Approximate
from .scores import Signs
from .work_limit import OPERATIONS, Pause, need_memory

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_NUMBERS = 1 << 26  # of the matrix A: half a gigabyte, and three times that while it is worked on
AT_A_TIME = 1 << 24  # bytes of rows in integers, about, while a relation is checked
A_NUMBER = 400  # bytes of each of their numbers, at most
BLOCK = 256  # coordinates whose part of a product is held at a time
WHOLE = 1 << 53  # up to here every whole number is a float64
ONE_THREAD = 1000  # coordinates up to which BLAS is kept to one thread: more would wait for each other
UNIT = 2.0**-53
UNDERFLOW = 2.0**-1000  # above anything that one operation loses to underflow, whether gradual or not


@dataclass(frozen=True, eq=False)
class Scaled:
    """The signed rows and multipliers of a proof, scaled by powers of two.

    Attributes
    ----------
    rows : ndarray of shape (k, p)
        The transpose of A: below 1 in magnitude, and in each column 1/2 or more somewhere.
    multipliers : ndarray of shape (k,)
        At least 1/2 and below 1.
    """

    rows: Floats
    multipliers: Floats


@dataclass(frozen=True)
class Bounds:
    """``q``, and the largest part of a multiplier that its correction may be: below 1 it is proved."""

    q: float
    share: float

    @property
    def proved(self) -> bool:
        """Whether exact positive multipliers exist."""
        return self.q < 1.0 and self.share < 1.0


def first_failure(
    m: Approximate, signs: Signs, everywhere: bool, pause: Pause = NEVER.need, memory: float = math.inf
) -> str | None:
    """The first thing that fails; None where it is proved that no plane separates the listed rows.

    With ``everywhere`` also that they span all signed rows of the question.
    """
    width = int(signs.matrix.shape[1]) + signs.lift
    classes = used_classes(m, signs)
    if everywhere and signs.joint and classes.size < signs.n_classes:
        return f"The rows with multipliers do not speak of class {_first_absent(classes)}."
    kept = np.setdiff1d(np.arange(width), [terms[0][0] for terms in m.left_out])
    p = kept.size * max(1, classes.size - 1)
    if p * len(m.rows) > MAX_NUMBERS:
        return f"{len(m.rows)} multipliers in {p} coordinates are more than are checked."
    if len(m.rows) <= p:
        return f"{len(m.rows)} multipliers prove nothing in {p} coordinates: at least {p + 1} are needed."
    k = len(m.rows)
    need_memory(64.0 * p * k + 32.0 * p * p, memory)
    seconds = 8.0 * k * p * p / OPERATIONS
    pause(seconds)
    rows = signs.order if everywhere else np.asarray(m.rows, dtype=np.int64)
    failure = wrong_relation(m, signs, rows, pause)
    if failure is not None:
        return failure
    scaled = scale(m, signs, kept)
    if isinstance(scaled, str):
        return scaled
    found = Bounds(math.inf, math.inf)
    with calm_threads(p, ONE_THREAD):
        for inverse in (normal_inverse, orthogonal_inverse):
            pause(seconds)
            found = bounds(scaled, inverse(scaled.rows), pause)
            if found.proved:
                return None
    if not found.q < 1.0:
        return f"The rows with multipliers are too near dependence: |I - A B| <= {found.q:.3g}, not below 1."
    return f"The multipliers are not near enough to exact ones: off by up to {found.share:.3g} of themselves."


def used_classes(m: Approximate, signs: Signs) -> Ints:
    """The classes that the listed rows speak of, for the joint question; else none."""
    if not signs.joint:
        return np.zeros(0, dtype=np.int64)
    own = signs.codes[np.asarray(m.rows, dtype=np.int64)]
    return np.unique(np.concatenate([own, np.asarray(m.rivals, dtype=np.int64)]))


def _first_absent(classes: Ints) -> int:
    gaps = np.flatnonzero(classes != np.arange(classes.size))
    return int(gaps[0]) if gaps.size else int(classes.size)


def scale(m: Approximate, signs: Signs, kept: Ints) -> Scaled | str:
    """The matrix A of the theorem, transposed, in coordinates that are kept; or why there is none."""
    table = _signed_rows(m, signs, kept)
    if table is None:
        return "The rows with multipliers have whole numbers that are not floats."
    fraction, powers = np.frexp(np.array(m.values))
    exponents = np.frexp(table)[1] + powers.astype(np.int32)[:, None]
    exponents[table == 0.0] = np.iinfo(np.int32).min
    top = exponents.max(axis=0)
    if (top == np.iinfo(np.int32).min).any():
        place = int(np.argmin(top)) % max(1, kept.size)
        return f"Coordinate {kept[place]} is zero in all rows with multipliers, and not left out."
    shifts = powers.astype(np.int32)[:, None] - top
    with np.errstate(all="ignore"):
        rows = np.ldexp(table, shifts)
        exact = np.ldexp(rows, -shifts) == table
    if not exact.all():
        place = int(np.argmin(exact.all(axis=0))) % kept.size
        return f"The numbers of coordinate {kept[place]} span too many powers of two."
    return Scaled(rows, fraction)


def _signed_rows(m: Approximate, signs: Signs, kept: Ints) -> Floats | None:
    """The listed signed rows in the coordinates that are kept; None where float64 cannot hold them."""
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
    """Some rows of the data, with their intercept, in some coordinates; None where they are no floats."""
    width = int(signs.matrix.shape[1])
    inner = kept[kept < width]
    block = signs.matrix[rows][:, inner]
    values = block.toarray() if sparse.issparse(block) else np.asarray(block)
    if values.dtype.kind in "iu" and (
        int(values.max(initial=0)) > WHOLE or int(values.min(initial=0)) < -WHOLE
    ):
        return None
    out = np.ones((rows.size, kept.size))
    out[:, : inner.size] = values
    return out


def normal_inverse(rows: Floats) -> Floats:
    """A right inverse of A, about: ``A' (A A')^-1``."""
    with np.errstate(all="ignore"):
        try:
            return rows @ np.linalg.inv(rows.T @ rows)
        except np.linalg.LinAlgError:
            return np.full_like(rows, np.inf)


def orthogonal_inverse(rows: Floats) -> Floats:
    """The same by ``A' = Q R``: half as many digits are lost, in three times the time."""
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
        for start in range(0, p, BLOCK):
            pause()
            part = rows[:, start : start + BLOCK]
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
    """``A l`` with an error far below that of a product of floats, and a bound of its largest magnitude."""
    rows, values = scaled.rows, scaled.multipliers
    k, p = rows.shape
    bits = (51 - math.ceil(math.log2(k + 1))) // 2
    l1, l2, l3 = _cut(values, bits)
    f, g = np.empty(p), np.empty(p)
    for start in range(0, p, BLOCK):
        a1, a2, a3 = (part.T for part in _cut(rows[:, start : start + BLOCK], bits))
        here = slice(start, start + BLOCK)
        f[here] = a1 @ l1 + (a1 @ l2 + a2 @ l1)
        g[here] = f[here] + (a1 @ l3 + a2 @ (l2 + l3) + a3 @ values)
    error = 4.0 * (p + k + 16) * 2.0**-52 * k * 4.0**-bits + (k + 1.0) * UNDERFLOW
    return g, float((np.abs(g) + 2.0 * UNIT * np.abs(f)).max(initial=0.0)) + error


def _cut(values: Floats, bits: int) -> Iterator[Floats]:
    """Numbers below 1 as multiples of ``2**-bits``, multiples of ``2**(-2 bits)``, and what is left."""
    first = np.ldexp(np.rint(np.ldexp(values, bits)), -bits)
    rest = values - first
    second = np.ldexp(np.rint(np.ldexp(rest, 2 * bits)), -2 * bits)
    yield first
    yield second
    yield rest - second


def wrong_relation(m: Approximate, signs: Signs, rows: Ints, pause: Pause) -> str | None:
    """The first relation of the left-out coordinates that does not hold on some row of the data."""
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
            place = terms[0][0]
            return f"The relation that leaves out coordinate {place} does not hold in row {rows[wrong]}."
    return None


def _first_unrelated(
    matrix: Any, terms: tuple[tuple[int, int], ...], rows: Ints, pause: Pause = NEVER.need
) -> int | None:
    """The first of some rows where a relation does not hold; None where it holds on all."""
    width = int(matrix.shape[1])
    inner = [(c, v) for c, v in terms if c < width]
    columns, factors = np.array([c for c, _ in inner], dtype=np.int64), [v for _, v in inner]
    constant = sum(v for c, v in terms if c == width)
    longest = max((v.bit_length() for _, v in terms), default=0)
    step = max(1, AT_A_TIME // (A_NUMBER * len(terms) + longest // 4))
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
    """The first row whose numbers, times the factors, do not sum to minus the constant; in integers."""
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
    """Numbers as Python's integers times one power of two, at most one; and its exponent."""
    if values.dtype.kind != "f":
        return values.astype(object), 0
    fraction, exponent = np.frexp(values.astype(np.float64))
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    lowest = min(0, int(exponent.min(initial=0)) - 53)
    shifts = (exponent.astype(np.int64) - 53 - lowest).astype(object)
    return mantissa.astype(object) << shifts, lowest
