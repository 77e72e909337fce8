"""Formulas such as 'label ~ variables', as statisticians write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, needs


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
    """

    X: Any
    y: NDArray[Any]
    intercept: bool
    rows: NDArray[np.int64]
    n_data: int

    def kept(self, weights: Any) -> Any:
        """Return the weights of the rows that are left, if there is one for each row of the data."""
        return np.asarray(weights)[self.rows] if np.shape(weights) == (self.n_data,) else weights


def read_formula(formula: str, data: Any) -> Design:
    """Evaluate a formula on a data frame, or on a mapping of columns.

    Inside a function call, ``^`` is a power, as in R: ``I(x^2)`` is ``I(x**2)``.
    """
    with needs("A formula", extra="formula"):
        import formulaic
        import pandas as pd
    frame = data.to_pandas() if hasattr(data, "to_pandas") else pd.DataFrame(data)
    frame = frame.reset_index(drop=True)
    try:
        matrices = formulaic.model_matrix(_powers(formula), frame, context={})
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
    """Return the columns that a formula uses."""
    with needs("A formula", extra="formula"):
        import formulaic
    try:
        found = formulaic.Formula(_powers(formula)).required_variables
    except (formulaic.errors.FormulaicError, SyntaxError) as problem:
        raise InputError(
            f"The formula {formula!r} cannot be used: {str(problem).splitlines()[0]}"
        ) from problem
    names = sorted(map(str, found))
    if not names or "~" not in formula:
        raise InputError(f"The formula {formula!r} names no columns; write 'label ~ variables'.")
    return names


# Functions of R that formulaic does not have, and what to write instead.
_INSTEAD = {
    "factor": "Write C(x) for factor(x).",
    "as.factor": "Write C(x) for as.factor(x).",
    "cbind": "The left side must be one column of classes, with one row per observation, not cbind(...).",
}


def _powers(formula: str) -> str:
    """Replace ``^`` by ``**`` inside function calls, where Python's ``^`` would not be a power."""
    from formulaic.parser.algos.tokenize import tokenize

    written, end = "", 0
    for token in tokenize(formula):
        called = re.match(r"([\w.]+)\s*\(", token.token)
        if token.kind is not token.Kind.PYTHON or not called:
            continue
        for name, instead in _INSTEAD.items():
            if re.search(rf"(?<![\w.]){re.escape(name)}\s*\(", token.token):
                raise InputError(f"The formula {formula!r} cannot be used: it calls {name}(). {instead}")
        # Text in quotes stays as it is.
        call = re.sub(r"""("[^"]*"|'[^']*'|`[^`]*`)|\^""", lambda found: found[1] or "**", token.token)
        written, end = written + formula[end : token.source_start] + call, token.source_end + 1
    return written + formula[end:]


def _labels(formula: str, left: Any) -> NDArray[Any]:
    """Return the labels: from one column of numbers, or one column per level of text or categories."""
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
