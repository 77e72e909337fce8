"""Read what an estimator is fitted on, and check its parameters, as scikit-learn does.

scikit-learn and compiled code are imported inside the functions that need them, because the checker of
certificates imports the package `inputs`.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LabelError
from .data import (
    coded,
    codes_of,
    count_columns,
    need_intercept,
    one_label_per_row,
    read_weights,
    refuse_identifiers,
)
from .matrix import distributed, is_collection, is_frame, read_table

if TYPE_CHECKING:
    from ..rows.memory import MemoryRows
    from ..rows.protocol import Rows

__all__ = [
    "check_parameters",
    "class_weights",
    "column_names",
    "generator",
    "known_classes",
    "need_choice",
    "need_count",
    "need_memory",
    "read_labels",
    "read_matrix",
    "read_training",
    "read_training_anywhere",
    "unchanged_on_error",
]

Floats = NDArray[np.float64]


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Restore the attributes of an estimator if fitting fails."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def read_matrix(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Read X with `read_table`; store the number and names of its columns, or compare them.

    The loops look for NaN and infinity, except in a Gram matrix, which is checked here.
    """
    from sklearn.utils import get_tags
    from sklearn.utils.validation import validate_data

    matrix = read_table(X, check_finite=get_tags(estimator).input_tags.pairwise)[0]
    for size, what in zip(matrix.shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise InputError(
                f"Found array with 0 {what}(s) (shape={matrix.shape}) while a minimum of 1 is required."
            )
    if not is_frame(X) and (reset or not hasattr(estimator, "feature_names_in_")):
        count_columns(estimator, matrix.shape[1], None, reset=reset)
        return matrix
    try:
        validate_data(estimator, X if is_frame(X) else matrix, reset=reset, skip_check_array=True)
    except ValueError as problem:
        raise InputError(str(problem)) from problem
    return matrix


def column_names(estimator: Any) -> tuple[str, ...] | None:
    """Return the feature names that scikit-learn stored, or None if the data had no names."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def read_labels(y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the sorted classes and the code of each row."""
    return coded(one_label_per_row(y))


def read_training(
    estimator: Any, X: Any, y: Any, sample_weight: Any, **options: Any
) -> tuple[MemoryRows, NDArray[Any], Floats | None]:
    """Validate training data as `read_training_anywhere` does, but refuse Dask collections."""
    if type(X) is not np.ndarray and is_collection(X):
        raise not_in_memory(estimator)
    rows, found, weights = read_training_anywhere(estimator, X, y, sample_weight, **options)
    return need_memory(estimator, rows), found, weights


def need_memory(estimator: Any, rows: Rows) -> MemoryRows:
    """Return the rows, or raise an error if they are not in memory."""
    if rows.local is None:
        raise not_in_memory(estimator)
    return rows.local


def not_in_memory(estimator: Any) -> InputError:
    """Return the error of an estimator that needs all rows in memory, and got a Dask collection."""
    kernel = " with a kernel" if getattr(estimator, "kernel", None) is not None else ""
    return InputError(
        f"{type(estimator).__name__}{kernel} needs rows in memory, and X is a Dask collection.",
        remedy="Take the rows into memory first, if they fit: X.compute().",
        parameter="X",
    )


def read_training_anywhere(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    classes: NDArray[Any] | None = None,
    reset: bool = True,
) -> tuple[Rows, NDArray[Any], Floats | None]:
    """Validate training data.

    Returns
    -------
    rows : Rows
        In memory, or where the partitions of the Dask collection X are. Its order has no rows of weight zero.
    classes : ndarray
    sample_weight : ndarray or None
        None if no weights were given.
    """
    lift = need_intercept(estimator.fit_intercept, type(estimator).__name__)
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. "
            "Pass one label for each row of X."
        )
    beside: list[Any] = []
    online = classes is not None
    matrix: Any
    if type(X) is not np.ndarray and is_collection(X):
        matrix, names = distributed().read_collection(X, check_finite=False)
        count_columns(estimator, matrix.n_columns, names, reset=reset)
        classes, codes, beside = distributed().read_collection_labels(y, matrix, classes)
    else:
        matrix = read_matrix(estimator, X, reset=reset)
        labels = one_label_per_row(_column(y), matrix.shape[0])
        classes, codes = coded(labels) if classes is None else (classes, codes_of(labels, classes))
    if not online:
        refuse_identifiers(classes.size, codes.size)
    weights = keep = None
    if sample_weight is not None:
        weights = read_weights(sample_weight, matrix.shape[0])
        keep = weights > 0.0
        if not keep.any() and not online:
            raise InputError(
                "Sample weights must contain at least one non-zero number: all rows have weight zero. "
                "Give a positive weight to the rows that count."
            )
    present = classes if keep is None else classes[np.flatnonzero(np.bincount(codes[keep]))]
    if present.size < 2 and not online:
        among = "" if keep is None else " among the rows whose sample_weight is above zero"
        raise LabelError(
            f"y has one class ({present.tolist()[0]!r}){among}; two classes are needed to "
            "separate anything. If y comes from cross-validation, use a stratified splitter."
        )
    options: dict[str, Any] = {
        "n_classes": max(2, classes.size),
        "lift": lift,
        "keep": keep,
        "names": column_names(estimator),
    }
    rows: Rows
    if beside:
        from ..rows.block_rows import cluster_rows

        rows = cluster_rows(matrix, beside, codes, **options)
    else:
        from ..rows.memory import as_rows

        rows = as_rows(matrix, codes, **options)
    return rows, classes, weights


def _column(y: Any) -> Any:
    """Return labels in one dimension; scikit-learn warns if they are a column."""
    if getattr(y, "ndim", 1) < 2:
        return y
    from sklearn.utils import column_or_1d

    try:
        return column_or_1d(y, warn=True)
    except ValueError as problem:
        raise LabelError(str(problem)) from problem


def known_classes(estimator: Any, classes: Any) -> NDArray[Any]:
    """Return the classes of an online learner, which its first call names and later calls may repeat."""
    given = None if classes is None else read_labels(classes)[0]
    if not hasattr(estimator, "classes_"):
        if given is None:
            raise InputError(
                "classes= must be passed to the first call of partial_fit, and must list all classes."
            )
        if given.size < 2:
            raise InputError(
                f"classes must name at least two classes. Got {given.tolist()} instead.", parameter="classes"
            )
        return given
    if given is not None and not np.array_equal(given, estimator.classes_):
        raise InputError(
            f"classes= must be the same as in the first call, {estimator.classes_.tolist()}. "
            f"Got {given.tolist()} instead; a new set of classes needs a new model."
        )
    known: NDArray[Any] = estimator.classes_
    return known


def class_weights(class_weight: Any, classes: NDArray[Any], rows: Rows) -> Floats:
    """Return the weight of each row by its class, from a ``class_weight`` as in scikit-learn."""
    from sklearn.utils.class_weight import compute_class_weight

    codes = rows.labels[rows.order]
    labels = classes[codes]
    weights: Floats = np.ones(classes.size)
    if isinstance(class_weight, str):  # classes whose rows all have weight zero are not counted
        seen = np.unique(codes)
        weights[seen] = compute_class_weight(class_weight, classes=classes[seen], y=labels)
    else:
        weights = compute_class_weight(class_weight, classes=classes, y=labels).astype(np.float64)
    if np.any(weights <= 0.0) or not np.all(np.isfinite(weights)):
        raise InputError(
            f"The 'class_weight' of every class must be a positive number. Got {weights.tolist()} instead; "
            "to leave a class out, leave out its rows."
        )
    by_row: Floats = weights[rows.labels]
    return by_row


# Parameters


def check_parameters(estimator: Any, **choices: tuple[Any, ...]) -> None:
    """Check parameters by their names, which mean the same in all estimators.

    ``choices`` lists the values that some parameters may have. Numbers may be None if that is their default.
    """
    for name, value in vars(estimator).items():
        if name in choices:
            need_choice(estimator, name, choices[name])
        elif name in ("C", "eta0", "gap", "intercept_scaling", "memory_limit"):
            need_positive(estimator, name, optional=getattr(type(estimator), name, 0.0) is None)
        elif name in ("margin", "tol"):
            need_positive(estimator, name, zero=True)
        elif name in ("budget", "max_iter", "max_units", "max_updates", "shards"):
            need_positive(estimator, name, whole=True, optional=getattr(type(estimator), name) is None)
        elif name in ("renormalise", "trace", "warm_start") and not isinstance(value, bool | np.bool_):
            raise _wrong(estimator, name, "True or False", value)


def need_choice(estimator: Any, name: str, choices: tuple[Any, ...]) -> None:
    """Check that a parameter is one of the choices."""
    value = getattr(estimator, name)
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        listed = ", ".join(repr(choice) for choice in choices)
        raise _wrong(estimator, name, f"one of {listed}", value)


def need_positive(
    estimator: Any, name: str, *, whole: bool = False, optional: bool = False, zero: bool = False
) -> None:
    """Check that a parameter is a positive, finite number; ``zero`` allows zero as well."""
    value: Any = getattr(estimator, name)
    if optional and value is None:
        return
    largest = int(np.iinfo(np.int64).max) if whole else float(np.finfo(np.float64).max)
    number = isinstance(value, numbers.Integral if whole else numbers.Real) and not isinstance(value, bool)
    if not (number and (0 < value <= largest or (zero and value == 0))):
        wanted = "a positive whole number" if whole else "a positive finite number"
        wanted = "a finite number of 0 or more" if zero else wanted
        raise _wrong(estimator, name, wanted + (" or None" if optional else ""), value)


def need_count(estimator: Any, name: str) -> int:
    """Check that a parameter is a whole number that is not negative, and return it; True counts as one."""
    value: Any = getattr(estimator, name)
    if not isinstance(value, numbers.Integral | np.bool_) or value < 0:
        raise _wrong(estimator, name, "True, False or a whole number of 0 or more", value)
    return int(value)


def generator(random_state: Any) -> np.random.Generator:
    """Return a NumPy Generator from anything that scikit-learn allows as random_state."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as problem:
        raise InputError(
            f"The 'random_state' parameter must be None, a non-negative whole number or a generator. "
            f"Got {random_state!r} instead.",
            parameter="random_state",
        ) from problem


def _wrong(estimator: Any, name: str, wanted: str, value: Any) -> InputError:
    return InputError(
        f"The {name!r} parameter of {type(estimator).__name__} must be {wanted}. Got {value!r} instead.",
        parameter=name,
    )
