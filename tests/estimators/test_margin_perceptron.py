"""A perceptron with a margin does what its naive twin does, and keeps the promises of its theorem."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import separatrix as sx
from separatrix.errors import InputError
from separatrix.result import Status
from separatrix.sparse import sparse
from tests import naive


@st.composite
def grids(draw, classes=(2, 3)):
    """Rows of small integers, on which nothing is rounded."""
    n_classes, n, d = draw(st.sampled_from(classes)), draw(st.integers(3, 14)), draw(st.integers(1, 3))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    y = np.concatenate([np.arange(n_classes), generator.integers(0, n_classes, n)])
    X = (
        generator.integers(-4, 5, (len(y), d))
        + draw(st.sampled_from([0, 9])) * np.eye(n_classes, d, dtype=int)[y]
    )
    return X.astype(float), y, n_classes


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@settings(max_examples=60, deadline=None)
@given(
    grids(),
    st.sampled_from(["cyclic", "shuffled", "worst"]),
    st.sampled_from([0.5, 3.0, 40.0]),
    st.booleans(),
    st.booleans(),
)
def test_the_run_is_that_of_the_naive_twin(case, order, margin, lift, sparsely):
    X, y, n_classes = case
    options = {"order": order, "max_iter": 30, "eta0": 0.5, "margin": margin}
    model = sx.Perceptron(**options, fit_intercept=lift, n_iter_no_change=None, random_state=3)
    model.fit(sparse.csr_array(X) if sparsely else X, y)
    options["max_iter"] = model.n_iter_  # a run whose weights return ends earlier
    answer = naive.perceptron(X, y, n_classes=n_classes, lift=lift, seed=3, **options)
    assert np.array_equal(model._weights, answer.weights)
    assert np.array_equal(model.result_.counts, answer.counts)
    lowest = min(naive.scores(X, y, n_classes, lift, answer.weights))
    assert model.converged_ == (lowest > margin)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@settings(max_examples=30, deadline=None)
@given(grids(), st.integers(1, 10))
def test_rows_in_pieces_give_the_weights_of_one_pass(case, cut):
    X, y, n_classes = case
    online = sx.Perceptron(margin=5.0)
    for part in (slice(None, cut), slice(cut, None)):
        if len(y[part]):
            online.partial_fit(X[part], y[part], classes=list(range(n_classes)))
    answer = naive.perceptron(X, y, n_classes=n_classes, margin=5.0, max_iter=1)
    assert np.array_equal(online._weights, answer.weights)


def promised(X, y, eta0, margin, lift):
    """Return the bound on the updates and the margin that the theorem promises, and the best margin."""
    best = sx.MaxMargin(fit_intercept="lifted" if lift else False, gap=1e-9).fit(X, y)
    square, gamma = (X**2).sum(axis=1).max() + lift, best.margin_lower_
    return (square + 2 * margin / eta0) / gamma**2, gamma * margin / (eta0 * square + 2 * margin), gamma


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.1, 1.0, 30.0]),
    st.sampled_from([0.25, 1.0]),
    st.booleans(),
    st.sampled_from(["cyclic", "shuffled", "worst", "working_set"]),
)
def test_the_updates_and_the_margin_keep_the_promise_of_the_theorem(seed, margin, eta0, lift, order):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 3))
    u = rng.standard_normal(3)
    y = (X @ u > 0).astype(int)
    X += 0.3 * np.outer(2 * y - 1, u / np.linalg.norm(u))
    if len(set(y)) < 2:
        return
    model = sx.Perceptron(
        margin=margin, eta0=eta0, order=order, fit_intercept=lift, max_iter=10**5, random_state=seed
    ).fit(X, y)
    assert model.converged_
    updates, least, best = promised(X, y, eta0, margin, lift)
    assert model.mistakes_ <= updates * (1 + 1e-9)
    reached = ((2 * y - 1) * model.decision_function(X)).min() / np.linalg.norm(model._weights)
    assert least * (1 - 1e-9) <= reached <= best * (1 + 1e-6)
    report = sx.mistake_bounds(model, X, y)
    assert report["Novikoff"].value == pytest.approx(updates, rel=1e-4)
    assert all(bound.value >= model.mistakes_ for bound in report.bounds)
    lengths = report.lengths(eta0)
    assert np.linalg.norm(model._weights) <= lengths.radius * np.sqrt(model.mistakes_) * (1 + 1e-9)


def test_half_of_the_best_margin_is_reached_with_a_large_b():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    y = (X @ [1.0, -2.0, 0.5, 0.0] > 0).astype(int)
    X += 0.2 * np.outer(2 * y - 1, [1.0, -2.0, 0.5, 0.0])
    best = sx.MaxMargin(fit_intercept="lifted").fit(X, y).margin_upper_
    large = sx.Perceptron(margin=1e4, max_iter=10**6).fit(X, y)
    assert large.result_.margin_lower >= 0.49 * best


def test_a_run_that_ends_before_the_margin_is_reached_says_so():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), [0, 0, 1, 1]
    with pytest.warns(ConvergenceWarning, match="before every score was above margin; raise max_iter"):
        model = sx.Perceptron(margin=1e6, max_iter=5, fit_intercept=False).fit(X, y)
    assert model.result_.status is Status.MARGIN_MISSED
    assert model.result_.separated
    assert not model.converged_
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("margin", [-1.0, np.inf, np.nan, "1", None, True])
def test_a_margin_is_a_finite_number_of_zero_or_more(margin):
    with pytest.raises(
        InputError, match="'margin' parameter of Perceptron must be a finite number of 0 or more"
    ):
        sx.Perceptron(margin=margin).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("options", [{"order": "mixed"}, {"renormalise": True}])
def test_a_margin_is_refused_where_it_has_no_meaning(options):
    with pytest.raises(InputError, match="margin"), warnings.catch_warnings():
        sx.Perceptron(margin=1.0, **options).fit([[0.0], [1.0]], [0, 1])
