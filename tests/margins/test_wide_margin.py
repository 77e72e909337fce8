"""Laws of the largest margin with many columns: ascent and Newton steps in the multipliers."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix.errors import ConvergenceWarning, NotSeparable
from separatrix.estimators import hyperplane
from separatrix.margins.hard import hard_ascent, max_margin, pivoting
from separatrix.margins.optimum import Outcome
from separatrix.margins.soft import coordinate_descent, dual_ascent
from separatrix.margins.soft.dual_ascent import DualAscent, Factor, products
from separatrix.rows import memory
from separatrix.rows.memory import as_rows
from tests import naive_margin as naive

INTERCEPTS = [True, "lifted", False]


def documents(seed, n=120, d=550, density=0.03):
    """Sparse rows of words, with words in common and some rows twice; too many for pivoting."""
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


def test_a_margin_too_small_for_the_ascent_is_found_by_the_other_method():
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((60, 600)) / 25.0, np.arange(60) % 2
    X[0] = X[1]
    X[0, 0] += 1e-7
    model = sx.MaxMargin(gap=1e-2).fit(X, y)
    assert model.converged_
    assert model.margin_upper_ < hard_ascent.VANISHING * np.abs(X).max()
    lower, upper = proved_bracket(model, X, y, True)
    assert 0.0 < lower <= upper * (1 + 1e-6)


def test_an_interrupt_keeps_the_weights_so_far(monkeypatch):
    X, y = documents(3)

    def stop(self, ahead):
        raise KeyboardInterrupt

    monkeypatch.setattr(DualAscent, "due", stop)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = sx.MaxMargin().fit(X, y)
    assert model.score(X, y) > 0.5
    assert model.margin_lower_ <= model.margin_upper_


def test_a_support_too_large_to_factorise_is_left_to_the_other_method(monkeypatch):
    X, y = documents(4)
    usual = sx.MaxMargin().fit(X, y)
    monkeypatch.setattr(dual_ascent, "FACTORISED", 10)
    other = sx.MaxMargin().fit(X, y)
    assert other.margin_lower_ == pytest.approx(usual.margin_lower_, rel=1e-8)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), dense=st.booleans(), free=st.booleans())
def test_a_changed_support_is_solved_by_the_old_factor(seed, dense, free):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((40, 60)) * (generator.random((40, 60)) < 0.3)
    signs = generator.integers(0, 2, 40)
    rows = as_rows(X if dense else sparse.csr_array(X), signs, lift=True)
    columns = [60] if free else []
    factor = Factor(rows, np.sort(generator.choice(40, 25, replace=False)), columns)
    members = np.sort(generator.choice(40, 22, replace=False))
    right = generator.standard_normal((22, 2))
    Z = naive.signed_rows(X, signs, lift=True)[members]
    Z[:, columns] = 0.0
    system = Z @ Z.T + factor.ridge * np.eye(22)
    np.testing.assert_allclose(system @ factor.near(members)(right), right, atol=1e-6)
    expected = np.tril(Z @ Z.T)
    np.testing.assert_allclose(np.tril(products(Z if dense else sparse.csr_array(Z))), expected, atol=1e-12)


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
def test_few_rows_of_many_numbers_are_solved_by_their_inner_products_alone(intercept, dtype, monkeypatch):
    for seed in range(8):
        generator = np.random.default_rng(seed)
        X = (20.0 * generator.standard_normal((30 + seed, 900)) + 5.0).astype(dtype)
        X[-1] = X[-2] if seed % 2 else X[-1]  # their inner products are not definite then
        y = np.arange(len(X)) // 2 % 2
        y[-1] = y[-2]
        ignored = np.ones(len(X))
        ignored[: seed % 3] = 0.0
        with monkeypatch.context() as patch:
            patch.setattr(DualAscent, "sweep", None)  # nothing is left for it to do
            few = sx.MaxMargin(fit_intercept=intercept).fit(X, y, ignored)
            by_csr = sx.MaxMargin(fit_intercept=intercept).fit(sparse.csr_array(X), y, ignored)
        with monkeypatch.context() as patch:
            patch.setattr(pivoting, "MOST_ROWS", 0)
            plain = sx.MaxMargin(fit_intercept=intercept).fit(X, y, ignored)
        counted = ignored > 0.0
        lower, upper = proved_bracket(few, X.astype(float), y, intercept, counted)
        assert upper - lower <= 2e-9 * upper
        assert few.margin_lower_ == pytest.approx(plain.margin_lower_, rel=2e-9)
        assert by_csr.margin_lower_ == pytest.approx(plain.margin_lower_, rel=2e-9)
        if intercept is not True:
            Z = naive.signed_rows(X[counted].astype(float), y[counted], lift=intercept is not False)
            assert naive.least_distance(Z) == pytest.approx(lower, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 25), rank=st.integers(1, 40), free=st.booleans())
def test_pivoting_finds_the_optimum_or_nothing(seed, n, rank, free):
    generator = np.random.default_rng(seed)
    X = generator.integers(-3, 4, (n, rank)) @ generator.integers(-3, 4, (rank, 100))
    rows = as_rows(X, generator.permutation(np.arange(n) % 2), lift=True)
    found = pivoting.pivoted_multipliers(rows, free, 1e-10)
    if found is None:
        assert rank < n + 5  # inner products of fewer columns than rows need not be definite
        return
    multipliers, intercept = found
    assert multipliers.min() >= 0.0
    Z = naive.signed_rows(X, rows.labels, lift=True)
    total = multipliers @ Z
    if free:
        assert abs(total[-1]) <= 1e-9 * multipliers.sum()
        total[-1] = intercept
    scores = Z @ total
    accuracy = 1e-10 + 1e-13 * multipliers.sum() * (Z**2).sum(axis=1).max()
    assert scores.min() >= 1.0 - accuracy
    np.testing.assert_allclose(scores[multipliers > 0.0], 1.0, atol=accuracy)


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
    assert found.outcome is Outcome.NOT_SEPARABLE
    assert found.margin_lower <= 0.0
    assert found.steps < 100
    with pytest.raises(NotSeparable, match="rows prove it") as caught:
        sx.MaxMargin(fit_intercept=intercept).fit(X, y)
    assert sx.verify(caught.value.certificate, X, y).holds


def test_what_takes_too_long_to_prove_is_refused_without_a_claim(monkeypatch):
    X, y = meaningless(7)
    monkeypatch.setattr(hyperplane, "EXACT_SECONDS", 1e-9)
    with pytest.raises(NotSeparable, match="it is not decided whether") as caught:
        sx.MaxMargin().fit(X, y)
    assert caught.value.certificate is None


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("seed", range(3))
def test_passes_over_packed_rows_are_those_over_all(intercept, seed, monkeypatch):
    X, y = documents(seed)
    rows = as_rows(X, y, lift=intercept is not False)
    members = np.flatnonzero(np.arange(len(y)) % 3 == 0)
    few, columns = rows.pack(members)
    weights = np.random.default_rng(seed).standard_normal(rows.weights_shape)
    np.testing.assert_array_equal(few.outputs(weights[columns]), rows.outputs(weights)[members])
    assert columns.size < weights.size
    plain = sx.MaxMargin(fit_intercept=intercept, gap=1e-3).fit(X, y)
    monkeypatch.setattr(memory, "SCATTERED", 0)
    monkeypatch.setattr(dual_ascent, "WORTH_PACKING", 1)
    other = sx.MaxMargin(fit_intercept=intercept, gap=1e-3).fit(X, y)
    assert other.margin_lower_ == pytest.approx(plain.margin_lower_, rel=1e-3)
    lower, upper = proved_bracket(other, X, y, intercept)
    assert upper - lower <= 1.001e-3 * upper


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_soft_margin_found_on_packed_rows_is_that_of_all(intercept, monkeypatch):
    X, y = documents(8, n=150, d=2500)
    caps = np.random.default_rng(8).uniform(0.5, 2.0, len(y))
    options = {"C": 3.0, "fit_intercept": intercept, "gap": 1e-8}
    plain = sx.SoftMargin(**options).fit(X, y, sample_weight=caps)
    counted = []
    pack = memory.MemoryRows.pack
    monkeypatch.setattr(
        memory.MemoryRows, "pack", lambda rows, few: counted.append(few.size) or pack(rows, few)
    )
    monkeypatch.setattr(memory, "SCATTERED", 0)
    monkeypatch.setattr(coordinate_descent, "WORTH_PACKING", 1)
    monkeypatch.setattr(coordinate_descent.Stretch, "packs", lambda stretch, active: stretch.rows.scattered)
    found = sx.SoftMargin(**options).fit(X, y, sample_weight=caps)
    assert counted
    assert found.converged_
    Z = naive.signed_rows(X.toarray(), y, lift=intercept is not False)
    weights = found.coef_[0] if intercept is False else np.append(found.coef_[0], found.intercept_)
    penalised = np.ones(weights.size, dtype=bool)
    penalised[-1] = intercept is not True
    own = naive.soft_objective(Z, 3.0 * caps, weights, penalised)
    assert own == pytest.approx(found.objective_, rel=1e-12)
    assert plain.dual_objective_ <= own <= plain.objective_ * (1 + 1e-8)
    assert found.dual_objective_ <= plain.objective_ * (1 + 1e-12)


def test_the_work_ahead_continues_the_trend():
    history = [(10.0 * k, 0.5**k) for k in range(5)]
    assert hard_ascent.work_ahead(history, 0.5**7) == pytest.approx(30.0)
    stuck = [*history, (50.0, 0.5**4), (60.0, 0.5**4)]  # an entry without gain does not end a trend
    assert hard_ascent.work_ahead(stuck, 0.5**5) == pytest.approx(30.0)
    assert hard_ascent.work_ahead(history[:2], 0.1) == np.inf
    assert hard_ascent.work_ahead([(1.0, 1.0)] * 3, 0.1) == np.inf


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), dense=st.booleans(), free=st.booleans())
def test_conjugate_gradients_and_a_factor_solve_the_same_system(seed, dense, free):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((12, 60))
    rows = as_rows(X if dense else sparse.csr_array(X), np.arange(12) % 2, lift=True)
    columns = [60] if free else []
    members = np.sort(generator.choice(12, 9, replace=False))
    Z = naive.signed_rows(X, np.arange(12) % 2, lift=True)[members]
    answers = []
    with pytest.MonkeyPatch.context() as patch:
        for flops in (1e-9, 1e9):  # a factorisation is dear; or free
            patch.setattr(dual_ascent, "FLOPS_A_PRODUCT", flops)
            ascent = DualAscent(rows, columns, np.zeros(12))
            ascent.finest = 1e-11
            answers.append(ascent._solve(members, np.ones(9), 1e-11))
            assert (ascent.factor is None) == (flops == 1e-9)
            total = Z.T @ answers[-1]
            if free:
                assert abs(total[-1]) <= 1e-8 * np.abs(answers[-1]).sum()
                total[-1] = ascent.centre[0]
            np.testing.assert_allclose(Z @ total, 1.0, atol=1e-8)
    np.testing.assert_allclose(answers[0], answers[1], atol=1e-6)
