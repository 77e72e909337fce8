"""The limits on one request, and on all of them together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RequestLimits:
    """The largest sizes in a request and in its answer; they are the same for all servers."""

    points: int = 5_000
    columns: int = 32
    classes: int = 4
    updates: int = 20_000
    passes: int = 5_000
    degree: int = 10
    blocks: int = 12  # of a kernel
    depth: int = 6  # levels of nested blocks
    kernel: float = 1e30  # the largest K(x, x): sums of these must fit into float32, the type of the pictures
    name: int = 60  # characters of the name of a column or class
    message: int = 300  # characters of an error message, which may quote the request
    coordinate: float = 1e9
    grid: int = 64  # points of the grid on which a region is computed, in each direction
    field: int = 600_000  # numbers of all such grids in one answer
    states: int = 1 << 22  # coefficients of a kernel, over all steps, up to which every step is computed
    visits: int = 50_000  # visits to rows that an answer lists one by one
    verdict_seconds: float = 4.0  # for a verdict, which is part of a computation


LIMITS = RequestLimits()


@dataclass(frozen=True)
class Limits:
    """What a server allows."""

    body: int = 4_000_000  # bytes of a request
    seconds: float = 10.0  # for one computation; then its process is stopped
    cold_seconds: float = 180.0  # for one computation while loops are compiled, once after installation
    # From the start or the last use of a connection until the head of a request has arrived; and from then
    # until the body has arrived.
    upload_seconds: float = 10.0
    workers: int = 2  # processes that compute
    pause: float = 1.0  # seconds before another process replaces one that could not start
    waiting: int = 64  # requests that may wait for one of them
    connections: int = 512  # one more closes the one that has waited longest without a request
    memory: int = 4_000_000_000  # bytes for a process that computes; 0 sets no limit
