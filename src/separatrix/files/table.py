"""Open a file, database, query or stream as a table."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Any

from ..errors import InputError
from .arrow import explaining
from .csv import csv_files
from .formats import arff, arrays, duckdb_files, excel, libsvm, parquet, statistics_files
from .named_columns import Columns
from .named_reader import open_columns
from .reader import Table
from .request import EVERY, NAMED, Request
from .source.detect import find_source

# Every format that can be read. Text that no other format recognizes is CSV, the first one.
FORMATS = (
    csv_files.FORMAT,
    parquet.FORMAT,
    duckdb_files.JSON,
    duckdb_files.SQLITE,
    duckdb_files.DUCKDB,
    libsvm.FORMAT,
    arrays.NPY,
    arrays.NPZ,
    excel.FORMAT,
    parquet.ARROW,
    arff.FORMAT,
    *statistics_files.FORMATS,
    arrays.IDX,
)


def open_table(source: str | os.PathLike[str] | None, **options: Any) -> Table:
    """Open a file, a pattern of files, a database, the answer to a query, or standard input as a table.

    Numbers are used as they are. Text that holds numbers (decimal commas, thousands separators, a unit) is
    read as numbers if all cells of the column can be read in one way. Other text and booleans become one
    column of zeros and ones per level, named like ``light=sunny``. Columns that only count or name the rows
    are left out, unless ``features`` names them. The table's ``notes`` say all of this.

    Parameters
    ----------
    source : path, pattern, folder, "-" or None
        CSV or TSV, Parquet, JSON lines, a pattern of these, a folder of Parquet files, SQLite, DuckDB,
        LIBSVM, npy, npz, Excel, Arrow and Feather, ARFF, SAS, SPSS, Stata, IDX; each also as gzip, bz2, zstd,
        xz, or as the only file of a zip; or standard input. None if ``sql`` names its files itself.
    **options
        Which rows and columns are wanted, and how they are written; see `Request`.

    Raises
    ------
    InputError
        If something is wrong with the data; the message says where, and what to do.
    """
    request = Request(**options)
    if source is None:
        if request.sql is None:
            raise InputError(
                "There is nothing to read.",
                remedy="Name a file, or give a query with 'sql'.",
                parameter="source",
            )
        with explaining("The query"):
            columns = duckdb_files.ask("The query", duckdb_files.connect(), request.sql, queried=True)
            return open_columns(columns, request)
    found = find_source(source, FORMATS, text_encoding=request.text_encoding)
    for option in fields(request):
        name = option.name
        if name not in (*EVERY, *found.format.options) and getattr(request, name) != option.default:
            titles = " and ".join(each.title for each in FORMATS if name in each.options)
            what = "tables with named columns" if name in NAMED else f"{titles} files"
            raise InputError(
                f"{name!r} is for {what}; {found.name!r} is {found.format.kind}.", parameter=name
            )
    if not found.format.options and request.encoding is not None and request.encoding.width is None:
        raise InputError(f"{found.name!r} has numbered columns; the model was fitted on named ones.")
    with explaining(found.name):
        opened = found.format.open(found, request)
        table: Table = open_columns(opened, request) if isinstance(opened, Columns) else opened
    table.source = found
    table.kind = found.format.kind if request.sql is None else "query"
    return table
