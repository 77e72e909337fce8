"""Hashes by which equal rows are found."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import by_type, loop, part
from .rows import is_dense

EMPTY = np.uint64((1 << 64) - 1)  # a slot of a table of numbers below 2^63
MIXER = np.uint64(0x9E3779B97F4A7C15)  # odd, of bits without a pattern: spreads numbers over a table


@by_type
def row_hash(rows: Any, i: Any, keys: Any, magnitude: Any) -> Any:
    """Return a hash of row i, read as unsigned bit patterns; zeros do not count, whatever their sign."""

    def dense(rows: Any, i: Any, keys: Any, magnitude: Any) -> Any:
        values = rows.values
        total = np.uint64(0)
        for j in range(values.shape[1]):
            bits = np.uint64(values[i, j])
            if bits & magnitude:
                total += (bits ^ (bits >> np.uint64(32))) * keys[j]
        return total

    def sparse(rows: Any, i: Any, keys: Any, magnitude: Any) -> Any:
        total = np.uint64(0)
        for p in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            bits = np.uint64(rows.data[p])
            if bits & magnitude:
                total += (bits ^ (bits >> np.uint64(32))) * keys[np.uint64(rows.indices[p])]
        return total

    return dense if is_dense(rows) else sparse


@loop
def hash_rows(rows: Any, start: int, stop: int, keys: Any, magnitude: Any, hashes: Any) -> None:
    """Fill ``hashes`` from ``start`` to ``stop`` so that equal rows have equal hashes."""
    for i in range(start, stop):
        hashes[i] = row_hash(rows, i, keys, magnitude)


@part
def slot_of(key: Any, bits: Any, table: Any, shift: Any) -> Any:
    """The slot of a table that has a number, but for its last ``bits``; or the empty one where it belongs."""
    wanted = key >> bits
    slot, last = (wanted * MIXER) >> shift, np.uint64(table.shape[0] - 1)
    while table[slot] != EMPTY and table[slot] >> bits != wanted:
        slot = (slot + np.uint64(1)) & last
    return slot


@loop
def distinct(keys: Any, table: Any, shift: Any, found: Any) -> int:
    """Copy numbers below 2^63, of equal ones the first; return how many.

    ``table`` has 2^(64 - shift) empty slots, more than there are numbers.
    """
    count = 0
    for k in range(keys.shape[0]):
        slot = slot_of(keys[k], np.uint64(0), table, shift)
        if table[slot] == EMPTY:
            table[slot] = keys[k]
            found[count] = keys[k]
            count += 1
    return count


@loop
def clashes(keys: Any, bits: Any, table: Any, shift: Any, found: Any) -> int:
    """Fill ``found`` with numbers that differ from an earlier one, but in their last ``bits`` only.

    Returns how many there are. The table is as for `distinct`.
    """
    count = 0
    for k in range(keys.shape[0]):
        slot = slot_of(keys[k], bits, table, shift)
        if table[slot] == EMPTY:
            table[slot] = keys[k]
        elif table[slot] != keys[k]:
            found[count] = keys[k]
            count += 1
    return count
