"""What is left of a regression without the comparisons that keep its estimate from existing.

In the limit, strict rows are fitted perfectly and say nothing about the other coefficients (Correia,
Guimaraes and Zylkin 2019). If each row of the data has one signed or equal row, as in binary, binomial and
Poisson regressions, the other estimates are those of the other rows. In models that compare rows within
strata or risk sets, they are those of the same model in which only rows with the same score along the
direction of the certificate are compared: the scores divide the strata. With exact ties, that holds because
all rows at risk with a higher score than some death are deaths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...certificates.estimate import EstimateClaim
from ...certificates.fields import Number
from ...certificates.models.regression import Rows
from ...errors import InputError
from ...inputs.data import Data
from ...rows.protocol import Floats, Ints
from ...sparse import dense
from ..exact.integer_rows import FIRST_PRIME, products

PRIMES = (FIRST_PRIME, 2**31 - 1)
INDEPENDENT = 1e-9  # of the length of a column: what is left of it beside those before it, at least


@dataclass(frozen=True, eq=False)
class Rest:
    """The rows that are left, and columns that do not depend on each other in them.

    Attributes
    ----------
    X : ndarray
        The columns whose coefficients have finite estimates, and as many of the others as are independent.
    names : list of str
    y : ndarray
        The response; of a binomial regression, successes and failures; of a Cox model, the times.
    weights : ndarray
    groups : ndarray of int64, or None
        Groups or strata: rows of different groups are not compared.
    event, entry : ndarray, or None
        Of a Cox model.
    rows : ndarray of int64
        The number of each row in the design matrix.
    """

    X: Floats
    names: list[str]
    y: NDArray[np.float64]
    weights: Floats
    groups: Ints | None
    rows: Ints
    event: Floats | None = None
    entry: Floats | None = None


HAVE_REST = ("binary", "binomial", "poisson", "conditional", "cox")


def rest_of(rows: Rows, data: Data, claim: EstimateClaim, names: Sequence[str], finite: set[str]) -> Rest:
    """Keep the rows that tight comparisons are about, and columns that do not depend on others."""
    made, columns = rows.combinations, data.columns
    listed = claim.multipliers.rows if claim.multipliers is not None else ()
    tight = np.union1d(np.arange(rows.n_signed, made.shape[0]), np.array(listed, dtype=np.int64))
    kept = np.unique(made.data[tight].indices).astype(np.int64)
    if not kept.size:
        raise InputError("Every row is responsible, so that no coefficient has an estimate.")
    table = dense(data.matrix[kept]).astype(np.float64)
    table = np.column_stack([table, np.ones(kept.size)]) if made.lift else table
    groups = next((columns[name][kept] for name in ("groups", "strata") if name in columns), None)
    if claim.asked.model == "cox" or (groups is not None and claim.asked.model != "poisson"):
        assert claim.direction is not None
        own = np.zeros(kept.size, dtype=np.int64) if groups is None else groups
        each = np.column_stack([own, _scores(data.matrix[kept], claim.direction)])
        groups = np.unique(each, axis=0, return_inverse=True)[1].ravel()
    inner, chosen = table, list[int]()
    if groups is not None:
        codes = np.unique(groups, return_inverse=True)[1].ravel()
        inner = table - np.stack(
            [np.bincount(codes, column)[codes] / np.bincount(codes)[codes] for column in table.T], axis=1
        )
    basis = np.zeros((kept.size, 0))
    for j in sorted(range(len(names)), key=lambda j: names[j] not in finite):
        size = np.linalg.norm(inner[:, j])
        left = inner[:, j] / (size or 1.0)
        for _ in range(2):
            left = left - basis @ (basis.T @ left)
        if np.linalg.norm(left) > INDEPENDENT:
            basis = np.column_stack([basis, left / np.linalg.norm(left)])
            chosen.append(j)
    chosen.sort()
    y, trials = columns.get("time", columns.get("y")), columns.get("trials")
    if y is None:
        y = (data.codes == data.codes[np.unique(made.data.indices)].max()).astype(np.float64)
    event = columns.get("event", np.ones(len(y)))[kept] if "time" in columns else None
    return Rest(
        table[:, chosen],
        [names[j] for j in chosen],
        y[kept] if trials is None else np.stack([y, trials - y], axis=1)[kept],
        columns["weights"][kept] if "weights" in columns else np.ones(kept.size),
        groups,
        kept,
        event,
        columns["entry"][kept] if "entry" in columns else None,
    )


def _scores(matrix: Any, direction: Sequence[Number]) -> Ints:
    """Return scores modulo two primes: they differ if scores do, up to a probability of about 2**-60."""
    ratios = [value.as_integer_ratio() for value in direction[: matrix.shape[1]]]
    parts = []
    for prime in PRIMES:
        vector = np.array([top * pow(bottom, -1, prime) % prime for top, bottom in ratios], dtype=np.int64)
        parts.append(products(matrix, vector[None, :], prime))
    return np.hstack(parts)
