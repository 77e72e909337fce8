"""Laws of partial_fit: however the rows are cut into calls, it is one cyclic pass over all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix.errors import ConvergenceWarning
from separatrix.result import Status
from tests import naive
from tests.problems import TWO_STORAGES, clouds, cuts, grids

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
AVERAGES = [False, "averaged", "voted"]


def one_pass(case, X, weights=None, **options):
    model = sx.Perceptron(order="cyclic", max_iter=1, fit_intercept=case.lift, **options)
    return model.fit(X, case.codes, sample_weight=weights)


def in_pieces(case, X, pieces, weights=None, **options):
    model = sx.Perceptron(fit_intercept=case.lift, **options)
    for piece in pieces:
        model.partial_fit(
            X[piece],
            case.codes[piece],
            classes=np.arange(case.n_classes),
            sample_weight=None if weights is None else weights[piece],
        )
    return model


def check_same_model(pieces, whole, X):
    assert np.array_equal(pieces._weights, whole._weights)
    assert np.array_equal(pieces.coef_, whole.coef_)
    assert np.array_equal(pieces.intercept_, whole.intercept_)
    assert np.array_equal(pieces.mistake_counts_, whole.mistake_counts_)
    assert pieces.mistakes_ == whole.mistakes_ == whole.mistake_counts_.sum()
    assert np.array_equal(pieces.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("storage", TWO_STORAGES)
@given(data=st.data())
def test_any_chunking_gives_the_bits_of_one_cyclic_pass(storage, average, data):
    case = data.draw(st.one_of(grids(storage=storage), clouds(storage=storage)))
    pieces = data.draw(cuts(len(case.codes)))
    X = case.stored
    model = in_pieces(case, X, pieces, average=average)
    check_same_model(model, one_pass(case, X, average=average), X)


@pytest.mark.parametrize("average", AVERAGES)
@given(data=st.data())
def test_any_chunking_gives_the_naive_pass(average, data):
    case = data.draw(grids(storage=data.draw(st.sampled_from(TWO_STORAGES))))
    model = in_pieces(case, case.stored, data.draw(cuts(len(case.codes))), average=average)
    answer = naive.perceptron(
        case.X, case.codes, n_classes=case.n_classes, lift=case.lift, order="cyclic", max_iter=1
    )
    assert np.array_equal(model._weights, answer.weights)
    assert np.array_equal(model.mistake_counts_, answer.counts.sum(axis=1))
    if average == "averaged":
        shown = np.column_stack([model.coef_, model.intercept_]) if case.lift else model.coef_
        assert shown == pytest.approx(np.atleast_2d(naive.average(answer)), rel=1e-12, abs=1e-12)
    if average == "voted":
        votes = naive.votes(answer, case.X, case.n_classes, case.lift)
        assert np.array_equal(model.predict(case.stored), votes.argmax(axis=1))


@given(data=st.data())
def test_weights_of_rows_scale_their_updates_in_any_chunking(data):
    case = data.draw(grids(storage="float64 by rows"))
    n_rows = len(case.codes)
    weights = np.array(
        data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0, 4.0]), min_size=n_rows, max_size=n_rows))
    )
    model = in_pieces(case, case.stored, data.draw(cuts(n_rows)), weights)
    answer = naive.perceptron(
        case.X, case.codes, n_classes=case.n_classes, lift=case.lift, max_iter=1, weights=weights
    )
    assert np.array_equal(model._weights, answer.weights)
    check_same_model(model, one_pass(case, case.stored, weights), case.stored)


def test_a_row_of_weight_zero_may_come_alone():
    X, y = np.array([[1.0, 2.0], [5.0, -1.0], [-1.0, 1.0]]), np.array([1, 0, 0])
    weights = np.array([1.0, 0.0, 1.0])
    whole = sx.Perceptron(order="cyclic", max_iter=1).fit(X, y, sample_weight=weights)
    model = sx.Perceptron()
    for i in range(3):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1], sample_weight=weights[i : i + 1])
    check_same_model(model, whole, X)


@pytest.mark.parametrize("average", AVERAGES)
def test_dense_and_sparse_pieces_may_be_mixed(average):
    rng = np.random.default_rng(0)
    X, y = rng.integers(-3, 4, (12, 3)).astype(float), rng.integers(0, 2, 12)
    whole = sx.Perceptron(average=average).partial_fit(X, y, classes=[0, 1])
    for forms in ((np.asarray, sparse.csr_array), (sparse.csr_array, np.asarray)):
        model = sx.Perceptron(average=average)
        for number, form in enumerate((*forms, *forms)):
            piece = slice(3 * number, 3 * number + 3)
            model.partial_fit(form(X[piece]), y[piece], classes=[0, 1])
        assert np.array_equal(model._weights, whole._weights)
        assert np.array_equal(model.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("average", AVERAGES)
def test_learning_goes_on_from_a_fit(average):
    rng = np.random.default_rng(1)
    X, y = rng.integers(-3, 4, (20, 3)).astype(float), np.arange(20) % 2
    model = sx.Perceptron(order="cyclic", max_iter=1, average=average).fit(X[:12], y[:12])
    model.partial_fit(X[12:], y[12:])
    check_same_model(model, sx.Perceptron(average=average).partial_fit(X, y, classes=[0, 1]), X)


def test_a_fit_forgets_what_was_learnt_online():
    rng = np.random.default_rng(1)
    X, y = rng.integers(-3, 4, (20, 3)).astype(float), np.arange(20) % 2
    model = sx.Perceptron(order="cyclic", max_iter=3).partial_fit(X, y, classes=[0, 1]).fit(X[:9], y[:9])
    fresh = sx.Perceptron(order="cyclic", max_iter=3).fit(X[:9], y[:9])
    check_same_model(model, fresh, X)
    assert model.mistake_counts_.shape == (9,)


def test_two_passes_online_are_a_cyclic_fit_of_two_passes():
    rng = np.random.default_rng(2)
    X, y = rng.integers(-3, 4, (15, 3)).astype(float), rng.integers(0, 3, 15)
    twice = sx.Perceptron().partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X, y)
    fitted = sx.Perceptron(order="cyclic", max_iter=2).fit(X, y)
    assert np.array_equal(twice.coef_, fitted.coef_)
    assert twice.mistakes_ == fitted.mistakes_
    assert np.array_equal(twice.mistake_counts_[:15] + twice.mistake_counts_[15:], fitted.mistake_counts_)


def test_an_online_model_does_not_claim_to_have_converged():
    model = sx.Perceptron().partial_fit([[1.0], [-1.0]], [1, 0], classes=[0, 1])
    assert model.result_.status is Status.ONLINE
    assert model.result_.errors is None
    assert not model.converged_


def test_a_random_start_is_drawn_once():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((10, 3)), np.arange(10) % 2
    options = {"init": "random", "random_state": 7}
    whole = sx.Perceptron(order="cyclic", max_iter=1, **options).fit(X, y)
    model = sx.Perceptron(**options)
    for i in range(10):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
    assert np.array_equal(model.coef_, whole.coef_)


@pytest.mark.filterwarnings("error")
def test_learning_online_does_not_warn():
    sx.Perceptron().partial_fit([[1.0], [1.0]], [1, 0], classes=[0, 1])
    assert issubclass(ConvergenceWarning, UserWarning)


@pytest.mark.parametrize(
    ("options", "change"),
    [
        ({"fit_intercept": True}, {"fit_intercept": False}),
        ({"fit_intercept": False}, {"fit_intercept": True}),
        ({"average": False}, {"average": "averaged"}),
        ({"average": False}, {"average": "voted"}),
        ({"average": "averaged"}, {"average": False}),
        ({"average": "voted"}, {"average": "averaged"}),
    ],
    ids=str,
)
def test_a_parameter_that_changes_what_is_kept_is_refused_or_honoured_between_calls(options, change):
    X, y = np.array([[1.0, 2.0], [-1.0, 1.0], [2.0, -3.0]]), np.array([1, 0, 1])
    model = sx.Perceptron(**options).partial_fit(X, y, classes=[0, 1])
    before = model.coef_.copy()
    try:
        model.set_params(**change).partial_fit(X, y)
    except ValueError:
        assert np.array_equal(model.coef_, before)
    else:
        assert model.coef_.shape == (1, 2)
        assert np.all(np.isfinite(model.decision_function(X)))
