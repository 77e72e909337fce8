"""The answers that the page receives: their types, and how they are written as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from ...result import Floats, Ints
from .requests import PointData, Settings


def write(answer: Any) -> bytes:
    """Write JSON: data classes as objects, arrays as nested lists; a number that is not finite is null.

    Examples
    --------
    >>> import numpy as np
    >>> write({"lower": np.array([1.0, np.inf]), "upper": float("nan")})
    b'{"lower":[1.0,null],"upper":null}'
    """
    return msgspec.json.encode(answer, enc_hook=lambda array: array.tolist())


@dataclass(frozen=True)
class ViewAnswer:
    """The plane that is shown.

    Attributes
    ----------
    labels : of its two axes
    places : the two coordinates of each point
    flat : whether these are the two columns themselves, so that points may be moved
    exact : whether the place of a point decides its score
    """

    labels: tuple[str, ...]
    places: Floats
    flat: bool
    exact: bool


@dataclass(frozen=True)
class Updates:
    """Every update of a run, in order; lists of one entry more begin with the start.

    Attributes
    ----------
    rows, rivals : the row corrected, and the class that it was taken for
    scores : its score before
    weights : after each update; empty for a kernel, whose weights are sums of rows
    planes : for each update and class, the score as ``a x + b y + c`` of the view
    squares : the squared length of the weights
    progress : the inner product of the weights with the best separator of length one
    lowest : the smallest score of any row: where it is positive, the plane separates by that much
    lower, upper : the bracket of the best margin, as far as known by then, to rounding
    errors : rows on the wrong side, or on the plane
    """

    rows: Ints
    rivals: Ints
    scores: Floats
    weights: Floats | None
    planes: Floats | None
    squares: Floats
    progress: Floats | None
    lowest: Floats
    lower: Floats
    upper: Floats
    errors: Ints | None


@dataclass(frozen=True)
class Visits:
    """Every look at a row, where rows are visited in turn.

    Attributes
    ----------
    rows : the row looked at
    scores : its score at that moment
    updates : how many updates had been made before
    """

    rows: Ints
    scores: Floats
    updates: Ints


@dataclass(frozen=True)
class ProofAnswer:
    """What theory says of the run.

    Attributes
    ----------
    bound : the most mistakes that a run could make
    name : of the theorem
    radius : ``start^2 + radius^2 t`` bounds the squared length after t mistakes
    margin : each mistake adds at least this to the inner product with the best separator
    start : the length of the first weights
    """

    bound: float | None
    name: str
    radius: float | None
    margin: float | None
    start: float


@dataclass(frozen=True)
class Field:
    """Scores at the knots of a grid over the rectangle shown, row by row from the bottom.

    Attributes
    ----------
    size : knots each way
    box : left, right, bottom, top
    support : the rows whose kernel values follow
    columns : the kernel of each support row with each knot; float32, little-endian, base64
    coefficients : of the support after each update, the start first: (updates + 1, support, classes, or 1
        for two); packed like the columns, and None where there are too many
    final : for each class, the scores of the model that predicts; float32, base64
    """

    size: int
    box: tuple[float, ...]
    support: Ints
    columns: str
    coefficients: str | None
    final: str


@dataclass(frozen=True)
class ModelAnswer:
    """The model that the run ends with.

    Attributes
    ----------
    planes : for each class, its score as ``a x + b y + c`` of the view; None for a kernel or a vote
    weights : of each class, intercept last, in the columns themselves
    margin : the bracket of the best margin; of a perceptron to rounding, of the largest margin proved
    objective : what was minimized or maximized
    predicted : the class that each row is given
    lowest : the smallest score of any row; None for a kernel or a vote
    margin_planes : whether the lines at score -1 and 1 mean something
    """

    planes: Floats | None
    weights: Floats | None
    margin: tuple[float | None, ...]
    objective: tuple[float | None, ...]
    predicted: Ints
    lowest: float | None
    margin_planes: bool


@dataclass(frozen=True)
class RunAnswer:
    """A run, every step of it.

    Attributes
    ----------
    status : how the run ended
    classes : the classes of the page that the points have
    counts : how often each row was corrected, or its multiplier
    code : Python that repeats the run
    """

    status: str
    converged: bool
    mistakes: int
    errors: int | None
    classes: Ints
    lifted: bool
    view: ViewAnswer
    model: ModelAnswer
    updates: Updates | None
    visits: Visits | None
    proof: ProofAnswer | None
    field: Field | None
    counts: Floats
    code: str


@dataclass(frozen=True)
class WitnessAnswer:
    """A row of a proof, and its exact weight."""

    row: int
    rival: int | None
    weight: str


@dataclass(frozen=True)
class VerdictAnswer:
    """Separable or not, with the proof.

    Attributes
    ----------
    witness : the rows that prove that no plane separates, with their weights as fractions
    common : the point that they place in both hulls, as fractions; empty where there is none
    common_at : the same as numbers
    hulls : the corners of each class's hull, as numbers of rows
    """

    status: str
    margin: tuple[float | None, ...]
    witness: tuple[WitnessAnswer, ...]
    common: tuple[str, ...]
    common_at: tuple[float, ...]
    hulls: list[list[int]]
    conflict: bool
    certificate: dict[str, Any] | None


@dataclass(frozen=True)
class VerifyAnswer:
    """What the checker says of a certificate."""

    holds: bool
    reason: str


@dataclass(frozen=True)
class LiftAnswer:
    """The points on the bowl, and the plane of the largest margin there.

    Attributes
    ----------
    rows : x, y and x^2 + y^2 of each point
    low, high : their least and largest coordinates
    plane : a, b, c, d of ``a x + b y + c z + d = 0``; None where no plane separates two classes
    """

    rows: Floats
    low: Floats
    high: Floats
    status: str
    margin: float | None
    plane: Floats | None


@dataclass(frozen=True)
class TableAnswer:
    """A pasted table as read.

    Attributes
    ----------
    scaled : for each column, its numbers with mean 0 and deviation 1, rounded to multiples of 1/64; empty
        for a column of text
    """

    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: list[list[float | str | None]]
    scaled: list[list[float]]
    target: int
    skipped: int


@dataclass(frozen=True)
class PresetAnswer:
    """Points and settings that belong together."""

    data: PointData
    settings: Settings
