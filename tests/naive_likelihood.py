"""Does the estimate exist? Log-likelihoods, and their maximizers under a ridge penalty that vanishes.

Every likelihood takes parameters of any shape (..., p), real or complex: derivatives come from complex steps.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

PENALTIES = [1e-2, 1e-3, 1e-4, 1e-5, 1e-7, 1e-9]


def logsumexp(values):
    """Along the last axis, for complex numbers too."""
    top = values.real.max(axis=-1, keepdims=True)
    return top[..., 0] + np.log(np.exp(values - top).sum(axis=-1))


def softplus(values):
    return logsumexp(np.stack([np.zeros_like(values), values], axis=-1))


def gradient(function, theta):
    """Of shape (..., p), by complex steps of 1e-30, which have no rounding error of differences."""
    return function(theta[..., None, :] + 1e-30j * np.eye(theta.shape[-1])).imag / 1e-30


def maximize(function, theta, penalty):
    """Newton's method for a concave function minus a ridge penalty, with halved steps."""

    def penalized(t):
        return function(t) - penalty / 2 * (t * t).sum(axis=-1)

    value, size = penalized(theta).real, theta.size
    for _ in range(100):
        steps = 1e-5 * np.eye(size)
        slope = gradient(penalized, theta)
        hessian = (gradient(penalized, theta + steps) - gradient(penalized, theta - steps)) / 2e-5
        curvature, basis = np.linalg.eigh((hessian + hessian.T) / 2)
        step = basis @ ((basis.T @ slope) / np.maximum(np.abs(curvature), penalty / 2))
        step *= min(1.0, 10 / np.linalg.norm(step)) if step.any() else 1.0
        while not (new := penalized(theta + step).real) >= value - 1e-13 and np.linalg.norm(step) > 1e-9:
            step = step / 2
        if np.linalg.norm(step) <= 1e-8:
            break
        theta, value = theta + step, new
    return theta


def limits(function, start):
    """How each parameter ends as the penalty vanishes: -1, 0 or 1 if it falls, converges or rises forever.

    An estimate that exists is approached in steps that shrink with the penalty. Otherwise, the maximizer
    grows with the logarithm of the penalty, or faster: its steps do not shrink.
    """
    path, theta = [], np.asarray(start, dtype=float)
    with np.errstate(all="ignore"):
        for penalty in PENALTIES:
            theta = maximize(function, theta, penalty)
            path.append(theta)
    before, last = path[-2] - path[-3], path[-1] - path[-2]
    moves = (np.abs(last) > 0.3 * np.abs(before)) & (np.abs(last) > 1e-3)
    return np.sign(np.where(moves, last, 0))


def likelihood_of(model, X, columns, *, intercept, ties="", penalized=()):
    """The log-likelihood of a model, and where to start; the coefficients of the columns come first."""
    keep = [i for i in range(len(X)) if columns.get("weights") is None or columns["weights"][i] > 0]
    given = {name: np.asarray(values)[keep] for name, values in columns.items() if values is not None}
    X = np.asarray(X, dtype=float)[keep]
    X = np.column_stack([X, np.ones(len(X))]) if intercept else X
    function, start = MODELS[model](X, given, ties)
    blocks = len(start) // X.shape[1] if model == "multinomial" else 1
    places = [block * X.shape[1] + k for k in penalized for block in range(blocks)]
    return (lambda t: function(t) - 0.3 * (t[..., places] ** 2).sum(axis=-1)), np.asarray(start, dtype=float)


def weights_of(given, n):
    return np.asarray(given.get("weights", np.ones(n)), dtype=float)


def with_groups(X, given, useful):
    """Add a dummy for each group that is useful; leave the rows of other groups out."""
    groups = given["groups"]
    kept = [g for g in np.unique(groups) if useful(given["y"][groups == g])]
    inside = np.isin(groups, kept)
    dummies = (groups[inside, None] == np.array(kept, dtype=groups.dtype)[None, :]).astype(float)
    rest = {name: values[inside] for name, values in given.items() if name != "groups"}
    return np.column_stack([X[inside], dummies]), rest


def binary(X, given, ties):
    if "groups" in given:
        X, given = with_groups(X, given, lambda y: 0 < np.sum(y) < len(y))
    sign, w = np.where(given["y"], 1.0, -1.0), weights_of(given, len(X))
    return (lambda t: -(w * softplus(-sign * (t @ X.T))).sum(axis=-1)), np.zeros(X.shape[1])


def binomial(X, given, ties):
    s, m, w = given["y"], given["trials"], weights_of(given, len(X))
    return (lambda t: (w * (s * (t @ X.T) - m * softplus(t @ X.T))).sum(axis=-1)), np.zeros(X.shape[1])


def multinomial(X, given, ties):
    own, w = np.unique(given["y"], return_inverse=True)[1], weights_of(given, len(X))
    count, p = int(own.max()), X.shape[1]

    def function(t):
        scores = [np.zeros(1) * (t @ np.zeros((t.shape[-1], len(X))))]
        scores += [t[..., k * p : (k + 1) * p] @ X.T for k in range(count)]
        each = np.stack(scores, axis=-1)
        return (w * (each[..., np.arange(len(X)), own] - logsumexp(each))).sum(axis=-1)

    return function, np.zeros(count * p)


def ordinal(X, given, ties):
    """P(y <= k) is logistic in a_k - x b."""
    own, w, p = np.unique(given["y"], return_inverse=True)[1], weights_of(given, len(X)), X.shape[1]
    last = int(own.max())

    def function(t):
        score, cuts = t[..., :p] @ X.T, t[..., p:]
        high = cuts[..., np.minimum(own, last - 1)] - score
        low = cuts[..., np.maximum(own - 1, 0)] - score
        inside = np.log(-np.expm1(low - high)) - softplus(-high) - softplus(low)
        each = np.where(own == 0, -softplus(-high), np.where(own == last, -softplus(low), inside))
        ordered = (np.diff(cuts.real, axis=-1) > 0).all(axis=-1)
        return np.where(ordered, (w * each).sum(axis=-1), -np.inf)

    return function, [0.0] * p + list(range(last))


def adjacent(X, given, ties):
    """The log of P(y = k) / P(y = k + 1) is a_k - x b."""
    own, w, p = np.unique(given["y"], return_inverse=True)[1], weights_of(given, len(X)), X.shape[1]
    last = int(own.max())

    def function(t):
        steps = (t[..., :p] @ X.T)[..., None] - t[..., None, p:]
        each = np.concatenate([np.zeros_like(steps[..., :1]), np.cumsum(steps, axis=-1)], axis=-1)
        return (w * (each[..., np.arange(len(X)), own] - logsumexp(each))).sum(axis=-1)

    return function, [0.0] * (p + last)


def continuation(X, given, ties):
    """P(y = k | y >= k) is logistic in a_k + x b."""
    own, w, p = np.unique(given["y"], return_inverse=True)[1], weights_of(given, len(X)), X.shape[1]
    last = int(own.max())

    def function(t):
        total = 0.0
        for k in range(last):
            score = t[..., p + k, None] + t[..., :p] @ X.T
            total = total - (w * (own == k) * softplus(-score) + w * (own > k) * softplus(score)).sum(axis=-1)
        return total

    return function, [0.0] * (p + last)


def poisson(X, given, ties):
    if "groups" in given:
        X, given = with_groups(X, given, lambda y: np.sum(y) > 0)
    y, w = given["y"], weights_of(given, len(X))
    return (lambda t: (w * (y * (t @ X.T) - np.exp(t @ X.T))).sum(axis=-1)), np.zeros(X.shape[1])


def gamma(X, given, ties):
    y, w = given["y"], weights_of(given, len(X))
    some, amounts = X[y > 0], (w * y)[y > 0]

    def function(t):
        return -(amounts * np.exp(-(t @ some.T))).sum(axis=-1) - (w * (t @ X.T)).sum(axis=-1)

    return function, np.zeros(X.shape[1])


def chosen(scores, among, count):
    """The log of the sum, over all choices of some rows, of the product of their hazards."""
    sums = [scores[..., list(each)].sum(axis=-1) for each in combinations(among, count)]
    return logsumexp(np.stack(sums, axis=-1))


def conditional(X, given, ties):
    def function(t):
        scores, total = t @ X.T, 0.0 * t.sum(axis=-1)
        for stratum in np.unique(given["strata"]):
            rows = np.flatnonzero(given["strata"] == stratum)
            cases = rows[given["y"][rows].astype(bool)]
            total = total + scores[..., cases].sum(axis=-1) - chosen(scores, rows, cases.size)
        return total

    return function, np.zeros(X.shape[1])


def cox(X, given, ties):
    n, time = len(X), given["time"]
    event, entry = given.get("event", np.ones(n)).astype(bool), given.get("entry", np.full(n, -np.inf))
    strata = given.get("strata", np.zeros(n))
    sets = []
    for stratum, moment in sorted({(strata[i], time[i]) for i in np.flatnonzero(event)}):
        at_risk = np.flatnonzero((strata == stratum) & (time >= moment) & (entry < moment))
        sets.append((at_risk[event[at_risk] & (time[at_risk] == moment)], at_risk))

    def function(t):
        scores, total = t @ X.T, 0.0 * t.sum(axis=-1)
        for deaths, at_risk in sets:
            total = total + scores[..., deaths].sum(axis=-1)
            if ties == "exact":
                total = total - chosen(scores, at_risk, deaths.size)
                continue
            dies = np.isin(at_risk, deaths)
            for k in range(deaths.size):
                share = np.where(dies, 1 - k / deaths.size, 1.0) if ties == "efron" else np.ones(at_risk.size)
                total = total - logsumexp(scores[..., at_risk] + np.log(share))
        return total

    return function, np.zeros(X.shape[1])


def bradley_terry(X, given, ties):
    players = np.unique([given["winner"], given["loser"]])
    wins = (given["winner"][:, None] == players[1:]).astype(float)
    losses = (given["loser"][:, None] == players[1:]).astype(float)
    rows, w = np.column_stack([X, wins - losses]), weights_of(given, len(X))
    return (lambda t: -(w * softplus(-(t @ rows.T))).sum(axis=-1)), np.zeros(rows.shape[1])


MODELS = {
    "binary": binary,
    "binomial": binomial,
    "multinomial": multinomial,
    "ordinal": ordinal,
    "adjacent": adjacent,
    "continuation": continuation,
    "poisson": poisson,
    "gamma": gamma,
    "conditional": conditional,
    "cox": cox,
    "bradley-terry": bradley_terry,
}
