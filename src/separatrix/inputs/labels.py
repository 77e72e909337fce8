"""Labels as classes in order, and the code of each row: its place among them.

No scikit-learn here: whoever checks a proof imports this.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LabelError

MANY_CLASSES = 1000  # more are refused where they have fewer than two rows each, on average
MANY_CODES = 1 << 16  # whole numbers that lie within so many are counted, not sorted
LARGEST = int(np.iinfo(np.int64).max)


def usable_labels(y: Any) -> Any:
    """Labels of any kind as `exact_labels` keeps them apart; such as cannot be used are refused."""
    if type(y) is np.ndarray and y.dtype.kind not in "OmMT":
        return y
    y = exact_labels(y)
    refuse_unusable_labels(y)
    return y


def exact_labels(y: Any) -> Any:
    """Labels of a list, of pandas or Polars as an array that keeps them apart, where NumPy's own would not.

    Nullable whole numbers, and those beyond 2^63 beside others, would become floats; text with a null
    character at its end would lose that; missing dates would become labels. Other labels are returned as they
    are.
    """
    if isinstance(y, list | tuple):
        if set(map(type, y)) == {int} and min(y) >= 0 and LARGEST < max(y) < 2**64:
            return np.array(y, dtype=np.uint64)
        return y
    dtype = getattr(y, "dtype", None)
    if isinstance(y, np.ndarray) and y.dtype.kind == "T":
        return y.astype(object)
    if isinstance(y, np.ndarray) or dtype is None or isinstance(dtype, np.dtype):
        return y
    if getattr(y, "ndim", 1) != 1 or not hasattr(y, "__len__"):
        return y
    values = as_objects(y.to_list() if hasattr(y, "to_list") else list(y))
    kinds = set(map(type, values))
    if kinds <= {str, bytes}:
        return values
    missing = first_missing(values)
    if missing is not None:
        _refuse_missing(missing)
    plain = exact_labels(values.tolist())
    return np.array(plain) if kinds in ({int}, {bool}) else y


def refuse_unusable_labels(y: Any) -> None:
    """Refuse labels that are missing, or partly text: numpy turns numbers into text without a word."""
    refuse_masked(y, "y")
    kind = getattr(getattr(y, "dtype", None), "kind", "")
    if kind in ("m", "M"):
        y = np.asarray(y)
        if y.dtype.kind in "mM" and np.isnat(y).any():
            _refuse_missing(int(np.flatnonzero(np.isnat(y))[0]))
        kind = y.dtype.kind
    if kind == "O":
        y = np.asarray(y)  # a column of pandas takes ten times as long to go through
    elif not isinstance(y, list | tuple):
        return
    kinds = set(map(type, y))
    if isinstance(y, list | tuple):
        _refuse_merged(y, kinds)
    if not kinds or kinds in ({str}, {int}, {float}):  # NaN among floats is seen when they are an array
        return
    missing = first_missing(y)
    if missing is not None:
        _refuse_missing(missing)
    if len({issubclass(kind, str) for kind in kinds}) > 1:
        raise LabelError(
            "y mixes text and numbers, which have no common order. Use labels of one type, for example "
            "[str(label) for label in y]."
        )
    booleans = {kind for kind in kinds if issubclass(kind, bool | np.bool_)}
    if booleans and booleans != kinds:
        _refuse_equal_to_a_boolean(y)


def _refuse_equal_to_a_boolean(y: Iterable[Any]) -> None:
    """Refuse True beside 1, and False beside 0: they look like two classes, and are equal."""
    values = list(y)
    booleans = {bool(each) for each in values if isinstance(each, bool | np.bool_)}
    for row, label in enumerate(values):
        number = isinstance(label, numbers.Number | Decimal) and not isinstance(label, bool | np.bool_)
        if number and label in booleans:
            raise LabelError(
                f"y mixes booleans and numbers, and {bool(label)} is the same class as {label} (row {row}). "
                "Use labels of one type, for example [int(label) for label in y]."
            )


def _refuse_missing(row: int) -> None:
    raise LabelError(f"y has no label in row {row}; every row needs one. Drop such rows.")


def _refuse_merged(y: Sequence[Any], kinds: set[type]) -> None:
    """Refuse labels in a list that would become equal in a NumPy array of theirs."""
    whole = all(issubclass(kind, int | np.integer) for kind in kinds)
    if kinds == {int}:
        rounded = bool(y) and min(y) < 0 and max(y) > LARGEST  # no whole type of NumPy holds both
    else:
        numbers = (int, float, np.integer, np.floating)
        rounded = len(kinds) > 1 and all(issubclass(kind, numbers) for kind in kinds)
    if rounded and np.asarray(y).dtype.kind == "f":
        for row, label in enumerate(y):
            if isinstance(label, int | np.integer) and int(label) != float(label):
                beside = "of both signs" if whole else "beside fractions"
                raise LabelError(
                    f"y has whole numbers {beside}, and float64 cannot hold {label} (row {row}) exactly. "
                    "Use text: [str(label) for label in y]."
                )
    ending = [kind for kind in kinds if issubclass(kind, str | bytes)]
    for row, label in enumerate(y) if ending else ():
        if label and isinstance(label, str | bytes) and label[-1] in ("\0", 0):
            raise LabelError(
                f"y has a label that ends in a null character (row {row}); NumPy does not tell it from one "
                "without. Use other labels."
            )


def one_label_a_row(y: Any, n_rows: int | None = None) -> NDArray[Any]:
    """The labels as an array, of so many rows where that is known; continuous measurements are no labels."""
    labels = np.asarray(usable_labels(y))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.ndim != 1:
        raise LabelError(
            f"y must be one label a row, in one dimension. Got an array of shape {labels.shape} instead."
        )
    if n_rows not in (None, labels.size):
        raise LabelError(f"X has {n_rows} rows and y has {labels.size} labels; one label a row is needed.")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise LabelError("y contains NaN or infinity; every row needs a class label. Drop such rows.")
    row = _first_fraction(labels)
    if row is not None:
        raise LabelError(
            "Unknown label type: y has fractions",
            needed="These are continuous measurements, not classes.",
            remedy="Make classes of them first, for example y > limit.",
            row=row,
            value=labels[row],
        )
    return labels


def _first_fraction(labels: NDArray[Any]) -> int | None:
    """The first row whose label is a number, but not a whole one."""
    if labels.dtype.kind == "f":
        broken = np.flatnonzero(labels != np.rint(labels))
        return int(broken[0]) if broken.size else None
    if labels.dtype.kind != "O" or not any(
        issubclass(kind, numbers.Real | Decimal) and not issubclass(kind, numbers.Integral)
        for kind in set(map(type, labels.tolist()))
    ):
        return None
    whole = (not isinstance(label, numbers.Real | Decimal) or label % 1 == 0 for label in labels.tolist())
    return next((row for row, each in enumerate(whole) if not each), None)


def coded(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The classes in their order, and the place of each label among them.

    The one way from labels to codes. Labels of one class are equal, each class is less than the next.
    """
    if y.dtype.kind in "iu" and y.size:
        # Whole numbers are compared or counted, which is many times faster than sorting.
        low, high = int(y.min()), int(y.max())
        top = y == high
        if low < high and np.count_nonzero(top) + np.count_nonzero(y == low) == y.size:
            return np.array([low, high], dtype=y.dtype), top.astype(np.int32)
        if high - low < MANY_CODES and high <= LARGEST:
            found = np.flatnonzero(np.bincount(np.subtract(y, low, dtype=np.int64, casting="unsafe"))) + low
            classes = found.astype(y.dtype)
            return classes, _positions(y, classes)
    if y.dtype.kind == "O":
        return _coded_objects(y)
    if y.dtype.kind not in "biufUSmM":
        raise LabelError(
            f"y has labels of type {y.dtype}, which are no classes. Use whole numbers or text, for example "
            "[str(label) for label in y]."
        )
    classes = np.unique(y)
    return classes, _positions(y, classes)


def _coded_objects(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same for labels of any type.

    `np.unique` compares neighbors in a sorted array, which finds all equal labels only if their order is
    total. Here labels are compared by ``==`` and their hash, and must be in order after that.
    """
    values = [each.item() if isinstance(each, np.number | np.bool_) else each for each in y.tolist()]
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
    place = {label: code for code, label in enumerate(classes)}
    return as_objects(classes), np.fromiter(map(place.__getitem__, values), np.int64, len(values))


def as_objects(values: Sequence[Any]) -> NDArray[Any]:
    """Values of any type as an array of one dimension."""
    return np.fromiter(values, dtype=object, count=len(values))


def codes_of(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """The position of each label among the sorted classes; an unknown label is an error."""
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
            remedy="Name every class in the first call's classes= .",
            parameter="classes",
            row=row,
            value=repr(y.tolist()[row]),
        )
    return codes


def _positions(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Where each label, if it is known, stands among the sorted classes; both are of one kind."""
    found: NDArray[Any]
    if classes.size == 2:
        found = (y == classes[-1]).astype(np.int32)
    elif y.dtype == classes.dtype == np.int64 and int(classes[-1]) - int(classes[0]) < MANY_CODES:
        # Looked up, which is faster than searched for.
        places = np.zeros(classes[-1] - classes[0] + 1, dtype=np.int64)
        places[classes - classes[0]] = np.arange(classes.size)
        found = places.take(y - classes[0], mode="clip")
    else:
        found = np.searchsorted(classes, y)
    return found


def refuse_identifiers(n_classes: int, n_rows: int) -> None:
    """Refuse a target that names each row, or measures it, before a weight vector is made for each class."""
    if n_classes > MANY_CLASSES and 2 * n_classes > n_rows:
        raise LabelError(
            f"The target has {n_classes:,} distinct values in {n_rows:,} rows; is it an identifier or a "
            "number? A class needs several rows.",
            remedy="Choose another target, or make a few classes of this one first, for example y > limit.",
            parameter="identifier",
        )


def target_note(y: Any, labels: Sequence[Any]) -> str:
    """What is not asked of a target whose three or more classes are ordered categories, or may be counts."""
    if len(labels) < 3:
        return ""
    dtype = getattr(y, "dtype", getattr(y, "type", None))
    if getattr(dtype, "ordered", False) is True or type(dtype).__name__ == "Enum":
        return f"The target is an ordered category, and its {len(labels)} levels {NOMINAL}"
    whole = all(isinstance(each, numbers.Real) and not isinstance(each, bool) for each in labels)
    if whole and labels[0] in (0, 1):
        first = ", ".join(str(int(each)) for each in labels[:3])
        return f"The target looks like counts ({first}, ...), and they {NOMINAL}"
    return ""


NOMINAL = (
    "are treated as nominal classes, without their order; ordinal and Poisson models are not answered here."
)


def refuse_masked(values: Any, name: str) -> None:
    """Refuse what numpy would read as if nothing were masked."""
    if np.ma.isMaskedArray(values) and np.ma.is_masked(values):
        raise InputError(
            f"{name} is a masked array, and some of its values are masked. Leave out their rows."
        )


def first_missing(values: Iterable[Any]) -> int | None:
    """Where the first value is that is missing, or a tuple that holds such; None if there is none."""
    return next((i for i, value in enumerate(values) if _holds_missing(value)), None)


def _holds_missing(value: Any) -> bool:
    return any(map(_holds_missing, value)) if isinstance(value, tuple) else is_missing(value)


def is_missing(value: Any) -> bool:
    """None, NaN, or what pandas has for them (which cannot be compared, and need not be installed)."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, np.datetime64 | np.timedelta64) and bool(np.isnat(value)))
        or (isinstance(value, float | np.floating) and value != value)
        or (isinstance(value, Decimal) and value.is_nan())
    )
