"""Rows exactly on a plane: what limbs say is what rational arithmetic says."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from separatrix.certificates.check import verify
from separatrix.certificates.claims import Certificate, Multipliers
from separatrix.certificates.numbers import COARSE, Terms, small_sums
from separatrix.certificates.scores import Signs, first_wrong
from separatrix.certificates.zeros import exactly_zero
from separatrix.errors import CertificateError, InputError
from separatrix.inputs.data import read_data
from separatrix.proofs.verdict import separability
from tests.certificates.test_certificates import CROSSED, GOOD


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, 10**9),
    st.sampled_from(["f8", "f4", "i8", "u8", "i1", "u1", "wide"]),
    st.integers(1, 400),
    st.booleans(),
)
def test_limbs_say_what_rational_arithmetic_says(seed, kind, bits, lift):
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    if kind in ("f8", "f4", "wide"):
        values = rng.standard_normal((n_rows, n_columns)).astype("f4" if kind == "f4" else "f8")
        if kind == "wide":
            values = np.ldexp(values, rng.integers(-1070, 900, values.shape).astype(np.int32))
        values[rng.random(values.shape) < 0.3] = 0
    else:
        info = np.iinfo(kind)
        low, high = max(info.min, -(2**62)), min(info.max, 2**62)
        values = rng.integers(low, high, (n_rows, n_columns), dtype=kind, endpoint=True)
    weights = [(int.from_bytes(rng.bytes(bits // 8 + 1), "big", signed=True), int(rng.integers(-99, 99)))
               for _ in range(n_columns)]  # fmt: skip
    constant = (int(rng.integers(-9, 9)), int(rng.integers(-99, 99))) if lift else (0, 0)
    # The first row is closed by the last weight, so that it lies on the plane; the others may not.
    scores = [sum_of(row, weights, constant) for row in values.tolist()]
    if values[0, -1] and rng.random() < 0.8:
        last = -(scores[0] - Fraction(values[0, -1].item()) * value(weights[-1])) / Fraction(
            values[0, -1].item()
        )
        power = last.denominator.bit_length() - 1
        if last.denominator == 1 << power:
            weights[-1] = (last.numerator, -power)
            scores = [sum_of(row, weights, constant) for row in values.tolist()]
    found = exactly_zero(values, weights, constant)
    expected = [score == 0 for score in scores]
    assert not (found & ~np.array(expected)).any()
    if kind != "wide":
        assert found.tolist() == expected


def value(pair):
    return Fraction(pair[0]) * Fraction(2) ** pair[1]


def sum_of(row, weights, constant):
    return sum((Fraction(x) * value(w) for x, w in zip(row, weights, strict=True)), value(constant))


def test_numbers_of_64_bits_are_left_to_integers():
    values = np.array([[np.iinfo(np.int64).min], [0]])
    assert not exactly_zero(values, [(1, 0)], (0, 0)).any()
    assert not exactly_zero(np.array([[2**64 - 1]], dtype=np.uint64), [(1, 0)], (0, 0)).any()


def test_weights_of_too_many_digits_are_left_to_integers():
    values = np.array([[1.0, -1.0]])
    assert exactly_zero(values, [(3 << 1000, 0), (3, 1000)], (0, 0)).all()
    assert not exactly_zero(values, [(1 << 200_000, 0), (1, 200_000)], (0, 0)).any()
    assert not exactly_zero(values, [(1, 500_000), (1, 0)], (0, 0)).any()


@pytest.mark.parametrize("lift", [False, True])
def test_many_rows_on_a_plane_are_checked_together(lift):
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (3000, 5)) / 8.0
    X[:, 4] = 0
    y = rng.integers(0, 2, 3000)
    X[7, 4] = 2 * y[7] - 1  # one row is strict
    verdict = separability(X, y, fit_intercept=lift)
    assert verdict.status == "quasi-separable"
    certificate = verdict.certificate.to_dict()
    assert verify(certificate, X, y).holds
    certificate["weights"][0][2] = "0x1.0p-300"
    assert not verify(certificate, X, y).holds


def test_a_hostile_denominator_is_multiplied_once_a_column():
    # Half a million digits, and a large coarse multiplier on every row, which must not be multiplied by it.
    rng = np.random.default_rng(0)
    X, y = rng.integers(1, 9, (300, 50)), np.arange(300) % 2
    claim = Certificate("inseparable", "binary", ("0", "1"), (), True, (), 300, 50, "0" * 64)
    rows = tuple(range(300))
    many = Multipliers(rows, coarse=(1 << 13,) * 300, denominator=(1 << 2_000_000) + 1)
    start = time.monotonic()
    assert not verify(replace(claim, multipliers=many), X, y, same_data=False).holds
    assert time.monotonic() - start < 3.0


def test_a_check_ends_at_its_time_limit():
    with pytest.raises(CertificateError, match="within 1e-09 seconds"):
        verify(GOOD, *CROSSED, time_limit=1e-9)
    assert verify(GOOD, *CROSSED, time_limit=60.0).holds
    for wrong in (0, -1.0, "1", float("nan")):
        with pytest.raises(InputError, match="time_limit"):
            verify(GOOD, *CROSSED, time_limit=wrong)


def naive_sums(X, terms):
    """Sums of rows times whole numbers, in rational arithmetic."""
    total = [[Fraction(0)] * X.shape[1] for _ in range(terms.n_sums)]
    for row, which, factor in zip(terms.rows, terms.sums, terms.factors, strict=True):
        own = total[which]
        for column, number in enumerate(X[row].tolist()):
            own[column] += int(factor) * Fraction(number)
    return total


def some_rows(rng, kind, n_rows, n_columns):
    """Rows of one type, up to the ends of its range."""
    if kind in ("f8", "f4", "wide"):
        values = rng.standard_normal((n_rows, n_columns)).astype("f4" if kind == "f4" else "f8")
        if kind == "wide":
            values = np.ldexp(values, rng.integers(-1073, 1020, values.shape).astype(np.int32))
        values[rng.random(values.shape) < 0.3] = 0
        return values
    info = np.iinfo(kind)
    values = rng.integers(info.min, info.max, (n_rows, n_columns), dtype=kind, endpoint=True)
    ends = np.array([info.min, info.max, 0, 1], dtype=kind)
    return np.where(rng.random(values.shape) < 0.3, rng.choice(ends, values.shape), values)


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, 10**9),
    st.sampled_from(["f8", "f4", "i8", "u8", "i1", "u1", "wide"]),
    st.integers(1, 5),
    st.booleans(),
)
def test_sums_of_rows_are_those_of_rational_arithmetic(seed, kind, n_sums, dense):
    rng = np.random.default_rng(seed)
    n_rows, n_columns, n_terms = (int(rng.integers(low, 12)) for low in (1, 0, 0))
    X = some_rows(rng, kind, n_rows, n_columns)
    terms = Terms(
        rng.integers(0, n_rows, n_terms),
        rng.integers(0, n_sums, n_terms),
        rng.integers(1 - COARSE, COARSE, n_terms),
        n_sums,
    )
    found = small_sums(terms, X if dense else sparse.csr_array(X))
    exact = [[Fraction(0)] * n_columns for _ in range(n_sums)]
    for own, sums in zip(exact, found, strict=True):
        for column, parts in sums.items():
            own[column] = sum((value((v, e)) for e, v in parts.items()), Fraction(0))
    assert exact == naive_sums(X, terms)
    counts = [sum(f for s, f in zip(terms.sums, terms.factors, strict=True) if s == k) for k in range(n_sums)]
    assert terms.counts() == counts


def test_many_rows_of_the_largest_numbers_and_factors_are_summed_exactly():
    # Every product has all of its bits, and more rows than fit into one piece are added.
    X = np.full((40_000, 1), np.nextafter(2.0, 0.0))
    rows = np.arange(40_000)
    terms = Terms(rows, np.zeros_like(rows), np.full(40_000, COARSE - 1), 1)
    [sums] = small_sums(terms, X)
    exact = sum(value((v, e)) for e, v in sums[0].items())
    assert exact == 40_000 * (COARSE - 1) * Fraction(X[0, 0])


def test_rows_that_are_not_finite_are_never_summed():
    terms = Terms(np.array([0]), np.array([0]), np.array([1]), 1)
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(InputError, match=r"finite|NaN|infinity"):
            small_sums(terms, np.array([[bad]]))


@pytest.mark.parametrize("coarse", [(1 << 12) - 1, 1 << 12, 1 << 53, (1 << 63) + 1, 10**40])
@pytest.mark.parametrize("change", [0, 1, -1])
def test_whole_multipliers_of_any_size_have_to_sum_to_zero(coarse, change):
    X, y = np.array([[3.0], [3.0], [5.0]]), np.array([0, 1, 1])
    claim = Certificate("inseparable", "binary", ("0", "1"), (), True, (), 3, 1, "0" * 64)
    many = Multipliers((0, 1), coarse=(coarse, coarse + change))
    assert verify(replace(claim, multipliers=many), X, y, same_data=False).holds == (change == 0)
    # the same numbers once more, with whole parts below zero and fractions that mend them
    mended = Multipliers(
        (0, 1), coarse=(-coarse, -coarse), fine=(3 * coarse + 1, 3 * coarse + 1 + change), denominator=2
    )
    assert verify(replace(claim, multipliers=mended), X, y, same_data=False).holds == (change == 0)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**9), st.booleans(), st.booleans(), st.integers(0, 54))
def test_whole_numbers_of_any_size_lie_on_planes_as_rational_arithmetic_says(seed, joint, dense, bits):
    # Sums of products end below, at and above 2**51, up to which plain outputs are taken to be exact.
    rng = np.random.default_rng(seed)
    n_classes = 3 if joint else 2
    X = rng.integers(-3, 4, (9, 3)).astype(np.float64)
    X[:, 0] = rng.integers(-(2**bits), 2**bits, 9, endpoint=True)
    y = np.r_[:n_classes, rng.integers(0, n_classes, 9 - n_classes)]
    weights = rng.integers(-2, 3, (n_classes if joint else 1, 4)).astype(np.float64)
    claim = Certificate(
        "separable", "joint" if joint else "binary", tuple("012"[:n_classes]), (), True, (), 9, 3, ""
    )
    signs = Signs(claim, read_data(X if dense else sparse.csr_array(X), y))
    scores = {}
    for row in range(9):
        for rival in [c for c in range(n_classes) if c != y[row]] if joint else [-1]:
            w = weights[y[row]] - weights[rival] if joint else weights[0] * (2 * y[row] - 1)
            lifted = [*map(Fraction, X[row].tolist()), Fraction(1)]
            score = sum((Fraction(a) * b for a, b in zip(w.tolist(), lifted, strict=True)), Fraction(0))
            scores[row, rival] = (score > 0) - (score < 0)
    tight = signs.none()
    for (row, rival), score in scores.items():
        tight[row, max(rival, 0)] = (score == 0) ^ (rng.random() < 0.05)
    wrong = [(*at, score) for at, score in scores.items() if score != (not tight[at[0], max(at[1], 0)])]
    assert first_wrong(tuple(map(tuple, weights.tolist())), signs, tight) == (wrong[0] if wrong else None)


def test_outputs_that_are_rounded_are_not_taken_for_exact_ones():
    # In floats 2**53 + 1 - 2**53 is zero in one order of summation; the row is not on the plane.
    X, y = np.array([[2.0**53, 1.0, -(2.0**53)], [0.0, 0.0, 0.0]]), np.array([1, 0])
    claim = Certificate("separable", "binary", ("0", "1"), (), True, (), 2, 3, "")
    signs = Signs(claim, read_data(X, y))
    tight = signs.none()
    tight[:] = True
    assert first_wrong(((1.0, 1.0, 1.0, 0.0),), signs, tight) == (0, -1, 1)
