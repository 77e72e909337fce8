"""SciPy's sparse matrices, imported at first use: small problems in arrays do not need them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray


class _WhenUsed:
    """The module ``scipy.sparse``, imported when one of its names is first used."""

    def issparse(self, matrix: Any) -> bool:
        """Return whether this is a sparse matrix; before the module is imported, nothing is."""
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
    """Return the matrix as an array; sparse matrices are converted."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
