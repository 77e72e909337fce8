"""Questions in the feature space of a kernel; `verdict` is about hyperplanes in the space of the data.

They are answered by the kernel's monomials, by a theorem, or by the margin's bracket.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..certificates.claims import Separation
from ..certificates.monomials import count_columns
from ..errors import InputError, NumericOverflowError
from .prove import Judge, Proof, prove_conflict
from .signed_rows import SignedRows

if TYPE_CHECKING:  # kernels import scikit-learn, which takes longer than most verdicts without one
    from ..kernels import Kernel

MAP_COLUMNS = 5000  # the most columns of an explicit map that is used for a proof
MAP_NUMBERS = 1 << 25  # the most numbers of one


def read_kernel(given: Any, matrix: Any) -> Kernel:
    """Return the kernel. If it is given by its values, they must be those of a kernel on these rows."""
    from ..kernels import Precomputed, as_kernel, check_gram

    kernel = as_kernel(given)
    if isinstance(kernel, Precomputed):
        check_gram(matrix)
    return kernel


def exact_degrees(kernel: Kernel, shape: tuple[int, int]) -> tuple[int, ...] | None:
    """Return the degrees of monomials that span the feature space; None if there are too many, or no span."""
    degrees = kernel.degrees
    if degrees is None:
        return None
    proper = tuple(degree for degree in degrees if degree)
    if not proper:
        raise InputError(
            f"The kernel {kernel} has the same value for all pairs of rows, so it separates no classes."
        )
    count = count_columns(shape[1], proper)
    return proper if count <= MAP_COLUMNS and count * shape[0] <= MAP_NUMBERS else None


def prove_without_map(
    kernel: Kernel, signed: SignedRows, lift: bool, judge: Judge
) -> tuple[Proof, tuple[float, float], str]:
    """Answer without an explicit map: by identical rows, a theorem, or the margin's bracket."""
    proof = prove_conflict(signed, judge)
    if proof is not None:
        return proof, (-_length(kernel, signed.plain), 0.0), "identical rows have different labels"
    margin = kernel_bracket(kernel, signed, lift, Separation.UNDECIDED)
    if margin[0] > 0.0:
        unbounded = kernel.rounding(1, 1.0, 2.0**-53) is None
        taken = ", with its values taken as they come" if unbounded else ""
        reason = f"the margin in the feature space of {kernel} is positive{taken}"
        return Proof(Separation.SEPARABLE), margin, reason
    if kernel.strict_by:
        reason = f"Gram matrices of {kernel} on rows that differ are positive definite ({kernel.strict_by})"
        return Proof(Separation.SEPARABLE), (0.0, margin[1]), reason
    return Proof(Separation.UNDECIDED), margin, f"no bound decides it in the feature space of {kernel}"


def kernel_bracket(kernel: Kernel, signed: SignedRows, lift: bool, status: str) -> tuple[float, float]:
    """Return a bracket of the largest margin in the kernel's feature space, given the status so far."""
    from ..dual.kernel_margin import certified_bracket, solve_kernel_margin
    from ..dual.kernel_rows import KernelRows

    if status == Separation.QUASI_SEPARABLE:
        return 0.0, 0.0
    if status in (Separation.OVERLAPPING, Separation.INSEPARABLE):
        return -_length(kernel, signed.plain), 0.0
    if status == Separation.SEPARABLE and not np.isfinite(_length(kernel, signed.plain)):
        return 0.0, np.inf  # proved, though floats cannot hold the kernel's values
    present, codes = np.unique(signed.labels[signed.order], return_inverse=True)
    labels = np.zeros(signed.labels.size, dtype=np.int32)
    labels[signed.order] = codes
    rows = KernelRows(kernel, signed.plain, labels, present.size, signed.order, lift, free=False)
    found = solve_kernel_margin(rows, gap=1e-3, max_iter=2000, deadline=signed.deadline)
    lower, upper = certified_bracket(rows, found, deadline=signed.deadline)
    return (max(lower, 0.0), upper) if status == Separation.SEPARABLE else (lower, upper)


def _length(kernel: Kernel, matrix: Any) -> float:
    """Bound the norm of every signed row in feature space, lifted or not, of two classes or many."""
    try:
        square = float(kernel.diagonal(matrix).max(initial=0.0))
    except NumericOverflowError:
        return np.inf
    return float(np.sqrt(2.0 * (max(square, 0.0) + 1.0))) * (1.0 + 1e-9)
