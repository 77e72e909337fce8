"""Check any certificate against the data, exactly, by code that solved nothing.

Only the claim, the data and integer arithmetic are used here. Scores of a separator are first
computed in floating point with a bound of the rounding error; the rows that this cannot settle
are settled in integers (a float is an integer times a power of two).
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deadline import NEVER, Deadline, OutOfTime
from ..errors import CertificateError, InputError
from ..inputs.data import Data, read_data
from .claims import Approximate, Certificate, Multipliers
from .digest import start_digest
from .monomials import PLAIN, MonomialMatrix, count_columns
from .nearby import first_failure
from .numbers import COARSE, add_row, count_numbers, rows_in_integers, small_sums
from .scores import Signs, first_wrong
from .work_limit import Pause, need_for_text, need_memory

Mask = NDArray[np.bool_]

PART = 1 << 24  # bytes of sums in integers that are held at a time, about
A_SUM = 400  # bytes of a short one
SPREAD = 2200  # bits between the smallest and the largest float


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


def verify(
    certificate: Any,
    X: Any,
    y: Any,
    *,
    same_data: bool = True,
    time_limit: float = math.inf,
    memory_limit: float = math.inf,
) -> Check:
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
    time_limit : float
        Seconds after which the check is given up with an error, for certificates of unknown origin. It is
        looked at between pieces of work, which take less than a second; what cannot be cut is not begun if it
        may take longer than there is time. Only the data are read to their end.
    memory_limit : float
        Bytes that the check may take beside the data, and beside about 100 MB that every check may take.
        What needs more is refused before it is begun, with how much that is.

    Returns
    -------
    Check
        ``holds`` and ``reason``; what is not proved is answered by the first thing that fails, with its row
        or column where it has one.

    Raises
    ------
    CertificateError
        Where the certificate cannot be read, or speaks of data of another shape, labels or hash; where it
        takes more time or memory than is allowed; or where this thread counts subnormal numbers as zero, or
        does not round to nearest.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> verdict = sx.separability(X, y)
    >>> verify(verdict.certificate, X, y)
    Check(holds=True, reason='The weights separate all 4 signed rows, exactly.')
    """
    for name, limit, unit in (("time_limit", time_limit, "seconds"), ("memory_limit", memory_limit, "bytes")):
        if not (isinstance(limit, numbers.Real) and limit > 0):
            raise InputError(
                f"The {name!r} parameter of verify must be a positive number of {unit}. "
                f"Got {limit!r} instead.",
                parameter=name,
            )
    pause = Deadline.after(float(time_limit)).need

    try:
        claim = _read(certificate, pause, float(memory_limit))
        # A separator of all rows is compared with every number anyway, and NaN never passes.
        data = read_data(
            X, y, check_finite=claim.claim != "separable" or claim.question == "pair" or bool(claim.excluded)
        )
        _same_shape(claim, data)
        pause()
        check = check_claim(claim, data, pause, between=pause, memory=float(memory_limit))
        same = not same_data or start_digest(data)(pause) == claim.sha256
    except OutOfTime:
        raise CertificateError(
            f"The certificate was not checked within {time_limit:g} seconds; nothing is known of its claim.",
            remedy="Allow more time, if you know where it is from.",
            parameter="time_limit",
        ) from None
    if not same:
        raise CertificateError(
            "This certificate speaks of data with another hash: X or y differs from what was certified, or "
            "has another type.",
            remedy="Check it against the original data, or test it on these with same_data=False.",
            parameter="same_data",
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


def check_claim(
    claim: Certificate,
    data: Data,
    pause: Pause = NEVER.need,
    *,
    between: Pause = NEVER.need,
    memory: float = math.inf,
) -> Check:
    """Check the mathematics of a claim on data whose identity is not in doubt.

    ``pause`` is called between pieces of work, such as each row that is scored in integers, and ``between``
    between two blocks of rows that are scored in floats; who has no time left may raise there.
    """
    need_memory(_memory_of_question(claim, data), memory)
    signs = Signs(claim, data)
    if signs.count == 0:
        return Check(False, "No rows are left for this question to speak of.")
    if claim.claim in ("separable", "quasi-separable") and claim.weights is None:
        return Check(False, f"The claim is {claim.claim}, but there are no weights to prove it.")
    if claim.approximate is not None:
        return _check_approximate(claim, claim.approximate, signs, pause, memory)
    if claim.claim != "separable" and claim.multipliers is None:
        return Check(False, f"The claim is {claim.claim}, but there are no multipliers to prove it.")
    tight, n_tight = signs.none(), 0
    if claim.claim != "separable":
        assert claim.multipliers is not None
        failure, tight = _check_multipliers(claim.multipliers, signs, pause)
        if failure:
            return Check(False, failure)
        n_tight = len(claim.multipliers.rows)
        if claim.claim == "inseparable":
            return Check(
                True,
                f"A positive combination of {n_tight} signed rows is exactly zero: no weights separate them.",
            )
        if claim.claim == "overlapping":
            if n_tight < signs.count:
                missing = signs.first_missing(tight)
                return Check(False, f"Overlap needs a positive multiplier on every row; {missing} has none.")
            return Check(True, f"All {n_tight} signed rows, with positive multipliers, sum to exactly zero.")
        if n_tight == signs.count:
            return Check(False, "Every row is tight: these data overlap, they are not quasi-separable.")
    assert claim.weights is not None
    found = first_wrong(claim.weights, signs, tight, pause, between)
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
        f"The weights separate {signs.count - n_tight} signed rows strictly; the other {n_tight} lie "
        "on the plane, and multipliers prove that no plane does better.",
    )


def _memory_of_question(claim: Certificate, data: Data) -> float:
    """Bytes for a sign and a place of each row, for marks of signed rows, and for a row of monomials."""
    marks = 2.0 * len(data.classes) if claim.question == "joint" else 2.0
    products = (
        count_columns(claim.n_columns, claim.degrees) if claim.weights and claim.degrees != PLAIN else 0
    )
    return data.codes.size * (32.0 + marks) + 64.0 * products


def _read(certificate: Any, pause: Pause, memory: float) -> Certificate:
    if isinstance(certificate, (str, bytes)):
        need_for_text(certificate, pause, memory)
        return Certificate.from_json(certificate)
    if isinstance(certificate, Certificate):
        return Certificate.from_dict(_written(certificate))
    if isinstance(certificate, Mapping):
        return Certificate.from_dict(dict(certificate))
    raise CertificateError(
        f"A certificate, its dict or its JSON text is needed. Got {type(certificate).__name__} instead."
    )


def _written(certificate: Certificate) -> dict[str, Any]:
    """A certificate as what is written of it: whatever was put into the object passes the same gate."""
    try:
        return certificate.to_dict()
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise CertificateError(f"The certificate cannot be written as JSON ({error}).") from None


def _same_shape(claim: Certificate, data: Data) -> None:
    if (claim.n_rows, claim.n_columns) != data.matrix.shape:
        raise CertificateError(
            f"This certificate speaks of {claim.n_rows} x {claim.n_columns} data; these are "
            f"{data.matrix.shape[0]} x {data.matrix.shape[1]}."
        )
    if claim.classes != data.classes:
        raise CertificateError(
            f"This certificate speaks of other classes: {_some(claim.classes)}; these data have "
            f"{_some(data.classes)}."
        )
    if claim.question == "binary" and len(claim.classes) != 2:
        raise CertificateError(f"A binary question needs two classes; these data have {len(claim.classes)}.")


def _some(classes: tuple[str, ...]) -> str:
    return ", ".join(each if len(each) < 40 else f"{each[:40]}..." for each in classes[:5])


def _check_approximate(
    claim: Certificate, m: Approximate, signs: Signs, pause: Pause, memory: float
) -> Check:
    """Whether exact multipliers exist near those given, as the claim needs them."""
    failure, _ = _listed(m, signs)
    if failure:
        return Check(False, failure)
    overlap = claim.claim == "overlapping"
    wrong = first_failure(m, signs, overlap, pause, memory)
    if wrong is not None:
        return Check(False, wrong)
    rows = f"{len(m.rows)} signed rows"
    near = f"Near the multipliers of {rows} are exact, positive ones whose sum of rows is zero"
    if overlap:
        return Check(True, f"{near}, and these rows span all {signs.count}.")
    return Check(True, f"{near}: no weights separate them.")


def _listed(m: Multipliers | Approximate, signs: Signs) -> tuple[str, Mask]:
    """What is wrong with the rows that have multipliers (or nothing), and these signed rows."""
    tight = signs.none()
    if not m.rows:
        return "There are no multipliers.", tight
    rows, rivals = np.array(m.rows, dtype=np.int64), np.array(m.rivals, dtype=np.int64)
    wrong = np.flatnonzero(~signs.inside[rows])
    if wrong.size:
        return f"Row {rows[wrong[0]]} has a multiplier, but the question is not about it.", tight
    if signs.joint:
        wrong = np.flatnonzero(rivals == signs.codes[rows])
        if wrong.size:
            return f"Row {rows[wrong[0]]} is compared with its own class.", tight
    tight[rows, rivals if signs.joint else 0] = True
    if np.count_nonzero(tight) < rows.size:
        _, first = np.unique(rows * tight.shape[1] + (rivals if signs.joint else 0), return_index=True)
        repeated = np.ones(rows.size, dtype=bool)
        repeated[first] = False
        return f"Row {rows[repeated][0]} has two multipliers.", tight
    return "", tight


def _check_multipliers(m: Multipliers, signs: Signs, pause: Pause) -> tuple[str, Mask]:
    """The first thing that fails (or nothing), and the signed rows with a positive multiplier."""
    failure, tight = _listed(m, signs)
    if failure:
        return failure, tight
    coarse = m.coarse or (0,) * len(m.rows)
    for i, (whole, part) in enumerate(zip(coarse, m.fine, strict=False)):
        pause()
        # the quick comparison first: a long denominator is not multiplied for nothing
        if not (whole > 0 and -part < m.denominator) and whole * m.denominator + part <= 0:
            return f"The multiplier of row {m.rows[i]} is not positive.", tight
    if min(coarse[len(m.fine) :], default=1) <= 0:
        i = next(i for i in range(len(m.fine), len(coarse)) if coarse[i] <= 0)
        return f"The multiplier of row {m.rows[i]} is not positive.", tight
    found = _first_nonzero(m, coarse, signs, pause)
    if found is not None:
        block, column = found
        of_class = f" of class {block}" if signs.joint else ""
        place = "the intercept" if column == signs.matrix.shape[1] else f"column {column}"
        return f"The combination of signed rows is not zero in {place}{of_class}.", tight
    return "", tight


def _first_nonzero(
    m: Multipliers, coarse: tuple[int, ...], signs: Signs, pause: Pause
) -> tuple[int, int] | None:
    """The first class (or 0) and column where the weighed rows do not sum to zero; intercepts come last.

    Small whole multipliers are summed in floats. Rows with others, and rows of monomials, are added in
    integers, for as many columns at a time as memory is meant for.
    """
    mapped = isinstance(signs.matrix, MonomialMatrix)
    large: list[tuple[int, int]] = []
    if mapped or not -COARSE < min(coarse) <= max(coarse) < COARSE:
        large = [(i, c) for i, c in enumerate(coarse) if c and (mapped or abs(c) >= COARSE)]
        coarse = (0,) * len(coarse) if mapped else tuple(c if abs(c) < COARSE else 0 for c in coarse)
    rows, rivals = np.array(m.rows, dtype=np.int64), np.array(m.rivals, dtype=np.int64)
    terms = signs.terms(rows, rivals, np.array(coarse, dtype=np.int64))
    small = small_sums(terms, signs.matrix, pause)
    for total, count in zip(small, terms.counts(), strict=True):
        add_row(total, count, [(int(signs.matrix.shape[1]), 1, 0)] if signs.lift else [])
    for columns in _column_parts(m, large, signs):
        fine, whole = (
            _sums(entries, m, signs, columns, pause) for entries in (list(enumerate(m.fine)), large)
        )
        for block, known in enumerate(small):
            for column in sorted({*fine[block], *whole[block], *(c for c in known if c in columns)}):
                pause()
                other = [whole[block].get(column, (0, 0)), *known.get(column, {}).items()]
                if not _vanishes(fine[block].get(column, (0, 0)), other, m.denominator):
                    return block, column
    return None


def _column_parts(m: Multipliers, large: list[tuple[int, int]], signs: Signs) -> Iterator[range]:
    """The columns, and the intercept last, in parts whose sums of long integers take about `PART` bytes."""
    width, degree = int(signs.matrix.shape[1]) + signs.lift, signs.question.degrees[-1]
    longest = max((abs(v).bit_length() for v in (*m.fine, *(c for _, c in large))), default=0)
    rows = [*m.rows[: len(m.fine)], *(m.rows[i] for i, _ in large)]
    numbers = count_numbers(signs.matrix, rows) + len(rows)
    n_sums = 2 * min(numbers, width * signs.n_classes)
    parts = 1 + n_sums * (A_SUM + (longest + SPREAD * degree) // 8) // PART
    step = max(1, -(-width // parts))
    return (range(start, min(start + step, width)) for start in range(0, width, step))


def _sums(
    entries: list[tuple[int, int]], m: Multipliers, signs: Signs, columns: range, pause: Pause
) -> list[dict[int, tuple[int, int]]]:
    """Sums of signed rows, each times an integer, in some columns: as (exponent of two, integer)."""
    width = int(signs.matrix.shape[1])
    ones = [(width, 1, 0)] if signs.lift and width in columns else []
    sums: list[dict[int, tuple[int, int]]] = [{} for _ in range(signs.n_classes if signs.joint else 1)]
    inner = range(columns.start, min(columns.stop, width))
    numbers = rows_in_integers(signs.matrix, [m.rows[i] for i, _ in entries], inner)
    for (i, value), row in zip(entries, numbers, strict=True):
        pause()
        known = [*row, *ones]
        for block, sign in signs.places(m.rows[i], m.rivals[i] if signs.joint else -1):
            factor, own = sign * value, sums[block]
            for column, mantissa, exponent in known:
                low, total = own.get(column, (exponent, 0))
                if exponent < low:
                    low, total = exponent, total << (low - exponent)
                own[column] = low, total + (factor * mantissa << (exponent - low))
    return sums


def _vanishes(fine: tuple[int, int], whole: list[tuple[int, int]], denominator: int) -> bool:
    """Whether ``fine + denominator * sum(whole)`` is zero; all are integers times powers of two."""
    low = min(exponent for exponent, _ in (fine, *whole))
    second = sum(value << (exponent - low) for exponent, value in whole)
    return (fine[1] << (fine[0] - low)) + (denominator * second if second else 0) == 0
