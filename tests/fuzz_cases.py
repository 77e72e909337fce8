"""Random numbers and damaged bytes for the fuzz targets, and how what was read is compared."""

from __future__ import annotations

import math
import random
import re
import struct
from fractions import Fraction

import numpy as np

PLAIN = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
WHOLE = re.compile(rb"[+-]?\d+")


def number(rng: random.Random) -> str:
    """A number as a person or a program might write it, and some that are hard to round."""
    kind = rng.randrange(10)
    if kind < 3:
        digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(1, rng.choice([3, 8, 19, 25]))))
        point = rng.randint(0, len(digits)) if rng.random() < 0.7 else len(digits)
        text = digits[:point] + ("." if point < len(digits) or rng.random() < 0.1 else "") + digits[point:]
    elif kind < 5:
        text = repr(abs(any_float(rng)))
    elif kind == 5:
        text = f"{abs(any_float(rng)):.{rng.randint(0, 20)}{rng.choice('eg')}}"
    elif kind == 6:
        text = str(rng.randrange(1000)) + f"e{rng.randint(-345, 310)}"
    elif kind == 7:
        text = between(rng)
    elif kind == 8:
        text = f"{rng.uniform(0, 10 ** rng.randint(-3, 6)):.{rng.randint(0, 9)}f}"
    else:
        text = (
            "0" * rng.randint(0, 25)
            + str(rng.randrange(2 ** rng.randint(1, 66)))
            + rng.choice(["", ".0", ".5"])
        )
    if "e" not in text and rng.random() < 0.2:
        text += f"{rng.choice('eE')}{rng.choice(['', '+', '-'])}{rng.randint(0, rng.choice([5, 30, 330]))}"
    return rng.choice(["", "", "", "-", "+"]) + text


def any_float(rng: random.Random) -> float:
    """A finite float, each bit pattern as likely as any other."""
    while True:
        found: float = struct.unpack("<d", rng.randbytes(8))[0]
        if math.isfinite(found):
            return found


def between(rng: random.Random) -> str:
    """The middle of two neighbouring floats, or a little beside it, in up to 40 digits."""
    low = abs(any_float(rng)) if rng.random() < 0.3 else rng.uniform(1, 10) * 10.0 ** rng.randint(-30, 30)
    high = math.nextafter(low, math.inf)
    if not math.isfinite(high):
        return "1.7976931348623158e308"
    middle = (Fraction(low) + Fraction(high)) / 2
    power = math.floor(math.log10(float(middle))) if float(middle) > 0.0 else -324
    places = rng.randint(15, 40)
    scaled = middle * Fraction(10) ** (places - power)
    return f"{int(scaled) + rng.choice([-1, 0, 0, 1])}e{power - places}"


def mutant(rng: random.Random, content: bytes, alphabet: bytes) -> bytes:
    """The same with a few bytes changed, put in, left out, or repeated."""
    made = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        at = rng.randrange(len(made) + 1)
        act = rng.randrange(4)
        byte = rng.choice(alphabet) if rng.random() < 0.9 else rng.randrange(256)
        if act == 0:
            made.insert(at, byte)
        elif act == 1 and at < len(made):
            made[at] = byte
        elif act == 2:
            del made[at : at + rng.choice([1, 1, 1, 4, 50])]
        else:
            end = at + rng.randint(1, 12)
            made[at:at] = made[at:end]
    return bytes(made)


def rounds(cell: bytes) -> bool:
    """Whether a cell is a whole number that is no float."""
    if not WHOLE.fullmatch(cell):
        return False
    value = float(cell)
    return math.isinf(value) or int(cell) != int(value)


def bits(values) -> list[int]:
    return np.ascontiguousarray(values, dtype=np.float64).view(np.int64).tolist()


def same(cells, found, expected, reader: str) -> None:
    wrong = [k for k, (a, b) in enumerate(zip(bits(found), bits(expected), strict=True)) if a != b]
    assert not wrong, (
        f"{reader} reads {cells[wrong[0]]!r} as {found[wrong[0]]!r}, float as {expected[wrong[0]]!r}"
    )
