"""Write files completely or not at all: under a temporary name, with fsync, then renamed."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
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
    """Yield a temporary path beside ``path``, and rename it to ``path`` if the block ends without an error.

    Whatever happens, even a loss of power, ``path`` is the complete old file or the complete new one. If the
    block fails, the temporary file is removed and the old file is unchanged. The new file gets the old
    permissions. A read-only file is not replaced. A link stays a link, and its target is replaced. Temporary
    files of killed processes are removed. A device or a pipe is written directly.

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
    """Yield a temporary path for each of some files, and rename them when all are on the disk.

    See `replacing`. If anything fails before that, all old files are unchanged.
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
    """A file to be written: its name as given, its place, and where it is written before that."""

    path: str | os.PathLike[str]
    target: Path
    temporary: Path

    def sync(self) -> None:
        """Flush the new file to the disk, with the permissions of the old one."""
        if self.temporary == self.target:
            return
        _sync(self.temporary)
        with contextlib.suppress(FileNotFoundError):
            os.chmod(self.temporary, stat.S_IMODE(self.target.stat().st_mode))

    def settle(self) -> None:
        """Rename the new file to its place."""
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
    """Turn an error of the system into one that says what to do."""
    try:
        yield
    except OSError as error:
        raise _explained(" and ".join(repr(os.fspath(path)) for path in paths), error) from error


@contextlib.contextmanager
def _claimed(target: Path) -> Iterator[Path]:
    """Yield a new temporary file beside the target, locked as long as this process writes it."""
    while True:
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}{PARTIAL}")
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        try:
            # Between the two calls another process may have removed it as a file of a killed process.
            if lock_file(handle) and os.fstat(handle).st_nlink:
                yield temporary
                return
        finally:
            with contextlib.suppress(OSError):  # an earlier error is the one to report
                temporary.unlink(missing_ok=True)
            os.close(handle)


def lock_file(handle: int) -> bool:
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
    """Replace a file by these bytes."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_all(contents: Mapping[str, bytes]) -> None:
    """Replace all of these files by these bytes; if one cannot be written, none is replaced."""
    with replacing_all(list(contents)) as temporaries:
        for temporary, content in zip(temporaries, contents.values(), strict=True):
            temporary.write_bytes(content)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Replace a file by this text."""
    write_bytes(path, text.encode())


def made(folder: Path) -> Path:
    """Make a folder, and the folders that it is in, and return it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"The folder {str(folder)!r} cannot be made: {error.strerror}. Name another one."
        ) from error
    return folder


def clear_partial(path: str | os.PathLike[str]) -> None:
    """Remove the temporary files that killed processes left of ``path``; those in use are locked."""
    target = Path(os.path.realpath(path))
    for left in target.parent.glob(f".{glob.escape(target.name)}.*{PARTIAL}"):
        with contextlib.suppress(OSError):  # it belongs to another user, or is gone
            handle = os.open(left, os.O_RDWR)
            try:
                if lock_file(handle):
                    left.unlink()
            finally:
                os.close(handle)


def _sync(path: Path) -> None:
    """Flush a file, or the names in a directory, to the disk."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _explained(names: str, error: OSError) -> OSError:
    """Return the error with what to do about it."""
    if isinstance(error, OutputError | BrokenPipeError):
        return error
    absent = error.errno in (errno.ENOENT, errno.ENOTDIR)
    why = "its directory does not exist" if absent else error.strerror or error
    return OutputError(
        f"{names} could not be written: {why}. What was there before is unchanged. Name another place."
    )
