"""Laws of the soft margin with a kernel: its optimum, and the gap that is proved of it."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

import separatrix as sx
from separatrix.datasets import make_multiclass, make_overlapping
from separatrix.errors import IllegalKernelError, InputError
from separatrix.kernels import Gaussian, Linear, Polynomial
from tests.problems import clouds

law = settings(max_examples=25, deadline=None)
kernels = st.sampled_from([Linear(), Polynomial(2), Gaussian(0.5), Linear() + Gaussian(2.0)])
intercepts = st.sampled_from(["lifted", True, False])


@law
@given(data=st.data(), kernel=kernels, intercept=intercepts, C=st.sampled_from([0.01, 1.0, 100.0]))
def test_the_gap_that_was_asked_for_is_reached(data, kernel, intercept, C):
    case = data.draw(clouds(storage="float64 by rows"))
    model = sx.SoftMargin(C=C, kernel=kernel, fit_intercept=intercept, gap=1e-4).fit(case.X, case.codes)
    assert model.converged_
    assert 0.0 <= model.gap_ <= 1e-4
    assert model.dual_objective_ <= model.objective_


@law
@given(data=st.data(), intercept=intercepts, C=st.sampled_from([0.1, 10.0]))
def test_the_linear_kernel_has_the_objective_of_the_linear_soft_margin(data, intercept, C):
    case = data.draw(clouds(storage="float64 by rows"))
    options = {"C": C, "fit_intercept": intercept, "gap": 1e-7}
    kernel = sx.SoftMargin(kernel="linear", **options).fit(case.X, case.codes)
    plain = sx.SoftMargin(**options).fit(case.X, case.codes)
    assert kernel.objective_ == pytest.approx(plain.objective_, rel=1e-6, abs=1e-9)


def exact_objective(model, X, y, C):
    """The objective of a fitted model of two classes with a linear kernel, in exact arithmetic."""
    rows = [[Fraction(float(v)) for v in row] for row in X]
    coef = [Fraction(float(v)) for v in model.dual_coef_[0]]
    weights = [
        sum((c * rows[i][j] for c, i in zip(coef, model.support_, strict=True)), Fraction(0))
        for j in range(X.shape[1])
    ]
    shift = Fraction(float(model.intercept_[0]))
    loss = Fraction(0)
    for row, label in zip(rows, y, strict=True):
        output = sum((w * v for w, v in zip(weights, row, strict=True)), shift)
        loss += max(Fraction(0), 1 - output * (2 * label - 1))
    return sum((w * w for w in weights), Fraction(0)) / 2 + Fraction(C) * loss


@law
@given(seed=st.integers(0, 10**6), C=st.sampled_from([0.125, 1.0, 64.0]))
def test_the_exact_objective_is_not_above_the_one_that_is_stated(seed, C):
    problem = make_overlapping(25, 3, noise=0.2, random_state=seed)
    y = (problem.y == problem.y.max()).astype(int)
    model = sx.SoftMargin(C=C, kernel="linear", fit_intercept=False, gap=1e-3).fit(problem.X, y)
    exact = exact_objective(model, problem.X, y.tolist(), C)
    assert model.dual_objective_ <= exact <= model.objective_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        other = sx.SoftMargin(C=C, fit_intercept=False, gap=1e-12).fit(problem.X, y)
    assert model.dual_objective_ <= other.objective_ * (1 + 1e-12)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_it_decides_as_svc_does(C, store):
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    model = sx.SoftMargin(C=C, kernel="rbf", gamma="scale", fit_intercept=True, gap=1e-7).fit(store(X), y)
    peer = SVC(C=C, tol=1e-8).fit(store(X), y)
    scores = peer.decision_function(store(X))
    assert model.decision_function(store(X)) == pytest.approx(scores, abs=3e-3)
    losses = np.maximum(0.0, 1.0 - (2.0 * (y == 2) - 1.0) * scores).sum()
    K = sx.kernels.tuned("rbf", X, gamma="scale")(X[peer.support_])
    norm = float((peer.dual_coef_ @ K @ peer.dual_coef_.T).squeeze())
    assert model.dual_objective_ <= 0.5 * norm + C * losses


def test_more_than_two_classes_are_fitted_jointly():
    problem = make_multiclass(90, 2, n_classes=3, random_state=0)
    model = sx.SoftMargin(C=10.0, kernel="rbf").fit(problem.X, problem.y)
    assert model.converged_
    assert model.dual_coef_.shape == (3, model.support_.size)
    assert np.abs(model.dual_coef_.sum(axis=0)).max() < 1e-6 * np.abs(model.dual_coef_).max()
    assert model.score(problem.X, problem.y) > 0.9


def test_a_precomputed_matrix_and_weights_of_zero():
    problem = make_overlapping(60, 3, random_state=0)
    weights = np.arange(60) % 3 > 0
    K = Gaussian(0.5)(problem.X)
    by_matrix = sx.SoftMargin(kernel="precomputed", gap=1e-7).fit(
        K, problem.y, sample_weight=weights.astype(float)
    )
    alone = sx.SoftMargin(kernel=Gaussian(0.5), gap=1e-7).fit(problem.X[weights], problem.y[weights])
    assert by_matrix.decision_function(K) == pytest.approx(alone.decision_function(problem.X), abs=1e-4)
    assert np.isin(by_matrix.support_, np.flatnonzero(weights)).all()


def test_a_model_is_saved_and_exported(tmp_path):
    problem = make_overlapping(40, 3, random_state=1)
    model = sx.SoftMargin(kernel="poly", degree=2).fit(problem.X, problem.y)
    sx.save(model, tmp_path / "model.skops")
    again = sx.load(tmp_path / "model.skops")
    assert np.array_equal(again.decision_function(problem.X), model.decision_function(problem.X))
    assert again.optimum_.gap == model.gap_
    sx.export_onnx(model, tmp_path / "model.onnx")
    assert "objective" in model.optimum_._repr_html_()


def test_a_kernel_that_is_not_legal_is_refused(monkeypatch):
    problem = make_overlapping(40, 3, random_state=1)
    for size in (1000, 16):  # the whole Gram matrix, or working sets
        monkeypatch.setattr("separatrix.dual.kernel_soft.SMALL", size)
        with pytest.raises(IllegalKernelError, match="not legal"):
            sx.SoftMargin(kernel=lambda X, Y: -(X @ Y.T)).fit(problem.X, problem.y)
        K = problem.X @ problem.X.T - 0.1 * np.eye(40)
        with pytest.raises(IllegalKernelError, match="not legal"):
            sx.SoftMargin(kernel="precomputed").fit(K, problem.y)


def naive_dual(K, signs, caps, intercept):
    """The largest dual objective of two classes, found by a general solver."""
    Q = signs[:, None] * signs * (K + (intercept == "lifted"))
    balance = {"type": "eq", "fun": lambda a: a @ signs, "jac": lambda a: signs}
    found = optimize.minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(),
        np.zeros(signs.size),
        jac=lambda a: Q @ a - 1.0,
        bounds=[(0.0, cap) for cap in caps],
        constraints=[balance] if intercept is True else [],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    return -found.fun


@law
@given(seed=st.integers(0, 10**6), kernel=kernels, intercept=intercepts, C=st.sampled_from([0.1, 1.0, 5.0]))
def test_the_bracket_contains_the_optimum_of_a_general_solver(seed, kernel, intercept, C):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(16, 2)), np.arange(16) % 2
    weights = random.uniform(0.5, 2.0, 16)
    model = sx.SoftMargin(C=C, kernel=kernel, fit_intercept=intercept).fit(X, y, weights)
    best = naive_dual(kernel(X), 2.0 * y - 1.0, C * weights, intercept)
    assert model.converged_
    assert model.gap_ <= 1e-3
    assert model.dual_objective_ <= best * (1 + 1e-6)
    assert best * (1 - 1e-6) <= model.objective_


@law
@given(seed=st.integers(0, 10**6), intercept=intercepts, C=st.sampled_from([0.1, 1.0, 50.0]))
def test_coefficients_are_feasible_multipliers_and_prove_the_gap(seed, intercept, C):
    problem = make_overlapping(60, 3, noise=0.2, random_state=seed)
    signs = np.where(problem.y == problem.y.max(), 1.0, -1.0)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, 60)
    model = sx.SoftMargin(C=C, kernel="rbf", fit_intercept=intercept).fit(problem.X, signs, weights)
    beta = np.zeros(60)
    beta[model.support_] = model.dual_coef_[0]
    assert (beta * signs >= 0.0).all()
    assert (np.abs(beta) <= C * weights).all()
    assert intercept is not True or abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()
    assert model.kernel_.c == pytest.approx(1.0 / (3 * problem.X.var()))  # as in SVC
    K = model.kernel_(problem.X) + (intercept == "lifted")
    losses = np.maximum(0.0, 1.0 - signs * model.decision_function(problem.X))
    primal = 0.5 * beta @ K @ beta + C * weights @ losses
    dual = np.abs(beta).sum() - 0.5 * beta @ K @ beta
    assert model.objective_ == pytest.approx(primal, rel=1e-9)
    assert model.dual_objective_ == pytest.approx(dual, rel=1e-9)
    assert primal - dual <= 1e-3 * primal


@pytest.mark.parametrize("kernel", [Gaussian(0.5), Polynomial(3), Polynomial(2)])
@pytest.mark.parametrize("intercept", ["lifted", True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4, 1e6])
def test_every_cost_reaches_the_default_gap(kernel, intercept, C):
    random = np.random.default_rng(0)
    X = random.normal(size=(100, 3))
    y = (X[:, 0] + random.normal(size=100) > 0.0).astype(int)
    model = sx.SoftMargin(C=C, kernel=kernel, fit_intercept=intercept).fit(X, y)
    assert model.converged_
    assert model.gap_ <= 1e-3
    fine = sx.SoftMargin(C=C, kernel=kernel, fit_intercept=intercept, gap=1e-4).fit(X, y)
    assert model.dual_objective_ <= fine.objective_
    assert fine.dual_objective_ <= model.objective_


@pytest.mark.parametrize("intercept", ["lifted", True, False])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("most", [60, 5000])  # without and with room for the whole Gram matrix
def test_working_sets_find_the_optimum_of_all_rows(monkeypatch, intercept, classes, most):
    problem = make_multiclass(120, 3, n_classes=classes, random_state=0)
    X = problem.X + np.random.default_rng(0).normal(size=problem.X.shape)
    options = {"C": 5.0, "kernel": Gaussian(0.3), "fit_intercept": intercept, "gap": 1e-4}
    whole = sx.SoftMargin(**options).fit(X, problem.y)
    monkeypatch.setattr("separatrix.dual.kernel_soft.SMALL", 32)
    monkeypatch.setattr("separatrix.dual.kernel_soft.ENTERING", 8)
    monkeypatch.setattr("separatrix.dual.kernel_soft.MOST_GRAM_ROWS", most)
    parts = sx.SoftMargin(**options).fit(X, problem.y)
    assert parts.converged_
    assert whole.converged_
    assert parts.objective_ == pytest.approx(whole.objective_, rel=2e-4)
    assert parts.dual_objective_ <= whole.objective_


@pytest.mark.parametrize("classes", [2, 3])
def test_a_weight_of_two_is_a_row_twice(classes):
    problem = make_multiclass(60, 3, n_classes=classes, random_state=1)
    X = problem.X + np.random.default_rng(0).normal(size=problem.X.shape)
    weights = 1.0 + (np.arange(60) % 3 == 0)
    options = {"kernel": Gaussian(0.5), "class_weight": {problem.y[0]: 2.0}, "gap": 1e-6}
    heavy = sx.SoftMargin(**options).fit(X, problem.y, sample_weight=weights)
    again = np.repeat(np.arange(60), weights.astype(int))
    twice = sx.SoftMargin(**options).fit(X[again], problem.y[again])
    assert heavy.objective_ == pytest.approx(twice.objective_, rel=2e-6)


def test_without_a_gap_kernels_and_planes_have_their_own():
    problem = make_overlapping(60, 3, random_state=0)
    assert 1e-9 < sx.SoftMargin(kernel="rbf").fit(problem.X, problem.y).gap_ <= 1e-3
    assert sx.SoftMargin().fit(problem.X, problem.y).gap_ <= 1e-6
    with pytest.raises(InputError, match="gap"):
        sx.SoftMargin(gap=0.0).fit(problem.X, problem.y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_limit_of_steps_is_reported():
    problem = make_overlapping(200, 3, random_state=1)
    with pytest.warns(ConvergenceWarning, match="gap"):
        sx.SoftMargin(C=1e6, kernel="rbf", max_iter=1, gap=1e-12).fit(problem.X, problem.y)


@pytest.mark.parametrize("kernel", [None, "linear"])
def test_steps_grow_again_where_short_ones_do_not_help(kernel):
    X, y = np.array([[0.125], [-0.125], [0.75]]), np.array([0, 1, 0])
    model = sx.SoftMargin(0.01, kernel=kernel, fit_intercept=True, gap=1e-9).fit(X, y)
    # The one row of its class, and the nearest of the other, have the largest multipliers: w = 0.01 * 0.25.
    assert model.converged_
    assert model.objective_ == pytest.approx(0.02 - 0.0025**2 / 2, rel=1e-9)


@pytest.mark.parametrize("kernel", [Polynomial(2), Polynomial(3)])
@pytest.mark.parametrize("C", [1e4, 1e6, 1e8])
def test_separable_rows_reach_the_gap_at_every_cost(kernel, C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 40))
    model = sx.SoftMargin(C=C, kernel=kernel).fit(X, X[:, 0] * X[:, 1] > 0.0)
    assert model.converged_
    assert model.gap_ <= 1e-3


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("intercept", ["lifted", True, False])
@pytest.mark.parametrize("degree", [2, 3, 4])
@pytest.mark.parametrize("C", [1.0, 1e4])
def test_columns_that_were_never_scaled_are_no_worse_than_zero_weights(degree, C, intercept):
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(120, 3))) * [100.0, 10.0, 0.5]
    y = (X[:, 0] + 50.0 * rng.normal(size=120) > 80.0).astype(int)
    model = sx.SoftMargin(C=C, kernel=Polynomial(degree), fit_intercept=intercept).fit(X, y)
    assert model.objective_ <= 120 * C * (1.0 + 1e-12)
    # Affine functions of the columns are in the feature space, with norms that are not larger.
    plain = sx.SoftMargin(C=C, fit_intercept=intercept).fit(X, y)
    assert model.dual_objective_ <= plain.objective_


@pytest.mark.parametrize("C", [1.0, 1e4, 1e6])
def test_a_polynomial_of_raw_columns_has_a_narrow_bracket(C):
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(200, 4))) * [120.0, 70.0, 30.0, 0.5]
    y = (X[:, 0] + 60.0 * rng.normal(size=200) > 100.0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = sx.SoftMargin(C=C, kernel=Polynomial(2)).fit(X, y)
    assert model.gap_ <= 1e-2


def test_a_run_that_rounding_stops_says_what_to_do():
    rng = np.random.default_rng(0)
    X = 1e6 * rng.normal(size=(60, 3))
    with pytest.warns(ConvergenceWarning, match="scale the columns"):
        sx.SoftMargin(C=1e6, kernel=Polynomial(4)).fit(X, rng.integers(0, 2, 60))
