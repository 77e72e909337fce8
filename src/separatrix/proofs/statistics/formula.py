"""Formulas such as 'label ~ variables', as statisticians write them in R or Python."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, needs
from .r_formula import FUNCTIONS, read_written, split

NAME = r"(?<![\w.])[A-Za-z_]\w*\b(?!\s*(?:[(.]|=[^=]))"  # not of a function, a module or an argument


@dataclass(frozen=True, eq=False)
class Design:
    """The design matrix and the labels that a formula makes of a data frame.

    Attributes
    ----------
    X : DataFrame
        The columns of the right side, without the intercept.
    y : ndarray
        The labels.
    intercept : bool
    rows : ndarray of int64
        The number of each row in the data; rows with a missing value are left out.
    n_data : int
        Rows of the data.
    columns : dict
        The response as it is in the data, and the columns of ``Surv()``, ``cbind()`` and ``strata()``.
    model : str or None
        The model that such a call implies.
    """

    X: Any
    y: NDArray[Any]
    intercept: bool
    rows: NDArray[np.int64]
    n_data: int
    columns: Mapping[str, Any] = field(default_factory=dict)
    model: str | None = None

    def kept(self, weights: Any) -> Any:
        """Return the weights of the rows that are left, if there is one for each row of the data."""
        return np.asarray(weights)[self.rows] if np.shape(weights) == (self.n_data,) else weights


def read_formula(formula: str, data: Any) -> Design:
    """Evaluate a formula on a data frame, or on a mapping of columns.

    Names with dots, ``y ~ .``, ``factor(x)``, ``I(x^2)``, ``offset()``, ``strata()``, ``ns()``, ``poly()``,
    ``cbind()`` and ``Surv()`` mean the same as in R.
    """
    with needs("A formula", extra="formula"):
        import formulaic
        import pandas as pd
    frame = data.to_pandas() if hasattr(data, "to_pandas") else pd.DataFrame(data)
    frame = frame.reset_index(drop=True)
    written = read_written(formula)
    twice = set(frame.columns[frame.columns.duplicated()])
    for name in sorted(twice & set(variables(formula) or frame.columns) if twice else ()):
        raise InputError(f"The formula {formula!r} cannot be used: two columns have the name {name!r}.")
    columns = {name: _column(frame, text, formula) for name, text in written.columns.items()}
    complete = ~pd.DataFrame(columns, index=frame.index).isna().any(axis=1)
    used = [text for text in map(_bare, written.columns.values()) if text in frame.columns]
    inner = frame.loc[complete, [name for name in frame.columns if written.left or name not in used]]
    try:
        with warnings.catch_warnings():  # of values that the levels do not list
            warnings.simplefilter("error", formulaic.errors.DataMismatchWarning)
            matrices = formulaic.model_matrix(written.text, inner, context=FUNCTIONS)
    except (formulaic.errors.FormulaicError, Warning, SyntaxError, TypeError) as problem:
        reason = str(problem).split("\n")[0].partition(" They are being")[0]
        raise InputError(f"The formula {formula!r} cannot be used: {reason}") from problem
    left, right = getattr(matrices, "lhs", None), getattr(matrices, "rhs", None)
    if not written.left:
        left, right = (), matrices
    if left is None or not hasattr(right, "columns"):
        raise InputError(f"The formula {formula!r} has no left side, or several; write 'label ~ variables'.")
    assert right is not None
    rows = right.index.to_numpy()
    columns = {name: column.loc[rows] for name, column in columns.items()}
    labels = _labels(formula, left) if written.left else np.zeros(len(rows))
    if written.left:
        name = _bare(written.left)
        columns["y"] = frame.loc[rows, name] if name in frame.columns else labels
    intercept = "Intercept" in right.columns
    X = right.drop(columns="Intercept") if intercept else right
    return Design(X, labels, intercept, rows.astype(np.int64), len(frame), _counted(columns), written.model)


def _bare(text: str) -> str:
    return text.strip().strip("`")


def _column(frame: Any, text: str, formula: str) -> Any:
    """Return a column of the data, or an expression in columns such as ``status == 2``.

    Several columns, separated by commas, are strata together.
    """
    several = [_column(frame, part, formula) for part in split(text, ",")] if "," in text else []
    if several:
        return frame.groupby(several).ngroup()
    if _bare(text) in frame.columns:
        return frame[_bare(text)]
    try:
        return frame.eval(text)
    except Exception as problem:
        raise InputError(f"The formula {formula!r} cannot be used: {problem}.") from problem


def _counted(columns: dict[str, Any]) -> dict[str, Any]:
    """Return trials instead of failures, and events as 0 and 1: of the codes 1 and 2, 2 is a death."""
    found = dict(columns)
    if "failures" in found:
        found["trials"] = found["y"] + found.pop("failures")
    event = found.get("event")
    if event is not None and set(event.unique()) == {1, 2}:
        found["event"] = event == 2
    return found


def variables(formula: str) -> list[str]:
    """Return the columns that a formula uses; an empty list means all, as in ``y ~ .``."""
    with needs("A formula", extra="formula"):
        import formulaic
    written = read_written(formula)
    if written.everything:
        return []
    try:
        formulaic.Formula(written.text)
    except (formulaic.errors.FormulaicError, SyntaxError) as problem:
        raise InputError(
            f"The formula {formula!r} cannot be used: {str(problem).splitlines()[0]}"
        ) from problem
    text = re.sub("\"[^\"]*\"|'[^']*'", "", " ".join([written.text, *written.columns.values()]))
    found = {*re.findall("`([^`]*)`", text), *re.findall(NAME, re.sub("`[^`]*`", "", text))}
    found -= {"True", "False", "None", "in"}
    if not found or "~" not in formula:
        raise InputError(f"The formula {formula!r} names no columns; write 'label ~ variables'.")
    return sorted(found)


def _labels(formula: str, left: Any) -> Any:
    """Return the labels: from one column of numbers, or one column per level of text or categories.

    They have an order if the formula lists the levels.
    """
    terms = left.model_spec.terms
    if len(terms) != 1:
        raise InputError(
            f"The left side of {formula!r} has {len(terms)} terms; it must be one variable, the label."
        )
    levels = [str(name).removeprefix(f"{terms[0]}[").removesuffix("]") for name in left.columns]
    if levels == list(map(str, left.columns)):
        return np.asarray(left).ravel()
    codes = np.asarray(left).argmax(axis=1)
    if "levels=" in str(terms[0]):
        import pandas as pd

        return pd.Categorical.from_codes(codes, levels, ordered=True)
    return np.array(levels)[codes]
