"""Keep the state of Python's random numbers while a package is imported."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def random_state_kept() -> Iterator[None]:
    """Restore the state of Python's random numbers after an import that draws some.

    scikit-learn 1.9 imports rich, if that is installed, and each style of rich has a random number.
    """
    before = random.getstate()
    try:
        yield
    finally:
        random.setstate(before)
