"""Certificates about regressions: whether the maximum-likelihood estimate exists, and whether it is unique.

The checker builds the signed rows Z and the equal rows T of the model from the data itself. By Tucker's
theorem there are a direction d and multipliers l and t with ``Zd >= 0``, ``Td = 0``, ``Z'l + T't = 0`` and,
for each signed row z, exactly one of ``zd > 0`` and ``l > 0``. The estimate exists if and only if no row has
``zd > 0``. An inverse Gaussian regression also has weak rows (`models.regression.Rows`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np

from ..deadline import Pause
from ..errors import CertificateError, InputError
from ..inputs.data import Data
from ..inputs.response import read_regression
from .claims import Multipliers, read_multipliers
from .fields import (
    FORMAT,
    VERSION,
    Number,
    need_document,
    read_bool,
    read_class,
    read_count,
    read_index,
    read_indices,
    read_list,
    read_number,
    read_object,
    read_shape,
    read_text,
    write_number,
)
from .models.build import MODELS, TIES, build
from .models.combinations import Total
from .models.regression import Regression, Rows
from .monomials import Mask
from .numbers import COARSE
from .proof import Fails
from .scores import need_memory

EXISTS, UNIQUE, NOT_UNIQUE, NONE = "exists", "unique", "not unique", "does not exist"
CLAIMS = (EXISTS, UNIQUE, NOT_UNIQUE, NONE)
FIELDS = ("claim", "question", "data", "direction", "multipliers", "basis")
QUESTION = ("kind", "model", "intercept", "ties", "penalized", "classes")
BASIS = ("rows", "prime")
LARGEST_PRIME = 1 << 31


@dataclass(frozen=True, repr=False)
class EstimateClaim:
    """A claim about the estimate of a regression, with everything that proves it.

    Attributes
    ----------
    claim : {"unique", "not unique", "exists", "does not exist"}
        "exists" says nothing about uniqueness.
    asked : Regression
    classes : tuple of str
        The classes of the response, in order; empty if it is a number.
    n_rows, n_columns : int
    sha256 : str
        Digest of the design matrix, the response and the further columns.
    direction : tuple of numbers, or None
        If the estimate does not exist, a direction in which the likelihood increases forever; of an inverse
        Gaussian regression, one for each different row with y = 0, of which those that are not zero are such
        directions. If it is not unique, one in which the likelihood is constant.
    multipliers : Multipliers or None
        On the rows Z, followed by the weak rows and T, of the model: positive on signed and weak rows.
    basis : (tuple of int, int) or None
        Rows that are independent modulo a prime, as many as there are coordinates, and the prime.
    """

    claim: str
    asked: Regression
    classes: tuple[str, ...]
    n_rows: int
    n_columns: int
    sha256: str
    direction: tuple[Number, ...] | None = None
    multipliers: Multipliers | None = None
    basis: tuple[tuple[int, ...], int] | None = None

    question = "estimate"
    excluded: tuple[int, ...] = ()

    @property
    def lift(self) -> bool:
        """Whether there is an intercept."""
        return self.asked.intercept

    def __repr__(self) -> str:
        size = f"{self.n_rows:,} x {self.n_columns:,}"
        return f"<Certificate: {self.claim}; {self.asked.model}; {size} numbers, sha256 {self.sha256[:12]}>"

    def words(self) -> str:
        """Return the question."""
        return f"the estimate of a {MODELS[self.asked.model].title}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain types, as they are written in JSON."""
        m = self.multipliers
        return {
            "format": FORMAT,
            "version": VERSION,
            "claim": self.claim,
            "question": {
                "kind": self.question,
                "model": self.asked.model,
                "intercept": self.asked.intercept,
                "ties": self.asked.ties,
                "penalized": list(self.asked.penalized),
                "classes": list(self.classes),
            },
            "data": {"rows": self.n_rows, "columns": self.n_columns, "sha256": self.sha256},
            "direction": None if self.direction is None else list(map(write_number, self.direction)),
            "multipliers": None if m is None else m.to_dict(),
            "basis": None if self.basis is None else {"rows": list(self.basis[0]), "prime": self.basis[1]},
        }

    def to_json(self, indent: int | None = None) -> str:
        """Write the certificate as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)


def read_estimate(fields: dict[str, Any]) -> EstimateClaim:
    """Read what `EstimateClaim.to_dict` wrote. Raises CertificateError for anything else."""
    need_document(fields, FIELDS)
    question = read_object(fields, "question", QUESTION)
    n_rows, n_columns, digest = read_shape(fields)
    direction, multipliers, basis = (fields[name] for name in ("direction", "multipliers", "basis"))
    return EstimateClaim(
        claim=read_text(fields, "claim", CLAIMS),
        asked=Regression(
            read_text(question, "model", tuple(MODELS)),
            read_bool(question, "intercept"),
            read_text(question, "ties", ("", *TIES)),
            read_indices(question, "penalized", n_columns, "column"),
        ),
        classes=tuple(map(read_class, read_list(question, "classes"))),
        n_rows=n_rows,
        n_columns=n_columns,
        sha256=digest,
        direction=None if direction is None else tuple(map(read_number, read_list(fields, "direction"))),
        multipliers=None if multipliers is None else read_multipliers(fields, 1 << 62, 0, "estimate"),
        basis=None if basis is None else _read_basis(fields),
    )


def _read_basis(fields: dict[str, Any]) -> tuple[tuple[int, ...], int]:
    found = read_object(fields, "basis", BASIS)
    return read_indices(found, "rows", 1 << 62, "row"), read_count(found, "prime")


def read_columns(claim: EstimateClaim, X: Any, columns: dict[str, Any]) -> Data:
    """Read the data of the regression that a claim is about."""
    with _as_claimed(claim):
        return read_regression(X, MODELS[claim.asked.model].response, columns, claim.classes)


@contextmanager
def _as_claimed(claim: EstimateClaim) -> Iterator[None]:
    """Say that a claim does not fit the data, which are no such regression."""
    try:
        yield
    except InputError as problem:
        title = MODELS[claim.asked.model].title
        raise CertificateError(f"The certificate is about a {title}; these data are not: {problem}") from None


def prove_estimate(claim: EstimateClaim, data: Data, pause: Pause, memory: float = math.inf) -> str:
    """Return what is proved, or raise `Fails` with the first thing that is not."""
    need_memory(200.0 * data.codes.size, memory)
    with _as_claimed(claim):
        rows = build(claim.asked, data)
    return proved(claim, rows, pause)


def proved(claim: EstimateClaim, rows: Rows, pause: Pause) -> str:
    """Do the same for the rows that the builder made."""
    n_all, width = rows.combinations.shape
    tight, first_equal = np.ones(n_all, dtype=bool), rows.n_signed + rows.weak.size
    tight[:first_equal] = False
    if claim.multipliers is not None:
        tight |= _vanishing_rows(claim.multipliers, rows, pause)
    tight[rows.n_signed : first_equal] = tight[rows.weak]
    n_tight, model = int(tight[: rows.n_signed].sum()), MODELS[claim.asked.model]
    title = model.title
    if claim.direction is not None and len(claim.direction) != width:
        raise CertificateError(f"The certificate's direction does not have {width} numbers.")
    if claim.claim == NONE:
        if n_tight == rows.n_signed:
            raise Fails("Every signed row is tight, so that the estimate exists.")
        _need_direction(claim.direction, rows, tight, pause)
        if rows.weak.size:
            return (
                f"The estimate of the {title} does not exist: {rows.n_signed - n_tight} of {rows.n_signed} "
                "rows with y = 0 are not in the convex hull of those with y > 0."
            )
        return (
            f"The estimate of the {title} does not exist: along a direction, {rows.n_signed - n_tight} of "
            f"{rows.n_signed} signed rows improve forever, and none gets worse."
        )
    if n_tight < rows.n_signed:
        row = _about(rows, int(np.flatnonzero(~tight)[0]))
        raise Fails("An estimate exists only if all signed rows have multipliers; one has none.", row)
    exists = f"The estimate of the {title} exists: " + (
        f"all {rows.n_signed} rows with y = 0 are in the convex hull of those with y > 0"
        if not model.concave
        else f"{rows.n_signed} signed rows, with positive multipliers, sum to zero"
    )
    if claim.claim == NOT_UNIQUE:
        _need_direction(claim.direction, rows, tight, pause)
        return f"{exists}. It is not unique: along a direction, no row changes."
    if claim.claim == UNIQUE:
        if not model.concave:
            raise Fails("The likelihood is not concave: independent rows do not make the estimate unique.")
        _need_basis(claim.basis, rows, pause)
        return f"{exists}. It is unique: {width} rows are independent."
    return f"{exists}."


def _need_direction(direction: tuple[Number, ...] | None, rows: Rows, tight: Mask, pause: Pause) -> None:
    if direction is None or not any(direction):
        raise Fails("There is no direction, or it is zero.")
    found = rows.combinations.first_wrong(direction, tight, pause)
    if found is not None:
        side = ("is zero", "changes, though it is tight or equal", "is negative")[found[1]]
        raise Fails(f"The score of a row along the direction {side}.", _about(rows, found[0]))


def _need_basis(basis: tuple[tuple[int, ...], int] | None, rows: Rows, pause: Pause) -> None:
    n_all, width = rows.combinations.shape
    if basis is None or len(basis[0]) != width:
        raise Fails(f"Uniqueness needs {width} independent rows.")
    for row in basis[0]:
        read_index(row, n_all, "row")
    if not 2 < basis[1] < LARGEST_PRIME or not _is_prime(basis[1]):
        raise Fails("The modulus of the basis is not an odd prime below 2**31.")
    if not rows.combinations.independent(basis[0], basis[1], pause):
        raise Fails("The rows of the basis depend on each other modulo the prime.")


def _is_prime(number: int) -> bool:
    return all(number % k for k in range(2, math.isqrt(number) + 1))


def _about(rows: Rows, number: int) -> int | None:
    row = int(rows.combinations.about[number])
    return row if row >= 0 else None


def _vanishing_rows(m: Multipliers, rows: Rows, pause: Pause) -> Mask:
    """Check that multipliers are positive on signed rows and the sum is zero; return a mask of their rows."""
    tight = np.zeros(rows.combinations.shape[0], dtype=bool)
    for row in m.rows[:1] and (max(m.rows),):
        read_index(row, tight.size, "row")
    tight[list(m.rows)] = True
    if np.count_nonzero(tight) < len(m.rows):
        raise Fails("A row has two multipliers.")
    coarse, n_fine = m.coarse or (0,) * len(m.rows), len(m.fine)
    for row, whole, part in zip(m.rows, coarse, chain(m.fine, repeat(0)), strict=False):
        # the quick comparison comes first, to avoid multiplying by a long denominator
        positive = (whole > 0 and -part < m.denominator) or whole * m.denominator + part > 0
        if not positive and row < rows.n_signed + rows.weak.size:
            raise Fails("The multiplier of a signed or weak row is not positive.", _about(rows, row))
    large = {i for i, whole in enumerate(coarse) if not -COARSE < whole < COARSE}
    small = (0 if i in large else whole for i, whole in enumerate(coarse))
    factors = np.fromiter(small, dtype=np.int64, count=len(coarse))
    total = rows.combinations.sums(np.array(m.rows, dtype=np.int64), factors, pause)
    rest: Total = {}
    for i in large.union(range(n_fine)):
        pause()
        factor = (m.fine[i] if i < n_fine else 0) + (coarse[i] * m.denominator if i in large else 0)
        rows.combinations.add(rest, m.rows[i], factor)
    for at in {*total, *rest}:
        parts = [(e, v * m.denominator) for e, v in total.get(at, {}).items()] + list(
            rest.get(at, {}).items()
        )
        low = min(exponent for exponent, _ in parts)
        if sum(value << (exponent - low) for exponent, value in parts):
            raise Fails(f"The combination of rows is not zero in coordinate {at}.")
    return tight
