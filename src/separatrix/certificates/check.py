"""Check any certificate against the data, exactly, by code that solved nothing.

Only the claim, the data and integer arithmetic are used here. Scores of a separator are first
computed in floating point with a bound of the rounding error; the rows that this cannot settle
are settled in integers (a float is an integer times a power of two).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import CertificateError
from ..inputs.data import Data, read_data, refuse_not_finite
from ..rows.pages import relax
from .claims import Certificate, Multipliers, Number
from .digest import start_digest
from .monomials import PLAIN, MappedMatrix, as_mapped

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK = 1 << 20  # numbers scored at a time: enough for all cores, little enough to let go of in time
SUM_ROWS = 1 << 14  # rows summed at a time: limbs of 27 bits, times coarse ones of 12, stay below 2**53
COARSE = 1 << 12


@dataclass(frozen=True)
class Check:
    """What the check of a certificate found.

    Attributes
    ----------
    holds : bool
        Whether everything that the certificate claims is proved for these data.
    reason : str
        What was proved, or the first thing that failed.
    """

    holds: bool
    reason: str

    def __bool__(self) -> bool:
        return self.holds


def verify(certificate: Any, X: Any, y: Any, *, same_data: bool = True) -> Check:
    """Check a certificate against the data, exactly.

    Parameters
    ----------
    certificate : Certificate, dict or str
        As `separability` returned it, or its JSON.
    X : array, data frame or sparse matrix of shape (rows, columns)
    y : array of shape (rows,)
        Class labels.
    same_data : bool
        Compare the certificate's SHA-256 with that of these data; on large data this takes several times
        as long as the proof. Without it the proof is checked for these data just as exactly; only their
        identity is not.

    Returns
    -------
    Check
        ``holds`` and ``reason``; a false claim is answered by the first row or column where it fails.

    Raises
    ------
    CertificateError
        Where the certificate cannot be read, or speaks of data of another shape, labels or hash.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> verdict = sx.separability(X, y)
    >>> verify(verdict.certificate, X, y)
    Check(holds=True, reason='The weights separate all 4 signed rows, exactly.')
    """
    claim = _read(certificate)
    # A separator of all rows is compared with every number anyway, and NaN never passes.
    data = read_data(
        X, y, check_finite=claim.claim != "separable" or claim.question == "pair" or bool(claim.excluded)
    )
    _same_shape(claim, data)
    check = check_claim(claim, data)
    if same_data and start_digest(data)() != claim.sha256:
        raise CertificateError(
            "This certificate speaks of data with another hash: X or y differs from what was certified, or "
            "has another type. Check it against the original data, or test it on these with same_data=False."
        )
    return Check(True, check.reason + _scope(claim)) if check.holds else check


def _scope(claim: Certificate) -> str:
    """What the claim is about, where that is not every row, by its own numbers, with an intercept."""
    names = [repr(claim.classes[c]) for c in claim.chosen]
    parts = []
    if claim.question == "one-vs-rest":
        parts.append(f"Class {names[0]} is set against the rest.")
    if claim.question == "pair":
        parts.append(f"Class {names[1]} is set against {names[0]}; rows of other classes are left out.")
    if claim.excluded:
        parts.append(f"{len(set(claim.excluded))} of {claim.n_rows} rows are left out by the certificate.")
    if claim.degrees != PLAIN:
        parts.append(f"Rows stand for their monomials of degree {', '.join(map(str, claim.degrees))}.")
    if not claim.lift:
        parts.append("There is no intercept.")
    return "".join(f" {part}" for part in parts)


def check_claim(claim: Certificate, data: Data, pause: Callable[[], None] = relax) -> Check:
    """Check the mathematics of a claim on data whose identity is not in doubt.

    ``pause`` is called before each row that is scored in integers; who has no time left may raise there.
    """
    signs = Signs(claim, data)
    if signs.count == 0:
        return Check(False, "No rows are left for this question to speak of.")
    if claim.claim in ("separable", "quasi-separable") and claim.weights is None:
        return Check(False, f"The claim is {claim.claim}, but there are no weights to prove it.")
    if claim.claim != "separable" and claim.multipliers is None:
        return Check(False, f"The claim is {claim.claim}, but there are no multipliers to prove it.")
    tight: set[tuple[int, int]] = set()
    if claim.claim != "separable":
        assert claim.multipliers is not None
        failure, tight = _check_multipliers(claim.multipliers, signs)
        if failure:
            return Check(False, failure)
        n_tight = len(tight)
        if claim.claim == "inseparable":
            return Check(
                True, f"A combination of {n_tight} signed rows is exactly zero: no hyperplane separates them."
            )
        if claim.claim == "overlapping":
            if n_tight < signs.count:
                missing = signs.first_missing(tight)
                return Check(False, f"Overlap needs a positive multiplier on every row; {missing} has none.")
            return Check(True, f"All {n_tight} signed rows, with positive multipliers, sum to exactly zero.")
        if n_tight == signs.count:
            return Check(False, "Every row is tight: these data overlap, they are not quasi-separable.")
    assert claim.weights is not None
    found = first_wrong(claim.weights, signs, tight, pause)
    if found is not None:
        row, rival, score = found
        against = f" against class {claim.classes[rival]!r}" if rival >= 0 else ""
        side = {0: "on the plane", -1: "on the wrong side", 1: "strictly separated, though claimed tight"}[
            score
        ]
        return Check(False, f"Row {row}{against} is {side}.")
    if claim.claim == "separable":
        return Check(True, f"The weights separate all {signs.count} signed rows, exactly.")
    return Check(
        True,
        f"The weights separate {signs.count - len(tight)} signed rows strictly; the other {len(tight)} lie "
        "on the plane, and multipliers prove that no plane does better.",
    )


def _read(certificate: Any) -> Certificate:
    if isinstance(certificate, (str, bytes)):
        return Certificate.from_json(certificate)
    if isinstance(certificate, Certificate):
        # Whatever was put into the object passes the same gate as text.
        return Certificate.from_dict(json.loads(certificate.to_json()))
    if isinstance(certificate, Mapping):
        return Certificate.from_dict(dict(certificate))
    raise CertificateError(
        f"A certificate, its dict or its JSON text is needed. Got {type(certificate).__name__} instead."
    )


def _same_shape(claim: Certificate, data: Data) -> None:
    if (claim.n_rows, claim.n_columns) != data.matrix.shape:
        raise CertificateError(
            f"This certificate speaks of {claim.n_rows} x {claim.n_columns} data; these are "
            f"{data.matrix.shape[0]} x {data.matrix.shape[1]}."
        )
    if claim.classes != data.classes:
        raise CertificateError(
            "This certificate speaks of other classes: "
            f"{', '.join(claim.classes[:5])}; these data have {', '.join(data.classes[:5])}."
        )
    if claim.question == "binary" and len(claim.classes) != 2:
        raise CertificateError(f"A binary question needs two classes; these data have {len(claim.classes)}.")


class Signs:
    """Which signed rows a question is about.

    For the joint question a signed row is a pair (row, rival class); otherwise it is a row with a
    sign, and its rival is written -1.
    """

    def __init__(self, claim: Certificate, data: Data) -> None:
        self.matrix, self.codes, self.lift = as_mapped(data.matrix, claim.degrees), data.codes, claim.lift
        self.roundings = self.matrix.shape[1] + 8 + claim.degrees[-1]
        self.tiny = self.matrix.smallest_error() if isinstance(self.matrix, MappedMatrix) else 0.0
        self.n_classes = len(data.classes)
        self.joint = claim.question == "joint"
        inside = np.ones(data.codes.size, dtype=bool)
        inside[list(claim.excluded)] = False
        positive = 1
        if claim.question == "one-vs-rest":
            positive = claim.chosen[0]
        elif claim.question == "pair":
            positive = claim.chosen[1]
            inside &= np.isin(data.codes, claim.chosen)
        self.inside = inside
        self.order = np.flatnonzero(inside)
        self.signs = np.where(data.codes == positive, 1, -1)
        self.count = self.order.size * (self.n_classes - 1 if self.joint else 1)

    def first_missing(self, tight: set[tuple[int, int]]) -> str:
        """Name the first signed row without a multiplier."""
        for row in self.order.tolist():
            rivals = [c for c in range(self.n_classes) if c != self.codes[row]] if self.joint else [-1]
            for rival in rivals:
                if (row, rival) not in tight:
                    return f"row {row}" + (f" against class {rival}" if self.joint else "")
        return "none"


def _check_multipliers(m: Multipliers, signs: Signs) -> tuple[str, set[tuple[int, int]]]:
    """The first thing that fails (or nothing), and the signed rows with a positive multiplier."""
    tight: set[tuple[int, int]] = set()
    rivals = m.rivals if signs.joint else (-1,) * len(m.rows)
    for row, rival in zip(m.rows, rivals, strict=True):
        if not signs.inside[row]:
            return f"Row {row} has a multiplier, but the question is not about it.", tight
        if rival == signs.codes[row] and signs.joint:
            return f"Row {row} is compared with its own class.", tight
        if (row, rival) in tight:
            return f"Row {row} has two multipliers.", tight
        tight.add((row, rival))
    if not tight:
        return "There are no multipliers.", tight
    for i, row in enumerate(m.rows):
        coarse = m.coarse[i] if m.coarse else 0
        fine = m.fine[i] if i < len(m.fine) else 0
        if coarse * m.denominator + fine <= 0:
            return f"The multiplier of row {row} is not positive.", tight
    blocks = range(signs.n_classes) if signs.joint else range(1)
    for block in blocks:
        sign = _block_signs(m, signs, block)
        column = _first_nonzero_column(m, sign, signs)
        if column is not None:
            of_class = f" of class {block}" if signs.joint else ""
            place = "the intercept" if column == signs.matrix.shape[1] else f"column {column}"
            return f"The combination of signed rows is not zero in {place}{of_class}.", tight
    return "", tight


def _block_signs(m: Multipliers, signs: Signs, block: int) -> Ints:
    """The sign with which each row enters the weights of one class (or the only weights)."""
    rows = np.asarray(m.rows, dtype=np.int64)
    if not signs.joint:
        return signs.signs[rows]
    own = (signs.codes[rows] == block).astype(np.int64)
    sign: Ints = own - (np.asarray(m.rivals, dtype=np.int64) == block)
    return sign


def _first_nonzero_column(m: Multipliers, sign: Ints, signs: Signs) -> int | None:
    """The first column where the signed, weighed rows do not sum to zero; the intercept comes last."""
    width = int(signs.matrix.shape[1])
    totals = small_sums(m, sign, signs.matrix)
    fine = [(i, int(sign[i]) * v) for i, v in enumerate(m.fine) if sign[i]]
    coarse = m.coarse or (0,) * len(m.rows)
    large = [(i, int(sign[i]) * c) for i, c in enumerate(coarse) if sign[i] and abs(c) >= COARSE]
    parts: dict[int, dict[int, int]] = {}
    for entries, factor in ((fine, 1), (large, m.denominator)):
        for i, value in entries:
            for column, mantissa, exponent in row_integers(signs.matrix, m.rows[i]):
                part = parts.setdefault(column, {})
                part[exponent] = part.get(exponent, 0) + value * factor * mantissa
    for column in sorted(set(totals) | set(parts)):
        total = dict(parts.get(column, {}))
        for exponent, value in totals.get(column, {}).items():
            total[exponent] = total.get(exponent, 0) + value * m.denominator
        low = min(total)
        if sum(value << (exponent - low) for exponent, value in total.items()) != 0:
            return column
    if signs.lift:
        ones = sum(v for _, v in fine) + m.denominator * sum(
            int(s) * c for s, c in zip(sign, coarse, strict=True)
        )
        if ones != 0:
            return width
    return None


def small_sums(m: Multipliers, sign: Ints, matrix: Any) -> dict[int, dict[int, int]]:
    """The sum of the rows with small coarse multipliers: for each column, integers by exponent of two.

    Every number is cut into limbs of at most 27 bits with an exponent; limbs of one column and one
    exponent are added in float64, which is exact as the sum stays below 2**53.
    """
    sums: dict[int, dict[int, int]] = {}
    if not m.coarse:
        return sums
    coarse = np.array([c if abs(c) < COARSE else 0 for c in m.coarse], dtype=np.int64) * sign
    used = np.flatnonzero(coarse)
    rows = np.asarray(m.rows, dtype=np.int64)
    if isinstance(matrix, MappedMatrix):
        for i in used.tolist():
            for column, mantissa, exponent in row_integers(matrix, m.rows[i]):
                at = sums.setdefault(column, {})
                at[exponent] = at.get(exponent, 0) + int(coarse[i]) * mantissa
        return sums
    for start in range(0, used.size, SUM_ROWS):
        part = used[start : start + SUM_ROWS]
        for columns, values, factors in _entries(matrix, rows[part], coarse[part].astype(np.float64)):
            for limbs, exponents in _limbs(values):
                low = int(exponents.min(initial=0))
                span = int(exponents.max(initial=0)) - low + 1
                keys, found = _summed(columns * span + (exponents - low), limbs * factors)
                for key, total in zip(keys.tolist(), found.tolist(), strict=True):
                    at = sums.setdefault(key // span, {})
                    exponent = key % span + low
                    at[exponent] = at.get(exponent, 0) + int(total)
    return sums


def _summed(keys: Ints, values: Floats) -> tuple[Any, Any]:
    """The sum of the values of each key, where it is not zero."""
    largest = int(keys.max(initial=0))
    if largest < 4 * keys.size + 1000:
        found = np.bincount(keys, values, largest + 1)
        kept = np.flatnonzero(found)
        return kept, found[kept]
    unique, places = np.unique(keys, return_inverse=True)
    found = np.bincount(places.ravel(), values, unique.size)
    return unique[found != 0], found[found != 0]


def _entries(matrix: Any, rows: Ints, factors: Floats) -> Iterator[tuple[Ints, NDArray[Any], Floats]]:
    """The stored numbers of some rows: their columns, values and the factor of their row."""
    step = max(1, (1 << 18) // max(1, matrix.shape[1])) if not sparse.issparse(matrix) else len(rows)
    for start in range(0, len(rows), max(1, step)):
        block, factor = matrix[rows[start : start + step]], factors[start : start + step]
        if sparse.issparse(block):
            yield block.indices.astype(np.int64), block.data, np.repeat(factor, np.diff(block.indptr))
        else:
            columns = np.tile(np.arange(block.shape[1]), block.shape[0])
            yield columns, block.ravel(), np.repeat(factor, block.shape[1])


def _limbs(values: NDArray[Any]) -> Iterator[tuple[Floats, Ints]]:
    """Cut numbers into integer limbs of at most 27 bits, each with its exponent of two."""
    if values.dtype.kind == "f":
        fraction, exponent = np.frexp(values.astype(np.float64))
        mantissa = np.ldexp(fraction, 53)
        high = np.floor(np.ldexp(mantissa, -27))
        yield high, exponent.astype(np.int64) - 26
        yield mantissa - np.ldexp(high, 27), exponent.astype(np.int64) - 53
        return
    zero = np.zeros(values.shape, dtype=np.int64)
    for shift in range(0, 8 * values.dtype.itemsize, 27):
        top = shift + 27 >= 8 * values.dtype.itemsize
        limb = values >> values.dtype.type(shift)
        yield (limb if top else limb & values.dtype.type((1 << 27) - 1)).astype(np.float64), zero + shift


def row_integers(matrix: Any, row: int) -> Iterator[tuple[int, int, int]]:
    """The non-zero numbers of a row as (column, integer, exponent of two)."""
    if isinstance(matrix, MappedMatrix):
        yield from matrix.integers(row_integers(matrix.base, row))
        return
    if sparse.issparse(matrix):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        columns, values = matrix.indices[part], matrix.data[part]
    else:
        columns = np.flatnonzero(matrix[row])
        values = matrix[row, columns]
    if values.dtype.kind == "f":
        if not np.isfinite(values).all():
            refuse_not_finite(matrix)
        fraction, exponent = np.frexp(values.astype(np.float64))
        mantissa = np.ldexp(fraction, 53).astype(np.int64)
        yield from zip(columns.tolist(), mantissa.tolist(), (exponent - 53).tolist(), strict=True)
    else:
        for column, value in zip(columns.tolist(), values.tolist(), strict=True):
            yield column, value, 0


def first_wrong(
    weights: tuple[tuple[Number, ...], ...],
    signs: Signs,
    tight: set[tuple[int, int]],
    pause: Callable[[], None] = relax,
) -> tuple[int, int, int] | None:
    """The first signed row not strictly separated (tight rows: not on the plane), with the sign found."""
    on_plane = np.zeros((signs.codes.size, signs.n_classes if signs.joint else 1), dtype=bool)
    if tight:
        pairs = np.array(sorted(tight), dtype=np.int64)
        on_plane[pairs[:, 0], np.maximum(pairs[:, 1], 0)] = True
    plane = Plane([_exact_weights(each) for each in weights], *_rounded(weights), on_plane)
    step, everything = _rows_a_block(signs.matrix), signs.order.size == signs.codes.size
    for start in range(0, signs.order.size, step):
        relax()
        rows = signs.order[start : start + step]
        block = _floats(signs.matrix[start : start + step] if everything else signs.matrix[rows])
        found = _first_wrong_of(block, rows, plane, signs, pause)
        if found is not None:
            return found
    return None


@dataclass(frozen=True)
class Plane:
    """Weights as exact numbers and as floats, and the signed rows that they claim to leave on the plane.

    Attributes
    ----------
    exact : list of dict
        For each class, or once, the non-zero weights as (integer, exponent of two) by column.
    weights, magnitudes : array of shape (classes or 1, columns)
        Floats close to the weights, and numbers that bound them and what their rounding adds.
    tight : bool array of shape (rows, classes or 1)
    """

    exact: list[dict[int, tuple[int, int]]]
    weights: Floats
    magnitudes: Floats
    tight: NDArray[np.bool_]

    def columns(self, own: int, rival: int) -> list[int]:
        """Columns in which two classes' weights differ; with signs, those whose weights are not zero."""
        if rival < 0:
            return sorted(self.exact[0])
        first, second = self.exact[own], self.exact[rival]
        return sorted(c for c in {*first, *second} if first.get(c) != second.get(c))


def _rows_a_block(matrix: Any) -> int:
    n_rows, n_columns = map(int, matrix.shape)
    numbers = int(matrix.nnz if sparse.issparse(matrix) else n_rows * n_columns)
    return max(1, min(BLOCK, BLOCK * max(1, n_rows) // max(1, numbers)))


def _first_wrong_of(
    block: Any, rows: Ints, plane: Plane, signs: Signs, pause: Callable[[], None]
) -> tuple[int, int, int] | None:
    with np.errstate(all="ignore"):
        outputs = _outputs(block, plane.weights, signs.lift)
        # One number bounds the errors of the whole block; only rows too close for it get their own.
        common = _outputs(_reach(block), plane.magnitudes, signs.lift)
        near = np.unique(_undecided(outputs, common, rows, plane, signs)[0])
        if not near.size:
            return None
        bounds = _outputs(abs(block[near]), plane.magnitudes, signs.lift)
        places, rivals = _undecided(outputs[near], bounds, rows[near], plane, signs)
    places = near[places]
    tied = plane.tight[rows[places], np.maximum(rivals, 0)]
    tied[tied] = _untouched(block, places[tied], rivals[tied], rows, plane, signs)
    for place, rival in zip(places[~tied].tolist(), rivals[~tied].tolist(), strict=True):
        pause()
        row = int(rows[place])
        score = _exact_score(row, rival, plane.exact, signs)
        if score != (0 if plane.tight[row, max(rival, 0)] else 1):
            return row, rival, score
    return None


def _untouched(
    block: Any, places: Ints, rivals: Ints, rows: Ints, plane: Plane, signs: Signs
) -> NDArray[np.bool_]:
    """Which signed rows are zero in every column that decides their score, which then is zero."""
    found = np.zeros(places.size, dtype=bool)
    if isinstance(signs.matrix, MappedMatrix):
        return found  # a product of numbers that are not zero may be rounded to zero
    own = signs.codes[rows[places]] if signs.joint else np.full(places.size, -1)
    for pair in {*zip(own.tolist(), rivals.tolist(), strict=True)}:
        columns = plane.columns(*pair)
        if signs.lift and columns[-1:] == [signs.matrix.shape[1]]:
            continue
        here = np.flatnonzero((own == pair[0]) & (rivals == pair[1]))
        part = block[places[here]][:, columns]
        touched = np.diff(part.indptr) if sparse.issparse(part) else np.count_nonzero(part, axis=1)
        found[here] = touched == 0
    return found


def _floats(block: Any) -> Any:
    """Some rows in float64; only integers above 2**53 are rounded."""
    if block.dtype == np.float64:
        return block
    if sparse.issparse(block):
        return sparse.csr_array((block.data.astype(np.float64), block.indices, block.indptr), block.shape)
    return block.astype(np.float64)


def _reach(block: Any) -> Floats:
    """One row that no number of a block exceeds in magnitude: the length of the block as one vector."""
    values = block.data if sparse.issparse(block) else block.ravel(order="K")
    lost = np.sqrt(values.size) * 2.0**-536  # what squares below the smallest float may hide
    return np.full((1, block.shape[1]), np.sqrt(np.vdot(values, values)) + lost)


def _outputs(block: Any, weights: Floats, lift: bool) -> Floats:
    if not lift:
        return np.asarray(block @ weights.T)
    outputs = np.asarray(block @ weights[:, :-1].T)
    outputs += weights[:, -1]
    return outputs


def _undecided(outputs: Floats, bounds: Floats, rows: Ints, plane: Plane, signs: Signs) -> tuple[Ints, Ints]:
    """The signed rows of a block whose score is not proved positive by the bound of its error.

    They come in order, as places in the block and rivals. ``bounds`` has a row a row, or one for all.
    """
    # |error| <= gamma_n sum |w_j x_j| in any order of summation, with n counting the roundings of the
    # data, the weights and the sum; doubled, for the rounding of the bound itself; then underflow.
    if signs.tiny:
        bounds = bounds + signs.tiny * 2.0**52 * plane.magnitudes.sum(axis=1)  # as if it were rounding
    width = signs.roundings
    errors = 2.0 * width * 2.0**-53 * bounds + width * 2.0**-1020
    if not signs.joint:
        proved = signs.signs[rows] * outputs[:, 0] > errors[:, 0]
        places = np.flatnonzero(~proved | plane.tight[rows, 0])
        return places, np.full(places.size, -1)
    own, here = signs.codes[rows], np.arange(rows.size)
    leads = outputs[here, own][:, None] - outputs
    own_errors = np.broadcast_to(errors, outputs.shape)[here, own]
    open_pairs = ~(leads > 2.0 * (own_errors[:, None] + errors)) | plane.tight[rows]
    open_pairs[here, own] = False
    places, rivals = np.nonzero(open_pairs)
    return places, rivals


def _exact_weights(weights: tuple[Number, ...]) -> dict[int, tuple[int, int]]:
    """The non-zero weights as (integer, exponent of two) by column."""
    exact = {}
    for column, value in enumerate(weights):
        if value:
            top, bottom = value.as_integer_ratio()
            exact[column] = (top, 1 - bottom.bit_length())
    return exact


def _rounded(weights: tuple[tuple[Number, ...], ...]) -> tuple[Floats, Floats]:
    """Floats close to the weights, scaled by one power of two, and magnitudes that bound their errors."""
    largest = max((abs(v) for each in weights for v in each if isinstance(v, int)), default=0)
    shift = max(0, largest.bit_length() - 900)
    # Where the scale is not 1, numbers are cut to whole ones: an error of at most 1, covered by 2**52.
    values = np.array(
        [
            [float(v >> shift) if isinstance(v, int) else float(np.ldexp(v, -shift)) for v in each]
            for each in weights
        ]
    )
    return values, np.abs(values) + (2.0**52 if shift else 0.0)


def _exact_score(row: int, rival: int, exact: list[dict[int, tuple[int, int]]], signs: Signs) -> int:
    """The sign of a signed row's score, in integers."""
    parts: dict[int, int] = {}
    if signs.joint:
        vectors = [(exact[int(signs.codes[row])], 1), (exact[rival], -1)]
    else:
        vectors = [(exact[0], int(signs.signs[row]))]
    numbers = list(row_integers(signs.matrix, row))
    if signs.lift:
        numbers.append((signs.matrix.shape[1], 1, 0))
    for weights, sign in vectors:
        for column, mantissa, exponent in numbers:
            if column in weights:
                integer, power = weights[column]
                at = exponent + power
                parts[at] = parts.get(at, 0) + sign * mantissa * integer
    if not parts:
        return 0
    low = min(parts)
    total = sum(value << (exponent - low) for exponent, value in parts.items())
    return (total > 0) - (total < 0)
