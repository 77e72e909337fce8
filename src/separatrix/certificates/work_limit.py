"""What the check of a certificate may take: seconds and bytes, asked for before they are spent.

Work that can be cut is cut into pieces, with a look at the clock between two of them. What cannot be cut, and
what has to be held at once, is estimated before it begins.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..errors import CertificateError

Pause = Callable[
    ..., None
]  # called without arguments, or with the seconds that what is next cannot be cut in

CHARACTERS = 1e7  # of a text that are read in a second, at least
OPERATIONS = 4e9  # of matrix products and inverses in a second, at least
AN_ENTRY = 400  # bytes that an entry of a list takes, in all forms in which it is held


def need_memory(needed: float, allowed: float) -> None:
    """Refuse what would take more bytes than are allowed."""
    if needed > allowed:
        raise CertificateError(
            f"To check this certificate takes about {_megabytes(needed)} of memory beside the data; "
            f"{_megabytes(allowed)} are allowed.",
            remedy="Allow more memory, if you know where it is from.",
            parameter="memory_limit",
        )


def need_for_text(text: str | bytes, pause: Pause, memory: float) -> None:
    """Refuse a text that cannot be read as JSON, and held, in the time and memory that there is."""
    pause(len(text) / CHARACTERS)
    if memory < math.inf:
        marks = [text.count(mark) if isinstance(text, str) else text.count(mark.encode()) for mark in ",[{"]
        need_memory(6 * len(text) + AN_ENTRY * sum(marks), memory)


def _megabytes(size: float) -> str:
    return f"{math.ceil(size / 1e6):,} MB" if size < math.inf else "any amount"
