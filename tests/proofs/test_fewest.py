"""The fewest errors: both ends are right, by all hyperplanes through as many rows as they can hold."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix.certificates.error_bounds import equal_rows, leaf_bound
from separatrix.deadline import Deadline
from separatrix.inputs.data import read_data
from separatrix.proofs.fewest import fewest_errors as module
from separatrix.result import Status
from tests import fuzz_certificates, naive_fewest


def problem(seed):
    """A few rows: on a lattice, of zeros and ones, or random; with ties, equal rows and weights."""
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(1, 4)), int(rng.integers(3, 12))
    kinds = [rng.integers(-2, 3, (n, d)), rng.integers(0, 2, (n, d)), rng.standard_normal((n, d))]
    X = kinds[rng.integers(3)].astype(float)
    y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    weights = rng.integers(0, 5, n) / 4 if rng.random() < 0.5 else np.ones(n)
    weights[:2] += 0.25
    return X, y, weights, bool(rng.random() < 0.7)


def truth(X, y, weights, lift):
    """The fewest errors by the naive method."""
    signs = np.where(y == 1, 1, -1).tolist()
    rows = [
        [s * v for v in [*map(Fraction, x), *[Fraction(1)] * lift]]
        for x, s in zip(X.tolist(), signs, strict=True)
    ]
    return naive_fewest.fewest(rows, [Fraction(v) for v in weights.tolist()])


def check_both_ends(seed):
    X, y, weights, lift = problem(seed)
    plain = (weights == 1.0).all()
    found = sx.fewest_errors(X, y, sample_weight=None if plain else weights, fit_intercept=lift)
    assert found.lower == truth(X, y, weights, lift) == found.upper, seed
    assert found.status is Status.REACHED
    assert sx.verify(found.certificate.to_json(), X, y)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_both_ends_are_the_fewest_errors_of_any_hyperplane(seed):
    check_both_ends(seed)


@pytest.mark.slow
def test_both_ends_are_the_fewest_errors_of_500_problems():
    for seed in range(500):
        check_both_ends(seed)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6))
def test_a_row_of_many_classes_counts_once(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (7, 2)).astype(float), np.r_[0, 1, 2, rng.integers(0, 3, 4)]
    found = sx.fewest_errors(X, y)
    asked = {**found.certificate.to_dict()["question"], "kind": "joint", "chosen": [], "excluded": []}
    rows = fuzz_certificates.signed_rows({"question": asked}, X, y)
    pairs = [rows[i : i + 2] for i in range(0, len(rows), 2)]
    assert found.lower == naive_fewest.fewest_of_classes(pairs, [1] * 7) == found.upper
    assert sx.verify(found.certificate, X, y)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_the_other_rows_are_separable_and_settled_rows_are_settled(seed):
    X, y, _, lift = problem(seed)
    found = sx.fewest_errors(X, y, fit_intercept=lift)
    rest = np.setdiff1d(np.arange(y.size), found.wrong_rows)
    if np.unique(y[rest]).size == 2:
        assert sx.separability(X[rest], y[rest], fit_intercept=lift).separable
    for row in found.in_every:  # without the others of a cheapest set, this one would be kept
        weights = np.where(np.arange(y.size) == row, 100.0, 1.0)
        assert truth(X, y, weights, lift) > found.upper
    for row in found.in_none:
        weights = np.where(np.arange(y.size) == row, 0.0, 1.0)
        assert truth(X, y, weights, lift) > found.upper - 1


def leaves_of(nodes, lost=frozenset(), kept=frozenset()):
    """The leaves of a tree, each with the rows that are lost and kept there."""
    node = next(nodes)
    if not isinstance(node, int):
        return [(node, lost, kept)]
    return [*leaves_of(nodes, lost | {node}, kept), *leaves_of(nodes, lost, kept | {node})]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_flipped_rows_are_in_every_smallest_set_by_the_certificate_alone(seed):
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((1000, 3)), rng.standard_normal(3)
    y, flipped = (X @ w > 0).astype(int), rng.permutation(1000)[:5]
    y[flipped] = 1 - y[flipped]
    found = sx.fewest_errors(X, y)
    proof = found.certificate
    assert found.exact
    assert sx.verify(proof, X, y)
    assert 2 * found.in_every.size > found.upper
    assert set(found.in_every.tolist()) <= set(found.wrong_rows.tolist())
    (tree,) = proof.trees
    supports = [set(each.rows) for each in proof.witnesses]
    for leaf, lost, kept in leaves_of(iter(tree)):
        prices = dict(zip(leaf.witnesses, leaf.u, strict=True))
        for row in set(found.in_every.tolist()) - lost:
            bound = leaf_bound([proof.unit] * 1000, supports, prices, lost, kept | {row})
            assert bound > found.upper * proof.unit


def test_the_words_count_the_rows_that_are_settled():
    X = np.arange(12.0)[:, None]
    one = sx.fewest_errors(X, np.arange(12) // 6 ^ (X[:, 0] == 2.0))
    assert one.in_every.tolist() == one.wrong_rows.tolist() == [2]
    assert one.summary().endswith("No other set of wrong rows is as small (proved).")
    two = sx.fewest_errors(X[:4], [0, 1, 0, 1])  # one of the two rows in the middle
    assert "in every smallest set of wrong rows: 0 of these (1 undecided); in none: 1 of" in two.summary()


def test_changed_certificates_are_refused_or_true():
    rng = random.Random(0)
    asked = [q for q in map(fuzz_certificates.question, range(400)) if q.fields["claim"] == "fewest-errors"]
    accepted = 0
    for _ in range(1500):
        each = rng.choice(asked)
        accepted += fuzz_certificates.holds(fuzz_certificates.tampered(rng, each.fields), each.X, each.y)
    assert accepted < 750


def test_a_tree_has_to_branch_both_ways():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), [0, 1, 0, 1, 0, 1]
    proof = sx.fewest_errors(X, y).certificate
    (tree,) = proof.trees
    assert sx.verify(replace(proof, trees=((0, *tree, *tree),)), X, y)
    for trees in [((0, *tree),), ((*tree, *tree),), ((0, *tree, 0, *tree, *tree),), (tree, tree), ((),), ()]:
        check = sx.verify(replace(proof, trees=trees), X, y)
        assert not check.holds
        assert check.reason


def test_a_leaf_bounds_every_hitting_set():
    rng = np.random.default_rng(0)
    for _ in range(300):
        costs = rng.integers(0, 5, 6).tolist()
        supports = [sorted(set(rng.integers(0, 6, 3).tolist())) for _ in range(4)]
        prices = {j: int(rng.integers(0, 4)) for j in range(4)}
        fixed = rng.permutation(6)[:3].tolist()
        lost, kept = frozenset(fixed[:1]), frozenset(fixed[1:])
        bound = leaf_bound(costs, supports, prices, lost, kept)
        for bits in range(64):
            wrong = {i for i in range(6) if bits >> i & 1}
            if lost <= wrong and not wrong & kept and all(wrong & set(each) for each in supports):
                assert sum(costs[i] for i in wrong) >= bound


def test_equal_rows_are_found_in_arrays_and_sparse_matrices():
    X = np.array([[1.0, 0.0], [1.0, -0.0], [0.0, 2.0], [1.0, 0.0], [0.0, 2.0]])
    places = [0, 1, 1, 2, 3, 4], [0, 0, 1, 1, 0, 1]
    stored = sparse.csr_array(([1.0, 1.0, 0.0, 2.0, 1.0, 2.0], places), shape=(5, 2))
    for matrix in (X, stored):
        data = SimpleNamespace(matrix=matrix, codes=np.array([0, 0, 1, 1, 1]))
        assert equal_rows(data).tolist() == [0, 0, 2, 3, 2]


def test_planted_errors_are_found_and_proved():
    rng = np.random.default_rng(3)
    X, w = rng.standard_normal((600, 4)), rng.standard_normal(4)
    y, flipped = (X @ w > 0).astype(int), rng.permutation(600)[:8]
    y[flipped] = 1 - y[flipped]
    found = sx.fewest_errors(X, y)
    assert found.lower == found.upper <= 8
    assert len(set(found.wrong_rows.tolist()) & set(flipped.tolist())) >= 7
    assert len(set(found.in_every.tolist()) & set(flipped.tolist())) >= 7
    assert sx.verify(found.certificate, X, y)


def test_an_interrupt_keeps_both_ends(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 3)), rng.integers(0, 2, 80)
    count = iter(range(10**9))

    def interrupted(jobs):
        for each in turns(jobs):
            if next(count) > 40:
                raise KeyboardInterrupt
            yield each

    turns = module.take_turns
    monkeypatch.setattr(module, "take_turns", interrupted)
    found = sx.fewest_errors(X, y)
    assert found.status is Status.INTERRUPTED
    assert 0 < found.lower < found.upper < 40
    assert sx.verify(found.certificate, X, y)
    assert found.history[-1][1:] == (found.lower, found.upper)


def test_parts_pass_the_ceiling_of_disjoint_witnesses():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((90, 2)), rng.integers(0, 2, 90)
    found = sx.fewest_errors(X, y, time_limit=2.0)
    assert found.upper > found.ceiling == 90 / 4
    assert f"n / (d + 2) = {int(found.ceiling)}" in found.summary() or found.exact
    assert sx.verify(found.certificate, X, y)


def test_the_first_witness_is_exact_where_a_verdict_has_approximate_multipliers():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 200)), rng.integers(0, 2, 600)
    assert sx.separability(X, y, quasi=False).certificate.approximate is not None
    witness = module._Run(read_data(X, y), None, True, Deadline.after(60.0))._separate()
    total = [0] * 201
    for row, value in zip(witness.ids.tolist(), witness.values, strict=True):
        for column, number in enumerate([*X[row].tolist(), 1.0]):
            total[column] += value * (1 if y[row] else -1) * Fraction(number)
    assert min(witness.values) > 0
    assert not any(total)


def test_separable_classes_have_no_errors():
    found = sx.fewest_errors([[0.0], [1.0], [3.0]], ["a", "a", "b"])
    assert (found.lower, found.upper, found.wrong_rows.size) == (0, 0, 0)
    assert found.certificate.trees == ()
    assert "separable" in found.summary()


def test_without_time_nothing_is_settled():
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    found = sx.fewest_errors(X, y, time_limit=1e-9)
    assert (found.lower, found.upper, found.status) == (0, 20, Status.TIME_LIMIT)
    assert "It is not settled" in found.summary()
    assert sx.verify(found.certificate, X, y)


def test_weights_may_be_hundreds_of_powers_of_two_apart():
    rng = np.random.default_rng(5)
    X, y = rng.integers(-3, 4, (20, 2)).astype(float), rng.integers(0, 2, 20)
    found = sx.fewest_errors(X, y, sample_weight=rng.choice([1e-300, 1.0, 1e300], 20))
    assert found.lower == pytest.approx(found.upper, rel=1e-9)
    assert found.status is Status.REACHED
    assert sx.verify(found.certificate, X, y)


def test_what_cannot_be_used_is_refused():
    with pytest.raises(sx.errors.InputError, match="time_limit"):
        sx.fewest_errors([[0.0], [1.0]], [0, 1], time_limit=0)
    with pytest.raises(sx.errors.LabelError):
        sx.fewest_errors([[0.0], [1.0]], [0, 1], sample_weight=[0.0, 1.0])


def test_a_verdict_finds_the_fewest_errors_of_its_question():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    verdict = sx.separability(X, y, sample_weight=[1, 1, 1, 0])
    assert verdict.fewest().upper == 1
    assert sx.verify(verdict.fewest().certificate, X, y)
    with pytest.raises(sx.errors.InputError, match="fewest_errors"):
        pickle.loads(pickle.dumps(verdict)).fewest()


def test_rows_of_zeros_are_wrong_for_every_hyperplane_through_the_origin():
    rng = np.random.default_rng(1)
    X, y = rng.integers(-3, 4, (30, 3)).astype(float), rng.integers(0, 2, 30)
    X[5:9] = 0.0
    found = sx.fewest_errors(X, y, fit_intercept=False)
    assert found.lower == found.upper >= 4
    assert set(range(5, 9)) <= set(found.wrong_rows.tolist())
    assert sx.verify(found.certificate, X, y)
