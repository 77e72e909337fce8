"""Rows exactly on a plane: what limbs say is what rational arithmetic says."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.certificates.check import verify
from separatrix.certificates.claims import Certificate, Multipliers
from separatrix.certificates.zeros import exactly_zero
from separatrix.errors import CertificateError, InputError
from separatrix.proofs.verdict import separability
from tests.test_certificates import CROSSED, GOOD


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
    with pytest.raises(CertificateError, match="not checked within 1e-09 seconds"):
        verify(GOOD, *CROSSED, time_limit=1e-9)
    assert verify(GOOD, *CROSSED, time_limit=60.0).holds
    for wrong in (0, -1.0, "1", float("nan")):
        with pytest.raises(InputError, match="time_limit"):
            verify(GOOD, *CROSSED, time_limit=wrong)
