"""SciPy's sparse matrices, loaded when one is made: a small question about an array does without."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray


class _WhenUsed:
    """The module ``scipy.sparse``, imported with the first of its names that is asked for."""

    def issparse(self, matrix: Any) -> bool:
        """Whether this is a sparse matrix; nothing is one before the module was loaded."""
        if "scipy.sparse" not in sys.modules:
            return False
        from scipy import sparse

        return bool(sparse.issparse(matrix))

    def __getattr__(self, name: str) -> Any:
        from scipy import sparse

        return getattr(sparse, name)


if TYPE_CHECKING:
    from scipy import sparse as sparse
else:
    sparse = _WhenUsed()


def dense(matrix: Any) -> NDArray[Any]:
    """The matrix as an array: itself, unless it is sparse."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
