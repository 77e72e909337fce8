"""Every mistake bound holds for every run."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix.errors import InputError, InputTypeError
from tests import naive_margin as naive


@st.composite
def runs(draw):
    seed = draw(st.integers(0, 10**6))
    generator = np.random.default_rng(seed)
    classes, n, d = draw(st.integers(2, 4)), draw(st.integers(4, 30)), draw(st.integers(1, 4))
    y = np.concatenate([np.arange(classes), generator.integers(0, classes, n)])
    X = generator.standard_normal((len(y), d)) + draw(st.sampled_from([0.0, 1.0, 4.0])) * y[:, None]
    model = sx.Perceptron(
        order=draw(st.sampled_from(["cyclic", "shuffled", "worst", "working_set"])),
        eta0=draw(st.sampled_from([1.0, 0.1, 7.0])),
        init=draw(st.sampled_from(["zeros", "random"])),
        fit_intercept=draw(st.booleans()),
        class_weight=draw(st.sampled_from([None, "balanced"])),
        max_iter=20,
        random_state=seed,
    )
    width = d + model.fit_intercept
    u = generator.standard_normal(width if classes == 2 else (classes, width))
    return model, X, y, u


@settings(max_examples=120, deadline=None)
@given(runs())
def test_no_run_makes_more_mistakes_than_any_bound_allows(run):
    model, X, y, u = run
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    report = sx.mistake_bounds(model, X, y, u=u)
    assert report.mistakes == model.kept_mistakes_
    for bound in report.bounds:
        assert bound.value >= report.mistakes, bound
        assert 0.0 <= bound.tightness <= 1.0
    assert report.best.value < np.inf


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    classes=st.integers(2, 4),
    share=st.sampled_from([0.1, 0.5, 0.9, 0.99, 1.01, 3.0]),
    lift=st.booleans(),
)
def test_a_renormalised_run_from_zero_with_small_steps_makes_no_more_mistakes_than_allowed(
    seed, classes, share, lift
):
    generator = np.random.default_rng(seed)
    y = np.arange(20) % classes
    X = generator.standard_normal((20, 5)) + 4.0 * np.eye(5)[y]
    plain = sx.MaxMargin(fit_intercept="lifted" if lift else False, inseparable="warn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        margin = plain.fit(X, y).margin_lower_
        radius = np.sqrt((X**2).sum(axis=1).max() + lift)
        if classes > 2:
            margin, radius = margin / 2.0, radius / np.sqrt(2.0)
        rate = share * 2.0 * max(margin, 0.01) / (radius**2 - max(margin, 0.01) ** 2)
        model = sx.Perceptron(
            renormalise=True, eta0=rate, order="cyclic", fit_intercept=lift, max_iter=300
        ).fit(X, y)
    report = sx.mistake_bounds(model, X, y)
    bound = report["renormalised"]
    assert np.isfinite(bound.value) == (share < 1.0 and margin > 0.0)
    assert model.mistakes_ <= bound.value
    assert np.isfinite(bound.value) or "not below" in bound.note or margin <= 0.0
    other = sx.mistake_bounds(model, X, y, u=plain.fit(X, y))["renormalised at u"] if margin > 0.0 else bound
    assert model.mistakes_ <= other.value


def test_nothing_is_proved_of_a_renormalised_run_whose_start_is_not_zero_or_not_known():
    X, y = np.array([[1.0, 0.2], [1.0, -0.2], [-1.0, 0.1], [-1.0, -0.3]]), [1, 1, 0, 0]
    options = {"renormalise": True, "eta0": 0.1, "order": "cyclic", "fit_intercept": False}
    away = sx.Perceptron(init=[-1.0, 0.0], **options).fit(X, y)
    bound = sx.mistake_bounds(away, X, y)["renormalised"]
    assert (bound.value, bound.note) == (np.inf, "the run did not start at zero")
    # The cosine starts at -1, below -g: each step of 0.1 against a length of one is short, and many are made.
    zero = sx.Perceptron(**options).fit(X, y)
    assert zero.mistakes_ <= sx.mistake_bounds(zero, X, y)["renormalised"].value < away.mistakes_
    bare = sx.Perceptron(init="random", random_state=0, **options).fit(X, y)
    assert sx.mistake_bounds(bare, X, y)["renormalised"].note == "the initial weights are not known"
    chance = sx.Perceptron(init="random", random_state=0, trace=True, **options).fit(X, y)
    assert "not start at zero" in sx.mistake_bounds(chance, X, y)["renormalised"].note


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_formulas_are_those_of_the_theorems(seed):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((15, 3))
    y = np.where(X @ [1.0, 2.0, -1.0] > 0, 1, -1)
    y[:2] = 1, -1
    X[:2] = [[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]]
    start = generator.standard_normal(3)
    model = sx.Perceptron(order="cyclic", init=start, fit_intercept=False, eta0=0.5, max_iter=500)
    model.fit(X, y)
    assert model.mistakes_ == naive.perceptron_mistakes(X, y, start, rate=0.5, passes=500)
    u = np.array([1.0, 2.0, -1.0]) / np.sqrt(6.0)
    report = sx.mistake_bounds(model, X, y, u=u)
    R, gamma = np.linalg.norm(X, axis=1).max(), (y * (X @ u)).min()
    c0, c1, eta = np.linalg.norm(start), start @ u, 0.5
    roots = np.roots([eta**2 * gamma**2, 2 * eta * c1 * gamma - eta**2 * R**2, c1**2 - c0**2])
    assert report["any start at u"].value == pytest.approx(max(roots.real.max(), 0.0), rel=1e-9)
    assert not np.isfinite(report["Novikoff at u"].value)
    zero = sx.Perceptron(order="cyclic", fit_intercept=False).fit(X, y)
    report = sx.mistake_bounds(zero, X, y, u=u)
    assert report["Novikoff at u"].value == pytest.approx((R / gamma) ** 2, rel=1e-9)
    loss = float(zero.mistake_counts_ @ np.maximum(0.0, 1.0 - y * (X @ u)))
    assert report["hinge at u"].value == pytest.approx(R**2 + 2 * loss, rel=1e-9)
    assert report["sharp hinge at u"].value == pytest.approx(
        (R / 2 + np.sqrt(R**2 / 4 + loss)) ** 2, rel=1e-9
    )


@pytest.mark.parametrize("k", [1, 2, 5, 16])
def test_orthonormal_rows_make_novikoff_tight(k):
    X, y = np.vstack([np.eye(k), -np.eye(k)]), np.repeat([1, 0], k)
    model = sx.Perceptron(order="cyclic", fit_intercept=False).fit(X, y)
    report = sx.mistake_bounds(model, X, y)
    assert report.mistakes == k
    assert report["Novikoff"].value == pytest.approx(k, rel=1e-6)
    assert report["Novikoff"].certified


def test_no_u_has_a_lower_hinge_bound_than_the_best():
    generator = np.random.default_rng(1)
    X = generator.standard_normal((60, 3))
    y = generator.integers(0, 2, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sx.Perceptron(order="cyclic", max_iter=5).fit(X, y)
    best = sx.mistake_bounds(model, X, y)["hinge"].value
    for _ in range(50):
        u = generator.standard_normal(4) * generator.uniform(0.0, 1.0)
        assert sx.mistake_bounds(model, X, y, u=u)["hinge at u"].value >= best * (1 - 1e-5)


def test_a_model_can_be_the_comparison():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]
    model = sx.Perceptron().fit(X, y)
    report = sx.mistake_bounds(model, X, y, u=sx.MaxMargin(fit_intercept="lifted").fit(X, y))
    assert report["Novikoff at u"].value == pytest.approx(report["Novikoff"].value, rel=1e-5)


def test_no_margin_is_looked_for_where_it_is_known_that_there_is_none(monkeypatch):
    X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), [0, 0, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sx.Perceptron(max_iter=10).fit(X, y)
    monkeypatch.setattr("separatrix.bounds.mistakes.solve_max_margin", lambda *_, **__: pytest.fail("it was"))
    asked = sx.mistake_bounds(model, X, y)
    monkeypatch.setattr(
        "separatrix.bounds.mistakes.separability", lambda *_, **__: pytest.fail("it was known")
    )
    told = sx.mistake_bounds(model, X, y, separable=False)
    assert told.bounds == asked.bounds
    assert told["Novikoff"].value == np.inf
    assert (told.margin_lower, told.margin_upper) == (0.0, 0.0)


def test_reports_read_well():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]
    model = sx.Perceptron().fit(X, y)
    report = sx.mistake_bounds(model, X, y)
    text = report.summary()
    assert "Novikoff" in text
    assert "sharp hinge" in text
    assert "<table" in report._repr_html_()
    assert report.to_dict()["mistakes"] == model.mistakes_
    with pytest.raises(KeyError, match="Novikoff"):
        report["nonsense"]


def test_wrong_questions_are_answered_kindly():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]
    model = sx.Perceptron().fit(X, y)
    with pytest.raises(InputTypeError, match="fitted Perceptron"):
        sx.mistake_bounds(sx.Perceptron(), X, y)
    with pytest.raises(InputError, match="the data of the run"):
        sx.mistake_bounds(model, X[:3], y[:3])
    with pytest.raises(InputError, match="u must be finite weights"):
        sx.mistake_bounds(model, X, y, u=[1.0])
    with pytest.raises(InputError, match="row_weights"):
        sx.mistake_bounds(model, X, y, row_weights=[1.0, 2.0])
    online = sx.Perceptron().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(InputError, match="the data of the run"):
        sx.mistake_bounds(online, X[:3], y[:3])
    with pytest.raises(InputError, match="its counts begin there"):
        sx.mistake_bounds(sx.Perceptron().fit(X, y).partial_fit(X, y), X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        renormalised = sx.Perceptron(renormalise=True, order="cyclic").fit(X, y)
    assert not np.isfinite(sx.mistake_bounds(renormalised, X, y).best.value)


@pytest.mark.parametrize("y", [[0, 1, 0, 1], [0, 1, 2, 1]])
def test_rows_of_zeros_have_bounds_too(y):
    X = np.zeros((4, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sx.Perceptron(fit_intercept=False, max_updates=10).fit(X, y)
    report = sx.mistake_bounds(model, X, y)
    assert all(bound.value >= report.mistakes for bound in report.bounds)


def test_a_run_on_other_labels_or_with_other_weights_is_noticed():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    y = (X[:, 0] > 0).astype(int)
    model = sx.Perceptron().fit(X, y)
    with pytest.raises(InputError, match="the sum of its updates"):
        sx.mistake_bounds(model, X, 1 - y)
    weights = rng.random(40) + 0.5
    model = sx.Perceptron(order="cyclic", max_iter=1000).fit(X, y, sample_weight=weights)
    with pytest.raises(InputError, match="row_weights"):
        sx.mistake_bounds(model, X, y)
    report = sx.mistake_bounds(model, X, y, row_weights=weights)
    assert report.mistakes <= report["Novikoff"].value
    with pytest.raises(ValueError, match="two dimensions"):
        sx.mistake_bounds(model, X[:, 0], y)


# ---------------------------------------------------------------- streams and kernels


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), cut=st.integers(1, 39))
def test_the_bounds_of_a_stream_are_those_of_one_pass(n_classes, seed, cut):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 3)), rng.integers(0, n_classes, 40)
    y[:n_classes] = np.arange(n_classes)
    online = sx.Perceptron().partial_fit(X[:cut], y[:cut], classes=list(range(n_classes)))
    online.partial_fit(X[cut:], y[cut:])
    whole = sx.Perceptron(order="cyclic", max_iter=1).fit(X, y)
    ours = sx.mistake_bounds(online, X, y, separable=False)
    theirs = sx.mistake_bounds(whole, X, y, separable=False)
    assert ours.mistakes == theirs.mistakes == online.mistakes_
    assert [bound.value for bound in ours.bounds] == [bound.value for bound in theirs.bounds]
    assert all(bound.value >= ours.mistakes for bound in ours.bounds)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n_classes=st.sampled_from([2, 3]), rate=st.sampled_from([1.0, 0.25]))
def test_what_a_stream_proves_of_the_margin_holds(seed, n_classes, rate):
    from separatrix.estimators.online import novikoff_so_far

    rng = np.random.default_rng(seed)
    centres = 4.0 * rng.standard_normal((n_classes, 3))
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 30)])
    X = centres[y] + 0.1 * rng.standard_normal((len(y), 3))
    model = sx.Perceptron(eta0=rate)
    model.partial_fit(X, y, classes=list(range(n_classes)))
    upper, bound = novikoff_so_far(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = sx.MaxMargin(fit_intercept="lifted", inseparable="warn", gap=1e-6).fit(X, y)
    assert best.margin_lower_ <= upper * (1 + 1e-9)
    if best.margin_lower_ > 0.0:
        factor = 1.0 if n_classes == 2 else 2.0
        assert bound <= factor * (model._longest / best.margin_lower_) ** 2 * (1 + 1e-9)
    assert bound >= model.mistakes_ * (1 - 1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("lift", [True, False])
@pytest.mark.parametrize("kernel", [sx.kernels.Gaussian(0.5), sx.kernels.Polynomial(3)], ids=str)
def test_novikoffs_bound_holds_in_feature_space(kernel, lift, n_classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    radius = np.linalg.norm(X, axis=1)
    y = np.digitize(radius, [1.0, 1.6][: n_classes - 1])
    model = sx.KernelPerceptron(kernel, fit_intercept=lift, max_iter=10**5).fit(X, y)
    assert model.converged_
    report = sx.mistake_bounds(model, X, y)
    assert report.mistakes == model.mistakes_
    assert model.mistakes_ <= report["Novikoff"].value
    assert report["Novikoff"].certified
    assert report.margin_lower <= report.margin_upper
    assert report.radius >= model.result_.radius * (1 - 1e-12)
    assert "feature space" in report.summary()


def test_the_bounds_of_a_kernel_run_are_refused_where_they_do_not_hold():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]
    with pytest.raises(InputError, match="With a budget"):
        sx.mistake_bounds(sx.KernelPerceptron(budget=3).fit(X, y), X, y)
    with pytest.raises(InputError, match="the data of the run"):
        sx.mistake_bounds(sx.KernelPerceptron().fit(X, y), X[:3], y[:3])
    stuck = sx.KernelPerceptron("linear", max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stuck.fit(X, [0, 1, 0, 1])
    assert not np.isfinite(sx.mistake_bounds(stuck, X, [0, 1, 0, 1])["Novikoff"].value)
