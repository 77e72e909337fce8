"""The requests of the page: their types, and the strict reader of their JSON."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from .limits import LIMITS

T = TypeVar("T")


class RequestError(Exception):
    """A request that cannot be answered.

    Attributes
    ----------
    code : str
        A word for the problem; the page has a sentence for it in each language.
    message : str
        The sentence in English.
    values : dict
        The numbers and names in it.
    """

    def __init__(self, code: str, message: str, **values: Any) -> None:
        super().__init__(message)
        self.code, self.message, self.values = code, message, values


def read(kind: type[T], body: bytes) -> T:
    """Read JSON as the given type; refuse every field that is missing, unknown, of another type or too large.

    Examples
    --------
    >>> read(GaussianBlock, b'{"kind": "gaussian", "c": 2}')
    GaussianBlock(c=2.0)
    >>> read(GaussianBlock, b'{"kind": "gaussian", "c": "2"}')
    Traceback (most recent call last):
    separatrix.playground.api.requests.RequestError: Expected `float`, got `str` - at `$.c`
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as problem:
        raise RequestError("invalid", str(problem)[: LIMITS.message]) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise RequestError("not_json", "The request is not JSON in UTF-8.") from None


class Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A JSON object with these fields and no others."""


class Block(Strict, frozen=True, tag_field="kind"):
    """A part of a kernel; ``kind`` says which."""


Name: TypeAlias = Annotated[str, Meta(max_length=LIMITS.name)]
Coordinate: TypeAlias = Annotated[float, Meta(ge=-LIMITS.coordinate, le=LIMITS.coordinate)]
Row: TypeAlias = Annotated[tuple[Coordinate, ...], Meta(min_length=1, max_length=LIMITS.columns)]
Label: TypeAlias = Annotated[int, Meta(ge=0, le=LIMITS.classes - 1)]
Degree: TypeAlias = Annotated[int, Meta(ge=1, le=LIMITS.degree)]
Positive: TypeAlias = Annotated[float, Meta(ge=1e-9, le=1e9)]


class PointData(Strict, frozen=True):
    """Points: their coordinates, and the class of each."""

    columns: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=LIMITS.columns)]
    classes: Annotated[tuple[Name, ...], Meta(min_length=2, max_length=LIMITS.classes)]
    rows: Annotated[tuple[Row, ...], Meta(max_length=LIMITS.points)]
    labels: Annotated[tuple[Label, ...], Meta(max_length=LIMITS.points)]


class LinearBlock(Block, frozen=True, tag="linear"):
    """The inner product <x, x'>."""


class PolynomialBlock(Block, frozen=True, tag="polynomial"):
    """(c + <x, x'>)^degree."""

    degree: Degree = 2
    c: Annotated[float, Meta(ge=0.0, le=1e6)] = 1.0


class GaussianBlock(Block, frozen=True, tag="gaussian"):
    """exp(-c |x - x'|^2)."""

    c: Positive = 1.0


class GeometricBlock(Block, frozen=True, tag="geometric"):
    """1 + t + ... + t^degree with t = <x, x'>."""

    degree: Degree = 3


class SumBlock(Block, frozen=True, tag="sum"):
    """The sum of kernels."""

    parts: Blocks


class ProductBlock(Block, frozen=True, tag="product"):
    """The product of kernels."""

    parts: Blocks


class ScaledBlock(Block, frozen=True, tag="scaled"):
    """c times a kernel."""

    part: KernelBlock
    c: Positive = 2.0


class ShiftedBlock(Block, frozen=True, tag="shifted"):
    """A kernel plus a constant."""

    part: KernelBlock
    c: Annotated[float, Meta(ge=0.0, le=1e6)] = 1.0


class PowerBlock(Block, frozen=True, tag="power"):
    """A kernel multiplied by itself."""

    part: KernelBlock
    exponent: Degree = 2


class ExponentialBlock(Block, frozen=True, tag="exp"):
    """exp of a kernel."""

    part: KernelBlock


KernelBlock: TypeAlias = (
    LinearBlock
    | PolynomialBlock
    | GaussianBlock
    | GeometricBlock
    | SumBlock
    | ProductBlock
    | ScaledBlock
    | ShiftedBlock
    | PowerBlock
    | ExponentialBlock
)
Blocks: TypeAlias = Annotated[tuple[KernelBlock, ...], Meta(min_length=1, max_length=LIMITS.blocks)]


class Settings(Strict, frozen=True):
    """How to learn."""

    method: Literal[
        "perceptron", "kernel", "passive_aggressive", "winnow", "network",
        "max_margin", "soft_margin", "linear_program",
    ] = "perceptron"  # fmt: skip
    order: Literal["cyclic", "shuffled", "worst", "working_set"] = "cyclic"
    start: Literal["zeros", "random"] = "zeros"
    rate: Positive = 1.0
    margin: Annotated[float, Meta(ge=0.0, le=1e9)] = 0.0
    lift: bool = True
    renormalise: bool = False
    average: Literal["last", "averaged", "voted"] = "last"
    passes: Annotated[int, Meta(ge=1, le=LIMITS.passes)] = 1_000
    updates: Annotated[int, Meta(ge=1, le=LIMITS.updates)] = 2_000
    seed: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 0
    kernel: KernelBlock = GaussianBlock()
    budget: Annotated[int, Meta(ge=2, le=500)] | None = None
    intercept: Literal["free", "lifted"] = "free"
    C: Positive = 1.0
    variant: Literal["PA", "PA-I", "PA-II"] = "PA"
    form: Literal["primal", "dual"] = "primal"


class Rectangle(Strict, frozen=True):
    """The rectangle that the page shows."""

    left: Coordinate
    right: Coordinate
    bottom: Coordinate
    top: Coordinate


class RunRequest(Strict, frozen=True):
    """Learn from the points, and report every step; live, while a point is moved, only what is drawn then."""

    data: PointData
    settings: Settings
    box: Rectangle | None = None
    live: bool = False


class VerdictRequest(Strict, frozen=True):
    """Ask whether the classes can be separated, with the proof."""

    data: PointData
    settings: Settings


class VerifyRequest(Strict, frozen=True):
    """Check a certificate against the points."""

    data: PointData
    certificate: dict[str, Any]


REQUESTS: dict[str, type] = {
    "run": RunRequest,
    "verdict": VerdictRequest,
    "verify": VerifyRequest,
}
