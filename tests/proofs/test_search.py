"""Every method of the search gives the verdict of rational arithmetic, on numbers of any size."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import separatrix as sx
from separatrix.deadline import NEVER, Deadline
from separatrix.inputs.data import read_data
from separatrix.proofs import signed_rows
from separatrix.proofs.search import Knowledge, Learned, Problem, Separated, search
from separatrix.proofs.signed_rows import SignedRows
from separatrix.proofs.strategies import (
    STRATEGIES,
    LinearProgram,
    class_subsets,
    interior_point,
    sparse_elimination,
)
from tests import naive
from tests.problems import chain

METHODS = {
    "program": [],  # the linear program gets all rows at once
    "working set": [(signed_rows, "SMALL")],
    "central": [
        (signed_rows, "SMALL"),
        (sparse_elimination, "FEWEST"),
        (interior_point, "FEWEST"),
    ],
}


def numbers(rng, kind, shape):
    """Small whole numbers, times powers of two for each row or each number, or of low rank."""
    whole = rng.integers(-3, 4, shape).astype(float)
    if kind == "lengths":
        return np.ldexp(whole, rng.integers(-500, 500, (shape[0], 1)))
    if kind == "extreme":
        return np.ldexp(whole, rng.integers(-1070, 900, shape))
    if kind == "rank two":
        return (
            rng.integers(-2, 3, (shape[0], 2)) @ rng.integers(-2, 3, (2, shape[1])) / rng.choice([1.0, 3.0])
        )
    return whole


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["whole", "lengths", "extreme", "rank two"])
@pytest.mark.parametrize("part", range(3))
def test_verdicts_by_every_method_are_those_of_rational_arithmetic(method, kind, part, monkeypatch):
    for module, name in METHODS[method]:
        monkeypatch.setattr(module, name, 0)
    monkeypatch.setattr(sparse_elimination, "FREQUENT", 1)
    rng = np.random.default_rng(part)
    for case in range(12):
        X = numbers(rng, kind, (int(rng.integers(2, 13)), int(rng.integers(1, 5))))
        y = np.append([0, 1], rng.integers(0, 2, len(X) - 2))
        if case % 3 == 0:
            X = X * (2.0 * y - 1.0)[:, None]
        lift = case % 2 == 0
        monkeypatch.setattr(interior_point, "SPARSE_PRODUCT", rng.choice([0.0, 60.0, np.inf]))
        truth = naive.separation(naive.exact_signed_rows(X.tolist(), y.tolist(), lift=lift))
        for matrix in (X, sparse.csr_array(X)):
            verdict = sx.separability(matrix, y, fit_intercept=lift)
            assert verdict.status == truth
            assert sx.verify(verdict.certificate, matrix, y)


@pytest.mark.parametrize("whole", [False, True])
def test_a_row_of_zeros_lies_on_every_plane_through_the_origin(whole):
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (400, 250)) if whole else rng.standard_normal((400, 250))
    X[7], y = 0, np.arange(400) % 2
    verdict = sx.separability(X, y, fit_intercept=False, quasi=False)
    assert verdict.status == "inseparable"
    assert sx.verify(verdict.certificate, X, y)


def question(X, y, **changes):
    """A problem about two classes with an intercept; any weights are accepted."""
    data = sx.inputs.data.read_data(X, y)
    inside = np.ones(len(y), dtype=bool)
    rows = signed_rows.SignedRows(data, 1, inside, True, NEVER)
    given = {"strategies": STRATEGIES, **changes}
    return Problem(rows, accept=lambda _: True, among=inside, **given)


def test_no_multiplier_at_all_proves_nothing():
    problem = question(
        [[1.0], [2.0], [3.0]], [0, 1, 0], approximate=lambda *_: pytest.fail("nothing to prove")
    )
    for values in (np.array([0.0, np.inf, np.nan]), np.zeros(0)):
        assert interior_point._proved(problem, np.arange(values.size), values) is None


@pytest.mark.parametrize("without", range(len(STRATEGIES)))
def test_a_strategy_less_changes_no_answer(without):
    """All but the last two answer only what is worth it; what they leave open the next ones answer."""
    strategies = STRATEGIES[:without] + STRATEGIES[without + 1 :]
    rng = np.random.default_rng(without)
    for _ in range(20):
        X, y = rng.integers(-3, 4, (12, 2)).astype(float), np.append([0, 1], rng.integers(0, 2, 10))
        truth = naive.separation(naive.exact_signed_rows(X.tolist(), y.tolist()))
        found = search(question(X, y, strategies=strategies), Knowledge())
        assert isinstance(found, Separated) == (truth == "separable")
        assert not isinstance(found, Learned)


def test_what_the_default_perceptron_separates_is_not_undecided_for_many_classes():
    """Thirty passes in turn leave errors; the default order of the estimator leaves none."""
    X, y = load_digits(return_X_y=True)
    with pytest.warns(ConvergenceWarning):
        assert sx.Perceptron(order="cyclic", max_iter=30).fit(X, y).result_.errors > 0
    verdict = sx.separability(X, y)
    assert verdict.status == "separable"
    assert verdict.search[-1].strategy == "squared hinge loss"
    assert 0.0 < verdict.margin[0] <= verdict.margin[1] < np.linalg.norm(X, axis=1).max()
    assert sx.verify(verdict.certificate, X, y)


def three_of_four(n_rows, n_columns):
    """Normal rows of three classes, of which pairs have too few rows to overlap, and a class far away."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n_rows, n_columns)), np.arange(n_rows) % 4
    X[y == 3] += 100.0
    return X, y


@pytest.mark.parametrize(("n_rows", "n_columns"), [(220, 60), (900, 250)])
def test_three_classes_prove_four_inseparable_though_every_pair_can_be_separated(
    n_rows, n_columns, monkeypatch
):
    monkeypatch.setattr(class_subsets, "MOST_COLUMNS", 2 * (n_columns + 1))
    X, y = three_of_four(n_rows, n_columns)
    for pair in itertools.combinations(range(4), 2):
        kept = np.isin(y, pair)
        assert sx.separability(X[kept], y[kept], quasi=False).separable
    verdict = sx.separability(X, y, quasi=False)
    assert verdict.status == "inseparable"
    steps = [step.strategy for step in verdict.search]
    assert any(step.startswith("classes 0, 1 and 2: ") for step in steps)
    assert steps[-1] == "class subsets"
    assert {rival for _, rival, _ in verdict.witness} <= {0, 1, 2}
    assert sx.verify(verdict.certificate, X, y)


def test_a_strategy_that_uses_up_its_share_leaves_the_rest_to_the_next():
    class Slow:
        name, share = "slow", 0.25

        def applies(self, problem):
            return True

        def attempt(self, problem, known):
            while True:
                problem.deadline.need()

    strategies = (Slow(), LinearProgram())
    known = Knowledge()
    problem = question([[0.0], [1.0], [2.0]], [0, 0, 1], strategies=strategies, limit=Deadline.after(2.0))
    assert isinstance(search(problem, known), Separated)
    assert [step.outcome for step in known.steps] == ["out of time", "separated"]
    assert 0.4 < known.steps[0].seconds < 1.5


def test_the_last_step_of_a_search_is_the_one_that_answered():
    verdict = sx.separability([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert [(step.strategy, step.outcome) for step in verdict.search] == [
        ("conflicts", "no answer"),
        ("linear program", "separated"),
    ]
    assert all(step.seconds >= 0.0 for step in verdict.search)


def test_a_question_of_many_rows_that_settle_in_turn_keeps_its_time_limit():
    Z, y = chain(20_000), np.arange(20_000) % 2
    X = sparse.csr_array(sparse.diags_array(2.0 * y - 1.0) @ Z)
    begin = Deadline.after(0.0).moment
    verdict = sx.separability(X, y, fit_intercept=False, time_limit=2.0)
    assert verdict.status in ("separable", "undecided")
    assert Deadline.after(0.0).moment - begin < 60.0  # it took minutes, and gigabytes


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_the_finer_question_is_answered_on_the_directions_that_tight_rows_leave(stored, monkeypatch):
    for module, name in METHODS["central"]:
        monkeypatch.setattr(module, name, 0)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(160, 20)), rng.integers(0, 2, 160)
    X[:80, 10:] = 0.0
    y[80:] = X[80:, 10:] @ rng.normal(size=10) > 0.0
    assert sx.separability(X[:80], y[:80]).status == "overlapping"
    verdict = sx.separability(stored(X), y)
    assert verdict.status == "quasi-separable"
    assert verdict.strict_rows.tolist() == list(range(80, 160))
    assert [step.strategy for step in verdict.search if step.outcome == "separated"] == ["interior point"]
    assert sx.verify(verdict.certificate, stored(X), y)


def test_weights_that_vanish_on_tight_rows_stay_near_if_their_first_columns_nearly_depend():
    X = np.array([[1.0, 1.0 + 2.0**-40, 1.0, 0.0], [1.0, 1.0, 0.0, 1.0], [1.0, 2.0, 3.0, 4.0]])
    signed = SignedRows(read_data(X, [1, 1, 0]), 1, np.ones(3, dtype=bool), lift=False)
    signed.small = False  # small questions take the first columns that are independent
    among, tight = np.array([False, False, True]), np.array([0, 1])
    near = np.array([0.5, 0.25, -0.75 + 1e-5, -0.75 - 1e-5])
    scaled = near * 2.0**signed.exponents
    (found,) = Problem(signed, (), lambda _: True, among, tight).exact_weights(scaled)
    exact = [Fraction(value) for value in found]
    assert all(sum(Fraction(v) * w for v, w in zip(row, exact, strict=True)) == 0 for row in X[:2].tolist())
    largest = max(map(abs, exact))
    np.testing.assert_allclose([float(w / largest) for w in exact], near / 0.75, atol=1e-4)


def test_three_classes_of_which_every_two_can_be_separated_may_be_inseparable():
    # The lines between two classes are nearly y = 0, x = 0 and x + y = 10. Those of three weight vectors meet
    # in one point, or are parallel.
    classes = [[(10, 1), (20, 1), (-5, 16), (-15, 26)], [(10, -1), (20, -1), (1, -5), (1, -15)]]
    classes += [[(-1, -5), (-1, -15), (-5, 14), (-15, 24)]]
    X, y = np.array(classes, dtype=float).reshape(-1, 2), np.repeat([0, 1, 2], 4)
    assert sx.separability(X, y, multiclass="pairwise").separable
    verdict = sx.separability(X, y)
    assert verdict.status == "overlapping"
    assert sx.verify(verdict.certificate, X, y)


def test_many_classes_are_proved_inseparable_at_once_by_the_interior_point_method():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 40)), rng.permutation(np.arange(300) % 10)
    assert sx.separability(X, y, multiclass="pairwise", quasi=False).separable
    verdict = sx.separability(X, y)
    assert (verdict.status, verdict.search[-1].strategy) == ("overlapping", "interior point")
    assert sx.verify(verdict.certificate, X, y)
