"""Directions whose far end holds many rows of one class and none of the others: a search in floats.

Along a direction v, the rows of class c with a larger inner product than every other row form the *run* of c.
A half-space can take exactly these rows. Finding the longest run is NP-hard in general, so this is a search
whose effort is bounded; whatever it returns is checked exactly by its caller.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..margins.soft.soft_margin import solve_soft_margin
from ..result import Floats
from ..rows.memory import as_rows
from ..sparse import sparse

Mask = NDArray[np.bool_]
PLANAR = 64  # up to this number of rows in the plane, every direction is tried
ROUNDS = 2  # soft margins per class, each without the rows that the one before gave up
STEPS = 100  # of the local search, at most; fewer if a step reads many numbers
READS = 2e8  # numbers that the local search may read


class Run(NamedTuple):
    """How many rows a half-space takes, and the half-space: fires if ``<v, x>`` is above the threshold."""

    size: int
    gap: float
    direction: Floats
    threshold: float


def run_of(outputs: Floats, own: Mask, direction: Floats) -> Run:
    """Return the run of the rows ``own`` along a direction, with the threshold in the middle of the gap."""
    highest = float(outputs[~own].max())
    inside = outputs[own & (outputs > highest)]
    if not inside.size:
        return Run(0, 0.0, direction, highest)
    lowest = float(inside.min())
    length = float(np.linalg.norm(direction)) or 1.0
    return Run(inside.size, (lowest - highest) / length, direction, highest + 0.5 * (lowest - highest))


def longest_runs(X: Any, codes: NDArray[Any], seed: np.random.Generator) -> list[tuple[int, Run]]:
    """Return the best run that was found for each class, the longest first, with its class."""
    scale = _scale_of(X)
    scaled = X / scale if not sparse.issparse(X) else sparse.csr_array(X @ sparse.diags_array(1.0 / scale))
    found: list[tuple[int, Run]] = []
    counts = np.bincount(codes)
    for label in np.argsort(-counts, kind="stable").tolist():
        if counts[label] <= max((run.size for _, run in found), default=0):
            break  # no run of this class, or of a smaller one, is longer
        own = codes == label
        best = max(_candidates(scaled, own, seed), key=lambda run: run[:2])
        if best.size:
            best = _widest(scaled, own, best)
            found.append((label, best._replace(direction=best.direction / scale)))
    return sorted(found, key=lambda pair: (-pair[1].size, -pair[1].gap))


def _scale_of(X: Any) -> Floats:
    """Return a positive size of each column, so that the search treats all columns alike."""
    if sparse.issparse(X):
        scale = np.sqrt(np.asarray(X.multiply(X).mean(axis=0)).ravel())
    else:
        with np.errstate(over="ignore"):
            scale = np.std(X, axis=0)
    return np.where(np.isfinite(scale) & (scale > 0.0), scale, 1.0)


def _candidates(X: Any, own: Mask, seed: np.random.Generator) -> Iterator[Run]:
    """Yield runs of the rows ``own``: along columns, along the means, and by the searches below."""
    if X.shape[1] <= 3:
        for column in np.eye(X.shape[1]):
            for direction in (column, -column):
                yield run_of(X @ direction, own, direction)
    means = np.asarray(X[own].mean(axis=0) - X[~own].mean(axis=0)).ravel()
    if X.shape[1] == 2 and X.shape[0] <= PLANAR:
        yield from _planar(X, own)
        return
    starts = [run_of(X @ means, own, means), *_soft_margins(X, own)]
    yield from starts
    yield _local_search(X, own, max(starts, key=lambda run: run[:2]), seed)


def _planar(X: Any, own: Mask) -> Iterator[Run]:
    """Yield the run along a direction between any two neighbors of those on which two rows are level."""
    points = X.toarray() if sparse.issparse(X) else np.asarray(X)
    first, second = np.triu_indices(len(points), 1)
    across = points[first] - points[second]
    angles = np.unique(np.mod(np.arctan2(across[:, 0], -across[:, 1]), np.pi))
    angles = np.concatenate([angles, angles + np.pi])
    between = angles + 0.5 * np.diff(angles, append=angles[0] + 2.0 * np.pi)
    for angle in between.tolist():
        direction = np.array([np.cos(angle), np.sin(angle)])
        yield run_of(points @ direction, own, direction)


def _soft_margins(X: Any, own: Mask) -> Iterator[Run]:
    """Yield runs along soft margins that hardly allow an error on other rows.

    Each one leaves out the rows that the one before has far on the wrong side: the convex-concave procedure
    for a loss that does not grow beyond a limit, so that rows out of reach do not turn the hyperplane.
    """
    reach = own.copy()
    for _ in range(ROUNDS):
        weights = _soft_margin(X, own, np.where(own, np.where(reach, 10.0, 0.0), 1000.0))
        outputs = np.asarray(X @ weights[:-1])
        yield run_of(outputs, own, weights[:-1])
        near = own & (outputs + weights[-1] > -1.0)
        if not near.any() or np.array_equal(near, reach):
            return
        reach = near


def _widest(X: Any, own: Mask, best: Run) -> Run:
    """Return a run of the same rows, or more, whose half-space is far from them and from the other rows.

    By cross-validation on six real sets, this raised the accuracy by 0.5 % in the mean: by 1.9 % on USPS 3
    and 5, and 1.1 % on Pima, whose units fell from 45 to 38; on Sonar it fell by 1.1 %.
    """
    kept = ~own | (np.asarray(X @ best.direction) > best.threshold)
    direction = _soft_margin(X[kept], own[kept], np.full(np.count_nonzero(kept), 1000.0))[:-1]
    run = run_of(np.asarray(X @ direction), own, direction)
    return run if run.size >= best.size else best


def _soft_margin(X: Any, own: Mask, costs: Floats) -> Floats:
    """Return the weights of a soft margin with costs of errors for rows of mean length one."""
    rows = as_rows(X, own.astype(np.int32), lift=True)
    caps = costs / float(rows.squared_norms.mean())
    found: Floats = solve_soft_margin(rows, caps, gap=1e-2, free_intercept=True, max_iter=200).weights
    return found


def _local_search(X: Any, own: Mask, best: Run, seed: np.random.Generator) -> Run:
    """Turn the direction so that one more row passes the highest other row, repeatedly; keep the best run.

    A turn is the passive-aggressive step on the difference of the two rows. The row is one of the ten that
    miss the run by least.
    """
    direction, others = best.direction.copy(), np.flatnonzero(~own)
    for _ in range(max(10, min(STEPS, int(READS / X.size if not sparse.issparse(X) else READS / X.nnz)))):
        outputs = np.asarray(X @ direction)
        run = run_of(outputs, own, direction.copy())
        if run[:2] > best[:2]:
            best = run
        blocker = others[int(outputs[others].argmax())]
        missed = np.flatnonzero(own & (outputs <= outputs[blocker]))
        if not missed.size:
            break
        near = missed[np.argsort(-outputs[missed], kind="stable")[:10]]
        row = int(near[seed.integers(near.size)])
        turn = X[[row]] - X[[blocker]]
        turn = turn.toarray().ravel() if sparse.issparse(turn) else turn.ravel()
        square, length = float(turn @ turn), float(np.linalg.norm(direction))
        if square == 0.0 or not np.isfinite(square):
            break
        direction += (
            (float(outputs[blocker] - outputs[row]) + 1e-3 * length * np.sqrt(square)) / square * turn
        )
    return best
