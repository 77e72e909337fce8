"""Read X and y exactly as they are: the data that verdicts and certificates are about.

Labels become classes in order, and each row gets a code, which is the position of its label among the
classes. Labels are never merged by rounding: if NumPy has no type that keeps them apart, they stay Python
objects.

This module imports neither compiled code nor scikit-learn, because the checker of certificates uses it.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LabelError
from ..float_environment import need_exact_floats
from .matrix import (
    as_objects,
    distributed,
    is_collection,
    is_missing,
    not_a_number,
    read_table,
    refuse_masked,
)

__all__ = ["codes_of", "hits", "need_intercept", "one_label_per_row"]

LARGEST = int(np.iinfo(np.int64).max)
MANY_CODES = 1 << 16  # integer labels within such a range are counted and looked up instead of sorted


@dataclass(frozen=True, eq=False)
class Data:
    """A matrix and its labels, as certificates describe them.

    Attributes
    ----------
    matrix : ndarray, csr_array or BlockMatrix
        Finite numbers of an integer or floating type, exactly as given.
    codes : ndarray of int64
        Position of each row's label in ``classes``.
    classes : tuple of str
    labels : tuple
        The class labels themselves.
    names : tuple of str or None
        Column names, if the data came with them.
    beside : list
        Handles of the codes of each block's rows, if the matrix is a BlockMatrix.
    columns : dict of str to ndarray
        Further columns of a regression, such as times or strata, in the order of their names.
    """

    matrix: Any
    codes: NDArray[np.int64]
    classes: tuple[str, ...]
    labels: tuple[Any, ...]
    names: tuple[str, ...] | None
    beside: list[Any] = field(default_factory=list)
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)


def read_data(X: Any, y: Any, *, check_finite: bool = True) -> Data:
    """Read a table of numbers and its labels without rounding; refuse what cannot be used.

    With ``check_finite=False`` the caller has to look for NaN and infinity, with `refuse_not_finite`.
    """
    need_exact_floats()
    beside: list[Any] = []
    matrix: Any
    if type(X) is not np.ndarray and is_collection(X):
        matrix, names = distributed().read_collection(X, check_finite=check_finite)
        classes, codes, beside = distributed().read_collection_labels(y, matrix)
    else:
        matrix, names = read_table(X, check_finite=check_finite)
        classes, codes = coded(one_label_per_row(y, matrix.shape[0]))
    refuse_identifiers(classes.size, codes.size)
    labels = tuple(classes.tolist())
    if len(labels) < 2:
        if not labels:
            raise LabelError("X and y have no rows; rows of at least two classes are needed.")
        raise LabelError(
            f"y has one class ({labels[0]!r}); at least two classes are needed. "
            "If y comes from cross-validation, use a stratified splitter."
        )
    texts = tuple(map(str, labels))
    for text in texts:  # in JSON, two surrogates are the same as one character
        try:
            text.encode()
        except UnicodeEncodeError:
            raise LabelError(
                f"y has a label with a surrogate code point, which is not a character: {text!a}. "
                "Read the labels again with the encoding that they were written in."
            ) from None
    return Data(matrix, codes.astype(np.int64), texts, labels, names, beside)


def read_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Return one finite, non-negative weight per row; a single number is used for all rows."""
    given = sample_weight.compute() if is_collection(sample_weight) else sample_weight
    weights = read_numbers("sample_weight", given)
    weights = np.full(n_rows, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (n_rows,):
        raise InputError(
            f"sample_weight must hold one number for each row, shape ({n_rows},). "
            f"Got shape {weights.shape} instead."
        )
    wrong = np.flatnonzero(~(weights >= 0.0) | ~np.isfinite(weights))
    if wrong.size:
        raise InputError(
            f"sample_weight must be finite and not negative. Got {weights[wrong[0]]} for row {wrong[0]}; "
            "to leave a row out, give it weight zero."
        )
    return weights


def read_numbers(name: str, values: Any) -> NDArray[np.float64]:
    """Return real numbers as floats, and missing ones as NaN; ``name`` is what errors call them."""
    refuse_masked(values, name)
    found = np.asarray(values)
    odd = "" if found.dtype.kind in "biuf" else str(found.dtype)
    if found.dtype.kind == "O":
        cells = found.ravel().tolist()
        odd, missing = not_a_number(cells), np.array(list(map(is_missing, cells)), dtype=bool)
        found = np.where(missing.reshape(found.shape), np.nan, found)
    if odd:
        raise InputError(f"{name} must hold numbers, one for each row. Got {odd} instead.", parameter=name)
    return found.astype(np.float64, copy=False)


def hits(found: NDArray[Any], y: Any, sample_weight: Any) -> tuple[float, float]:
    """Return the weight of the rows whose labels were predicted, and that of all rows."""
    known = one_label_per_row(y, found.size)
    if known.dtype.kind != found.dtype.kind:  # NumPy would round numbers of two kinds to compare them
        known, found = known.astype(object), found.astype(object)
    weights = np.ones(found.size) if sample_weight is None else read_weights(sample_weight, found.size)
    right = np.asarray(found == known, dtype=bool)
    if not right.any() and len({isinstance(each, str) for each in (*found.tolist(), *known.tolist())}) > 1:
        raise LabelError(
            f"y has labels such as {known.tolist()[0]!r}, and the model predicts labels such as "
            f"{found.tolist()[0]!r}. Use labels of one type."
        )
    return float(weights[right].sum()), float(weights.sum())


def need_intercept(value: Any, caller: str) -> bool:
    """Whether ``fit_intercept`` asks for an intercept: True and "lifted" do, False does not."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str) and value == "lifted":
        return True
    raise InputError(
        f"The 'fit_intercept' parameter of {caller} must be True, False or 'lifted'. Got {value!r} instead.",
        parameter="fit_intercept",
    )


def count_columns(estimator: Any, n_columns: int, names: tuple[str, ...] | None, *, reset: bool) -> None:
    """Store the columns of a Dask collection, or compare them with those that the estimator knows.

    scikit-learn does the same for arrays. The number may be unknown, which is NaN.
    """
    known = getattr(estimator, "feature_names_in_", None)
    if reset:
        estimator.n_features_in_ = n_columns
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        elif known is not None:
            del estimator.feature_names_in_
    elif names is not None and known is not None and tuple(map(str, known)) != names:
        raise InputError(
            "The feature names should match those that were passed during fit. "
            f"Got {', '.join(names[:5])} instead of {', '.join(map(str, known[:5]))}."
        )
    elif n_columns == n_columns and n_columns != estimator.n_features_in_:
        raise InputError(
            f"X has {n_columns} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )


# Labels


def one_label_per_row(y: Any, n_rows: int | None = None) -> NDArray[Any]:
    """Return the labels as a 1-D array; refuse missing labels, fractions and a wrong number of labels."""
    if y is None:
        raise LabelError("y is missing: pass one class label per row.")
    labels = _exact_labels(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.ndim != 1:
        raise LabelError(
            f"y must have one dimension, with one label per row. Got an array of shape {labels.shape} "
            "instead."
        )
    if n_rows not in (None, labels.size):
        raise LabelError(f"X has {n_rows} rows and y has {labels.size} labels; one label per row is needed.")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise LabelError("y contains NaN or infinity; every row needs a class label. Drop such rows.")
    row = _first_fraction(labels)
    if row is not None:
        raise LabelError(
            "y has fractions",
            needed="They look like measurements, not classes (Unknown label type: continuous).",
            remedy="Make classes of them first, for example y > limit.",
            parameter="identifier",
            row=row,
            value=labels[row],
        )
    return labels


def _exact_labels(y: Any) -> NDArray[Any]:
    """Return labels as an array that keeps them apart: of a NumPy type if it can, or else of objects.

    NumPy would round integers beside floats or beyond 2^63, would drop a null character at the end of a text,
    and would turn missing values into labels.
    """
    if type(y) is np.ndarray and y.dtype.kind not in "OmMT":
        return y
    refuse_masked(y, "y")
    dtype, listed = getattr(y, "dtype", None), isinstance(y, list | tuple)
    own_type = dtype is not None and not isinstance(dtype, np.dtype)  # of pandas or Polars
    if listed or (own_type and getattr(y, "ndim", 1) == 1 and hasattr(y, "__len__")):
        read = getattr(y, "tolist", None) or getattr(y, "to_list", None)  # of pandas; of Polars
        values = list(y) if read is None else read()
    else:
        found = np.asarray(y)
        if found.dtype.kind in "mM" and np.isnat(found).any():
            raise _missing(int(np.flatnonzero(np.isnat(found))[0]))
        if found.dtype.kind not in "OT" or found.ndim != 1:
            return found
        values = found.tolist()
    kinds = set(map(type, values))
    if listed and any(issubclass(kind, list | tuple | np.ndarray) for kind in kinds):
        return np.asarray(y)
    if kinds == {float}:  # the caller looks for NaN
        return np.array(values)
    if any(issubclass(kind, np.number | np.bool_) for kind in kinds):
        values = [each.item() if isinstance(each, np.number | np.bool_) else each for each in values]
        kinds = set(map(type, values))
    _refuse_unusable(values, kinds)
    if kinds and kinds <= {int, float, bool}:
        found = np.array(values)
        if found.tolist() == values and (found.dtype.kind != "f" or float in kinds):
            return found
    return as_objects(values)


def _refuse_unusable(values: Sequence[Any], kinds: set[type]) -> None:
    """Refuse labels that are missing, that mix text and numbers, or booleans and the equal numbers."""
    if kinds <= {str} or kinds == {int}:
        return
    missing = next((row for row, value in enumerate(values) if _holds_missing(value)), None)
    if missing is not None:
        raise _missing(missing)
    if len({issubclass(kind, str) for kind in kinds}) > 1:
        raise LabelError(
            "y mixes text and numbers, which have no common order. Use labels of one type, for example "
            "[str(label) for label in y]."
        )
    if bool in kinds and len(kinds) > 1:
        booleans: set[Any] = {each for each in values if isinstance(each, bool)}
        for row, label in enumerate(values):
            if label in booleans and not isinstance(label, bool):
                raise LabelError(
                    f"y mixes booleans and numbers, and {bool(label)} is the same class as {label} (row "
                    f"{row}). Use labels of one type, for example [int(label) for label in y]."
                )


def _missing(row: int) -> LabelError:
    return LabelError(f"y has no label in row {row}; every row needs one. Drop such rows.")


def _holds_missing(value: Any) -> bool:
    return any(map(_holds_missing, value)) if isinstance(value, tuple) else is_missing(value)


def _first_fraction(labels: NDArray[Any]) -> int | None:
    """Return the first row whose label is a number, but not an integer."""
    if labels.dtype.kind == "f":
        broken = np.flatnonzero(labels != np.rint(labels))
        return int(broken[0]) if broken.size else None
    if labels.dtype.kind != "O" or all(issubclass(kind, str) for kind in set(map(type, labels))):
        return None
    whole = (not isinstance(label, numbers.Real | Decimal) or label % 1 == 0 for label in labels)
    return next((row for row, each in enumerate(whole) if not each), None)


def coded(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the classes in order, and the position of each label among them.

    This is the only way from labels to codes. Labels of one class are equal, and each class is less than the
    next.
    """
    if y.dtype.kind == "O":
        return _coded_objects(y)
    if y.dtype.kind not in "biufUSmM":
        raise LabelError(
            f"y has labels of type {y.dtype}, which cannot be classes. Use integers or text, for example "
            "[str(label) for label in y]."
        )
    if y.dtype.kind in "iu" and y.size:
        # Integers are compared or counted, which is many times faster than sorting.
        low, high = int(y.min()), int(y.max())
        top = y == high
        if low < high and np.count_nonzero(top) + np.count_nonzero(y == low) == y.size:
            return np.array([low, high], dtype=y.dtype), top.astype(np.int32)
        if high - low < MANY_CODES and high <= LARGEST:
            found = np.flatnonzero(np.bincount(np.subtract(y, low, dtype=np.int64, casting="unsafe"))) + low
            classes = found.astype(y.dtype)
            return classes, _positions(y, classes)
    classes = np.unique(y)
    return classes, _positions(y, classes)


def _coded_objects(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return classes and codes of labels of any type.

    `np.unique` compares neighbors in a sorted array, which finds all equal labels only if their order is
    total. Here labels are compared by ``==`` and their hash, and must be in order after that.
    """
    values = y.tolist()
    try:
        classes = sorted(set(values))
        ordered = all(low < high for low, high in pairwise(classes))
    except TypeError:
        ordered = False
    if not ordered:
        kinds = sorted({type(each).__name__ for each in values})
        raise LabelError(
            f"The labels in y cannot be put in order (they are of type {', '.join(kinds[:5])}). Use labels "
            "of one type that has an order, for example text: [str(label) for label in y]."
        )
    position = {label: code for code, label in enumerate(classes)}
    codes = np.fromiter(map(position.__getitem__, values), np.int64, len(values))
    text = np.array(classes) if set(map(type, classes)) == {str} else None
    return as_objects(classes) if text is None or text.tolist() != classes else text, codes


def codes_of(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return the position of each label among the sorted classes; an unknown label is an error."""
    if y.dtype.kind == classes.dtype.kind != "O":
        codes = _positions(y, classes)
        known = classes.take(codes, mode="clip") == y
    else:  # NumPy compares numbers of two kinds after rounding them, Python does not
        own, places = coded(y)
        of_label = {label: code for code, label in enumerate(classes.tolist())}
        codes = np.array([of_label.get(label, -1) for label in own.tolist()], dtype=np.int64)[places]
        known = codes >= 0
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        raise LabelError(
            "y has a label that is not among the classes",
            needed=f"The classes are {', '.join(repr(c) for c in classes[:10].tolist())}.",
            remedy="List all classes in the classes= of the first call.",
            parameter="classes",
            row=row,
            value=repr(y.tolist()[row]),
        )
    return codes


def _positions(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return the position of each known label among the sorted classes; both are of one kind."""
    found: NDArray[Any]
    if classes.size == 2:
        found = (y == classes[-1]).astype(np.int32)
    elif y.dtype == classes.dtype == np.int64 and int(classes[-1]) - int(classes[0]) < MANY_CODES:
        places = np.zeros(classes[-1] - classes[0] + 1, dtype=np.int64)
        places[classes - classes[0]] = np.arange(classes.size)
        found = places.take(y - classes[0], mode="clip")
    else:
        found = np.searchsorted(classes, y)
    return found


def refuse_identifiers(n_classes: int, n_rows: int, many: int = 1000) -> None:
    """Refuse a target with more than ``many`` classes that have fewer than two rows each, on average.

    Such a target names the rows or measures them, and every class would get a weight vector.
    """
    if n_classes > many and 2 * n_classes > n_rows:
        raise LabelError(
            f"The target has {n_classes:,} distinct values in {n_rows:,} rows; is it an identifier or a "
            "number? A class needs several rows.",
            remedy="Choose another target, or make a few classes of this one first, for example y > limit.",
            parameter="identifier",
        )


def target_note(y: Any, labels: Sequence[Any]) -> str:
    """Say that an ordered target, or one that may hold counts, is treated as nominal; else say nothing."""
    likely = likely_model(y, labels)
    if not likely:
        return ""
    first = ", ".join(str(each) for each in labels[:3])
    looks = "is an ordered category" if likely == "ordinal" else "looks like counts"
    return (
        f"The target {looks} ({first}, ...), and its values are treated as nominal classes, without their "
        f"order. Whether a regression on it has an estimate is another question: model={likely!r}."
    )


def likely_model(y: Any, labels: Sequence[Any]) -> str:
    """Return "ordinal" for an ordered target, "poisson" for one that may hold counts, and "" otherwise.

    Only targets of three or more classes are ordered in a way that matters.
    """
    if len(labels) < 3:
        return ""
    dtype = getattr(y, "dtype", getattr(y, "type", None))
    if getattr(dtype, "ordered", False) is True or type(dtype).__name__ == "Enum":
        return "ordinal"
    whole = all(isinstance(each, numbers.Real) and not isinstance(each, bool) for each in labels)
    return "poisson" if whole and labels[0] in (0, 1) else ""
