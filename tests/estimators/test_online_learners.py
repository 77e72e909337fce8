"""Passive-aggressive learners and Winnow do what their naive twins do, and keep their bounds."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import check_estimator

import separatrix as sx
from separatrix.errors import InputError, NumericOverflowError
from separatrix.result import Status
from separatrix.sparse import sparse
from tests import naive_online as naive

quietly = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
VARIANTS = ("PA", "PA-I", "PA-II")


@st.composite
def cases(draw):
    """Rows of two to four classes, some of them separable, and some with a row of zeros."""
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_classes, n, d = draw(st.integers(2, 4)), draw(st.integers(2, 20)), draw(st.integers(1, 4))
    y = np.concatenate([np.arange(n_classes), generator.integers(0, n_classes, n)])
    X = generator.standard_normal((len(y), d)) + draw(st.sampled_from([0.0, 3.0])) * y[:, None]
    if draw(st.booleans()):
        X[-1] = 0.0
    return X, y, n_classes, draw(st.booleans())


def learners():
    return [sx.PassiveAggressive(0.3, variant=variant) for variant in VARIANTS] + [sx.Winnow(0.07)]


def twin(model, X, y, n_classes, lift, orders):
    if isinstance(model, sx.Winnow):
        return naive.winnow(X, y, eta0=model.eta0, n_classes=n_classes, lift=lift, orders=orders)
    options = {"variant": model.variant, "C": model.C, "n_classes": n_classes, "lift": lift, "orders": orders}
    return naive.passive_aggressive(X, y, **options)


@quietly
@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from(range(4)), st.booleans())
def test_the_run_is_that_of_the_naive_twin(case, which, sparsely):
    X, y, n_classes, lift = case
    model = learners()[which].set_params(order="cyclic", max_iter=6, fit_intercept=lift)
    model.fit(sparse.csr_array(X) if sparsely else X, y)
    weights, mistakes, *squares = twin(model, X, y, n_classes, lift, [range(len(y))] * model.n_iter_)
    assert model.result_.weights == pytest.approx(weights, rel=1e-9, abs=1e-11)
    assert model.mistakes_ == mistakes == model.mistake_counts_.sum()
    assert model.result_.squared_loss == pytest.approx(sum(squares), rel=1e-9)
    wrong = int((model.predict(X) != y).sum())
    assert wrong <= model.result_.errors  # a row on the boundary is an error, also if it is predicted right
    assert model.converged_ == (model.result_.errors == 0)


@quietly
@settings(max_examples=40, deadline=None)
@given(cases(), st.sampled_from(range(4)), st.integers(1, 10))
def test_rows_in_pieces_give_the_bits_of_one_pass(case, which, cut):
    X, y, n_classes, lift = case
    whole, pieces = (
        learners()[which].set_params(order="cyclic", max_iter=1, fit_intercept=lift) for _ in "ab"
    )
    whole.fit(X, y)
    for part in (slice(None, cut), slice(cut, None)):
        if len(y[part]):
            pieces.partial_fit(X[part], y[part], classes=list(range(n_classes)))
    assert np.array_equal(whole.result_.weights, pieces.result_.weights)
    assert (whole.mistakes_, whole._loss) == (pieces.mistakes_, pytest.approx(pieces._loss))
    assert not pieces.converged_


@quietly
@settings(max_examples=80, deadline=None)
@given(cases(), st.sampled_from(range(4)), st.sampled_from([1, 4, 30]), st.booleans(), st.integers(0, 10**6))
def test_no_run_exceeds_the_bound_of_its_theorem_at_any_u(case, which, max_iter, online, seed):
    X, y, n_classes, lift = case
    model = learners()[which].set_params(max_iter=max_iter, fit_intercept=lift, random_state=seed)
    if online:
        model.partial_fit(X, y, classes=list(range(n_classes)))
    else:
        model.fit(X, y)
    u = np.random.default_rng(seed).standard_normal(model.result_.weights.shape)
    report = sx.mistake_bounds(model, X, y, u=u)
    assert report.mistakes == model.mistakes_
    for bound in report.bounds:
        assert model.mistakes_ <= bound.value
        assert 0.0 <= bound.tightness <= 1.0
        if which in (0, 2):  # the theorems on PA and PA-II are about squared losses
            assert model._loss <= bound.value
    if which != 3 and report.margin_lower > 0:
        assert np.isfinite(report.bounds[0].value)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_bounds_are_the_formulas_of_the_theorems(n_classes):
    rng = np.random.default_rng(1)
    y = np.arange(30) % n_classes
    X = rng.standard_normal((30, 3)) + 5.0 * np.eye(3)[y]
    best = sx.MaxMargin(fit_intercept="lifted", gap=1e-9).fit(X, y)
    square = ((X**2).sum(axis=1).max() + 1.0) * (1.0 if n_classes == 2 else 2.0)
    bound = {
        variant: sx.mistake_bounds(sx.PassiveAggressive(0.5, variant=variant).fit(X, y), X, y).best.value
        for variant in VARIANTS
    }
    length = 1.0 / best.margin_lower_**2
    assert bound["PA"] == pytest.approx(square * length, rel=1e-4)
    assert bound["PA-I"] <= max(square, 2.0) * length * (1 + 1e-6)
    assert bound["PA-II"] <= (square + 1.0) * length * (1 + 1e-6)


def largest_l1_margin(Z):
    """By scipy: maximize t with <u, z> >= t and |u|_1 <= 1."""
    from scipy.optimize import linprog

    n, d = Z.shape
    found = linprog(
        np.r_[np.zeros(2 * d), -1.0],
        A_ub=np.r_[np.c_[-Z, Z, np.ones(n)], [np.r_[np.ones(2 * d), 0.0]]],
        b_ub=np.r_[np.zeros(n), 1.0],
        bounds=[(0, None)] * (2 * d) + [(None, None)],
    )
    return -found.fun


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_winnow_with_the_best_rate_keeps_its_promise(seed, lift):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 6))
    y = (X[:, 0] - X[:, 1] > 0).astype(int)
    X[:, 0] += 0.2 * (2 * y - 1)
    if len(set(y)) < 2:
        return
    from tests.naive import signed_rows

    Z = signed_rows(X, y, lift)
    margin, largest = largest_l1_margin(Z), np.abs(Z).max()
    model = sx.Winnow(margin / largest**2, fit_intercept=lift, max_iter=10**5, random_state=seed).fit(X, y)
    promised = 2.0 * np.log(2.0 * Z.shape[1]) * (largest / margin) ** 2
    assert model.converged_
    assert model.mistakes_ <= promised
    assert sx.mistake_bounds(model, X, y)["Winnow"].value <= promised * (1 + 1e-6)
    assert np.abs(model.result_.weights).sum() < 1.0


def test_winnow_makes_fewer_mistakes_where_few_columns_matter_and_more_where_all_do():
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (1000, 1000))
    few = X[:, :3].sum(axis=1) > 0
    options = {"fit_intercept": False, "order": "cyclic", "max_iter": 1000}
    assert sx.Winnow(**options).fit(X, few).mistakes_ < 0.5 * sx.Perceptron(**options).fit(X, few).mistakes_
    sparse_rows = np.eye(200) * rng.choice([-1.0, 1.0], 200)  # one column per row, and every column matters
    dense = np.ones(200) @ sparse_rows > 0
    perceptron, winnow = (
        sx.Perceptron(**options).fit(sparse_rows, dense),
        sx.Winnow(**options).fit(sparse_rows, dense),
    )
    assert perceptron.mistakes_ <= winnow.mistakes_


def test_weights_of_winnow_do_not_overflow():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    y = [1, 0, 1, 0]
    model = sx.Winnow(5000.0, fit_intercept=False, order="cyclic").fit(X, y)
    assert model.converged_
    assert np.abs(model.coef_).sum() <= 1.0
    with pytest.raises(NumericOverflowError, match="Scale the columns"):
        sx.Winnow(1e308, fit_intercept=False).fit(1e10 * X, y)


def test_an_overlapping_set_ends_when_the_losses_settle():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 3)), rng.integers(0, 2, 200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = sx.PassiveAggressive(0.1, random_state=0).fit(X, y)
    assert model.result_.status is Status.SETTLED
    assert model.n_iter_ < 100
    assert not model.converged_


@quietly
@pytest.mark.parametrize("model", learners()[2:], ids=str)
def test_scikit_learns_checks_pass(model):
    found = check_estimator(model, on_fail=None, on_skip=None)
    assert len(found) > 40
    assert {entry["check_name"] for entry in found if entry["status"] != "passed"} == set()


@quietly
@pytest.mark.parametrize("model", learners(), ids=str)
def test_models_are_saved_and_exported(model, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 3)), rng.integers(0, 3, 30)
    model.fit(X, y)
    path = tmp_path / "model.skops"
    sx.save(model, path)
    assert np.array_equal(sx.load(path).decision_function(X), model.decision_function(X))
    onnxruntime = pytest.importorskip("onnxruntime")
    exported = tmp_path / "model.onnx"
    sx.export_onnx(model, exported)
    session = onnxruntime.InferenceSession(exported, providers=["CPUExecutionProvider"])
    label = session.run(None, {session.get_inputs()[0].name: X})[0]
    assert label.tolist() == model.predict(X).tolist()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (sx.PassiveAggressive(0.0), "'C' parameter of PassiveAggressive must be a positive finite number"),
        (
            sx.PassiveAggressive(variant="PA-III"),
            "'variant' parameter of PassiveAggressive must be one of 'PA'",
        ),
        (sx.PassiveAggressive(tol=-1.0), "'tol' parameter"),
        (sx.PassiveAggressive(order="worst"), "'order' parameter of PassiveAggressive must be one of"),
        (sx.Winnow(-0.1), "'eta0' parameter of Winnow must be a positive finite number"),
        (sx.Winnow(max_iter=0), "'max_iter' parameter of Winnow must be a positive whole number"),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_named(model, words):
    with pytest.raises(InputError, match=words):
        model.fit([[0.0], [1.0]], [0, 1])


@quietly
def test_the_bounds_need_the_rows_of_the_run():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]
    model = sx.Winnow().fit(X, y)
    with pytest.raises(InputError, match="Pass all rows of one call of fit"):
        sx.mistake_bounds(model, X[:3], y[:3])
    with pytest.raises(InputError, match="Pass all rows of one call of fit"):
        sx.mistake_bounds(sx.PassiveAggressive().fit(X, y).partial_fit(X, y), np.r_[X, X], y + y)
    with pytest.raises(InputError, match="fit_intercept must stay"):
        model.set_params(fit_intercept=False).partial_fit(X, y)
