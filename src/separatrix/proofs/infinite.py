"""Which coefficients of a logistic regression have no finite maximum-likelihood estimate, and their sign."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from ..certificates.claims import Multipliers
from ..deadline import Deadline, OutOfTime
from .exact import PRIMES, IntegerRows, on_basis, pivots
from .prove import Proof
from .signed import SignedRows

Ints = NDArray[np.int64]

WIDE = 1500  # weights beyond which linear dependence among columns is not looked for


def infinite_coefficients(signed: SignedRows, proof: Proof, names: list[str]) -> dict[str, float]:
    """The coefficients that some direction of separation moves, with their sign in the certified direction.

    The directions along which the likelihood only grows are the weights w with ``Zw >= 0``. They span the
    weights that are orthogonal to all tight rows, so a coefficient stays finite exactly if its unit vector is
    a combination of tight rows. Where the certified direction does not move a coefficient that others do, its
    sign is not determined: NaN. Columns that depend on those before them (the intercept is first) are left
    out, as in any regression: their coefficients are zero.

    With more than ``WIDE`` weights, or where the deadline comes first, these are the coefficients that the
    certified direction moves.
    """
    if proof.status not in ("separable", "quasi-separable") or proof.weights is None:
        return {}
    weights = _reduced_weights(signed, proof)
    moved = [bool(weight) for weight in weights]
    if signed.width <= WIDE:
        with suppress(OutOfTime):
            weights, moved = _moved(signed, proof, weights)
    return {
        name: math.nan if not weight else math.inf if weight > 0 else -math.inf
        for name, weight, moves in zip(names, weights, moved, strict=True)
        if moves
    }


def _moved(signed: SignedRows, proof: Proof, weights: list[int]) -> tuple[list[int], list[bool]]:
    """The weights on the columns that are kept, and which coefficients some direction moves."""
    basis, kept = signed.span_basis(), list(range(signed.width))
    if basis.size < signed.width:
        rows = signed.integers(basis)
        kept = _independent_columns(signed, rows)
        weights = _on_kept(kept, weights, rows, signed.deadline)
    moved = np.zeros(signed.width, dtype=bool)
    moved[kept] = True
    if proof.multipliers is not None:
        tight = _tight_basis(signed, proof.multipliers)
        moved[kept] = signed.null_vectors(tight, among=np.array(kept, dtype=np.int64))[:, kept].any(axis=0)
    return weights, moved.tolist()


def _reduced_weights(signed: SignedRows, proof: Proof) -> list[int]:
    """The certified weights as integers on one scale; of many classes, the last is the reference."""
    assert proof.weights is not None
    ratios = [[value.as_integer_ratio() for value in each] for each in proof.weights]
    scale = max(bottom for each in ratios for _, bottom in each)
    whole = [[top * (scale // bottom) for top, bottom in each] for each in ratios]
    if not signed.joint:
        return whole[0]
    return [value - last for each in whole[:-1] for value, last in zip(each, whole[-1], strict=True)]


def _independent_columns(signed: SignedRows, rows: IntegerRows) -> list[int]:
    """The columns that are independent of those before them, the intercept of each class first."""
    used = rows.columns.tolist()
    last = signed.block - 1
    order = sorted(
        range(len(used)), key=lambda k: (not (signed.lift and used[k] % signed.block == last), used[k])
    )
    chosen = pivots([[row[k] for k in order] for row in rows.entries], PRIMES[0], signed.deadline)
    return sorted(used[order[k]] for k in chosen)


def _on_kept(kept: list[int], weights: list[int], rows: IntegerRows, deadline: Deadline) -> list[int]:
    """Weights on the kept columns with the same scores (up to a positive factor)."""
    used = rows.columns.tolist()
    low = min(rows.grid, default=0)
    scores = [
        sum(v * weights[c] << (g - low) for v, c, g in zip(row, used, rows.grid, strict=True))
        for row in rows.entries
    ]
    at = {c: k for k, c in enumerate(used)}
    columns = [[row[at[c]] << (rows.grid[at[c]] - low) for row in rows.entries] for c in kept]
    table = IntegerRows(columns, np.arange(len(rows.entries)), [0] * len(rows.entries))
    found = on_basis(table, list(range(len(kept))), scores, PRIMES[0], deadline)
    moved = [0] * len(weights)
    for c, value in zip(kept, found[0] if found is not None else [weights[c] for c in kept], strict=True):
        moved[c] = value
    return moved


def _tight_basis(signed: SignedRows, multipliers: Multipliers) -> Ints:
    """Independent rows that span the tight ones: those whose multipliers were corrected."""
    fine = len(multipliers.fine)
    ids = np.array(multipliers.rows[:fine], dtype=np.int64)
    if signed.joint:
        ids = ids * signed.n_classes + np.array(multipliers.rivals[:fine], dtype=np.int64)
    return signed.independent(ids)
