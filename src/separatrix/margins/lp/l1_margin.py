"""The largest margin for weights whose absolute values sum to one: a linear program."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np

from ...result import Floats
from ...rows.protocol import Rows
from ...sparse import sparse
from ..pairs import Pairs
from .highs import quiet_solver


def largest_l1_margin(rows: Rows) -> Floats:
    """Return the u that maximizes the smallest score subject to ``sum |u_j| <= 1``, up to rounding.

    The variables are the positive and the negative parts of u, and the smallest score t: maximize t subject
    to ``<u, z_i> >= t`` for every signed row z_i.
    """
    members = np.repeat(rows.order, rows.n_classes)
    rivals = np.tile(np.arange(rows.n_classes), rows.order.size)
    if rows.n_classes == 2:
        members, rivals = rows.order, np.zeros_like(rows.order)
    keep = rivals != rows.labels[members] if rows.n_classes > 2 else np.ones(members.size, dtype=bool)
    signed = sparse.csr_array(Pairs.of(rows, members[keep], rivals[keep]).matrix())
    size, width = signed.shape
    ones = np.ones((1, 2 * width))
    matrix = sparse.csr_array(
        sparse.vstack(
            [
                sparse.hstack([signed, -signed, sparse.csr_array(-np.ones((size, 1)))]),
                sparse.hstack([sparse.csr_array(ones), sparse.csr_array((1, 1))]),
            ],
            format="csr",
        )
    )
    program: Any = highspy.HighsLp()
    program.num_row_, program.num_col_ = matrix.shape
    program.col_cost_ = np.append(np.zeros(2 * width), -1.0)
    program.col_lower_ = np.append(np.zeros(2 * width), -np.inf)
    program.col_upper_ = np.full(2 * width + 1, np.inf)
    program.row_lower_ = np.append(np.zeros(size), -np.inf)
    program.row_upper_ = np.append(np.full(size, np.inf), 1.0)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
    program.a_matrix_.value_ = matrix.data
    solver = quiet_solver()
    solver.passModel(program)
    solver.run()
    parts = np.asarray(solver.getSolution().col_value, dtype=np.float64)[: 2 * width]
    u: Floats = (parts[:width] - parts[width:]).reshape(rows.weights_shape)
    return u
