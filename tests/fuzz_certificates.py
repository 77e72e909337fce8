"""Tampered certificates of every kind: a target of ``make fuzz``.

A certificate is changed in a place, in its structure or in its text, mixed with that of another question, or
held against other data. Whatever is accepted has to be true, by a rational simplex method on the signed rows
as docs/certificates.md defines them; whatever is refused is refused by CertificateError or by a reason. The
second checker has to say the same.
"""

from __future__ import annotations

import copy
import itertools
import json
import random
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from operator import mul
from pathlib import Path
from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.certificates.check import verify
from separatrix.certificates.claims import Approximate
from separatrix.certificates.error_bounds import Leaf
from separatrix.certificates.estimate import CLAIMS as ESTIMATES
from separatrix.certificates.fields import read_number
from separatrix.errors import CertificateError, InputError
from separatrix.estimators.network import PerceptronNetwork
from separatrix.proofs.estimates import check_estimate
from separatrix.proofs.fewest.fewest_errors import fewest_errors
from separatrix.proofs.verdict import separability
from tests import naive, naive_estimate, naive_network, second
from tests.naive_estimate import RULES
from tests.naive_fewest import fewest, fewest_of_classes

SECONDS = 5.0  # the time limit of a check; one that takes a second longer is a finding
WORDS = (
    "separable",
    "inseparable",
    "quasi-separable",
    "overlapping",
    "binary",
    "joint",
    "pair",
    "one-vs-rest",
    "network",
    "fits",
    *ESTIMATES,
    *RULES,
    *("estimate", "exact", "efron"),
)
ODD = (None, True, False, 0, 1, -1, 2**70, 1.0, "", "0", "-1", "1p1", "0x1p+0", "nan", [], {}, [[]], "0" * 64)
N_QUESTIONS = 500


@dataclass(frozen=True, eq=False)
class Question:
    """Data with the fields of a certificate that holds for them."""

    X: np.ndarray
    y: Any
    fields: dict[str, Any]
    columns: dict[str, Any] = field(default_factory=dict)  # of a regression


@cache
def question(seed: int) -> Question:
    """One of many questions about a few rows, of any kind, with its proof."""
    rng = np.random.default_rng(seed)
    while True:
        if seed % 5 == 4 and (regression := _a_regression(rng)):
            return regression
        n_classes = int(rng.choice([2, 2, 3]))
        n_rows, n_columns = int(rng.integers(n_classes, 9)), int(rng.integers(1, 4))
        X = rng.integers(-2, 3, (n_rows, n_columns)) * 1.0
        if rng.random() < 0.4:
            X = rng.standard_normal((n_rows, n_columns))
        if rng.random() < 0.2:
            X = X * 10.0 ** float(rng.choice([-150, 20, 150]))
        y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)]
        if rng.random() < 0.3:  # separable more often
            X[:, 0] += 6.0 * y
        if rng.random() < 0.15:  # identical rows
            X[-1] = X[0]
        options: dict[str, Any] = {
            "fit_intercept": bool(rng.random() < 0.7),
            "quasi": bool(rng.random() < 0.7),
        }
        if rng.random() < 0.2:
            options["kernel"] = kernels.Polynomial(degree=2)
            options["fit_intercept"] = True
        if n_classes > 2:
            options["multiclass"] = str(rng.choice(["joint", "one-vs-rest", "pairwise"]))
        if rng.random() < 0.2:
            options["sample_weight"] = np.r_[np.ones(n_classes), rng.integers(0, 2, n_rows - n_classes)]
        if rng.random() < 0.25:
            return Question(X, y, fewest_of(rng, X, y, options["fit_intercept"]).to_dict())
        if rng.random() < 0.2:  # a network, of the rows that have no conflict with an earlier one
            _, firsts = np.unique(X + 0.0, axis=0, return_index=True)
            X, y = X[firsts], y[firsts]
            if np.unique(y).size < 2:
                continue
            y = np.unique(y, return_inverse=True)[1].ravel()
            model = PerceptronNetwork(None if rng.random() < 0.7 else 1).fit(X, y)
            return Question(X, y, model.certificate_.to_dict())
        verdict = separability(X, y, **options)
        found = verdict if verdict.certificate is not None else _a_part(rng, verdict)
        if found is None or found.certificate is None:
            continue
        certificate = found.certificate
        m = certificate.multipliers
        if m is not None and certificate.claim in ("inseparable", "overlapping") and rng.random() < 0.5:
            values = tuple(float(Fraction(v, m.denominator)) for v in m.numerators())
            near = replace(certificate, multipliers=None, approximate=Approximate(m.rows, m.rivals, values))
            if near.degrees == (1,) and min(values) > 0.0 and verify(near, X, y).holds:
                certificate = near
        return Question(X, y, certificate.to_dict())


def _a_regression(rng: np.random.Generator) -> Question | None:
    """A question about an estimate, if the random data can be asked about."""
    model = str(rng.choice(sorted(RULES)))
    X, columns, options = naive_estimate.random_case(model, rng)
    options["fit_intercept"] = options.pop("intercept")
    with warnings.catch_warnings(), suppress(InputError):
        warnings.simplefilter("ignore")
        found = check_estimate(X, model=model, **columns, **options)
        return Question(X, columns.pop("y", None), found.certificate.to_dict(), columns)
    return None


def fewest_of(rng: np.random.Generator, X: np.ndarray, y: np.ndarray, lift: bool) -> Any:
    """A certificate of the fewest errors; the tree of some of them has branches that it does not need."""
    weights = None
    if rng.random() < 0.4:  # each class has a row of positive weight: the first rows are of different classes
        weights = np.where(np.arange(y.size) <= y.max(), 1, 0) + rng.integers(0, 4, y.size)
    found = fewest_errors(X, y, sample_weight=weights, fit_intercept=lift).certificate
    if found.trees and rng.random() < 0.5:
        tree, rows = found.trees[0], {row for each in found.witnesses for row in each.rows}
        row = int(rng.choice([*rows]))
        if all(isinstance(node, Leaf) or node != row for node in tree):
            return replace(found, trees=((row, *tree, *tree), *found.trees[1:]))
    return found


def _a_part(rng: np.random.Generator, verdict: Any) -> Any:
    parts = list(verdict.parts.values())
    return parts[rng.integers(len(parts))] if parts else None


def signed_rows(fields: dict[str, Any], X: np.ndarray, y: np.ndarray) -> list[list[Fraction]]:
    """The signed rows that a certificate speaks of, from its definition."""
    asked = fields["question"]
    kind, chosen = asked["kind"], asked["chosen"]
    rows = []
    for i, (x, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        own = asked["classes"].index(str(label))
        if i in asked["excluded"] or (kind == "pair" and own not in chosen):
            continue
        exact = [Fraction(v) for v in x]
        lifted = [
            product(some)
            for degree in asked.get("degrees", [1])
            for some in itertools.combinations_with_replacement(exact, degree)
        ]
        lifted += [Fraction(1)] * asked["lift"]
        if kind == "joint":
            n_classes = len(asked["classes"])
            for rival in range(n_classes):
                if rival != own:
                    signs = [(c == own) - (c == rival) for c in range(n_classes)]
                    rows.append([sign * v for sign in signs for v in lifted])
        else:
            positive = {"binary": 1, "pair": chosen[-1] if chosen else 0}.get(
                kind, chosen[0] if chosen else 0
            )
            rows.append(lifted if own == positive else [-v for v in lifted])
    return rows


def product(numbers: tuple[Fraction, ...]) -> Fraction:
    """Of some numbers."""
    total = Fraction(1)
    for each in numbers:
        total *= each
    return total


def is_true(fields: dict[str, Any], X: np.ndarray, y: Any, columns: dict[str, Any] | None = None) -> bool:
    """Whether a claim is right about the data."""
    if fields["question"]["kind"] == "estimate":
        return estimate_is_true(fields, X, {"y": y, **(columns or {})})
    if fields["claim"] == "fewest-errors":
        return fewest_is_true(fields, X, y)
    if fields["question"]["kind"] == "network":
        units = [(list(map(read_number, unit["weights"])), unit["class"]) for unit in fields["units"]]
        asked = [i for i in range(len(y)) if i not in fields["question"]["excluded"]]
        own = [fields["question"]["classes"].index(str(label)) for label in y[asked].tolist()]
        return bool(asked) and naive_network.labels(units, fields["default"], X[asked]) == own
    rows = signed_rows(fields, X, y)
    if not rows:
        return False
    truth = naive.separation(rows)
    return truth != "separable" if fields["claim"] == "inseparable" else truth == fields["claim"]


def estimate_is_true(fields: dict[str, Any], X: np.ndarray, columns: dict[str, Any]) -> bool:
    """Whether the estimate exists, and is unique, as it is claimed."""
    asked = fields["question"]
    options = {name: asked[name] for name in ("intercept", "ties", "penalized")}
    exists, unique, coefficients = naive_estimate.expected(asked["model"], X, columns, **options)
    own = coefficients[: X.shape[1]] if "groups" in columns else coefficients  # no dummies of fixed effects
    several = "not identified" in own
    claims = {"exists", "not unique" if several else "unique"} if exists else {"does not exist"}
    return fields["claim"] in claims - ({"unique"} if unique is None else set())


def fewest_is_true(fields: dict[str, Any], X: np.ndarray, y: np.ndarray) -> bool:
    """Whether the fewest errors cost at least as much, and those of the weights exactly as much."""
    asked = fields["question"]
    joint, costs = len(asked["classes"]) > 2, asked["costs"]
    kind = {"kind": "joint" if joint else "binary", "chosen": [], "excluded": []}
    rows = signed_rows({"question": {**asked, **kind}}, X, y)
    cost = [1] * len(y) if costs is None else [int(each, 0) for each in costs]
    of = [rows[i : i + len(rows) // len(y)] for i in range(0, len(rows), len(rows) // len(y))]
    flat = [number(v) for vector in fields["weights"] for v in vector]
    wrong = [any(sum(map(mul, row, flat)) <= 0 for row in each) for each in of]
    least = fewest_of_classes(of, cost) if joint else fewest(rows, cost)
    return int(fields["lower"], 0) <= least and int(fields["upper"], 0) == sum(map(mul, wrong, cost))


def number(text: str) -> Fraction:
    """A number of a certificate."""
    return Fraction(float.fromhex(text) if "p" in text else int(text, 0))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every part of a document, but the whole."""
    found = [path] if path else []
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        found += leaves(part, (*path, key))
    return found


def another(rng: random.Random, value: Any) -> Any:
    """A value that might be taken for the one that was there."""
    if rng.random() < 0.1:
        return copy.deepcopy(rng.choice(ODD))
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice([-1, 1, 1, 2])
    if isinstance(value, list):
        changed = list(value)
        act = rng.randrange(4)
        if act == 0 and changed:
            del changed[rng.randrange(len(changed))]
        elif act == 1 and changed:
            changed.insert(rng.randrange(len(changed) + 1), rng.choice(changed))
        elif act == 2:
            rng.shuffle(changed)
        else:
            changed = changed[: len(changed) // 2]
        return changed
    if not isinstance(value, str):
        return copy.deepcopy(rng.choice(ODD))
    if "p" in value and "0x" in value:
        number = float.fromhex(value)
        near = float(np.nextafter(number, rng.choice([-np.inf, np.inf])))
        return rng.choice([-number, 0.0, number / 2, number * (1 + 2**-50), near, number + 1.0]).hex()
    if value.lstrip("-").isdigit() or value.lstrip("-").startswith("0x"):
        number = int(value, 16 if "x" in value else 10)
        return str(rng.choice([-number, number + 1, number - 1, 0, 2 * number]))[:4000]
    return rng.choice(WORDS)


def tampered(rng: random.Random, fields: dict[str, Any]) -> Any:
    """The same certificate, changed once or a few times."""
    changed = copy.deepcopy(fields)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        *path, last = rng.choice(leaves(changed))
        target = changed
        for step in path:
            target = target[step]
        act = rng.random()
        if act < 0.75:
            target[last] = another(rng, target[last])
        elif act < 0.85 and isinstance(target, dict):
            del target[last]
        elif act < 0.95:
            donor = question(rng.randrange(N_QUESTIONS)).fields
            name = rng.choice([*donor.keys()])
            if name not in ("format", "version"):
                changed[name] = copy.deepcopy(donor[name])
        else:
            changed["claim"] = rng.choice(WORDS[:4])
    return changed


def check_certificates(rng: random.Random, count: int, _folder: Path) -> None:
    """Whatever is accepted is true, whatever is refused is refused by the one error, and in time."""
    accepted = 0
    for _ in range(count):
        asked = question(rng.randrange(N_QUESTIONS))
        X, y, found = asked.X, asked.y, asked.fields
        act = rng.random()
        if act < 0.8:
            found = tampered(rng, found)
        else:
            X = X.copy()
            X.flat[rng.randrange(X.size)] = rng.choice([0.0, 1.0, -1.0, 0.5, 1e-300])
        given: Any = found if rng.random() < 0.5 else json.dumps(found)
        if act > 0.97:
            at, text = rng.randrange(1, 400), json.dumps(found)
            given = text[:at] + rng.choice(["", "9", "-", '"', "[", "e5", "\\u0661"]) + text[at + 1 :]
        accepted += holds(given, X, y, asked.columns)
    assert accepted * 100 > count, (
        f"{accepted} of {count} were accepted: the changes are too coarse to tell much"
    )


def kind_of(fields: dict[str, Any]) -> tuple[str, str]:
    """The kind of question, and what proves the answer."""
    return fields["question"]["kind"], "approximate" if fields.get("approximate") else fields["claim"]


@cache
def by_kind(count: int) -> list[list[Question]]:
    """So many questions, one list for each kind."""
    found: dict[tuple[str, str], list[Question]] = {}
    for seed in range(count):
        asked = question(seed)
        found.setdefault(kind_of(asked.fields), []).append(asked)
    return list(found.values())


def check_two(rng: random.Random, count: int, _folder: Path) -> None:
    """Two checkers say the same of as many changed certificates of each kind.

    The second one may prove from approximate multipliers, in rational numbers, what floats cannot confirm;
    that has to be true. Nothing else may differ.
    """
    accepted, kinds = 0, by_kind(max(N_QUESTIONS, count // 10))
    for n in range(count):
        asked = rng.choice(kinds[n % len(kinds)])
        X, y, same_data = asked.X, asked.y, rng.random() < 0.3
        text = json.dumps(tampered(rng, asked.fields) if rng.random() < 0.9 else asked.fields)
        if rng.random() < 0.1:
            X = X.copy()
            X.flat[rng.randrange(X.size)] = rng.choice([0.0, 1.0, -1.0, 0.5, 1e-300])
        if rng.random() < 0.05:
            at = rng.randrange(1, len(text))
            text = text[:at] + rng.choice(["", "9", "-", '"', "[", "e5", "\\u0661"]) + text[at + 1 :]
        try:
            first = verify(text, X, y, same_data=same_data, time_limit=SECONDS, **asked.columns).holds
        except CertificateError:
            first = False
        columns = {name: values.tolist() for name, values in asked.columns.items()}
        own, why = second.ask(text, X, None if y is None else y.tolist(), same_data, **columns)
        accepted += first
        if own == first:
            continue
        found = f"{first} and {own} ({why}): {text} about {X.tolist()} {y} {columns}"
        assert own, found
        assert kind_of(json.loads(text))[1] == "approximate", found
        assert is_true(json.loads(text), X, y), f"a lie was accepted by the second: {found}"
    assert accepted * 20 > count, f"{accepted} of {count} were accepted: the changes are too coarse"


def holds(given: Any, X: np.ndarray, y: Any, columns: dict[str, Any] | None = None) -> bool:
    """Whether it was accepted; AssertionError if that was wrong, or took too long."""
    begun = time.monotonic()
    try:
        check = verify(given, X, y, same_data=False, time_limit=SECONDS, **(columns or {}))
    except CertificateError:
        check = None
    assert time.monotonic() - begun < SECONDS + 1.0, f"late: {given}"
    if check is None or not check.holds:
        assert check is None or check.reason
        return False
    fields = json.loads(given) if isinstance(given, str) else given
    told = f"a lie was accepted: {json.dumps(fields)} about {X.tolist()} {y} {columns}"
    assert is_true(fields, X, y, columns), told
    return True
