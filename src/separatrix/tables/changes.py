"""Files that are changed while they are read: an answer would speak of data that never were."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..errors import InputError

Stamp = tuple[int, int, int, int] | None


def stamps(paths: Sequence[str]) -> tuple[Stamp, ...]:
    """What a change of each file changes: which file it is, its size, when it was last written to."""
    return tuple(_stamp(path) for path in paths)


def need_unchanged(paths: Sequence[str], before: Sequence[Stamp]) -> None:
    """Raise where a file is no longer the one it was.

    Raises
    ------
    InputError
        With the name of the file.
    """
    for path, stamp in zip(paths, before, strict=True):
        if _stamp(path) != stamp:
            raise InputError(
                f"{path!r} was changed while it was read, so what was read is of no one state of it. Wait "
                "until nobody writes to it, or make a copy and use that."
            )


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
