"""Tucker's partition: every row is proved strict or tight, however the columns are conditioned."""

from __future__ import annotations

import itertools
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from separatrix import separability, verify
from separatrix.deadline import Deadline, OutOfTime
from separatrix.proofs import prove
from separatrix.proofs.exact import partition
from separatrix.proofs.exact.conditioning import Columns, well_conditioned
from separatrix.proofs.exact.integer_rows import (
    Misled,
    combined,
    exact_numbers,
    integer_rows,
    part,
    pivot_columns,
    primes,
    solved,
    times,
    vanishing,
)
from separatrix.proofs.exact.partition import Partition, exact_partition, gordan
from separatrix.proofs.strategies import exact_partition as exact_partition_strategy
from tests import naive

PRIMES = list(itertools.islice(primes(), 2))


def fractions(rows):
    """Rows of exact numbers."""
    return [[Fraction(v) for v in row] for row in np.asarray(rows, dtype=object)]


def integers(rows):
    """The rows of an array as integers."""
    rows = np.asarray(rows)
    return integer_rows(*exact_numbers(rows, np.arange(len(rows))))


def partitioned(rows, **options):
    """The partition of an array and of its exact numbers, checked in fractions."""
    whole = integers(rows)
    found = exact_partition(whole.matrix, **options)
    assert found is not None
    exact, tight = fractions(rows), set(found.tight.tolist())
    weights = [Fraction(0)] * np.shape(rows)[1]
    for w, column, power in zip(found.weights, whole.columns, whole.powers, strict=True):
        weights[column] = w / Fraction(2) ** int(power)
    for i, row in enumerate(exact):
        score = sum((w * v for w, v in zip(weights, row, strict=True)), Fraction(0))
        assert score == 0 if i in tight else score > 0
    multipliers = found.multipliers
    assert len(tight) == len(multipliers) == found.tight.size
    assert all(value > 0 for value in multipliers)
    for column in zip(*(exact[i] for i in found.tight), strict=True):
        assert sum(m * v for m, v in zip(multipliers, column, strict=True)) == 0
    return tight


small_rows = hnp.arrays(
    np.int64, st.tuples(st.integers(1, 12), st.integers(1, 6)), elements=st.integers(-3, 3)
)


@given(small_rows)
@settings(max_examples=200, deadline=None)
def test_every_row_is_strict_or_tight_with_a_proof(rows):
    partitioned(rows)


@given(small_rows, st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_tight_rows_stay_tight_in_other_columns_and_scales(rows, seed):
    rng = np.random.default_rng(seed)
    tight = partitioned(rows)
    change = np.tril(rng.integers(-2, 3, (rows.shape[1],) * 2), -1) + np.eye(rows.shape[1], dtype=np.int64)
    assert partitioned(rows @ change @ change.T) == tight
    assert partitioned(np.ldexp(rows, rng.integers(-60, 60, (len(rows), 1)))) == tight
    assert partitioned(np.ldexp(rows, rng.integers(-500, 500, rows.shape[1]))) == tight
    order = rng.permutation(len(rows))
    assert {int(order[i]) for i in partitioned(rows[order])} == tight


@given(small_rows)
@settings(max_examples=100, deadline=None)
def test_a_row_is_strict_exactly_if_its_negative_makes_no_vanishing_sum(rows):
    """Adding -z_i to rows makes z_i tight; it was tight before exactly if the others stay as they were."""
    tight = partitioned(rows)
    for i in range(min(len(rows), 3)):
        more = partitioned(np.vstack([rows, -rows[i]]))
        assert {i, len(rows)} <= more
        assert tight <= more
        if i in tight:
            assert more == tight | {len(rows)}


def signed(X, y, lift=True):
    """Signed rows of floats."""
    rows = np.column_stack([X, np.ones(len(X))]) if lift else np.asarray(X, dtype=float)
    return rows * np.where(y > 0, 1.0, -1.0)[:, None]


def ill_conditioned(name, seed):
    """Rows on which floats see dependent columns, and labels."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 120)), int(rng.integers(4, 16))
    t, y = rng.uniform(-1.0, 1.0, n), rng.integers(0, 2, n)
    wave = (np.sin(rng.integers(2, 20) * t) > 0).astype(int)
    design = rng.integers(0, 2, (n, d)).astype(float)
    quasi = np.where(design[:, 0] > 0, 1, y)
    if name == "vandermonde":
        return t[:, None] ** np.arange(1, d + 12), wave
    if name == "hilbert":
        return 1.0 / (1.5 + t[:, None] + np.arange(d + 10)), y if seed % 2 else wave
    if name == "rotated":
        return design @ np.linalg.qr(rng.standard_normal((d, d)))[0], quasi
    if name == "components":
        centered = design[:, rng.integers(0, d, d + 3)] - design.mean()
        return centered @ np.linalg.svd(centered, full_matrices=False)[2].T, quasi
    if name == "neighbors":
        ulps = rng.integers(-100, 101, (n, d)) * np.spacing(1.0) * (rng.random((n, d)) < 0.3)
        return np.hstack([design + 1.0, design + 1.0 + ulps]), quasi
    products = rng.integers(-3, 4, (n, d)).astype(float)
    for _ in range(4 * d):
        i, j = rng.choice(d, 2, replace=False)
        if np.abs(products).max() < 2.0**40:
            products[:, i] += rng.integers(-3, 4) * products[:, j]
    return products, quasi


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "name", ["vandermonde", "hilbert", "rotated", "components", "neighbors", "unimodular products"]
)
def test_ill_conditioned_rows_are_decided(name, seed):
    partitioned(signed(*ill_conditioned(name, seed)))


def test_the_three_answers():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    assert partitioned(signed(X, np.array([0, 0, 1, 1]))) == set()
    assert partitioned(signed(X[[0, 1, 1, 2]], np.array([0, 0, 1, 1]))) == {1, 2}
    assert partitioned(signed(X, np.array([0, 1, 0, 1]))) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((3, 2), dtype=np.int64),
        np.zeros((3, 0), dtype=np.int64),
        np.array([[0, 0, 1]]),
        np.array([[0, 5], [0, 5], [0, -1]]),
        np.array([[5e-324, 1e308], [-5e-324, 1e308], [5e-324, -1e-300]]),
        np.array([[2**63 - 1, -(2**63)], [-(2**63), 2**63 - 1], [1, 1]]),
        np.array([[2**64 - 1, 1], [2**64 - 1, 3]], dtype=np.uint64),
    ],
)
def test_rows_of_any_kind_are_decided(rows):
    partitioned(rows)


def test_no_rows_are_separated_by_anything():
    found = exact_partition(flint.fmpz_mat(0, 3))
    assert found.tight.size == 0
    assert len(found.weights) == 3


@pytest.mark.parametrize("prime", PRIMES[:2])
def test_multiples_of_a_prime_are_no_exception(prime):
    rows = np.random.default_rng(0).integers(-3, 4, (20, 4))
    assert partitioned(rows * prime) == partitioned(rows)


def test_a_partition_that_does_not_hold_is_not_returned(monkeypatch):
    wrong = Partition([0, 0], np.array([0]), [1])
    monkeypatch.setattr(partition, "_partition", lambda *args: wrong)
    assert exact_partition(flint.fmpz_mat([[1, 0], [0, 1]])) is None


@pytest.mark.parametrize("seed", range(10))
def test_a_working_set_finds_the_answer_of_all_rows(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (200, 4)).astype(float)
    y = rng.integers(0, 2, 200) if seed % 2 else (X @ rng.standard_normal(4) > 0).astype(int)
    y[X[:, 0] > 1] = 1
    lift = bool(seed % 3)
    expected = separability(X, y, fit_intercept=lift)
    monkeypatch.setattr(exact_partition_strategy, "NUMBERS", 0)
    monkeypatch.setattr(exact_partition_strategy, "WORKING_SET", 10)
    monkeypatch.setattr(prove, "STRATEGIES", (exact_partition_strategy.ExactPartition(),))
    found = separability(X, y, fit_intercept=lift)
    assert found.status == expected.status
    assert verify(found.certificate, X, y)
    np.testing.assert_array_equal(found.strict_rows, expected.strict_rows)


@given(small_rows, st.integers(0, 3))
@settings(max_examples=100, deadline=None)
def test_the_simplex_method_in_integers_finds_weights_or_multipliers(rows, n_tight):
    n_tight = min(n_tight, len(rows) - 1)
    both = np.vstack([rows, -rows[:n_tight]])
    weights, multipliers = gordan(flint.fmpz_mat(both.tolist()), n_tight)
    assert bool(weights) != bool(multipliers)
    if weights:
        scores = rows @ np.array(weights, dtype=object)
        assert not scores[:n_tight].any()
        assert (scores[n_tight:] > 0).all()
    else:
        assert min(multipliers) >= 0
        assert any(multipliers[n_tight : len(rows)])
        assert not (np.array(multipliers, dtype=object) @ both).any()


@pytest.mark.parametrize("seed", range(20))
def test_numbers_of_a_row_that_are_far_apart_are_decided(seed):
    """Floats may see nothing of the smaller numbers; the simplex method in integers does."""
    rng = np.random.default_rng(seed)
    X = np.ldexp(rng.integers(-3, 4, (11, 3)), rng.integers(-1070, 900, (11, 3)))
    y = np.append([0, 1], rng.integers(0, 2, 9))
    assert separability(X, y).status == naive.separation(naive.exact_signed_rows(X.tolist(), y.tolist()))


def test_a_deadline_that_has_come_ends_it():
    rows = integers(signed(*ill_conditioned("rotated", 0))).matrix
    with pytest.raises(OutOfTime):
        exact_partition(rows, Deadline.after(0.0))


def test_the_change_of_columns_is_invertible_and_conditions_the_rows():
    X, y = ill_conditioned("hilbert", 1)
    rows = integers(signed(X, y)).matrix
    width = rows.ncols()
    given_columns = Columns(rows, flint.fmpz_mat(np.eye(width, dtype=int).tolist()))
    everything = np.ones(rows.nrows(), dtype=bool)
    found, balanced = well_conditioned(given_columns, everything, None, Deadline())
    assert np.linalg.cond(X) > 1e12
    assert np.linalg.cond(balanced.values) < 1e4
    assert found.change.det() != 0
    assert rows * found.change == found.numbers


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(hnp.arrays(np.float64, st.tuples(st.integers(0, 5), st.integers(0, 4)), elements=finite))
@settings(deadline=None)
def test_floats_become_integers_times_powers_of_two(values):
    whole = integers(values)
    found = {int(column): k for k, column in enumerate(whole.columns)}
    for i, row in enumerate(fractions(values)):
        for j, value in enumerate(row):
            k = found.get(j)
            assert value == (
                0 if k is None else int(whole.matrix[i, k]) * Fraction(2) ** int(whole.powers[k])
            )
    for column in zip(*whole.matrix.tolist(), strict=True):
        assert any(int(v) % 2 for v in column)


@given(small_rows)
@settings(deadline=None)
def test_pivot_columns_have_the_rank_and_combine_to_the_others(rows):
    whole = flint.fmpz_mat(rows.tolist())
    pivots = pivot_columns(whole, PRIMES[0])
    assert len(pivots) == whole.rank()
    for j in range(rows.shape[1]):
        values, factor = combined(part(whole, columns=pivots), rows[:, j].tolist(), PRIMES[0])
        assert times(part(whole, columns=pivots), values) == [factor * int(v) for v in rows[:, j]]


@given(small_rows, st.randoms())
@settings(deadline=None)
def test_a_vector_is_made_to_vanish_by_its_pivots_alone(rows, random):
    whole, near = flint.fmpz_mat(rows.tolist()), [random.randint(-9, 9) for _ in range(rows.shape[1])]
    order = random.sample(range(rows.shape[1]), rows.shape[1])
    found = vanishing(whole, near, PRIMES[0], order=order)
    if found is None:
        assert whole.rank() == rows.shape[1]
        return
    values, factor = found
    assert factor > 0
    assert not any(times(whole, values))
    assert sum(v != factor * n for v, n in zip(values, near, strict=True)) <= whole.rank()


def test_a_prime_that_misleads_is_found_out():
    prime = PRIMES[0]
    with pytest.raises(Misled):
        combined(flint.fmpz_mat([[1], [0]]), [1, prime], prime)


def test_a_singular_system_has_no_solution():
    assert solved(flint.fmpz_mat([[1, 2], [2, 4]]), [1, 1]) is None
    values, denominator = solved(flint.fmpz_mat([[1, 2], [2, 5]]), [3, 4])
    assert times(flint.fmpz_mat([[1, 2], [2, 5]]), values) == [3 * denominator, 4 * denominator]


def rotated_design(n_rows, n_columns):
    """A 0/1 design in turned coordinates; rows with a one in the first column have label 1."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (n_rows, n_columns)).astype(float), rng.integers(0, 2, n_rows)
    y[X[:, 0] > 0] = 1
    return X @ np.linalg.qr(rng.standard_normal((n_columns, n_columns)))[0], y


def hilbert_rows(n_rows, n_columns):
    """Rows 1 / (1 + t + j), as of a Hilbert matrix, with labels at random."""
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0.0, 1.0, n_rows))
    return 1.0 / (1.0 + t[:, None] + np.arange(n_columns)), rng.integers(0, 2, n_rows)


@pytest.mark.parametrize("rows", [rotated_design(300, 25), rotated_design(500, 40), hilbert_rows(500, 50)])
@pytest.mark.parametrize("quasi", [False, True])
def test_verdicts_on_ill_conditioned_rows_are_reached_and_proved(rows, quasi):
    verdict = separability(*rows, quasi=quasi, time_limit=60.0)
    assert verdict.status == ("overlapping" if quasi else "inseparable")
    assert verify(verdict.certificate, *rows)
