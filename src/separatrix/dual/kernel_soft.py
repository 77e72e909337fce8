"""The soft margin in a kernel's feature space, with a duality gap in which all rounding is counted.

The Gram matrix of all rows, factorised as ``K = L L'``, is a change of coordinates: the rows of L have the
inner products of the images, so the linear solver finds the optimum on them. What it found is then judged by
the kernel itself: objective and bound are summed from kernel values, each with what rounding may have done.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..deadline import NEVER, Deadline
from ..errors import InputError
from ..kernels import EPS
from ..margins.brackets import against_rivals, best_shift
from ..margins.optimum import BracketedMinimum, SoftOptimum
from ..margins.rounding.proved_margin import imbalance
from ..margins.soft.soft_margin import solve_soft_margin
from ..result import Floats, Ints, Status
from ..rows.memory import as_rows
from .kernel_margin import SCAN, KernelRows, accuracy, coordinates, square_above

MOST_ROWS = 5000  # whose Gram matrix is factorised: 200 MB, and as much again for its factor


@dataclass(frozen=True, eq=False)
class KernelSoftOptimum(BracketedMinimum):
    """The soft margin's minimum in a kernel's feature space.

    Attributes
    ----------
    status, primal, dual, steps
        As in `BracketedMinimum`; the rounding of kernel values and sums is counted in, where the kernel
        states a bound of it.
    rows : ndarray of int64
        The support, as indices of training rows.
    coefficients : ndarray of shape (1, support) or (classes, support)
        The score of x is ``coefficients @ K(rows, x) + intercept``.
    intercept : ndarray of shape (1,) or (classes,)
    """

    rows: Ints
    coefficients: Floats
    intercept: Floats

    def _facts(self) -> list[tuple[str, str]]:
        return [*super()._facts(), ("support", f"{self.rows.size:,} rows")]


def solve_kernel_soft(
    rows: KernelRows,
    caps: Floats,
    *,
    gap: float = 1e-6,
    max_iter: int = 10_000,
    seed: int | np.random.Generator | None = 0,
    deadline: Deadline = NEVER,
) -> KernelSoftOptimum:
    """Minimise the soft margin's objective over the span of the rows' images, which holds the minimum.

    Parameters
    ----------
    rows : KernelRows
        At most ``MOST_ROWS`` of them, as their Gram matrix is made.
    caps : ndarray of shape (rows,)
        C times the weight of each row.
    gap, max_iter, seed, deadline
        As in `solve_soft_margin`. Of the gap a quarter is left to what the judgement by kernel values adds.
    """
    members = rows.order[caps[rows.order] > 0.0]
    if members.size > MOST_ROWS:
        raise InputError(
            f"The soft margin of a kernel needs the Gram matrix of all rows, and {members.size:,} rows are "
            f"more than {MOST_ROWS:,}.",
            remedy="Fit a sample, use sklearn.svm.SVC, or a KernelPerceptron, which needs no such matrix.",
            parameter="X",
        )
    gram = rows.gram(members)
    points = coordinates(gram, rows.kernel)
    inner = as_rows(points, rows.labels[members], n_classes=rows.n_classes, lift=rows.lift)
    found = solve_soft_margin(
        inner,
        caps[members],
        gap=0.75 * gap,
        free_intercept=rows.free,
        max_iter=max_iter,
        seed=seed,
        deadline=deadline,
    )
    judge = _Judge(rows, members, caps[members], gram)
    dual, own = judge.bound(found)
    choices = [judge.objective(*own), judge.objective(*judge.of_weights(found, points))]
    primal, coefficients, intercept = min(choices, key=lambda each: each[0])
    support = np.flatnonzero(np.abs(coefficients).max(axis=0) > 0.0)
    reached = primal - dual <= gap * primal
    status = found.status
    if status is Status.REACHED and not reached:
        status = Status.STALLED
    elif reached and status is Status.STALLED:
        status = Status.REACHED
    return KernelSoftOptimum(
        status,
        primal,
        dual,
        found.steps,
        rows=members[support],
        coefficients=np.ascontiguousarray(coefficients[:, support]),
        intercept=intercept,
    )


class _Judge:
    """Objectives and bounds from kernel values, each turned against itself by what rounding may have done."""

    def __init__(self, rows: KernelRows, members: Ints, caps: Floats, gram: Floats) -> None:
        self.rows, self.members, self.caps, self.gram = rows, members, caps, gram
        size, self.error = accuracy(rows)
        self.radius = float(np.sqrt(size)) * (1.0 + 8.0 * EPS)
        self.sums = (members.size + 8) * EPS

    def bound(self, found: SoftOptimum) -> tuple[float, tuple[Floats, Floats]]:
        """The bound that the multipliers prove, and the weights that they are."""
        multipliers, labels = found.multipliers, self.rows.labels[self.members]
        if multipliers.ndim == 1:
            coefficients = (multipliers * (2.0 * labels - 1.0))[None, :]
            mass = float(multipliers.sum())
        else:
            coefficients, mass = multipliers.T, float(multipliers.max(axis=1).sum())
        longest, mass = float(np.sqrt(self.square(coefficients))), mass * (1.0 - self.sums)
        if self.rows.free:
            change = self.imbalance(multipliers, labels.astype(np.int64))
            longest, mass = longest + 2.0 * change * self.radius, mass - change
        if multipliers.ndim == 2:  # what a row carries is a sum, which may exceed its cap by rounding
            mass *= 1.0 - 4.0 * (multipliers.shape[1] + 4) * EPS
        value = mass - 0.5 * longest * longest * (1.0 + 8.0 * EPS)
        intercept = coefficients.sum(axis=1) if self.lifted else np.zeros(coefficients.shape[0])
        if self.rows.free:
            intercept = np.atleast_2d(found.weights)[:, -1]
        return max(0.0, value), (np.ascontiguousarray(coefficients), intercept)

    def imbalance(self, multipliers: Floats, labels: Ints) -> float:
        """By how much multipliers have to be moved so that no class gives more than it gets."""
        if multipliers.ndim == 1:
            members = np.flatnonzero(multipliers)
            rivals, values, n_classes = np.zeros_like(members), multipliers[members], 2
        else:
            against = against_rivals(multipliers, labels)
            members, rivals = np.nonzero(against)
            values, n_classes = against[members, rivals], multipliers.shape[1]
        found = imbalance(labels[members], rivals, values, n_classes)
        if found is None:
            return np.inf
        change, edges = found
        # what is added to a row may exceed its cap: all are made smaller by as much
        least = float(self.caps[members[edges]].min(initial=np.inf))
        return change * len(edges) * (1.0 + float(values.sum()) / least) if edges else 0.0

    def of_weights(self, found: SoftOptimum, points: Floats) -> tuple[Floats, Floats]:
        """Coefficients of all rows whose combination is the weights, by least squares."""
        weights = np.atleast_2d(found.weights)
        inside = weights[:, :-1] if self.rows.lift else weights
        intercept = weights[:, -1] if self.rows.lift else np.zeros(weights.shape[0])
        if self.lifted:
            points, inside = np.column_stack([points, np.ones(len(points))]), weights
        coefficients = linalg.lstsq(points.T, inside.T, lapack_driver="gelsy", check_finite=False)[0].T
        return np.ascontiguousarray(coefficients), coefficients.sum(axis=1) if self.lifted else intercept

    @property
    def lifted(self) -> bool:
        """Whether the intercept is part of the norm."""
        return self.rows.lift and not self.rows.free

    def square(self, coefficients: Floats) -> float:
        """An upper bound of the squared norm of a combination of the images."""
        total = square_above(self.rows, self.members, coefficients, self.error, NEVER)
        if self.lifted:
            total += float((coefficients.sum(axis=1) ** 2).sum()) * (1.0 + 4.0 * self.sums)
            total += 4.0 * self.sums * float(np.abs(coefficients).sum()) ** 2
        return total

    def objective(self, coefficients: Floats, intercept: Floats) -> tuple[float, Floats, Floats]:
        """An upper bound of the objective; a free intercept of two classes is chosen anew."""
        rows, labels = self.rows, self.rows.labels[self.members]
        outputs = self.gram @ coefficients.T
        if rows.free and rows.n_classes == 2:
            signs = 2.0 * labels - 1.0
            intercept = np.array([best_shift(signs * outputs[:, 0], self.caps, labels)])
        scores = rows.scores(outputs + intercept, self.members)
        magnitudes = np.abs(coefficients)
        sizes = np.empty(len(scores))
        step = max(1, SCAN // max(1, len(scores)))
        for start in range(0, len(scores), step):
            part = np.abs(self.gram[start : start + step]) @ magnitudes.T + np.abs(intercept)
            sizes[start : start + step] = part.max(axis=1)
        # twice, as a score may be a difference of two outputs
        doubt = 2.0 * (self.sums * sizes + self.error * float(magnitudes.sum(axis=1).max()))
        losses = float(self.caps @ np.maximum(0.0, 1.0 - (scores - doubt)))
        value = (0.5 * self.square(coefficients) + losses) * (1.0 + self.sums)
        return value, coefficients, intercept
