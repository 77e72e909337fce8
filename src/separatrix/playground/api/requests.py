"""What the page may ask: the types that every request is read as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from . import limits
from .codec import Range, Size

Name: TypeAlias = Annotated[str, Size(limits.NAME)]
Coordinate: TypeAlias = Annotated[float, Range(-limits.COORDINATE, limits.COORDINATE)]
Row: TypeAlias = Annotated[tuple[Coordinate, ...], Size(limits.COLUMNS, 1)]
Degree: TypeAlias = Annotated[int, Range(1, limits.DEGREE)]
Positive: TypeAlias = Annotated[float, Range(1e-9, 1e9)]


@dataclass(frozen=True)
class PointData:
    """Points: their coordinates, and which class each is of."""

    columns: Annotated[tuple[Name, ...], Size(limits.COLUMNS, 1)]
    classes: Annotated[tuple[Name, ...], Size(limits.CLASSES, 2)]
    rows: Annotated[tuple[Row, ...], Size(limits.POINTS)]
    labels: Annotated[tuple[Annotated[int, Range(0, limits.CLASSES - 1)], ...], Size(limits.POINTS)]


@dataclass(frozen=True)
class LinearBlock:
    """The inner product <x, x'>."""

    kind: Literal["linear"]


@dataclass(frozen=True)
class PolynomialBlock:
    """(c + <x, x'>)^degree."""

    kind: Literal["polynomial"]
    degree: Degree = 2
    c: Annotated[float, Range(0.0, 1e6)] = 1.0


@dataclass(frozen=True)
class GaussianBlock:
    """exp(-c |x - x'|^2)."""

    kind: Literal["gaussian"]
    c: Positive = 1.0


@dataclass(frozen=True)
class GeometricBlock:
    """1 + t + ... + t^degree with t = <x, x'>."""

    kind: Literal["geometric"]
    degree: Degree = 3


@dataclass(frozen=True)
class JoinedBlock:
    """The sum or the product of kernels."""

    kind: Literal["sum", "product"]
    parts: Annotated[tuple[KernelBlock, ...], Size(limits.BLOCKS, 1)]


@dataclass(frozen=True)
class ScaledBlock:
    """c times a kernel."""

    kind: Literal["scaled"]
    part: KernelBlock
    c: Positive = 2.0


@dataclass(frozen=True)
class ShiftedBlock:
    """A kernel plus a constant."""

    kind: Literal["shifted"]
    part: KernelBlock
    c: Annotated[float, Range(0.0, 1e6)] = 1.0


@dataclass(frozen=True)
class PowerBlock:
    """A kernel multiplied by itself."""

    kind: Literal["power"]
    part: KernelBlock
    exponent: Degree = 2


@dataclass(frozen=True)
class ExponentialBlock:
    """exp of a kernel."""

    kind: Literal["exp"]
    part: KernelBlock


KernelBlock: TypeAlias = (
    LinearBlock
    | PolynomialBlock
    | GaussianBlock
    | GeometricBlock
    | JoinedBlock
    | ScaledBlock
    | ShiftedBlock
    | PowerBlock
    | ExponentialBlock
)


@dataclass(frozen=True)
class Settings:
    """How to learn."""

    method: Literal["perceptron", "kernel", "max_margin", "soft_margin", "linear_program"] = "perceptron"
    order: Literal["cyclic", "shuffled", "worst", "working_set"] = "cyclic"
    start: Literal["zeros", "random"] = "zeros"
    rate: Positive = 1.0
    lift: bool = True
    renormalise: bool = False
    average: Literal["last", "averaged", "voted"] = "last"
    passes: Annotated[int, Range(1, limits.PASSES)] = 1_000
    updates: Annotated[int, Range(1, limits.UPDATES)] = 2_000
    seed: Annotated[int, Range(0, 2**31 - 1)] = 0
    kernel: KernelBlock = GaussianBlock("gaussian")
    budget: Annotated[int, Range(2, 500)] | None = None
    removal: Literal["forgetron", "random", "projection"] = "forgetron"
    intercept: Literal["free", "lifted"] = "free"
    C: Positive = 1.0
    form: Literal["primal", "dual"] = "primal"


@dataclass(frozen=True)
class Rectangle:
    """The rectangle that the page shows."""

    left: Coordinate
    right: Coordinate
    bottom: Coordinate
    top: Coordinate


@dataclass(frozen=True)
class RunRequest:
    """Learn from the points, and say every step; live, while a point is moved, only what is drawn then."""

    data: PointData
    settings: Settings
    box: Rectangle | None = None
    live: bool = False


@dataclass(frozen=True)
class VerdictRequest:
    """Ask whether the classes can be separated, with the proof."""

    data: PointData
    settings: Settings


@dataclass(frozen=True)
class VerifyRequest:
    """Check a certificate against the points."""

    data: PointData
    certificate: dict[str, Any]


@dataclass(frozen=True)
class LiftRequest:
    """The radial lift of the points, and whether a plane separates them there."""

    data: PointData


@dataclass(frozen=True)
class FilmRequest:
    """The run as an animated GIF."""

    data: PointData
    settings: Settings
    theme: Literal["light", "dark"] = "light"
    frames: Annotated[int, Range(2, limits.FRAMES)] = 40
    fps: Annotated[float, Range(0.2, 30.0)] = 4.0


@dataclass(frozen=True)
class TableRequest:
    """Read a pasted table: which columns there are, and what is in them."""

    text: Annotated[str, Size(3_000_000, 1)]


@dataclass(frozen=True)
class PresetRequest:
    """A prepared set of points, with the settings that show its point."""

    name: Annotated[str, Size(limits.NAME)]


ASKED: dict[str, type] = {
    "run": RunRequest,
    "verdict": VerdictRequest,
    "verify": VerifyRequest,
    "film": FilmRequest,
    "lift": LiftRequest,
    "table": TableRequest,
    "preset": PresetRequest,
}
