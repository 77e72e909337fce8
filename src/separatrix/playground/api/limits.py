"""How much one request, and all of them together, may ask of the machine."""

from __future__ import annotations

from dataclasses import dataclass

POINTS = 5_000
COLUMNS = 32
CLASSES = 4
UPDATES = 20_000
PASSES = 5_000
DEGREE = 10
BLOCKS = 12  # of a kernel
DEPTH = 6  # of blocks inside blocks
KERNEL = 1e30  # the largest K(x, x): pictures are sent in float32, and sums of these must fit
NAME = 60  # characters of the name of a column or class
COORDINATE = 1e9
GRID = 64  # knots of a region's picture, each way
LIVE_GRID = 40  # the same while a point is moved
FIELD = 600_000  # numbers of such pictures in one answer
STATES = 1 << 22  # coefficients of a kernel, of all steps together, up to which every step is computed
VISITS = 50_000  # looks at a row that an answer lists one by one
FRAMES = 60  # of a film


@dataclass(frozen=True)
class Limits:
    """What a server allows.

    Attributes
    ----------
    body : int
        Bytes of a request.
    seconds : float
        For one computation; its process is ended then.
    film_seconds : float
        For one film.
    cold_seconds : float
        For one computation while loops are still being compiled, once after installing.
    upload_seconds : float
        Until the head of a request has arrived, after the connection was made or last used; and until the
        body has, after the head.
    workers : int
        Processes that compute.
    waiting : int
        Requests that may wait for one of them.
    connections : int
        At a time; with one more, the one that has waited longest without a request is closed.
    memory : int
        Bytes that a process which computes may have; 0 sets no limit.
    """

    body: int = 4_000_000
    seconds: float = 10.0
    film_seconds: float = 60.0
    cold_seconds: float = 180.0
    upload_seconds: float = 10.0
    workers: int = 2
    waiting: int = 64
    connections: int = 512
    memory: int = 4_000_000_000
