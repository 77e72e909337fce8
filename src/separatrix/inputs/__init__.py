"""What a caller passes, read once: rows, labels and parameters, or an error that says what to change.

`data` reads X and y exactly as they are, `labels` finds the classes, `training` reads what an estimator is
fitted on, as scikit-learn does, and `parameters` checks the options. Nothing here solves. scikit-learn and
compiled code are imported inside the functions that need them: whoever checks a certificate needs neither.
"""

from __future__ import annotations

from .dask_hook import distributed, is_collection
from .data import Data, read_data, read_weights
from .frames import titles
from .labels import codes_of, one_label_a_row
from .matrix import as_matrix, read_table, refuse_not_finite
from .parameters import generator, need_bool, need_choice, need_count, need_intercept, need_positive
from .training import (
    class_weights,
    column_names,
    known_classes,
    need_memory,
    read_labels,
    read_matrix,
    read_training,
    read_training_anywhere,
    unchanged_on_error,
)

__all__ = [
    "Data",
    "as_matrix",
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
    "one_label_a_row",
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
