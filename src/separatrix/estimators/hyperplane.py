"""What linear and kernel classifiers share: scores, support, and the error if no separator is found."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import inputs
from ..dual.kernel_margin import KernelOptimum
from ..dual.kernel_rows import KernelRows, expansion
from ..dual.kernel_soft import KernelSoftOptimum
from ..errors import ConvergenceWarning, InputError, NotSeparable
from ..kernels import Gaussian, Kernel, check_gram, is_precomputed, tuned
from ..margins.brackets import against_rivals
from ..margins.pairs import signed_coefficients
from ..proofs.verdict import Verdict, separability
from ..result import Floats, Ints, rounded
from ..rows.memory import MemoryRows
from ..rows.protocol import Rows
from .decision import Decision, linear_scores, read_rows, scores_of

ON_INSEPARABLE = ("raise", "warn")
EXACT_SECONDS = 60.0  # for the linear programs of an exact verdict; what is not proved by then is not claimed


class Hyperplane(Decision):
    """A classifier with ``coef_`` and ``intercept_``, or with ``dual_coef_`` if it has a kernel."""

    _renamed: ClassVar = {"intercept": ("fit_intercept", {"free": True, "lifted": "lifted", None: False})}

    @property
    def free_intercept(self) -> bool:
        """Whether there is an intercept that is not part of the norm."""
        return not isinstance(self.fit_intercept, str) and bool(self.fit_intercept)

    def _scores(self, X: Any) -> Floats:
        if getattr(self, "kernel_", None) is None:
            rows = read_rows(self, X, lift=True)
            return linear_scores(rows, np.column_stack([self.coef_, self.intercept_]))
        rows = read_rows(self, X, lift=False)
        _ = rows.squared_norms  # names a value that is not finite
        expanded = self.support_vectors_, self.dual_coef_, self.intercept_
        return scores_of(expansion(self.kernel_, rows.matrix, *expanded))

    def _store_weights(self, weights: Floats, rows: Rows, classes: NDArray[Any]) -> None:
        shown = np.atleast_2d(weights)
        self.classes_ = classes
        self.coef_ = shown[:, :-1].copy() if rows.lifted else shown.copy()
        self.intercept_ = self._centered(shown[:, -1] if rows.lifted else np.zeros(shown.shape[0]))

    def _store_support(self, rows: Rows, members: Ints, rivals: Ints, multipliers: Floats) -> None:
        """Store the rows that have multipliers, signed so that ``dual_coef_ @ X[support_]`` is ``coef_``."""
        self.support_, self.dual_coef_ = signed_coefficients(
            rows.labels, members, rivals, multipliers, rows.n_classes
        )

    def _kernel_rows(self, rows: MemoryRows) -> KernelRows:
        """Return the rows in the feature space of the kernel."""
        matrix = check_gram(rows.matrix) if is_precomputed(self.kernel_) else rows.matrix
        return KernelRows(
            self.kernel_, matrix, rows.labels, rows.n_classes, rows.order, rows.lifted, self.free_intercept
        )

    def _store_expansion(
        self, found: KernelOptimum | KernelSoftOptimum, mapped: KernelRows, classes: NDArray[Any]
    ) -> None:
        """Store the weights as a sum of kernel rows."""
        self.classes_, self.support_, self.dual_coef_ = classes, found.rows, found.coefficients
        self.intercept_ = self._centered(found.intercept)
        self.support_vectors_ = self.kernel_.anchors(mapped.X, found.rows)

    def _centered(self, intercept: Floats) -> Floats:
        """Copy the intercepts; free ones of several classes get the mean zero, which changes no label."""
        return intercept - (intercept.mean() if self.free_intercept and len(intercept) > 1 else 0.0)


def kernel_of(estimator: Any, rows: Rows) -> Kernel | None:
    """Return the kernel of an estimator, with its parameters; None if it has no kernel."""
    given = {name: getattr(estimator, name) for name in ("gamma", "degree", "coef0")}
    if estimator.kernel is None:
        asked = [name for name, value in given.items() if value is not None]
        if asked:
            raise InputError(
                f"{' and '.join(asked)} can be set only if there is a kernel, and kernel is None.",
                remedy="Pass kernel='rbf' or kernel='poly', or leave them out.",
                parameter="kernel",
            )
        return None
    rows = inputs.need_memory(estimator, rows)
    _ = rows.squared_norms  # every value is finite
    if given["gamma"] is None and isinstance(estimator.kernel, str) and estimator.kernel in Gaussian.names:
        given["gamma"] = "scale"
    counted = rows.matrix if rows.order.size == rows.n_rows else rows.matrix[rows.order]
    return tuned(estimator.kernel, counted, **given)


def soft_support(multipliers: Floats, rows: Rows) -> tuple[Ints, Ints, Floats]:
    """Return the positive multipliers as (row, rival, value)."""
    if multipliers.ndim == 1:
        members = np.flatnonzero(multipliers)
        return members, np.zeros_like(members), multipliers[members]
    against = against_rivals(multipliers, rows.labels)
    members, rivals = np.nonzero(against > 0.0)
    return members, rivals, against[members, rivals]


def exact_verdict(estimator: Any, X: Any, y: Any, sample_weight: Any, kernel: Any = None) -> Verdict:
    """Ask for an exact verdict, because floating point found no separator."""
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
    """Return a clause: no separator was found, and what is proved about margins."""
    return "no separator was found" + (f", and no margin is above {rounded(upper)}" if upper < np.inf else "")


def refuse(estimator: Any, verdict: Verdict, evidence: str) -> None:
    """Raise an error that no separator was found, with the proof if there is one; or warn about it."""
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
