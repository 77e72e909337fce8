"""A kernel from its blocks, as the library builds it and as Python writes it."""

from __future__ import annotations

from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np

from ... import kernels
from ..api import limits
from ..api.codec import RequestError
from ..api.requests import (
    ExponentialBlock,
    GaussianBlock,
    GeometricBlock,
    JoinedBlock,
    KernelBlock,
    LinearBlock,
    PolynomialBlock,
    PowerBlock,
    ScaledBlock,
    ShiftedBlock,
)


def kernel_of(block: KernelBlock) -> kernels.Kernel:
    """Build the kernel; refuse what would be too large to compute with."""
    if count(block) > limits.BLOCKS or depth(block) > limits.DEPTH or degree(block) > limits.DEGREE:
        raise RequestError(
            "kernel_too_large",
            f"A kernel may have {limits.BLOCKS} blocks, {limits.DEPTH} inside each other, and degree "
            f"{limits.DEGREE} at most.",
            blocks=limits.BLOCKS,
            depth=limits.DEPTH,
            degree=limits.DEGREE,
        )
    return _build(block)


def need_range(kernel: kernels.Kernel, rows: Any) -> None:
    """Refuse a kernel whose values on rows as long as these may leave the range that is computed in."""
    radius = float(np.sqrt((np.asarray(rows) ** 2).sum(axis=1)).max(initial=0.0))
    if not kernel.ceiling(radius) <= limits.KERNEL:
        raise RequestError(
            "kernel_range",
            f"The kernel grows above {limits.KERNEL:g} on these points or on the picture around them, and "
            "cannot be computed with. Scale the kernel or the columns down.",
            most=limits.KERNEL,
        )


def source_of(block: KernelBlock) -> str:
    """The kernel as a Python expression; with ``import separatrix as sx`` it is `kernel_of`.

    Examples
    --------
    >>> square = PowerBlock("power", LinearBlock("linear"), 2)
    >>> source_of(JoinedBlock("sum", (square, GaussianBlock("gaussian", 0.5))))
    '((sx.kernels.Linear())**2 + sx.kernels.Gaussian(c=0.5))'
    """
    match block:
        case LinearBlock():
            return "sx.kernels.Linear()"
        case PolynomialBlock():
            return f"sx.kernels.Polynomial(degree={block.degree}, c={block.c!r})"
        case GaussianBlock():
            return f"sx.kernels.Gaussian(c={block.c!r})"
        case GeometricBlock():
            return f"sx.kernels.Geometric(degree={block.degree})"
        case JoinedBlock():
            sign = " + " if block.kind == "sum" else " * "
            joined = sign.join(map(source_of, block.parts))
            return f"({joined})" if len(block.parts) > 1 else joined
        case ScaledBlock():
            return f"({block.c!r} * {source_of(block.part)})"
        case ShiftedBlock():
            return f"({source_of(block.part)} + {block.c!r})"
        case PowerBlock():
            return f"({source_of(block.part)})**{block.exponent}"
        case ExponentialBlock():
            return f"sx.kernels.exp({source_of(block.part)})"


def count(block: KernelBlock) -> int:
    """How many blocks there are."""
    return 1 + sum(count(part) for part in _parts(block))


def depth(block: KernelBlock) -> int:
    """How many blocks lie inside each other."""
    return 1 + max((depth(part) for part in _parts(block)), default=0)


def degree(block: KernelBlock) -> int:
    """The largest number of factors that are multiplied."""
    match block:
        case PolynomialBlock() | GeometricBlock():
            return block.degree
        case PowerBlock():
            return block.exponent * degree(block.part)
        case JoinedBlock():
            inside = [degree(part) for part in block.parts]
            return max(inside) if block.kind == "sum" else sum(inside)
        case ScaledBlock() | ShiftedBlock() | ExponentialBlock():
            return degree(block.part)
        case _:
            return 1


def _parts(block: KernelBlock) -> tuple[KernelBlock, ...]:
    if isinstance(block, JoinedBlock):
        return block.parts
    wraps = ScaledBlock | ShiftedBlock | PowerBlock | ExponentialBlock
    return (block.part,) if isinstance(block, wraps) else ()


def _build(block: KernelBlock) -> kernels.Kernel:
    match block:
        case LinearBlock():
            return kernels.Linear()
        case PolynomialBlock():
            return kernels.Polynomial(degree=block.degree, c=block.c)
        case GaussianBlock():
            return kernels.Gaussian(c=block.c)
        case GeometricBlock():
            return kernels.Geometric(degree=block.degree)
        case JoinedBlock():
            return reduce(add if block.kind == "sum" else mul, map(_build, block.parts))
        case ScaledBlock():
            return block.c * _build(block.part)
        case PowerBlock():
            return _build(block.part) ** block.exponent
        case ShiftedBlock():
            return _build(block.part) + block.c
        case ExponentialBlock():
            return kernels.exp(_build(block.part))
