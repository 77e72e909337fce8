"""Read the data of a regression: the design matrix, the response and further columns, exactly as they are.

This module imports neither compiled code nor scikit-learn, because the checker of certificates uses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LabelError
from ..float_environment import need_exact_floats
from .data import Data, coded, one_label_per_row, read_numbers, read_weights
from .matrix import read_table

# The columns beside the design matrix and the response, by the names of parameters and options.
FURTHER = ("time", "event", "entry", "strata", "groups", "trials", "weights", "winner", "loser")
NUMBERS = ("y", "time", "entry", "trials", "event")  # the other columns are labels, or weights


def read_regression(X: Any, response: str, columns: Mapping[str, Any], order: tuple[str, ...] = ()) -> Data:
    """Read a regression; ``response`` says what y holds: "classes", "ordered", "numbers" or "none".

    If y is ordered but has no categories, they are those of the order, unless it contradicts numbers.
    """
    need_exact_floats()
    matrix, names = read_table(X)
    n_rows, found = int(matrix.shape[0]), dict[str, NDArray[Any]]()
    classes: tuple[str, ...] = ()
    codes = np.zeros(n_rows, dtype=np.int64)
    given = {name: value for name, value in columns.items() if value is not None}
    y = given.pop("y", None)
    if response in ("classes", "ordered"):
        codes, classes = _classes(y, n_rows, response == "ordered", order)
    elif y is not None:
        found["y"] = _numbers("y", y, n_rows)
    if "winner" in given and "loser" in given:
        both = np.concatenate([_labels(name, given.pop(name), n_rows) for name in ("winner", "loser")])
        players, places = coded(both)
        classes = tuple(map(str, players.tolist()))
        found["winner"], found["loser"] = np.split(places.astype(np.int64), 2)
    for name, value in given.items():
        if name == "weights":
            found[name] = read_weights(value, n_rows)
        elif name in NUMBERS:
            found[name] = _numbers(name, value, n_rows)
        else:
            found[name] = coded(_labels(name, value, n_rows))[1].astype(np.int64)
    return Data(matrix, codes, classes, classes, names, columns=dict(sorted(found.items())))


def _classes(
    y: Any, n_rows: int, ordered: bool, order: tuple[str, ...]
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the code of each row, and the classes in order: that of the categories, if they have one."""
    categories = getattr(getattr(y, "cat", y), "categories", None)
    if ordered and categories is not None and getattr(getattr(y, "dtype", None), "ordered", False):
        codes = np.asarray(getattr(y, "cat", y).codes, dtype=np.int64)
        if (codes < 0).any():
            raise InputError("y has a missing value", row=int(np.flatnonzero(codes < 0)[0]))
        return _of_rows(codes, n_rows), tuple(map(str, categories.tolist()))
    labels, codes = coded(one_label_per_row(y, n_rows))
    numbers = labels.dtype.kind in "biuf"
    places = [order.index(label) for label in map(str, labels.tolist()) if label in order]
    known = ordered and 0 < labels.size == len(places) and len(set(order)) == len(order)
    if known and (not numbers or places == sorted(places)):
        return np.array(places, dtype=np.int64)[codes], order
    if ordered and not numbers:
        raise InputError(
            f"The order of the categories is not known: {', '.join(map(str, labels[:5].tolist()))}.",
            remedy="Number them, or pass a pandas Categorical with ordered=True.",
            parameter="categories",
        )
    return codes.astype(np.int64), tuple(map(str, labels.tolist()))


def _numbers(name: str, values: Any, n_rows: int) -> NDArray[np.float64]:
    """Return finite numbers, one for each row; events are zeros and ones."""
    numbers = read_numbers(name, values)
    numbers = numbers.ravel() if numbers.ndim == 2 and numbers.shape[1] == 1 else numbers
    wrong = np.flatnonzero(~np.isfinite(_of_rows(numbers, n_rows, name)))
    if wrong.size:
        raise InputError(f"{name} has a value that is missing or infinite", row=int(wrong[0]), parameter=name)
    if np.asarray(values).dtype.kind in "iuO" and (np.abs(numbers) >= 2.0**53).any():
        raise InputError(f"{name} has integers that floats do not hold.", parameter=name)
    if name == "event" and not np.isin(numbers, (0.0, 1.0)).all():
        raise InputError(
            f"event must be 1 for a death and 0 for a censored row. Got {np.unique(numbers)[-1]:g} instead.",
            needed="For the codes 1 and 2 of R, pass event == 2, or use a formula: Surv(time, event) ~ x.",
            parameter=name,
        )
    return numbers


def _labels(name: str, values: Any, n_rows: int) -> NDArray[Any]:
    """Return the label of the group of each row; numbers may be fractions."""
    if np.asarray(values).dtype.kind == "f":
        return _numbers(name, values, n_rows)
    try:
        return _of_rows(one_label_per_row(values), n_rows, name)
    except LabelError as problem:  # its message is about y
        reason = str(problem)
        raise LabelError(
            name + reason[1:] if reason.startswith("y ") else reason, parameter=name
        ) from problem


def _of_rows(values: NDArray[Any], n_rows: int, name: str = "y") -> NDArray[Any]:
    if values.shape != (n_rows,):
        raise InputError(
            f"{name} must have one value for each of the {n_rows} rows. Got shape {values.shape} instead.",
            parameter=name,
        )
    return values
