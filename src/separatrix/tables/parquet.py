"""Plain Parquet files: numbers go from the pages straight into rows, without a table of columns in between.

Whatever is not plain (missing values, nested columns, rare types and encodings, damage) ends the reading, and
the caller lets Arrow read on from there. Arrow also reads what a file says of itself.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..loops import columns as loops
from .columns import Matrices

Rows = tuple[NDArray[np.float64], NDArray[Any] | None, bool]

MOST_HEADER, MOST_PAGE = 1 << 12, 1 << 28  # bytes; more is left to Arrow

# Numbers of the Parquet format: https://parquet.apache.org/docs/file-format/
DATA, INDEX, DICTIONARY, DATA_2 = range(4)  # types of pages
PLAIN, OLD_CODES, RUNS, NEW_CODES = 0, 2, 3, 8  # encodings
HEADER, OF_DATA, OF_DICTIONARY, OF_DATA_2 = 0, 5, 7, 8  # a page's header, and its parts for types of pages
CODECS = {"UNCOMPRESSED": "", "SNAPPY": "snappy", "GZIP": "gzip", "ZSTD": "zstd"}
KINDS = {
    "DOUBLE": loops.DOUBLE,
    "FLOAT": loops.FLOAT,
    "INT64": loops.LONG,
    "INT32": loops.INT,
}
FLOATS, WHOLES = ("double", "float"), ("int64", "int32", "int16", "int8", "uint16", "uint8")  # Arrow's names
LARGEST = 2.0**53  # a whole number of this size may have been a larger one


class Unusual(Exception):
    """Something that is left to Arrow."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """The pages of one column in one row group: of how many rows, where they are, and what is in them."""

    rows: int
    path: str
    start: int
    stop: int
    kind: int
    codec: str
    optional: bool


@dataclass(frozen=True, eq=False)
class Page:
    """So many values in an encoding, from ``start`` of some bytes on; ``after`` is where the next page is."""

    type: int
    after: int
    data: Any = None
    start: int = 0
    count: int = 0
    encoding: int = PLAIN


def rows_of(
    paths: Sequence[str], names: Sequence[str], matrices: Matrices, rows: int, start: int
) -> Generator[Rows, None, int | None]:
    """Yield up to ``rows`` rows at a time from row ``start`` on: the matrix, the labels, if all are good.

    If there is one name more than a matrix has columns, it is that of the labels, else these are None.
    Returns None when all rows were given, else how many.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    given, labelled = 0, len(names) > matrices.width
    with closing(_Reader()) as reader:
        try:
            groups: list[list[Chunk]] = []
            whole = set()
            for path in paths:
                with pq.ParquetFile(path) as facts:
                    groups += _groups(facts, path, names)
                    whole.add(str(facts.schema_arrow.field(names[-1]).type) in WHOLES)
            if labelled and len(whole) > 1:
                raise Unusual
            while groups and start >= groups[0][0].rows:
                start -= groups.pop(0)[0].rows
            left, table = sum(chunks[0].rows for chunks in groups), _Table(groups, len(names), reader)
            while left:
                # Rows before the first one wanted have to be read, too.
                matrix = matrices.new(min(rows, left, start or left))
                numbers = np.empty(len(matrix))
                good = table.fill(matrices, matrix, numbers)
                left -= len(matrix)
                if start:
                    start -= len(matrix)
                    continue
                labels = _whole(numbers) if labelled and whole == {True} else numbers
                given += len(matrix)
                yield matrix, labels if labelled else None, good
        except (Unusual, OSError, pa.ArrowException):
            return given
    return None


def _whole(labels: NDArray[np.float64]) -> NDArray[np.int64]:
    if not np.abs(labels).max() < LARGEST:
        raise Unusual
    return labels.astype(np.int64)


def _groups(facts: Any, path: str, names: Sequence[str]) -> Iterator[list[Chunk]]:
    """The wanted columns of each row group of a file that has rows."""
    schema, arrow = facts.schema, facts.schema_arrow
    if sys.byteorder != "little" or len(schema) != len(arrow):
        raise Unusual
    places = [arrow.get_field_index(name) for name in names]
    columns = [schema.column(place) for place in places]
    for name, place, column in zip(names, places, columns, strict=True):
        flat = column.path == name and column.max_repetition_level == 0 and column.max_definition_level <= 1
        known = str(arrow.field(place).type) in FLOATS + WHOLES and column.physical_type in KINDS
        if not (flat and known):
            raise Unusual
    for number in range(facts.metadata.num_row_groups):
        group = facts.metadata.row_group(number)
        chunks = []
        for place, column in zip(places, columns, strict=True):
            found = group.column(place)
            if found.file_path or found.compression not in CODECS:
                raise Unusual
            start = min(found.data_page_offset, found.dictionary_page_offset or found.data_page_offset)
            stop, optional = start + found.total_compressed_size, column.max_definition_level == 1
            kind, codec = KINDS[column.physical_type], CODECS[found.compression]
            chunks.append(Chunk(group.num_rows, path, start, stop, kind, codec, optional))
        if group.num_rows:
            yield chunks


class _Table:
    """Columns that are read side by side."""

    def __init__(self, groups: Sequence[list[Chunk]], width: int, reader: _Reader) -> None:
        self._state = np.zeros((width, loops.FIELDS), dtype=np.int64)
        self._columns = [
            _Column(iter([chunks[k] for chunks in groups]), self._state[k], reader) for k in range(width)
        ]

    def fill(self, matrices: Matrices, matrix: NDArray[np.float64], labels: NDArray[np.float64]) -> bool:
        """Fill a matrix and its labels; return whether all numbers are good."""
        done, good = 0, True
        while done < len(matrix):
            for k in np.flatnonzero(self._state[:, loops.LEFT] == 0).tolist():
                self._columns[k].next_page()
            done, fine, sound = matrices.fill(self._state, matrix, labels, done)
            if not sound:
                raise Unusual
            good &= fine
        return good


class _Column:
    """The pages of one column, one after the other; the loops see the present one in ``state``."""

    def __init__(self, chunks: Iterator[Chunk], state: NDArray[np.int64], reader: _Reader) -> None:
        self._chunks, self._state, self._reader = chunks, state, reader
        self._chunk: Chunk | None = None
        self._at, self._like, self._rows = 0, 0, 0
        self._words: NDArray[np.float64] = np.empty(0)
        self._page: Page | None = None

    def next_page(self) -> None:
        """Go to the next page that has values."""
        self._page = None
        while not self._state[loops.LEFT]:
            if self._chunk is None or self._at >= self._chunk.stop:
                self._chunk = next(self._chunks, None)
                if self._chunk is None or self._rows:
                    raise Unusual  # fewer values than rows
                self._at, self._rows, self._words = self._chunk.start, self._chunk.rows, np.empty(0)
            page = self._reader.page(self._chunk, self._at, self._like)
            self._at, self._like = page.after, page.after - self._at
            if page.type == DICTIONARY:
                self._words = np.empty(page.count)
                loops.convert(self._chunk.kind, page.data.address, self._words)
            elif page.type != INDEX:
                self._see(page, self._chunk.kind)
                self._rows -= page.count
                if self._rows < 0:
                    raise Unusual

    def _see(self, page: Page, kind: int) -> None:
        """Let the loops see the values of a page."""
        state, at, stop = self._state, page.data.address + page.start, page.data.address + len(page.data)
        if page.encoding != PLAIN:
            if at >= stop or not self._words.size:
                raise Unusual
            bits = page.data[page.start]
            if bits > 32:
                raise Unusual
            state[loops.BITS], state[loops.RUN] = bits, 0
            state[loops.WORDS], state[loops.SIZE] = self._words.ctypes.data, self._words.size
            kind, at = loops.CODES, at + 1
        state[loops.KIND], state[loops.AT], state[loops.END] = kind, at, stop
        state[loops.LEFT] = page.count
        self._page = page


class _Reader:
    """Reads pages of any column; one file is open at a time."""

    def __init__(self) -> None:
        self._path, self._file = "", io.FileIO(os.devnull)
        self._room = np.empty(1 << 20, dtype=np.uint8)
        self._facts = np.zeros((OF_DATA_2 + 2, OF_DATA_2 + 1), dtype=np.int64)

    def page(self, chunk: Chunk, at: int, like: int) -> Page:
        """The page at a place of a file; the one before it had about as many bytes as ``like``."""
        left = chunk.stop - at
        read = self._read(chunk, at, 0, min(left, max(like, MOST_HEADER)))
        address, facts = self._room.ctypes.data, self._facts
        facts[...] = -1
        size = loops.page_header(address, address + read, facts) - address
        kind, whole, packed = facts[HEADER, 1:4].tolist()
        if not (size > 0 and 0 <= whole <= MOST_PAGE and 0 <= packed <= left - size):
            raise Unusual
        self._read(chunk, at, read, size + packed)
        body, after = self._room[size : size + packed], at + size + packed
        if kind == DATA:
            return self._data(chunk, body, whole, after)
        if kind == DATA_2:
            return self._data_2(chunk, body, whole, after)
        if kind == DICTIONARY:
            _, count, encoding = facts[OF_DICTIONARY, :3].tolist()
            return _checked(chunk, Page(kind, after, _unpacked(chunk.codec, body, whole), 0, count, encoding))
        if kind != INDEX:
            raise Unusual
        return Page(kind, after)

    def _data(self, chunk: Chunk, body: NDArray[np.uint8], whole: int, after: int) -> Page:
        _, count, encoding, levels = self._facts[OF_DATA, :4].tolist()
        data, start = _unpacked(chunk.codec, body, whole), 0
        if chunk.optional:
            start = 4 + int.from_bytes(data[:4], "little")
            if levels != RUNS or not 4 <= start <= len(data):
                raise Unusual
            if not loops.all_there(data.address + 4, data.address + start, count):
                raise Unusual
        return _checked(chunk, Page(DATA, after, data, start, count, encoding))

    def _data_2(self, chunk: Chunk, body: NDArray[np.uint8], whole: int, after: int) -> Page:
        """Levels come first here, and are never compressed."""
        _, count, missing, _, encoding, levels, others, packed = self._facts[OF_DATA_2, :8].tolist()
        if missing or others > 0 or not 0 <= levels <= body.size:
            raise Unusual
        codec = chunk.codec if packed else ""
        data = _unpacked(codec, body[levels:], whole - levels)
        return _checked(chunk, Page(DATA_2, after, data, 0, count, encoding))

    def _read(self, chunk: Chunk, at: int, have: int, size: int) -> int:
        """Have so many bytes at a place in ``_room``, where some are there already."""
        if size > self._room.size:
            room = np.empty(size + size // 4, dtype=np.uint8)
            room[:have], self._room = self._room[:have], room
        if size > have:
            if chunk.path != self._path:
                self.close()
                self._path, self._file = chunk.path, io.FileIO(chunk.path)
            self._file.seek(at + have)
            if self._file.readinto(self._room[have:size].data) < size - have:
                raise Unusual
        return size

    def close(self) -> None:
        """Close the file that is open."""
        self._file.close()


def _unpacked(codec: str, body: NDArray[np.uint8], size: int) -> Any:
    import pyarrow as pa

    if not codec:
        return pa.py_buffer(body.tobytes())
    try:
        found = pa.Codec(codec).decompress(body, size)
    except (OSError, ValueError) as error:
        raise Unusual from error
    if len(found) != size:
        raise Unusual
    return found


def _checked(chunk: Chunk, page: Page) -> Page:
    """Refuse a page that has not as many bytes as it needs, or an encoding that is rarely used."""
    known = (PLAIN, OLD_CODES) if page.type == DICTIONARY else (PLAIN, OLD_CODES, NEW_CODES)
    if page.count < 0 or page.encoding not in known:
        raise Unusual
    counted = page.type == DICTIONARY or page.encoding == PLAIN
    if counted and page.count * loops.SIZES[chunk.kind] > len(page.data) - page.start:
        raise Unusual
    return page
