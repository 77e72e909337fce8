"""Files that are there in full or not at all: a temporary name, fsync, rename."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from .errors import OutputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # there, a file that is open cannot be removed

PARTIAL = ".partial"


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, previous: Path | None = None) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; when the block ends well, it takes the place of ``path``.

    Whatever happens, also a loss of power, ``path`` is the old file or the new one, whole. If the block
    fails, the temporary file is removed and the old one is untouched. The new file has the old one's
    permissions. What killed processes left of earlier attempts is removed. A device or a pipe is written as
    it is.

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
    try:
        clear_partial(target)
        # Claimed first, so that a directory that cannot be written is found before any work is done.
        with _claimed(target) as temporary:
            yield temporary
            _sync(temporary)
            with contextlib.suppress(FileNotFoundError):
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
                if previous is not None:
                    os.replace(target, previous)
            os.replace(temporary, target)
            _sync(target.parent)
    except OSError as error:
        raise _explained(path, error) from error


@contextlib.contextmanager
def _claimed(target: Path) -> Iterator[Path]:
    """A new temporary file beside the target, locked for as long as this process works on it."""
    while True:
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}{PARTIAL}")
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        try:
            # Between the two calls another process may have taken it for a left one, and removed it.
            if _lock(handle) and os.fstat(handle).st_nlink:
                yield temporary
                return
        finally:
            with contextlib.suppress(OSError):  # what went wrong before is what has to be said
                temporary.unlink(missing_ok=True)
            os.close(handle)


def _lock(handle: int) -> bool:
    """Lock a file until it is closed, or its process ends; False if another process has it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def write_bytes(path: str | os.PathLike[str], content: bytes, *, previous: Path | None = None) -> None:
    """Replace a file by these bytes, at once."""
    with replacing(path, previous=previous) as temporary:
        temporary.write_bytes(content)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Replace a file by this text, at once."""
    write_bytes(path, text.encode())


def clear_partial(path: str | os.PathLike[str]) -> None:
    """Remove what killed processes left while they wrote ``path``; what a process is writing is locked."""
    target = Path(os.path.realpath(path))
    for left in target.parent.glob(f".{glob.escape(target.name)}.*{PARTIAL}"):
        with contextlib.suppress(OSError):  # it is not ours, or gone
            handle = os.open(left, os.O_RDWR)
            try:
                if _lock(handle):
                    left.unlink()
            finally:
                os.close(handle)


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
