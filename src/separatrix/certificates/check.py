"""Check any certificate against the data exactly, with code that is independent of the solver.

Only the claim, the data and integer arithmetic are used here. The scores of a separator are first computed in
floating point with a bound of the rounding error. The rows that this does not decide are decided in integers,
because a float is an integer times a power of two.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..deadline import NEVER, Deadline, OutOfTime, Pause
from ..errors import CertificateError, InputError
from ..inputs.data import Data, read_data
from .claims import Approximate, Certificate, Multipliers, Separation
from .digest import start_digest
from .error_bounds import FEWEST, KIND
from .estimate import prove_estimate, read_columns, read_estimate
from .fields import read_json
from .half_spaces import NETWORK
from .monomials import PLAIN, Mask, MonomialMatrix
from .numbers import (
    BYTES_AT_A_TIME,
    BYTES_PER_INTEGER,
    COARSE,
    add_row,
    count_numbers,
    rows_in_integers,
    small_sums,
)
from .perturbation import first_failure
from .proof import Claim, Fails, Kind
from .scores import Signs, first_wrong, need_memory

CHARACTERS_PER_SECOND = 1e7  # of a text that is read as JSON, at least

# The kinds of certificates besides those of separability, by the kind of their question.
KINDS: dict[str, Kind] = {
    "network": NETWORK,
    KIND: FEWEST,
    "estimate": Kind(read_estimate, prove_estimate, read_columns),
}


@dataclass(frozen=True)
class Check:
    """The result of checking a certificate.

    Attributes
    ----------
    holds : bool
        Whether everything that the certificate claims is proved for these data.
    reason : str
        What was proved, or the first thing that failed.
    row : int or None
        The row on which it failed, counted from 0. None if it holds, or if the failure has no row.
    """

    holds: bool
    reason: str
    row: int | None = None

    def __bool__(self) -> bool:
        return self.holds


def verify(
    certificate: Any,
    X: Any,
    y: Any = None,
    *,
    same_data: bool = True,
    time_limit: float = math.inf,
    memory_limit: float = math.inf,
    **columns: Any,
) -> Check:
    """Check a certificate against the data, exactly.

    Parameters
    ----------
    certificate : Certificate, dict or str
        As `separability` returned it, or its JSON.
    X : array, data frame or sparse matrix of shape (rows, columns)
    y : array of shape (rows,)
        Class labels, or the response of a regression.
    same_data : bool
        Compare the certificate's SHA-256 with that of these data; on large data this takes several times
        as long as checking the proof. If False, the proof is checked just as exactly for these data, but they
        may differ from the data that were certified.
    time_limit : float
        The check ends with an error after this number of seconds: useful for certificates of unknown origin.
        The time is checked at least once per second. Reading the data is never interrupted, so the check may
        exceed the limit there.
    memory_limit : float
        Bytes that the check may use. The data, and about 100 MB that every check needs, are not counted. If
        it needs more, it ends with an error that says how much, before the memory is used.
    **columns
        The further columns of a regression, by the names that `check_estimate` has for them: ``time``,
        ``event``, ``entry``, ``strata``, ``groups``, ``trials``, ``weights``, ``winner``, ``loser``.

    Returns
    -------
    Check
        ``holds`` and ``reason``. If the claim is not proved, the reason is the first thing that fails, with
        its row or column.

    Raises
    ------
    CertificateError
        If the certificate cannot be read, or is about data of another shape, other labels or another hash; if
        the check takes more time or memory than is allowed; or if the floating-point mode of this thread is
        not the standard one (subnormal numbers are flushed to zero, or it does not round to nearest). Some
        libraries change this mode: then try again in a new process.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> verdict = sx.separability(X, y)
    >>> verify(verdict.certificate, X, y)
    Check(holds=True, reason='The weights separate all 4 signed rows, exactly.', row=None)
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
        # The scores of a separator use every number, and NaN is never a positive score.
        every_number = (
            isinstance(claim, Certificate)
            and claim.claim == Separation.SEPARABLE
            and claim.question != "pair"
            and not claim.excluded
        )
        kind = KINDS.get(claim.question)
        if kind is not None and kind.data is not None:
            data = kind.data(claim, X, {"y": y, **columns})
        else:
            _need_no_columns(columns)
            data = read_data(X, y, check_finite=not every_number)
        _need_same_shape(claim, data)
        pause()
        check = check_claim(claim, data, pause, between=pause, memory=float(memory_limit))
        same = not same_data or start_digest(data)(pause) == claim.sha256
    except OutOfTime:
        raise CertificateError(
            f"The check did not end within {time_limit:g} seconds: the claim is neither proved nor refuted.",
            remedy="Allow more time, if you know where the certificate is from.",
            parameter="time_limit",
        ) from None
    if not same:
        raise CertificateError(
            "This certificate is about data with another hash: X or y differs from the certified data, or "
            "has another type.",
            remedy="Check it against the original data, or on these data with same_data=False.",
            parameter="same_data",
        )
    return Check(True, check.reason + _scope(claim)) if check.holds else check


def _need_no_columns(columns: Mapping[str, Any]) -> None:
    """Refuse columns of a regression for other certificates."""
    for name in columns:
        raise InputError(f"This certificate is not about a regression, and has no {name!r}.", parameter=name)


def _scope(claim: Claim) -> str:
    """Say what a claim of separability is about, unless it is all rows and columns, with an intercept."""
    if not isinstance(claim, Certificate):
        return ""
    names = [repr(claim.classes[c]) for c in claim.chosen]
    parts = []
    if claim.question == "one-vs-rest":
        parts.append(f"Class {names[0]} is compared with all other classes.")
    if claim.question == "pair":
        parts.append(f"Class {names[1]} is compared with class {names[0]}; other classes are left out.")
    if claim.excluded:
        parts.append(f"The certificate leaves out {len(set(claim.excluded))} of {claim.n_rows} rows.")
    if claim.degrees != PLAIN:
        parts.append(f"It is about the monomials of degree {', '.join(map(str, claim.degrees))}.")
    if not claim.lift:
        parts.append("There is no intercept.")
    return "".join(f" {part}" for part in parts)


def check_claim(
    claim: Claim,
    data: Data,
    pause: Pause = NEVER.need,
    *,
    between: Pause = NEVER.need,
    memory: float = math.inf,
) -> Check:
    """Check the mathematics of a claim, without comparing the hash of the data.

    ``pause`` is called between pieces of work, such as each row that is scored in integers, and ``between``
    between two blocks of rows that are scored in floats. Both may raise.
    """
    try:
        if not isinstance(claim, Certificate):
            return Check(True, KINDS[claim.question].prove(claim, data, pause, memory))
        signs = Signs(claim, data, memory)
        return Check(True, _proved(claim, signs, pause, between, memory))
    except Fails as failure:
        return Check(False, failure.reason, failure.row)


def _proved(claim: Certificate, signs: Signs, pause: Pause, between: Pause, memory: float) -> str:
    """Return what is proved, or raise `Fails` with the first thing that is not."""
    if signs.count == 0:
        raise Fails("No rows are left for this question.")
    if claim.claim in (Separation.SEPARABLE, Separation.QUASI_SEPARABLE) and claim.weights is None:
        raise Fails(f"The claim is {claim.claim}, but there are no weights to prove it.")
    if claim.approximate is not None:
        return _proved_approximately(claim, claim.approximate, signs, pause, memory)
    tight, n_tight = signs.none(), 0
    if claim.claim != Separation.SEPARABLE:
        if claim.multipliers is None:
            raise Fails(f"The claim is {claim.claim}, but there are no multipliers to prove it.")
        tight = _vanishing_rows(claim.multipliers, signs, pause)
        n_tight = len(claim.multipliers.rows)
        if claim.claim == Separation.INSEPARABLE:
            return (
                f"A positive combination of {n_tight} signed rows is exactly zero: no weights separate them."
            )
        if claim.claim == Separation.OVERLAPPING:
            if n_tight < signs.count:
                row, rival = signs.first_missing(tight)
                against = f" against class {claim.classes[rival]!r}" if rival >= 0 else ""
                raise Fails(
                    f"Overlap needs positive multipliers on all rows; row {row}{against} has none.", row
                )
            return f"All {n_tight} signed rows, with positive multipliers, sum to exactly zero."
        if n_tight == signs.count:
            raise Fails("Every row is tight: these data overlap, and are not quasi-separable.")
    assert claim.weights is not None
    found = first_wrong(claim.weights, signs, tight, pause, between)
    if found is not None:
        row, rival, score = found
        against = f" against class {claim.classes[rival]!r}" if rival >= 0 else ""
        side = ("on the hyperplane", "strictly separated, though claimed to be tight", "on the wrong side")[
            score
        ]
        raise Fails(f"Row {row}{against} is {side}.", row)
    if claim.claim == Separation.SEPARABLE:
        return f"The weights separate all {signs.count} signed rows, exactly."
    return (
        f"The weights separate {signs.count - n_tight} signed rows strictly; the other {n_tight} are on the "
        "hyperplane, and the multipliers prove that no weights separate these."
    )


def _proved_approximately(
    claim: Certificate, m: Approximate, signs: Signs, pause: Pause, memory: float
) -> str:
    """Prove that exact multipliers exist near those given, as the claim needs them."""
    _marked(m, signs)
    overlap = claim.claim == Separation.OVERLAPPING
    wrong = first_failure(m, signs, overlap, pause, memory)
    if wrong is not None:
        raise Fails(*wrong)
    rows = f"{len(m.rows)} signed rows"
    near = f"Close to the multipliers of {rows} are exact, positive ones with which these rows sum to zero"
    if overlap:
        return f"{near}, and these rows span all {signs.count}."
    return f"{near}: no weights separate them."


def need_for_text(text: str | bytes, pause: Pause, memory: float) -> None:
    """Raise an error if there is too little time or memory to read a text as JSON."""
    pause(len(text) / CHARACTERS_PER_SECOND)
    if memory < math.inf:
        marks = [text.count(mark) if isinstance(text, str) else text.count(mark.encode()) for mark in ",[{"]
        need_memory(6 * len(text) + BYTES_PER_INTEGER * sum(marks), memory)


def read_claim(fields: Any) -> Claim:
    """Read the fields of a certificate of any kind. Raises CertificateError for anything else."""
    question = fields.get("question") if isinstance(fields, dict) else None
    kind = question.get("kind") if isinstance(question, dict) else None
    if isinstance(kind, str) and kind in KINDS:
        return KINDS[kind].read(fields)
    return Certificate.from_dict(fields)


def _read(certificate: Any, pause: Pause, memory: float) -> Claim:
    if isinstance(certificate, (str, bytes)):
        need_for_text(certificate, pause, memory)
        return read_claim(read_json(certificate))
    if hasattr(certificate, "to_dict"):  # its fields may hold anything, and are read like a file
        try:
            certificate = certificate.to_dict()
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise CertificateError(f"The certificate cannot be written as JSON ({error}).") from None
    if isinstance(certificate, Mapping):
        return read_claim(dict(certificate))
    raise CertificateError(
        f"Pass a Certificate, its dict or its JSON text. Got {type(certificate).__name__} instead."
    )


def _need_same_shape(claim: Claim, data: Data) -> None:
    if (claim.n_rows, claim.n_columns) != data.matrix.shape:
        raise CertificateError(
            f"This certificate is about {claim.n_rows} x {claim.n_columns} data; these are "
            f"{data.matrix.shape[0]} x {data.matrix.shape[1]}."
        )
    if claim.classes != data.classes:
        raise CertificateError(
            f"This certificate is about the classes {_some(claim.classes)}; these data have "
            f"{_some(data.classes)}."
        )
    if claim.question == "binary" and len(claim.classes) != 2:
        raise CertificateError(f"A binary question needs two classes; these data have {len(claim.classes)}.")


def _some(classes: tuple[str, ...]) -> str:
    return ", ".join(each if len(each) < 40 else f"{each[:40]}..." for each in classes[:5])


def _marked(m: Multipliers | Approximate, signs: Signs) -> Mask:
    """Return a mask of the signed rows that have multipliers, or raise `Fails` if they are not valid."""
    if not m.rows:
        raise Fails("There are no multipliers.")
    rows = np.array(m.rows, dtype=np.int64)
    rivals = np.array(m.rivals, dtype=np.int64) if signs.joint else np.zeros_like(rows)
    for row in rows[~signs.inside[rows]][:1].tolist():
        raise Fails(f"Row {row} has a multiplier, but the question is not about it.", row)
    if signs.joint:
        for row in rows[rivals == signs.codes[rows]][:1].tolist():
            raise Fails(f"Row {row} is compared with its own class.", row)
    tight = signs.none()
    tight[rows, rivals] = True
    if np.count_nonzero(tight) < rows.size:
        again = np.ones(rows.size, dtype=bool)
        again[np.unique(rows * tight.shape[1] + rivals, return_index=True)[1]] = False
        raise Fails(f"Row {rows[again][0]} has two multipliers.", int(rows[again][0]))
    return tight


def _vanishing_rows(m: Multipliers, signs: Signs, pause: Pause) -> Mask:
    """Check that the multipliers are positive and the sum is zero; return a mask of their signed rows."""
    tight = _marked(m, signs)
    coarse = m.coarse or (0,) * len(m.rows)
    for i, (whole, part) in enumerate(zip(coarse, m.fine, strict=False)):
        pause()
        # the quick comparison comes first, to avoid multiplying by a long denominator
        if not (whole > 0 and -part < m.denominator) and whole * m.denominator + part <= 0:
            raise Fails(f"The multiplier of row {m.rows[i]} is not positive.", m.rows[i])
    if min(coarse[len(m.fine) :], default=1) <= 0:
        row = next(row for row, c in list(zip(m.rows, coarse, strict=True))[len(m.fine) :] if c <= 0)
        raise Fails(f"The multiplier of row {row} is not positive.", row)
    found = _first_nonzero(m, coarse, signs, pause)
    if found is not None:
        block, column = found
        of_class = f" of class {block}" if signs.joint else ""
        place = "the intercept" if column == signs.matrix.shape[1] else f"column {column}"
        raise Fails(f"The combination of signed rows is not zero in {place}{of_class}.")
    return tight


def _first_nonzero(
    m: Multipliers, coarse: tuple[int, ...], signs: Signs, pause: Pause
) -> tuple[int, int] | None:
    """Return the first class (or 0) and column in which the weighted rows do not sum to zero.

    The intercept is the last column. Small integer multipliers are summed in floats. Rows with other
    multipliers, and rows of monomials, are added in integers, some columns at a time.
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
    """Cut the columns, with the intercept last, into parts whose sums take about ``BYTES_AT_A_TIME``."""
    width, degree = int(signs.matrix.shape[1]) + signs.lift, signs.question.degrees[-1]
    longest = max((abs(v).bit_length() for v in (*m.fine, *(c for _, c in large))), default=0)
    rows = [*m.rows[: len(m.fine)], *(m.rows[i] for i, _ in large)]
    n_sums = 2 * min(count_numbers(signs.matrix, rows) + len(rows), width * signs.n_classes)
    parts = 1 + n_sums * ((1 + degree) * BYTES_PER_INTEGER + longest // 8) // BYTES_AT_A_TIME
    step = max(1, -(-width // parts))
    return (range(start, min(start + step, width)) for start in range(0, width, step))


def _sums(
    entries: list[tuple[int, int]], m: Multipliers, signs: Signs, columns: range, pause: Pause
) -> list[dict[int, tuple[int, int]]]:
    """Sum signed rows, each times an integer, in some columns: as (exponent of two, integer)."""
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
    """Whether ``fine + denominator * sum(whole)`` is zero, for integers times powers of two."""
    low = min(exponent for exponent, _ in (fine, *whole))
    second = sum(value << (exponent - low) for exponent, value in whole)
    return (fine[1] << (fine[0] - low)) + (denominator * second if second else 0) == 0
