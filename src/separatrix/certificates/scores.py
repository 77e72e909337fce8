"""The signed rows of a question, and on which side of a hyperplane each is.

Scores are computed in floats with an error bound. The rows that the bound does not decide are decided in
integers, exactly, because a float is an integer times a power of two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deadline import NEVER, Pause
from ..errors import CertificateError
from ..float_environment import HALF_UNIT, SMALLEST_NORMAL, need_exact_floats
from ..inputs.data import Data
from ..rows.blocks import BlockMatrix
from ..sparse import sparse
from .claims import Certificate
from .fields import Number
from .monomials import PLAIN, Floats, Ints, Mask, MonomialMatrix, count_columns
from .numbers import NUMBERS_AT_A_TIME, Terms, row_integers
from .zeros import exactly_zero

SAFE = 2.0**1000  # sums of magnitudes below this did not overflow, however a thread of BLAS rounds


class Signs:
    """The signed rows that a question is about.

    For the joint question a signed row is a pair (row, rival class). Otherwise it is a row with a sign, and
    its rival is -1. Raises CertificateError if this takes more than ``memory`` bytes.
    """

    def __init__(self, claim: Certificate, data: Data, memory: float = math.inf) -> None:
        need_exact_floats()
        self.n_classes = len(data.classes)
        self.joint = claim.question == "joint"
        plain = claim.degrees == PLAIN
        products = count_columns(claim.n_columns, claim.degrees) if claim.weights and not plain else 0
        per_row = 34.0 + 2.0 * (self.n_classes - 1) * self.joint  # a sign, a place, and marks of signed rows
        need_memory(data.codes.size * per_row + 64.0 * products, memory)
        self.question = replace(claim, weights=None, multipliers=None, approximate=None)
        self.data = data
        self.matrix: Any = data.matrix if plain else MonomialMatrix(data.matrix, claim.degrees)
        self.codes, self.lift = data.codes, claim.lift
        self.roundings = self.matrix.shape[1] + 8 + claim.degrees[-1]
        self.inside = np.ones(data.codes.size, dtype=bool)
        self.inside[list(claim.excluded)] = False
        positive = 1
        if claim.question == "one-vs-rest":
            positive = claim.chosen[0]
        elif claim.question == "pair":
            positive = claim.chosen[1]
            self.inside &= np.isin(data.codes, claim.chosen)
        self.order = np.flatnonzero(self.inside)
        self.signs = np.where(data.codes == positive, 1, -1)
        self.count = self.order.size * (self.n_classes - 1 if self.joint else 1)

    @cached_property
    def tiny(self) -> float:
        """The most that a number may lose because it is too small: BLAS may count subnormal ones as zero."""
        mapped = isinstance(self.matrix, MonomialMatrix)
        return SMALLEST_NORMAL + (self.matrix.smallest_error() if mapped else 0.0)

    def none(self) -> Mask:
        """Return a mask without any signed row: of shape (rows, 1), or (rows, classes) if joint."""
        return np.zeros((self.codes.size, self.n_classes if self.joint else 1), dtype=bool)

    def places(self, row: int, rival: int) -> list[tuple[int, int]]:
        """Return the weight vectors that score a signed row, each with a sign."""
        if self.joint:
            return [(int(self.codes[row]), 1), (rival, -1)]
        return [(0, int(self.signs[row]))]

    def terms(self, rows: Ints, rivals: Ints, factors: Ints) -> Terms:
        """Return the terms of sums of signed rows times integers: one sum for each weight vector."""
        if not self.joint:
            return Terms(rows, np.zeros_like(rows), factors * self.signs[rows], 1)
        blocks = np.concatenate([self.codes[rows], rivals])
        return Terms(np.tile(rows, 2), blocks, np.concatenate([factors, -factors]), self.n_classes)

    def first_missing(self, tight: Mask) -> tuple[int, int]:
        """Return the first signed row without a multiplier: its row, and its rival class or -1."""
        missing = ~tight & self.inside[:, None]
        if self.joint:
            missing[np.arange(self.codes.size), self.codes] = False
        row, rival = np.argwhere(missing)[0].tolist()
        return row, rival if self.joint else -1


def need_memory(needed: float, allowed: float) -> None:
    """Raise CertificateError if a check needs more bytes than it is allowed."""
    if needed > allowed:
        megabytes = f"{math.ceil(needed / 1e6):,} MB" if needed < math.inf else "any amount"
        raise CertificateError(
            f"Checking this certificate takes about {megabytes} of memory in addition to the data, and "
            f"{math.ceil(allowed / 1e6):,} MB are allowed.",
            remedy="Allow more memory, if you know where it is from.",
            parameter="memory_limit",
        )


def first_wrong(
    weights: tuple[tuple[Number, ...], ...],
    signs: Signs,
    tight: Mask,
    pause: Pause = NEVER.need,
    between: Pause = NEVER.need,
) -> tuple[int, int, int] | None:
    """Return the first signed row that is not strictly separated, or is tight and not on the hyperplane.

    The result is its row, its rival class (or -1) and the sign of its score. ``pause`` is called before each
    row that is scored in integers, and ``between`` between two blocks of rows. Both may raise.
    """
    if isinstance(signs.data.matrix, BlockMatrix):
        return _first_wrong_elsewhere(weights, signs, signs.data.matrix, tight, pause)
    plane = ClaimedPlane(weights, *rounded(weights), tight)
    step, everything = _rows_per_block(signs.matrix, len(weights)), signs.order.size == signs.codes.size
    for start in range(0, signs.order.size, step):
        between()
        rows = signs.order[start : start + step]
        block = in_floats(signs.matrix[start : start + step] if everything else signs.matrix[rows])
        found = _first_wrong_of(block, rows, plane, signs, pause)
        if found is not None:
            return found
    return None


def wrong_rows(weights: tuple[tuple[Number, ...], ...], signs: Signs, pause: Pause = NEVER.need) -> Mask:
    """Say for each row whether one of its signed rows has a score that is not positive, exactly."""
    plane = ClaimedPlane(weights, *rounded(weights), signs.none())
    found = np.zeros(signs.codes.size, dtype=bool)
    step = _rows_per_block(signs.matrix, len(weights))
    for start in range(0, signs.order.size, step):
        pause()
        rows = signs.order[start : start + step]
        block = in_floats(signs.matrix[rows])
        with np.errstate(all="ignore"):
            outputs = float_outputs(block, plane.weights, signs.lift)
            bounds = float_outputs(abs(block), plane.magnitudes, signs.lift)
            open_pairs, negated = (
                [
                    *zip(
                        *(each.tolist() for each in _undecided(sign * outputs, bounds, rows, plane, signs)),
                        strict=True,
                    )
                ]
                for sign in (1.0, -1.0)
            )
        not_negative = set(negated)
        for place, rival in open_pairs:
            row = int(rows[place])
            if not found[row]:
                pause()
                undecided = (place, rival) in not_negative
                found[row] = not undecided or _exact_score(row, rival, plane.exact, signs) <= 0
    return found


def _first_wrong_elsewhere(
    weights: tuple[tuple[Number, ...], ...],
    signs: Signs,
    matrix: BlockMatrix,
    tight: Mask,
    pause: Pause,
) -> tuple[int, int, int] | None:
    """Do the same for a matrix in blocks: each block is scored where it is."""
    own = [
        (np.flatnonzero(~inside), np.packbits(each) if each.any() else None)
        for (inside,), (each,) in zip(matrix.pieces(signs.inside), matrix.pieces(tight), strict=True)
    ]
    question = replace(signs.question, excluded=())
    classes = signs.data.classes
    found = matrix.map(
        "verify",
        _first_wrong_of_block,
        question,
        classes,
        weights,
        beside=(signs.data.beside,),
        each=own,
        pause=pause,
    )
    for first, each in zip(matrix.offsets.tolist(), found, strict=False):
        if each is not None:
            row, rival, score = each
            return first + row, rival, score
    return None


def _first_wrong_of_block(
    block: Any,
    codes: Ints,
    question: Certificate,
    classes: tuple[str, ...],
    weights: tuple[tuple[Number, ...], ...],
    outside: Ints,
    packed: NDArray[np.uint8] | None,
) -> tuple[int, int, int] | None:
    data = Data(block, codes.astype(np.int64), classes, (), None)
    signs = Signs(replace(question, excluded=tuple(outside.tolist())), data)
    tight = signs.none()
    if packed is not None:
        tight[...] = np.unpackbits(packed, count=tight.size).reshape(tight.shape)
    return first_wrong(weights, signs, tight)


@dataclass(frozen=True)
class ClaimedPlane:
    """Weights as exact numbers and as floats, and the signed rows that are claimed to be on the hyperplane.

    Attributes
    ----------
    given : tuple of tuples
        The claimed weights: one vector, or one per class.
    weights, magnitudes : array of shape (classes or 1, columns)
        Floats close to the weights, and bounds of their magnitudes with their rounding errors.
    tight : bool array of shape (rows, classes or 1)
    """

    given: tuple[tuple[Number, ...], ...]
    weights: Floats
    magnitudes: Floats
    tight: Mask

    @cached_property
    def exact(self) -> list[dict[int, tuple[int, int]]]:
        """The nonzero weights of each vector as (integer, exponent of two) by column."""
        found: list[dict[int, tuple[int, int]]] = []
        for each in self.given:
            ratios = {column: value.as_integer_ratio() for column, value in enumerate(each) if value}
            found.append({column: (top, 1 - low.bit_length()) for column, (top, low) in ratios.items()})
        return found

    @cached_property
    def whole(self) -> bool:
        """Whether the floats equal the weights, and are integers."""
        pairs = zip(self.given, self.weights.tolist(), strict=True)
        return all(a == b and b.is_integer() for each in pairs for a, b in zip(*each, strict=True))

    def difference(self, own: int, rival: int) -> dict[int, tuple[int, int]]:
        """Return the nonzero differences of two classes' weights; without a rival, the weights themselves."""
        if rival < 0:
            return dict(self.exact[0])
        found = {}
        for column in {*self.exact[own], *self.exact[rival]}:
            (a, e), (b, f) = self.exact[own].get(column, (0, 0)), self.exact[rival].get(column, (0, 0))
            low = min(e, f)
            value = (a << (e - low)) - (b << (f - low))
            if value:
                found[column] = (value, low)
        return found


def _rows_per_block(matrix: Any, n_vectors: int) -> int:
    n_rows, n_columns = map(int, matrix.shape)
    numbers = int(matrix.nnz if sparse.issparse(matrix) else n_rows * n_columns)
    return max(1, NUMBERS_AT_A_TIME // max(n_vectors, -(-numbers // max(1, n_rows))))


def _first_wrong_of(
    block: Any, rows: Ints, plane: ClaimedPlane, signs: Signs, pause: Pause
) -> tuple[int, int, int] | None:
    with np.errstate(all="ignore"):
        outputs = float_outputs(block, plane.weights, signs.lift)
        # One number bounds the errors of the whole block. Only rows too close for it get their own bound.
        common = float_outputs(_reach(block), plane.magnitudes, signs.lift)
        if plane.tight[rows].any() and _never_rounded(block, plane, common, signs):
            return _first_of_whole(outputs, rows, plane, signs)
        near = np.unique(_undecided(outputs, common, rows, plane, signs)[0])
        if not near.size:
            return None
        bounds = float_outputs(abs(block[near]), plane.magnitudes, signs.lift)
        places, rivals = _undecided(outputs[near], bounds, rows[near], plane, signs)
    places = near[places]
    tied = plane.tight[rows[places], np.maximum(rivals, 0)]
    tied[tied] = _on_plane(rows[places[tied]], rivals[tied], plane, signs, pause)
    for at in np.flatnonzero(~tied):
        pause()
        row, rival = int(rows[places[at]]), int(rivals[at])
        score = _exact_score(row, rival, plane.exact, signs)
        if score != (0 if plane.tight[row, max(rival, 0)] else 1):
            return row, rival, score
    return None


def _never_rounded(block: Any, plane: ClaimedPlane, common: Floats, signs: Signs) -> bool:
    """Whether all numbers are integers, and all sums of magnitudes so small that no output is rounded.

    Products and sums, in any order, are then integers below 2**52, and their differences are below 2**53.
    """
    if isinstance(signs.matrix, MonomialMatrix) or not (plane.whole and common.max(initial=0.0) < 2.0**51):
        return False
    values = block.data if sparse.issparse(block) else block
    return bool((np.trunc(values) == values).all())


def _first_of_whole(
    outputs: Floats, rows: Ints, plane: ClaimedPlane, signs: Signs
) -> tuple[int, int, int] | None:
    """Return the first wrong signed row of a block, from exact outputs."""
    here = np.arange(rows.size)
    if signs.joint:
        own = signs.codes[rows]
        scores = np.sign(outputs[here, own][:, None] - outputs)
    else:
        scores = np.sign(signs.signs[rows][:, None] * outputs)
    wrong = scores != ~plane.tight[rows]
    if signs.joint:
        wrong[here, own] = False
    places, rivals = np.nonzero(wrong)
    if not places.size:
        return None
    place, rival = int(places[0]), int(rivals[0])
    return int(rows[place]), rival if signs.joint else -1, int(scores[place, rival])


def _on_plane(rows: Ints, rivals: Ints, plane: ClaimedPlane, signs: Signs, pause: Pause) -> Mask:
    """Say which of some signed rows have the score zero; False also for those not decided here."""
    found = np.zeros(rows.size, dtype=bool)
    if isinstance(signs.matrix, MonomialMatrix):
        return found  # a product of nonzero numbers may be rounded to zero
    own = signs.codes[rows] if signs.joint else np.full(rows.size, -1)
    width = int(signs.matrix.shape[1])
    kinds = own * signs.n_classes + rivals
    for kind in np.unique(kinds).tolist():
        here = np.flatnonzero(kinds == kind)
        weights = plane.difference(int(own[here[0]]), int(rivals[here[0]]))
        constant = weights.pop(width, (0, 0))
        columns = sorted(weights)
        step = max(1, NUMBERS_AT_A_TIME // max(1, len(columns)))
        for start in range(0, here.size, step):
            pause()
            some = here[start : start + step]
            part = signs.matrix[rows[some]][:, columns]
            values = part.toarray() if sparse.issparse(part) else np.asarray(part)
            if not constant[0]:
                found[some] = ~values.any(axis=1)
            rest = np.flatnonzero(~found[some])
            found[some[rest]] = exactly_zero(values[rest], [weights[c] for c in columns], constant, pause)
    return found


def in_floats(block: Any) -> Any:
    """Return some rows in float64. Only integers above 2**53 are rounded."""
    if block.dtype == np.float64:
        return block
    if sparse.issparse(block):
        return sparse.csr_array((block.data.astype(np.float64), block.indices, block.indptr), block.shape)
    return block.astype(np.float64)


def _reach(block: Any) -> Floats:
    """Return a row that no number of a block exceeds in magnitude: the norm of the block as one vector."""
    values = block.ravel(order="K") if isinstance(block, np.ndarray) else block.data
    squares = float(np.vdot(values, values))
    lost = np.sqrt(values.size) * 2.0**-511  # what squares that count as zero may hide
    return np.full((1, block.shape[1]), np.sqrt(squares) + lost if squares < SAFE else np.inf)


def float_outputs(block: Any, weights: Floats, lift: bool) -> Floats:
    """Return the scores of some rows under each weight vector, in floats."""
    if not lift:
        return np.asarray(block @ weights.T)
    outputs = np.asarray(block @ weights[:, :-1].T)
    outputs += weights[:, -1]
    return outputs


def _undecided(
    outputs: Floats, bounds: Floats, rows: Ints, plane: ClaimedPlane, signs: Signs
) -> tuple[Ints, Ints]:
    """Return the signed rows of a block whose score is not proved to be positive by its error bound.

    They come in order, as places in the block and rivals. ``bounds`` has a row for each row, or one for all.
    """
    # |error| <= gamma_n sum |w_j x_j| in any order of summation, where n counts the roundings of the data,
    # the weights and the sum. The bound is doubled, because a thread of BLAS may round in any direction.
    # The loss of tiny x_j is counted as rounding, and that of tiny w_j is in their magnitudes. Then comes the
    # underflow of products and sums.
    width = signs.roundings
    errors = 2.0 * width * HALF_UNIT * (bounds + signs.tiny * 2.0**52 * plane.magnitudes.sum(axis=1))
    errors = np.where(bounds < SAFE, errors + width * 2.0**-1020, np.inf)
    if not signs.joint:
        proved = signs.signs[rows] * outputs[:, 0] > errors[:, 0]
        places = np.flatnonzero(~proved | plane.tight[rows, 0])
        return places, np.full(places.size, -1)
    own, here = signs.codes[rows], np.arange(rows.size)
    scores = outputs[here, own][:, None] - outputs
    own_errors = np.broadcast_to(errors, outputs.shape)[here, own]
    open_pairs = ~(scores > 2.0 * (own_errors[:, None] + errors)) | plane.tight[rows]
    open_pairs[here, own] = False
    places, rivals = np.nonzero(open_pairs)
    return places, rivals


def rounded(weights: tuple[tuple[Number, ...], ...]) -> tuple[Floats, Floats]:
    """Return floats near the weights, scaled by a power of two, and magnitudes that bound their errors."""
    largest = max((abs(v) for each in weights for v in each if isinstance(v, int)), default=0)
    shift = max(0, largest.bit_length() - 900)
    if not shift:
        values = np.array(weights, dtype=np.float64)
        return values, np.abs(values) + SMALLEST_NORMAL * 2.0**52
    # Numbers are cut to integers: an error of at most 1, which 2**52 covers.
    cut = [
        [float(v >> shift) if isinstance(v, int) else math.ldexp(v, -shift) for v in each] for each in weights
    ]
    return np.array(cut), np.abs(cut) + 2.0**52


def _exact_score(row: int, rival: int, exact: list[dict[int, tuple[int, int]]], signs: Signs) -> int:
    """Return the sign of the score of a signed row, in integers."""
    parts: dict[int, int] = {}
    if signs.joint:
        vectors = [(exact[int(signs.codes[row])], 1), (exact[rival], -1)]
    else:
        vectors = [(exact[0], int(signs.signs[row]))]
    one = [(int(signs.matrix.shape[1]), 1, 0)] if signs.lift else []
    for column, mantissa, exponent in chain(row_integers(signs.matrix, row), one):
        for weights, sign in vectors:
            if column in weights:
                integer, power = weights[column]
                at = exponent + power
                parts[at] = parts.get(at, 0) + sign * mantissa * integer
    if not parts:
        return 0
    low = min(parts)
    total = sum(value << (exponent - low) for exponent, value in parts.items())
    return (total > 0) - (total < 0)
