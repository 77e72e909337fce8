"""Read what a caller passes: rows, labels and parameters, or an error that says what to change.

`matrix` reads X, `data` reads X with its labels, both exactly as they are. `training` reads what an estimator
is fitted on and checks its parameters, as scikit-learn does. Nothing here solves. scikit-learn and compiled
code are imported inside the functions that need them: the checker of certificates needs neither.
"""

from __future__ import annotations

from .data import Data, codes_of, need_intercept, one_label_per_row, read_data, read_weights
from .matrix import as_matrix, distributed, is_collection, read_table, refuse_not_finite, titles
from .training import (
    check_parameters,
    class_weights,
    column_names,
    generator,
    known_classes,
    need_bool,
    need_choice,
    need_count,
    need_memory,
    need_positive,
    read_labels,
    read_matrix,
    read_training,
    read_training_anywhere,
    unchanged_on_error,
)

__all__ = [
    "Data",
    "as_matrix",
    "check_parameters",
    "class_weights",
    "codes_of",
    "column_names",
    "distributed",
    "generator",
    "is_collection",
    "known_classes",
    "need_bool",
    "need_choice",
    "need_count",
    "need_intercept",
    "need_memory",
    "need_positive",
    "one_label_per_row",
    "read_data",
    "read_labels",
    "read_matrix",
    "read_table",
    "read_training",
    "read_training_anywhere",
    "read_weights",
    "refuse_not_finite",
    "titles",
    "unchanged_on_error",
]
