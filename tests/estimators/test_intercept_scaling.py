"""The intercept's own step, discriminators, and the bounds of kernel runs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix.errors import InputError
from tests import naive_bias

SCALES = [0.125, 0.5, 1.0, 2.0, 3.0, 8.0]


def quietly(model, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), s=st.sampled_from(SCALES))
def test_the_intercept_takes_steps_of_s_squared(seed, s):
    generator = np.random.default_rng(seed)
    X, y = generator.integers(-4, 5, (12, 2)), generator.permutation([-1, 1] * 6)
    w, b, counts = naive_bias.perceptron(X, y, s, passes=30)
    model = quietly(
        sx.Perceptron(intercept_scaling=s, order="cyclic", max_iter=30, n_iter_no_change=None), X, y
    )
    if model.result_.cycle is None:  # a run that proves a cycle ends before its last pass
        np.testing.assert_array_equal(model.coef_[0], w)
        assert model.intercept_[0] == b
        np.testing.assert_array_equal(model.mistake_counts_, counts)


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    s=st.sampled_from(SCALES),
    classes=st.integers(2, 3),
    order=st.sampled_from(["working_set", "cyclic", "shuffled", "worst", "mixed", "interleaved"]),
    average=st.sampled_from([False, "averaged", "voted"]),
    thin=st.booleans(),
)
def test_a_scaled_intercept_is_the_weight_of_a_constant_column(seed, s, classes, order, average, thin):
    generator = np.random.default_rng(seed)
    y = np.arange(24) % classes
    X = generator.standard_normal((24, 2)) + 2.0 * np.eye(3)[y][:, :2]
    average = average if order not in ("worst", "mixed") else False  # which have no mean
    shape = sparse.csr_array if thin else np.asarray
    options = {"order": order, "average": average, "max_iter": 10, "random_state": 3}
    model = quietly(sx.Perceptron(intercept_scaling=s, **options), shape(X), y)
    wide = quietly(
        sx.Perceptron(fit_intercept=False, **options), shape(np.column_stack([X, np.full(24, s)])), y
    )
    assert model.mistakes_ == wide.mistakes_
    np.testing.assert_allclose(model.coef_, wide.coef_[:, :-1], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, s * wide.coef_[:, -1], rtol=1e-12, atol=1e-12)
    fresh = generator.standard_normal((10, 2))
    lifted = np.column_stack([fresh, np.full(10, s)])
    np.testing.assert_allclose(
        model.decision_function(shape(fresh)), wide.decision_function(shape(lifted)), rtol=1e-9, atol=1e-9
    )
    if average is False and order != "mixed":
        traced = quietly(sx.Perceptron(intercept_scaling=s, trace=True, **options), shape(X), y)
        if traced.result_.trace is not None and traced.mistakes_:
            last = traced.result_.trace.weights[-1]
            np.testing.assert_allclose(np.atleast_2d(last)[:, -1], traced.intercept_, rtol=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), s=st.sampled_from(SCALES))
def test_rows_in_pieces_give_the_scaled_intercept_of_one_pass(seed, s):
    generator = np.random.default_rng(seed)
    X, y = generator.integers(-4, 5, (20, 3)), generator.permutation([0, 1] * 10)
    whole = sx.Perceptron(intercept_scaling=s).partial_fit(X, y, classes=[0, 1])
    pieces = sx.Perceptron(intercept_scaling=s)
    for part in np.array_split(np.arange(20), 3):
        pieces.partial_fit(X[part], y[part], classes=[0, 1])
    w, b, counts = naive_bias.perceptron(X, 2 * y - 1, s, passes=1)
    for model in (whole, pieces):
        np.testing.assert_array_equal(model.coef_[0], w)
        assert (model.intercept_[0], model.mistakes_) == (b, counts.sum())
    with pytest.raises(InputError, match="intercept_scaling must stay"):
        pieces.set_params(intercept_scaling=2 * s).partial_fit(X, y)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), s=st.sampled_from(SCALES), offset=st.sampled_from([0.0, 0.2, 0.6]))
def test_the_bound_that_contains_s_holds_and_is_the_formula(seed, s, offset):
    X, y = sx.datasets.make_separable(30, 2, margin=0.1, intercept=offset, random_state=seed)
    model = sx.Perceptron(intercept_scaling=s, order="cyclic", max_iter=10**6, n_iter_no_change=None).fit(
        X, y
    )
    best = sx.MaxMargin().fit(X, y)
    report = sx.mistake_bounds(model, X, y, u=best)
    assert all(bound.value >= model.mistakes_ for bound in report.bounds)
    norm = np.linalg.norm(best.coef_)
    formula = naive_bias.bound(
        np.linalg.norm(X, axis=1).max(), best.margin_lower_, best.intercept_[0] / norm, s
    )
    assert report["Novikoff at u"].value == pytest.approx(formula, rel=1e-6)
    assert report["Novikoff"].value <= formula * (1 + 1e-6)
    assert s == 1.0 or f"s = {s:g}" in report["Novikoff"].formula


def test_the_scale_of_the_intercept_must_be_a_positive_number_and_rows_in_memory():
    X, y = [[0.0], [1.0]], [0, 1]
    for bad in (0.0, -1.0, np.inf, "one", None):
        with pytest.raises(
            InputError, match="'intercept_scaling' parameter of Perceptron must be a positive"
        ):
            sx.Perceptron(intercept_scaling=bad).fit(X, y)
    da = pytest.importorskip("dask.array")
    chunks = da.from_array(np.array(X), chunks=1), da.from_array(np.array(y), chunks=1)
    with pytest.raises(InputError, match="needs rows in memory"):
        sx.Perceptron(intercept_scaling=2.0).fit(*chunks)


def test_a_warm_start_keeps_the_intercept_if_its_scale_changes():
    X, y = sx.datasets.make_separable(40, 2, margin=0.05, intercept=0.3, random_state=0)
    model = sx.Perceptron(intercept_scaling=2.0, warm_start=True).fit(X, y)
    before = model.coef_.copy(), model.intercept_.copy()
    model.set_params(intercept_scaling=0.5).fit(X, y)
    assert model.mistakes_ == 0
    np.testing.assert_array_equal(model.coef_, before[0])
    np.testing.assert_array_equal(model.intercept_, before[1])


# ---------------------------------------------------------------- discriminators


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    classes=st.integers(2, 4),
    model=st.sampled_from(
        [sx.Perceptron(), sx.Perceptron(fit_intercept=False), sx.SoftMargin(), sx.Perceptron(average=True)]
    ),
)
def test_the_class_of_the_largest_discriminator_is_predicted(seed, classes, model):
    generator = np.random.default_rng(seed)
    y = np.arange(24) % classes
    X = generator.integers(-5, 6, (24, 3)) + 4 * np.eye(4, dtype=int)[y][:, :3]
    model = quietly(model, X, y)
    found = model.discriminators()
    assert found.shape == (classes, 4)
    outputs = np.column_stack([X, np.ones(24)]) @ found.T
    np.testing.assert_array_equal(model.classes_[outputs.argmax(axis=1)], model.predict(X))
    if classes == 2:
        np.testing.assert_array_equal(found[1], -found[0])
        np.testing.assert_array_equal(found[1] - found[0], np.append(model.coef_[0], model.intercept_))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_discriminators_of_two_classes_are_those_of_the_direct_update(seed):
    generator = np.random.default_rng(seed)
    y = np.arange(16) % 2
    X = generator.integers(-3, 4, (16, 2)) + 8 * y[:, None]
    lifted, minus, plus = np.column_stack([X, np.ones(16)]), np.zeros(3), np.zeros(3)
    clean = False
    while not clean:
        clean = True
        for x, own in zip(lifted, y, strict=True):
            if (2 * own - 1) * ((plus - minus) @ x) <= 0:
                plus, minus = plus + (own - 0.5) * x, minus - (own - 0.5) * x
                clean = False
    model = sx.Perceptron(order="cyclic", max_iter=10**5, n_iter_no_change=None).fit(X, y)
    np.testing.assert_array_equal(model.discriminators(), [minus, plus])


def test_a_kernel_has_no_discriminators_with_coordinates():
    model = sx.KernelPerceptron().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InputError, match="feature space"):
        model.discriminators()


# ---------------------------------------------------------------- kernel runs


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    classes=st.integers(2, 3),
    kernel=st.sampled_from(
        [sx.kernels.Gaussian(2.0), sx.kernels.Polynomial(2), sx.kernels.Monomial(2), "linear"]
    ),
    noise=st.sampled_from([0.0, 0.3]),
    lift=st.booleans(),
    passes=st.sampled_from([1, 4, 40]),
)
def test_no_kernel_run_makes_more_mistakes_than_any_bound_allows(seed, classes, kernel, noise, lift, passes):
    generator = np.random.default_rng(seed)
    y = np.arange(24) % classes
    X = generator.standard_normal((24, 2)) + 2.0 * np.eye(3)[y][:, :2]
    X[1] = X[0] if noise else X[1]  # equal rows of two classes: no kernel separates them
    model = quietly(sx.KernelPerceptron(kernel, fit_intercept=lift, max_iter=passes), X, y)
    report = sx.mistake_bounds(model, X, y)
    assert [bound.name for bound in report.bounds] == ["Novikoff", "any start", "hinge", "sharp hinge"]
    assert all(bound.value >= report.mistakes == model.mistakes_ for bound in report.bounds)
    assert all(np.isfinite(report[name].value) for name in ("hinge", "sharp hinge"))
    assert report["sharp hinge"].value <= report["hinge"].value * (1 + 1e-9)
    assert report["any start"].value == pytest.approx(report["Novikoff"].value, rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), classes=st.integers(2, 3), noise=st.booleans())
def test_the_bounds_of_a_kernel_are_those_of_its_explicit_map(seed, classes, noise):
    generator = np.random.default_rng(seed)
    y = np.arange(20) % classes
    X = generator.standard_normal((20, 2)) + 3.0 * np.eye(3)[y][:, :2]
    X[1] = X[0] if noise else X[1]
    kernel = sx.kernels.Monomial(2)
    dual = quietly(sx.KernelPerceptron(kernel, fit_intercept=False, max_iter=15), X, y)
    mapped = kernel.feature_map(X)
    primal = quietly(
        sx.Perceptron(fit_intercept=False, order="cyclic", max_iter=15, n_iter_no_change=None), mapped, y
    )
    assert dual.mistakes_ == primal.mistakes_
    one, two = sx.mistake_bounds(dual, X, y), sx.mistake_bounds(primal, mapped, y)
    assert one["Novikoff"].value == pytest.approx(two["Novikoff"].value, rel=1e-4)
    if classes == 2:  # with more, the linear report knows the rival of each update
        assert one["hinge"].value == pytest.approx(two["hinge"].value, rel=5e-3)


def test_weights_u_are_not_evaluated_for_a_kernel():
    X, y = [[0.0], [1.0]], [0, 1]
    with pytest.raises(InputError, match="without a kernel"):
        sx.mistake_bounds(sx.KernelPerceptron().fit(X, y), X, y, u=[1.0])
