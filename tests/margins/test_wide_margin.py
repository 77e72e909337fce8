"""Laws of the largest margin with many columns: coordinate descent, and Newton steps where it creeps."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix.errors import ConvergenceWarning, NotSeparable
from separatrix.estimators import hyperplane
from separatrix.margins.hard import max_margin
from separatrix.result import Status
from separatrix.rows.memory import as_rows
from tests import naive_margin as naive

INTERCEPTS = [True, "lifted", False]


def documents(seed, n=120, d=550, density=0.03):
    """Sparse rows of words, with words in common and some rows twice."""
    generator = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=density, rng=generator, format="csr").toarray()
    X[:, :5] += generator.poisson(1.0, (n, 5))
    y = generator.integers(0, 2, n)
    y[:2] = 0, 1
    copies = generator.integers(0, n, n // 6)
    return sparse.csr_array(np.vstack([X, X[copies]])), np.concatenate([y, y[copies]])


def proved_bracket(model, X, y, intercept, counted=slice(None)):
    """Both ends of the bracket from the model's attributes and the data alone."""
    X = X.toarray() if sparse.issparse(X) else X
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    w, b = model.coef_[0], model.intercept_[0]
    lifted = intercept == "lifted"
    norm = np.sqrt(w @ w + (b * b if lifted else 0.0))
    a = np.abs(model.dual_coef_[0])
    total = model.dual_coef_[0] @ X[model.support_]
    pull = model.dual_coef_[0].sum()
    assert np.all(np.sign(model.dual_coef_[0]) == signs[model.support_])
    if intercept is True:
        assert abs(pull) <= 1e-9 * a.sum()
    upper = np.sqrt(total @ total + (pull * pull if lifted else 0.0)) / a.sum()
    return (signs * (X @ w + b))[counted].min() / norm, upper


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("seed", range(4))
def test_sparse_rows_reach_a_margin_that_is_proved(intercept, seed):
    X, y = documents(seed)
    model = sx.MaxMargin(fit_intercept=intercept).fit(X, y)
    assert model.converged_
    lower, upper = proved_bracket(model, X, y, intercept)
    assert lower == pytest.approx(model.margin_lower_, rel=1e-12)
    assert upper == pytest.approx(model.margin_upper_, rel=1e-9)
    assert upper - lower <= 2e-9 * upper
    if intercept is not True:
        Z = naive.signed_rows(X.toarray(), y, lift=intercept is not False)
        assert naive.least_distance(Z) == pytest.approx(lower, rel=1e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 60), d=st.integers(1, 30), twice=st.booleans())
def test_any_shape_of_support_gives_a_bracket_that_agrees_with_the_other_method(intercept, seed, n, d, twice):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d))
    side = X @ generator.standard_normal(d) + 0.1
    y = (side > 0.0).astype(int)
    if y.min() == y.max():
        y[0] = 1 - y[0]
    if twice:
        X, y = np.vstack([X, X]), np.concatenate([y, y])
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        brackets = []
        for wide in (10**6, 0):
            patch.setattr(max_margin, "WIDE", wide)
            warnings.simplefilter("error")
            try:
                model = sx.MaxMargin(fit_intercept=intercept).fit(X, y)
                brackets.append((model.margin_lower_, model.margin_upper_))
            except NotSeparable:
                brackets.append((0.0, 0.0))
    (plain_lower, plain_upper), (lower, upper) = brackets
    assert upper - lower <= 1e-9 * upper
    assert plain_lower <= upper * (1 + 1e-9)
    assert lower <= plain_upper * (1 + 1e-9)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_more_columns_than_rows_make_every_labelling_separable(intercept):
    generator = np.random.default_rng(1)
    X, y = generator.standard_normal((40, 900)), np.arange(40) % 2
    model = sx.MaxMargin(fit_intercept=intercept).fit(X, y)
    lower, upper = proved_bracket(model, X, y, intercept)
    assert upper - lower <= 2e-9 * upper
    scaled = sx.MaxMargin(fit_intercept=intercept).fit(X * 1e-130, y) if intercept != "lifted" else None
    if scaled is not None:
        assert scaled.margin_lower_ == pytest.approx(1e-130 * model.margin_lower_, rel=1e-8)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_many_classes_with_many_columns(intercept):
    generator = np.random.default_rng(2)
    X = sparse.random_array((60, 600), density=0.05, rng=generator, format="csr")
    y = np.arange(60) % 3
    model = sx.MaxMargin(fit_intercept=intercept).fit(X, y)
    assert model.converged_
    scores = model.decision_function(X)
    own = scores[np.arange(60), y].copy()
    scores[np.arange(60), y] = -np.inf
    square = (model.coef_**2).sum() + ((model.intercept_**2).sum() if intercept == "lifted" else 0.0)
    assert (own - scores.max(axis=1)).min() / np.sqrt(square) == pytest.approx(model.margin_lower_, rel=1e-9)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_sparse_rows_that_contradict_each_other_are_refused_with_proof(intercept):
    X, y = documents(5)
    X, y = sparse.vstack([X, X[[7]]]).tocsr(), np.append(y, 1 - y[7])
    with pytest.raises(NotSeparable) as caught:
        sx.MaxMargin(fit_intercept=intercept).fit(X, y)
    assert sx.verify(caught.value.certificate, X, y).holds


def test_a_margin_too_small_for_coordinate_descent_is_found_by_newton_steps():
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((60, 600)) / 25.0, np.arange(60) % 2
    X[0] = X[1]
    X[0, 0] += 1e-7
    model = sx.MaxMargin(gap=1e-2).fit(X, y)
    assert model.converged_
    assert model.margin_upper_ < 1e-6 * np.abs(X).max()
    lower, upper = proved_bracket(model, X, y, True)
    assert 0.0 < lower <= upper * (1 + 1e-6)


def test_an_interrupt_keeps_the_weights_so_far(monkeypatch):
    X, y = documents(3)

    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(max_margin.MaxMarginSearch, "solve", stop)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = sx.MaxMargin().fit(X, y)
    assert model.score(X, y) > 0.5
    assert model.margin_lower_ <= model.margin_upper_


def test_identical_rows_of_two_classes_are_refused_with_a_proof():
    rng = np.random.default_rng(0)
    X = sparse.random_array((40, 1000), density=0.02, rng=rng, format="csr")
    X = sparse.vstack([X, X[:1]], format="csr")
    y = np.append(rng.integers(0, 2, 40), 0)
    y[0] = 1
    with pytest.raises(NotSeparable, match="2 rows prove it") as refused:
        sx.MaxMargin().fit(X, y)
    assert sx.verify(refused.value.certificate, X, y).holds


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_few_rows_of_many_numbers_have_the_margin_of_their_sparse_copy_and_of_newton_steps_alone(
    intercept, dtype, monkeypatch
):
    for seed in range(8):
        generator = np.random.default_rng(seed)
        X = (20.0 * generator.standard_normal((30 + seed, 900)) + 5.0).astype(dtype)
        X[-1] = X[-2] if seed % 2 else X[-1]  # their inner products are not definite then
        y = np.arange(len(X)) // 2 % 2
        y[-1] = y[-2]
        ignored = np.ones(len(X))
        ignored[: seed % 3] = 0.0
        few = sx.MaxMargin(fit_intercept=intercept).fit(X, y, ignored)
        by_csr = sx.MaxMargin(fit_intercept=intercept).fit(sparse.csr_array(X), y, ignored)
        with monkeypatch.context() as patch:
            patch.setattr(max_margin, "WIDE", 10**6)
            plain = sx.MaxMargin(fit_intercept=intercept).fit(X, y, ignored)
        counted = ignored > 0.0
        lower, upper = proved_bracket(few, X.astype(float), y, intercept, counted)
        assert upper - lower <= 2e-9 * upper
        assert few.margin_lower_ == pytest.approx(plain.margin_lower_, rel=2e-9)
        assert by_csr.margin_lower_ == pytest.approx(plain.margin_lower_, rel=2e-9)
        if intercept is not True:
            Z = naive.signed_rows(X[counted].astype(float), y[counted], lift=intercept is not False)
            assert naive.least_distance(Z) == pytest.approx(lower, rel=1e-6)


def test_few_rows_that_cannot_be_separated_are_refused_with_a_proof():
    X = np.random.default_rng(0).standard_normal((20, 900))
    X[7] = X[3]
    y = np.arange(20) % 2
    y[3], y[7] = 0, 1
    with pytest.raises(NotSeparable, match="2 rows prove it") as refused:
        sx.MaxMargin().fit(X, y)
    assert sx.verify(refused.value.certificate, X, y).holds


def meaningless(seed, n=300, d=60):
    """Sparse rows without identical ones, and labels that have nothing to do with them."""
    generator = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=0.15, rng=generator, format="csr")
    return X, generator.integers(0, 2, n)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("wide", [0, 10**6])
def test_a_margin_that_vanishes_is_noticed_soon_and_proved(intercept, wide, monkeypatch):
    monkeypatch.setattr(max_margin, "WIDE", wide)
    X, y = meaningless(6)
    rows = as_rows(X, y, lift=intercept is not False)
    found = max_margin.solve_max_margin(rows, free_intercept=intercept is True)
    assert found.status is Status.NOT_SEPARABLE
    assert found.margin_lower <= 0.0
    assert found.steps <= 300
    with pytest.raises(NotSeparable, match="rows prove it") as caught:
        sx.MaxMargin(fit_intercept=intercept).fit(X, y)
    assert sx.verify(caught.value.certificate, X, y).holds


def test_what_takes_too_long_to_prove_is_refused_without_a_claim(monkeypatch):
    X, y = meaningless(7)
    monkeypatch.setattr(hyperplane, "EXACT_SECONDS", 1e-9)
    with pytest.raises(NotSeparable, match="it is not decided whether") as caught:
        sx.MaxMargin().fit(X, y)
    assert caught.value.certificate is None
