"""What arrays and sparse matrices have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sparse import sparse


def dense(matrix: Any) -> NDArray[Any]:
    """The matrix as an array: itself, unless it is sparse."""
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)
