"""Laws of the margin solvers: what is claimed is recomputed, and the truth lies in every bracket."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import separatrix as sx
from separatrix.errors import ConvergenceWarning, InputError, LabelError, NotSeparable
from tests import naive_margin as naive

INTERCEPTS = ["free", "lifted", None]
ESTIMATORS = [
    sx.MaxMargin(inseparable="warn"),
    sx.SoftMargin(),
    sx.SoftMargin(intercept="free"),
    sx.LinearProgram(inseparable="warn"),
    sx.LinearProgram(form="dual", inseparable="warn"),
]


def separable(seed, n=40, d=3, shift=0.3):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d))
    direction = generator.standard_normal(d)
    side = X @ direction + 0.2
    X = X + np.outer(np.sign(side) * shift, direction / np.linalg.norm(direction))
    y = (side > 0).astype(int)
    y[:1], y[1:2] = y[:1], y[1:2]
    return (X, y) if 0 < y.sum() < n else separable(seed + 1000, n, d, shift)


def overlapping(seed, n=25, d=3, classes=2):
    generator = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), generator.integers(0, classes, n - classes)])
    X = generator.standard_normal((n, d)) + 0.5 * y[:, None]
    return X, y


def penalised(width, intercept):
    mask = np.ones(width, dtype=bool)
    if intercept == "free":
        mask[-1] = False
    return mask


def weights_of(model, intercept):
    w = model.coef_[0] if intercept is None else np.append(model.coef_[0], model.intercept_[0])
    return np.asarray(w)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS)
def test_obeys_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_bracket_contains_the_largest_margin(intercept, seed):
    X, y = separable(seed)
    Z = naive.signed_rows(X, y, lift=intercept is not None)
    mask = penalised(Z.shape[1], intercept)
    truth = naive.max_margin(Z, mask)
    if truth is None:
        with pytest.raises(NotSeparable):
            sx.MaxMargin(intercept=intercept).fit(X, y)
        return
    model = sx.MaxMargin(intercept=intercept).fit(X, y)
    w = weights_of(model, intercept)
    assert (Z @ w).min() / np.linalg.norm(w[mask]) == pytest.approx(model.margin_lower_, rel=1e-12)
    assert model.margin_upper_ - model.margin_lower_ <= 1e-9 * model.margin_upper_
    assert truth <= model.margin_upper_ * (1 + 1e-12)
    assert truth == pytest.approx(model.margin_lower_, rel=1e-5)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_the_weights_are_the_combination_of_the_support(intercept):
    X, y = separable(5, n=200, d=6)
    model = sx.MaxMargin(intercept=intercept).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_ @ X[model.support_], model.coef_, rtol=1e-6, atol=1e-9)
    scores = np.where(y > 0, 1, -1) * model.decision_function(X)
    assert scores.min() == pytest.approx(1.0)
    np.testing.assert_allclose(scores[model.support_], 1.0, rtol=1e-4)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_many_classes_have_their_joint_margin(intercept):
    generator = np.random.default_rng(3)
    y = np.arange(30) % 3
    centres = np.array([[3.0, 0.0], [-2.0, 2.5], [-2.0, -2.5]])
    X = centres[y] + 0.4 * generator.standard_normal((30, 2))
    Z = naive.kesler_rows(X, y, 3, lift=intercept is not None)
    width = Z.shape[1] // 3
    mask = np.ones(Z.shape[1], dtype=bool)
    if intercept == "free":
        mask[width - 1 :: width] = False
    model = sx.MaxMargin(intercept=intercept).fit(X, y)
    truth = naive.max_margin(Z, mask)
    assert model.margin_lower_ <= truth * (1 + 1e-6)
    assert truth <= model.margin_upper_ * (1 + 1e-9)
    np.testing.assert_allclose(model.dual_coef_ @ X[model.support_], model.coef_, atol=1e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_the_working_set_finds_what_all_rows_give(intercept):
    problem = sx.datasets.make_separable(n_rows=5000, n_columns=8, margin=0.03, random_state=0)
    X, y = problem.X, problem.y
    model = sx.MaxMargin(intercept=intercept).fit(X, y)
    support = sx.MaxMargin(intercept=intercept).fit(X[model.support_], y[model.support_])
    assert support.margin_upper_ >= model.margin_lower_ * (1 - 1e-9)
    assert support.margin_lower_ <= model.margin_upper_ * (1 + 1e-8)


@pytest.mark.parametrize(
    "make", [np.asarray, sparse.csr_array, np.asfortranarray, lambda X: X.astype(np.float32)]
)
def test_storage_does_not_change_the_margin(make):
    X, y = separable(11, n=300, d=5)
    X = np.round(X, 2).astype(np.float32).astype(np.float64)
    plain = sx.MaxMargin().fit(X, y)
    other = sx.MaxMargin().fit(make(X), y)
    assert other.margin_lower_ == pytest.approx(plain.margin_lower_, rel=1e-9)
    soft = sx.SoftMargin().fit(X, y).objective_
    assert sx.SoftMargin().fit(make(X), y).objective_ == pytest.approx(soft, rel=1e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_overlap_is_refused_with_a_reason(intercept):
    X, y = overlapping(1, n=200)
    with pytest.raises(NotSeparable, match="rows prove it") as caught:
        sx.MaxMargin(intercept=intercept).fit(X, y)
    assert sx.verify(caught.value.certificate, X, y).holds
    with pytest.warns(ConvergenceWarning, match="rows prove it"):
        model = sx.MaxMargin(intercept=intercept, inseparable="warn").fit(X, y)
    assert not model.converged_
    assert model.margin_lower_ <= 0.0 <= model.margin_upper_


@pytest.mark.parametrize("power", [-25, -35, -45])
def test_margins_lost_in_rounding_are_never_called_inseparable(power):
    X = np.array([[0.0, 0.0], [1.0, 2.0**power], [2.0, 0.0]])
    assert sx.separability(X, [0, 1, 0]).separable
    try:
        found = sx.MaxMargin().fit(X, [0, 1, 0]).margin_lower_ > 0.0
    except NotSeparable:
        found = False
    except sx.errors.InputError:
        found = True  # says that it is separable, and that rounding hides the margin
    assert found


def test_tiny_margins_are_found():
    X = np.array([[0.0, 0.0], [1.0, 2.0**-20], [2.0, 0.0], [1.0, -(2.0**-20)]])
    y = [0, 1, 0, 1]
    with pytest.raises(NotSeparable):
        sx.MaxMargin().fit(X, y)
    y = [0, 1, 0, 0]
    model = sx.MaxMargin().fit(X, y)
    assert model.margin_lower_ == pytest.approx(2.0**-21, rel=1e-8)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), C=st.sampled_from([0.01, 1.0, 30.0]))
def test_the_gap_contains_the_least_objective(intercept, seed, C):
    X, y = overlapping(seed)
    Z = naive.signed_rows(X, y, lift=intercept is not None)
    mask = penalised(Z.shape[1], intercept)
    caps = C * np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    model = sx.SoftMargin(C=C, intercept=intercept).fit(X, y, sample_weight=caps / C)
    own = naive.soft_objective(Z, caps, weights_of(model, intercept), mask)
    assert own == pytest.approx(model.objective_, rel=1e-12)
    truth = naive.soft_margin(Z, caps, mask)
    assert model.dual_objective_ <= truth * (1 + 1e-10)
    assert model.objective_ <= truth * (1 + 1e-6)
    assert model.gap_ <= 1e-6


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_many_classes_reach_the_joint_optimum(intercept):
    X, y = overlapping(7, n=24, d=2, classes=3)
    caps = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = sx.SoftMargin(intercept=intercept).fit(X, y, sample_weight=caps)
    truth = naive.joint_soft_margin(X, y, 3, caps, lift=intercept is not None, free=intercept == "free")
    assert model.objective_ == pytest.approx(truth, rel=2e-6)
    assert model.dual_objective_ <= truth * (1 + 1e-9)


def test_more_columns_than_a_newton_system_takes():
    generator = np.random.default_rng(0)
    X = sparse.random_array((300, 5000), density=0.01, rng=generator, format="csr")
    y = generator.integers(0, 2, 300)
    for intercept in INTERCEPTS:
        model = sx.SoftMargin(C=10.0, intercept=intercept).fit(X, y)
        assert model.gap_ <= 1e-6
        hard = sx.MaxMargin(intercept=intercept).fit(X, y)
        assert hard.converged_
        assert hard.margin_lower_ > 0


def test_the_optimum_does_not_depend_on_the_order_of_rows():
    X, y = overlapping(3, n=200, d=4)
    turn = np.random.default_rng(0).permutation(len(y))
    one, two = sx.SoftMargin().fit(X, y), sx.SoftMargin().fit(X[turn], y[turn])
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-6)
    np.testing.assert_allclose(one.intercept_, two.intercept_, rtol=1e-6)


def test_class_weights_are_row_weights():
    X, y = overlapping(4, n=60)
    by_class = sx.SoftMargin(class_weight={0: 2.0, 1: 0.5}).fit(X, y)
    by_row = sx.SoftMargin().fit(X, y, sample_weight=np.where(y == 0, 2.0, 0.5))
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, rtol=1e-7)


@pytest.mark.parametrize("lift", [True, False])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_linear_programs_have_the_naive_optimum(lift, seed):
    X, y = separable(seed, n=25) if seed % 2 else overlapping(seed)
    Z = naive.signed_rows(X, y, lift=lift)
    intercept = "lifted" if lift else None
    best = naive.primal_program(Z)
    if best <= 1e-7:
        for form in ("primal", "dual"):
            with pytest.raises(NotSeparable):
                sx.LinearProgram(form=form, intercept=intercept).fit(X, y)
        return
    primal = sx.LinearProgram(intercept=intercept).fit(X, y)
    assert primal.objective_ == pytest.approx(best, rel=1e-6)
    assert np.abs(primal.dual_coef_).sum() == pytest.approx(1.0)
    dual = sx.LinearProgram(form="dual", intercept=intercept).fit(X, y)
    assert dual.objective_ == pytest.approx(naive.dual_program(Z), rel=1e-6)
    np.testing.assert_allclose(dual.dual_coef_ @ X[dual.support_], dual.coef_, rtol=1e-9, atol=1e-9)
    assert dual.score(X, y) == primal.score(X, y) == 1.0


def test_a_linear_program_larger_than_its_working_set_is_completed_by_scans():
    problem = sx.datasets.make_separable(n_rows=20_000, n_columns=5, margin=0.01, random_state=1)
    for form in ("primal", "dual"):
        model = sx.LinearProgram(form=form).fit(problem.X, problem.y)
        assert model.score(problem.X, problem.y) == 1.0


def test_linear_programs_separate_many_classes():
    X, y = load_iris(return_X_y=True)
    y = np.where(X[:, 2] < 2.5, 0, np.where(X[:, 2] < 4.9, 1, 2))
    for form in ("primal", "dual"):
        assert sx.LinearProgram(form=form).fit(X, y).score(X, y) == 1.0


def test_digits_are_jointly_separable():
    X, y = load_digits(return_X_y=True)
    model = sx.MaxMargin(intercept="lifted").fit(X, y)
    scores = model.decision_function(X)
    own = scores[np.arange(len(y)), y]
    scores[np.arange(len(y)), y] = -np.inf
    norm = np.sqrt((model.coef_**2).sum() + (model.intercept_**2).sum())
    assert (own - scores.max(axis=1)).min() / norm == pytest.approx(model.margin_lower_)
    assert model.converged_


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_clones_pickles_and_names(estimator):
    pandas = pytest.importorskip("pandas")
    X, y = separable(2)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = clone(estimator).fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(frame), model.decision_function(frame))
    with pytest.raises(NotFittedError):
        clone(model).predict(frame)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (sx.MaxMargin(intercept="yes"), "'intercept' parameter of MaxMargin must be one of"),
        (sx.MaxMargin(gap=0.0), "'gap' parameter of MaxMargin must be a positive"),
        (sx.MaxMargin(inseparable="ignore"), "'inseparable' parameter"),
        (sx.SoftMargin(C=-1.0), "'C' parameter of SoftMargin must be a positive"),
        (sx.SoftMargin(max_iter=1.5), "'max_iter' parameter"),
        (sx.LinearProgram(form="both"), "'form' parameter"),
        (sx.LinearProgram(intercept="free"), "'intercept' parameter"),
    ],
    ids=repr,
)
def test_bad_parameters_are_named(estimator, message):
    X, y = separable(0)
    with pytest.raises(InputError, match=message):
        estimator.fit(X, y)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_bad_data_is_named_and_leaves_the_model_alone(estimator):
    X, y = separable(0)
    model = clone(estimator).fit(X, y)
    before = model.coef_.copy()
    spoilt = X.copy()
    spoilt[3, 1] = np.nan
    with pytest.raises(InputError, match="row 3, column 1"):
        model.fit(spoilt, y)
    with pytest.raises(LabelError, match="one class"):
        model.fit(X, np.ones(len(y)))
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.parametrize("estimator", [sx.MaxMargin(intercept="lifted"), sx.SoftMargin()], ids=repr)
def test_an_interrupt_keeps_the_weights_so_far(estimator, monkeypatch):
    from separatrix.algorithms.proximal_newton import ProximalNewton

    plain, calls = ProximalNewton.advance, []

    def advance(self, *arguments, **options):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return plain(self, *arguments, **options)

    monkeypatch.setattr(ProximalNewton, "advance", advance)
    X, y = separable(8, n=400, d=6, shift=0.05)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = clone(estimator).fit(X, y)
    assert model.score(X, y) > 0.5
    assert not model.converged_


def test_limits_end_the_run_and_say_so():
    X, y = separable(8, n=400, d=6, shift=0.05)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = sx.SoftMargin(max_iter=1).fit(X, y)
    assert model.gap_ > 1e-6


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
def test_the_margin_scales_with_the_data(scale):
    X, y = separable(6)
    plain = sx.MaxMargin().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaled = sx.MaxMargin().fit(X * scale, y)
    assert scaled.margin_lower_ == pytest.approx(plain.margin_lower_ * scale, rel=1e-8)
