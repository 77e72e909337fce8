"""Answers that were not true: by ranks modulo one prime, verdicts lost, signs that the data leave open."""

from __future__ import annotations

from itertools import islice
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix import deadline
from separatrix.deadline import Deadline, OutOfTime
from separatrix.errors import SeparationWarning
from separatrix.proofs import signed_rows
from separatrix.proofs import verdict as verdict_module
from separatrix.proofs.exact import integer_rows
from separatrix.proofs.prove import STRENGTH, Judge
from separatrix.proofs.statistics import coefficients
from separatrix.proofs.strategies import interior_point
from separatrix.report import words
from tests.naive_separation import separation

MERSENNE = 2**31 - 1
FIRST, SECOND = islice(integer_rows.primes(), 2)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Answers do not depend on how busy the machine is."""
    monkeypatch.setattr(verdict_module, "COEFFICIENT_SECONDS", np.inf)


def design(rng, n_classes):
    """A few rows of small whole numbers, whose columns may depend on each other."""
    n_columns = int(rng.integers(1, 4 if n_classes == 2 else 2))
    n_rows, top = int(rng.integers(n_classes, 9)), int(rng.choice([1, 2, 5]))
    X, y = rng.integers(-top, top + 1, (n_rows, n_columns)), rng.integers(0, n_classes, n_rows)
    y[:2] = 0, 1
    return X, y


# Ranks


def test_a_column_that_is_a_multiple_of_a_prime_is_not_lost():
    p = MERSENNE
    verdict = sx.separability([[0, 0], [0, p], [1, 0], [1, p]], [0, 0, 1, 1])
    assert verdict.coefficients == {
        "x0": "+infinity",
        "x1": "not determined",
        "(intercept)": "-infinity",
    }


def test_the_finer_answer_is_not_lost_on_multiples_of_a_prime():
    p = MERSENNE
    X, y = [[0, 0], [p, p], [0, p], [p, 0], [p, 0], [p + 1, 5]], [0, 0, 1, 1, 0, 1]
    verdict = sx.separability(X, y)
    assert verdict.status == "overlapping"
    assert sx.verify(verdict.certificate, X, y)


@pytest.mark.parametrize("factor", [MERSENNE, FIRST, SECOND, FIRST * SECOND])
def test_no_factor_changes_a_verdict(factor):
    rng = np.random.default_rng(0)
    for _ in range(40):
        X, y = design(rng, 2)
        X = np.sign(X) if factor > 2**32 else X
        status, _, answers = separation(X.tolist(), y.tolist())
        verdict = sx.separability(X * factor, y)
        assert verdict.status == status
        assert list(verdict.coefficients.values()) == answers


def test_a_minor_that_primes_divide_misleads_nobody():
    """Rows whose determinant is the product of the first two primes: they are dependent modulo both."""
    a, c = 3**20, 5**13
    d = pow(a, -1, c) * (FIRST * SECOND) % c
    b = (a * d - FIRST * SECOND) // c
    X = np.array([[a, b], [c, d], [-a, -b], [2 * a, 2 * b], [0, 0]], dtype=np.int64)
    assert a * d - b * c == FIRST * SECOND
    for y in ([0, 1, 0, 1, 1], [0, 0, 1, 1, 0], [1, 1, 1, 0, 0]):
        for lift in (True, False):
            status, _, answers = separation(X.tolist(), y, lift)
            verdict = sx.separability(X, y, fit_intercept=lift)
            assert verdict.status == status
            assert list(verdict.coefficients.values()) == answers


def test_primes_are_primes_of_31_bits_and_start_alike():
    found = list(islice(integer_rows.primes(), 20))
    assert len(set(found)) == 20
    assert all(2**30 < p < 2**31 and pow(2, p - 1, p) == 1 for p in found)
    assert found[0] == integer_rows.FIRST_PRIME


# Time


def nearly_proved(seed=0, n_rows=90, n_columns=8):
    """Noise, and a column that is zero except on two rows of one class: quasi-separable, by two witnesses."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.standard_normal((n_rows, n_columns)), np.zeros(n_rows)])
    y = rng.integers(0, 2, n_rows)
    X[np.flatnonzero(y)[:2], -1] = 1.0
    return X, y


@pytest.fixture
def as_if_large(monkeypatch):
    """Few rows are asked about as if they were many: by perceptron, interior point, approximate proofs."""
    monkeypatch.setattr(signed_rows, "SMALL", 0)
    monkeypatch.setattr(interior_point, "FEWEST", 3)


@pytest.fixture
def noted(monkeypatch):
    """What the judge has accepted."""
    accept, accepted = Judge.accept, []

    def noting(self, proof):
        held = accept(self, proof)
        accepted.extend([proof.status] * held)
        return held

    monkeypatch.setattr(Judge, "accept", noting)
    return accepted


def clock(monkeypatch, limit):
    """A clock that is a second later each time somebody looks at it, and a deadline of so many looks."""
    looks = iter(range(10**9))
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: float(next(looks))))
    return float(limit)


@pytest.mark.compiled
def test_an_accepted_proof_outlives_a_check_that_runs_out_of_time(as_if_large, monkeypatch):
    X, y = nearly_proved()
    check, approximate = Judge.accept, []

    def late(self, proof):
        if proof.multipliers is not None:
            raise OutOfTime
        approximate.append(proof.status)
        return check(self, proof)

    monkeypatch.setattr(Judge, "accept", late)
    verdict = sx.separability(X, y)
    assert "inseparable" in approximate
    assert verdict.status == "inseparable"
    assert verdict.certificate.approximate is not None
    assert verdict.margin[1] == 0.0


@pytest.mark.compiled
@pytest.mark.parametrize("large", [False, True])
def test_no_time_limit_loses_what_was_proved(large, noted, monkeypatch, request):
    if large:
        request.getfixturevalue("as_if_large")
    X, y = nearly_proved()
    before, seen, limit = 0, [], 2
    while not seen or seen[-1] != "quasi-separable":
        noted.clear()
        verdict = sx.separability(X, y, time_limit=clock(monkeypatch, limit))
        strength = STRENGTH[verdict.status]
        assert strength == max((STRENGTH[status] for status in noted), default=0)
        assert strength >= before
        assert verdict.margin[0] <= 0.0 <= verdict.margin[1]
        assert verdict.margin[1] == 0.0 or verdict.status == "undecided"
        assert verdict.status == "undecided" or sx.verify(verdict.certificate, X, y, same_data=False)
        before, limit = strength, limit + max(1, limit // 20)
        seen.append(verdict.status)
        assert len(seen) < 300
    assert set(seen) == {"undecided", "inseparable", "quasi-separable"}


@pytest.mark.slow
def test_no_limit_by_the_clock_loses_what_was_proved(noted):
    """More time gave a worse answer: inseparable in 1.5 seconds, undecided in 2."""
    X, y = nearly_proved(n_rows=3000, n_columns=300)
    for limit in (0.3, 0.7, 1.0, 1.5, 2.0, 2.5, 4.0):
        noted.clear()
        verdict = sx.separability(X, y, time_limit=limit)
        assert STRENGTH[verdict.status] == max((STRENGTH[status] for status in noted), default=0)


def test_coefficients_that_were_proved_are_kept_when_time_runs_out(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.integers(-3, 4, (40, 5))
    y = (X @ [2, -1, 1, 0, 0] > 0).astype(int)
    verdict = sx.separability(X, y)
    rows, proof, judge = verdict.find_coefficients.args
    names, whole = list(verdict.coefficients), verdict.coefficients
    assert None not in whole.values()
    partial = False
    for limit in range(1, 400, 7):
        due = Deadline.after(clock(monkeypatch, limit))
        found = coefficients.coefficient_answers(rows.due(due), proof, judge, names)
        decided = {name: answer for name, answer in found.answers.items() if answer is not None}
        assert decided.items() <= whole.items()
        assert set(found.responsible) >= set(verdict.responsible_features) - set(decided)
        partial |= 0 < len(decided) < len(whole)
    assert partial
    assert decided == whole


# Signs


def test_a_sign_that_the_data_leave_open_is_not_printed():
    verdict = sx.separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1])
    assert verdict.coefficients == {
        "x0": "+infinity",
        "x1": "not determined",
        "(intercept)": "-infinity",
    }
    assert np.isnan(verdict.responsible_features["x1"])
    assert verdict.to_dict()["responsible_features"]["x1"] == "not determined"
    assert "x1 not determined" in verdict.summary()


def test_an_interaction_with_a_group_of_one_outcome_need_not_diverge():
    """Whoever is treated recovers, young or old: that the effect differs between them is left open."""
    frame = pd.DataFrame({"treated": [0, 0, 0, 0, 1, 1, 1, 1], "old": [0, 0, 1, 1, 0, 0, 1, 1]})
    frame["both"] = frame.treated * frame.old
    with pytest.warns(SeparationWarning, match=r"treated to \+infinity, both not determined"):
        verdict = sx.check_separation(frame, [0, 1, 0, 1, 1, 1, 1, 1])
    assert verdict.coefficients == {
        "treated": "+infinity",
        "old": "finite",
        "both": "not determined",
        "(intercept)": "finite",
    }


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_coefficients_are_those_of_the_extreme_rays(n_classes, count):
    rng = np.random.default_rng(n_classes)
    for _ in range(count):
        X, y = design(rng, n_classes)
        lift = bool(rng.random() < 0.8)
        status, strict, answers = separation(X.tolist(), y.tolist(), lift)
        verdict = sx.separability(X, y, fit_intercept=lift)
        assert verdict.status == status
        assert list(verdict.coefficients.values()) == answers
        pairs = np.reshape(strict, (len(y), -1))
        assert verdict.strict_rows.tolist() == np.flatnonzero(pairs.all(axis=1)).tolist()
        if status == "quasi-separable":
            some = pairs.any(axis=1) & ~pairs.all(axis=1)
            assert verdict.partly_strict == np.count_nonzero(some)


def test_a_kernel_without_columns_has_no_coefficients():
    verdict = sx.separability([[0.0], [1.0], [3.0]], [0, 1, 0], kernel="rbf")
    assert verdict.status == "separable"
    assert verdict.coefficients == verdict.responsible_features == {}


def test_an_undecided_verdict_still_names_the_columns_that_depend_on_others():
    X = np.random.default_rng(0).integers(0, 9, (50, 3))
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    verdict = sx.separability(X, np.arange(50) % 2, quasi=False)
    assert verdict.status == "inseparable"
    assert verdict.not_identified == ["x0", "x1", "x3"]
    assert verdict.coefficients["x2"] is None


# Words


def test_rows_of_many_classes_that_are_separated_from_some_are_said_to_be():
    """Left of zero are a and b, right of it c and d: each row ties with a class and leads two others."""
    X = [[-2], [-1], [-2], [-1], [1], [2], [1], [2]]
    y = list("aabbccdd")
    with pytest.warns(
        SeparationWarning, match=r"0 of 8 rows .* from all other classes, 8 from some of them\."
    ):
        verdict = sx.check_separation(X, y)
    assert verdict.status == "quasi-separable"
    assert verdict.partly_strict == 8
    assert "8 of 8 rows tie with at least one other class" in words.answer(verdict)
    assert "8 tie with another class" in words.proof(verdict)[-1]
    told = "no row strictly from all other classes; 8 strictly from some of them"
    assert words.separated_rows(verdict, None) == told
