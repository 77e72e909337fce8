"""A question in the words of a formula: 'label ~ variables', as statisticians write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, needs


@dataclass(frozen=True, eq=False)
class Design:
    """What a formula says of a data frame.

    Attributes
    ----------
    X : DataFrame
        The columns of the right side, without the intercept.
    y : ndarray
        The labels.
    intercept : bool
    rows : ndarray of int64
        Where in the data each row comes from: those with a missing value are left out.
    n_data : int
        Rows of the data.
    """

    X: Any
    y: NDArray[Any]
    intercept: bool
    rows: NDArray[np.int64]
    n_data: int

    def kept(self, weights: Any) -> Any:
        """The weights of the rows that are left, where there is one for each row of the data."""
        return np.asarray(weights)[self.rows] if np.shape(weights) == (self.n_data,) else weights


def read_formula(formula: str, data: Any) -> Design:
    """Evaluate a formula on a data frame, or on a mapping of columns."""
    with needs("A formula", extra="formula"):
        import formulaic
        import pandas as pd
    frame = data.to_pandas() if hasattr(data, "to_pandas") else pd.DataFrame(data)
    frame = frame.reset_index(drop=True)
    try:
        matrices = formulaic.model_matrix(formula, frame, context={})
    except (formulaic.errors.FormulaicError, SyntaxError) as problem:
        hint = " An offset changes nothing in this question: leave it out." if "offset(" in formula else ""
        reason = str(problem).split("\n")[0]
        raise InputError(f"The formula {formula!r} cannot be used: {reason}{hint}") from problem
    left, right = getattr(matrices, "lhs", None), getattr(matrices, "rhs", None)
    if not all(hasattr(side, "columns") for side in (left, right)):
        raise InputError(f"The formula {formula!r} has no left side, or several; write 'label ~ variables'.")
    assert left is not None
    assert right is not None
    rows = right.index.to_numpy()
    labels = _labels(formula, left)
    intercept = "Intercept" in right.columns
    X = right.drop(columns="Intercept") if intercept else right
    return Design(X, labels, intercept, rows.astype(np.int64), len(frame))


def variables(formula: str) -> list[str]:
    """The columns that a formula is about."""
    with needs("A formula", extra="formula"):
        import formulaic
    try:
        found = formulaic.Formula(formula).required_variables
    except (formulaic.errors.FormulaicError, SyntaxError) as problem:
        raise InputError(
            f"The formula {formula!r} cannot be used: {str(problem).splitlines()[0]}"
        ) from problem
    names = sorted(map(str, found))
    if not names or "~" not in formula:
        raise InputError(f"The formula {formula!r} names no columns; write 'label ~ variables'.")
    return names


def _labels(formula: str, left: Any) -> NDArray[Any]:
    """The labels: one column of numbers, or one for each level of text or categories."""
    terms = left.model_spec.terms
    if len(terms) != 1:
        raise InputError(
            f"The left side of {formula!r} has {len(terms)} terms; it must be one variable, the label."
        )
    levels = [str(name).removeprefix(f"{terms[0]}[").removesuffix("]") for name in left.columns]
    if levels == list(map(str, left.columns)):
        return np.asarray(left).ravel()
    labels: NDArray[Any] = np.array(levels)[np.asarray(left).argmax(axis=1)]
    return labels
