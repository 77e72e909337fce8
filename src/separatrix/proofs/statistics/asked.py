"""What a caller asks about: a model, its design matrix and its columns, wherever they came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...rows.protocol import Ints


@dataclass(frozen=True, eq=False)
class Asked:
    """A regression as it was found.

    Attributes
    ----------
    X : array, data frame or sparse matrix
        The design matrix, without the column of an intercept.
    columns : dict
        The response y and further columns, by name.
    model : str or None
        None if the source does not say.
    intercept : bool or None
        None for the default of the model.
    names : sequence of str, or None
        Names of the columns of X, if X has none.
    rows : ndarray of int64, or None
        The number of each row in the data, if rows with missing values were left out.
    ties : str
    penalized : sequence of int
        Columns with a penalty.
    note : str
        What the caller has to know about how it was read.
    """

    X: Any
    columns: dict[str, Any]
    model: str | None = None
    intercept: bool | None = None
    names: Sequence[str] | None = None
    rows: Ints | None = None
    ties: str = ""
    penalized: Sequence[int] = ()
    note: str = field(default="")
