"""Read what a caller passes: rows, labels and parameters, or an error that says what to change.

`matrix` reads X, `data` reads X with its labels, both exactly as they are. `training` reads what an estimator
is fitted on and checks its parameters, as scikit-learn does. Nothing here solves. scikit-learn and compiled
code are imported inside the functions that need them: the checker of certificates needs neither.
"""

from __future__ import annotations

# Each module lists in `__all__` what other packages use.
from . import data, matrix, training
from .data import *
from .matrix import *
from .training import *

__all__ = [*data.__all__, *matrix.__all__, *training.__all__]
