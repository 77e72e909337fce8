"""Find the files that a path, a pattern or a folder means."""

from __future__ import annotations

import difflib
import glob
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from ...errors import InputError
from ..encoding import shown

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
# What distinguishes the names of the parts of one table, as Dask, Spark and Hugging Face write them.
_NUMBERS = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+")


def find_files(said: str) -> tuple[str, ...]:
    """Return the files of a path, a pattern or a folder of Parquet files; one may be a pipe.

    Raises
    ------
    InputError
        If it is an address, if there are no files, or if a folder is not one table.
    """
    if _ADDRESS.match(said):
        raise InputError(
            f"{said!r} is an address; only files are read. Download it first, and name the file."
        )
    if os.path.isdir(said):
        return _folder(said)
    if os.path.exists(said):
        kind = os.stat(said).st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISFIFO(kind)):
            raise InputError(f"{said!r} is a device or a socket, not a file. For standard input, name '-'.")
        return (said,)
    if os.path.islink(said):
        raise InputError(f"{said!r} is a link to {os.readlink(said)!r}, which does not exist.")
    if glob.has_magic(said):
        found = sorted(filter(os.path.isfile, glob.glob(said, recursive=True)), key=_in_turn)
        if not found:
            raise InputError(f"No file matches {said!r}.")
        _refuse_partitions(said, said, [Path(each).parts[:-1] for each in found])
        return tuple(found)
    folder, name = os.path.split(said)
    there = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
    near = difflib.get_close_matches(name, there, n=1, cutoff=0.6)
    hint = f" Did you mean {os.path.join(folder, near[0])!r}?" if near else ""
    raise InputError(f"There is no file {said!r}.{hint}")


def _folder(said: str) -> tuple[str, ...]:
    """Return the Parquet files of a folder that holds one table, as Hugging Face and Spark write it."""
    under = Path(said)
    inside = {each: each.relative_to(under).parts for each in under.rglob("*.parquet") if each.is_file()}
    visible = (each for each, parts in inside.items() if not any(part[0] in "._" for part in parts))
    files = sorted(visible, key=lambda each: _in_turn(str(each)))
    if not files:
        raise InputError(
            f"{said!r} is a directory without Parquet files. Name a file, or a pattern like '{said}/*.csv'."
        )
    _refuse_partitions(said, os.path.join(said, "**/*.parquet"), [(), *(inside[each][:-1] for each in files)])
    splits = list(dict.fromkeys(str(each.with_name(_NUMBERS.sub("*", each.name))) for each in files))
    if len(splits) > 1:
        choices = shown([f"'{pattern}'" for pattern in splits], 6)
        raise InputError(f"{said!r} holds {len(splits)} tables. Name one by its pattern: {choices}.")
    count = re.search(r"-of-(\d+)\.parquet", files[0].name)
    if count is not None and len(files) < int(count[1]):
        raise InputError(
            f"{said!r} is not complete: it has {len(files)} of {int(count[1])} files. Fetch the rest, or "
            "name the files by a pattern."
        )
    return tuple(map(str, files))


def _refuse_partitions(said: str, pattern: str, folders: Sequence[tuple[str, ...]]) -> None:
    """Raise an error if files are in different folders like ``year=2020``: a column would be lost."""
    keys = [{part for part in parts if "=" in part} for parts in folders]
    some = next((part for each in keys for part in sorted(each - keys[0])), None)
    if some is None:
        return
    quoted = pattern.replace("'", "''")
    raise InputError(
        f"{said!r} is partitioned: the folder {some!r} holds a column's value. A query reads it: FROM "
        f"'{quoted}'.",
        remedy="Pass it as 'sql', and no source.",
        parameter="query",
    )


def _in_turn(path: str) -> list[tuple[str, int, str]]:
    """Return a key by which to sort names: the number 10 comes after 9.

    Examples
    --------
    >>> sorted(["part.10.parquet", "part.9.parquet", "part.parquet"], key=_in_turn)
    ['part.9.parquet', 'part.10.parquet', 'part.parquet']
    """
    words = re.findall(r"(\D*)(\d*)", path)
    return [(text, int(number or 0), number) for text, number in words]
