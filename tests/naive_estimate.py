"""Does the estimate exist? Rows from each model's definition, pair by pair, and an exact program for each."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np

from tests.naive import feasible


def rises(target, signed, equal):
    """Whether some d with no negative score on signed rows, and zero on equal ones, has <target, d> > 0.

    There is none if and only if minus the target is a combination of the rows (Farkas).
    """
    rows = [*signed, *equal, *([-v for v in row] for row in equal)]
    if not rows:
        return any(target)
    columns = [[row[j] for row in rows] for j in range(len(target))]
    return not feasible(columns, [-v for v in target])


def expected(model, X, columns, **options):
    """Whether the estimate exists and is unique, and what each coefficient does, by exact programs."""
    signed, equal, width = rows_of(model, X, columns, **options)
    if model != "inverse-gaussian":
        return answers(signed, equal, width)
    # here ``equal`` has the rows with y > 0, which no direction may lower, and ``signed`` the others
    exists = bool(equal) and not any(rises(minus(row), equal, []) for row in signed)
    units = [unit(j, width) for j in range(width)]
    free = [rises(each, [], [*signed, *equal]) for each in units]
    unique = (False if any(free) else None) if exists else None
    return exists, unique, ["not identified" if each else ("finite" if exists else None) for each in free]


def answers(signed, equal, width):
    """(exists, unique, what each coefficient does), by one exact program for each row and coefficient."""
    exists = not any(rises(row, signed, equal) for row in signed)
    found = []
    for j in range(width):
        unit = [Fraction(int(j == k)) for k in range(width)]
        minus = [-v for v in unit]
        up, down = rises(unit, signed, equal), rises(minus, signed, equal)
        if rises(unit, [], [*signed, *equal]):
            found.append("not identified")
        else:
            found.append(
                {(0, 0): "finite", (1, 0): "+infinity", (0, 1): "-infinity", (1, 1): "not determined"}[
                    up, down
                ]
            )
    return exists, exists and "not identified" not in found if exists else None, found


def exact(x, intercept=False):
    return [Fraction(float(v)) for v in x] + [Fraction(1)] * intercept


def minus(p, q=None):
    return [-v for v in p] if q is None else [a - b for a, b in zip(p, q, strict=True)]


def unit(k, width):
    return [Fraction(int(j == k)) for j in range(width)]


def rows_of(model, X, columns, *, intercept, ties="", penalized=()):
    """The signed rows and the equal rows of a model, over its coefficients."""
    keep = [i for i in range(len(X)) if columns.get("weights") is None or columns["weights"][i] > 0]
    given = {name: [values[i] for i in keep] for name, values in columns.items() if values is not None}
    rows = [exact(X[i], intercept) for i in keep]
    signed, equal, width = RULES[model](rows, given, ties)
    blocks = width // len(rows[0]) if model == "multinomial" else 1
    equal = [*equal, *(unit(b * len(rows[0]) + k, width) for k in penalized for b in range(blocks))]
    return signed, equal, width


def binary(rows, given, ties):
    if "groups" in given:
        return matched(rows, {"y": given["y"], "strata": given["groups"]}, ties)
    return [x if y else minus(x) for x, y in zip(rows, given["y"], strict=True)], [], len(rows[0])


def binomial(rows, given, ties):
    signed, equal = [], []
    for x, s, m in zip(rows, given["y"], given["trials"], strict=True):
        if 0 < s < m:
            equal.append(x)
        elif m:
            signed.append(x if s else minus(x))
    return signed, equal, len(rows[0])


def multinomial(rows, given, ties):
    classes = sorted(set(given["y"]))
    signed = []
    for x, y in zip(rows, given["y"], strict=True):
        for other in classes:
            if other != y:
                blocks = [[(c == y) * v - (c == other) * v for v in x] for c in classes[1:]]
                signed.append([v for block in blocks for v in block])
    return signed, [], len(rows[0]) * (len(classes) - 1)


def ordinal(rows, given, ties):
    """Coefficients first, then one threshold between neighbouring categories that occur."""
    classes = sorted(set(given["y"]))
    last, signed = len(classes) - 1, []
    for x, y in zip(rows, given["y"], strict=True):
        k = classes.index(y)
        if k < last:
            signed.append(minus(x) + unit(k, last))
        if k > 0:
            signed.append(x + minus(unit(k - 1, last)))
    return signed, [], len(rows[0]) + last


def adjacent(rows, given, ties):
    """All pairs of categories: log p_k is a constant plus k x b; thresholds are differences of neighbours."""
    classes = sorted(set(given["y"]))
    last, signed = len(classes) - 1, []
    for x, y in zip(rows, given["y"], strict=True):
        own = classes.index(y)
        for other in range(last + 1):
            if other != own:
                # log p_own - log p_other; the threshold t_k is c_k - c_(k+1), and x b enters with the step
                between = [Fraction((own <= k < other) - (other <= k < own)) for k in range(last)]
                signed.append([(own - other) * v for v in x] + between)
    return signed, [], len(rows[0]) + last


def continuation(rows, given, ties):
    classes = sorted(set(given["y"]))
    last, signed = len(classes) - 1, []
    for x, y in zip(rows, given["y"], strict=True):
        for k in range(min(classes.index(y), last - 1) + 1):
            row = x + unit(k, last)
            signed.append(row if classes.index(y) == k else minus(row))
    return signed, [], len(rows[0]) + last


def poisson(rows, given, ties):
    """With groups, by a dummy for each group that has a positive count; their answers are dropped."""
    signed, equal, width = [], [], len(rows[0])
    groups = given.get("groups")
    alive = sorted({g for g, y in zip(groups, given["y"], strict=True) if y > 0}) if groups else []
    for i, (x, y) in enumerate(zip(rows, given["y"], strict=True)):
        if groups and groups[i] not in alive:
            continue
        row = x + (unit(alive.index(groups[i]), len(alive)) if groups else [])
        (equal if y > 0 else signed).append(row if y > 0 else minus(row))
    return signed, equal, width + len(alive)


def gamma(rows, given, ties):
    weights = given.get("weights", [1] * len(rows))
    signed = [x for x, y in zip(rows, given["y"], strict=True) if y > 0]
    total = [
        -sum(Fraction(float(w)) * x[j] for x, w in zip(rows, weights, strict=True))
        for j in range(len(rows[0]))
    ]
    return [*signed, total], [], len(rows[0])


def inverse_gaussian(rows, given, ties):
    zeros = [x for x, y in zip(rows, given["y"], strict=True) if y == 0]
    return zeros, [x for x, y in zip(rows, given["y"], strict=True) if y > 0], len(rows[0])


def matched(rows, given, ties):
    signed = []
    top = max(given["y"])
    for i, x in enumerate(rows):
        for j, z in enumerate(rows):
            if given["strata"][i] == given["strata"][j] and given["y"][i] == top != given["y"][j]:
                signed.append(minus(x, z))
    return signed, [], len(rows[0])


def cox(rows, given, ties):
    n, signed, equal = len(rows), [], []
    event, entry = given.get("event", [1] * n), given.get("entry", [-np.inf] * n)
    strata = given.get("strata", [0] * n)
    for i in range(n):
        if not event[i]:
            continue
        for j in range(n):
            t = given["time"][i]
            if j == i or strata[i] != strata[j] or given["time"][j] < t or entry[j] >= t:
                continue
            if event[j] and given["time"][j] == t:
                if ties != "exact":
                    equal.append(minus(rows[i], rows[j]))
            else:
                signed.append(minus(rows[i], rows[j]))
    return signed, equal, len(rows[0])


def bradley_terry(rows, given, ties):
    players = sorted({*given["winner"], *given["loser"]})
    signed = []
    for x, first, second in zip(rows, given["winner"], given["loser"], strict=True):
        signed.append(x + [Fraction(int(p == first) - int(p == second)) for p in players[1:]])
    return signed, [], len(rows[0]) + len(players) - 1


RULES = {
    "binary": binary,
    "binomial": binomial,
    "multinomial": multinomial,
    "ordinal": ordinal,
    "adjacent": adjacent,
    "continuation": continuation,
    "poisson": poisson,
    "gamma": gamma,
    "inverse-gaussian": inverse_gaussian,
    "conditional": matched,
    "cox": cox,
    "bradley-terry": bradley_terry,
}


INTERCEPT = ("binary", "binomial", "multinomial", "poisson", "gamma", "inverse-gaussian")


def design(r, n, p):
    """Small integers, dummies, or decimals, of which no float is exact."""
    kind = r.random()
    if kind < 0.4:
        return r.integers(-2, 3, (n, p)).astype(float)
    if kind < 0.8:
        return (r.random((n, p)) < 0.4).astype(float)
    return np.round(r.normal(size=(n, p)), 1) + 0.1


def random_case(model, r):
    """A small design of a model: X, its columns, and the options of the question."""
    n, p = int(r.integers(4, 11)), int(r.integers(1, 4))
    X = design(r, n, p)
    latent = X @ r.normal(size=p) * 1.5
    columns, options = {}, {"intercept": model in INTERCEPT}
    if model in ("binary", "conditional"):
        y = latent + r.logistic(size=n) > 0
        y[:2] = [True, False]
        columns["y"] = y
        if model == "conditional" or r.random() < 0.3:
            columns["strata" if model == "conditional" else "groups"] = r.integers(0, 3, n)
            options["intercept"] = False
    elif model == "binomial":
        columns["trials"] = r.integers(1, 4, n)
        columns["y"] = r.binomial(columns["trials"], 1 / (1 + np.exp(-latent)))
    elif model in ("multinomial", "ordinal", "adjacent", "continuation"):
        y = np.digitize(latent + r.logistic(size=n), [-1, 1])
        y[:2] = [0, 2] if r.random() < 0.3 else [0, 1]
        columns["y"] = y
    elif model in ("poisson", "gamma", "inverse-gaussian"):
        columns["y"] = r.poisson(np.exp(np.clip(latent - 0.7, -5, 2)))
        columns["y"][0] = 1
        if model == "inverse-gaussian":  # few zeros, so that they are often in the hull
            columns["y"] = np.maximum(columns["y"], r.random(n) < r.choice([0.2, 0.6]))
            if r.random() < 0.3:
                X, options["intercept"] = np.column_stack([X, np.full(n, 2.0)]), False
        if model == "poisson" and r.random() < 0.4:
            columns["groups"] = r.integers(0, 3, n)
            options["intercept"] = False
    elif model == "cox":
        columns["time"] = r.integers(1, n, n)
        if r.random() < 0.5:
            columns["time"] = np.sort(columns["time"])[np.argsort(np.argsort(-latent))]
        columns["event"] = r.random(n) < 0.7
        options["ties"] = str(r.choice(["efron", "breslow", "exact"]))
        if r.random() < 0.3:
            columns["strata"] = r.integers(0, 2, n)
        if r.random() < 0.3:
            columns["entry"] = columns["time"] - r.integers(1, 4, n)
    else:
        pairs = list(combinations(range(int(r.integers(3, 6))), 2))
        chosen = [pairs[k] for k in r.integers(0, len(pairs), n)]
        flip = r.random(n) < 0.4
        columns["winner"], columns["loser"] = np.where(
            flip[None, :], np.array(chosen).T[::-1], np.array(chosen).T
        )
        X = X[:, :1]
    if r.random() < 0.25:
        columns["weights"] = r.integers(0, 3, n) + (np.arange(n) < 2)
    if r.random() < 0.15 and model not in ("gamma", "inverse-gaussian"):
        options["penalized"] = (0,)
    return X, columns, options
