"""Laws of the soft margin with a kernel: its optimum, and the gap that is proved of it."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
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
    by_matrix = sx.SoftMargin(kernel="precomputed").fit(K, problem.y, sample_weight=weights.astype(float))
    alone = sx.SoftMargin(kernel=Gaussian(0.5)).fit(problem.X[weights], problem.y[weights])
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


def test_what_cannot_be_fitted_is_refused(monkeypatch):
    problem = make_overlapping(40, 3, random_state=1)
    with pytest.raises(IllegalKernelError, match="not legal"):
        sx.SoftMargin(kernel=lambda X, Y: -(X @ Y.T)).fit(problem.X, problem.y)
    monkeypatch.setattr("separatrix.dual.kernel_soft.MOST_ROWS", 30)
    with pytest.raises(InputError, match=r"40 rows are more than 30.*SVC"):
        sx.SoftMargin(kernel="rbf").fit(problem.X, problem.y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_limit_of_steps_is_told():
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
