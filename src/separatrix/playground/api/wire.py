"""How the server and the processes that compute speak: a head, then so many bytes."""

from __future__ import annotations

import struct

HEAD = struct.Struct(">BI")  # the number of the question and the bytes that follow; the status and the bytes
READY = b"ready"
QUESTIONS = ("run", "verdict", "verify", "table", "preset", "film", "lift")
DONE, REFUSED, BROKEN = 0, 1, 2
