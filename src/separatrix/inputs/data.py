"""A table of numbers with its labels, read exactly as it is: what verdicts and certificates speak of.

No compiled code and no scikit-learn here: whoever checks a proof imports this.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LabelError
from ..float_environment import need_exact_floats
from .dask_hook import distributed, is_collection
from .labels import coded, one_label_a_row, refuse_identifiers
from .matrix import read_table


@dataclass(frozen=True, eq=False)
class Data:
    """A matrix and its labels, as certificates speak of them.

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
        Column names, where the data came with them.
    beside : list
        Handles of the codes of each block's rows, where the matrix is one in blocks.
    """

    matrix: Any
    codes: NDArray[np.int64]
    classes: tuple[str, ...]
    labels: tuple[Any, ...]
    names: tuple[str, ...] | None
    beside: list[Any] = field(default_factory=list)


def read_data(X: Any, y: Any, *, check_finite: bool = True) -> Data:
    """Read any table of numbers and its labels; nothing is rounded, what cannot be used is refused.

    Without ``check_finite`` NaN and infinity are left to whoever reads the numbers, and `refuse_not_finite`.
    """
    need_exact_floats()
    beside: list[Any] = []
    matrix: Any
    if type(X) is not np.ndarray and is_collection(X):
        matrix, names = distributed().read_collection(X, check_finite=check_finite)
        classes, codes, beside = distributed().read_collection_labels(y, matrix)
    else:
        matrix, names = read_table(X, check_finite=check_finite)
        classes, codes = coded(one_label_a_row(y, matrix.shape[0]))
    refuse_identifiers(classes.size, codes.size)
    labels_list = tuple(classes.tolist())
    if len(labels_list) < 2:
        found = f"one class ({labels_list[0]!r})" if labels_list else "no rows"
        raise LabelError(
            f"y has {found}; two are needed to separate anything. "
            "If y comes from cross-validation, use a stratified splitter."
        )
    texts = tuple(map(str, labels_list))
    _refuse_surrogates(texts)
    return Data(matrix, codes.astype(np.int64), texts, labels_list, names, beside)


def _refuse_surrogates(texts: tuple[str, ...]) -> None:
    """Refuse labels that no text file can hold: as JSON, two surrogates are the same as one character."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise LabelError(
                f"y has a label with a surrogate code point, which is no character: {text!a}. "
                "Read the labels again with the encoding that they were written in."
            ) from None


def read_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """One finite weight for each row, none negative; a single number serves all."""
    given = sample_weight.compute() if is_collection(sample_weight) else sample_weight
    try:
        weights = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must hold numbers, one for each row, and none missing.") from None
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
