"""Laws of the budget: it is its naive version, keeps its mistake bound, and never grows."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix.dual import budget as budgets
from separatrix.kernels import Gaussian, Polynomial
from separatrix.result import Status
from tests import naive_kernel
from tests.problems import TWO_STORAGES, clouds, cuts

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def outputs_of(support, K, n_classes):
    total = np.zeros((len(K), 1 if n_classes == 2 else n_classes))
    for row, vector in support:
        total += np.outer(K[row], vector)
    return total[:, 0] if n_classes == 2 else total


@given(data=st.data())
def test_a_budget_is_its_naive_version(data, monkeypatch):
    monkeypatch.setattr(budgets, "NARROW", data.draw(st.sampled_from([0, 1024])))
    case = data.draw(clouds(storage=data.draw(st.sampled_from(TWO_STORAGES)), max_rows=30, max_columns=4))
    kernel = data.draw(st.sampled_from([Gaussian(0.5), Polynomial(2)]))
    size, passes = data.draw(st.integers(2, 6)), data.draw(st.integers(1, 3))
    K = naive_kernel.gram(kernel, case.X, case.X, float(case.lift))
    model = sx.KernelPerceptron(kernel, budget=size, fit_intercept=case.lift, max_iter=passes)
    model.fit(case.stored, case.codes)
    mistakes, support, _, closest = naive_kernel.on_a_budget(
        K, case.codes, case.n_classes, size, passes=passes
    )
    assume(closest > 1e-9)  # the two do not compute the same sums: ties are decided by rounding
    assert model.mistakes_ == len(mistakes)
    made = np.bincount([i for i, _ in mistakes], minlength=len(K))
    assert model.mistake_counts_.tolist() == made.tolist()
    assert model.support_.size <= size
    assert sorted(model.support_) == sorted(row for row, _ in support)
    shown = model.decision_function(case.stored)
    assert shown == pytest.approx(outputs_of(support, K, case.n_classes), rel=1e-5, abs=1e-6)


@given(data=st.data())
def test_a_correction_is_of_a_mistake_and_its_rival_is_a_best_one_up_to_rounding(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    n_rows, n_classes = data.draw(st.integers(4, 20)), data.draw(st.integers(2, 4))
    X = rng.integers(-1, 2, (n_rows, data.draw(st.integers(1, 3)))).astype(float)  # equal rows, tied outputs
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
    model = sx.KernelPerceptron(Polynomial(2), budget=3, max_iter=3, trace=True).fit(X, y)
    K, trace = naive_kernel.gram(Polynomial(2), X, X, 1.0), model.result_.trace
    outputs = np.zeros(1 if n_classes == 2 else n_classes)
    for number, (row, rival) in enumerate(zip(trace.rows, trace.rivals, strict=True)):
        if number:  # a free place has number -1 and coefficients of zero
            outputs = K[row, trace.support[number - 1]] @ trace.coef[number - 1]
        best, _ = naive_kernel.judge(outputs, y[row], n_classes)
        score = best if n_classes == 2 else outputs[y[row]] - outputs[rival]
        assert best == pytest.approx(score, abs=1e-9)
        assert score <= 1e-9


def test_which_of_two_tied_rivals_is_corrected_may_be_decided_by_rounding():
    # Rows 3 and 8 are equal, and so in the end are the outputs of two of their rivals, but for rounding.
    X = np.array(
        [[0.25, 0], [1.25, 0.125], [-2, 0], [0, 0], [-1.5, 1.75], [0, 0.875], [1.5, 0], [0, 2], [0, 0]]
    )
    y = np.array([0, 1, 2, 3, 3, 3, 0, 0, 2])
    K = naive_kernel.gram(Polynomial(2), X, X, 1.0)
    *_, closest = naive_kernel.on_a_budget(K, y, 4, 4, passes=1)
    assert 0.0 <= closest < 1e-12


@settings(max_examples=10)
@given(data=st.data())
def test_mistakes_and_model_depend_neither_on_blocks_nor_on_calls(data, monkeypatch):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    n_classes = data.draw(st.sampled_from([2, 3]))
    X, y = rng.standard_normal((60, 5)), rng.integers(0, n_classes, 60)
    options = {"kernel": Gaussian(0.2), "budget": 7}
    whole = sx.KernelPerceptron(max_iter=1, **options).fit(X, y)
    monkeypatch.setattr(budgets, "BLOCK", data.draw(st.sampled_from([1, 5, 128])))
    model = sx.KernelPerceptron(**options)
    for piece in data.draw(cuts(60)):
        model.partial_fit(X[piece], y[piece], classes=np.arange(n_classes))
    assert model.mistakes_ == whole.mistakes_
    assert np.array_equal(model.support_, whole.support_)
    assert np.array_equal(model.dual_coef_, whole.dual_coef_)
    assert model.result_.status is Status.ONLINE


def test_a_budget_that_is_never_used_up_changes_nothing():
    problem = sx.datasets.make_separable(100, 3, margin=0.1, random_state=0)
    free = sx.KernelPerceptron(Gaussian(0.5), order="cyclic").fit(problem.X, problem.y)
    held = sx.KernelPerceptron(Gaussian(0.5), budget=10_000).fit(problem.X, problem.y)
    assert free.converged_
    assert held.converged_
    assert np.array_equal(free.mistake_counts_, held.mistake_counts_)
    assert held.decision_function(problem.X) == pytest.approx(free.decision_function(problem.X))


@st.composite
def streams_with_a_comparison(draw):
    """Rows for a Gaussian kernel, noisy labels that may turn over, and a u of its feature space."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    X = rng.standard_normal((draw(st.integers(150, 600)), 3))
    kernel = Gaussian(draw(st.sampled_from([0.1, 1.0])))
    centres = rng.standard_normal((5, 3))
    shares = rng.standard_normal(5)
    outputs = kernel(X, centres) @ shares
    signs = np.where(outputs > 0, 1, -1)
    signs[rng.random(len(X)) < draw(st.sampled_from([0.0, 0.1, 0.5]))] *= -1
    if draw(st.booleans()):  # the other half of the rows wants the opposite
        signs[len(X) // 2 :] *= -1
    signs[:2] = 1, -1
    norm = np.sqrt(shares @ kernel(centres, centres) @ shares)
    return kernel, X, signs, outputs / norm


def most_mistakes(norm, loss, radius, residuals):
    """The largest M with ``M - L - |u| D <= |u| R sqrt(M)``."""
    size = radius * norm
    return (0.5 * (size + np.sqrt(size**2 + 4.0 * (loss + norm * residuals)))) ** 2


@settings(max_examples=25)
@given(case=streams_with_a_comparison(), size=st.sampled_from([5, 40]), norm=st.floats(0.01, 5.0))
def test_no_run_makes_more_mistakes_than_its_bound_allows(case, size, norm):
    kernel, X, signs, unit_outputs = case
    K = kernel(X, X)
    model = sx.KernelPerceptron(kernel, fit_intercept=False, budget=size, max_iter=2).fit(X, signs)
    _, _, residuals, closest = naive_kernel.on_a_budget(K, (signs > 0).astype(int), 2, size, passes=2)
    assume(closest > 1e-9)
    loss = model.mistake_counts_ @ np.maximum(0.0, 1.0 - norm * signs * unit_outputs)
    assert model.mistakes_ <= most_mistakes(norm, loss, 1.0, residuals) + 1e-6


@settings(max_examples=10)
@given(seed=st.integers(0, 2**31), noise=st.sampled_from([0.0, 0.3]), norm=st.floats(0.01, 5.0))
def test_the_bound_holds_with_more_classes(seed, noise, norm):
    rng = np.random.default_rng(seed)
    kernel, X, centres = Gaussian(0.5), rng.standard_normal((200, 2)), rng.standard_normal((6, 2))
    shares = rng.standard_normal((6, 3))
    outputs = kernel(X, centres) @ shares
    y = np.where(rng.random(200) < noise, rng.integers(0, 3, 200), outputs.argmax(axis=1))
    y[:3] = 0, 1, 2
    model = sx.KernelPerceptron(kernel, fit_intercept=False, budget=20, max_iter=2).fit(X, y)
    _, _, residuals, closest = naive_kernel.on_a_budget(kernel(X, X), y, 3, 20, passes=2)
    assume(closest > 1e-9)
    u = outputs * norm / np.sqrt(np.einsum("ic,ij,jc->", shares, kernel(centres, centres), shares))
    leads = 0.5 * (
        np.take_along_axis(u, y[:, None], axis=1) - u
    )  # half to the own class, half from the rival
    loss = (model.result_.counts * np.maximum(0.0, 1.0 - leads)).sum()
    assert model.mistakes_ <= most_mistakes(norm, loss, np.sqrt(0.5), residuals) + 1e-6


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_memory_stays_flat_on_a_stream(form, monkeypatch):
    monkeypatch.setattr(budgets, "NARROW", 0)
    rng = np.random.default_rng(0)
    model = sx.KernelPerceptron(Gaussian(0.1), budget=30)
    sizes = []
    for number in range(16):
        X, y = rng.standard_normal((40, 8)), rng.integers(0, 2, 40)
        if number == 5:
            tracemalloc.start()
        model.partial_fit(form(X), y, classes=[0, 1])
        if number in (10, 15):
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert model.support_.size == 30
    assert model.mistakes_ > 150
    assert sizes[1] < sizes[0] + 20_000
    with pytest.raises(AttributeError, match="not kept by partial_fit with a budget"):
        _ = model.mistake_counts_


def test_a_failed_call_leaves_a_budget_as_it_was():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 3)), rng.integers(0, 2, 200)
    calls = []

    def kernel(A, B):
        calls.append(1)
        values = np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))
        return values * np.nan if len(calls) > 60 else values

    model = sx.KernelPerceptron(kernel, budget=5).partial_fit(X[:20], y[:20], classes=[0, 1])
    before = model.mistakes_, model.support_.tolist(), model.dual_coef_.tolist()
    with pytest.raises(ValueError, match="returned nan"):
        model.partial_fit(X, y)
    assert (model.mistakes_, model.support_.tolist(), model.dual_coef_.tolist()) == before


def test_a_budget_does_better_than_chance_on_rings():
    problem = sx.datasets.make_rings(random_state=0)
    model = sx.KernelPerceptron(Gaussian(2.0), budget=20, max_iter=5, order="shuffled", random_state=0)
    assert model.fit(problem.X, problem.y).score(problem.X, problem.y) > 0.8
