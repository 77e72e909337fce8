"""Laws of the kernel perceptron: the primal's mistakes, whatever the blocks, the dtype, or the calls."""

from __future__ import annotations

import pickle
import signal

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import separatrix as sx
from separatrix.dual import kernel_perceptron
from separatrix.dual.expansion import Expansion
from separatrix.dual.similarity import Similarity
from separatrix.kernels import Gaussian, Geometric, Kernel, Linear, Polynomial, as_kernel
from separatrix.result import Status
from tests import naive_kernel
from tests.problems import TWO_STORAGES, clouds, cuts, grids

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
KERNELS = [
    Linear(),
    Polynomial(2),
    Polynomial(3, 0.5),
    Gaussian(0.25),
    Geometric(2),
    2 * Linear() + Gaussian(1.0),
]
ORDERS = ("cyclic", "shuffled")
DTYPES = ("float64", "float32")


@pytest.fixture
def block_size(monkeypatch):
    def choose(rows, piece=512, tile=256):
        monkeypatch.setattr(Expansion, "BLOCK", rows)
        monkeypatch.setattr(Expansion, "PIECE", piece)
        monkeypatch.setattr(Expansion, "TILE", tile)

    return choose


def script_of(model):
    """(row, rival, visit) of every mistake, in order."""
    machine = model._machine
    updates = machine.updates[: machine.made]
    return [(int(machine.rows[slot]), int(rival), int(visit)) for slot, _, rival, visit in updates]


def draw_case(data, kind=grids):
    storage = data.draw(st.sampled_from(TWO_STORAGES))
    return data.draw(kind(storage=storage, max_rows=16))


# ---------------------------------------------------------------- dual and primal


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_the_linear_kernel_makes_the_primals_mistakes(order, data):
    case = draw_case(data, data.draw(st.sampled_from([grids, clouds])))
    options = {"order": order, "fit_intercept": case.lift, "max_iter": 6, "random_state": 3}
    primal = sx.Perceptron(**options, trace=True).fit(case.stored, case.codes)
    dual = sx.KernelPerceptron("linear", **options).fit(case.stored, case.codes)
    made = primal.mistakes_  # a primal run may end early with a proof that nothing separates the rows
    assert [entry[0] for entry in script_of(dual)][:made] == primal.result_.trace.rows.tolist()
    assert [entry[1] for entry in script_of(dual)][:made] == primal.result_.trace.rivals.tolist()
    if primal.result_.cycle is None:
        assert np.array_equal(dual.result_.counts, primal.result_.counts)
        assert dual.mistakes_ == made
        assert dual.converged_ == primal.converged_
        assert dual.decision_function(case.stored) == pytest.approx(primal.decision_function(case.stored))


@given(data=st.data())
def test_the_margin_bracket_is_the_primals(data):
    case = data.draw(clouds(storage="float64 by rows"))
    options = {"order": "cyclic", "fit_intercept": case.lift, "max_iter": 60}
    primal = sx.Perceptron(n_iter_no_change=None, **options).fit(case.X, case.codes)
    dual = sx.KernelPerceptron("linear", **options).fit(case.X, case.codes)
    assert dual.result_.radius == pytest.approx(primal.result_.radius)
    assert dual.result_.margin_upper == pytest.approx(primal.result_.margin_upper, rel=1e-6, abs=1e-9)
    assert dual.converged_ == primal.converged_
    if dual.converged_:
        assert dual.result_.margin_lower == pytest.approx(primal.result_.margin_lower, rel=1e-6)


@pytest.mark.parametrize("degree", [2, 3])
@given(data=st.data())
def test_a_polynomial_kernel_makes_the_mistakes_of_its_monomials(degree, data):
    case = data.draw(grids(storage="float64 by rows", max_columns=3))
    kernel = Polynomial(degree)
    mapped = kernel.feature_map(case.X)
    options = {"order": "cyclic", "max_iter": 4, "fit_intercept": False}
    dual = sx.KernelPerceptron(kernel, **options).fit(case.X, case.codes)
    K = kernel(case.X)
    assert mapped @ mapped.T == pytest.approx(K)
    script, *_ = naive_kernel.kernel_perceptron(K, case.codes, case.n_classes, max_iter=4)
    assert script_of(dual) == script
    unties = clouds(storage="float64 by rows", max_columns=3)
    cloud = data.draw(unties)
    primal = sx.Perceptron(**options).fit(kernel.feature_map(cloud.X), cloud.codes)
    assume(primal.result_.cycle is None)  # rows of zeros: the primal sees that its weights came back
    dual = sx.KernelPerceptron(kernel, **options).fit(cloud.X, cloud.codes)
    assert np.array_equal(primal.mistake_counts_, dual.mistake_counts_)


# ---------------------------------------------------------------- against the naive version


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=8)
@given(data=st.data())
def test_mistakes_are_those_of_the_naive_version(kernel, order, data, block_size):
    block_size(data.draw(st.sampled_from([1, 3, 512])), piece=data.draw(st.sampled_from([2, 512])))
    case = draw_case(data, clouds)
    K = naive_kernel.gram(kernel, case.X, case.X, float(case.lift))
    limit = data.draw(st.sampled_from([None, 3]))
    options = {"order": order, "fit_intercept": case.lift, "max_iter": 5, "random_state": 2}
    model = sx.KernelPerceptron(
        kernel, **options, max_updates=limit, dtype=data.draw(st.sampled_from(DTYPES))
    )
    model.fit(case.stored, case.codes)
    script, coef, visits, clean = naive_kernel.kernel_perceptron(
        K, case.codes, case.n_classes, order=order, max_iter=5, max_updates=limit or np.inf, seed=2
    )
    assert model.converged_ == clean
    assert model.mistake_counts_.tolist() == np.bincount([i for i, *_ in script], minlength=len(K)).tolist()
    assert script_of(model) == script
    assert model.result_.visits == visits
    outputs = K @ coef
    shown = model.decision_function(case.stored)
    error = 1e-9 if model.dtype == "float64" else 1e-3 * np.abs(K).max() * max(1, len(script))
    assert shown == pytest.approx(outputs[:, 0] if case.n_classes == 2 else outputs, rel=1e-6, abs=error)


@pytest.mark.parametrize("average", ["averaged", "voted"])
@given(data=st.data())
def test_averages_and_votes_are_those_of_a_copy_for_every_visit(average, data):
    case = draw_case(data)
    kernel = data.draw(st.sampled_from([Linear(), Polynomial(2)]))
    options = {"fit_intercept": case.lift, "max_iter": 4, "random_state": 2}
    order = data.draw(st.sampled_from(["cyclic", "shuffled"]))
    model = sx.KernelPerceptron(kernel, average=average, order=order, **options).fit(case.stored, case.codes)
    K = naive_kernel.gram(kernel, case.X, case.X, float(case.lift))
    script, _, visits, _ = naive_kernel.kernel_perceptron(
        K, case.codes, case.n_classes, order=order, max_iter=4, seed=2
    )
    copies = naive_kernel.models_after_every_visit(script, visits, case.codes, case.n_classes, len(K))
    shown = model.decision_function(case.stored)
    if average == "averaged":
        outputs = K @ np.mean(copies, axis=0)
        expected = outputs[:, 0] if case.n_classes == 2 else outputs
    else:
        votes = np.zeros((len(K), case.n_classes))
        for copy in copies:
            outputs = K @ copy
            best = (outputs[:, 0] > 0).astype(int) if case.n_classes == 2 else outputs.argmax(axis=1)
            votes[np.arange(len(K)), best] += 1
        shares = votes / visits
        expected = shares[:, 1] - shares[:, 0] if case.n_classes == 2 else shares
    assert shown == pytest.approx(expected, rel=1e-9, abs=1e-9)


# ---------------------------------------------------------------- nothing depends on the blocks


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(4), Gaussian(0.1)], ids=str)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_mistakes_do_not_depend_on_blocks_or_dtype(kernel, n_classes, block_size):
    rng = np.random.default_rng(5)
    X = rng.random((300, 30)) / 3
    X[150:] = X[:150]  # twins: scores that are equal in theory, and differ by rounding in practice
    y = rng.integers(0, n_classes, 300)
    scripts = []
    for rows, piece, dtype in [
        (512, 512, "float64"),
        (512, 512, "float32"),
        (64, 7, "float64"),
        (7, 64, "float32"),
        (1, 512, "float64"),
    ]:
        block_size(rows, piece)
        model = sx.KernelPerceptron(kernel, max_iter=4, dtype=dtype).fit(X, y)
        scripts.append(script_of(model))
    assert all(script == scripts[0] for script in scripts[1:])
    assert len(scripts[0]) > 100


class HighPower(Kernel):
    """Polynomial's formula in a class of a user's own, which states no bound of its rounding."""

    def __str__(self):
        return "(1 + <x, x'>)^300"

    def formula(self, values, left, right):
        values += 1.0
        values **= 300


def high_power(X, Y):
    return (1.0 + X @ Y.T) ** 300


UNBOUNDED = [HighPower(), as_kernel(high_power), HighPower() + Linear(), 2 * as_kernel(high_power)]


def ties(seed, n_classes):
    """A row, its columns in another order, and rows of equal numbers: equally alike, but for rounding."""
    rng = np.random.default_rng(seed)
    x = 0.15 + 1e-3 * rng.standard_normal(300)
    X = np.array([x, rng.permutation(x), np.full(300, 0.15), np.full(300, 0.149), np.full(300, -0.1)])
    return X, np.array([1, 0, seed % n_classes, (seed + 1) % n_classes, 1])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", UNBOUNDED, ids=str)
def test_a_kernel_without_a_bound_gives_the_same_mistakes_whatever_the_blocks_and_the_dtype(
    kernel, n_classes, block_size
):
    for seed in range(12):
        X, y = ties(seed, n_classes)
        scripts = []
        for rows, piece, dtype in [
            (512, 512, "float64"),
            (2, 1, "float64"),
            (1, 1, "float64"),
            (3, 2, "float32"),
        ]:
            block_size(rows, piece)
            model = sx.KernelPerceptron(kernel, max_iter=4, dtype=dtype)
            scripts.append(script_of(model.fit(X, y)))
        assert all(script == scripts[0] for script in scripts[1:])


@pytest.mark.parametrize("budget", [None, 2])
@pytest.mark.parametrize("kernel", UNBOUNDED, ids=str)
def test_a_kernel_without_a_bound_gives_the_same_mistakes_whatever_the_calls(kernel, budget, block_size):
    for seed in range(12):
        X, y = ties(seed, 2)
        models = []
        for size in (5, 3, 2, 1):
            block_size(size, size)
            model = sx.KernelPerceptron(kernel, budget=budget)
            for start in range(0, 5, size):
                model.partial_fit(X[start : start + size], y[start : start + size], classes=[0, 1])
            models.append(model)
        for model in models[1:]:
            assert model.mistakes_ == models[0].mistakes_ > 1
            assert np.array_equal(model.support_, models[0].support_)
            assert np.array_equal(model.dual_coef_, models[0].dual_coef_)


def test_near_ties_are_settled_alone(block_size):
    # Every second row repeats the one before it with the other label: after each update scores are near zero.
    rng = np.random.default_rng(1)
    X = np.repeat(rng.random((60, 20)), 2, axis=0)
    y = np.tile([0, 1], 60)
    found = []
    for rows in (512, 11, 1):
        block_size(rows)
        model = sx.KernelPerceptron(Polynomial(3), max_iter=3).fit(X, y)
        found.append((script_of(model), model.result_.settled))
    assert found[0][0] == found[1][0] == found[2][0]
    assert found[0][1] > 0


def test_less_memory_gives_the_same_mistakes_in_smaller_blocks():
    rng = np.random.default_rng(2)
    X, y = rng.random((400, 10)), rng.integers(0, 3, 400)
    large = sx.KernelPerceptron("rbf", max_iter=2).fit(X, y)
    small = sx.KernelPerceptron("rbf", max_iter=2, memory_limit=2e5).fit(X, y)
    assert script_of(large) == script_of(small)
    with pytest.raises(ValueError, match="memory_limit=100 bytes is too little"):
        sx.KernelPerceptron("rbf", memory_limit=100).fit(X, y)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "kernel", [*KERNELS, Gaussian(1.0) * Polynomial(2), Linear().warped(lambda X: X[:, 0])], ids=str
)
@settings(max_examples=10)
@given(data=st.data())
def test_rounding_errors_stay_within_their_bound(kernel, dtype, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    scale = data.draw(st.sampled_from([0.01, 0.1, 1.0, 30.0]))
    X, Y = scale * rng.standard_normal((4, 40)), scale * rng.standard_normal((3, 40))
    Y[0], Y[1] = X[0], -X[1]  # as alike and as opposed as rows can be
    similarity = Similarity(kernel, data.draw(st.booleans()))
    radius = float(np.sqrt(max((X**2).sum(axis=1).max(), (Y**2).sum(axis=1).max())))
    bound = similarity.rounding(40, radius, np.dtype(dtype))
    fast = similarity.block(
        similarity.side(X, np.dtype(dtype)), similarity.side(Y, np.dtype(dtype)), dtype=np.dtype(dtype)
    )
    roots = np.sqrt(np.outer(similarity.diagonal(X), similarity.diagonal(Y)))
    shares = []
    for i, j in np.ndindex(fast.shape):
        _, error = naive_kernel.off_by(kernel, X[i], Y[j], int(similarity.lift), float(fast[i, j]))
        shares.append(error / (bound * roots[i, j]))
    assert max(shares) <= 1.0


# ---------------------------------------------------------------- partial_fit


@pytest.mark.parametrize("average", [False, "averaged", "voted"])
@given(data=st.data())
def test_any_chunking_is_one_cyclic_pass(average, data):
    case = draw_case(data, data.draw(st.sampled_from([grids, clouds])))
    options = {"fit_intercept": case.lift, "average": average}
    whole = sx.KernelPerceptron(Polynomial(2), max_iter=1, **options).fit(case.stored, case.codes)
    model = sx.KernelPerceptron(Polynomial(2), **options)
    for piece in data.draw(cuts(len(case.codes))):
        model.partial_fit(case.stored[piece], case.codes[piece], classes=np.arange(case.n_classes))
    assert script_of(model) == script_of(whole)
    assert np.array_equal(model.support_, whole.support_)
    assert np.array_equal(model.dual_coef_, whole.dual_coef_)
    assert np.array_equal(model.mistake_counts_, whole.mistake_counts_)
    assert model.mistakes_ == whole.mistakes_
    assert model.result_.status is Status.ONLINE
    assert np.array_equal(model.decision_function(case.stored), whole.decision_function(case.stored))


def test_learning_goes_on_from_a_fit_and_a_failed_call_changes_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), rng.integers(0, 3, 60)
    model = sx.KernelPerceptron("rbf", max_iter=3).fit(X[:40], y[:40])
    before = script_of(model), model.decision_function(X).copy(), model.mistake_counts_.copy()
    bad = X[40:].copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN: row 3, column 1"):
        model.partial_fit(bad, y[40:])
    assert script_of(model) == before[0]
    assert np.array_equal(model.decision_function(X), before[1])
    model.partial_fit(X[40:], y[40:])
    assert script_of(model)[: len(before[0])] == before[0]
    assert np.array_equal(model.mistake_counts_[:40], before[2])
    assert model.mistake_counts_.size == 60
    assert model.support_.max() >= 40
    with pytest.raises(ValueError, match="must stay as they were"):
        model.set_params(kernel="linear").partial_fit(X, y)


def test_dense_and_sparse_pieces_may_be_mixed():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-3, 4, (24, 3)).astype(float), rng.integers(0, 2, 24)
    whole = sx.KernelPerceptron(Polynomial(2)).partial_fit(X, y, classes=[0, 1])
    for forms in ((np.asarray, sparse.csr_array), (sparse.csr_array, np.asarray)):
        model = sx.KernelPerceptron(Polynomial(2))
        for number, form in enumerate((*forms, *forms)):
            piece = slice(6 * number, 6 * number + 6)
            model.partial_fit(form(X[piece]), y[piece], classes=[0, 1])
        assert script_of(model) == script_of(whole)
        assert model.decision_function(X) == pytest.approx(whole.decision_function(X))


# ---------------------------------------------------------------- precomputed and own kernels


@given(data=st.data())
def test_a_gram_matrix_gives_the_mistakes_of_its_kernel(data):
    case = data.draw(clouds(storage="float64 by rows"))
    kernel = Gaussian(0.3)
    options = {"fit_intercept": case.lift, "max_iter": 5}
    given_kernel = sx.KernelPerceptron(kernel, **options).fit(case.X, case.codes)
    given_matrix = sx.KernelPerceptron("precomputed", **options).fit(kernel(case.X), case.codes)
    assert script_of(given_kernel) == script_of(given_matrix)
    new = case.X[:4] + 0.1
    shown = given_matrix.decision_function(kernel(new, case.X))
    assert shown == pytest.approx(given_kernel.decision_function(new), rel=1e-9, abs=1e-9)


def test_a_search_cuts_gram_matrices_on_both_sides():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        sx.KernelPerceptron("precomputed", average="averaged"), {"max_iter": [5, 10]}, cv=3
    ).fit(Gaussian(0.5)(X), y)
    assert search.best_score_ > 0.9


def test_a_function_of_two_matrices_is_a_kernel():
    X, y = load_iris(return_X_y=True)
    own = sx.KernelPerceptron(lambda A, B: (A @ B.T + 1) ** 2, max_iter=20).fit(X, y)
    named = sx.KernelPerceptron(Polynomial(2), max_iter=20).fit(X, y)
    assert np.array_equal(own.mistake_counts_, named.mistake_counts_)


# ---------------------------------------------------------------- classic problems, the scikit-learn face


@pytest.mark.parametrize("kernel", [Polynomial(2), Gaussian(1.0)], ids=str)
def test_xor_is_separated(kernel):
    problem = sx.datasets.make_xor()
    model = sx.KernelPerceptron(kernel).fit(problem.X, problem.y)
    assert model.converged_
    assert model.score(problem.X, problem.y) == 1.0
    assert model.result_.margin_lower > 0.0
    assert model.mistakes_ <= (model.result_.radius / model.result_.margin_lower) ** 2


@given(data=st.data())
def test_mistakes_are_at_most_the_squared_ratio_of_radius_and_margin_and_twice_that_with_more_classes(data):
    case = draw_case(data, data.draw(st.sampled_from([grids, clouds])))
    kernel = data.draw(st.sampled_from([Linear(), Polynomial(2), Gaussian(1.0)]))
    model = sx.KernelPerceptron(kernel, fit_intercept=case.lift).fit(case.stored, case.codes)
    if model.converged_ and model.result_.margin_lower > 0.0:
        factor = 1.0 if case.n_classes == 2 else 2.0
        bound = factor * (model.result_.radius / model.result_.margin_lower) ** 2
        assert model.mistakes_ <= bound * (1.0 + 1e-9)


def test_with_three_classes_the_factor_two_is_needed():
    X, y = np.eye(3), np.arange(3)
    model = sx.KernelPerceptron("linear", fit_intercept=False).fit(X, y)
    best = sx.MaxMargin(fit_intercept=False).fit(X, y).margin_upper_
    assert model.result_.radius == 1.0
    assert 1.0 / best**2 < model.mistakes_ <= 2.0 / best**2 * (1.0 + 1e-9)


@parametrize_with_checks([sx.KernelPerceptron()])
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"order": "shuffled", "average": "averaged"},
        {"average": "voted"},
        {"dtype": "float32"},
        {"budget": 40},
        {"kernel": "precomputed"},
    ],
    ids=str,
)
@pytest.mark.slow
def test_no_check_of_scikit_learn_is_skipped_or_expected_to_fail(options):
    found = check_estimator(sx.KernelPerceptron(**options), on_fail=None, on_skip=None)
    assert len(found) > 40
    assert {entry["check_name"] for entry in found if entry["status"] != "passed"} == set()


def test_class_weights_scale_the_updates():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((40, 2)), rng.integers(0, 3, 40)
    weights = {0: 1.0, 1: 2.0, 2: 0.5}
    model = sx.KernelPerceptron(Polynomial(2), class_weight=weights, max_iter=4).fit(X, y)
    K = naive_kernel.gram(Polynomial(2), X, X, 1.0)
    steps = np.array([weights[code] for code in y])
    script, coef, *_ = naive_kernel.kernel_perceptron(K, y, 3, max_iter=4, steps=steps)
    assert script_of(model) == script
    assert model.decision_function(X) == pytest.approx(K @ coef)


def test_names_clones_and_pickles_survive():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = sx.KernelPerceptron("rbf", average="voted", max_iter=5).fit(X, y)
    assert model.feature_names_in_.tolist() == X.columns.tolist()
    restored = pickle.loads(pickle.dumps(model))
    assert np.array_equal(restored.decision_function(X), model.decision_function(X))
    restored.partial_fit(X, y)
    model.partial_fit(X, y)
    assert script_of(restored) == script_of(model)
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X).rename(columns=str.upper))


def test_not_converged_is_a_warning_that_says_what_to_do():
    problem = sx.datasets.make_overlapping(80, 3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="raise max_iter.*average=True"):
        sx.KernelPerceptron("linear", max_iter=3).fit(problem.X, problem.y)


def test_an_interrupt_leaves_a_model_that_predicts(monkeypatch):
    problem = sx.datasets.make_overlapping(600, 3, random_state=0)
    visits = []
    visit = kernel_perceptron.KernelRun._visit

    def interrupted(self, indices, since):
        visits.append(1)
        if len(visits) == 9:
            signal.raise_signal(signal.SIGINT)
        return visit(self, indices, since)

    monkeypatch.setattr(kernel_perceptron.KernelRun, "_visit", interrupted)
    monkeypatch.setattr(Expansion, "BLOCK", 100)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = sx.KernelPerceptron("linear").fit(problem.X, problem.y)
    assert model.result_.status is Status.INTERRUPTED
    assert model.mistakes_ == model.mistake_counts_.sum() > 0
    whole = sx.KernelPerceptron("linear", max_iter=2).fit(problem.X, problem.y)
    assert script_of(model) == script_of(whole)[: model.mistakes_]
    assert model.score(problem.X, problem.y) > 0.5


def test_the_documentation_names_every_parameter_and_attribute():
    model = sx.KernelPerceptron().fit([[1.0], [-1.0]], [1, 0])
    for name in model.get_params():
        assert f"    {name} : " in sx.KernelPerceptron.__doc__
    for name in vars(model):
        assert name.startswith("_") or f"    {name} : " in sx.KernelPerceptron.__doc__


# ---------------------------------------------------------------- traces


@given(data=st.data())
def test_a_trace_is_the_script_of_the_naive_version_with_the_scores_before(data):
    case = draw_case(data, clouds)
    kernel = sx.kernels.Polynomial(degree=2)
    model = sx.KernelPerceptron(kernel, fit_intercept=case.lift, max_iter=4, trace=True)
    model.fit(case.stored, case.codes)
    trace = model.result_.trace
    assert np.array_equal(np.bincount(trace.rows, minlength=len(case.codes)), model.mistake_counts_)
    K = np.asarray(kernel(case.X)) + float(case.lift)
    outputs = np.zeros((len(K), case.n_classes))
    for row, rival, score in zip(trace.rows, trace.rivals, trace.scores, strict=True):
        own = case.codes[row]
        other = 1 - own if case.n_classes == 2 else rival
        assert score == pytest.approx(
            outputs[row, own] - outputs[row, other], abs=1e-6 * (1 + np.abs(K).max())
        )
        assert score <= 1e-6 * (1 + np.abs(K).max())
        outputs[:, own] += 0.5 * K[:, row]
        outputs[:, other] -= 0.5 * K[:, row]


def test_a_trace_on_a_budget_ends_with_the_model():
    problem = sx.datasets.make_xor(40, noise=0.8, random_state=0)
    model = sx.KernelPerceptron("rbf", budget=5, max_iter=5, trace=True)
    model.fit(problem.X, problem.y)
    trace = model.result_.trace
    assert len(trace.rows) == model.mistakes_
    assert trace.support[-1][trace.support[-1] >= 0].tolist() == model.support_.tolist()
    assert np.array_equal(trace.coef[-1][: len(model.support_)], model.dual_coef_)
    assert np.all(trace.scores <= 0.0)
    plain = sx.KernelPerceptron("rbf", budget=5, max_iter=5)
    plain.fit(problem.X, problem.y)
    assert plain.result_.trace is None
    assert np.array_equal(plain.dual_coef_, model.dual_coef_)


def test_a_trace_that_might_not_fit_is_refused_before_the_run():
    with pytest.raises(sx.errors.InputError, match="may take"):
        sx.KernelPerceptron("rbf", budget=2000, max_iter=10**6, trace=True).fit(np.eye(300), [0, 1] * 150)
