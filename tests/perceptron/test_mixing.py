"""Laws of iterative parameter mixing: shards learn side by side, and Novikoff's theorem still holds."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

import separatrix as sx
from separatrix.datasets import make_multiclass, make_separable
from separatrix.deadline import NEVER
from separatrix.errors import InputError
from separatrix.margins.hard.max_margin import solve_max_margin
from separatrix.perceptron import mixing as mixing_module
from separatrix.perceptron.learner import Learner
from separatrix.perceptron.mixing import MIXINGS, Passed, solve_mixed
from separatrix.perceptron.orders import solve_perceptron
from separatrix.perceptron.run import Run
from separatrix.result import Status
from separatrix.rows.memory import as_rows
from tests import naive
from tests.problems import TWO_STORAGES, clouds, grids, separable_grids

quietly = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
every_mixing = pytest.mark.parametrize("mixing", MIXINGS)
two_storages = st.sampled_from(TWO_STORAGES).flatmap(lambda storage: clouds(storage=storage))


def mixed(case, starts, *, mixing, max_iter=30, average=False, keep=None):
    """A run over shards that begin at the given rows."""
    rows = case.rows(keep)
    learner = Learner(rows, start=np.zeros(rows.weights_shape), steps=np.ones(1), averaging=average)
    run = Run(learner, max_iter=max_iter, deadline=NEVER)
    solve_mixed(run, rows.cut_at(np.array(starts)), mixing)
    return run.finish("mixed", interrupted=False, voted=False, trace=False)


@st.composite
def starts_of(draw, n_rows, most=None):
    """The first rows of shards, of which there may be as many as rows."""
    places = st.lists(st.integers(1, n_rows - 1), unique=True, max_size=(most or n_rows) - 1)
    return [0, *sorted(draw(places))]


def twin(case, starts, **options):
    return naive.mixture(case.X, case.codes, starts, n_classes=case.n_classes, lift=case.lift, **options)


# ---------------------------------------------------------------- against the naive version


@pytest.mark.parametrize("storage", TWO_STORAGES)
@given(data=st.data())
def test_evenly_mixed_whole_numbers_give_the_bits_of_the_naive_run(storage, data):
    # A mean over 1, 2 or 4 shards of weights that fit into 53 bits does not round.
    case = data.draw(grids(storage=storage))
    starts = data.draw(starts_of(len(case.codes), most=4).filter(lambda starts: len(starts) != 3))
    epochs = data.draw(st.integers(1, 12))
    result = mixed(case, starts, mixing="even", max_iter=epochs, average=True)
    answer = twin(case, starts, mixing="even", max_iter=epochs)
    assert np.array_equal(result.weights, answer.weights)
    assert np.array_equal(result.counts, answer.counts)
    assert np.array_equal(result.mixed_counts, answer.mixed)
    assert [record.mistakes for record in result.history] == [sum(made) for made in answer.per_epoch]
    assert result.average == pytest.approx(np.mean(answer.means, axis=0), rel=1e-12, abs=1e-12)


@every_mixing
@given(data=st.data())
def test_any_shards_give_the_naive_run_as_far_as_rounding_lets(mixing, data):
    case = data.draw(two_storages)
    starts = data.draw(starts_of(len(case.codes)))
    importance = np.array(
        data.draw(st.lists(st.sampled_from([1, 1, 1, 0]), min_size=len(case.codes), max_size=len(case.codes)))
    )
    assume(importance.any())
    answer = twin(case, starts, mixing=mixing, max_iter=20, weights=importance)
    assume(answer.closest > 1e-9)
    result = mixed(case, starts, mixing=mixing, max_iter=20, average=True, keep=importance > 0)
    assert result.weights == pytest.approx(answer.weights, rel=1e-9, abs=1e-9)
    assert np.array_equal(result.counts, answer.counts)
    assert result.mixed_counts == pytest.approx(answer.mixed, rel=1e-12)
    assert result.average == pytest.approx(np.mean(answer.means, axis=0), rel=1e-9, abs=1e-9)
    if answer.clean:
        assert result.status is Status.SEPARATED


@every_mixing
@given(case=two_storages, average=st.booleans())
def test_one_shard_is_the_cyclic_order_bit_for_bit(mixing, case, average):
    options = {"max_iter": 25, "average": "averaged" if average else False}
    one = solve_perceptron(case.rows(), order="mixed", shards=1, mixing=mixing, **options)
    plain = solve_perceptron(case.rows(), order="cyclic", **options)
    assume(plain.status is not Status.INSEPARABLE)  # mixed runs do not look for cycles
    assert np.array_equal(one.weights, plain.weights)
    assert np.array_equal(one.counts, plain.counts)
    assert np.array_equal(one.mixed_counts, plain.counts)
    assert (one.mistakes, one.passes, one.errors, one.visits) == (
        plain.mistakes,
        plain.passes,
        plain.errors,
        plain.visits,
    )
    assert one.history == plain.history
    assert (one.margin_lower, one.margin_upper) == (plain.margin_lower, plain.margin_upper)
    if average:
        assert np.array_equal(one.average, plain.average)


@every_mixing
@given(data=st.data())
def test_the_number_of_threads_changes_no_bit(mixing, data, many_threads):
    case = data.draw(two_storages)
    options = {"order": "mixed", "shards": data.draw(st.integers(1, 30)), "mixing": mixing, "max_iter": 15}
    found = []
    for threads in (1, 3):
        many_threads(threads)
        found.append(solve_perceptron(case.rows(), average="averaged", **options))
    assert np.array_equal(found[0].weights, found[1].weights)
    assert np.array_equal(found[0].average, found[1].average)
    assert np.array_equal(found[0].mixed_counts, found[1].mixed_counts)


# ---------------------------------------------------------------- the theorem


@every_mixing
@pytest.mark.parametrize("n_classes", [2, 3])
@given(data=st.data())
def test_what_can_be_separated_is_and_within_the_bound(mixing, n_classes, data):
    case = data.draw(separable_grids(n_classes=n_classes))
    starts = data.draw(starts_of(len(case.codes)))
    result = mixed(case, starts, mixing=mixing, max_iter=100_000)
    assert result.status is Status.SEPARATED
    assert np.all(naive.scores(case.X, case.codes, case.n_classes, case.lift, result.weights) > 0)
    rows = case.rows()
    margin = solve_max_margin(rows, gap=1e-6).margin_lower
    allowed = (1 if n_classes == 2 else 2) * (rows.radius / margin) ** 2 * (1 + 1e-9)
    assert result.mixed_counts.sum() <= allowed
    if mixing == "even":
        assert result.mistakes <= len(starts) * allowed
    else:
        assert sum(record.mistakes > 0 for record in result.history) <= allowed
        assert result.mistakes <= len(starts) * result.mixed_counts.sum() * (1 + 1e-9)


@pytest.mark.parametrize("shards", [2, 7, 40])
@every_mixing
def test_the_bound_holds_at_a_known_margin(mixing, shards):
    problem = make_separable(400, 5, margin=0.02, random_state=shards)
    model = sx.Perceptron(order="mixed", shards=shards, mixing=mixing, fit_intercept=False, max_iter=10**5)
    model.fit(problem.X, problem.y)
    assert model.converged_
    report = sx.mistake_bounds(model, problem.X, problem.y)
    assert report.mistakes == pytest.approx(model.result_.mixed_counts.sum())
    assert all(bound.tightness <= 1.0 for bound in report.bounds)
    assert report["Novikoff"].value == pytest.approx((model.result_.radius / problem.margin) ** 2, rel=1e-3)


@quietly
@every_mixing
@given(case=clouds(storage="float64 by rows"), shards=st.integers(1, 9))
def test_no_bound_is_exceeded_where_nothing_separates(mixing, case, shards):
    model = sx.Perceptron(order="mixed", shards=shards, mixing=mixing, fit_intercept=case.lift, max_iter=9)
    model.fit(case.X, case.codes)
    assume(model.mistakes_ > 0)
    report = sx.mistake_bounds(model, case.X, case.codes, separable=model.converged_)
    assert all(bound.tightness <= 1.0 for bound in report.bounds)
    assert math.isfinite(report["sharp hinge"].value)


@every_mixing
@given(data=st.data())
def test_the_mixed_counts_explain_the_weights_and_bound_the_margin(mixing, data):
    case = data.draw(two_storages)
    starts = data.draw(starts_of(len(case.codes)))
    result = mixed(case, starts, mixing=mixing)
    weights = naive.combination(case.X, case.codes, case.n_classes, case.lift, result.mixed_counts)
    assert result.weights == pytest.approx(weights, rel=1e-9, abs=1e-9)
    assert np.array_equal(result.counts > 0, result.mixed_counts > 0)
    assert np.all(result.mixed_counts <= result.counts)
    mass = result.mixed_counts.sum() * (1.0 if case.n_classes == 2 else 0.5)
    assert result.margin_upper == pytest.approx(np.linalg.norm(weights) / mass, rel=1e-9, abs=1e-9)
    best = solve_max_margin(case.rows(), gap=1e-6).margin_lower
    assert best <= result.margin_upper * (1 + 1e-9) + 1e-12


@every_mixing
def test_many_classes_are_separated(mixing):
    problem = make_multiclass(300, 4, n_classes=5, margin=0.05, random_state=0)
    model = sx.Perceptron(order="mixed", mixing=mixing, max_iter=10**4).fit(problem.X, problem.y)
    assert model.converged_
    assert model.score(problem.X, problem.y) == 1.0


# ---------------------------------------------------------------- once is not enough

# Two signed rows, each a shard. Alone, each is learnt by one update; both are positive on (0, 1).
ALONE = np.array([[4.0, 1.0], [-1.0, 1.0]])


def test_mixing_once_can_fail_on_rows_that_can_be_separated():
    trained = [sx.Perceptron(fit_intercept=False, order="cyclic") for _ in ALONE]
    weights = []
    for model, row in zip(trained, ALONE, strict=True):
        model.fit(np.vstack([row, -row]), [1, 0])
        assert model.converged_
        assert model.mistakes_ == 1
        weights.append(model.coef_[0])
    # One mistake each: shares by mistakes are even shares.
    assert (np.mean(weights, axis=0) @ ALONE.T).min() < 0.0
    assert ([0.0, 1.0] @ ALONE.T).min() > 0.0


@every_mixing
def test_mixing_after_every_epoch_separates_them(mixing):
    X, y = np.vstack([ALONE[0], -ALONE[1]]), [1, 0]
    model = sx.Perceptron(order="mixed", shards=2, mixing=mixing, fit_intercept=False).fit(X, y)
    assert model.converged_
    assert model.n_iter_ > 1


# ---------------------------------------------------------------- how rows are cut


@given(n_rows=st.integers(1, 40), number=st.integers(1, 50), data=st.data())
def test_every_row_that_counts_is_in_one_shard_and_shards_are_alike_in_size(n_rows, number, data):
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows)))
    assume(keep.any())
    X = np.arange(3.0 * n_rows).reshape(n_rows, 3)
    for matrix in (X, sparse.csr_array(X)):
        rows = as_rows(matrix, np.arange(n_rows) % 2, keep=keep)
        shards = rows.shards(number)
        held = [part.order + start for part, start in zip(shards.parts, shards.starts, strict=True)]
        assert np.array_equal(np.concatenate(held), rows.order)
        assert len(held) == min(number, rows.order.size)
        sizes = [each.size for each in held]
        assert max(sizes) - min(sizes) <= 1
        seen = [part.outputs(np.ones(4)) for part in shards.parts]
        assert np.array_equal(np.concatenate(seen), rows.outputs(np.ones(4)))


def test_shards_of_one_class_each_do_not_stop_the_run():
    problem = make_separable(100, 3, margin=0.1, random_state=0)
    order = np.argsort(problem.y)
    model = sx.Perceptron(order="mixed", shards=10, max_iter=5000).fit(problem.X[order], problem.y[order])
    assert model.converged_


def test_a_share_may_be_zero_and_shares_sum_to_one():
    none, some = np.empty(0, dtype=np.int64), np.arange(3)
    passed = [Passed(5, 1.0, none), Passed(0, np.inf, none), Passed(2, -1.0, some), Passed(2, -1.0, some[:1])]
    assert mixing_module.shares(passed, "mistakes").tolist() == [0.0, 0.0, 0.75, 0.25]
    assert mixing_module.shares(passed, "even").tolist() == [1 / 3, 0.0, 1 / 3, 1 / 3]


# ---------------------------------------------------------------- the estimator


def test_weights_of_rows_and_classes_scale_the_updates():
    problem = make_separable(60, 3, margin=0.05, random_state=1)
    plain = sx.Perceptron(order="mixed", max_iter=500).fit(problem.X, problem.y)
    twice = sx.Perceptron(order="mixed", max_iter=500, class_weight={-1: 2.0, 1: 2.0}).fit(
        problem.X, problem.y
    )
    assert np.array_equal(2.0 * plain.coef_, twice.coef_)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    scaled = sx.Perceptron(order="mixed", max_iter=5000).fit(problem.X, problem.y, weights)
    total = naive.combination(problem.X, problem.y > 0, 2, True, scaled.result_.mixed_counts, weights)
    assert np.append(scaled.coef_, scaled.intercept_) == pytest.approx(total, rel=1e-9)
    assert all(
        bound.tightness <= 1.0
        for bound in sx.mistake_bounds(scaled, problem.X, problem.y, row_weights=weights).bounds
    )


def test_a_mixed_model_is_an_ordinary_model(tmp_path):
    problem = make_separable(80, 3, margin=0.1, random_state=2)
    model = sx.Perceptron(order="mixed", shards=5, average=True).fit(problem.X, problem.y)
    sx.save(model, tmp_path / "model.skops")
    for copy in (pickle.loads(pickle.dumps(model)), sx.load(tmp_path / "model.skops")):
        assert np.array_equal(copy.decision_function(problem.X), model.decision_function(problem.X))
        assert np.array_equal(copy.result_.mixed_counts, model.result_.mixed_counts)
        copy.partial_fit(problem.X, problem.y)
        assert copy.mistakes_ == model.mistakes_  # the weights separate already
    again = clone(model).fit(problem.X, problem.y)
    assert np.array_equal(again.coef_, model.coef_)


def test_updates_are_counted_after_each_epoch():
    problem = make_separable(200, 5, margin=0.001, random_state=0)
    with pytest.warns(sx.errors.ConvergenceWarning, match="limit of updates"):
        model = sx.Perceptron(order="mixed", max_updates=1).fit(problem.X, problem.y)
    assert model.n_iter_ == 1
    assert model.mistakes_ == model.result_.history[0].mistakes > 1


@pytest.mark.parametrize("after", [1, 3])
def test_an_interrupted_epoch_leaves_the_weights_of_the_one_before(after, monkeypatch):
    problem, calls = make_separable(60, 4, margin=0.001, random_state=1), []
    original = mixing_module.pass_over

    def interrupted(rows, *given):
        calls.append(1)
        if len(calls) == 8 * after:
            raise KeyboardInterrupt
        return original(rows, *given)

    monkeypatch.setattr(mixing_module, "pass_over", interrupted)
    codes = (problem.y > 0).astype(int)
    result = solve_perceptron(as_rows(problem.X, codes), order="mixed", max_iter=50)
    assert result.status is Status.INTERRUPTED
    assert result.passes == after - 1
    weights = naive.combination(problem.X, codes, 2, True, result.mixed_counts)
    assert result.weights == pytest.approx(weights, rel=1e-9, abs=1e-9)
    assert result.counts.sum() == result.mistakes


@pytest.mark.parametrize("refused", [{"renormalise": True}, {"trace": True}, {"average": "voted"}])
def test_what_needs_one_sequence_of_updates_is_refused(refused):
    with pytest.raises(InputError, match="in parallel"):
        sx.Perceptron(order="mixed", **refused).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(("name", "value"), [("shards", 0), ("shards", 1.5), ("mixing", "odd")])
def test_parameters_out_of_range_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        sx.Perceptron(order="mixed", **{name: value}).fit([[0.0], [1.0]], [0, 1])
