"""The limits on one request, and on all of them together."""

from __future__ import annotations

from dataclasses import dataclass

POINTS = 5_000
COLUMNS = 32
CLASSES = 4
UPDATES = 20_000
PASSES = 5_000
DEGREE = 10
BLOCKS = 12  # of a kernel
DEPTH = 6  # levels of nested blocks
KERNEL = 1e30  # the largest K(x, x): sums of these must fit into float32, in which pictures are sent
NAME = 60  # characters of the name of a column or class
COORDINATE = 1e9
GRID = 64  # knots of the picture of a region, each way
FIELD = 600_000  # numbers of all such pictures in one answer
STATES = 1 << 22  # coefficients of a kernel, of all steps together, up to which every step is computed
VISITS = 50_000  # looks at a row that an answer lists one by one
VERDICT_SECONDS = 4.0  # for a verdict, which is part of a computation
FRAMES = 60  # of a film


@dataclass(frozen=True)
class Limits:
    """What a server allows."""

    body: int = 4_000_000  # bytes of a request
    seconds: float = 10.0  # for one computation; then its process is stopped
    film_seconds: float = 60.0  # for one film
    cold_seconds: float = 180.0  # for one computation while loops are compiled, once after installation
    # From the start or the last use of a connection until the head of a request has arrived; and from then
    # until the body has arrived.
    upload_seconds: float = 10.0
    workers: int = 2  # processes that compute
    pause: float = 1.0  # seconds before another process replaces one that could not start
    waiting: int = 64  # requests that may wait for one of them
    connections: int = 512  # one more closes the one that has waited longest without a request
    memory: int = 4_000_000_000  # bytes for a process that computes; 0 sets no limit
