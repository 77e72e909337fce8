"""Laws of the working set, the default order: few scans of all the data, the guarantee of plain passes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from separatrix.datasets import make_multiclass, make_overlapping, make_separable
from separatrix.errors import InputError
from separatrix.perceptron import working_set
from separatrix.perceptron.orders import solve_perceptron
from separatrix.result import Status
from separatrix.rows.memory import MemoryRows, as_rows
from tests import naive
from tests.elsewhere import Elsewhere
from tests.problems import TWO_STORAGES, clouds, grids, separable_grids, xor_case


@pytest.fixture
def tiny_sets(monkeypatch):
    """Make every stage of the working set happen on a few rows."""

    def choose(core, added, room):
        monkeypatch.setattr(working_set, "CORE", core)
        monkeypatch.setattr(working_set, "SMALL", 2 * core)
        monkeypatch.setattr(working_set, "ADDED", added)
        monkeypatch.setattr(working_set, "CACHED", room)
        monkeypatch.setattr(working_set, "SET_PASSES", 1)

    return choose


sizes = st.tuples(st.integers(1, 3), st.integers(2, 6), st.sampled_from([1, 30, 1 << 22]))


@given(data=st.data(), size=sizes)
def test_sets_of_any_size_separate_what_can_be_separated(tiny_sets, data, size):
    tiny_sets(*size)
    storage = data.draw(st.sampled_from(TWO_STORAGES))
    case = data.draw(separable_grids(storage=storage, n_classes=data.draw(st.sampled_from([2, 3]))))
    result = solve_perceptron(case.rows(), max_iter=20_000)
    assert result.status is Status.SEPARATED
    scores = naive.scores(case.X, case.codes, case.n_classes, case.lift, result.weights)
    assert np.all(scores > 0)


@given(data=st.data(), size=sizes)
def test_sets_of_any_size_keep_the_counts_that_explain_the_weights(tiny_sets, data, size):
    tiny_sets(*size)
    case = data.draw(st.one_of(grids(storage="float64 by rows"), clouds(storage="CSR int32")))
    result = solve_perceptron(case.rows(), max_iter=25, trace=True)
    weights = naive.combination(case.X, case.codes, case.n_classes, case.lift, result.counts)
    assert result.weights == pytest.approx(weights, rel=1e-9, abs=1e-9)
    assert result.kept_mistakes == result.counts.sum() == len(result.trace.rows)
    assert np.array_equal(np.bincount(result.trace.rows, minlength=len(case.codes)), result.mistake_counts)


@given(data=st.data(), size=sizes)
def test_sets_of_any_size_only_correct_mistakes(tiny_sets, data, size):
    tiny_sets(*size)
    case = data.draw(grids(storage="float64 by rows"))
    result = solve_perceptron(case.rows(), max_iter=25, trace=True)
    assert np.all(result.trace.scores <= 0)
    if result.cycle is not None:
        total = naive.exact_combination(
            case.X, case.codes, case.n_classes, case.lift, result.cycle.multipliers
        )
        assert not any(total)


@given(data=st.data(), size=sizes, max_iter=st.integers(1, 8), max_updates=st.integers(1, 30))
def test_sets_of_any_size_keep_to_the_limits(tiny_sets, data, size, max_iter, max_updates):
    tiny_sets(*size)
    case = data.draw(grids(storage="float64 by rows"))
    result = solve_perceptron(case.rows(), max_iter=max_iter, max_updates=max_updates)
    assert result.passes <= max_iter
    assert result.mistakes <= max_updates


@settings(max_examples=10)
@given(seed=st.integers(0, 1000), size=sizes)
def test_sets_of_any_size_stay_within_novikoffs_bound(tiny_sets, seed, size):
    tiny_sets(*size)
    problem = make_separable(60, 4, margin=0.05, random_state=seed)
    rows = as_rows(problem.X, (problem.y > 0).astype(int))
    result = solve_perceptron(rows, max_iter=20_000)
    assert result.separated
    assert result.mistakes <= (result.radius / problem.margin) ** 2


@pytest.mark.parametrize("n_rows", [400, 1000, 4000])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_size_of_data_is_separated_within_the_bound(n_rows, sparse):
    problem = make_separable(n_rows, 8, margin=0.02, random_state=n_rows)
    X = csr_array(problem.X) if sparse else problem.X
    result = solve_perceptron(as_rows(X, (problem.y > 0).astype(int)), max_iter=1000)
    assert result.separated
    assert result.mistakes <= (result.radius / problem.margin) ** 2
    scores = naive.signed_rows(problem.X, problem.y > 0, True) @ result.weights
    assert np.all(scores > 0)


@pytest.mark.parametrize("n_rows", [50, 1000, 4000])
def test_easy_data_take_at_most_one_scan_more_than_plain_passes(n_rows):
    for seed in range(4):
        problem = make_separable(n_rows, 5, margin=0.5, random_state=seed)
        rows = as_rows(problem.X, (problem.y > 0).astype(int))
        plain = min(
            solve_perceptron(rows, order=order, max_iter=10_000, seed=seed).passes
            for order in ("cyclic", "shuffled")
        )
        assert solve_perceptron(rows, max_iter=10_000).passes <= plain + 1


def test_hard_data_take_far_fewer_scans_than_plain_passes(monkeypatch):
    monkeypatch.setattr(working_set, "CACHED", 40_000)
    problem = make_separable(4000, 10, margin=0.005, random_state=0)
    rows = as_rows(problem.X, (problem.y > 0).astype(int))
    plain = solve_perceptron(rows, order="cyclic", max_iter=100_000)
    quick = solve_perceptron(rows, max_iter=100_000)
    assert quick.separated
    assert plain.separated
    assert 10 * quick.passes < plain.passes


def test_a_clean_pass_over_data_in_the_cache_ends_the_run():
    problem = make_separable(3000, 5, margin=0.05, random_state=0)
    rows = as_rows(problem.X, (problem.y > 0).astype(int))
    result = solve_perceptron(rows)
    plain = solve_perceptron(rows, order="cyclic")
    assert result.separated
    assert result.passes <= plain.passes + 1


def test_many_classes_are_separated_by_few_scans():
    problem = make_multiclass(4000, 6, 4, margin=0.01, random_state=0)
    result = solve_perceptron(as_rows(problem.X, problem.y, n_classes=4, lift=False), max_iter=500)
    assert result.separated
    assert result.mistakes <= 2 * (problem.radius / problem.margin) ** 2


@pytest.mark.parametrize("n_rows", [100, 1000, 4000])
def test_where_nothing_separates_the_best_weights_seen_are_kept(n_rows):
    problem = make_overlapping(n_rows, 5, noise=0.05, random_state=0)
    rows = as_rows(problem.X, (problem.y > 0).astype(int))
    result = solve_perceptron(rows, max_iter=30)
    assert result.status is Status.PASS_LIMIT
    assert result.errors == rows.scan(result.weights).mistakes
    assert result.errors == min(record.errors for record in result.history if record.errors is not None)


def test_the_last_scan_before_it_says_separated_is_of_every_row(monkeypatch):
    scans = []
    original = MemoryRows.scan

    def watched(self, weights, *args):
        found = original(self, weights, *args)
        scans.append((self.n_rows, found.mistakes, weights.copy()))
        return found

    monkeypatch.setattr(MemoryRows, "scan", watched)
    monkeypatch.setattr(working_set, "CACHED", 1)
    problem = make_separable(3000, 5, margin=0.01, random_state=3)
    result = solve_perceptron(as_rows(problem.X, (problem.y > 0).astype(int)), max_iter=1000)
    n_rows, mistakes, weights = scans[-1]
    assert (n_rows, mistakes) == (3000, 0)
    assert np.array_equal(weights, result.weights)


@given(data=st.data(), size=sizes)
def test_the_outcome_does_not_depend_on_the_number_of_threads(tiny_sets, many_threads, data, size):
    tiny_sets(*size)
    case = data.draw(grids(storage="float64 by rows", max_rows=30))
    many_threads(1)
    alone = solve_perceptron(case.rows(), max_iter=15)
    many_threads(2)
    together = solve_perceptron(case.rows(), max_iter=15)
    assert np.array_equal(alone.weights, together.weights)
    assert np.array_equal(alone.counts, together.counts)


def test_the_order_of_few_rows_makes_no_difference():
    problem = make_separable(200, 5, margin=0.02, random_state=0)
    codes = (problem.y > 0).astype(int)
    shuffled = np.random.default_rng(1).permutation(200)
    one = solve_perceptron(as_rows(problem.X, codes), max_iter=1000)
    other = solve_perceptron(as_rows(problem.X[shuffled], codes[shuffled]), max_iter=1000)
    assert np.array_equal(one.mistake_counts[shuffled], other.mistake_counts)


@pytest.mark.parametrize("n_rows", [1000, 4000])
def test_a_trace_names_the_rows_of_passes_and_of_sets_alike(n_rows):
    random = np.random.default_rng(0)
    X = random.standard_normal((n_rows, 20))
    rows = as_rows(X, (X @ random.standard_normal(20) > 0).astype(int))
    result = solve_perceptron(rows, max_iter=60, trace=True)
    assert result.passes > working_set.SET_PASSES  # passes, then sets
    assert np.array_equal(np.bincount(result.trace.rows, minlength=n_rows), result.mistake_counts)
    assert result.trace.weights[-1] == pytest.approx(result.weights, rel=1e-9, abs=1e-9)


# ---------------------------------------------------------------- rows that are not in memory


@given(data=st.data(), size=sizes)
def test_rows_elsewhere_are_separated_by_sets_of_any_size(tiny_sets, data, size):
    tiny_sets(*size)
    storage = data.draw(st.sampled_from(TWO_STORAGES))
    case = data.draw(separable_grids(storage=storage, n_classes=data.draw(st.sampled_from([2, 3]))))
    result = solve_perceptron(Elsewhere(case.rows()), max_iter=20_000, trace=True)
    assert result.status is Status.SEPARATED
    assert np.all(naive.scores(case.X, case.codes, case.n_classes, case.lift, result.weights) > 0)
    weights = naive.combination(case.X, case.codes, case.n_classes, case.lift, result.counts)
    assert np.array_equal(result.weights, weights)
    assert np.all(result.trace.scores <= 0)


@pytest.mark.parametrize("n_rows", [300, 1500, 4000])
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_elsewhere_of_every_size_are_separated_within_the_bound(n_rows, sparse):
    problem = make_separable(n_rows, 8, margin=0.02, random_state=n_rows)
    rows = as_rows(csr_array(problem.X) if sparse else problem.X, (problem.y > 0).astype(int))
    result = solve_perceptron(Elsewhere(rows), max_iter=1000)
    assert result.separated
    assert rows.scan(result.weights).mistakes == 0
    assert result.mistakes <= (result.radius / problem.margin) ** 2


@pytest.mark.parametrize(("order", "n_rows"), [("working_set", 200), ("worst", 200), ("worst", 1000)])
@pytest.mark.parametrize("options", [{}, {"eta0": 0.3}, {"max_updates": 20}])
def test_rows_elsewhere_learn_what_rows_in_memory_learn_where_no_pass_over_all_is_made(
    order, n_rows, options
):
    problem = make_separable(n_rows, 5, margin=0.05, random_state=0)
    rows = as_rows(problem.X, (problem.y > 0).astype(int))
    here = solve_perceptron(rows, order=order, max_iter=200, trace=True, **options)
    there = solve_perceptron(Elsewhere(rows), order=order, max_iter=200, trace=True, **options)
    assert np.array_equal(here.weights, there.weights)
    assert np.array_equal(here.counts, there.counts)
    assert np.array_equal(here.trace.rows, there.trace.rows)
    assert (here.status, here.passes, here.visits) == (there.status, there.passes, there.visits)
    assert here.history == there.history


def test_a_renormalised_run_on_rows_elsewhere_is_the_one_in_memory():
    problem = make_separable(100, 4, margin=0.1, random_state=0)
    rows = as_rows(problem.X, (problem.y > 0).astype(int))
    options = {"order": "worst", "renormalise": True, "eta0": 0.1, "max_iter": 50, "trace": True}
    here, there = (solve_perceptron(each, **options) for each in (rows, Elsewhere(rows)))
    assert np.array_equal(here.weights, there.weights)
    assert np.array_equal(here.trace.weights, there.trace.weights)
    assert np.linalg.norm(here.weights) == pytest.approx(1.0)


@pytest.mark.parametrize("order", ["working_set", "worst"])
def test_a_cycle_on_rows_elsewhere_is_a_proof(order):
    case = xor_case()
    result = solve_perceptron(Elsewhere(case.rows()), order=order, max_iter=10_000)
    assert result.status is Status.INSEPARABLE
    assert not any(naive.exact_combination(case.X, case.codes, 2, case.lift, result.cycle.multipliers))


@pytest.mark.parametrize("options", [{"order": "cyclic"}, {"order": "shuffled"}, {"average": "averaged"}])
def test_visiting_rows_elsewhere_in_turn_is_refused_with_advice(options):
    rows = Elsewhere(xor_case().rows())
    with pytest.raises(InputError, match=r"rows in memory.*'working_set' or 'worst'"):
        solve_perceptron(rows, **options)


# ---------------------------------------------------------------- the pocket


def test_the_mistakes_of_the_run_and_those_behind_the_kept_weights_are_told_apart():
    earlier = 0
    for seed in range(4):
        problem = make_overlapping(2000, 5, noise=0.05, random_state=seed)
        rows = as_rows(problem.X, (problem.y > 0).astype(int))
        result = solve_perceptron(rows, max_iter=30)
        assert result.mistakes == sum(record.mistakes for record in result.history)
        assert 0 < result.kept_mistakes <= result.mistakes
        assert result.kept_mistakes == result.counts.sum() == result.mistake_counts.sum()
        weights = naive.combination(problem.X, rows.labels, 2, True, result.counts)
        assert result.weights == pytest.approx(weights, rel=1e-9, abs=1e-9)
        earlier += result.kept_mistakes < result.mistakes
    assert earlier


@given(data=st.data())
def test_a_run_that_separates_keeps_every_mistake(data):
    case = data.draw(separable_grids(storage="float64 by rows", n_classes=2))
    result = solve_perceptron(case.rows(), max_iter=20_000)
    assert result.kept_mistakes == result.mistakes
