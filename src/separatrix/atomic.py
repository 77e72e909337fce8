"""Files that are there in full or not at all: a temporary name, fsync, rename."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from .errors import OutputError

PARTIAL = ".partial"


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, previous: Path | None = None) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; when the block ends well, it takes the place of ``path``.

    Whatever happens, also a loss of power, ``path`` is the old file or the new one, whole. If the block
    fails, the temporary file is removed and the old one is untouched. A device or a pipe is written
    as it is.

    Parameters
    ----------
    path : path
    previous : path, optional
        Where the old file is kept.

    Raises
    ------
    OutputError
        The directory does not exist or cannot be written, or the disk is full.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise OutputError(f"{os.fspath(path)!r} is a directory. Name a file in it.")
        yield target
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}{PARTIAL}")
    try:
        # Claimed first, so that a directory that cannot be written is found before any work is done.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield temporary
        _sync(temporary)
        if previous is not None:
            with contextlib.suppress(FileNotFoundError):
                os.replace(target, previous)
        os.replace(temporary, target)
        _sync(target.parent)
    except OSError as error:
        raise _explained(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: str | os.PathLike[str], content: bytes, *, previous: Path | None = None) -> None:
    """Replace a file by these bytes, at once."""
    with replacing(path, previous=previous) as temporary:
        temporary.write_bytes(content)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Replace a file by this text, at once."""
    write_bytes(path, text.encode())


def clear_partial(path: str | os.PathLike[str]) -> None:
    """Remove what a killed process left while it wrote ``path``; nobody else may be writing it."""
    target = Path(os.path.realpath(path))
    for left in target.parent.glob(f".{target.name}.*{PARTIAL}"):
        left.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Have the system put a file, or a directory's names, on the disk."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _explained(path: str | os.PathLike[str], error: OSError) -> OutputError:
    """Say what to do about it."""
    name = os.fspath(path)
    if isinstance(error, OutputError):
        return error
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return OutputError(
            f"{name!r} could not be written: the disk (or a limit on file sizes) is full. What was there "
            "before is unchanged. Make room, or name a place on another disk."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return OutputError(
            f"{name!r} could not be written: no permission to write in its directory. Name another."
        )
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return OutputError(f"{name!r} could not be written: its directory does not exist. Make it first.")
    return OutputError(f"{name!r} could not be written: {error.strerror or error}.")
