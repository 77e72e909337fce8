"""The answers that the page receives: their types, and how they are written as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from ...result import Floats, Ints
from .requests import PointData, Settings

if TYPE_CHECKING:  # the server starts without scikit-learn
    from ...bounds.bound_report import LengthBounds


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
    """The plane that is shown."""

    labels: tuple[str, ...]  # of its two axes
    places: Floats  # the two coordinates of each point
    flat: bool  # whether these are the two columns themselves, so that points may be moved
    exact: bool  # whether the place of a point determines its score


@dataclass(frozen=True)
class Updates:
    """Every update of a run, in order; lists with one more entry begin with the start."""

    rows: Ints  # the row that was corrected
    rivals: Ints  # the class that it was taken for
    scores: Floats  # its score before the update
    weights: Floats | None  # None for a kernel, whose weights are sums of rows
    planes: Floats | None  # for each class, the score as a x + b y + c of the view
    squares: Floats  # the squared length of the weights
    progress: Floats | None  # the inner product of the weights with the best separator of length one
    lowest: Floats  # the smallest score of any row: if it is positive, the hyperplane separates by this
    lower: Floats  # the bracket of the best margin as known by then, up to rounding
    upper: Floats
    errors: Ints | None  # rows on the wrong side or on the hyperplane


@dataclass(frozen=True)
class Visits:
    """Every look at a row, if rows are visited in turn."""

    rows: Ints
    scores: Floats  # of the row at that moment
    updates: Ints  # the number of updates before


@dataclass(frozen=True)
class Field:
    """Scores at the knots of a grid over the rectangle, row by row from the bottom; float32 as base64."""

    size: int  # knots each way
    box: tuple[float, ...]  # left, right, bottom, top
    support: Ints  # the rows whose kernel values follow
    columns: str  # the kernel of each support row with each knot
    # The coefficients of the support after each update, the start first, of shape (updates + 1, support,
    # classes, or 1 for two); None if there are too many.
    coefficients: str | None
    final: str  # for each class, the scores of the model that predicts


@dataclass(frozen=True)
class ModelAnswer:
    """The model at the end of the run."""

    planes: Floats | None  # for each class, the score as a x + b y + c of the view; None if it is not linear
    weights: Floats | None  # of each class, intercept last, in the columns themselves
    margin: tuple[float | None, ...]  # the bracket of the best margin; proved only for the largest margin
    objective: tuple[float | None, ...]  # the value of the optimization problem, and a bound on it
    predicted: Ints  # the class that each row is given
    lowest: float | None  # the smallest score of any row; None if the model is not linear
    margin_planes: bool  # whether the lines at score -1 and 1 have a meaning


@dataclass(frozen=True)
class RunAnswer:
    """A run, with every step."""

    status: str  # how the run ended
    converged: bool
    mistakes: int
    errors: int | None
    classes: Ints  # the classes of the page that the points have
    lifted: bool
    view: ViewAnswer
    model: ModelAnswer
    updates: Updates | None
    visits: Visits | None
    proof: LengthBounds | None
    field: Field | None
    counts: Floats  # how often each row was corrected, or the size of its multiplier


@dataclass(frozen=True)
class WitnessAnswer:
    """A row of a proof, and its exact weight."""

    row: int
    rival: int | None
    weight: str


@dataclass(frozen=True)
class VerdictAnswer:
    """Separable or not, with the proof."""

    status: str
    margin: tuple[float | None, ...]
    witness: tuple[WitnessAnswer, ...]  # the rows that prove inseparability, with fractions
    common: tuple[
        str, ...
    ]  # the point that they place in both hulls, as fractions; empty if no such point is known
    common_at: tuple[float, ...]  # the same as numbers
    hulls: list[list[int]]  # the corners of the hull of each class, as row numbers
    conflict: bool
    certificate: dict[str, Any] | None


@dataclass(frozen=True)
class VerifyAnswer:
    """What the checker says about a certificate."""

    holds: bool
    reason: str


@dataclass(frozen=True)
class PresetAnswer:
    """Points and settings that belong together."""

    data: PointData
    settings: Settings
