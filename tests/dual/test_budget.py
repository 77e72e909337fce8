"""Laws of the budgets: each way of removal is its naive version, keeps its bound, and never grows."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix.dual import budget as budgets
from separatrix.kernels import Gaussian, Linear, Polynomial
from separatrix.result import Status
from tests import naive_kernel
from tests.problems import TWO_STORAGES, clouds, cuts

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
REMOVALS = ("forgetron", "random", "projection")
every_removal = pytest.mark.parametrize("removal", REMOVALS)


def outputs_of(support, K, n_classes):
    total = np.zeros((len(K), 1 if n_classes == 2 else n_classes))
    for row, vector, *_ in support:
        total += np.outer(K[row], vector)
    return total[:, 0] if n_classes == 2 else total


@every_removal
@given(data=st.data())
def test_every_removal_is_its_naive_version(removal, data, monkeypatch):
    monkeypatch.setattr(budgets, "NARROW", data.draw(st.sampled_from([0, 1024])))
    case = data.draw(clouds(storage=data.draw(st.sampled_from(TWO_STORAGES)), max_rows=30, max_columns=4))
    kernel = data.draw(st.sampled_from([Gaussian(0.5), Polynomial(2)]))
    size, passes = data.draw(st.integers(2, 6)), data.draw(st.integers(1, 3))
    K = naive_kernel.gram(kernel, case.X, case.X, float(case.lift))
    model = sx.KernelPerceptron(
        kernel, budget=size, removal=removal, fit_intercept=case.lift, max_iter=passes, random_state=4
    )
    model.fit(case.stored, case.codes)
    mistakes, support, (cost, shrinking, residuals, largest), closest = naive_kernel.on_a_budget(
        K, case.codes, case.n_classes, size, removal, passes=passes, seed=4
    )
    assume(closest > 1e-9)  # the two do not compute the same sums: ties are decided by rounding
    assert model.mistakes_ == len(mistakes)
    made = np.bincount([i for i, _ in mistakes], minlength=len(K))
    assert model.mistake_counts_.tolist() == made.tolist()
    assert model.support_.size <= size
    assert sorted(model.support_) == sorted(row for row, *_ in support)
    shown = model.decision_function(case.stored)
    assert shown == pytest.approx(outputs_of(support, K, case.n_classes), rel=1e-5, abs=1e-6)
    bound = model.budget_bound_
    possible = np.sqrt(K.diagonal().max() * (1.0 if case.n_classes == 2 else 0.5))
    assert bound.radius == pytest.approx(possible if removal == "random" else largest)
    if removal == "forgetron":
        assert bound.terms == pytest.approx((cost, shrinking), rel=1e-6, abs=1e-9)
    if removal == "projection":
        assert bound.terms == pytest.approx((residuals,), rel=1e-4, abs=1e-5)


@every_removal
@given(data=st.data())
def test_a_correction_is_of_a_mistake_and_its_rival_is_a_best_one_up_to_rounding(removal, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    n_rows, n_classes = data.draw(st.integers(4, 20)), data.draw(st.integers(2, 4))
    X = rng.integers(-1, 2, (n_rows, data.draw(st.integers(1, 3)))).astype(float)  # equal rows, tied outputs
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
    model = sx.KernelPerceptron(
        Polynomial(2), budget=3, removal=removal, max_iter=3, random_state=4, trace=True
    ).fit(X, y)
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
    *_, closest = naive_kernel.on_a_budget(K, y, 4, 4, "projection", passes=1)
    assert 0.0 <= closest < 1e-12


@every_removal
@settings(max_examples=10)
@given(data=st.data())
def test_mistakes_and_model_depend_neither_on_blocks_nor_on_calls(removal, data, monkeypatch):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    n_classes = data.draw(st.sampled_from([2, 3]))
    X, y = rng.standard_normal((60, 5)), rng.integers(0, n_classes, 60)
    options = {"kernel": Gaussian(0.2), "budget": 7, "removal": removal, "random_state": 1}
    whole = sx.KernelPerceptron(max_iter=1, **options).fit(X, y)
    monkeypatch.setattr(budgets, "BLOCK", data.draw(st.sampled_from([1, 5, 128])))
    model = sx.KernelPerceptron(**options)
    for piece in data.draw(cuts(60)):
        model.partial_fit(X[piece], y[piece], classes=np.arange(n_classes))
    assert model.mistakes_ == whole.mistakes_
    assert np.array_equal(model.support_, whole.support_)
    assert np.array_equal(model.dual_coef_, whole.dual_coef_)
    assert model.budget_bound_ == whole.budget_bound_
    assert model.result_.status is Status.ONLINE


@every_removal
def test_without_need_for_removal_a_budget_changes_nothing(removal):
    problem = sx.datasets.make_separable(100, 3, margin=0.1, random_state=0)
    free = sx.KernelPerceptron(Gaussian(0.5), order="cyclic").fit(problem.X, problem.y)
    held = sx.KernelPerceptron(Gaussian(0.5), budget=10_000, removal=removal).fit(problem.X, problem.y)
    assert free.converged_
    assert held.converged_
    assert np.array_equal(free.mistake_counts_, held.mistake_counts_)
    assert held.decision_function(problem.X) == pytest.approx(free.decision_function(problem.X))


def stream(n_rows, n_columns, noise, seed):
    """Labels from a known u in the lifted space, some of them turned over."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    u = rng.standard_normal(n_columns)
    u /= np.linalg.norm(u)
    X = X[np.abs(X @ u) > 0.2]
    turned = rng.random(len(X)) < noise
    return X, np.where((X @ u > 0) ^ turned, 1, 0), u


@every_removal
@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("factor", [0.1, 1.0, 5.0])
def test_mistakes_stay_within_the_bound(removal, noise, factor):
    X, y, u = stream(3000, 4, noise, seed=2)
    model = sx.KernelPerceptron(
        Linear(), fit_intercept=False, budget=100, removal=removal, max_iter=1, random_state=0
    ).fit(X, y)
    signs = 2 * y - 1
    # The losses over all rows are no less than those over the mistakes.
    loss = np.maximum(0.0, 1.0 - factor * signs * (X @ u)).sum()
    bound = model.budget_bound_
    assert bound.mistakes == model.mistakes_
    assert bound.radius == pytest.approx(1.0)
    assert model.mistakes_ <= bound.at(factor, loss)
    if removal == "forgetron":
        assert bound.terms[0] <= 15 / 32 * model.mistakes_ + 1e-9
    if removal == "random":
        assert bound.at(11.0, loss) == np.inf


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


@every_removal
@settings(max_examples=25)
@given(case=streams_with_a_comparison(), size=st.sampled_from([83, 90, 120]), share=st.floats(0.01, 1.0))
def test_no_run_makes_more_mistakes_than_its_bounds_allow(removal, case, size, share):
    kernel, X, signs, unit_outputs = case
    runs = [
        sx.KernelPerceptron(
            kernel, fit_intercept=False, budget=size, removal=removal, max_iter=2, random_state=seed
        ).fit(X, signs)
        for seed in range(5 if removal == "random" else 1)
    ]
    bound = runs[0].budget_bound_
    assert bound.radius == pytest.approx(1.0)
    longest = 0.25 * np.sqrt((size + 1) / np.log(size + 1))
    norm = share * (bound.published.largest_norm if removal == "forgetron" else longest)
    losses = np.maximum(0.0, 1.0 - norm * signs * unit_outputs)
    loss = np.mean([model.mistake_counts_ @ losses for model in runs])
    made = np.mean([model.mistakes_ for model in runs])
    assert made <= bound.at(norm, loss)
    if removal == "forgetron":
        assert bound.published.largest_norm == pytest.approx(longest)
        assert made <= bound.published.at(norm, loss) < np.inf
        assert bound.published.at(1.001 * longest, loss) == np.inf
    else:
        assert bound.published is None


@every_removal
@settings(max_examples=10)
@given(seed=st.integers(0, 2**31), noise=st.sampled_from([0.0, 0.3]), share=st.floats(0.01, 1.0))
def test_the_bounds_hold_with_more_classes_and_class_weights(removal, seed, noise, share):
    rng = np.random.default_rng(seed)
    kernel, X, centres = Gaussian(0.5), rng.standard_normal((400, 2)), rng.standard_normal((6, 2))
    shares = rng.standard_normal((6, 3))
    outputs = kernel(X, centres) @ shares
    y = np.where(rng.random(400) < noise, rng.integers(0, 3, 400), outputs.argmax(axis=1))
    y[:3] = 0, 1, 2
    weights = np.array([1.0, 0.5, 0.8])
    runs = [
        sx.KernelPerceptron(
            kernel,
            fit_intercept=False,
            budget=83,
            removal=removal,
            max_iter=2,
            class_weight=dict(enumerate(weights)),
            random_state=number,
        ).fit(X, y)
        for number in range(5 if removal == "random" else 1)
    ]
    bounds = runs[0].budget_bound_
    assert bounds.radius == pytest.approx(np.sqrt(0.5))  # half to the own class, half from the rival
    norm = share * 0.25 * np.sqrt(84 / np.log(84)) / bounds.radius
    u = outputs * norm / np.sqrt(np.einsum("ic,ij,jc->", shares, kernel(centres, centres), shares))
    leads = 0.5 * weights[y][:, None] * (np.take_along_axis(u, y[:, None], axis=1) - u)
    losses = np.maximum(0.0, 1.0 - leads)
    loss = np.mean([(model.result_.counts * losses).sum() for model in runs])
    made = np.mean([model.mistakes_ for model in runs])
    assert made <= bounds.at(norm, loss)
    if removal == "forgetron" and not bounds.published.missing:
        assert made <= bounds.published.at(norm * (1 - 1e-12), loss) < np.inf


def test_the_forgetrons_published_bound_asks_for_a_budget_of_83():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 3)), rng.integers(0, 2, 300)
    small, enough = (sx.KernelPerceptron("rbf", budget=size, max_iter=1).fit(X, y) for size in (82, 83))
    assert small.budget_bound_.published.at(0.1, 0.0) == np.inf
    assert "no bound here: the budget is 82" in small.budget_bound_.summary()
    assert enough.budget_bound_.published.at(0.1, 0.0) < np.inf
    assert "all of it holds here" in enough.budget_bound_.summary()


def test_rows_of_one_length_up_to_rounding_keep_the_forgetrons_bounds():
    X, y, _ = stream(600, 5, 0.5, seed=1)
    X = X[np.argsort((X**2).sum(axis=1), kind="stable")]
    model = sx.KernelPerceptron(Linear(), budget=83, fit_intercept=False, max_iter=1).fit(X, y)
    lengths = (X**2).sum(axis=1)[np.flatnonzero(model.mistake_counts_)]
    assert lengths[-1] > lengths[83]  # the last digits do differ
    assert not model.budget_bound_.published.missing
    assert model.budget_bound_.at(1.0, 0.0) < np.inf


def test_the_forgetrons_bound_is_withdrawn_when_its_radius_was_not_known():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 3)), rng.integers(0, 2, 400)
    X *= np.linspace(0.1, 10, 400)[:, None]
    bound = sx.KernelPerceptron(Linear(), budget=5, max_iter=1).fit(X, y).budget_bound_
    assert bound.at(1.0, 0.0) == np.inf
    assert bound.published.at(0.1, 0.0) == np.inf
    assert "longer row" in bound.note
    assert "longer row" in bound.summary()


@every_removal
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_memory_stays_flat_on_a_stream(removal, form, monkeypatch):
    monkeypatch.setattr(budgets, "NARROW", 0)
    rng = np.random.default_rng(0)
    model = sx.KernelPerceptron(Gaussian(0.1), budget=30, removal=removal, random_state=0)
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
    for removal in REMOVALS:
        model = sx.KernelPerceptron(
            Gaussian(2.0), budget=20, removal=removal, max_iter=5, order="shuffled", random_state=0
        )
        assert model.fit(problem.X, problem.y).score(problem.X, problem.y) > 0.8
