"""A kernel from its blocks, as an object of the library."""

from __future__ import annotations

from functools import reduce
from operator import add, mul
from typing import Any

import msgspec
import numpy as np

from ... import kernels
from ..api import requests as asked
from ..api.limits import LIMITS
from ..api.requests import KernelBlock, RequestError

# A simple block has the parameters of the class.
SIMPLE: dict[type, type[kernels.Kernel]] = {
    asked.LinearBlock: kernels.Linear,
    asked.PolynomialBlock: kernels.Polynomial,
    asked.GaussianBlock: kernels.Gaussian,
    asked.GeometricBlock: kernels.Geometric,
}


def kernel_of(block: KernelBlock) -> kernels.Kernel:
    """Build the kernel; refuse one that is too large to compute with."""
    if count(block) > LIMITS.blocks or depth(block) > LIMITS.depth or degree(block) > LIMITS.degree:
        raise RequestError(
            "kernel_too_large",
            f"A kernel may have at most {LIMITS.blocks} blocks, {LIMITS.depth} levels of nesting and degree "
            f"{LIMITS.degree}.",
            blocks=LIMITS.blocks,
            depth=LIMITS.depth,
            degree=LIMITS.degree,
        )
    return _build(block)


def need_range(kernel: kernels.Kernel, rows: Any) -> None:
    """Refuse a kernel whose values on rows as long as these may overflow the pictures, which are float32."""
    radius = float(np.sqrt((np.asarray(rows) ** 2).sum(axis=1)).max(initial=0.0))
    if not kernel.ceiling(radius) <= LIMITS.kernel:
        raise RequestError(
            "kernel_range",
            f"The kernel grows above {LIMITS.kernel:g} on these points or on the picture around them. Scale "
            "the kernel or the columns down.",
            most=LIMITS.kernel,
        )


def _build(block: KernelBlock) -> kernels.Kernel:
    match block:
        case asked.SumBlock():
            return reduce(add, map(_build, block.parts))
        case asked.ProductBlock():
            return reduce(mul, map(_build, block.parts))
        case asked.ScaledBlock():
            return block.c * _build(block.part)
        case asked.ShiftedBlock():
            return _build(block.part) + block.c
        case asked.PowerBlock():
            return _build(block.part) ** block.exponent
        case asked.ExponentialBlock():
            return kernels.exp(_build(block.part))
        case _:
            return SIMPLE[type(block)](**msgspec.structs.asdict(block))


def count(block: KernelBlock) -> int:
    """Return the number of blocks."""
    return 1 + sum(map(count, _parts(block)))


def depth(block: KernelBlock) -> int:
    """Return the number of levels of nesting."""
    return 1 + max(map(depth, _parts(block)), default=0)


def degree(block: KernelBlock) -> int:
    """Return the largest number of inner products that are multiplied."""
    inside = [degree(part) for part in _parts(block)] or [getattr(block, "degree", 1)]
    if isinstance(block, asked.PowerBlock):
        return block.exponent * inside[0]
    return sum(inside) if isinstance(block, asked.ProductBlock) else max(inside)


def _parts(block: Any) -> tuple[KernelBlock, ...]:
    return (block.part,) if hasattr(block, "part") else getattr(block, "parts", ())
