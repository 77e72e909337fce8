"""Files that are there in full or not at all: a temporary name, fsync, rename."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from .errors import OutputError

# Where there are no such locks, on Windows, a file that is open cannot be removed.
fcntl: Any = import_module("fcntl") if os.name == "posix" else None

PARTIAL = ".partial"
WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; when the block ends well, it takes the place of ``path``.

    Whatever happens, also a loss of power, ``path`` is the old file or the new one, whole. If the block
    fails, the temporary file is removed and the old one is untouched. The new file has the old one's
    permissions, and a file that may not be written stays; a link stays one, and what it points to is
    replaced. What killed processes left of earlier attempts is removed. A device or a pipe is written as it
    is.

    Parameters
    ----------
    path : path

    Raises
    ------
    OutputError
        The directory does not exist or cannot be written, the file is read-only, or the disk is full.
    """
    with replacing_all([path]) as (temporary,):
        yield temporary


@contextlib.contextmanager
def replacing_all(paths: Sequence[str | os.PathLike[str]]) -> Iterator[list[Path]]:
    """Yield a temporary path for each of some files; when all are on the disk, they take their places.

    As `replacing`: if anything fails until then, all the old files are untouched.
    """
    outputs: list[_Output] = []
    with contextlib.ExitStack() as stack:
        # Claimed first, so that a directory that cannot be written is found before any work is done.
        for path in paths:
            with _explaining(path):
                outputs.append(_open(path, stack))
        with _explaining(*paths):
            yield [each.temporary for each in outputs]
        for each in outputs:
            with _explaining(each.path):
                each.sync()
        for each in outputs:
            with _explaining(each.path):
                each.settle()


@dataclass(frozen=True)
class _Output:
    """A file to be: its name as it was said, where it goes, and where it is written until then."""

    path: str | os.PathLike[str]
    target: Path
    temporary: Path

    def sync(self) -> None:
        """Put the new file on the disk, with the permissions of the old one."""
        if self.temporary == self.target:
            return
        _sync(self.temporary)
        with contextlib.suppress(FileNotFoundError):
            os.chmod(self.temporary, stat.S_IMODE(self.target.stat().st_mode))

    def settle(self) -> None:
        """Let the new file take its place."""
        if self.temporary == self.target:
            return
        os.replace(self.temporary, self.target)
        _sync(self.target.parent)


def _open(path: str | os.PathLike[str], stack: contextlib.ExitStack) -> _Output:
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise OutputError(f"{os.fspath(path)!r} is a directory. Name a file in it.")
    if target.exists() and not target.is_file():
        return _Output(path, target, target)
    if target.exists() and not (target.stat().st_mode & WRITABLE and os.access(target, os.W_OK)):
        raise OutputError(f"{os.fspath(path)!r} is read-only, and stays as it is. Name another file.")
    clear_partial(target)
    return _Output(path, target, stack.enter_context(_claimed(target)))


@contextlib.contextmanager
def _explaining(*paths: str | os.PathLike[str]) -> Iterator[None]:
    """Say what to do about an error of the system."""
    try:
        yield
    except OSError as error:
        raise _explained(" and ".join(repr(os.fspath(path)) for path in paths), error) from error


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


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Replace a file by these bytes, at once."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_all(contents: Mapping[str, bytes]) -> None:
    """Replace all of these files by these bytes; if one cannot be written, none is replaced."""
    with replacing_all(list(contents)) as temporaries:
        for temporary, content in zip(temporaries, contents.values(), strict=True):
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


def _explained(names: str, error: OSError) -> OSError:
    """The error with what to do about it."""
    if isinstance(error, OutputError | BrokenPipeError):
        return error
    code = _code(error)
    if code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return OutputError(
            f"{names} could not be written: the disk (or a limit on file sizes) is full. What was there "
            "before is unchanged. Make room, or name a place on another disk."
        )
    if code == errno.EROFS:
        return OutputError(f"{names} could not be written: the disk is read-only. Name a place on another.")
    if code in (errno.EACCES, errno.EPERM):
        return OutputError(
            f"{names} could not be written: no permission to write in its directory. Name another."
        )
    if code in (errno.ENOENT, errno.ENOTDIR):
        return OutputError(f"{names} could not be written: its directory does not exist. Make it first.")
    return OutputError(f"{names} could not be written: {error.strerror or error}.")


def _code(error: OSError) -> int | None:
    """The system's number of an error; Arrow's errors may have it in their words only."""
    if error.errno is not None:
        return error.errno
    found = re.search(r"\[errno (\d+)\]", str(error), re.IGNORECASE)
    return int(found[1]) if found else None
