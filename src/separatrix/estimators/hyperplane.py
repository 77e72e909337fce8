"""What classifiers by a hyperplane share: scores, support, and what is said where no separator is found."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .. import inputs
from ..dual.kernel_margin import expansion
from ..errors import ConvergenceWarning, InputError, NotSeparable
from ..kernels import Kernel, Precomputed, tuned
from ..margins.brackets import against_rivals
from ..margins.pairs import signed_coefficients
from ..proofs.verdict import Verdict, separability
from ..result import Floats, Ints, rounded
from ..rows.protocol import Rows
from .decision import Decision, linear_scores, read_rows, scores_of

ON_INSEPARABLE = ("raise", "warn")
EXACT_SECONDS = 60.0  # for the linear programs of an exact verdict; what is not proved by then is not claimed


class Hyperplane(Decision):
    """What every linear classifier with ``coef_`` and ``intercept_`` does after fit."""

    _renamed: ClassVar = {"intercept": ("fit_intercept", {"free": True, "lifted": "lifted", None: False})}

    @property
    def free_intercept(self) -> bool:
        """Whether there is an intercept that is not part of the norm."""
        return not isinstance(self.fit_intercept, str) and bool(self.fit_intercept)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel = getattr(self, "kernel", None)
        precomputed = isinstance(kernel, str) and kernel == "precomputed"
        tags.input_tags.pairwise = precomputed or isinstance(kernel, Precomputed)
        return tags

    def decision_function(self, X: Any) -> Floats:
        """Signed scores: of the last class for two classes, of each class for more."""
        check_is_fitted(self)
        if inputs.is_collection(X):
            mapped: Floats = inputs.distributed().mapped(self, "decision_function", X)
            return mapped
        if getattr(self, "kernel_", None) is None:
            rows = read_rows(self, X, lift=True)
            return linear_scores(rows, np.column_stack([self.coef_, self.intercept_]))
        rows = read_rows(self, X, lift=False)
        _ = rows.squared_norms  # names a value that is not finite
        outputs = expansion(
            self.kernel_,
            rows.matrix,
            np.arange(rows.n_rows),
            self.support_vectors_,
            self.dual_coef_,
            self.intercept_,
        )
        return scores_of(outputs)

    def _store_weights(self, weights: Floats, rows: Rows, classes: NDArray[Any]) -> None:
        shown = np.atleast_2d(weights)
        self.classes_ = classes
        self.coef_ = shown[:, :-1].copy() if rows.lifted else shown.copy()
        self.intercept_ = shown[:, -1].copy() if rows.lifted else np.zeros(shown.shape[0])
        if self.free_intercept and shown.shape[0] > 1:
            self.intercept_ -= self.intercept_.mean()  # a common shift of all classes changes no score

    def _store_support(self, rows: Rows, members: Ints, rivals: Ints, multipliers: Floats) -> None:
        """Keep the rows that carry multipliers, signed so that dual_coef_ @ X[support_] is coef_."""
        self.support_, self.dual_coef_ = signed_coefficients(
            rows.labels, members, rivals, multipliers, rows.n_classes
        )


def check_parameters(estimator: Any, **choices: tuple[Any, ...]) -> None:
    """Refuse parameters of a classifier by a hyperplane that are none of some choices, or no good numbers."""
    given = estimator.get_params(deep=False)
    if "inseparable" in given:
        choices["inseparable"] = ON_INSEPARABLE
    for name, each in choices.items():
        inputs.need_choice(estimator, name, each)
    for name in ("C", "gap", "max_iter"):
        if name in given:
            inputs.need_positive(estimator, name, whole=name == "max_iter")


def kernel_of(estimator: Any, rows: Rows) -> Kernel | None:
    """The kernel of an estimator that may have one, with its parameters."""
    given = {name: getattr(estimator, name) for name in ("gamma", "degree", "coef0")}
    if estimator.kernel is None:
        asked = [name for name, value in given.items() if value is not None]
        if asked:
            raise InputError(
                f"{' and '.join(asked)} can be set only where there is a kernel; there is none.",
                remedy="Pass kernel='rbf' or kernel='poly', or leave them out.",
                parameter="kernel",
            )
        return None
    rows = inputs.need_memory(estimator, rows)
    _ = rows.squared_norms  # every value is finite
    counted = rows.matrix if rows.order.size == rows.n_rows else rows.matrix[rows.order]
    return tuned(estimator.kernel, counted, **given)


def soft_support(multipliers: Floats, rows: Rows) -> tuple[Ints, Ints, Floats]:
    """The positive multipliers as (row, rival, value)."""
    if multipliers.ndim == 1:
        members = np.flatnonzero(multipliers)
        return members, np.zeros_like(members), multipliers[members]
    against = against_rivals(multipliers, rows.labels)
    members, rivals = np.nonzero(against > 0.0)
    return members, rivals, against[members, rivals]


def exact_verdict(estimator: Any, X: Any, y: Any, sample_weight: Any, kernel: Any = None) -> Verdict:
    """Ask the exact question where floating point found no separator."""
    return separability(
        X,
        y,
        quasi=False,
        kernel=kernel,
        fit_intercept=estimator.fit_intercept,
        sample_weight=sample_weight,
        time_limit=EXACT_SECONDS,
    )


def no_margin(upper: float) -> str:
    """Say that no separator was found, and what is proved of margins."""
    return "no separator was found" + (f", and no margin is above {rounded(upper)}" if upper < np.inf else "")


def refuse(estimator: Any, verdict: Verdict, evidence: str) -> None:
    """Say that the classes cannot be separated, with the proof if there is one; or what else is known."""
    proof, claim = "", f"{verdict.claim[0].upper()}{verdict.claim[1:]}"
    if verdict.separable:
        message = f"{claim}, but floating point does not resolve the margin: {evidence}."
        if estimator.inseparable == "raise":
            known = verdict.certificate is not None
            raise InputError(
                message,
                remedy="Scale the columns, for example with StandardScaler"
                + (", or take the separator of sx.separability." if known else "."),
                parameter="X",
            )
    elif verdict.separable is None:
        message = f"Floating point did not separate the classes ({evidence}), and {verdict.claim}."
    else:
        message = f"{claim}: {verdict.n_witnesses} rows prove it."
        proof = "The proof is in .certificate. "
    if estimator.inseparable == "raise":
        name = type(estimator).__name__
        raise NotSeparable(
            message,
            verdict.certificate,
            remedy=f"{proof}Use SoftMargin for classes that cannot be separated, or "
            f"{name}(inseparable='warn') to fall back on it.",
            parameter="inseparable",
        )
    warnings.warn(f"{message} The soft margin with C=1 is used here.", ConvergenceWarning, stacklevel=3)
