"""The formulas of docs/certificates.md are those of the checker: read off the page, and compared."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from separatrix.certificates import claims, fields, numbers, perturbation, scores, zeros
from separatrix.inputs.data import Data

PAGE = " ".join((Path(__file__).parents[2] / "docs" / "certificates.md").read_text().split())


def stated(start, end="`"):
    """What stands on the page between two texts, as Python."""
    found = re.search(re.escape(start) + "(.*?)" + re.escape(end), PAGE)
    assert found, f"the page has no {start!r}"
    text = found[1].replace("-2w", "(-2 * w)").replace("^", "**")
    text = text.replace("log2", "math.log2").replace("max_j b_j", "max_b")
    return re.sub(r"(?<=[\w)]) (?=[(\w])|(?<=\))(?=\()", " * ", text)


def value(text, **names):
    return eval(text, {"math": math}, names)


def rounding(d, degree):
    """The first term of the bound of a score, where ``sum_j |w_j x_j|`` is 2**53."""
    n = value(stated("let `n = "), d=d, D=degree)
    return value(stated("off by at most `", " + n v"), n=n, S=2.0**53)


def signs_of(d, degree, kind="binary"):
    n_classes = 3 if kind == "joint" else 2
    labels = tuple("abc"[:n_classes])
    data = Data(np.ones((n_classes, d)), np.arange(n_classes), labels, labels, None)
    degrees = tuple(range(1, degree + 1))
    claim = claims.Certificate("separable", kind, labels, (), False, (), n_classes, d, "", degrees=degrees)
    return scores.Signs(claim, data)


def plane_of(signs, kind, *, whole=False):
    width, vectors = signs.matrix.shape[1], signs.n_classes if kind == "joint" else 1
    return scores.ClaimedPlane(
        given=((1.0 if whole else 1.5,) * width,) * vectors,
        weights=np.ones((vectors, width)),
        magnitudes=np.zeros((vectors, width)),
        tight=np.zeros((signs.n_classes, vectors), bool),
    )


def is_proved(score, signs, kind):
    """Whether a score is proved positive where ``sum_j |w_j x_j|`` is 2**53, and bounds so small numbers."""
    plane, vectors = plane_of(signs, kind), signs.n_classes if kind == "joint" else 1
    outputs = np.full((1, vectors), -1e9)
    outputs[0, 0] = score
    if kind == "joint":
        outputs[0, 1] = 0.0
    row = np.array([0 if kind == "joint" else 1])
    return not scores._undecided(outputs, np.full((1, vectors), 2.0**53), row, plane, signs)[0].size


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("columns", [1, 2, 4])
def test_the_rounding_bound_of_scores_is_that_of_the_page(columns, degree):
    signs = signs_of(columns, degree)
    d = signs.matrix.shape[1]  # columns, or products
    assert d == sum(math.comb(columns + each - 1, each) for each in range(1, degree + 1))
    bound = rounding(d, degree)
    assert bound == 2 * (d + 8 + degree)
    assert not is_proved(bound, signs, "binary")
    assert is_proved(np.nextafter(bound, np.inf), signs, "binary")


@pytest.mark.parametrize("degree", [1, 2])
def test_the_difference_of_two_scores_has_twice_the_sum_of_their_bounds(degree):
    assert (
        "For `joint`, the difference of two scores is off by at most twice the sum of their two bounds"
        in PAGE
    )
    signs = signs_of(2, degree, "joint")
    each = rounding(signs.matrix.shape[1], degree)
    assert not is_proved(2 * (each + each), signs, "joint")
    assert is_proved(np.nextafter(4 * each, np.inf), signs, "joint")


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_the_terms_for_tiny_numbers_are_those_of_the_page(degree):
    """The bound of a score whose rounding counts for nothing."""
    signs, largest = signs_of(2, degree), 1.0  # the data are ones
    d = signs.matrix.shape[1]
    n = value(stated("let `n = "), d=d, D=degree)
    v = value(stated("with `v = ") if degree > 1 else stated("or `v = "), D=degree, L=largest)
    given = ((2.0**40,) * d,)
    values, magnitudes = scores.rounded(given)
    plane = scores.ClaimedPlane(given, values, magnitudes, np.zeros((2, 1), bool))
    lost_of_data = value(stated("S + ", " sum_j |w_j|"), n=n, v=v) * d * 2.0**40
    underflow = value(stated("sum_j |x_j| + "), n=n)
    bounds = np.zeros((1, 1))

    def proved(score):
        return not scores._undecided(np.full((1, 1), score), bounds, np.array([1]), plane, signs)[0].size

    total = lost_of_data + underflow
    assert proved(total * (1.0 + 2.0**-40))
    assert not proved(total * (1.0 - 2.0**-40))
    # what is lost of tiny weights, as the rounding of their magnitudes
    lost_of_weights = value(stated("sum_j |w_j| + ", " sum_j |x_j|"), n=n)
    tiny = scores.rounded(((0.0,) * d,))[1]
    assert 2 * n * 2.0**-53 * tiny[0, 0] == lost_of_weights


def test_overflow_decides_nothing_beyond_the_magnitude_of_the_page():
    limit = value(stated("If `S < ").replace("`", ""))
    signs = signs_of(2, 1)
    plane, row, score = plane_of(signs, "binary"), np.array([1]), np.full((1, 1), 2.0**1023)
    assert scores._undecided(score, np.full((1, 1), limit), row, plane, signs)[0].size
    below = np.full((1, 1), np.nextafter(limit, 0.0))
    assert not scores._undecided(score, below, row, plane, signs)[0].size


def test_what_is_read_at_most_is_what_the_page_says():
    found = re.search(
        r"at most 2\^(\d+) characters of text; 2\^(\d+) characters per number, .*?; "
        r"2\^(\d+) entries per list; 2\^(\d+) products per row",
        PAGE,
    )
    limits = fields.MAX_TEXT, fields.MAX_DIGITS, fields.MAX_ENTRIES, claims.MAX_MONOMIALS
    assert tuple(2 ** int(each) for each in found.groups()) == limits
    assert value(stated("and `p k > ")) == perturbation.MAX_NUMBERS
    assert int(re.search(r"limbs of (\d+) bits", PAGE)[1]) == zeros.BITS


def test_whole_scores_are_not_rounded_below_the_magnitude_of_the_page():
    limit = 2.0 ** int(re.search(r"the sums of magnitudes stay below 2\^(\d+)", PAGE)[1])
    signs, plane = signs_of(2, 1), plane_of(signs_of(2, 1), "binary", whole=True)
    for common, expected in ((limit, False), (np.nextafter(limit, 0.0), True)):
        assert scores._never_rounded(np.ones((1, 2)), plane, np.full((1, 1), common), signs) == expected
    assert not scores._never_rounded(np.full((1, 2), 0.5), plane, np.ones((1, 1)), signs)


@pytest.mark.parametrize("rows", [1, 3, 4, 1000])
@pytest.mark.parametrize("largest", [1, 7, 8, 4095])
def test_sums_of_rows_are_cut_to_the_bits_of_the_page(rows, largest, monkeypatch):
    assert int(re.search(r"an integer multiplier below 2\^(\d+)", PAGE)[1]) == numbers.COARSE.bit_length() - 1
    formula, c = stated("the leading `b = "), largest.bit_length()
    assert "multipliers (of one class, those of a row added up) below 2^c" in PAGE
    seen, cut_off = [], numbers._cut

    def watched(block, shifts):
        seen.append(int(shifts[0]))
        return cut_off(block, shifts)

    monkeypatch.setattr(numbers, "_cut", watched)
    total = [{}]
    block, table = np.full((rows, 1), 0.75), np.full((rows, 1), float(largest))
    numbers._add_products(total, block, table, 0, lambda: None)
    assert seen == [value(formula, c=c, n=rows, ceil=math.ceil)]
    assert (
        sum(Fraction(2) ** at * found for at, found in total[0][0].items()) == Fraction(3, 4) * rows * largest
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_bounds_of_approximate_multipliers_are_those_of_the_page(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 8))
    k = p + int(rng.integers(1, 9))
    rows = rng.uniform(-1.0, 1.0, (k, p))
    m = rng.uniform(0.5, 1.0, k)
    B = perturbation.normal_inverse(rows)
    N = value(stated("Let `N = "), p=p, k=k)
    h = value(stated("and `h = "), N=N)
    b = np.abs(B).sum(axis=1)
    t = value(stated("`t = "), p=p, k=k, max_b=b.max())
    e = np.abs(np.eye(p) - rows.T @ B).sum(axis=1)
    assert "`q = (1 + 8h) max_i (e_i + h a_i + t)`" in PAGE
    q = (1 + 8 * h) * (e + h * (np.abs(rows.T) @ b) + t).max()
    condition = stated("the largest integer with `")
    w = max(w for w in range(53) if value(condition, w=w, k=k))
    E = value(stated("and `E = "), h=h, k=k, w=w)
    (a1, a2, a3), (m1, m2, m3) = (cut(each, w) for each in (rows.T, m))
    assert "`f = fl(A1 m1 + (A1 m2 + A2 m1))`" in PAGE
    assert "`g = fl(f + (A1 m3 + A2 (m2 + m3) + A3 m))`" in PAGE
    assert "`r = (1 + 8h) max_i (|g_i| + 2 u |f_i| + E)`" in PAGE
    f = a1 @ m1 + (a1 @ m2 + a2 @ m1)
    g = f + (a1 @ m3 + a2 @ (m2 + m3) + a3 @ m)
    r = (1 + 8 * h) * (np.abs(g) + 2 * 2.0**-53 * np.abs(f) + E).max()
    assert "`(1 + 8h) (b_j + t) r / (1 - q) < m_j`" in PAGE
    scaled = perturbation.Scaled(rows, m)
    found = perturbation.bounds(scaled, B)
    assert found.q == pytest.approx(q, rel=1e-9)
    assert (1 + 8 * h) * perturbation.residual(scaled)[1] == pytest.approx(r, rel=1e-9)
    if found.q < 1.0:
        assert found.share == pytest.approx(((1 + 8 * h) * (b + t) * r / (1 - q) / m).max(), rel=1e-9)


def cut(values, w):
    """Multiples of 2**-w, multiples of 2**-2w, and the rest."""
    first = np.rint(values * 2.0**w) / 2.0**w
    second = np.rint((values - first) * 4.0**w) / 4.0**w
    return first, second, values - first - second
