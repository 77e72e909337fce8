"""Laws of the perceptron in every order: what it does is what the theory says, mistake by mistake."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import separatrix as sx
from separatrix.datasets import make_multiclass, make_overlapping, make_separable, make_xor
from separatrix.deadline import Deadline
from separatrix.errors import InputError
from separatrix.loops import rows as row_loops
from separatrix.perceptron import passes
from separatrix.perceptron.learner import Bracket, Learner
from separatrix.perceptron.orders import solve_perceptron
from separatrix.perceptron.run import Run, mean_settles, no_progress
from separatrix.perceptron.working_set import Part
from separatrix.result import PassRecord, Status
from separatrix.rows import threads
from separatrix.rows.memory import as_rows
from tests import naive
from tests.problems import ORDERS, STORAGES, TWO_STORAGES, clouds, grids, separable_grids, xor_case

every_order = pytest.mark.parametrize("order", ORDERS)
every_storage = pytest.mark.parametrize("storage", STORAGES)
ROW_BY_ROW = ("cyclic", "shuffled", "worst")


def answer_of(case, **options):
    return naive.perceptron(case.X, case.codes, n_classes=case.n_classes, lift=case.lift, **options)


def combination(case, result, steps=1.0):
    return naive.combination(case.X, case.codes, case.n_classes, case.lift, result.counts, steps)


def naive_scores(case, weights):
    return naive.scores(case.X, case.codes, case.n_classes, case.lift, weights)


# ---------------------------------------------------------------- against the naive version


def check_same_run(result, answer):
    """Row by row, score by score, weight by weight: equal bits."""
    assert result.trace.rows.tolist() == answer.rows
    assert result.trace.rivals.tolist() == answer.rivals
    assert result.trace.scores.tolist() == answer.scores
    assert np.array_equal(
        result.trace.weights, np.reshape(answer.after, (answer.mistakes, *answer.weights.shape))
    )
    assert np.array_equal(result.weights, answer.weights)
    assert np.array_equal(result.counts, answer.counts)


@every_storage
@pytest.mark.parametrize("order", ROW_BY_ROW)
@given(data=st.data())
def test_every_mistake_is_the_naive_one(order, storage, data):
    case = data.draw(grids(storage=storage))
    max_iter, seed = data.draw(st.integers(1, 12)), data.draw(st.integers(0, 99))
    result = solve_perceptron(case.rows(), order=order, max_iter=max_iter, trace=True, seed=seed)
    proved = result.status is Status.INSEPARABLE
    allowed = result.passes if proved else max_iter
    answer = answer_of(case, order=order, max_iter=allowed, seed=seed)
    check_same_run(result, answer)
    if not proved:
        clean = not np.any(naive_scores(case, answer.weights) <= 0)
        assert (result.status is Status.SEPARATED) == clean
        assert result.passes == len(answer.per_pass)
        assert [record.mistakes for record in result.history] == (
            [0, *answer.per_pass][: len(answer.per_pass)] if order == "worst" else answer.per_pass
        )


@pytest.mark.parametrize("order", ROW_BY_ROW)
@given(data=st.data())
def test_random_floats_make_the_naive_mistakes(order, data):
    case = data.draw(clouds(max_rows=12))
    result = solve_perceptron(case.rows(), order=order, max_iter=15, trace=True, seed=3)
    answer = answer_of(case, order=order, max_iter=15, seed=3)
    assume(answer.closest > 1e-9 and result.cycle is None)  # whole numbers may come back to an earlier state
    assert result.trace.rows.tolist() == answer.rows
    assert result.trace.scores == pytest.approx(answer.scores, rel=1e-9, abs=1e-9)
    assert result.weights == pytest.approx(answer.weights, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("order", ROW_BY_ROW)
@given(data=st.data())
def test_any_start_and_any_step_give_the_naive_run(order, data):
    case = data.draw(grids(storage="float64 by rows"))
    rows = case.rows()
    start = data.draw(
        st.lists(st.integers(-4, 4), min_size=(n := int(np.prod(rows.weights_shape))), max_size=n)
    )
    options = {
        "start": np.reshape(np.array(start, dtype=np.float64), rows.weights_shape),
        "eta0": data.draw(st.sampled_from([0.25, 0.5, 2.0, 8.0])),
        "max_updates": data.draw(st.integers(1, 20)),
        "order": order,
        "seed": 5,
    }
    result = solve_perceptron(rows, max_iter=8, trace=True, **options)
    proved = result.status is Status.INSEPARABLE
    check_same_run(result, answer_of(case, max_iter=result.passes if proved else 8, **options))


@pytest.mark.parametrize("order", ROW_BY_ROW)
@given(case=clouds(storage="float64 by rows", max_rows=10))
def test_renormalised_weights_are_the_naive_ones(order, case):
    assume(naive.lifted(case.X, case.lift).any(axis=1).all())  # a row of zeros cannot move the weights
    options = {"order": order, "renormalise": True, "seed": 1}
    result = solve_perceptron(case.rows(), max_iter=2, trace=True, **options)
    answer = answer_of(case, max_iter=2 if result.cycle is None else result.passes, **options)
    # Where an update shortens the weights, the next scaling enlarges what was rounded: at most two passes.
    assume(answer.closest > 1e-5)
    assert result.trace.rows.tolist() == answer.rows
    assert result.weights == pytest.approx(answer.weights, abs=1e-6)
    assert result.trace.weights == pytest.approx(
        np.reshape(answer.after, result.trace.weights.shape), abs=1e-6
    )
    lengths = np.linalg.norm(result.trace.weights.reshape(result.mistakes, -1), axis=1)
    assert lengths == pytest.approx((lengths > 0.0).astype(float))  # opposite rows may cancel


@pytest.mark.parametrize("order", ["cyclic", "shuffled"])
@given(data=st.data())
def test_the_average_is_the_mean_of_the_weights_over_every_visit(order, data):
    case = data.draw(grids(storage=data.draw(st.sampled_from(TWO_STORAGES))))
    result = solve_perceptron(case.rows(), order=order, max_iter=6, average="averaged", seed=2)
    answer = answer_of(case, order=order, max_iter=result.passes, seed=2)
    assert result.visits == len(answer.visited)
    assert result.average == pytest.approx(naive.average(answer), rel=1e-12, abs=1e-12)
    assert np.array_equal(result.weights, answer.weights)


@pytest.mark.parametrize("order", ["cyclic", "shuffled"])
@given(data=st.data())
def test_the_votes_replay_every_weight_vector_with_its_survival(order, data):
    case = data.draw(grids(storage=data.draw(st.sampled_from(TWO_STORAGES))))
    result = solve_perceptron(case.rows(), order=order, max_iter=6, average="voted", trace=True, seed=2)
    answer = answer_of(case, order=order, max_iter=result.passes, seed=2)
    copies = np.concatenate([np.zeros((1, *result.weights.shape)), result.trace.weights])
    replayed = np.repeat(copies, result.votes.survivals, axis=0)
    assert np.array_equal(replayed, np.array(answer.visited))


def test_more_mistakes_than_the_log_has_room_for_are_all_kept(monkeypatch):
    monkeypatch.setattr("separatrix.perceptron.learner.LOG_ROOM", 3)
    problem = make_separable(60, 4, margin=0.02, random_state=0)
    rows = as_rows(problem.X, (problem.y > 0).astype(int))
    for order in ORDERS:
        result = solve_perceptron(rows, order=order, max_iter=1000, trace=True, seed=0)
        assert result.mistakes > 3
        assert len(result.trace.rows) == result.mistakes
        assert result.trace.weights[-1] == pytest.approx(result.weights, rel=1e-9, abs=1e-12)


# ---------------------------------------------------------------- laws of every order


@every_order
@given(data=st.data())
def test_every_update_corrects_a_mistake(order, data):
    case = data.draw(grids(storage=data.draw(st.sampled_from(TWO_STORAGES))))
    result = solve_perceptron(case.rows(), order=order, max_iter=20, trace=True, seed=0)
    assert np.all(result.trace.scores <= 0)
    previous = np.zeros_like(result.weights)
    for row, before, after in zip(result.trace.rows, result.trace.scores, result.trace.weights, strict=True):
        assert naive_scores(case, previous)[row] == before
        previous = after


@every_order
@given(data=st.data())
def test_the_counts_sum_to_the_mistakes_and_explain_the_weights(order, data):
    case = data.draw(st.one_of(grids(storage="float64 by rows"), clouds(storage="CSR int32")))
    rate = data.draw(st.sampled_from([1.0, 0.3]))
    result = solve_perceptron(case.rows(), order=order, max_iter=20, eta0=rate, trace=True, seed=0)
    assert result.mistake_counts.sum() == result.kept_mistakes == len(result.trace.rows)
    assert np.array_equal(np.bincount(result.trace.rows, minlength=len(case.codes)), result.mistake_counts)
    assert result.weights == pytest.approx(combination(case, result, rate), rel=1e-9, abs=1e-9)


@every_order
@given(data=st.data())
def test_separated_means_that_no_row_is_wrong(order, data):
    case = data.draw(st.one_of(grids(), separable_grids(n_classes=3)))
    result = solve_perceptron(case.rows(), order=order, max_iter=30, seed=0)
    wrong = int(np.sum(naive_scores(case, result.weights) <= 0))
    assert result.errors == wrong
    assert result.separated == (wrong == 0)


@every_order
@given(data=st.data())
def test_what_can_be_separated_is(order, data):
    case = data.draw(separable_grids(n_classes=data.draw(st.sampled_from([2, 3, 4]))))
    result = solve_perceptron(case.rows(), order=order, max_iter=20_000, seed=0)
    assert result.status is Status.SEPARATED


@every_order
@given(data=st.data())
def test_the_history_sums_to_the_mistakes(order, data):
    case = data.draw(grids(storage="float64 by rows"))
    max_updates = data.draw(st.one_of(st.none(), st.integers(1, 10)))
    result = solve_perceptron(case.rows(), order=order, max_iter=20, max_updates=max_updates, seed=0)
    assert sum(record.mistakes for record in result.history) == result.mistakes
    # Only where the working set did not separate may the weights be those of an earlier scan.
    given_up = result.mistakes > result.kept_mistakes > 0 < result.errors
    assert result.kept_mistakes == result.mistakes or (order == "working_set" and given_up)
    # One record more: the closing scan, where updates came after the last reading.
    assert len(result.history) in (result.passes, result.passes + 1)


@every_order
@given(data=st.data(), max_updates=st.integers(1, 9), max_iter=st.integers(1, 9))
def test_no_limit_is_exceeded(order, data, max_updates, max_iter):
    case = data.draw(grids(storage="float64 by rows"))
    limits = {"max_updates": max_updates, "max_iter": max_iter}
    result = solve_perceptron(case.rows(), order=order, seed=0, **limits)
    assert result.mistakes <= max_updates
    assert result.passes <= max_iter
    if result.status is Status.UPDATE_LIMIT:
        assert result.mistakes == max_updates
    if result.status is Status.PASS_LIMIT:
        assert result.passes == max_iter


@every_order
@pytest.mark.parametrize("lift", [True, False])
@pytest.mark.parametrize("margin", [0.5, 0.05])
def test_novikoff_bounds_the_mistakes(order, lift, margin):
    for seed in range(3):
        problem = make_separable(150, 4, margin=margin, radius=1.5, random_state=seed)
        rows = as_rows(problem.X, (problem.y > 0).astype(int), lift=lift)
        result = solve_perceptron(rows, order=order, max_iter=100_000, seed=seed)
        assert result.separated
        assert result.mistakes <= (result.radius / margin) ** 2
        assert result.radius == pytest.approx(np.hypot(1.5, lift))


@every_order
@given(data=st.data())
def test_novikoff_bounds_the_mistakes_from_any_start(order, data):
    margin, rate = 0.2, data.draw(st.sampled_from([0.1, 1.0, 5.0]))
    problem = make_separable(40, 3, margin=margin, random_state=data.draw(st.integers(0, 1000)))
    start = np.random.default_rng(data.draw(st.integers(0, 1000))).standard_normal(3)
    rows = as_rows(problem.X, (problem.y > 0).astype(int), lift=False)
    result = solve_perceptron(rows, order=order, start=start, eta0=rate, max_iter=100_000, seed=0)
    assert result.separated
    c0, c1 = np.linalg.norm(start), float(start @ problem.weights)
    roots = np.roots(
        [rate**2 * margin**2, 2 * rate * c1 * margin - rate**2 * result.radius**2, c1**2 - c0**2]
    )
    assert result.mistakes <= roots.real.max() * (1 + 1e-9)


@every_order
@pytest.mark.parametrize("n_classes", [3, 5])
def test_twice_novikoff_bounds_the_mistakes_on_many_classes(order, n_classes):
    for seed in range(2):
        problem = make_multiclass(120, 4, n_classes, margin=0.1, random_state=seed)
        rows = as_rows(problem.X, problem.y, n_classes=n_classes, lift=False)
        result = solve_perceptron(rows, order=order, max_iter=100_000, seed=seed)
        assert result.separated
        assert result.mistakes <= 2 * (problem.radius / problem.margin) ** 2 * (1 + 1e-12)
        assert result.margin_lower <= problem.margin * (1 + 1e-9)
        assert result.margin_upper >= problem.margin * (1 - 1e-9)


@every_order
@pytest.mark.parametrize("max_iter", [1, 2, 7, 100_000])
def test_the_bracket_holds_the_best_margin(order, max_iter):
    for seed in range(3):
        problem = make_separable(80, 3, margin=0.07, random_state=seed)
        for lift in (True, False):
            rows = as_rows(problem.X, (problem.y > 0).astype(int), lift=lift)
            result = solve_perceptron(rows, order=order, max_iter=max_iter, seed=0)
            for found in (result, *result.history):
                assert found.margin_lower <= problem.margin * (1 + 1e-9)
                assert found.margin_upper >= problem.margin * (1 - 1e-9)


@every_order
@given(case=clouds(storage="float64 by rows"))
def test_both_ends_of_the_bracket_are_what_the_weights_and_the_counts_prove(order, case):
    result = solve_perceptron(case.rows(), order=order, max_iter=20, seed=0)
    assume(result.mistakes > 0)
    norm = np.linalg.norm(result.weights) or 1.0  # no direction, where every mistake was on a row of zeros
    assert result.margin_lower == pytest.approx(
        naive_scores(case, result.weights).min() / norm, rel=1e-9, abs=1e-9
    )
    unit = combination(case, result) * (1 if case.n_classes == 2 else 2)
    upper = np.linalg.norm(unit) / result.kept_mistakes
    assert result.margin_upper == pytest.approx(upper, rel=1e-9, abs=1e-9)


@every_order
@given(data=st.data(), exponent=st.integers(-300, 300))
def test_the_learning_rate_only_scales_the_weights(order, data, exponent):
    case = data.draw(grids(storage="float64 by rows"))
    one = solve_perceptron(case.rows(), order=order, max_iter=10, seed=0)
    rate = 2.0**exponent
    other = solve_perceptron(case.rows(), order=order, max_iter=10, eta0=rate, seed=0)
    assert np.array_equal(one.counts, other.counts)
    assert np.array_equal(one.weights * rate, other.weights)
    assert (one.status, one.passes, one.errors) == (other.status, other.passes, other.errors)


@every_order
@pytest.mark.parametrize("exponent", [-600, 450])
def test_the_bracket_does_not_depend_on_the_learning_rate(order, exponent):
    rows = as_rows(np.array([[3.0, 1.0], [1.0, 2.0], [-1.0, -3.0]]), np.array([1, 0, 0]))
    one = solve_perceptron(rows, order=order, max_iter=50, seed=0)
    other = solve_perceptron(rows, order=order, max_iter=50, eta0=2.0**exponent, seed=0)
    assert other.margin_lower == pytest.approx(one.margin_lower)
    assert other.margin_upper == pytest.approx(one.margin_upper)


@every_order
@pytest.mark.parametrize("k", [2, 5, 9])
def test_orthonormal_rows_attain_the_bound(order, k):
    rows = as_rows(np.eye(k), np.arange(k) % 2, lift=False)
    result = solve_perceptron(rows, order=order, seed=0)
    assert result.separated
    assert result.mistakes == k
    assert result.margin_lower == pytest.approx(1 / np.sqrt(k))
    assert (result.radius / result.margin_lower) ** 2 == pytest.approx(k)


@every_order
def test_three_orthonormal_rows_of_three_classes_need_the_factor_two(order):
    rows = as_rows(np.eye(3), np.arange(3), n_classes=3, lift=False)
    result = solve_perceptron(rows, order=order, seed=0)
    assert result.separated
    best = 1 / np.sqrt(2)  # of weights of length one: equal multiples of x_c minus the mean
    assert result.margin_upper >= best * (1 - 1e-9)
    assert (result.radius / best) ** 2 < result.mistakes <= 2 * (result.radius / best) ** 2


def test_a_rate_that_is_no_power_of_two_may_change_the_mistakes_by_rounding():
    changed = 0
    for seed in range(100):
        random = np.random.default_rng(seed)
        X, codes = random.integers(-3, 4, (8, 2)).astype(float), random.integers(0, 2, 8)
        runs = [
            solve_perceptron(as_rows(X, codes), order="cyclic", max_iter=10, eta0=rate) for rate in (1.0, 0.1)
        ]
        changed += runs[0].mistakes != runs[1].mistakes
    assert changed > 0


@every_order
@given(data=st.data())
def test_every_update_raises_the_inner_product_with_a_separator(order, data):
    case = data.draw(separable_grids(storage="float64 by rows", n_classes=data.draw(st.sampled_from([2, 3]))))
    separator = solve_perceptron(case.rows(), order="cyclic", max_iter=20_000).weights
    result = solve_perceptron(case.rows(), order=order, max_iter=50, trace=True, seed=0)
    along = [float(np.sum(each * separator)) for each in (result.trace.start, *result.trace.weights)]
    assert np.all(np.diff(along) > 0)


def test_an_update_may_move_the_weights_away_from_a_separator():
    rows = as_rows(np.array([[10.0, 0.0]]), np.array([1]), lift=False)
    result = solve_perceptron(rows, order="cyclic", trace=True)
    separator = np.array([1.0, 0.0])
    assert [np.linalg.norm(w - separator) for w in (result.trace.start, result.weights)] == [1.0, 9.0]


@given(case=clouds(storage="float64 by rows", max_rows=10))
def test_the_bracket_of_a_renormalised_run_is_that_of_its_counts(case):
    result = solve_perceptron(case.rows(), order="cyclic", max_iter=3, renormalise=True)
    assume(result.mistakes > 0)
    unit = combination(case, result) * (1 if case.n_classes == 2 else 2)
    upper = np.linalg.norm(unit) / result.mistakes
    assert result.margin_upper == pytest.approx(upper, rel=1e-9, abs=1e-9)
    assert result.history[-1].margin_upper == result.margin_upper


@every_order
def test_a_deadline_that_has_passed_ends_a_run_before_it_reads_the_rows(order):
    result = solve_perceptron(xor_case().rows(), order=order, max_iter=10**9, deadline=Deadline.after(0.0))
    assert result.status is Status.TIME_LIMIT
    assert (result.passes, result.mistakes) == (0, 0)


@every_order
def test_a_deadline_ends_a_run_that_would_go_on(order):
    random = np.random.default_rng(0)
    rows = as_rows(random.standard_normal((300, 5)), random.integers(0, 2, 300))
    solve_perceptron(rows, order=order, max_iter=5)  # compiles
    began = time.monotonic()
    result = solve_perceptron(rows, order=order, max_iter=10**9, deadline=Deadline.after(0.1))
    assert result.status is Status.TIME_LIMIT
    assert 0.1 <= time.monotonic() - began < 1.1


@every_order
def test_the_smallest_worked_example(order):
    rows = as_rows(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, 0]), lift=False)
    result = solve_perceptron(rows, order=order, trace=True, seed=0)
    assert result.mistakes == 2
    assert result.weights.tolist() == [1.0, -1.0]
    assert result.trace.scores.tolist() == [0.0, 0.0]


# ---------------------------------------------------------------- no separator, and the proof


def check_cycle(case, result):
    assert result.status is Status.INSEPARABLE
    assert result.errors > 0
    multipliers = result.cycle.multipliers
    assert multipliers.dtype == np.int64
    assert multipliers.min() >= 0
    assert multipliers.sum() > 0
    assert 0 < result.cycle.first_pass < result.cycle.last_pass <= result.passes
    total = naive.exact_combination(case.X, case.codes, case.n_classes, case.lift, multipliers)
    assert not any(total)


@every_storage
@every_order
def test_xor_never_converges_and_the_cycle_proves_it(order, storage):
    case = xor_case(storage)
    check_cycle(case, solve_perceptron(case.rows(), order=order, max_iter=10_000, seed=0))


@every_order
def test_a_cycle_that_closes_with_the_last_pass_is_found(order):
    case = xor_case()
    closed = solve_perceptron(case.rows(), order=order, max_iter=10_000, seed=0).cycle.last_pass
    again = solve_perceptron(case.rows(), order=order, max_iter=closed, seed=0)
    if order != "working_set":  # where the closing passes begin depends on max_iter
        check_cycle(case, again)
    assert again.passes <= closed


@every_order
@pytest.mark.parametrize("n_classes", [3, 4])
def test_many_classes_on_one_point_are_proved_inseparable(order, n_classes):
    case = grids_of_one_point(n_classes)
    check_cycle(case, solve_perceptron(case.rows(), order=order, max_iter=10_000, seed=0))


def grids_of_one_point(n_classes):
    case = xor_case()
    return type(case)(np.ones((n_classes, 2)), np.arange(n_classes), n_classes, True, case.storage)


@every_order
@given(data=st.data())
def test_inseparable_is_only_said_with_a_proof(order, data):
    case = data.draw(grids(storage="float64 by rows"))
    result = solve_perceptron(case.rows(), order=order, max_iter=200, seed=0)
    if result.status is Status.INSEPARABLE:
        check_cycle(case, result)
    else:
        assert result.cycle is None


@given(data=st.data())
def test_cyclic_passes_over_small_whole_numbers_end_with_an_answer(data):
    case = data.draw(grids(storage="float64 by rows", n_classes=2, max_rows=6, max_columns=2))
    result = solve_perceptron(case.rows(), order="cyclic", max_iter=100_000)
    assert result.status in (Status.SEPARATED, Status.INSEPARABLE)


@every_order
def test_fractions_are_not_claimed_to_be_proved(order):
    problem = make_xor(12, random_state=0)
    rows = as_rows(problem.X, (problem.y > 0).astype(int))
    result = solve_perceptron(rows, order=order, max_iter=60, seed=0)
    assert result.status is Status.PASS_LIMIT
    assert result.errors > 0


# ---------------------------------------------------------------- pieces of a pass


@given(
    data=st.data(),
    order=st.sampled_from(["cyclic", "shuffled"]),
    size=st.sampled_from([1, 8, 40]),
    average=st.sampled_from([False, "averaged", "voted"]),
    max_updates=st.sampled_from([None, 1, 5]),
)
def test_how_a_pass_is_cut_into_pieces_changes_no_bit(data, order, size, average, max_updates):
    seed = data.draw(st.integers(0, 1000))
    problem = make_separable(data.draw(st.integers(3, 120)), 3, margin=0.05, random_state=seed)
    rows = as_rows(problem.X, (problem.y > 0).astype(int))
    options = {"order": order, "average": average, "max_iter": 40, "max_updates": max_updates}
    whole = solve_perceptron(rows, **options, trace=True, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "MOST_AT_ONCE", size)
        patch.setattr("separatrix.perceptron.run.FEW_PASSES", 0)  # else no scan of rows so many counts errors
        cut = solve_perceptron(rows, **options, trace=True, seed=seed)
    assert np.array_equal(whole.weights, cut.weights)
    assert np.array_equal(whole.counts, cut.counts)
    assert np.array_equal(whole.trace.rows, cut.trace.rows)
    assert (whole.visits, whole.passes, whole.status) == (cut.visits, cut.passes, cut.status)
    assert whole.history == cut.history
    assert whole.margin_lower == cut.margin_lower
    if average == "averaged":
        assert np.array_equal(whole.average, cut.average)
    if average == "voted":
        assert np.array_equal(whole.votes.survivals, cut.votes.survivals)


# ---------------------------------------------------------------- many classes


@given(data=st.data())
def test_one_weight_vector_a_class_gives_the_binary_answer_for_two(data):
    case = data.draw(grids(storage="float64 by rows", n_classes=2))
    storage, n_rows = case.rows().storage, len(case.codes)
    width = case.X.shape[1] + case.lift
    tallies = [
        row_loops.Tally(
            counts=np.zeros((n_rows, rivals), dtype=np.int64),
            average=np.zeros((0,) * ndim),
            log=np.zeros((0, 3), dtype=np.int64),
            norms=np.empty(0),
            floor=np.full(1, np.inf),
            margin=np.zeros(1),
            clock=np.array([0, 0, 10**9, 0]),
        )
        for rivals, ndim in ((1, 1), (2, 2))
    ]
    w, W = np.zeros(width), np.zeros((2, width))
    for _ in range(5):
        row_loops.learn(storage, np.arange(n_rows), w, np.ones(1), tallies[0])
        row_loops.learn(storage, np.arange(n_rows), W, np.ones(1), tallies[1])
        assert np.array_equal(W[1] - W[0], w)
    assert np.array_equal(tallies[0].counts[:, 0], tallies[1].counts.sum(axis=1))


@given(data=st.data())
def test_a_third_class_that_never_wins_leaves_the_binary_answer(data):
    case = data.draw(grids(storage="float64 by rows", n_classes=2, lift=True))
    two = solve_perceptron(case.rows(), order="cyclic", max_iter=6, trace=True)
    rows = as_rows(case.X, case.codes, n_classes=3)
    start = np.zeros(rows.weights_shape)
    start[2, -1] = -(2.0**30)  # so far below that no row is ever taken for the third class
    three = solve_perceptron(rows, order="cyclic", max_iter=two.passes, start=start, trace=True)
    assert np.array_equal(three.weights[1] - three.weights[0], two.weights)
    assert np.array_equal(three.weights[2], start[2])
    assert np.array_equal(three.trace.rows, two.trace.rows)
    assert np.array_equal(three.trace.scores, two.trace.scores)


@every_order
@given(data=st.data())
def test_no_row_is_ever_corrected_against_its_own_class(order, data):
    case = data.draw(grids(storage="float64 by rows", n_classes=3))
    result = solve_perceptron(case.rows(), order=order, max_iter=10, trace=True, seed=0)
    assert not result.counts[np.arange(len(case.codes)), case.codes].any()
    assert np.all(result.trace.rivals != case.codes[result.trace.rows])
    assert result.weights.sum(axis=0) == pytest.approx(np.zeros(result.weights.shape[1]))


# ---------------------------------------------------------------- Ctrl-C


@every_order
@pytest.mark.parametrize("after", [1, 2, 5])
@pytest.mark.parametrize(
    ("owner", "method"),
    [(Run, "scan"), (Run, "end_pass"), (passes, "visit"), (passes, "_learn"), (Part, "_merge")],
)
def test_an_interrupted_run_keeps_what_it_learnt(order, owner, method, after, monkeypatch):
    calls = []
    original = getattr(owner, method)

    def interrupted(self, *args, **kwargs):
        calls.append(1)
        if len(calls) == after:
            raise KeyboardInterrupt
        return original(self, *args, **kwargs)

    problem = make_separable(40, 4, margin=0.001, random_state=1)
    codes = (problem.y > 0).astype(int)
    monkeypatch.setattr(owner, method, interrupted)
    try:
        result = solve_perceptron(as_rows(problem.X, codes), order=order, max_iter=50, seed=0)
    except KeyboardInterrupt:
        raise AssertionError("the interrupt came through, and what was learnt is lost") from None
    if len(calls) >= after:
        assert result.status in (Status.INTERRUPTED, Status.SEPARATED)
    weights = naive.combination(problem.X, codes, 2, True, result.counts)
    assert result.weights == pytest.approx(weights, rel=1e-9, abs=1e-9)
    assert result.errors == np.sum(naive.scores(problem.X, codes, 2, True, result.weights) <= 0)


@every_order
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_stops_a_long_fit_and_leaves_a_model(order):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 5)), rng.integers(0, 2, 300)
    model = sx.Perceptron(order=order, max_iter=10**9, n_iter_no_change=None, random_state=0)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.warns(sx.errors.ConvergenceWarning):
        sx.Perceptron(order=order, max_iter=30, random_state=0).fit(X, y)  # compiles
    # Hypothesis watches the garbage collector; Python ignores an interrupt that comes in such a callback.
    watchers, gc.callbacks[:] = gc.callbacks[:], []
    timer.start()
    try:
        with pytest.warns(sx.errors.ConvergenceWarning, match="interrupted"):
            model.fit(X, y)
    finally:
        timer.cancel()
        gc.callbacks[:] = watchers
    assert model.result_.status is Status.INTERRUPTED
    assert not model.converged_
    assert model.predict(X).shape == (300,)
    assert model.mistake_counts_.sum() == model.kept_mistakes_ > 0
    weights = naive.combination(X, y, 2, True, model.result_.counts)
    assert np.append(model.coef_[0], model.intercept_) == pytest.approx(weights, rel=1e-6, abs=1e-6)


# ---------------------------------------------------------------- when to stop

stopping = {"n_iter_no_change": 1, "max_iter": 3000, "seed": 0}


@every_order
@pytest.mark.parametrize("n_rows", [30, 600])
def test_classes_with_a_margin_above_a_two_thousandth_of_the_radius_are_never_cut_off(order, n_rows):
    for margin in (0.1, 0.001):
        problem = make_separable(n_rows, 3, margin=margin, random_state=n_rows)
        rows = as_rows(problem.X, (problem.y > 0).astype(int))
        result = solve_perceptron(rows, order=order, **stopping)
        assert problem.margin > 0.0005 * result.radius
        assert result.status in (Status.SEPARATED, Status.PASS_LIMIT)


@given(data=st.data())
def test_no_progress_is_said_only_if_there_is_no_large_margin(data):
    case = data.draw(grids(storage="float64 by rows"))
    result = solve_perceptron(case.rows(), order="cyclic", max_iter=200, n_iter_no_change=1)
    if result.status is Status.NO_PROGRESS:
        found = sx.separability(case.X, case.codes, fit_intercept=case.lift)
        assert not found.separable or found.margin[0] <= 0.0005 * result.radius


@every_order
def test_overlapping_classes_end_without_progress_and_the_rule_can_be_switched_off(order):
    problem = make_overlapping(3000, 4, noise=0.2, random_state=0)
    rows = as_rows(problem.X, (problem.y > 0).astype(int))
    limit = 60 if order != "worst" else 2000
    result = solve_perceptron(rows, order=order, max_iter=limit, n_iter_no_change=3, seed=0)
    assert result.status is Status.NO_PROGRESS
    assert result.passes < limit
    every = solve_perceptron(rows, order=order, max_iter=limit, seed=0)
    assert (every.status, every.passes) == (Status.PASS_LIMIT, limit)
    if order != "working_set":  # which makes its closing passes earlier
        assert result.history == every.history[: len(result.history)]


def test_a_run_whose_mistakes_fall_goes_on_and_one_whose_mistakes_do_not_fall_ends():
    def history(wrong):
        return [PassRecord(mistakes, None, -1.0, 0.0) for mistakes in wrong]

    falling = [round(1000 / passes**0.3) for passes in range(1, 200)]
    assert not any(no_progress(history(falling[:n]), 3) for n in range(1, 200))
    assert [no_progress(history([100] * n), 3) for n in (5, 6)] == [False, True]


def test_a_mean_settles_if_mistakes_hardly_fall_and_not_while_they_fall():
    def history(wrong):
        return [PassRecord(mistakes, None, -1.0, 0.0) for mistakes in wrong]

    assert [mean_settles(history([100] * n), 3, 1000) for n in (5, 6)] == [False, True]
    assert not mean_settles(history([16] * 6), 3, 1000)  # too few to say
    halved = [1024 >> passes for passes in range(10)]
    assert not any(mean_settles(history(halved[:n]), 3, 100) for n in range(10))
    assert mean_settles(history(halved[:8]), 3, 1_000_000)  # less than a row in a thousand


@pytest.mark.parametrize("n_rows", [200, 500, 1000, 5000])
@pytest.mark.parametrize("margin", [0.01, 0.003, 0.001])
def test_separable_rows_in_a_ball_are_not_given_up(n_rows, margin):
    for seed in range(2):
        problem = make_separable(n_rows, 10, margin=margin, random_state=seed)
        result = solve_perceptron(as_rows(problem.X, (problem.y > 0).astype(int)), n_iter_no_change=3)
        assert result.status in (Status.SEPARATED, Status.PASS_LIMIT)


def test_random_labels_are_not_given_up_if_there_are_about_as_many_dimensions_as_rows():
    for seed in range(3):
        random = np.random.default_rng(seed)
        rows = as_rows(random.standard_normal((700, 500)), random.integers(0, 2, 700))
        assert solve_perceptron(rows, n_iter_no_change=3).separated


@given(data=st.data())
def test_the_updates_after_a_mark_prove_the_bound_of_their_own_counts(data):
    case = data.draw(grids(storage="float64 by rows"))
    rows = case.rows()
    step = data.draw(st.sampled_from([0.5, 1.0, 2.0]))
    learner = Learner(rows, start=np.ones(rows.weights_shape), steps=np.full(1, step))
    bracket = Bracket(learner)
    assert bracket.later_upper() == np.inf
    passes.make_pass(learner, rows, rows.order, measure=True)
    bracket.mark()
    marked = learner.tally.counts.copy()
    passes.make_pass(learner, rows, rows.order, measure=False)
    later = learner.tally.counts - marked
    length = np.linalg.norm(naive.combination(case.X, case.codes, rows.n_classes, rows.lifted, later))
    mass = later.sum() if rows.n_classes == 2 else 0.5 * later.sum()
    assert bracket.later_upper() == (pytest.approx(length / mass) if length > 0.0 else np.inf)


def test_what_a_run_did_is_logged_and_said(caplog, capsys):
    X, y = [[2.0, 1.0], [-1.0, -2.0]], [0, 1]
    with caplog.at_level("DEBUG", logger="separatrix"):
        sx.Perceptron(order="cyclic").fit(X, y)
    levels = [record.levelname for record in caplog.records if record.name == "separatrix"]
    assert levels[-1] == "INFO"
    assert "DEBUG" in levels
    assert capsys.readouterr().err == ""
    sx.Perceptron(verbose=1).fit(X, y)
    assert "mistakes" in capsys.readouterr().err


@pytest.mark.parametrize(
    "model",
    [
        sx.Perceptron(average=True, random_state=0),
        sx.KernelPerceptron(kernel="rbf"),
        sx.KernelPerceptron(kernel="rbf", budget=40),
        sx.MaxMargin(),
        sx.SoftMargin(),
        sx.SoftMargin(kernel="rbf"),
    ],
)
def test_every_solver_logs_once_how_it_ended_and_says_it_if_asked(model, caplog, capsys):
    problem = make_separable(40, 3, margin=0.1, random_state=0)
    with caplog.at_level("INFO", logger="separatrix"):
        model.fit(problem.X, problem.y)
    (ended,) = (record.message for record in caplog.records if record.name == "separatrix")
    assert capsys.readouterr().err == ""
    assert "verbose" in model.get_params()
    model.set_params(verbose=1).fit(problem.X, problem.y)
    assert ended in capsys.readouterr().err


# ---------------------------------------------------------------- what is refused


def test_an_unknown_order_is_refused_with_the_choices():
    with pytest.raises(InputError, match=r"working_set, cyclic, shuffled, worst.*'best'"):
        solve_perceptron(xor_case().rows(), order="best")


def test_an_average_needs_an_order_that_visits_every_row():
    with pytest.raises(InputError, match="'cyclic' or 'shuffled'"):
        solve_perceptron(xor_case().rows(), order="worst", average="averaged")


def test_a_trace_beyond_memory_is_refused_with_advice(monkeypatch):
    monkeypatch.setattr("separatrix.perceptron.run.TRACE_ROOM", 10)
    with pytest.raises(InputError, match="max_updates"):
        solve_perceptron(xor_case().rows(), order="cyclic", trace=True)
