"""Which files a path, a pattern or a folder means."""

from __future__ import annotations

import difflib
import glob
import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...errors import InputError
from ..encoding import shown

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_SHARD = re.compile(r"(?P<split>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.parquet")
# What does not tell one part of a table from another: the number of a part, as Dask and Spark write it, and
# what Spark writes after it.
_PART = re.compile(r"(?P<split>part|)[-.]?\d+(-[0-9a-f-]{36}.*)?(\.[a-z0-9]+)?\.parquet")


def find_files(said: str) -> tuple[str, ...]:
    """The files that a path, a pattern or a folder of Parquet files means; one may be a pipe.

    Raises
    ------
    InputError
        For addresses, what is not there, and folders that are not one table.
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
        raise InputError(f"{said!r} is a link to {os.readlink(said)!r}, which is not there.")
    if glob.has_magic(said):
        found = sorted(
            (each for each in glob.glob(said, recursive=True) if os.path.isfile(each)), key=_in_turn
        )
        if not found:
            raise InputError(f"No file matches {said!r}.")
        _refuse_partitions(said, said, [Path(each).parts[:-1] for each in found])
        return tuple(found)
    raise InputError(f"There is no file {said!r}.{_nearest_file(said)}")


def _nearest_file(said: str) -> str:
    parent = os.path.dirname(said) or "."
    if not os.path.isdir(parent):
        return f" Nor is there a directory {parent!r}."
    near = difflib.get_close_matches(os.path.basename(said), os.listdir(parent), n=1, cutoff=0.6)
    return f" Did you mean {os.path.join(os.path.dirname(said), near[0])!r}?" if near else ""


def _folder(said: str) -> tuple[str, ...]:
    """The Parquet files of a folder that holds one table, as Hugging Face, Spark and others write it."""
    under = Path(said)
    found = (each for each in under.rglob("*.parquet") if each.is_file() and not _hidden(each, under))
    files = sorted(found, key=lambda each: _in_turn(str(each)))
    if not files:
        raise InputError(
            f"{said!r} is a directory without Parquet files. Name a file, or a pattern like '{said}/*.csv'."
        )
    folders = [each.relative_to(under).parts[:-1] for each in files]
    _refuse_partitions(said, os.path.join(said, "**/*.parquet"), [(), *folders])
    splits: dict[str, list[Path]] = defaultdict(list)
    for each in files:
        splits[_pattern(each)].append(each)
    if len(splits) > 1:
        choices = shown([f"'{pattern}'" for pattern in splits], 6)
        raise InputError(f"{said!r} holds {len(splits)} tables. Name one by its pattern: {choices}.")
    _need_all_shards(said, files)
    return tuple(map(str, files))


def _refuse_partitions(said: str, pattern: str, folders: Sequence[tuple[str, ...]]) -> None:
    """Raise where files are in different folders such as ``year=2020``: a column would be lost."""
    keys = [{part for part in parts if "=" in part} for parts in folders]
    some = next((part for each in keys for part in sorted(each - keys[0])), None)
    if some is None:
        return
    endings = {"csv": "csv", "tsv": "csv", "json": "json", "jsonl": "json", "ndjson": "json"}
    function = endings.get(pattern.rpartition(".")[2].lower(), "parquet")
    quoted = pattern.replace("'", "''")
    raise InputError(
        f"{said!r} is partitioned: the folder {some!r} holds a column's value. A query reads it: FROM "
        f"read_{function}('{quoted}', hive_partitioning = true).",
        remedy="Pass it as 'sql', and no source.",
        parameter="query",
    )


def _in_turn(path: str) -> list[tuple[str, int, str]]:
    """What names are sorted by: the number 10 comes after 9.

    Examples
    --------
    >>> sorted(["part.10.parquet", "part.9.parquet", "part.parquet"], key=_in_turn)
    ['part.9.parquet', 'part.10.parquet', 'part.parquet']
    """
    words = re.findall(r"(\D*)(\d*)", path)
    return [(text, int(number or 0), number) for text, number in words]


def _hidden(path: Path, under: Path) -> bool:
    """Whether a file is one that tools put beside the data."""
    return any(part.startswith((".", "_")) for part in path.relative_to(under).parts)


def _pattern(path: Path) -> str:
    """The pattern that the files of the same table match."""
    shard = _SHARD.fullmatch(path.name)
    if shard is not None:
        return str(path.with_name(f"{shard['split']}-*-of-{shard['count']}.parquet"))
    part = _PART.fullmatch(path.name)
    return str(path) if part is None else str(path.with_name(f"{part['split']}*.parquet"))


def _need_all_shards(said: str, files: Iterable[Path]) -> None:
    """Raise where files tell how many of them there should be, and some are not there."""
    found = [shard for each in files if (shard := _SHARD.fullmatch(each.name)) is not None]
    there = {int(shard["number"]) for shard in found}
    lacking = sorted(set(range(int(found[0]["count"]))) - there) if found else []
    if lacking:
        raise InputError(
            f"{said!r} is not complete: of {int(found[0]['count'])} files, number {shown(lacking)} (counted "
            "from 0) is not there. Fetch the rest, or name the files by a pattern."
        )
