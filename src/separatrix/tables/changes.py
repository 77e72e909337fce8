"""Files that are changed while they are read: an answer would speak of data that never were."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..errors import InputError

Stamp = tuple[int, int, int, int] | None


def stamps(paths: Sequence[str]) -> tuple[Stamp, ...]:
    """What a change of each file changes: which file it is, its size, when it was last written to."""
    found: list[Stamp] = []
    for path in paths:
        try:
            seen = os.stat(path)
            found.append((seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns))
        except OSError:
            found.append(None)
    return tuple(found)


def need_unchanged(paths: Sequence[str], before: Sequence[Stamp]) -> None:
    """Raise where a file is no longer the one it was.

    Raises
    ------
    InputError
        With the name of the file.
    """
    for path, stamp, now in zip(paths, before, stamps(paths), strict=True):
        if now != stamp:
            raise InputError(
                f"{path!r} was changed while it was read, so what was read is of no one state of it. Wait "
                "until nobody writes to it, or make a copy and use that."
            )
