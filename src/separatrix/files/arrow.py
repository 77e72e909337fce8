"""Arrow and DuckDB, imported at first use, because LIBSVM files and arrays are read without them.

Also: what Arrow lacks, and what the errors of these libraries mean.
"""

from __future__ import annotations

import lzma
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, SeparatrixError, needs


class WhenUsed:
    """A module of another package, imported when one of its names is first used."""

    def __init__(self, module: str, what: str = "Reading tables", extra: str = "cli") -> None:
        self._module, self._what, self._extra = module, what, extra

    def __getattr__(self, name: str) -> Any:
        with needs(self._what, extra=self._extra):
            return getattr(import_module(self._module), name)


pa: Any = WhenUsed("pyarrow")
pc: Any = WhenUsed("pyarrow.compute")
pq: Any = WhenUsed("pyarrow.parquet")
arrow_csv: Any = WhenUsed("pyarrow.csv")
duckdb: Any = WhenUsed("duckdb")

# What libraries raise if a file is damaged, encrypted, or not what it seems to be.
_LIBRARIES = {"pyarrow", "duckdb", "_duckdb", "sqlite3", "python_calamine", "pyreadstat", "zipfile", "zlib"}
_DAMAGE = (OSError, ValueError, OverflowError, MemoryError, EOFError, RuntimeError, lzma.LZMAError)
_THRIFT = ("TProtocolException", "don't know what type")
# Arrow types, by name, that NumPy reads in place.
_PLAIN = {
    **{f"{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
}


def as_numpy(column: Any) -> NDArray[Any]:
    """Return an Arrow column as a NumPy array, in which a missing number is NaN.

    Arrow's own `to_numpy` would import pandas.
    """
    name = str(column.type)
    if name == "bool":
        return as_numpy(column.cast("uint8")).astype(bool)
    if name not in _PLAIN:
        return np.array(column.to_pylist(), dtype=object)
    values: NDArray[Any] = np.frombuffer(column.buffers()[1], dtype=_PLAIN[name])
    values = values[column.offset : column.offset + len(column)]
    return np.where(as_numpy(column.is_null()), np.nan, values) if column.null_count else values


def to_rows(columns: Sequence[Any], start: int, stop: int) -> NDArray[np.float64]:
    """Return some rows of Arrow columns, or columns of float64, as a matrix; a null becomes NaN."""
    parts = [(c if isinstance(c, np.ndarray) else as_numpy(c))[start:stop] for c in columns]
    rows = np.empty((stop - start, len(parts)))
    return np.stack(parts, axis=1, out=rows, casting="unsafe") if parts else rows


def arrow_labels(column: Any) -> NDArray[Any]:
    """Return an Arrow column of labels without missing ones as int64, float64, or text."""
    found = as_numpy(column)
    if found.dtype == object:
        return found.astype(str)
    if found.dtype.kind == "f":
        return found.astype(np.float64, copy=False)
    small = found.dtype.kind in "iu" and found.dtype != np.uint64
    return found.astype(np.int64, copy=False) if small else found


def arrow_text(cells: Iterable[str]) -> Any:
    """Return cells as an Arrow column; `pyarrow.array` would import pandas."""
    found = [cell.encode() for cell in cells]
    offsets = np.cumsum([0, *map(len, found)], dtype=np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(found))]
    return pa.Array.from_buffers(pa.string(), len(found), buffers)


def kind_of(kind: Any) -> str:
    """Return what an Arrow type holds; see `Summary.kind`."""
    types = pa.types
    if types.is_dictionary(kind):
        return kind_of(kind.value_type)
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        return "text"
    if types.is_boolean(kind):
        return "boolean"
    if types.is_temporal(kind) and not types.is_duration(kind):
        return "date"
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return "number" if numeric or types.is_null(kind) else str(kind)


def plain(column: Any) -> Any:
    """Convert a column to a type that Arrow can compute with: no dictionaries, views or half floats."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return plain(column.dictionary_decode())
    if pa.types.is_large_string(kind) or str(kind) == "string_view":
        return column.cast("string")
    if pa.types.is_float16(kind):
        return pa.array(column.to_numpy(zero_copy_only=False).astype(np.float32), from_pandas=True)
    return column.cast("float64") if pa.types.is_null(kind) else column


def plain_type(kind: Any) -> Any:
    """Return the type that `plain` gives a column."""
    return plain(pa.nulls(0, kind)).type


def without(column: Any, cells: Any) -> Any:
    """Replace some cells of an Arrow column by null."""
    return pc.if_else(cells, pa.nulls(1, column.type)[0], column)


def release_arrow() -> None:
    """Return the memory that Arrow keeps for further batches to the system, if Arrow was used."""
    pa: Any = sys.modules.get("pyarrow")
    if pa is not None:
        pa.default_memory_pool().release_unused()


@contextmanager
def explaining(name: str) -> Iterator[None]:
    """Turn the errors of libraries that read files into errors that say what is wrong with a file."""
    try:
        yield
    except SeparatrixError:
        raise
    except Exception as error:
        # DuckDB before 1.5 raises errors without a type for damaged Parquet files.
        known = isinstance(error, _DAMAGE) or any(each in str(error) for each in _THRIFT)
        if known or type(error).__module__.partition(".")[0] in _LIBRARIES:
            raise explained(name, str(error) or type(error).__name__) from error
        raise


def explained(name: str, message: str) -> InputError:
    """Return the error for a message of such a library about a file."""
    message = re.sub(r"\n  file = .*", "", message, flags=re.DOTALL)  # how the file was to be read
    if any(word in message for word in ("unicode", "codec can't decode", "invalid UTF8")):
        return InputError(
            f"{name!r} cannot be read: it is not UTF-8 text.",
            remedy="Name its encoding, such as text_encoding='latin-1' or 'cp1252'.",
            parameter="text_encoding",
        )
    if "disabled by configuration" in message:
        return InputError(
            f"{name!r} cannot be read: the view or query reads other files than the database, which is not "
            "allowed. Name a table that holds its rows."
        )
    first = re.sub(r"^\w[\w ]* Error: ", "", message.strip().split("\n")[0])
    queried = re.match("(Binder|Catalog|Parser) Error", message) is not None
    return InputError(
        f"{name!r} {'cannot be queried' if queried else 'cannot be read, or is damaged'}: {first[:300]}"
    )
