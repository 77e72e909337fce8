"""The verdict: never wrong, never undecided on small problems, however the rows are scaled or placed."""

from __future__ import annotations

import itertools
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix.certificates.check import verify
from separatrix.errors import InputError, LabelError, SeparationWarning
from separatrix.estimators.linear import Perceptron
from separatrix.geometry.convex import common_point
from separatrix.geometry.degree import smallest_separating_degree
from separatrix.proofs import signed_rows
from separatrix.proofs.strategies import interior_point, linear_program, sparse_elimination
from separatrix.proofs.verdict import check_separation, separability
from tests import naive
from tests.problems import small_problem, thin


def pl_frame(rows):
    return pl.DataFrame(rows, schema=["a", "b"], orient="row", strict=False)


def pa_table(rows):
    return pa.table(dict(zip("ab", zip(*rows, strict=True), strict=True)))


def decided(X, y, **options):
    """The status, after the certificate passed the checker as text; as a small and as a large question."""
    statuses = set()
    for limit in {signed_rows.SMALL, 0}:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(signed_rows, "SMALL", limit)
            verdict = separability(X, y, **options)
        assert verdict.certificate is not None, "undecided"
        check = verify(verdict.certificate.to_json(), X, y)
        assert check.holds, check.reason
        statuses.add(verdict.status)
    (status,) = statuses
    return status


def truth(X, y, lift=True):
    return naive.separation(
        naive.exact_signed_rows(np.asarray(X).tolist(), np.asarray(y).tolist(), lift=lift)
    )


@pytest.mark.parametrize(
    ("n_columns", "gap"),
    [
        *((n_columns, gap) for n_columns in (3, 10, 25, 50) for gap in (2.0**-40, 0.0)),
        *((n_columns, -(2.0**-40)) for n_columns in (3, 10, 25)),
        pytest.param(50, -(2.0**-40), marks=pytest.mark.slow),
    ],
)
def test_a_margin_of_a_trillionth_is_seen(n_columns, gap):
    X, y = thin(n_columns, 6 * n_columns, gap, seed=n_columns)
    expected = "separable" if gap > 0 else "overlapping"
    assert decided(X, y) == expected


TOUCHING = {
    "point": ([[0, 0], [-1, 1], [-1, -1], [0, 0], [1, 1], [1, -1]], [0, 0, 0, 1, 1, 1]),
    "corner on edge": ([[0, 2], [0, -2], [-3, 0], [0, 0], [1, 1]], [0, 0, 0, 1, 1]),
    "edge on edge": ([[0, 2], [0, -2], [-3, 0], [0, 1], [0, -3], [5, 0]], [0, 0, 0, 1, 1, 1]),
    "face on face": (
        [[0, 4, 0], [0, -4, 4], [0, -4, -4], [-1, 0, 0], [0, 1, 0], [0, 0, 1], [0, -1, -1], [1, 0, 0]],
        [0, 0, 0, 0, 1, 1, 1, 1],
    ),
    "corner on face": (
        [[0, 4, 0], [0, -4, 4], [0, -4, -4], [-1, 0, 0], [0, 0, 0], [1, 0, 0], [1, 1, 1]],
        [0, 0, 0, 0, 1, 1, 1],
    ),
}


@pytest.mark.parametrize("case", TOUCHING)
def test_hulls_that_touch_are_quasi_separable(case):
    X, y = TOUCHING[case]
    assert truth(X, y) == "quasi-separable"
    assert decided(X, y) == "quasi-separable"
    third = np.array(X, dtype=float) / 4 + 0.125
    assert decided(third, y) == "quasi-separable"


@pytest.mark.parametrize("case", TOUCHING)
def test_hulls_that_almost_touch_are_separable(case):
    X, y = TOUCHING[case]
    X = np.array(X, dtype=float)
    X[:, 0] += np.where(np.array(y) == 1, 2.0**-45, 0.0)
    assert decided(X, y) == "separable"
    X[:, 0] -= np.where(np.array(y) == 1, 2.0**-44, 0.0)
    assert decided(X, y) == truth(X, y)


HARD = {
    "one row a class": ([[1.0, 2.0], [1.0, 2.0 + 2.0**-51]], [0, 1], True, "separable"),
    "the same row twice": ([[1.0, 2.0], [1.0, 2.0]], [0, 1], True, "overlapping"),
    "all zero": ([[0.0], [0.0], [0.0]], [0, 1, 1], True, "overlapping"),
    "all zero, no intercept": ([[0.0], [0.0]], [0, 1], False, "overlapping"),
    "a zero row, no intercept": ([[0, 0], [1, 0], [-1, 0]], [1, 1, 0], False, "quasi-separable"),
    "signed zeros": ([[0.0, 1.0], [-0.0, 1.0]], [0, 1], True, "overlapping"),
    "equal columns": ([[1, 1, 1], [2, 2, 2], [3, 3, 3], [2, 2, 2]], [0, 0, 1, 1], True, "quasi-separable"),
    "more columns than rows": (np.eye(3, 9), [0, 1, 0], True, "separable"),
    "integers above 2**53": ([[2**53], [2**53 + 1], [2**53 + 2]], [0, 1, 1], True, "separable"),
    "integers above 2**53, mixed": ([[2**53], [2**53 + 1], [2**53 + 2]], [0, 1, 0], True, "overlapping"),
    "largest integers": ([[2**63 - 1, 1], [2**63 - 2, 1], [-(2**63), 0]], [0, 1, 1], True, "separable"),
    "denormals": ([[5e-324], [1e-323], [1.5e-323]], [0, 0, 1], True, "separable"),
    "denormals, mixed": ([[5e-324], [1e-323], [1.5e-323]], [0, 1, 0], True, "overlapping"),
    "denormals, no intercept": ([[5e-324], [1e-323], [-5e-324]], [1, 1, 0], False, "separable"),
    "huge": ([[1.7e308, 1.0], [-1.7e308, 1.0], [1.6e308, 0.0]], [1, 0, 1], True, "separable"),
    "a huge and a tiny column": (
        [[1e150, 1e-150], [1e150, 2e-150], [-1e150, 3e-150], [1e150, 4e-150]],
        [0, 0, 1, 1],
        True,
        "separable",
    ),
    "huge and tiny in one column": (
        [[1e150], [1e-150], [-1e-150], [-1e150]],
        [1, 1, 0, 0],
        True,
        "separable",
    ),
    "huge and tiny in one column, mixed": (
        [[1e150], [1e-150], [2e-150], [-1e150]],
        [1, 0, 1, 1],
        True,
        "overlapping",
    ),
}


@pytest.mark.parametrize("case", HARD)
def test_hard_cases(case):
    X, y, lift, expected = HARD[case]
    assert truth(X, y, lift) == expected
    assert decided(np.array(X), y, fit_intercept=lift) == expected
    if np.array(X).dtype.kind == "f":
        assert decided(sparse.csr_array(np.array(X)), y, fit_intercept=lift) == expected


@pytest.mark.parametrize("part", range(10))
def test_verdicts_are_those_of_a_rational_simplex_method(part):
    for seed in range(part * 250, (part + 1) * 250):
        X, y, lift = small_problem(seed)
        expected = truth(X, y, lift)
        assert decided(X, y, fit_intercept=lift) == expected, seed
        plain = separability(X, y, fit_intercept=lift, quasi=False)
        assert plain.separable == (expected == "separable"), seed


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_verdicts_are_those_of_a_rational_simplex_method_at_length(part):
    for seed in range(10_000 + part * 500, 10_000 + (part + 1) * 500):
        X, y, lift = small_problem(seed)
        assert decided(X, y, fit_intercept=lift) == truth(X, y, lift), seed


@pytest.mark.parametrize("seed", range(80))
def test_verdicts_on_many_classes_are_those_of_a_rational_simplex_method(seed):
    """Groups of rows around a few places: some pairs of classes overlap, others are far apart."""
    rng = np.random.default_rng(seed)
    n_classes, n_columns = int(rng.integers(3, 6)), int(rng.integers(1, 3))
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 9)])
    places = rng.integers(-6, 7, (n_classes, n_columns))
    X = places[y] + rng.integers(-2, 3, (y.size, n_columns))
    lift = bool(rng.integers(2))
    assert decided(X, y, fit_intercept=lift) == truth(X, y, lift)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), flat=st.booleans())
def test_every_plane_that_does_not_hold_all_overlapping_rows_has_one_on_its_wrong_side(seed, flat):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (12, 3)), np.arange(12) % 2
    X[:, 2] = X[:, 0] + X[:, 1] if flat else X[:, 2]
    verdict = separability(X, y)
    held = np.array([1, 1, -1, 0])  # holds all rows that are flat
    planes = [*rng.integers(-3, 4, (40, 4)), held, -held]
    scores = [(2 * y - 1) * (X @ plane[:3] + plane[3]) for plane in planes if plane.any()]
    if verdict.status == "overlapping":
        assert all((found < 0).any() or not found.any() for found in scores)
        assert "does not contain all rows" in verdict.summary()
    if flat:
        assert not scores[-1].any()  # a plane that has none on its wrong side, whatever the labels
    if verdict.status == "quasi-separable":
        assert "at least one row strictly on its own side" in verdict.summary()
        assert verdict.strict_rows.size


def test_two_classes_that_overlap_prove_it_for_all():
    rng = np.random.default_rng(0)
    y = np.arange(3_000) % 6
    X = rng.standard_normal((3_000, 4)) + 20.0 * np.eye(6, 4)[np.where(y == 5, 1, y)]
    verdict = separability(X, y)
    assert verdict.status == "quasi-separable"  # the other classes are separated
    assert {y[row] for row, _ in verdict.witness_rows} == {1, 5}
    assert all({y[row], rival} == {1, 5} for row, rival in verdict.witness_rows)
    assert verify(verdict.certificate, X, y).holds


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_order_scale_and_storage_do_not_matter(seed, how):
    X, y, lift = small_problem(seed)
    status = decided(X, y, fit_intercept=lift)
    rng = np.random.default_rng(how)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    scaled = np.ldexp(X.astype(float), rng.integers(-490, 490, X.shape[1]).astype(np.int32))
    if not lift:
        scaled = np.ldexp(scaled, rng.integers(-20, 20, (len(X), 1)).astype(np.int32))
    assert decided(scaled[rows][:, columns], y[rows], fit_intercept=lift) == status
    assert decided(sparse.csr_array(X[rows]), y[rows], fit_intercept=lift) == status
    assert decided(-X, 1 - y if y.max() == 1 else y, fit_intercept=lift) == status


def test_multiclass_questions_are_told_apart():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    y = np.array(["a", "a", "b", "b", "c", "c"])
    assert decided(X, y) == "separable"
    ovr = separability(X, y, multiclass="one-vs-rest")
    assert {key: part.status for key, part in ovr.parts.items()} == {
        "a": "separable",
        "b": "overlapping",
        "c": "separable",
    }
    assert ovr.separable is False
    pairs = separability(X, y, multiclass="pairwise")
    assert pairs.status == "separable"
    assert set(pairs.parts) == {("a", "b"), ("a", "c"), ("b", "c")}
    for verdict in (*ovr.parts.values(), *pairs.parts.values()):
        assert verify(verdict.certificate, X, y).holds
    questions = {verdict.certificate.question for verdict in (*ovr.parts.values(), *pairs.parts.values())}
    assert questions == {"one-vs-rest", "pair"}


def test_witness_weights_give_one_point_in_both_hulls():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-5, 6, (30, 3)), rng.integers(0, 2, 30)
    verdict = separability(X, y)
    assert verdict.status == "overlapping"
    assert len(verdict.witness_rows) <= 5
    for label in (0, 1):
        assert sum((w for row, w in verdict.witness_rows.items() if y[row] == label), Fraction()) == 1
    assert len(common_point(X, y, verdict.witness_rows)) == 3


def test_an_indicator_that_never_fails_is_named_with_its_sign():
    """One group without a single failure: its coefficient is infinite, the others' are not."""
    rng = np.random.default_rng(1)
    age, group = rng.integers(20, 60, 80), np.arange(80) % 8 == 0
    y = np.where(group, 1, rng.integers(0, 2, 80))
    frame = pd.DataFrame({"age": age, "treated": group.astype(int)})
    with pytest.warns(SeparationWarning, match="treated to \\+infinity"):
        verdict = check_separation(frame, y)
    assert verdict.status == "quasi-separable"
    assert verdict.responsible_features == {"treated": np.inf}
    assert np.array_equal(verdict.strict_rows, np.flatnonzero(group))
    assert "treated to +infinity" in verdict.summary()
    assert "<table" in verdict._repr_html_()
    assert verdict.to_dict()["responsible_features"] == {"treated": "+infinity"}


def test_rows_of_zero_weight_do_not_count():
    X, y = [[0], [1], [2], [3]], [0, 1, 0, 1]
    assert decided(X, y) == "overlapping"
    verdict = separability(X, y, sample_weight=[1, 0, 1, 5])
    assert verdict.status == "separable"
    assert verify(verdict.certificate, X, y).holds
    with pytest.raises(LabelError, match="positive weight"):
        separability(X, y, sample_weight=[1, 0, 0, 0])
    with pytest.raises(InputError, match="sample_weight"):
        separability(X, y, sample_weight=[1, -1, 1, 1])
    with pytest.raises(InputError, match="sample_weight must hold numbers"):
        separability(X, y, sample_weight=["a", "b", "c", "d"])


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[1.0], [np.nan]], [0, 1], "NaN: row 1, column 0"),
        ([[1.0], [-np.inf]], [0, 1], "infinity: row 1"),
        ([1.0, 2.0], [0, 1], "two dimensions"),
        ([[1.0], [2.0]], [0, 0], "one class"),
        ([[1.0], [2.0]], [0, 1, 1], "2 rows and y has 3 labels"),
        ([["a"], ["b"]], [0, 1], "do not contain numbers: 0"),
        ([[2**70 + 1], [1]], [0, 1], "float64 cannot hold exactly"),
        ([[Fraction(1, 3)], [Fraction(1, 2)]], [0, 1], "float64 cannot hold exactly: 1/3 in row 0"),
        (np.array([[2**53 + 1, 0.5], [1, 2.0]], dtype=object), [0, 1], "exactly: 9007199254740993 in row 0"),
        ({"a": 1}, [0, 1], "numbers"),
        (pd.DataFrame({"size": [1, 2], "colour": ["red", "blue"]}), [0, 1], "numbers: colour"),
        (pd.DataFrame({"size": [1, 2], "when": pd.Timestamp("2020-01-01")}), [0, 1], "numbers: when"),
        (pd.DataFrame({"grade": [1, 2]}).astype("category"), [0, 1], r"numbers: grade \(category\)"),
        (pd.DataFrame({"dose": [1, None]}, dtype="Int64"), [0, 1], r"NaN: row 1, column 0 \('dose'\)"),
        (np.ma.array([[1.0], [2.0]], mask=[[True], [False]]), [0, 1], "masked"),
        ([[1j], [2j]], [0, 1], "[Cc]omplex"),
        (np.zeros((0, 2)), [], "no rows"),
        ([[1.0], [2.0]], [None, "a"], "no label in row 0"),
        ([[1.0], [2.0]], pd.Series(["a", None], dtype="string"), "no label in row 1"),
        ([[1.0], [2.0]], np.ma.array([0, 1], mask=[True, False]), "masked"),
        ([[1.0], [2.0], [3.0]], [1, "1", 1], "mixes text and numbers"),
        ([[1.0], [2.0]], [0.25, 0.5], "fractions.*0.25 in row 0"),
        ([[1.0], [2.0]], [[0, 1], [1, 0]], "one dimension"),
    ],
)
def test_bad_input_is_refused_with_a_reason(X, y, words):
    with pytest.raises((InputError, TypeError), match=words):
        separability(X, y)


@pytest.mark.parametrize("table", [lambda rows: rows, pd.DataFrame, pl_frame, pa_table])
def test_whole_numbers_beside_fractions_are_exact_or_refused(table):
    large = 1 << 53
    with pytest.raises(InputError, match=f"{large + 1} in row 0, column 0"):
        separability(table([[large + 1, 0.5], [large, 0.5]]), [0, 1])
    assert decided(table([[large + 2, 0.5], [large, 0.5]]), [0, 1]) == "separable"
    assert decided(table([[large + 1, 0], [large, 0]]), [0, 1]) == "separable"


def test_the_columns_of_an_arrow_table_keep_their_names():
    table = pa.table({"dose": [1, 2, 3], "age": [7, 7, 7]})
    assert list(separability(table, [0, 0, 1]).coefficients) == ["dose", "age", "(intercept)"]
    with pytest.raises(TypeError, match="do not contain numbers: sex"):
        separability(table.append_column("sex", [["f", "m", "f"]]), [0, 0, 1])


def test_columns_of_one_name_are_told_apart():
    frame = pd.DataFrame([[0, 1, 1], [1, 5, 0], [2, 0, 1]], columns=["a", "a", "(intercept)"])
    found = separability(frame, [0, 0, 1]).coefficients
    assert list(found) == ["a (column 0)", "a (column 1)", "(intercept) (column 2)", "(intercept)"]


@pytest.mark.parametrize("option", [{"quasi": "no"}, {"fit_intercept": 0}, {"time_limit": "1"}])
def test_an_option_of_another_kind_is_refused(option):
    with pytest.raises(InputError, match=f"{next(iter(option))!r} parameter"):
        separability([[0], [1]], [0, 1], **option)


def test_unknown_multiclass_is_refused():
    with pytest.raises(InputError, match="one-vs-rest"):
        separability([[0], [1]], [0, 1], multiclass="ovo")


def test_columns_that_depend_on_each_other_are_not_identified():
    """A column of zeros, a constant and a copy cannot be told from others; what is left has its answers."""
    treated = np.array([1, 1, 0, 0, 0, 0, 0, 0])
    frame = pd.DataFrame(
        {"treated": treated, "zero": 0, "one": 1, "copy": treated, "x": [1, 2, 3, 4, 1, 2, 3, 4]}
    )
    y = np.array([1, 1, 0, 1, 1, 0, 1, 0])
    verdict = separability(frame, y)
    assert verdict.not_identified == ["treated", "zero", "one", "copy", "(intercept)"]
    assert verdict.coefficients["x"] == "finite"
    assert not verdict.responsible_features
    assert "unidentified  treated, zero, one, copy, (intercept)" in verdict.summary()
    for labels, infinity in ((y, "+infinity"), (1 - y, "-infinity")):
        assert separability(frame[["treated", "x"]], labels).coefficients["treated"] == infinity
    with pytest.warns(SeparationWarning, match="treated, zero, one, copy, .* are not identified"):
        check_separation(frame, y)


def test_everything_is_infinite_where_separation_is_complete():
    X = [[0.0, 1.0], [1.0, 0.0], [5.0, 1.0], [6.0, 0.0]]
    features = separability(X, ["a", "a", "b", "b"]).responsible_features
    assert set(features) == {"x0", "x1", "(intercept)"}
    assert features["x0"] == np.inf


def squared_distance(points):
    """From the origin to the hull of points in the plane, exactly: to a point, or to a side."""
    best = min(x * x + y * y for x, y in points)
    for (ax, ay), (bx, by) in itertools.combinations(points, 2):
        dx, dy = bx - ax, by - ay
        along = -(ax * dx + ay * dy)
        if 0 < along < dx * dx + dy * dy:
            best = min(best, (ax * by - ay * bx) ** 2 / (dx * dx + dy * dy))
    return best


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_the_bracket_holds_the_margin_exactly(seed):
    """In one column the best lifted margin is the distance of the origin from a hull in the plane."""
    rng = np.random.default_rng(seed)
    scale = float(rng.choice([1.0, 0.1, 1e-5, 1e7]))
    left, right = rng.integers(-20, 0, 3) * scale, rng.integers(1, 20, 3) * scale
    X, y = np.concatenate([left, right])[:, None], np.repeat([0, 1], 3)
    verdict = separability(X, y)
    lower, upper = map(Fraction, verdict.margin)
    z = [(s * Fraction(x), Fraction(s)) for x, s in zip(X[:, 0].tolist(), [-1] * 3 + [1] * 3, strict=True)]
    best = squared_distance(z)
    assert lower * lower <= best <= upper * upper
    weights = [Fraction(v) for v in verdict.certificate.weights[0]]
    proved = min(weights[0] * a + weights[1] * b for a, b in z) ** 2 / (weights[0] ** 2 + weights[1] ** 2)
    assert Fraction(99, 100) * proved <= lower * lower <= proved


def test_a_formula_asks_about_the_columns_it_names():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"PI": rng.integers(0, 50, 60), "kind": rng.choice(["a", "b"], 60)})
    frame["HG"] = rng.integers(0, 2, 60)
    frame["NV"] = frame["HG"] * (rng.random(60) < 0.4)  # only ever 1 where HG is 1
    with pytest.warns(SeparationWarning, match=r"NV to \+infinity"):
        verdict = check_separation("HG ~ NV + PI + kind", data=frame)
    assert verdict.status == "quasi-separable"
    assert verdict.responsible_features == {"NV": np.inf}
    assert np.array_equal(verdict.strict_rows, np.flatnonzero(frame["NV"]))
    with pytest.raises(InputError, match="has no '~'"):
        check_separation("NV + PI", data=frame)


def test_many_sparse_columns_are_partitioned_in_little_time():
    """Words: more columns than a linear program likes, and a few texts that are spam as well as not."""
    rng = np.random.default_rng(0)
    texts = sparse.random_array((900, 6000), density=0.004, rng=rng, format="csr")
    texts.data = rng.integers(1, 4, texts.nnz).astype(float)
    y = rng.integers(0, 2, 900)
    both = sparse.csr_array(sparse.vstack([texts, texts[:3]], format="csr"))
    verdict = separability(both, np.concatenate([y, 1 - y[:3]]))
    assert verdict.status == "quasi-separable"
    assert verdict.strict_rows.tolist() == list(range(3, 900))
    assert verify(verdict.certificate, both, np.concatenate([y, 1 - y[:3]])).holds


@pytest.mark.parametrize("whole", [True, False])
def test_many_sparse_columns_are_proved_inseparable_without_a_linear_program(whole, monkeypatch):
    generator = np.random.default_rng(3)
    X = sparse.random_array((400, 120), density=0.05, rng=generator, format="csr")
    if whole:
        X.data = generator.integers(1, 4, X.nnz).astype(float)
    y = generator.integers(0, 2, 400)
    assert decided(X, y, quasi=False) == "inseparable"
    monkeypatch.setattr(signed_rows, "SMALL", 0)
    for module in (interior_point, sparse_elimination):
        monkeypatch.setattr(module, "FEWEST", 100)
    assert separability(X, y, quasi=False, time_limit=1e-9).status == "undecided"
    monkeypatch.setattr(linear_program.WorkingProgram, "solve", None)
    assert decided(X, y, quasi=False) == "inseparable"
    assert decided(X[:100], y[:100], quasi=False) == "separable"
    lower, upper = separability(X[:100], y[:100], quasi=False).margin
    best = sx.MaxMargin(fit_intercept="lifted").fit(X[:100], y[:100])
    assert lower <= best.margin_upper_
    assert best.margin_lower_ <= upper


def test_when_time_is_up_what_was_proved_is_said():
    X, y = [[0], [1], [1], [2], [3]], [0, 0, 1, 1, 0]
    assert decided(X, y) == "overlapping"
    assert decided(X, y, time_limit=1e-9) == "inseparable"  # two equal rows need no search
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2000, 40)), rng.integers(0, 2, 2000)
    verdict = separability(X, y, time_limit=1e-9)
    assert (verdict.status, verdict.certificate) == ("undecided", None)
    assert verdict.margin[0] < 0 < verdict.margin[1]
    with pytest.raises(InputError, match="positive number of seconds"):
        separability(X, y, time_limit=0)


def test_no_answer_fills_the_screen():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((500, 2)), rng.integers(0, 2, 500)
    verdict = separability(X, y)
    certificate = verdict.certificate
    run = Perceptron(trace=True, max_updates=50, order="cyclic")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = run.fit(X, y).result_
    degree = smallest_separating_degree(X, y, 1)
    for answer in (verdict, certificate, certificate.multipliers, result, result.trace, degree):
        assert len(repr(answer)) < 150
    assert "overlapping" in repr(verdict)
    assert "overlapping" in repr(certificate)
    assert "50 mistakes" in repr(result)


def test_three_classes_at_once_are_not_said_to_have_one_plane():
    X = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [1.0, 1.0]])
    cases = {
        "separable": (X[:3], [0, 1, 2], {}),
        "quasi-separable": (X[[0, 0, 1, 2]], [0, 1, 1, 2], {}),
        "overlapping": (X[[0, 0, 0]], [0, 1, 2], {}),
        "inseparable": (X[[0, 0, 0]], [0, 1, 2], {"quasi": False}),
    }
    for status, (rows, labels, options) in cases.items():
        verdict = separability(rows, labels, **options)
        assert (verdict.status, verdict.joint) == (status, True)
        assert "plane" not in verdict.meaning
        assert verdict.meaning in verdict.summary()
    assert "plane" in separability(X[:2], [0, 1]).meaning


def test_a_question_of_parts_says_which_is_the_hardest():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 2]
    assert separability(X, y, multiclass="pairwise").meaning == (
        "Every pair of classes can be separated with an intercept."
    )
    rest = separability(X, y, multiclass="one-vs-rest")
    assert rest.meaning == (
        "Not every class can be separated from the rest with an intercept. The hardest question that "
        f"was decided is {rest.parts[1].status}."
    )


@pytest.mark.parametrize("options", [{}, {"kernel": "poly"}, {"kernel": "rbf"}, {"multiclass": "pairwise"}])
def test_a_pickled_verdict_says_the_same_without_the_data(options):
    X = np.random.default_rng(0).integers(-3, 4, (5000, 3)).astype(float)
    y = (X[:, 0] > 0) + 1 * ("multiclass" in options) * (X[:, 1] > 0)
    few = X[:200], y[:200]
    verdict = separability(*(few if options.get("kernel") == "rbf" else (X, y)), **options)
    pickled = pickle.dumps(verdict)
    found = pickle.loads(pickled)
    for name in ("status", "coefficients", "witness_rows", "certificate", "claim"):
        assert getattr(found, name) == getattr(verdict, name)
    assert str(found) == str(verdict)
    certificate = pickle.dumps((verdict.certificate, [each.certificate for each in verdict.parts.values()]))
    assert len(pickled) < 10_000 + 2 * len(certificate) + 8 * 5000
