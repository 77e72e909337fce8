"""What the classifiers have in common once they are fitted: outputs become scores, scores become labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .. import inputs
from ..errors import InputError, NumericOverflowError, convergence_warning
from ..result import Explained, Floats, RunResult, Status, rounded
from ..rows.memory import MemoryRows, as_rows, lightly
from .habits import CALIBRATE, Named, NotOffered


class Decision(Named, ABC):
    """A classifier of dense or sparse rows that goes by its decision function."""

    classes_: NDArray[Any]
    fit_intercept: Any
    coef_: Floats  # without a kernel
    intercept_: Floats
    kernel_: Any
    support_vectors_: Any
    dual_coef_: Floats
    predict_proba = NotOffered(f"scores are no probabilities. {CALIBRATE}")
    predict_log_proba = NotOffered(f"scores are no probabilities. {CALIBRATE}")

    def __sklearn_tags__(self) -> Any:
        """Say that sparse rows are welcome."""
        tags = cast(Any, super()).__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def decision_function(self, X: Any) -> Floats:
        """Signed scores: of the last class for two classes, of each class for more."""

    def predict(self, X: Any) -> NDArray[Any]:
        """The class on whose side each row lies; of a Dask collection a Dask array, which is lazy."""
        if inputs.is_collection(X):
            check_is_fitted(self)
            mapped: NDArray[Any] = inputs.distributed().mapped(self, "predict", X)
            return mapped
        scores = self.decision_function(X)
        codes = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the rows, or of their weight, that are put into their class."""
        if inputs.is_collection(X):
            check_is_fitted(self)
            return float(inputs.distributed().score(self, X, y, sample_weight))
        return float(cast(Any, super()).score(X, y, sample_weight))


def read_rows(estimator: Any, X: Any, *, lift: bool) -> MemoryRows:
    """See rows to be predicted as the classifier saw those of its training."""
    matrix = inputs.read_matrix(estimator, X, reset=False)
    labels = np.zeros(matrix.shape[0], dtype=np.int32)
    return lightly(as_rows(matrix, labels, lift=lift, names=inputs.column_names(estimator)))


def linear_scores(rows: MemoryRows, weights: Floats) -> Floats:
    """The scores of rows under one weight vector, or one a class."""
    outputs = rows.outputs(weights)
    if not np.all(np.isfinite(outputs)):
        _ = rows.squared_norms  # names the value that is not finite
    return scores_of(outputs)


def scores_of(outputs: Floats) -> Floats:
    """One number a row for two classes, one a class for more."""
    if not np.all(np.isfinite(outputs)):
        raise NumericOverflowError("A score is beyond float64. Scale the columns as in training.")
    return outputs[:, 0] if outputs.shape[1] == 1 else outputs


def shares_of(votes: Floats, total: int) -> Floats:
    """Votes as shares; for two classes the difference of the two."""
    shares = votes / max(1, total)
    return shares[:, 1] - shares[:, 0] if shares.shape[1] == 2 else shares


def need_weights_by_class(estimator: Any) -> None:
    """Refuse class weights that are computed from all labels, where these come in pieces."""
    if isinstance(estimator.class_weight, str):
        raise InputError(
            f"class_weight={estimator.class_weight!r} needs all labels at once, which partial_fit never "
            "sees. Compute the weights on a sample and pass them as a dict."
        )


def not_separated(result: RunResult, question: str, *, average: bool, budget: bool = False) -> Any:
    """The warning of a perceptron that found no separator: what its run knows, and which call knows more.

    ``question`` is the call that tells whether there is a separator.
    """
    whose = "the last weights have" if average else "the weights have"  # an average may have others
    wrong = f"{whose} {result.errors} of {len(result.counts)} rows on the wrong side or on the boundary"
    if result.errors is None:
        wrong = f"the last one corrected {result.history[-1].mistakes if result.history else 0} mistakes"
    margin = f"no margin is larger than {rounded(result.margin_upper)}, to rounding"
    instead = "use SoftMargin"
    if average:
        instead = "keep the average, which does not need a separator"
    elif not budget:
        instead += ", or average=True, which often predicts better than the last weights"
    if result.status is Status.INTERRUPTED:
        advice = ""
    elif result.status is Status.INSEPARABLE:
        advice = f" Ask {question} for a certificate, or {instead}."
    else:
        limit = result.status.parameter
        further = f"raise {limit}, or scale the columns" if limit else "go on"
        advice = (
            f" Ask {question} whether the classes can be separated. If they can, {further}; if they cannot, "
            f"{instead}."
        )
    reached = f"{result.status.problem} After {result.passes} passes {wrong}; {margin}."
    return convergence_warning(reached + advice, problem=reached, parameter=result.status.parameter)


def not_converged(ending: Explained, reached: str) -> Any:
    """The warning of a run that stopped early: how it ended, how far it came, and what may help."""
    return convergence_warning(
        f"{ending.value} {reached}",
        problem=f"{ending.problem} {reached}",
        parameter=ending.parameter,
    )
