"""Rows that are not in memory, as far as a solver can tell."""

from __future__ import annotations

from separatrix.rows.protocol import Rows

PROTOCOL = frozenset(name for name in vars(Rows) if not name.startswith("_"))


class Elsewhere:
    """Has what the protocol `Rows` lists, by asking rows in memory, and nothing else: no storage."""

    def __init__(self, rows):
        self._ask = lambda name: getattr(rows, name)

    def __getattr__(self, name):
        if name not in PROTOCOL:
            raise AttributeError(f"rows elsewhere have no {name}")
        return self._ask(name)
