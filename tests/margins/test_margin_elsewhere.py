"""Laws of the margin solvers on rows that are not in memory, and at deadlines."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris

import separatrix as sx
from separatrix import deadline
from separatrix.deadline import Deadline
from separatrix.errors import InputError
from separatrix.margins.hard.max_margin import solve_max_margin
from separatrix.margins.lp.linear_program import solve_linear_program
from separatrix.margins.soft import proximal_newton, soft_margin
from separatrix.margins.soft.soft_margin import solve_soft_margin
from separatrix.result import Status
from separatrix.rows.memory import as_rows
from separatrix.rows.numpy_loops import best_rivals, signed_scores
from tests.elsewhere import Elsewhere
from tests.problems import clouds, grids

FREE = pytest.mark.parametrize("free", [False, True])
PAST = Deadline(0.0)


def narrow(seed=0, n_rows=3000):
    problem = sx.datasets.make_separable(n_rows=n_rows, n_columns=6, margin=0.03, random_state=seed)
    return as_rows(problem.X, problem.y > 0)


def wide(make, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((90, 600)) * (generator.random((90, 600)) < 0.2)
    return as_rows(make(X), np.arange(90) % 2)


def overlapping(seed=0, n_rows=400):
    generator = np.random.default_rng(seed)
    y = np.arange(n_rows) % 2
    return as_rows(generator.standard_normal((n_rows, 5)) + 0.5 * y[:, None], y)


HARD = {
    "few columns": narrow,
    "many columns": lambda: wide(np.asarray),
    "many columns, sparse": lambda: wide(sparse.csr_array),
    "few columns, sparse": lambda: as_rows(sparse.csr_array(narrow(1, 300).matrix), narrow(1, 300).labels),
}


# ---------------------------------------------------------------- rows elsewhere


@FREE
@pytest.mark.parametrize("make", HARD.values(), ids=HARD)
def test_rows_elsewhere_have_the_largest_margin_of_rows_in_memory(make, free):
    rows = make()
    near = solve_max_margin(rows, free_intercept=free)
    far = solve_max_margin(Elsewhere(rows), free_intercept=free)
    assert near.status is far.status is Status.REACHED
    assert far.margin_lower <= near.margin_upper * (1 + 1e-12)
    assert near.margin_lower <= far.margin_upper * (1 + 1e-12)
    assert far.gap <= 1e-9


@FREE
def test_many_classes_elsewhere_have_the_largest_margin_of_those_in_memory(free):
    X = load_iris().data
    rows = as_rows(X, np.digitize(X[:, 2], [2.5, 4.9]), n_classes=3)
    near = solve_max_margin(rows, free_intercept=free)
    far = solve_max_margin(Elsewhere(rows), free_intercept=free)
    assert near.status is far.status is Status.REACHED
    assert far.margin_lower == pytest.approx(near.margin_lower, rel=2e-9)


def test_rows_elsewhere_are_not_copied_but_for_the_working_set():
    rows = Elsewhere(narrow(n_rows=50_000))
    found = solve_max_margin(rows)
    assert found.status is Status.REACHED
    assert rows.taken < 0.2 * rows.n_rows


@FREE
@pytest.mark.parametrize("limit", [5000, 0], ids=["factorised", "iterated"])
@pytest.mark.parametrize("make", [overlapping, lambda: wide(sparse.csr_array)], ids=["overlap", "sparse"])
def test_rows_elsewhere_have_the_soft_margin_of_rows_in_memory(make, limit, free, monkeypatch):
    rows, caps = make(), np.random.default_rng(0).uniform(0.5, 2.0, make().n_rows)
    near = solve_soft_margin(rows, caps, free_intercept=free)
    monkeypatch.setattr(proximal_newton, "DIRECT", limit)
    far = solve_soft_margin(Elsewhere(rows), caps, free_intercept=free)
    assert near.status is far.status is Status.REACHED
    assert far.gap <= 1e-6
    assert far.dual <= near.primal * (1 + 1e-12)
    assert near.dual <= far.primal * (1 + 1e-12)


def test_a_sample_of_rows_elsewhere_gives_the_first_weights(monkeypatch):
    rows = overlapping(1, 2000)
    monkeypatch.setattr(soft_margin, "SAMPLE", 200)
    near, far = (solve_soft_margin(each, np.ones(2000)) for each in (rows, Elsewhere(rows)))
    assert far.primal == pytest.approx(near.primal, rel=2e-6)
    assert far.gap <= 1e-6


def test_many_classes_elsewhere_have_no_soft_margin_yet():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match="3 classes needs rows in memory"):
        solve_soft_margin(Elsewhere(as_rows(X, y, n_classes=3)), np.ones(len(y)))


@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_elsewhere_have_the_linear_program_of_rows_in_memory(form, n_classes):
    X = load_iris().data
    rows = as_rows(X, np.digitize(X[:, 2], [2.5, 4.9][: n_classes - 1]), n_classes=n_classes)
    near, far = (solve_linear_program(each, form=form) for each in (rows, Elsewhere(rows)))
    assert near.status is far.status is Status.REACHED
    assert near.separated
    assert far.separated
    assert far.value == pytest.approx(near.value, rel=1e-9)


@given(clouds(max_rows=12))
def test_outer_sums_and_class_sums_are_those_of_the_lifted_rows(case):
    rows = case.rows()
    lifted = np.column_stack([case.X, np.ones(len(case.X))]) if case.lift else case.X
    members = np.arange(0, len(lifted), 2)
    expected = np.tril(lifted[members].T @ lifted[members])
    np.testing.assert_allclose(np.tril(rows.outer_sum(members)), expected, atol=1e-9)
    factors = np.arange(1.0, len(lifted) + 1.0)
    expected = [(factors[:, None] * lifted)[case.codes == c].sum(axis=0) for c in range(case.n_classes)]
    np.testing.assert_allclose(rows.class_sums(factors), expected, atol=1e-9)


@given(grids(storage="float64 by rows"))
def test_a_lead_is_the_own_output_less_the_best_other(case):
    outputs = np.random.default_rng(0).integers(-3, 4, (len(case.codes), case.n_classes)).astype(float)
    rivals = best_rivals(outputs, case.codes)
    for row, own in enumerate(case.codes):
        others = np.delete(outputs[row], own)
        assert signed_scores(outputs, case.codes)[row] == outputs[row, own] - others.max()
        assert rivals[row] != own
        assert outputs[row, rivals[row]] == others.max()
    if case.n_classes == 2:  # one output for two classes is that of class 1 over class 0
        single = (outputs[:, 1] - outputs[:, 0])[:, None]
        np.testing.assert_array_equal(signed_scores(single, case.codes), signed_scores(outputs, case.codes))


# ---------------------------------------------------------------- deadlines


class Clock:
    """A clock that moves on by a second whenever it is asked."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        self.now += 1.0
        return self.now


def seconds_for(solve):
    start = time.monotonic()
    return solve(), time.monotonic() - start


@FREE
@pytest.mark.parametrize("make", HARD.values(), ids=HARD)
def test_a_largest_margin_after_its_deadline_returns_at_once_with_a_valid_bracket(make, free):
    rows = make()
    _ = rows.squared_norms
    found, seconds = seconds_for(lambda: solve_max_margin(rows, free_intercept=free, deadline=PAST))
    assert found.status is Status.TIME_LIMIT
    assert found.margin_lower <= found.margin_upper
    assert found.gap == 1.0
    assert found.steps == found.scans == 0
    assert seconds < 1.0


@FREE
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_soft_margin_after_its_deadline_returns_at_once_with_a_valid_bracket(free, n_classes):
    X, y = load_iris(return_X_y=True)
    rows = as_rows(X, np.minimum(y, n_classes - 1), n_classes=n_classes)
    found, seconds = seconds_for(
        lambda: solve_soft_margin(rows, np.ones(len(y)), free_intercept=free, deadline=PAST)
    )
    assert found.status is Status.TIME_LIMIT
    assert (found.dual, found.steps) == (0.0, 0)
    assert len(y) <= found.primal <= len(y) * (1.0 + 1e-14)
    assert seconds < 1.0


@pytest.mark.parametrize("form", ["primal", "dual"])
def test_a_linear_program_after_its_deadline_returns_at_once_and_claims_nothing(form):
    found, seconds = seconds_for(lambda: solve_linear_program(narrow(), form=form, deadline=PAST))
    assert found.status is Status.TIME_LIMIT
    assert not found.separated
    assert found.multipliers.size == found.rows.size == found.programs == 0
    assert seconds < 1.0


@FREE
@pytest.mark.parametrize("make", HARD.values(), ids=HARD)
@settings(max_examples=10, deadline=None)
@given(ticks=st.integers(1, 40))
def test_whenever_the_deadline_comes_the_largest_margin_is_in_the_bracket(make, free, ticks):
    rows = make()
    truth = solve_max_margin(rows, free_intercept=free)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deadline, "time", Clock())
        found = solve_max_margin(rows, free_intercept=free, deadline=Deadline(float(ticks)))
    assert found.status in (Status.TIME_LIMIT, Status.REACHED)
    assert (found.status is Status.REACHED) == (found.gap <= 1e-9)
    assert found.margin_lower <= truth.margin_upper * (1 + 1e-12)
    assert truth.margin_lower <= found.margin_upper * (1 + 1e-12)


@FREE
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("direct", [2000, 0], ids=["few columns", "many columns"])
@settings(max_examples=10, deadline=None)
@given(ticks=st.integers(1, 40))
def test_whenever_the_deadline_comes_the_least_objective_is_in_the_gap(n_classes, direct, free, ticks):
    X, y = load_iris(return_X_y=True)
    rows = as_rows(X, np.minimum(y, n_classes - 1), n_classes=n_classes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(soft_margin, "FEW", direct)
        truth = solve_soft_margin(rows, np.ones(len(y)), free_intercept=free)
        patch.setattr(deadline, "time", Clock())
        found = solve_soft_margin(rows, np.ones(len(y)), free_intercept=free, deadline=Deadline(float(ticks)))
    assert found.status in (Status.TIME_LIMIT, Status.REACHED)
    assert (found.status is Status.REACHED) == (found.gap <= 1e-6)
    assert found.dual <= truth.primal * (1 + 1e-12)
    assert truth.dual <= found.primal * (1 + 1e-12)


def test_a_system_that_would_end_after_the_deadline_is_not_begun(monkeypatch):
    generator = np.random.default_rng(0)
    rows = as_rows(generator.standard_normal((3000, 1500)), np.arange(3000) % 2)
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: 0.0))
    with monkeypatch.context() as patch:
        patch.setattr(proximal_newton, "_solve", None)  # nothing comes to it
        found = solve_soft_margin(rows, np.ones(3000), deadline=Deadline(0.1))
    assert found.status is Status.TIME_LIMIT
