"""Laws of the margin solvers: what is claimed is recomputed, and the truth lies in every bracket."""

import pickle
import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import separatrix as sx
from separatrix.errors import ConvergenceWarning, InputError, LabelError, NotSeparable, NumericOverflowError
from separatrix.loops import margins as margin_loops
from separatrix.margins.hard.max_margin import solve_max_margin
from separatrix.margins.soft import proximal_newton
from separatrix.result import Status
from separatrix.rows.memory import as_rows
from tests import naive_margin as naive

INTERCEPTS = [True, "lifted", False]
ESTIMATORS = [
    sx.MaxMargin(inseparable="warn"),
    sx.SoftMargin(),
    sx.SoftMargin(fit_intercept=True),
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
    if intercept is True:
        mask[-1] = False
    return mask


def weights_of(model, intercept):
    w = model.coef_[0] if intercept is False else np.append(model.coef_[0], model.intercept_[0])
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
    Z = naive.signed_rows(X, y, lift=intercept is not False)
    mask = penalised(Z.shape[1], intercept)
    truth = naive.max_margin(Z, mask)
    if truth is None:
        with pytest.raises(NotSeparable):
            sx.MaxMargin(fit_intercept=intercept).fit(X, y)
        return
    model = sx.MaxMargin(fit_intercept=intercept).fit(X, y)
    w = weights_of(model, intercept)
    assert (Z @ w).min() / np.linalg.norm(w[mask]) == pytest.approx(model.margin_lower_, rel=1e-12)
    assert model.margin_upper_ - model.margin_lower_ <= 1e-9 * model.margin_upper_
    assert truth <= model.margin_upper_ * (1 + 1e-12)
    assert truth == pytest.approx(model.margin_lower_, rel=1e-5)


@st.composite
def repeated(draw):
    """A few different rows with small whole numbers, most of them several times."""
    columns = draw(st.integers(1, 3))
    row = st.tuples(st.lists(st.integers(-3, 3), min_size=columns, max_size=columns), st.integers(0, 1))
    distinct = draw(st.lists(row, min_size=2, max_size=5))
    return [distinct[k] for k in draw(st.lists(st.integers(0, len(distinct) - 1), min_size=2, max_size=9))]


@pytest.mark.parametrize("intercept", INTERCEPTS)
@settings(max_examples=150, deadline=None)
@given(problem=repeated())
@example(problem=[([2], 0), ([-2], 1), ([-2], 1)])
def test_repeated_rows_reach_the_gap(intercept, problem):
    X, y = np.array([row for row, _ in problem], dtype=float), np.array([side for _, side in problem])
    if y.min() == y.max():
        return
    if intercept is True:
        apart = (X[y == 1][:, None] - X[y == 0]).reshape(-1, X.shape[1])
        truth = naive.least_distance(apart) / 2.0
    else:
        truth = naive.least_distance(naive.signed_rows(X, y, lift=intercept is not False))
    if truth <= 1e-9:
        with pytest.raises(NotSeparable):
            sx.MaxMargin(fit_intercept=intercept).fit(X, y)
        return
    model = sx.MaxMargin(fit_intercept=intercept).fit(X, y)
    assert model.converged_
    assert model.margin_upper_ - model.margin_lower_ <= 1e-9 * model.margin_upper_
    assert model.margin_lower_ == pytest.approx(truth, rel=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_lifted_margin_is_at_most_the_affine_and_at_least_that_through_the_origin(classes):
    generator = np.random.default_rng(classes)
    for _ in range(5):
        y = np.arange(10 * classes) % classes
        centres = np.array([[4.0, 1.0], [-3.0, 3.5], [-3.0, -3.5]])
        X = centres[y] + 0.6 * generator.standard_normal((len(y), 2))
        origin, lifted, affine = (
            sx.MaxMargin(fit_intercept=each).fit(X, y) for each in (False, "lifted", True)
        )
        assert origin.margin_lower_ <= lifted.margin_upper_
        assert lifted.margin_lower_ <= affine.margin_upper_


@pytest.mark.parametrize("columns", [1, 6])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_the_weights_are_the_combination_of_the_support(intercept, columns):
    X, y = separable(5, n=200, d=columns)
    X = X if intercept else np.abs(X) * (2.0 * y - 1.0)[:, None]
    model = sx.MaxMargin(fit_intercept=intercept).fit(X, y)
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
    Z = naive.kesler_rows(X, y, 3, lift=intercept is not False)
    width = Z.shape[1] // 3
    mask = np.ones(Z.shape[1], dtype=bool)
    if intercept is True:
        mask[width - 1 :: width] = False
    model = sx.MaxMargin(fit_intercept=intercept).fit(X, y)
    truth = naive.max_margin(Z, mask)
    assert model.margin_lower_ <= truth * (1 + 1e-6)
    assert truth <= model.margin_upper_ * (1 + 1e-9)
    np.testing.assert_allclose(model.dual_coef_ @ X[model.support_], model.coef_, atol=1e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_the_working_set_finds_what_all_rows_give(intercept):
    problem = sx.datasets.make_separable(n_rows=5000, n_columns=8, margin=0.03, random_state=0)
    X, y = problem.X, problem.y
    model = sx.MaxMargin(fit_intercept=intercept).fit(X, y)
    support = sx.MaxMargin(fit_intercept=intercept).fit(X[model.support_], y[model.support_])
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
        sx.MaxMargin(fit_intercept=intercept).fit(X, y)
    assert sx.verify(caught.value.certificate, X, y).holds
    with pytest.warns(ConvergenceWarning, match="rows prove it"):
        model = sx.MaxMargin(fit_intercept=intercept, inseparable="warn").fit(X, y)
    assert not model.converged_
    assert model.margin_lower_ <= 0.0 <= model.margin_upper_


@pytest.mark.parametrize("power", [-25, -35, -45])
def test_margins_lost_in_rounding_are_never_called_inseparable(power):
    X = np.array([[0.0, 0.0], [1.0, 2.0**power], [2.0, 0.0]])
    assert sx.separability(X, [0, 1, 0]).separable
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the bracket may be wider than asked for
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
    Z = naive.signed_rows(X, y, lift=intercept is not False)
    mask = penalised(Z.shape[1], intercept)
    caps = C * np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    model = sx.SoftMargin(C=C, fit_intercept=intercept).fit(X, y, sample_weight=caps / C)
    own = naive.soft_objective(Z, caps, weights_of(model, intercept), mask)
    assert own == pytest.approx(model.objective_, rel=1e-12)
    truth = naive.soft_margin(Z, caps, mask)
    assert model.dual_objective_ <= truth * (1 + 1e-10)
    assert model.objective_ <= truth * (1 + 1e-6)
    assert model.gap_ <= 1e-6


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize(("seed", "C", "classes"), [(7, 1.0, 3), (8, 0.01, 4), (9, 50.0, 3)])
def test_many_classes_reach_the_joint_optimum(intercept, seed, C, classes):
    X, y = overlapping(seed, n=24, d=2, classes=classes)
    caps = C * np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    model = sx.SoftMargin(C=C, fit_intercept=intercept).fit(X, y, sample_weight=caps / C)
    truth = naive.joint_soft_margin(X, y, classes, caps, lift=intercept is not False, free=intercept is True)
    assert model.converged_
    assert model.objective_ == pytest.approx(truth, rel=2e-6)
    assert model.dual_objective_ <= truth * (1 + 1e-9)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_many_classes_reach_the_gap_on_real_data(load, intercept):
    X, y = load(return_X_y=True)
    model = sx.SoftMargin(fit_intercept=intercept).fit(X, y)
    assert model.converged_
    lifted = intercept == "lifted"
    caps = np.ones(len(y))
    own = naive.joint_objective(X, y, caps, model.coef_, model.intercept_, penalise_b=lifted)
    # rounded up by as much of the gap as rounding may take
    assert own * (1.0 - 1e-14) <= model.objective_ <= own * (1.0 + 3e-9)
    # the bound, again from the multipliers alone
    dual, rows = model.dual_coef_, np.arange(len(model.support_))
    held = dual[y[model.support_], rows]
    rivals = dual.copy()
    rivals[y[model.support_], rows] = 0.0
    assert rivals.max() <= 0.0
    assert held.max() <= 1.0 + 1e-12
    np.testing.assert_allclose(dual.sum(axis=0), 0.0, atol=1e-14)
    pull = dual.sum(axis=1)
    if intercept is True:
        np.testing.assert_allclose(pull, 0.0, atol=1e-9)
    square = ((dual @ X[model.support_]) ** 2).sum() + ((pull**2).sum() if lifted else 0.0)
    bound = held.sum() - 0.5 * square
    assert own - bound <= 1.001e-6 * own
    assert bound == pytest.approx(model.dual_objective_, rel=3e-9)


@pytest.mark.parametrize("kernel", [None, "rbf"])
@pytest.mark.parametrize(("C", "weight"), [(1e308, None), (1.0, 1e308), (1e200, 1e200)])
def test_a_cost_beyond_floats_is_refused(C, weight, kernel):
    X, y = np.arange(12.0)[:, None] % 5, np.arange(12) % 2
    weights = None if weight is None else np.full(12, weight)
    with pytest.raises(NumericOverflowError, match="Lower C or the weights"):
        sx.SoftMargin(C, kernel=kernel).fit(X, y, sample_weight=weights)


def test_many_classes_agree_with_liblinear():
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    peer = LinearSVC(C=0.1, multi_class="crammer_singer", tol=1e-9, max_iter=10**6, random_state=0)
    peer.fit(X, y, sample_weight=weights)
    model = sx.SoftMargin(C=0.1).fit(X, y, sample_weight=weights)
    theirs = naive.joint_objective(X, y, 0.1 * weights, peer.coef_, peer.intercept_, penalise_b=True)
    assert model.dual_objective_ <= theirs * (1 + 1e-12)
    assert model.objective_ <= theirs * (1 + 1e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_many_classes_have_one_optimum_however_they_are_stored_and_weighed(intercept):
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    factors = {c: 1.0 + c for c in range(10)}
    options = {"C": 1e-3, "fit_intercept": intercept, "gap": 1e-9}
    plain = sx.SoftMargin(**options).fit(X, y, sample_weight=1.0 + y)
    for other in (
        sx.SoftMargin(**options, class_weight=factors).fit(sparse.csr_array(X), y),
        sx.SoftMargin(**options, class_weight=factors).fit(X.astype(np.float32), y),
    ):
        assert other.converged_
        assert other.objective_ == pytest.approx(plain.objective_, rel=1e-8)
        np.testing.assert_allclose(other.coef_, plain.coef_, atol=1e-3 * np.abs(plain.coef_).max())


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("unpenalized", [[], [-1]])
@pytest.mark.parametrize("limit", [10**6, 0], ids=["factorised", "iterated"])
@pytest.mark.parametrize("n_columns", [3, 30], ids=["by columns", "by rows"])
def test_joint_proximal_newtons_are_solved(storage, unpenalized, limit, n_columns, monkeypatch):
    generator = np.random.default_rng(1)
    X, y = generator.standard_normal((40, n_columns)), np.arange(40) % 4
    free = generator.random((40, 4)) < 0.5
    gradient = generator.standard_normal((4, n_columns + 1))
    ridge = np.ones((4, n_columns + 1))
    ridge[:, unpenalized] = 1e-2
    monkeypatch.setattr(proximal_newton, "DIRECT", limit)
    rows = as_rows(storage(X), y.astype(np.int32), n_classes=4)
    step = proximal_newton.newton_step(rows, free, 3.0, ridge, gradient, unpenalized)
    truth = naive.joint_newton_step(np.column_stack([X, np.ones(40)]), free, 3.0, ridge, gradient)
    error = 1e-6 if limit else 1e-2
    np.testing.assert_allclose(step, truth, rtol=error, atol=error)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), sigma=st.sampled_from([1e-3, 1.0, 1e6]))
def test_proximal_multipliers_are_the_nearest_allowed(seed, sigma):
    generator = np.random.default_rng(seed)
    X, y = generator.standard_normal((6, 2)), np.arange(6, dtype=np.int32) % 3
    rows = as_rows(X, y, n_classes=3)
    caps, outputs = generator.uniform(0.0, 2.0, 6), generator.standard_normal((6, 3))
    against = generator.uniform(0.0, 0.5, (6, 3)) * caps[:, None]
    against[np.arange(6), y] = 0.0
    centre = -against
    centre[np.arange(6), y] = against.sum(axis=1)
    current, total = np.zeros((6, 3)), np.zeros((3, 3))
    box = margin_loops.Box(centre, caps, current, np.zeros((6, 3), dtype=bool), np.empty(3))
    moved, size = margin_loops.clip_step(rows.storage, outputs, sigma, box, total)
    costs = 1.0 - np.eye(3)[y]
    truth = np.array(
        [
            naive.nearest_joint_multipliers(target, own, cap)
            for target, own, cap in zip(centre - sigma * (outputs + costs), y, caps, strict=True)
        ]
    )
    np.testing.assert_allclose(current, truth, atol=1e-9 * max(1.0, sigma))
    assert moved == pytest.approx(((current - centre) ** 2).sum())
    assert size == pytest.approx((current**2).sum())
    np.testing.assert_allclose(total, current.T @ np.column_stack([X, np.ones(6)]), atol=1e-12)


def test_more_columns_than_a_proximal_newton_takes():
    generator = np.random.default_rng(0)
    X = sparse.random_array((300, 5000), density=0.01, rng=generator, format="csr")
    y = generator.integers(0, 2, 300)
    for intercept in INTERCEPTS:
        model = sx.SoftMargin(C=10.0, fit_intercept=intercept).fit(X, y)
        assert model.gap_ <= 1e-6
        hard = sx.MaxMargin(fit_intercept=intercept).fit(X, y)
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
    best = naive.primal_program(Z)
    if best <= 1e-7:
        for form in ("primal", "dual"):
            with pytest.raises(NotSeparable):
                sx.LinearProgram(form=form, fit_intercept=lift).fit(X, y)
        return
    primal = sx.LinearProgram(fit_intercept=lift).fit(X, y)
    assert primal.objective_ == pytest.approx(best, rel=1e-6)
    assert np.abs(primal.dual_coef_).sum() == pytest.approx(1.0)
    dual = sx.LinearProgram(form="dual", fit_intercept=lift).fit(X, y)
    assert dual.objective_ == pytest.approx(naive.dual_program(Z), rel=1e-6)
    np.testing.assert_allclose(dual.dual_coef_ @ X[dual.support_], dual.coef_, rtol=1e-9, atol=1e-9)
    assert dual.score(X, y) == primal.score(X, y) == 1.0


@pytest.mark.parametrize("form", ["primal", "dual"])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), lift=st.booleans())
def test_the_feasibility_program_gives_every_row_a_score_of_one_exactly_if_the_naive_one_is_feasible(
    form, seed, lift
):
    X, y = separable(seed, n=25) if seed % 2 else overlapping(seed)
    Z = naive.signed_rows(X, y, lift=lift)
    model = sx.LinearProgram(objective="feasible", form=form, fit_intercept=lift)
    if not naive.feasible_program(Z):
        with pytest.raises(NotSeparable):
            model.fit(X, y)
        return
    model.fit(X, y)
    weights = np.append(model.coef_[0], model.intercept_) if lift else model.coef_[0]
    assert (Z @ weights).min() >= 1.0 - 1e-7 * max(1.0, np.abs(weights).max())
    assert (model.objective_, model.converged_) == (0.0, True)
    margin = sx.MaxMargin(fit_intercept="lifted" if lift else False).fit(X, y).margin_upper_
    assert (Z @ weights).min() / np.linalg.norm(weights) <= margin * (1 + 1e-9)


def test_a_linear_program_larger_than_its_working_set_is_completed_by_scans():
    problem = sx.datasets.make_separable(n_rows=20_000, n_columns=5, margin=0.01, random_state=1)
    for form, objective in product(("primal", "dual"), ("margin", "feasible")):
        model = sx.LinearProgram(form=form, objective=objective).fit(problem.X, problem.y)
        assert model.score(problem.X, problem.y) == 1.0


def test_linear_programs_separate_many_classes():
    X, y = load_iris(return_X_y=True)
    y = np.where(X[:, 2] < 2.5, 0, np.where(X[:, 2] < 4.9, 1, 2))
    for form, objective in product(("primal", "dual"), ("margin", "feasible")):
        assert sx.LinearProgram(form=form, objective=objective).fit(X, y).score(X, y) == 1.0


def test_digits_are_jointly_separable():
    X, y = load_digits(return_X_y=True)
    model = sx.MaxMargin(fit_intercept="lifted").fit(X, y)
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
        (sx.MaxMargin(fit_intercept="free"), "'fit_intercept' parameter of MaxMargin must be True, False or"),
        (sx.MaxMargin(gap=0.0), "'gap' parameter of MaxMargin must be a positive"),
        (sx.MaxMargin(inseparable="ignore"), "'inseparable' parameter"),
        (sx.SoftMargin(C=-1.0), "'C' parameter of SoftMargin must be a positive"),
        (sx.SoftMargin(max_iter=1.5), "'max_iter' parameter"),
        (sx.LinearProgram(form="both"), "'form' parameter"),
        (sx.LinearProgram(objective="zero"), "'objective' parameter"),
        (sx.LinearProgram(fit_intercept=None), "'fit_intercept' parameter of LinearProgram"),
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


@pytest.mark.parametrize("estimator", [sx.MaxMargin(fit_intercept="lifted"), sx.SoftMargin()], ids=repr)
def test_an_interrupt_keeps_the_weights_so_far(estimator, monkeypatch):
    from separatrix.margins.brackets import Effort

    plain, calls = Effort.report, []

    def report(self, *arguments):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        plain(self, *arguments)

    monkeypatch.setattr(Effort, "report", report)
    X, y = separable(8, n=400, d=6, shift=0.05)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = clone(estimator).fit(X, y)
    assert model.score(X, y) > 0.5
    assert not model.converged_
    X, y = load_iris(return_X_y=True)
    calls.clear()
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = sx.SoftMargin().fit(X, y)
    assert model.score(X, y) > 0.5
    assert model.gap_ > 1e-6


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


# ---------------------------------------------------------------- few rows, numbers at the ends of the range


@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(2, 8),
    make=st.sampled_from([np.asarray, sparse.csr_array]),
    scale=st.sampled_from([1.0, 1e-300, 1e140]),
)
@example(seed=0, n_rows=2, make=sparse.csr_array, scale=1.0)
def test_one_column_has_half_the_distance_between_the_classes(seed, n_rows, make, scale):
    generator = np.random.default_rng(seed)
    y = np.sort(np.append([0, 1], generator.integers(0, 2, n_rows - 2)))
    x = np.sort(generator.choice(np.arange(-20.0, 21.0), n_rows, replace=False))
    distance = x[y == 1].min() - x[y == 0].max()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = sx.MaxMargin().fit(make(scale * x[:, None]), y)
    assert model.margin_lower_ == pytest.approx(0.5 * scale * distance, rel=1e-8)
    assert model.margin_upper_ == pytest.approx(0.5 * scale * distance, rel=1e-8)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_rows_of_zeros_are_a_proof_and_no_reason_to_warn(make):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(NotSeparable):
            sx.MaxMargin(fit_intercept=False).fit(make(np.zeros((4, 1))), [0, 1, 0, 0])


@given(seed=st.integers(0, 10_000), C=st.sampled_from([1.0, 100.0, 1e4]))
def test_rows_that_repeat_each_other_do_not_stop_the_soft_margin(seed, C):
    generator = np.random.default_rng(seed)
    X = generator.integers(0, 2, (generator.integers(4, 30), generator.integers(1, 6))).astype(float)
    y = np.append([0, 1], generator.integers(0, 2, len(X) - 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = sx.SoftMargin(C=C).fit(X, y)
    assert model.gap_ <= 1e-6


def test_a_soft_margin_whose_multipliers_once_jumped_between_their_caps():
    rows = [0b1100, 0b0101, 0b0110, 0b1001, 0b1000, 0b1010, 0b0011, 0b0011, 0b1101, 0b0011, 2, 2, 2, 0b0111]
    X = np.array([[row >> place & 1 for place in (3, 2, 1, 0)] for row in rows], dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = sx.SoftMargin(C=100).fit(X, [0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1])
    assert model.gap_ <= 1e-6


def test_an_overlap_far_from_the_origin_is_given_up_soon():
    generator = np.random.default_rng(3)
    X = 1e3 + 1e-3 * generator.standard_normal((37, 1))
    found = solve_max_margin(as_rows(X, generator.integers(0, 2, 37)), gap=1e-6)
    assert found.status in (Status.STALLED, Status.NOT_SEPARABLE)
    assert found.scans < 200
    assert found.margin_lower < found.margin_upper < 1e-6
