"""Rows that are combinations of the rows of a design matrix and of unit vectors, exact and never stored.

The coordinates are those of the design matrix with its intercept, once for each block, followed by further
parameters of a model, such as the thresholds of an ordinal regression.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...deadline import NEVER, Pause
from ...sparse import dense, sparse
from ..fields import Number
from ..monomials import Floats, Ints, Mask
from ..numbers import COARSE, NUMBERS_AT_A_TIME, Terms, add_row, row_integers, small_sums
from ..scores import SAFE, rounded
from ..zeros import exactly_zero

Total = dict[int, dict[int, int]]  # for each coordinate, integers by exponent of two
# Places, one or several per combination and -1 for none, and their factors: one for all, or one for each.
Part = tuple[Ints, Any]


@dataclass(frozen=True, eq=False)
class Pattern:
    """Some combinations.

    Attributes
    ----------
    data : csr_array
        A column for each row of the design matrix, in each block.
    unit : csr_array
        A column for each coordinate.
    about : ndarray of int64
        The row of the data that each combination is about, -1 if it is about several.
    """

    data: Any
    unit: Any
    about: Ints

    @classmethod
    def of(
        cls, shape: tuple[int, int], about: Ints, data: Sequence[Part] = (), unit: Sequence[Part] = ()
    ) -> Pattern:
        """Add up parts, each with a place per combination; the shape counts rows and coordinates."""
        return cls(
            _from_parts((about.size, shape[0]), data), _from_parts((about.size, shape[1]), unit), about
        )

    @classmethod
    def stacked(cls, patterns: Sequence[Pattern]) -> Pattern:
        """Put patterns of one shape below each other."""
        patterns = [each for each in patterns if each.about.size] or list(patterns[:1])
        if len(patterns) == 1:
            return patterns[0]
        data, unit = (
            sparse.csr_array(sparse.vstack([getattr(each, name) for each in patterns], format="csr"))
            for name in ("data", "unit")
        )
        return cls(data, unit, np.concatenate([each.about for each in patterns]))


def _from_parts(shape: tuple[int, int], parts: Sequence[Part]) -> Any:
    if not parts or not shape[0]:
        return sparse.csr_array(shape)
    wide = [each.reshape(shape[0], -1) for each, _ in parts]
    places = np.column_stack([each.astype(np.min_scalar_type(-shape[1] - 1)) for each in wide])
    values, start = np.empty(places.shape), 0
    for (_, factor), each in zip(parts, wide, strict=True):
        own = np.asarray(factor, dtype=np.float64)
        values[:, start : start + each.shape[1]] = own[:, None] if own.ndim == 1 else own
        start += each.shape[1]
    used = places >= 0
    starts = np.append(0, np.cumsum(np.count_nonzero(used, axis=1)))
    if starts[-1] < 1 << 31 > shape[1]:  # otherwise, the places would be copied as 64-bit integers
        starts = starts.astype(np.int32)
    entries = (values.ravel(), places.ravel()) if used.all() else (values[used], places[used])
    found = sparse.csr_array((*entries, starts), shape)
    found.sum_duplicates()
    found.eliminate_zeros()
    return found


class Combinations:
    """The rows of a pattern.

    Attributes
    ----------
    base : ndarray or csr_array
        The design matrix.
    block : int
        Coordinates of a block: the columns of the base, and the intercept if there is one.
    shape : (int, int)
        Rows of the pattern, and coordinates.
    """

    def __init__(self, base: Any, lift: bool, blocks: int, pattern: Pattern) -> None:
        self.base, self.lift, self.blocks = base, lift, blocks
        self.data, self.unit, self.about = pattern.data, pattern.unit, pattern.about
        self.n_base, self.n_columns = map(int, base.shape)
        self.block = self.n_columns + lift
        self.shape = (int(self.unit.shape[0]), int(self.unit.shape[1]))
        self.dtype = np.dtype(np.float64)

    @cached_property
    def whole(self) -> bool:
        """Whether all factors are small integers, and so few that floats add their products exactly."""
        values = self.data.data
        return values.size + self.unit.nnz < 1 << 28 and bool(
            (values == np.trunc(values)).all() and (np.abs(values) < COARSE).all()
        )

    def exponents(self, base: Ints) -> Ints:
        """Return exponents of two for all coordinates, given those of the columns of the base."""
        found = np.zeros(self.shape[1], dtype=np.int64)
        for block in range(self.blocks):
            found[block * self.block : block * self.block + self.n_columns] = base
        return found

    def scaled(self, exponents: Ints) -> Any:
        """Return all rows, rounded to floats, with the columns of the base divided by powers of two."""
        powers = -exponents.astype(np.int32)
        if sparse.issparse(self.base) or self.shape[1] > 2 * self.blocks * self.block + 50:
            scales = sparse.diags_array(np.ldexp(1.0, powers))
            base = sparse.csr_array(self.base).astype(np.float64) @ scales
            ones = np.ones((self.n_base, 1))
            base = sparse.hstack([base, ones], format="csr") if self.lift else base
            parts = [self._of_block(block) @ base for block in range(self.blocks)]
            rest = self.shape[1] - self.blocks * self.block
            parts += [sparse.csr_array((self.shape[0], rest))] if rest else []
            return sparse.csr_array(sparse.hstack(parts, format="csr") + self.unit)
        out = np.zeros(self.shape)
        for block in range(self.blocks):
            pattern, start = self._of_block(block), block * self.block
            if self.lift:
                out[:, start + self.n_columns] = pattern.sum(axis=1)
            step = max(1, NUMBERS_AT_A_TIME // 4 // max(1, self.n_columns))
            for row in range(0, self.shape[0], step):
                some = pattern[row : row + step]
                used, places = np.unique(some.indices, return_inverse=True)
                narrow = sparse.csr_array(
                    (some.data, places.ravel(), some.indptr), (some.shape[0], used.size)
                )
                values = np.ldexp(self.base[used].astype(np.float64), powers)
                out[row : row + step, start : start + self.n_columns] = narrow @ values
        units = self.unit.tocoo()
        np.add.at(out, units.coords, units.data)
        return out

    def _of_block(self, block: int) -> Any:
        if self.blocks == 1:
            return self.data  # without a copy
        return self.data[:, block * self.n_base : (block + 1) * self.n_base]

    def add(self, total: Total, row: int, factor: int) -> None:
        """Add a row times an integer, exactly."""
        for at in range(self.data.indptr[row], self.data.indptr[row + 1]):
            block, place = divmod(int(self.data.indices[at]), self.n_base)
            top, bottom = float(self.data.data[at]).as_integer_ratio()
            power, first = 1 - bottom.bit_length(), block * self.block
            add_row(
                total,
                factor * top,
                [(first + column, value, e + power) for column, value, e in self._numbers(place)],
            )
        for at in range(self.unit.indptr[row], self.unit.indptr[row + 1]):
            add_row(total, factor * int(self.unit.data[at]), [(int(self.unit.indices[at]), 1, 0)])

    def _numbers(self, place: int) -> Iterable[tuple[int, int, int]]:
        yield from row_integers(self.base, place)
        if self.lift:
            yield self.n_columns, 1, 0

    def sums(self, rows: Ints, factors: Ints, pause: Pause = NEVER.need) -> Total:
        """Return the exact sum of different rows times integers below `COARSE` in magnitude."""
        total: Total = {}
        if not self.whole:
            for row, factor in zip(rows.tolist(), factors.tolist(), strict=True):
                pause()
                self.add(total, row, factor)
            return total
        every = np.zeros(self.shape[0])
        every[rows] = factors
        own = (self.data.T @ every).astype(np.int64)
        small = np.flatnonzero((own != 0) & (np.abs(own) < COARSE))
        for start in range(0, small.size, NUMBERS_AT_A_TIME // 4):
            some = small[start : start + NUMBERS_AT_A_TIME // 4]
            terms = Terms(some % self.n_base, some // self.n_base, own[some], self.blocks)
            for block, sums in enumerate(small_sums(terms, self.base, pause)):
                for column, parts in sums.items():
                    add_row(total, 1, ((block * self.block + column, v, e) for e, v in parts.items()))
        for block in range(self.blocks * self.lift):
            count = int(own[block * self.n_base : (block + 1) * self.n_base].sum())
            add_row(total, count, [(block * self.block + self.n_columns, 1, 0)])
        for at in np.flatnonzero(np.abs(own) >= COARSE).tolist():
            pause()
            block, place = divmod(at, self.n_base)
            numbers = ((block * self.block + c, v, e) for c, v, e in row_integers(self.base, place))
            add_row(total, int(own[at]), numbers)
        units = self.unit.T @ every
        add_row(total, 1, [(at, int(units[at]), 0) for at in np.flatnonzero(units).tolist()])
        return total

    def first_wrong(
        self, weights: Sequence[Number], tight: Mask, pause: Pause = NEVER.need
    ) -> tuple[int, int] | None:
        """Return the first row, with the sign of its score, that is not positive, or tight and not zero."""
        values, magnitudes = (each[0] for each in rounded((tuple(weights),)))
        ratios = {at: value.as_integer_ratio() for at, value in enumerate(weights) if value}
        exact = {at: (top, 1 - bottom.bit_length()) for at, (top, bottom) in ratios.items()}
        # a sum of n products is off by at most n 2**-53 / (1 - n 2**-53) times the sum of their sizes
        longest = int(np.diff(self.data.indptr).max(initial=0) + np.diff(self.unit.indptr).max(initial=0))
        with np.errstate(all="ignore"):
            outputs = self._outputs(values, magnitudes, pause)
        for start in range(0, self.shape[0], NUMBERS_AT_A_TIME // 4):
            here = slice(start, start + NUMBERS_AT_A_TIME // 4)
            data, unit = self.data[here], self.unit[here]
            with np.errstate(all="ignore"):
                scores = data @ outputs[0] + unit @ values
                sizes = abs(data) @ outputs[1] + abs(unit) @ magnitudes
                bounds = (self.block + longest + 12.0) * (2.0**-52 * sizes + 2.0**-1000)
                near = start + np.flatnonzero(~((scores > bounds) & (sizes < SAFE)) | tight[here])
            tied = tight[near]
            tied[tied] = self._zero(near[tied], weights, pause)
            for row in near[~tied].tolist():
                pause()
                sign = self._exact_sign(row, exact)
                if sign != (0 if tight[row] else 1):
                    return row, sign
        return None

    def _outputs(self, values: Floats, magnitudes: Floats, pause: Pause) -> Floats:
        """Return the score of each row of the base in floats, and the sum of the sizes of its terms."""
        outputs = np.empty((2, self.n_base * self.blocks))
        step = max(1, NUMBERS_AT_A_TIME // max(1, self.n_columns))
        for block in range(self.blocks):
            own = slice(block * self.block, block * self.block + self.n_columns)
            for start in range(0, self.n_base, step):
                pause()
                part = self.base[start : start + step].astype(np.float64)
                here = slice(block * self.n_base + start, block * self.n_base + start + part.shape[0])
                outputs[0, here] = part @ values[own]
                outputs[1, here] = abs(part) @ magnitudes[own]
            if self.lift:
                here, at = slice(block * self.n_base, (block + 1) * self.n_base), own.stop
                outputs[0, here] += values[at]
                outputs[1, here] += magnitudes[at]
        return outputs

    def _zero(self, rows: Ints, weights: Sequence[Number], pause: Pause) -> Mask:
        """Say which rows are proved to have the score zero; only those of one or two terms are looked at."""
        found = np.zeros(rows.size, dtype=bool)
        numbers = self.base.data if sparse.issparse(self.base) else self.base
        large = (
            max(int(numbers.max(initial=0)), -int(numbers.min(initial=0))) if numbers.dtype.kind != "f" else 0
        )
        if large >= 1 << 53:
            return found  # floats do not hold such integers
        exact = [(top, 1 - bottom.bit_length()) for top, bottom in (w.as_integer_ratio() for w in weights)]
        kinds = np.full((rows.size, 3), -1)
        for k in range(3):  # the blocks of the first three terms
            has = np.flatnonzero(np.diff(self.data.indptr)[rows] > k)
            at = self.data.indptr[rows[has]] + k
            kinds[has, k] = self.data.indices[at] // self.n_base
            kinds[has[np.abs(self.data.data[at]) != 1.0], 2] = 0
        for kind in np.unique(kinds[kinds[:, 2] < 0], axis=0).tolist():
            these, blocks = np.flatnonzero((kinds == kind).all(axis=1)), [b for b in kind if b >= 0]
            step = max(1, NUMBERS_AT_A_TIME // (1 + len(blocks) * self.block))
            for start in range(0, these.size, step):
                some = these[start : start + step]
                units = self.unit[rows[some]]
                used = np.unique(units.indices)
                parts, chain = [dense(units[:, used])], [exact[at] for at in used.tolist()]
                for k, block in enumerate(blocks):
                    own = exact[block * self.block : (block + 1) * self.block]
                    columns = [j for j, (weight, _) in enumerate(own) if weight]
                    parts.append(self._term(rows[some], k, columns))
                    chain += [own[j] for j in columns]
                found[some] = exactly_zero(np.hstack(parts), chain, (0, 0), pause)
        return found

    def _term(self, rows: Ints, k: int, columns: list[int]) -> NDArray[Any]:
        """Return some columns of the k-th term of some rows: a row of the base, times 1 or -1."""
        at = self.data.indptr[rows] + k
        inner = [j for j in columns if j < self.n_columns]
        values = dense(self.base[self.data.indices[at] % self.n_base][:, inner])
        if len(inner) < len(columns):
            values = np.hstack([values, np.ones((rows.size, 1))])
        return np.asarray(values * self.data.data[at][:, None])

    def _exact_sign(self, row: int, weights: dict[int, tuple[int, int]]) -> int:
        """Return the sign of the score of a row, in integers."""
        total: Total = {}
        self.add(total, row, 1)
        parts: dict[int, int] = {}
        for at, numbers in total.items():
            if at in weights:
                weight, power = weights[at]
                for exponent, value in numbers.items():
                    parts[exponent + power] = parts.get(exponent + power, 0) + value * weight
        low = min(parts, default=0)
        score = sum(value << (exponent - low) for exponent, value in parts.items())
        return (score > 0) - (score < 0)

    def independent(self, rows: Iterable[int], prime: int, pause: Pause = NEVER.need) -> bool:
        """Whether some rows are independent modulo a prime below 2**31, and so in the rational numbers."""
        table = np.array([self._residues(row, prime) for row in rows], dtype=np.int64)
        for k in range(len(table)):
            pause()
            pivots = np.flatnonzero(table[k])
            if not pivots.size:
                return False
            column = pivots[0]
            line = table[k] * pow(int(table[k, column]), -1, prime) % prime
            table[k + 1 :] = (table[k + 1 :] - table[k + 1 :, column, None] * line) % prime
        return True

    def _residues(self, row: int, prime: int) -> list[int]:
        total: Total = {}
        self.add(total, row, 1)
        found = [0] * self.shape[1]
        for at, parts in total.items():
            found[at] = sum(value * pow(2, exponent, prime) for exponent, value in parts.items()) % prime
        return found
