"""Checks that the current thread computes as IEEE 754 says: with subnormal numbers, rounded to nearest."""

from __future__ import annotations

from .errors import CertificateError

SMALLEST_NORMAL = 2.0**-1022
ONE = 1.0  # a variable, so that the sums below are computed when they are needed
HALF_UNIT = 2.0**-53  # half of the distance from one to the next float


def need_exact_floats() -> None:
    """Raise an error if this thread counts subnormal numbers as zero, or does not round to nearest.

    Both settings belong to the thread, and other libraries change them. Everything that reads, proves or
    checks exactly calls this function first, and so does every task on a block of a matrix
    (`rows.blocks.perform`).
    """
    if not SMALLEST_NORMAL * 0.5 > 0.0:
        raise CertificateError(
            "This thread counts subnormal numbers (below 2**-1022) as zero, so floats cannot be taken at "
            "their exact value.",
            remedy="Switch this off in the library that switched it on, or ask in another process.",
        )
    if not ONE + HALF_UNIT == ONE < ONE + 1.5 * HALF_UNIT:
        raise CertificateError(
            "This thread does not round floats to nearest, which the bounds of rounding errors require.",
            remedy="Reset the rounding mode that another library changed, or ask in another process.",
        )
