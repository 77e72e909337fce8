"""Tables that only a reader of their own understands: copied into a Parquet file, a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...errors import InputError, needs
from ..encoding import need_distinct
from ..row_places import Lines
from ..source.detect import Request, Source
from ..source.unnamed_files import Spool
from ..sql.query import Query
from .parquet import ask_parquet, find_columns


def open_copy(
    source: Source,
    request: Request,
    schema: Any,
    batches: Iterable[Any],
    *,
    notes: tuple[str, ...] = (),
    unnamed: tuple[str, ...] = (),
    typed: bool = False,
    lines: Lines | None = None,
) -> Query:
    """Write Arrow batches to a temporary Parquet file, and read that as any other.

    Where the file does not say whether numbers are whole (``typed``), labels are where they all are. Columns
    that are ``unnamed`` were numbered for want of a name. ``lines`` finds the lines of rows in the file.
    """
    with needs("Reading tables", extra="cli"):
        import pyarrow.parquet as pq

    need_distinct(source.name, schema.names)
    spool = Spool()
    path = spool.new(".parquet")
    rows = 0
    with pq.ParquetWriter(path, schema, store_schema=False) as writer:
        for batch in batches:
            writer.write_batch(batch)
            rows += batch.num_rows
    if not rows:
        raise InputError(f"{source.name!r} has no rows. A table needs at least one for each class.")
    copy = replace(source, paths=(path,), compression="none", spool=(spool, source.spool))
    kinds = find_columns(copy) if request.sql is None else None
    query = ask_parquet(copy, request, kinds, notes=notes, unnamed=unnamed)
    known = lines if request.sql is None else None  # rows of a query's answer have no lines
    query = replace(query, database=replace(query.database, typed=typed, lines=known))
    return query if typed else replace(query, labels=None)


def filled(names: Iterable[str]) -> list[str]:
    """Names of columns, where those without one are numbered."""
    return [name.strip() or f"column{k}" for k, name in enumerate(names, start=1)]
