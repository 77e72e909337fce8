"""Checkpoints of online runs: files with a format and a lock of their own."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..atomic import clear_partial, lock_file, write_bytes
from ..errors import InputError, OutputError

FORMAT = "separatrix checkpoint 1"

State = dict[str, NDArray[Any]]


def save(path: Path, facts: dict[str, Any], state: State) -> None:
    """Write facts (plain JSON) and arrays together, as an npz file without pickles."""
    text = json.dumps({"format": FORMAT, **facts}, sort_keys=True)
    members: dict[str, Any] = {"facts": np.frombuffer(text.encode(), dtype=np.uint8), **state}
    members["sha256"] = np.frombuffer(_digest(members), dtype=np.uint8)
    buffer = io.BytesIO()
    # All arrays hold numbers. Before NumPy 2.1, `allow_pickle=False` would be one more array in the file.
    np.savez(buffer, **members)
    write_bytes(path, buffer.getvalue())


def load(path: Path) -> tuple[dict[str, Any], State] | None:
    """Return the checkpoint, or None if the file does not exist."""
    if not path.exists():
        return None
    try:
        return _read(path)
    except (zipfile.BadZipFile, ValueError, KeyError, OSError, EOFError) as problem:
        raise InputError(
            f"{os.fspath(path)!r} is damaged, or is not a checkpoint of this library. Name another file, or "
            "remove it to start again."
        ) from problem


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a checkpoint against other processes; the system unlocks it when this process ends."""
    lock = path.with_name(f".{path.name}.lock")
    try:
        handle = _lock(lock)
    except OSError as error:
        raise OutputError(
            f"{os.fspath(path)!r} cannot be used for checkpoints: {error.strerror}. Name a file in a "
            "directory that exists and can be written."
        ) from error
    if handle is None:
        raise InputError(
            f"Another process is learning into {os.fspath(path)!r}. Wait for it, or name another checkpoint."
        )
    try:
        clear_partial(path)
        yield
    finally:
        with contextlib.suppress(OSError):
            lock.unlink()
        os.close(handle)


def _lock(lock: Path) -> int | None:
    """Return a handle that holds the lock; None if another process holds it."""
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        if not _try(handle):
            os.close(handle)
            return None
        # The last holder may have removed the file between opening and locking.
        with contextlib.suppress(FileNotFoundError):
            if os.name == "nt" or os.fstat(handle).st_ino == os.stat(lock).st_ino:
                return handle
        os.close(handle)


def _try(handle: int) -> bool:
    if os.name == "posix":
        return lock_file(handle)
    windows: Any = import_module("msvcrt")
    try:
        windows.locking(handle, windows.LK_NBLCK, 1)
    except OSError:
        return False
    return True


def _digest(members: State) -> bytes:
    digest = hashlib.sha256()
    for name in sorted(members):
        array = np.ascontiguousarray(members[name])
        digest.update(f"{name} {array.dtype.str} {array.shape};".encode())
        digest.update(array.data)
    return digest.digest()


def _read(path: Path) -> tuple[dict[str, Any], State]:
    with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
        members = {name: file[name] for name in file.files}
    expected = members.pop("sha256").tobytes()
    if _digest(members) != expected:
        raise ValueError("the checksum does not match")
    facts = json.loads(members.pop("facts").tobytes())
    if facts.pop("format") != FORMAT:
        raise ValueError("another format")
    return facts, members
