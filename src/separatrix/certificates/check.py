"""Check any certificate against the data, exactly, by code that solved nothing.

Only the claim, the data and integer arithmetic are used here. Scores of a separator are first
computed in floating point with a bound of the rounding error; the rows that this cannot settle
are settled in integers (a float is an integer times a power of two).
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deadline import Deadline, OutOfTime
from ..errors import CertificateError, InputError
from ..inputs.data import Data, read_data
from ..rows.pages import relax
from .claims import Approximate, Certificate, Multipliers
from .digest import start_digest
from .monomials import PLAIN
from .nearby import first_failure
from .numbers import COARSE, Sums, add_row, rows_in_integers, small_sums
from .scores import Signs, first_wrong

Mask = NDArray[np.bool_]


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
    certificate: Any, X: Any, y: Any, *, same_data: bool = True, time_limit: float = math.inf
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
        looked at between pieces of work: reading the text and the data, and hashing them, go on to their end.

    Returns
    -------
    Check
        ``holds`` and ``reason``; what is not proved is answered by the first thing that fails, with its row
        or column where it has one.

    Raises
    ------
    CertificateError
        Where the certificate cannot be read, or speaks of data of another shape, labels or hash; where the
        time limit comes first; or where this thread counts subnormal numbers as zero.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> verdict = sx.separability(X, y)
    >>> verify(verdict.certificate, X, y)
    Check(holds=True, reason='The weights separate all 4 signed rows, exactly.')
    """
    if not (isinstance(time_limit, numbers.Real) and time_limit > 0):
        raise InputError(
            "The 'time_limit' parameter of verify must be a positive number of seconds. "
            f"Got {time_limit!r} instead.",
            parameter="time_limit",
        )
    deadline = Deadline.after(float(time_limit))
    claim = _read(certificate)
    # A separator of all rows is compared with every number anyway, and NaN never passes.
    data = read_data(
        X, y, check_finite=claim.claim != "separable" or claim.question == "pair" or bool(claim.excluded)
    )
    _same_shape(claim, data)
    try:
        deadline.need()
        check = check_claim(claim, data, deadline.need)
    except OutOfTime:
        raise CertificateError(
            f"The certificate was not checked within {time_limit:g} seconds; nothing is known of its claim.",
            remedy="Allow more time, if you know where it is from.",
            parameter="time_limit",
        ) from None
    if same_data and start_digest(data)() != claim.sha256:
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


def check_claim(claim: Certificate, data: Data, pause: Callable[[], None] = relax) -> Check:
    """Check the mathematics of a claim on data whose identity is not in doubt.

    ``pause`` is called between pieces of work, such as each row that is scored in integers; who has no time
    left may raise there.
    """
    signs = Signs(claim, data)
    if signs.count == 0:
        return Check(False, "No rows are left for this question to speak of.")
    if claim.claim in ("separable", "quasi-separable") and claim.weights is None:
        return Check(False, f"The claim is {claim.claim}, but there are no weights to prove it.")
    if claim.approximate is not None:
        return _check_approximate(claim, claim.approximate, signs, pause)
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
        f"The weights separate {signs.count - n_tight} signed rows strictly; the other {n_tight} lie "
        "on the plane, and multipliers prove that no plane does better.",
    )


def _read(certificate: Any) -> Certificate:
    if isinstance(certificate, (str, bytes)):
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
            "This certificate speaks of other classes: "
            f"{', '.join(claim.classes[:5])}; these data have {', '.join(data.classes[:5])}."
        )
    if claim.question == "binary" and len(claim.classes) != 2:
        raise CertificateError(f"A binary question needs two classes; these data have {len(claim.classes)}.")


def _check_approximate(claim: Certificate, m: Approximate, signs: Signs, pause: Callable[[], None]) -> Check:
    """Whether exact multipliers exist near those given, as the claim needs them."""
    failure, _ = _listed(m, signs)
    if failure:
        return Check(False, failure)
    overlap = claim.claim == "overlapping"
    wrong = first_failure(m, signs, overlap, pause)
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


def _check_multipliers(m: Multipliers, signs: Signs, pause: Callable[[], None]) -> tuple[str, Mask]:
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
    m: Multipliers, coarse: tuple[int, ...], signs: Signs, pause: Callable[[], None]
) -> tuple[int, int] | None:
    """The first class (or 0) and column where the weighed rows do not sum to zero; intercepts come last."""
    large: list[tuple[int, int]] = []
    if not -COARSE < min(coarse) <= max(coarse) < COARSE:
        large = [(i, c) for i, c in enumerate(coarse) if abs(c) >= COARSE]
        coarse = tuple(c if abs(c) < COARSE else 0 for c in coarse)
    rows, rivals = np.array(m.rows, dtype=np.int64), np.array(m.rivals, dtype=np.int64)
    terms = signs.terms(rows, rivals, np.array(coarse, dtype=np.int64))
    totals = small_sums(terms, signs.matrix, pause)
    ones = [(int(signs.matrix.shape[1]), 1, 0)] if signs.lift else []
    for total, count in zip(totals, terms.counts(), strict=True):
        add_row(total, count, ones)
    parts: Sums = [{} for _ in totals]
    for entries, sums in ((list(enumerate(m.fine)), parts), (large, totals)):
        numbers = rows_in_integers(signs.matrix, [m.rows[i] for i, _ in entries])
        for (i, value), row in zip(entries, numbers, strict=True):
            pause()
            known = [*row, *ones]
            for block, sign in signs.places(m.rows[i], m.rivals[i] if signs.joint else -1):
                add_row(sums[block], sign * value, known)
    for block, (fine, whole) in enumerate(zip(parts, totals, strict=True)):
        for column in sorted({*fine, *whole}):
            pause()
            if not _vanishes(fine.get(column, {}), whole.get(column, {}), m.denominator):
                return block, column
    return None


def _vanishes(fine: dict[int, int], whole: dict[int, int], denominator: int) -> bool:
    """Whether ``fine + denominator * whole`` is zero; both are sums of integers times powers of two."""
    low = min([*fine, *whole])
    first, second = (sum(v << (e - low) for e, v in each.items()) for each in (fine, whole))
    return first + (denominator * second if second else 0) == 0
