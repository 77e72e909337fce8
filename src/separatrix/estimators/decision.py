"""What fitted classifiers share: outputs become scores, and scores become labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .. import inputs
from ..errors import InputError, NumericOverflowError, convergence_warning
from ..kernels import is_precomputed
from ..result import Floats, RunResult, Status, rounded
from ..rows.memory import MemoryRows, as_rows, lightly
from .habits import CALIBRATE, Named, NotOffered


class Decision(Named, ABC):
    """A classifier of dense or sparse rows that predicts from a decision function."""

    classes_: NDArray[Any]
    fit_intercept: Any
    coef_: Floats  # without a kernel
    intercept_: Floats
    kernel_: Any
    support_vectors_: Any
    dual_coef_: Floats
    predict_proba = NotOffered(f"scores are not probabilities. {CALIBRATE}")
    predict_log_proba = NotOffered(f"scores are not probabilities. {CALIBRATE}")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are accepted, and whether X is a Gram matrix."""
        tags = cast(Any, super()).__sklearn_tags__()
        tags.input_tags.sparse = True
        kernel = getattr(self, "kernel", None)
        tags.input_tags.pairwise = kernel is not None and is_precomputed(kernel)
        return tags

    def decision_function(self, X: Any) -> Floats:
        """Return signed scores: of the last class for two classes, of each class for more.

        With ``average="voted"`` the scores are the shares of the vote (for two classes, the difference of the
        two shares). For a Dask collection, the result is a Dask array, which is lazy.
        """
        check_is_fitted(self)
        if inputs.is_collection(X):
            mapped: Floats = inputs.distributed().mapped(self, "decision_function", X)
            return mapped
        return self._scores(X)

    @abstractmethod
    def _scores(self, X: Any) -> Floats:
        """Return the scores of rows in memory."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row; for a Dask collection a Dask array, which is lazy."""
        check_is_fitted(self)
        labels: NDArray[Any]
        if inputs.is_collection(X):
            labels = inputs.distributed().mapped(self, "predict", X)
            return labels
        labels = self.classes_[winners(self._scores(X))]
        return labels

    def discriminators(self) -> Floats:
        """Return one weight vector per class, the intercept last; the class with the largest output wins.

        Two classes share one separator w: their discriminators are ``w- = -w / 2`` and ``w+ = w / 2``, which
        is what the update for several classes makes of zero weights. They are opposite normals of the
        separating hyperplane, and each is positive on the side of its own class. A kernel's weights have no
        coordinates.

        Returns
        -------
        ndarray of shape (classes, columns + 1)
        """
        check_is_fitted(self)
        if not hasattr(self, "coef_"):
            raise InputError(
                "The weights of a kernel are in its feature space, and have no coordinates here."
            )
        weights = np.column_stack([self.coef_, self.intercept_])
        return weights if len(weights) > 1 else np.vstack([-weights, weights]) / 2.0

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the rows, or of their weight, that are classified correctly."""
        check_is_fitted(self)
        if inputs.is_collection(X):
            right, total = inputs.distributed().score(self, X, y, sample_weight)
        else:
            right, total = inputs.hits(self.predict(X), y, sample_weight)
        if not total:
            raise InputError("All rows have weight zero, so there is no score. Give some a positive weight.")
        return float(right / total)


def winners(scores: Floats) -> NDArray[np.intp]:
    """Return the code of the class with the largest score; with two classes, scores are those of the last."""
    codes: NDArray[np.intp] = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
    return codes


def read_rows(estimator: Any, X: Any, *, lift: bool) -> MemoryRows:
    """Read rows to be predicted in the same way as the training rows."""
    matrix = inputs.read_matrix(estimator, X, reset=False)
    labels = np.zeros(matrix.shape[0], dtype=np.int32)
    return lightly(as_rows(matrix, labels, lift=lift, names=inputs.column_names(estimator)))


def linear_scores(rows: MemoryRows, weights: Floats) -> Floats:
    """Return the scores of rows under one weight vector, or one per class."""
    outputs = rows.outputs(weights)
    if not np.all(np.isfinite(outputs)):
        _ = rows.squared_norms  # names the value that is not finite
    return scores_of(outputs)


def scores_of(outputs: Floats) -> Floats:
    """Return one number per row for two classes, or one per row and class for more."""
    if not np.all(np.isfinite(outputs)):
        raise NumericOverflowError("A score is beyond float64. Scale the columns as in training.")
    return outputs[:, 0] if outputs.shape[1] == 1 else outputs


def shares_of(votes: Floats, total: int) -> Floats:
    """Return votes as shares; for two classes, the difference of the two shares."""
    shares = votes / max(1, total)
    return shares[:, 1] - shares[:, 0] if shares.shape[1] == 2 else shares


def need_weights_by_class(estimator: Any) -> None:
    """Refuse class weights that are computed from all labels, because partial_fit sees only some of them."""
    if isinstance(estimator.class_weight, str):
        raise InputError(
            f"class_weight={estimator.class_weight!r} needs all labels at once, which partial_fit never "
            "sees. Compute the weights on a sample and pass them as a dict."
        )


def not_separated(result: RunResult, question: str, *, average: bool, budget: bool = False) -> Any:
    """Return the warning of a perceptron that found no separator: what is known, and what to do next.

    ``question`` is the call that decides whether there is a separator.
    """
    if result.status is Status.MARGIN_MISSED:
        return not_converged(result.status, f"The margin reached is {rounded(result.margin_lower)}.")
    whose = "the last weights have" if average else "the weights have"  # an average may have others
    wrong = f"{whose} {result.errors} of {len(result.counts)} rows on the wrong side or on the boundary"
    if result.errors is None:
        wrong = f"the last one corrected {result.history[-1].mistakes if result.history else 0} mistakes"
    # If no weights separate, a bound of the margin says nothing more.
    margin = f"; no margin is larger than {rounded(result.margin_upper)}, up to rounding"
    margin = "" if result.status is Status.INSEPARABLE else margin
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
        further = result.status.remedy or "go on"
        advice = (
            f" Ask {question} whether the classes can be separated. If they can, {further}; if they cannot, "
            f"{instead}."
        )
    passes = "1 pass" if result.passes == 1 else f"{result.passes} passes"
    reached = f"{result.status.problem} After {passes}, {wrong}{margin}."
    return convergence_warning(reached + advice, problem=reached, parameter=result.status.parameter)


def not_converged(ending: Status, reached: str) -> Any:
    """Return the warning of a run that stopped early: how it ended, how far it came, and what may help."""
    return convergence_warning(
        f"{ending.value} {reached}",
        problem=f"{ending.problem} {reached}",
        parameter=ending.parameter,
    )
