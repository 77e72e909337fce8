"""Python's random numbers belong to the caller: what is imported here must not draw from them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def random_state_kept() -> Iterator[None]:
    """Import inside what draws random numbers when it is first loaded.

    Much of scikit-learn 1.9 imports rich, if that is installed, and each style of rich has a random number.
    """
    before = random.getstate()
    try:
        yield
    finally:
        random.setstate(before)
