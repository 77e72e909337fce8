"""Decimal text: what is called certain is what Python's ``float`` has, to the last bit."""

from __future__ import annotations

import random
from decimal import Context, Decimal

import numpy as np
import pytest

from separatrix.loops.text import POWERS, number


def read(cell):
    """The value of a cell, None where it is left to the caller."""
    value, end, hard = number(np.frombuffer(f"{cell}\n\n\n".encode(), dtype=np.uint8), 0, POWERS)
    assert end == len(cell)
    return None if hard else value


@pytest.mark.parametrize("digits", [range(1, 1000, 7), (2047, 2048, 2049, 2**53 - 1, 2**53 + 1, 2**64 - 1)])
def test_few_digits_with_any_exponent_are_read_as_python_reads_them(digits):
    cells = [f"{d}e{e}" for d in digits for e in range(-345, 310)]
    wrong = [cell for cell in cells if read(cell) not in (None, float(cell))]
    assert not wrong


def test_cells_halfway_between_two_floats_are_read_as_python_reads_them():
    rng, context = random.Random(0), Context(prec=19)
    for _ in range(20_000):
        low = rng.uniform(1.0, 10.0) * 10.0 ** rng.randrange(-300, 300)
        middle = (Decimal(low) + Decimal(float(np.nextafter(low, np.inf)))) / 2
        cell = str(context.plus(middle))
        assert read(cell) in (None, float(cell))


def test_only_long_or_extreme_numbers_are_left_to_the_caller():
    rng = random.Random(1)
    cells = [
        f"{rng.randrange(10**6)}.{rng.randrange(10**6)}e{rng.randrange(-250, 250)}" for _ in range(10_000)
    ]
    assert sum(read(cell) is None for cell in cells) == 0
