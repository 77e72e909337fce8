"""Slow, obvious versions of what the library does fast, written from the theory.

Order of this file: signed rows, the perceptron in its orders, averaging and voting, exact sums.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np
from scipy import sparse

# ---------------------------------------------------------------- signed rows


def lifted(X, lift):
    """The rows as plain floats, with a last coordinate of ones if there is a lift."""
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    return np.column_stack([X, np.ones(len(X))]) if lift else X.copy()


def signed_rows(X, codes, lift):
    """Z: the lifted rows, those of class 0 negated."""
    return np.where(np.asarray(codes) == 1, 1.0, -1.0)[:, np.newaxis] * lifted(X, lift)


def kesler_rows(X, codes, n_classes, lift):
    """For each row and each wrong class r, the matrix with x at its own class and -x at r.

    A list of dictionaries {wrong class: matrix}. For two classes {0: signed row} stands for both.
    """
    if n_classes == 2:
        return [{0: z} for z in signed_rows(X, codes, lift)]
    found = []
    for x, own in zip(lifted(X, lift), codes, strict=True):
        found.append({})
        for wrong in range(n_classes):
            if wrong != own:
                z = np.zeros((n_classes, x.size))
                z[own], z[wrong] = x, -x
                found[-1][wrong] = z
    return found


def score(faces, w):
    """The lowest score of a row over its wrong classes, and the class; ties to the lowest class."""
    best = min(faces, key=lambda wrong: (float(np.sum(faces[wrong] * w)), wrong))
    return float(np.sum(faces[best] * w)), best


def scores(X, codes, n_classes, lift, w):
    return np.array([score(faces, w)[0] for faces in kesler_rows(X, codes, n_classes, lift)])


def combination(X, codes, n_classes, lift, counts, steps=1.0):
    """sum_i steps_i counts_i z_i, with half steps where there is a weight vector a class."""
    half = 1.0 if n_classes == 2 else 0.5
    steps = np.broadcast_to(steps, len(codes))
    total = 0.0
    for i, faces in enumerate(kesler_rows(X, codes, n_classes, lift)):
        for wrong, z in faces.items():
            total = total + half * steps[i] * counts[i][wrong] * z
    return total


# ---------------------------------------------------------------- the perceptron


@dataclass
class Run:
    """Everything that happened, update by update and visit by visit."""

    weights: np.ndarray
    counts: np.ndarray
    first: np.ndarray
    rows: list = field(default_factory=list)
    rivals: list = field(default_factory=list)
    scores: list = field(default_factory=list)
    after: list = field(default_factory=list)  # weights after every update
    visited: list = field(default_factory=list)  # weights after every visit
    per_pass: list = field(default_factory=list)  # mistakes of every pass
    closest: float = np.inf  # how near a score came to the border between right and wrong
    clean: bool = False

    @property
    def mistakes(self):
        return len(self.rows)


def perceptron(
    X,
    codes,
    *,
    n_classes=2,
    lift=True,
    order="cyclic",
    max_iter=100,
    max_updates=np.inf,
    eta0=1.0,
    weights=None,
    start=None,
    renormalise=False,
    margin=0.0,
    seed=None,
):
    """Correct one mistake after the other: cyclic, shuffled or worst first; scores up to ``margin`` are."""
    faces = kesler_rows(X, codes, n_classes, lift)
    half = 1.0 if n_classes == 2 else 0.5
    width = next(iter(faces[0].values())).shape
    weights = np.ones(len(faces)) if weights is None else np.asarray(weights)
    here = np.flatnonzero(weights > 0)
    first = np.zeros(width) if start is None else np.array(start, dtype=np.float64)
    run = Run(first.copy(), np.zeros((len(faces), 1 if n_classes == 2 else n_classes), dtype=int), first)
    generator = np.random.default_rng(seed)

    def wrong(i):
        s, rival = score(faces[i], run.weights)
        if run.weights.any():
            run.closest = min(run.closest, abs(s - margin))
        return s <= margin, s, rival

    def correct(i, s, rival):
        run.weights = run.weights + half * eta0 * weights[i] * faces[i][rival]
        if renormalise and np.linalg.norm(run.weights) > 0:
            run.weights = run.weights / np.linalg.norm(run.weights)
        run.counts[i, rival] += 1
        run.rows.append(i)
        run.rivals.append(rival)
        run.scores.append(s)
        run.after.append(run.weights)

    for number in range(max_iter):
        before = run.mistakes
        if order == "worst":
            found = [(wrong(i)[1], i) for i in here]
            lowest, i = min(found)
            run.per_pass.append(0)
            if lowest > margin:
                run.clean = True
                return run
            if number == max_iter - 1 or run.mistakes >= max_updates:
                return run
            correct(i, *wrong(i)[1:])
            run.per_pass[-1] = 1
            continue
        for i in here if order == "cyclic" else generator.permutation(here):
            mistaken, s, rival = wrong(i)
            if mistaken and run.mistakes >= max_updates:
                run.per_pass.append(run.mistakes - before)
                return run
            if mistaken:
                correct(i, s, rival)
            run.visited.append(run.weights)
        run.per_pass.append(run.mistakes - before)
        if run.mistakes == before:
            run.clean = True
            return run
        if run.mistakes >= max_updates:
            return run
    return run


# ---------------------------------------------------------------- shards


@dataclass
class Mixture:
    """What iterative parameter mixing did, epoch by epoch."""

    weights: np.ndarray
    counts: np.ndarray
    mixed: np.ndarray  # the counts, each weighed as its shard was
    per_epoch: list = field(default_factory=list)  # mistakes of each shard in every epoch
    means: list = field(default_factory=list)  # of the weights over the visits of an epoch, mixed
    closest: float = np.inf
    clean: bool = False


def mixture(X, codes, starts, *, n_classes=2, lift=True, mixing="even", max_iter=100, weights=None):
    """Shards from the given rows on: a cyclic pass over each from the same weights, then a weighted mean."""
    edges = [*starts, len(codes)]
    parts = [range(a, b) for a, b in pairwise(edges)]
    importance = np.ones(len(codes)) if weights is None else np.asarray(weights)
    parts = [part for part in parts if np.any(importance[part] > 0)]
    shape = next(iter(kesler_rows(X, codes, n_classes, lift)[0].values())).shape
    counts = np.zeros((len(codes), 1 if n_classes == 2 else n_classes), dtype=int)
    found = Mixture(np.zeros(shape), counts, counts.astype(float))
    for _ in range(max_iter):
        runs = [
            perceptron(
                X[part], codes[part], n_classes=n_classes, lift=lift, max_iter=1,
                weights=importance[part], start=found.weights,
            )
            for part in parts
        ]  # fmt: skip
        made = [run.mistakes for run in runs]
        found.per_epoch.append(made)
        found.closest = min(found.closest, *(run.closest for run in runs))
        total = sum(made)
        even = mixing == "even" or total == 0
        shares = [1 / len(runs) if even else each / total for each in made]
        found.means.append(sum(s * np.mean(run.visited, axis=0) for s, run in zip(shares, runs, strict=True)))
        if total == 0:
            found.clean = True
            return found
        found.weights = sum(share * run.weights for share, run in zip(shares, runs, strict=True))
        for part, share, run in zip(parts, shares, runs, strict=True):
            found.counts[part] += run.counts
            found.mixed[part] += share * run.counts
    return found


# ---------------------------------------------------------------- averaging and voting


def average(run):
    """The mean of the weights over every visit."""
    return np.mean(run.visited, axis=0)


def votes(run, X, n_classes, lift):
    """One vote for each visit, by a full copy of the weights after it: shape (rows, classes)."""
    tally = np.zeros((X.shape[0], n_classes))
    for w in run.visited:
        outputs = lifted(X, lift) @ np.atleast_2d(w).T
        winner = (outputs[:, 0] > 0).astype(int) if n_classes == 2 else outputs.argmax(axis=1)
        tally[np.arange(len(winner)), winner] += 1
    return tally


# ---------------------------------------------------------------- exact sums


def exact_combination(X, codes, n_classes, lift, multipliers):
    """The entries of sum_i multipliers_i z_i as fractions: no rounding anywhere."""
    total = {}
    for i, faces in enumerate(kesler_rows(X, codes, n_classes, lift)):
        for wrong, z in faces.items():
            for place, value in np.ndenumerate(z):
                total[place] = total.get(place, Fraction(0)) + int(multipliers[i][wrong]) * Fraction(value)
    return list(total.values())


# ---------------------------------------------------------------- separability


def separation(rows):
    """'separable', 'quasi-separable' or 'overlapping', by a rational simplex method with Bland's rule.

    Rows are sequences of numbers that Fraction takes exactly. Separable: some l >= 0 of sum one has Z'l = 0
    if and only if not (Gordan). Overlapping: some l >= 1 has Z'l = 0 (Stiemke), i.e. some m >= 0 has
    Z'm = -Z'1.
    """
    rows = [[Fraction(v) for v in row] for row in rows]
    columns = [[row[j] for row in rows] for j in range(len(rows[0]))]
    if not feasible([*columns, [Fraction(1)] * len(rows)], [Fraction(0)] * len(columns) + [Fraction(1)]):
        return "separable"
    if feasible(columns, [-sum(column) for column in columns]):
        return "overlapping"
    return "quasi-separable"


def feasible(matrix, right):
    """Whether some x >= 0 has matrix x = right: phase one of the simplex method, in fractions."""
    height, width = len(matrix), len(matrix[0])
    table = []
    for r, (line, value) in enumerate(zip(matrix, right, strict=True)):
        sign = -1 if value < 0 else 1
        unit = [Fraction(int(r == k)) for k in range(height)]
        table.append([sign * v for v in line] + unit + [sign * value])
    cost = [-sum(line[j] for line in table) for j in range(width)] + [Fraction(0)] * height
    cost.append(-sum(line[-1] for line in table))
    basis = [width + r for r in range(height)]
    while True:
        entering = next((j for j in range(width) if cost[j] < 0), None)
        if entering is None:
            return cost[-1] == 0
        ratios = [
            (line[-1] / line[entering], basis[r], r) for r, line in enumerate(table) if line[entering] > 0
        ]
        _, _, leaving = min(ratios)
        pivot = table[leaving][entering]
        table[leaving] = [v / pivot for v in table[leaving]]
        for r in range(height):
            factor = table[r][entering]
            if r != leaving and factor:
                table[r] = [v - factor * u for v, u in zip(table[r], table[leaving], strict=True)]
        factor = cost[entering]
        cost = [v - factor * u for v, u in zip(cost, table[leaving], strict=True)]
        basis[leaving] = entering


def exact_signed_rows(X, y, *, lift=True):
    """z_i = y_i (x_i, 1) for two classes; for more, one row for each wrong class, in blocks (Kesler)."""
    classes = sorted(set(y))
    rows = []
    for x, label in zip(X, y, strict=True):
        lifted = [Fraction(v) for v in x] + [Fraction(1)] * lift
        if len(classes) == 2:
            rows.append(lifted if label == classes[1] else [-v for v in lifted])
            continue
        for rival in classes:
            if rival != label:
                blocks = []
                for c in classes:
                    sign = (c == label) - (c == rival)
                    blocks += [sign * v for v in lifted]
                rows.append(blocks)
    return rows
