"""How this thread computes in floating point: what is exact by IEEE 754 has to be exact here."""

from __future__ import annotations

from .errors import CertificateError

SMALLEST_NORMAL = 2.0**-1022
ONE = 1.0
HALF_UNIT = 2.0**-53  # half of the distance from one to the next float


def need_exact_floats() -> None:
    """Refuse to work where subnormal numbers count as zero, or where rounding is not to nearest.

    Both belong to the thread, and other libraries change them. Whatever is read, proved or checked exactly
    begins with this call, as does every task on a block of a matrix (`rows.blocks.perform`).
    """
    if not SMALLEST_NORMAL * 0.5 > 0.0:
        raise CertificateError(
            "This thread counts subnormal numbers (below 2**-1022) as zero, so no float can be taken at its "
            "exact value.",
            remedy="Turn that off where another library turned it on, or ask in a process without it.",
        )
    if not ONE + HALF_UNIT == ONE < ONE + 1.5 * HALF_UNIT:
        raise CertificateError(
            "This thread does not round floats to the nearest one, which the bounds of rounding errors need.",
            remedy="Set the rounding mode back where another library changed it, or ask in another process.",
        )
