"""From what a user passes to fit or predict to rows, or to an error that says what to change.

scikit-learn and compiled code are imported when they are first needed: `inputs` is also imported by whoever
only checks a certificate.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LabelError
from .dask_hook import distributed, is_collection
from .data import read_weights
from .frames import is_frame
from .labels import coded, codes_of, one_label_a_row, refuse_identifiers
from .matrix import read_table
from .parameters import need_intercept

if TYPE_CHECKING:
    from ..rows.memory import MemoryRows
    from ..rows.protocol import Rows

Floats = NDArray[np.float64]


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Give an estimator back as it was if fitting fails."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def read_matrix(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Read X as `read_table` does, but leave finiteness to the loops; keep or compare its columns.

    A Gram matrix is checked here: its width is what it is asked for next.
    """
    from sklearn.utils import get_tags
    from sklearn.utils.validation import validate_data

    matrix = read_table(X, check_finite=get_tags(estimator).input_tags.pairwise)[0]
    for size, what in zip(matrix.shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise InputError(
                f"Found array with 0 {what}(s) (shape={matrix.shape}) while a minimum of 1 is required."
            )
    try:
        validate_data(estimator, X if is_frame(X) else matrix, reset=reset, skip_check_array=True)
    except ValueError as problem:
        raise InputError(str(problem)) from problem
    return matrix


def column_names(estimator: Any) -> tuple[str, ...] | None:
    """The feature names that scikit-learn kept, if the data had them."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def read_labels(y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the sorted classes and the code of each row."""
    return coded(one_label_a_row(y))


def read_training(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    classes: NDArray[Any] | None = None,
    reset: bool = True,
) -> tuple[MemoryRows, NDArray[Any], Floats | None]:
    """Validate training data in memory, as `read_training_anywhere` does; collections of Dask are refused."""
    if type(X) is not np.ndarray and is_collection(X):
        raise not_in_memory(estimator)
    rows, found, weights = read_training_anywhere(
        estimator, X, y, sample_weight, classes=classes, reset=reset
    )
    return need_memory(estimator, rows), found, weights


def need_memory(estimator: Any, rows: Rows) -> MemoryRows:
    """The rows, if they are in memory."""
    if rows.local is None:
        raise not_in_memory(estimator)
    return rows.local


def not_in_memory(estimator: Any) -> InputError:
    """The error of those that need all rows in memory, and got a Dask collection."""
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
        In memory, or where the collection is that X is. Those of zero weight are left out of the order.
    classes : ndarray
    sample_weight : ndarray or None
        None where every weight is one.
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
        _count_columns(estimator, matrix.n_columns, names, reset=reset)
        classes, codes, beside = distributed().read_collection_labels(y, matrix, classes)
    else:
        matrix = read_matrix(estimator, X, reset=reset)
        labels = one_label_a_row(_column(y), matrix.shape[0])
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
    """Labels in one dimension; a column of them comes with scikit-learn's warning."""
    if getattr(y, "ndim", 1) < 2:
        return y
    from sklearn.utils import column_or_1d

    try:
        return column_or_1d(y, warn=True)
    except ValueError as problem:
        raise LabelError(str(problem)) from problem


def _count_columns(estimator: Any, n_columns: int, names: tuple[str, ...] | None, *, reset: bool) -> None:
    """Keep, or compare, the columns of rows that scikit-learn does not see."""
    if reset:
        estimator.n_features_in_ = n_columns
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
    elif estimator.n_features_in_ != n_columns:
        raise InputError(
            f"X has {n_columns} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )


def known_classes(estimator: Any, classes: Any) -> NDArray[Any]:
    """The classes of an online learner: given in its first call, and the same ever after."""
    given = None if classes is None else read_labels(classes)[0]
    if not hasattr(estimator, "classes_"):
        if given is None:
            raise InputError(
                "classes= must be passed to the first call of partial_fit, with every class to come."
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
    """The weight of each row by its class, from what scikit-learn allows as class_weight but None."""
    from sklearn.utils.class_weight import compute_class_weight

    codes = rows.labels[rows.order]
    labels = classes[codes]
    weights: Floats = np.ones(classes.size)
    if isinstance(class_weight, str):  # a class whose rows all have weight zero is not there to be counted
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
