"""Rows that answer what the protocol lists and nothing else, as rows on a cluster will."""

from __future__ import annotations

from typing import Any

from separatrix.rows.memory import MemoryRows
from separatrix.rows.protocol import Rows

PROTOCOL = frozenset(name for name in vars(Rows) if not name.startswith("_"))


class Elsewhere:
    """Delegates the protocol to rows in memory; ``taken`` counts the rows that were copied."""

    def __init__(self, rows: MemoryRows) -> None:
        self._rows = rows
        self.taken = 0
        self.local = None

    def __getattr__(self, name: str) -> Any:
        if name not in PROTOCOL:
            raise AttributeError(f"{name} is not part of the protocol")
        return getattr(self._rows, name)

    def take(self, indices):
        self.taken += len(indices)
        return self._rows.take(indices)
