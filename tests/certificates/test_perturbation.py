"""No false proof from approximate multipliers: bounds hold in rational arithmetic, claims are true."""

from __future__ import annotations

import copy
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from separatrix import float_environment
from separatrix.certificates import perturbation
from separatrix.certificates.check import verify
from separatrix.certificates.claims import Approximate, Certificate
from separatrix.errors import CertificateError
from separatrix.proofs.verdict import separability
from separatrix.report.words import proof as proof_in_words
from tests import naive


def claim_of(X, y, near, claim="inseparable", *, lift=False, question="binary", chosen=()):
    classes = tuple(map(str, np.unique(y)))
    return Certificate(claim, question, classes, chosen, lift, (), *np.shape(X), "0" * 64, approximate=near)


def holds(X, y, near, claim="inseparable", **options):
    return verify(claim_of(X, y, near, claim, **options), X, y, same_data=False).holds


def hard_rows(rng, k, p):
    """Signed rows near the loss of rank, and multipliers that nearly sum them to zero.

    They lie near a hyperplane, all on one side of it or not, in axes that may be turned.
    """
    rows = rng.standard_normal((k, p)) if rng.random() < 0.7 else rng.integers(-3, 4, (k, p)) * 1.0
    values = 10.0 ** -(rng.random(k) * rng.choice([0.1, 2.0, 8.0, 14.0]))
    closing = -(values[:-1] @ rows[:-1])
    size = np.abs(closing).max()
    rows[-1] = closing / size if size > 0 else 0.0
    values[-1] = size if size > 0 else 1.0
    thickness = 2.0 ** -float(rng.integers(0, 64))
    kind = rng.integers(4)
    if kind == 0:  # separable by the first coordinate, by very little
        rows[:, 0] = thickness * rng.random(k)
    elif kind == 1:  # thin, on both sides
        rows[:, 0] *= thickness
    elif kind == 2:  # a multiplier at the edge: the exact one would be about zero, on either side
        rows[0] += thickness * rng.standard_normal(p)
        values[0] = thickness * rng.random() + 1e-300
    if rng.random() < 0.5:
        turn = np.linalg.qr(rng.standard_normal((p, p)))[0]
        rows = rows @ turn
    with np.errstate(all="ignore"):
        if rng.random() < 0.4:  # scales near the ends of the range
            rows = np.ldexp(rows, rng.integers(-500, 500, p).astype(np.int32))
            powers = rng.integers(-500, 500, k).astype(np.int32)
            rows, values = np.ldexp(rows, powers[:, None]), np.ldexp(values, -powers)
        if rng.random() < 0.1:
            rows = np.ldexp(rows, int(rng.choice([-1040, -1000, 1000])))
        if rng.random() < 0.1:
            values = np.ldexp(values, int(rng.choice([-1060, -1000, 1000])))
    ends = np.finfo(np.float64).max
    return np.nan_to_num(np.clip(rows, -ends, ends)), np.clip(values, 5e-324, ends)


def judged(seed):
    """Whether a hard case is accepted, and whether what it says is true."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 5))
    k = p + int(rng.integers(1, 5))
    rows, values = hard_rows(rng, k, p)
    y = rng.integers(0, 2, k)
    y[:2] = 0, 1
    X = rows * (2.0 * y - 1.0)[:, None]
    near = Approximate(tuple(range(k)), (), tuple(values.tolist()))
    claim = ("inseparable", "overlapping")[seed % 2]
    if not holds(X, y, near, claim):
        return False, True
    truth = naive.separation([[Fraction(v) for v in row] for row in rows.tolist()])
    return True, truth == "overlapping" if claim == "overlapping" else truth != "separable"


def test_no_hard_case_is_proved_falsely():
    found = [judged(seed) for seed in range(1000)]
    assert all(true for _, true in found)
    assert sum(accepted for accepted, _ in found) > 300


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_no_hard_case_of_ten_thousand_is_proved_falsely(part):
    assert all(judged(seed)[1] for seed in range(1000 * (part + 1), 1000 * (part + 2)))


def exact_bounds(scaled, inverse):
    """|I - A B|, and the largest b_j |A l| / (1 - q) / l_j, in rational numbers."""
    a = [[Fraction(v) for v in column] for column in scaled.rows.T.tolist()]
    b = [[Fraction(v) for v in row] for row in inverse.tolist()]
    values = [Fraction(v) for v in scaled.multipliers.tolist()]
    p, k = len(a), len(values)
    q = max(sum(abs((i == m) - sum(a[i][j] * b[j][m] for j in range(k))) for m in range(p)) for i in range(p))
    r = max(abs(sum(a[i][j] * values[j] for j in range(k))) for i in range(p))
    if q >= 1:
        return q, r, None
    return q, r, max(sum(map(abs, b[j])) * r / (1 - q) / values[j] for j in range(k))


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**9))
def test_every_bound_is_above_that_of_rational_arithmetic(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 5))
    k = p + int(rng.integers(1, 5))
    rows = rng.standard_normal((k, p))
    if rng.random() < 0.5:
        rows = np.ldexp(rows, -rng.integers(0, 1070, (k, p)).astype(np.int32))
    rows = rows / np.ldexp(1.0, np.frexp(np.abs(rows).max(axis=0))[1]) if rows.all() else rows * 0 + 0.5
    scaled = perturbation.Scaled(rows, 0.5 + 0.499 * rng.random(k))
    inverse = (perturbation.normal_inverse if rng.random() < 0.5 else perturbation.orthogonal_inverse)(rows)
    inverse = np.clip(np.nan_to_num(inverse), -1e300, 1e300)
    kind = rng.integers(4)
    if kind == 0:  # q just on either side of 1
        factor = 1.0 + float(rng.choice([-1.0, 1.0])) * (1.0 - 2.0 ** -float(rng.integers(20, 54)))
        inverse = inverse * factor
    elif kind == 1:
        inverse = inverse + 2.0 ** -float(rng.integers(1, 60)) * rng.standard_normal((k, p))
    elif kind == 2:
        inverse = np.ldexp(rng.standard_normal((k, p)), int(rng.integers(-1070, 1000)))
    found = perturbation.bounds(scaled, inverse)
    q, r, share = exact_bounds(scaled, inverse)
    assert found.q >= q
    assert perturbation.residual(scaled)[1] * (1 + 2**-40) >= r
    if found.q < 1:
        assert found.share >= share


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9))
def test_the_residual_is_sharper_than_a_product_of_floats(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 60))
    rows = rng.standard_normal((k, 3))
    values = rng.random(k) + 0.1
    rows[-1] = -(values[:-1] @ rows[:-1]) / values[-1]
    scaled = perturbation.scale(Approximate(tuple(range(k)), (), tuple(values)), signs_of(rows), np.arange(3))
    exact = [
        sum(Fraction(a) * Fraction(b) for a, b in zip(column, scaled.multipliers.tolist(), strict=True))
        for column in scaled.rows.T.tolist()
    ]
    found, bound = perturbation.residual(scaled)
    assert max(map(abs, exact)) <= bound <= max(map(abs, map(float, exact))) * (1 + 1e-9) + 1e-18 * k
    assert np.allclose(found, [float(v) for v in exact], rtol=1e-9, atol=1e-20 * k)


def signs_of(rows):
    """The rows as those of the positive class, beside one of the other."""
    from separatrix.certificates.scores import Signs
    from separatrix.inputs.data import read_data

    X, y = np.vstack([rows, np.zeros(rows.shape[1])]), np.r_[np.ones(len(rows), dtype=int), 0]
    return Signs(claim_of(X, y, None), read_data(X, y))


def gaussian(n_rows, n_columns, seed=0):
    """Rows that overlap, all of them with multipliers: those of a random combination, closed by the last."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns))
    y = rng.integers(0, 2, n_rows)
    y[:2] = 0, 1
    values = 0.5 + rng.random(n_rows)
    rest = values[:-1] * (2 * y[:-1] - 1) @ X[:-1]
    X[-1] = -rest / values[-1] * (2 * y[-1] - 1)
    return X, y, Approximate(tuple(range(n_rows)), (), tuple(values.tolist()))


def test_an_honest_proof_holds_for_every_storage_and_claim():
    X, y, near = gaussian(60, 20)
    check = verify(claim_of(X, y, near, "overlapping"), X, y, same_data=False)
    assert check.holds
    assert check.reason.startswith("Close to the multipliers of 60 signed rows are exact, positive ones")
    assert holds(sparse.csr_array(X), y, near)
    whole = np.rint(X * 2.0**20).astype(np.int64)
    assert holds(whole, y, near)
    assert holds(whole.astype(np.float32).astype(np.float64), y, near)


def test_numbers_that_no_float_holds_are_refused():
    X, y, near = gaussian(60, 2)
    whole = np.rint(X * 2.0**20).astype(np.int64)
    whole[3, 1] = 2**53 + 1
    check = verify(claim_of(whole, y, near), whole, y, same_data=False)
    assert not check.holds
    assert "not floats" in check.reason


def with_dependent(seed=0):
    """A proof in 20 columns with an intercept, and four more columns that depend on them."""
    X, y, near = gaussian(60, 20, seed)
    X = np.hstack([X, X[:, :1], np.zeros((60, 1)), 2.0 * X[:, 1:2] - X[:, 2:3], np.full((60, 1), 3.0)])
    X[:, 1:3] = np.rint(X[:, 1:3] * 1024)  # whole numbers, so that their difference is one
    X[:, 22] = 2.0 * X[:, 1] - X[:, 2]
    left_out = (((20, 1), (0, -1)), ((21, 5),), ((22, 1), (1, -2), (2, 1)), ((23, 1), (24, -3)))
    # the intercept and the rounded columns have to cancel as well
    near = Approximate(near.rows, (), balanced(X, y, near.values), left_out)
    return X, y, near


def balanced(X, y, values):
    """Positive multipliers near the given ones for which the signed, lifted rows sum to about zero."""
    signed = np.hstack([X, np.ones((len(X), 1))]) * (2.0 * y - 1.0)[:, None]
    found = np.array(values)
    for _ in range(3):
        found = found - np.linalg.pinv(signed.T) @ (signed.T @ found)
    assert found.min() > 0
    return tuple(found.tolist())


def test_coordinates_that_depend_on_others_are_left_out():
    X, y, near = with_dependent()
    assert holds(X, y, near, "overlapping", lift=True)
    assert not holds(X, y, Approximate(near.rows, (), near.values), lift=True)
    for wrong in (((20, 1), (0, 1)), ((21, 1), (24, 1)), ((22, 1), (1, -2), (2, 2)), ((23, 1), (24, -4))):
        relations = tuple(wrong if wrong[0][0] == terms[0][0] else terms for terms in near.left_out)
        check = verify(
            claim_of(X, y, Approximate(near.rows, (), near.values, relations), lift=True),
            X, y, same_data=False,
        )  # fmt: skip
        assert check.row == 0
        assert f"coordinate {wrong[0][0]} " in check.reason


def test_overlap_needs_the_relations_on_every_row():
    X, y, near = with_dependent()
    more, labels = np.vstack([X, X[:1]]), np.r_[y, y[0]]
    more[-1, 21] = 1.0
    assert holds(more, labels, near, lift=True)
    assert not holds(more, labels, near, "overlapping", lift=True)
    assert naive.separation(naive.exact_signed_rows([[0], [0], [1]], [0, 1, 1])) == "quasi-separable"


def test_pairs_of_many_classes_prove_the_joint_question():
    X, y, near = gaussian(60, 20)
    labels = np.r_[y, 2, 2]
    X = np.vstack([X, np.ones((2, 20))])
    joint = Approximate(near.rows, tuple((1 - y).tolist()), near.values)
    assert holds(X, labels, joint, question="joint")
    check = verify(claim_of(X, labels, joint, "overlapping", question="joint"), X, labels, same_data=False)
    assert "class 2" in check.reason


GOOD = claim_of(*gaussian(6, 2)).to_dict()


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("claim", "separable", "do not fit the rest"),
        ("claim", "quasi-separable", "do not fit the rest"),
        ("multipliers", {}, "do not fit the rest"),
        ("question__degrees", [2], "do not fit the rest"),
        ("approximate", [], "not an object"),
        ("approximate__values", ["0x1p+0"] * 5, "values"),
        ("approximate__values", ["1"] * 6, "positive float"),
        ("approximate__values", ["-0x1.0p+0"] * 6, "positive float"),
        ("approximate__values", ["0x0.0p+0"] * 6, "positive float"),
        ("approximate__values", [1.0] * 6, "integer string"),
        ("approximate__rivals", [0] * 6, "do not fit its rows"),
        ("approximate__left_out", {}, "not a list"),
        ("approximate__left_out", [[]], "lists of pairs"),
        ("approximate__left_out", [[0, "1"]], "lists of pairs"),
        ("approximate__left_out", [[[0, "0"]]], "left_out"),
        ("approximate__left_out", [[[2, "1"]]], "coordinate 2"),
        ("approximate__left_out", [[[0, "1"], [0, "1"]]], "left_out"),
        ("approximate__left_out", [[[0, "1"], [1, "1"]], [[1, "1"]]], "left_out"),
        ("approximate__left_out", [[[0, "1"]], [[0, "1"]]], "twice"),
    ],
)
def test_a_damaged_proof_is_refused(path, value, words):
    fields = copy.deepcopy(GOOD)
    *steps, last = path.split("__")
    target = fields
    for step in steps:
        target = target[step]
    target[last] = value
    with pytest.raises(CertificateError, match=words):
        Certificate.from_json(json.dumps(fields))


def test_a_proof_survives_json():
    X, y, near = with_dependent()
    certificate = claim_of(X, y, near, lift=True)
    assert Certificate.from_json(certificate.to_json()) == certificate


@pytest.mark.parametrize(
    ("rows", "words"),
    [((0, 1, 2, 3, 4, 4), "Row 4 has two"), ((), "no multipliers"), ((0, 1), "at least 3 are needed")],
)
def test_what_is_missing_is_named(rows, words):
    X, y, near = gaussian(6, 2)
    check = verify(claim_of(X, y, Approximate(rows, (), near.values[: len(rows)])), X, y, same_data=False)
    assert not check.holds
    assert words in check.reason


def test_a_coordinate_of_zeros_is_named():
    X, y, near = gaussian(6, 2)
    X[:, 1] = 0.0
    check = verify(claim_of(X, y, near), X, y, same_data=False)
    assert "Coordinate 1 is zero" in check.reason


def test_more_numbers_than_are_checked_are_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(perturbation, "MAX_NUMBERS", 5)
    signs = signs_of(np.zeros((3, 2)))
    near = Approximate((0, 1, 2), (), ())
    assert "more than" in perturbation.first_failure(near, signs, everywhere=False)[0]


def test_infinite_and_missing_numbers_prove_nothing():
    scaled = perturbation.Scaled(np.array([[0.5], [-0.5]]), np.array([0.5, 0.5]))
    for bad in (math.nan, math.inf, -math.inf, 1e308):
        assert not perturbation.bounds(scaled, np.array([[bad], [0.0]])).proved


def normal_question(n_rows, n_columns, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_rows, n_columns)), rng.integers(0, 2, n_rows)


def test_dense_floats_that_overlap_are_proved_by_approximate_multipliers():
    X, y = normal_question(700, 230)
    verdict = separability(X, y)
    assert verdict.status == "overlapping"
    assert verdict.certificate.approximate is not None
    assert verdict.certificate.multipliers is None
    assert verify(verdict.certificate.to_json(), X, y).holds
    assert verdict.margin[1] == 0.0
    exact = sum(verdict.witness_rows.values())
    assert abs(exact - 2) < 1e-9
    plain = separability(X, y, quasi=False)
    assert plain.status == "inseparable"
    assert plain.certificate.approximate is not None
    assert "almost add up to zero" in proof_in_words(plain)[0]
    assert "span all 700 rows" in proof_in_words(verdict)[1]


def test_dense_floats_at_the_edge_are_separated():
    X, y = normal_question(430, 230)
    verdict = separability(X, y)
    assert verdict.status == "separable"
    assert verify(verdict.certificate, X, y).holds


def test_columns_that_depend_on_others_are_found_and_left_out():
    X, y = normal_question(700, 205)
    kinds = np.arange(700) % 3
    extra = [X[:, 3], np.zeros(700), *(kinds == kind for kind in range(3)), np.full(700, 0.25)]
    X = np.column_stack([X, *extra])
    verdict = separability(X, y)
    assert verdict.status == "overlapping"
    left_out = verdict.certificate.approximate.left_out
    assert {terms[0][0] for terms in left_out} >= {205, 206}
    assert len(left_out) == 4
    assert verify(verdict.certificate, X, y).holds


@pytest.mark.parametrize("whole", [True, False])
def test_a_column_equal_to_one_that_depends_on_others_is_left_out_in_terms_of_those(whole):
    X, y = normal_question(700, 205)
    if whole:
        X = np.rint(4.0 * X).astype(np.int64)
    total = X[:, 1] + X[:, 2] if whole else np.full(700, 0.25)
    X = np.column_stack([total, X, total])  # the first depends on others, the last equals it
    found = separability(X, y, quasi=False).certificate
    assert {terms[0][0] for terms in found.approximate.left_out} >= {206}
    assert verify(found.to_json(), X, y).holds


def test_rows_that_do_not_span_leave_the_finer_question_to_rational_arithmetic():
    rng = np.random.default_rng(1)
    X = rng.integers(-3, 4, (700, 205))
    y = rng.integers(0, 2, 700)
    X[:, 204] = 0
    X[5, 204] = 2 * y[5] - 1  # row 5 alone is separated, by the last column
    verdict = separability(X, y)
    assert verdict.status == "quasi-separable"
    assert verdict.strict_rows.tolist() == [5]
    assert separability(X, y, quasi=False).certificate.approximate is not None


def test_two_of_many_classes_are_proved_by_approximate_multipliers():
    X, y = normal_question(700, 230)
    labels = np.r_[y, 2, 2]
    X = np.vstack([X, 50.0 + np.zeros((2, 230))])
    verdict = separability(X, labels, quasi=False)
    assert verdict.status == "inseparable"
    assert set(verdict.certificate.approximate.rivals) == {0, 1}
    assert verify(verdict.certificate, X, labels).holds


@pytest.mark.parametrize("seed", range(3))
def test_many_dense_rows_are_settled_by_few_of_them(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((4000, 210))
    random = separability(X, rng.integers(0, 2, 4000))
    assert random.status == "overlapping"
    assert len(random.certificate.approximate.rows) < 1500
    ruled = (X @ rng.standard_normal(210) > 0).astype(int)
    verdict = separability(X, ruled)
    assert verdict.status == "separable"


def test_rows_of_zeros_need_no_coordinate():
    X, y = np.zeros((4, 2)), [0, 0, 1, 1]
    near = Approximate((0, 2), (), (1.0, 1.0), (((0, 1),), ((1, 1),)))
    assert holds(X, y, near, "inseparable")
    assert holds(X, y, near, "overlapping")
    X[3, 1] = 1.0
    assert holds(X, y, near, "inseparable")
    assert not holds(X, y, near, "overlapping")


def test_where_halves_of_normal_numbers_vanish_nothing_is_checked(monkeypatch):
    """Some libraries let the processor count subnormal numbers as zero; what is exact is not so then."""
    monkeypatch.setattr(float_environment, "SMALLEST_NORMAL", 2.0**-1074)
    X, y, near = gaussian(6, 2)
    with pytest.raises(CertificateError, match="subnormal"):
        holds(X, y, near)
    with pytest.raises(CertificateError, match="subnormal"):
        separability(X, y)
