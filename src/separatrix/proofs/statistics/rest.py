"""What is left of a regression without the rows that keep its estimate from existing, for a program to fit.

In the limit, these rows are fitted perfectly and say nothing about the other coefficients, whose estimates
are those of the other rows (Correia, Guimaraes and Zylkin 2019). That holds if each row of the data has one
signed or equal row: in binary and binomial regressions, and in Poisson regressions, with groups as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...certificates.models.regression import Rows
from ...errors import InputError
from ...inputs.data import Data
from ...rows.protocol import Floats, Ints
from ...sparse import dense

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
        The response; of a binomial regression, successes and failures.
    weights : ndarray
    groups : ndarray of int64, or None
    rows : ndarray of int64
        The number of each row in the design matrix.
    """

    X: Floats
    names: list[str]
    y: NDArray[np.float64]
    weights: Floats
    groups: Ints | None
    rows: Ints


def has_rest(model: str, columns: Sequence[str]) -> bool:
    """Whether the estimates that stay finite are those of a regression on some of the rows."""
    return model in ("binomial", "poisson") or (model == "binary" and "groups" not in columns)


def rest_of(rows: Rows, data: Data, responsible: Ints, names: Sequence[str], finite: set[str]) -> Rest:
    """Leave out the responsible rows, those that say nothing, and columns that depend on others."""
    made = rows.combinations
    strict = np.isin(made.about, responsible)
    strict[rows.n_signed :] = False
    kept = np.setdiff1d(made.data[np.flatnonzero(~strict)].indices, responsible).astype(np.int64)
    if not kept.size:
        raise InputError("Every row is responsible, so that no coefficient has an estimate.")
    table = dense(data.matrix[kept]).astype(np.float64)
    table = np.column_stack([table, np.ones(kept.size)]) if made.lift else table
    groups = data.columns["groups"][kept] if "groups" in data.columns else None
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
    y, trials = data.columns.get("y"), data.columns.get("trials")
    if y is None:
        y = (data.codes == data.codes[np.unique(made.data.indices)].max()).astype(np.float64)
    return Rest(
        table[:, chosen],
        [names[j] for j in chosen],
        y[kept] if trials is None else np.stack([y, trials - y], axis=1)[kept],
        data.columns["weights"][kept] if "weights" in data.columns else np.ones(kept.size),
        groups,
        kept,
    )
