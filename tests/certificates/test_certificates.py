"""No false proof: a certificate that was tampered with is refused, or what it says is true anyway."""

from __future__ import annotations

import copy
import json
import math
import operator
import random
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from separatrix.certificates.check import Check, verify
from separatrix.certificates.claims import Certificate
from separatrix.certificates.scores import Signs, first_wrong
from separatrix.errors import CertificateError, InputError, SeparatrixError
from separatrix.inputs.data import read_data
from separatrix.proofs.exact.integer_rows import products
from separatrix.proofs.verdict import separability
from tests import fuzz_certificates, naive
from tests.problems import small_problem

PRIMES = (2147483647, 2147483629, 2147483587)  # the largest below 2**31


def true_of(fields, X, y):
    """Whether the claim is right about the rows that its question leaves in, by a rational simplex."""
    question = fields["question"]
    rows = [i for i in range(len(y)) if i not in question["excluded"]]
    X, y = np.asarray(X)[rows].tolist(), np.asarray(y)[rows].tolist()
    chosen = question["chosen"]
    if question["kind"] == "one-vs-rest":
        y = [int(str(label) == question["classes"][chosen[0]]) for label in y]
    elif question["kind"] == "pair":
        names = [question["classes"][c] for c in chosen]
        X = [x for x, label in zip(X, y, strict=True) if str(label) in names]
        y = [names.index(str(label)) for label in y if str(label) in names]
    if len(set(y)) < 2:
        return True  # one side of a plane is never wrong, and multipliers are checked by arithmetic alone
    truth = naive.separation(naive.exact_signed_rows(X, y, lift=question["lift"]))
    if fields["claim"] == "inseparable":
        return truth != "separable"
    return truth == fields["claim"]


def places(value, path=()):
    """Every leaf of a JSON document."""
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for i in range(len(value)):
            yield from places(value[i], (*path, i))
    else:
        yield path


def changed(value, how):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + (-1, 1)[how % 2]
    if not isinstance(value, str):
        return ["0x1.0p+0", "1", None][how % 3]
    if "p" in value and value.lstrip("-").startswith("0x"):
        number = float.fromhex(value)
        return [-number, 0.0, number * 2, number + 1.0, number * (1 + 2**-50)][how % 5].hex()
    if value.lstrip("-").isdigit() or value.lstrip("-").startswith("0x"):
        number = int(value, 0) if "x" in value else int(value)
        return str([-number, number + 1, number - 1, 0, 2 * number][how % 5])
    words = [
        "separable",
        "inseparable",
        "quasi-separable",
        "overlapping",
        "binary",
        "joint",
        "pair",
        "0" * 64,
    ]
    return words[how % len(words)]


@settings(max_examples=250, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.booleans())
def test_a_mutated_certificate_is_refused_or_true(seed, where, how, plain):
    X, y, lift = small_problem(seed)
    verdict = separability(X, y, fit_intercept=lift, quasi=not plain)
    fields = verdict.certificate.to_dict()
    paths = list(places(fields))
    *path, last = paths[where % len(paths)]
    mutated = copy.deepcopy(fields)
    target = mutated
    for step in path:
        target = target[step]
    target[last] = changed(target[last], how)
    try:
        check = verify(json.dumps(mutated), X, y, same_data=False)
    except CertificateError:
        return
    if check.holds:
        assert true_of(mutated, X, y)
    else:
        assert check.reason
    if mutated["data"]["sha256"] != fields["data"]["sha256"]:
        with pytest.raises(CertificateError, match="another hash"):
            verify(mutated, X, y)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(-3, 3))
def test_a_certificate_of_other_data_is_refused_or_true(seed, where, value):
    X, y, lift = small_problem(seed)
    certificate = separability(X, y, fit_intercept=lift).certificate
    other = X.copy()
    other.flat[where % X.size] = value
    if np.array_equal(other, X):
        assert verify(certificate, other, y).holds
        return
    with pytest.raises(CertificateError, match="another hash"):
        verify(certificate, other, y)
    if verify(certificate, other, y, same_data=False).holds:
        assert true_of(certificate.to_dict(), other, y)


def test_whatever_is_accepted_of_tampered_certificates_of_every_kind_is_true(tmp_path):
    fuzz_certificates.check_certificates(random.Random("in short"), 1500, tmp_path)


def test_two_checkers_agree_on_tampered_certificates_of_every_kind(tmp_path):
    fuzz_certificates.check_two(random.Random("two checkers in short"), 1_000, tmp_path)


def test_the_judge_of_tampered_certificates_knows_a_lie(monkeypatch):
    asked = fuzz_certificates.question(0)
    others = {"separable", "inseparable"} - {asked.fields["claim"]}
    lies = [{**asked.fields, "claim": claim} for claim in others]
    assert fuzz_certificates.is_true(asked.fields, asked.X, asked.y)
    assert not all(fuzz_certificates.is_true(lie, asked.X, asked.y) for lie in lies)
    monkeypatch.setattr(fuzz_certificates, "verify", lambda *_, **__: Check(True, "believed"))
    with pytest.raises(AssertionError, match="a lie was accepted"):
        [fuzz_certificates.holds(lie, asked.X, asked.y) for lie in lies]


def test_certificates_survive_json():
    for seed in range(30):
        X, y, lift = small_problem(seed)
        certificate = separability(X, y, fit_intercept=lift).certificate
        assert Certificate.from_json(certificate.to_json()) == certificate


def test_the_first_wrong_row_or_column_is_named():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    fields = separability(X, y).certificate.to_dict()
    fields["weights"] = [["0x1.0p+0", "-0x1.0p+1"]]
    assert verify(fields, X, y) == Check(False, "Row 2 is on the hyperplane.", row=2)
    fields["weights"] = [["-0x1.0p+0", "0x1.8p+0"]]
    assert verify(fields, X, y) == Check(False, "Row 0 is on the wrong side.", row=0)
    crossed = np.array([0, 1, 0, 1])
    fields = separability(X, crossed, quasi=False).certificate.to_dict()
    fields["multipliers"]["fine"][0] = str(int(fields["multipliers"]["fine"][0]) + 1)
    check = verify(fields, X, crossed)
    assert not check.holds
    assert "not zero in" in check.reason


def first_wrong_by_fractions(X, y, weights, lift):
    """The first signed row whose score is not positive, and its sign, in rational numbers."""
    for row, (x, label) in enumerate(zip(X, y, strict=True)):
        lifted = [*map(Fraction, x.tolist()), Fraction(1)] if lift else list(map(Fraction, x.tolist()))
        score = (1 if label else -1) * sum(map(operator.mul, lifted, map(Fraction, weights)), Fraction(0))
        if score <= 0:
            return f"Row {row} is {'on the wrong side' if score else 'on the hyperplane'}."
    return ""


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.booleans(), st.booleans())
def test_rows_on_the_plane_are_those_of_rational_arithmetic(seed, n_classes, lift, dense):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (12, 3)) * (rng.random((12, 3)) < 0.5) * 0.1
    y = np.r_[:n_classes, rng.integers(0, n_classes, 12 - n_classes)]
    joint = n_classes > 2
    weights = rng.integers(-1, 2, (n_classes if joint else 1, 3 + lift)) * 1.0
    lifted = [[Fraction(v) for v in x] + [Fraction(1)] * lift for x in X.tolist()]
    scores = {}
    for row, rival in np.ndindex(12, n_classes if joint else 1):
        if joint and rival == y[row]:
            continue
        w = weights[y[row]] - weights[rival] if joint else weights[0] * (2 * y[row] - 1)
        score = sum(map(operator.mul, lifted[row], map(Fraction, w.tolist())), Fraction(0))
        scores[row, rival if joint else -1] = int(score > 0) - int(score < 0)
    tight = {pair for pair, score in scores.items() if (score == 0) ^ (rng.random() < 0.05)}
    wrong = [(*pair, score) for pair, score in sorted(scores.items()) if score != (pair not in tight)]
    question, classes = "joint" if joint else "binary", tuple(map(str, range(n_classes)))
    claim = Certificate("separable", question, classes, (), lift, (), 12, 3, "")
    signs = Signs(claim, read_data(X if dense else sparse.csr_array(X), y))
    on_plane = signs.none()
    for row, rival in tight:
        on_plane[row, max(rival, 0)] = True
    assert first_wrong(tuple(map(tuple, weights.tolist())), signs, on_plane) == (wrong[0] if wrong else None)


@given(st.integers(0, 10**6), st.sampled_from(["integers", "floats", "sparse"]))
def test_products_modulo_a_prime_are_those_of_whole_numbers(seed, kind):
    rng = np.random.default_rng(seed)
    X = rng.integers(-(2**40), 2**40, (5, 7)) * (rng.random((5, 7)) < 0.7)
    shift = 0 if kind == "integers" else 20
    given_as = {"integers": X, "floats": X / 2.0**20, "sparse": sparse.csr_array(X / 2.0**20)}[kind]
    prime = PRIMES[int(rng.integers(len(PRIMES)))]
    vectors = rng.integers(0, prime, (3, 7))
    vectors[0] = prime - 1
    unit = pow(2, -shift, prime)
    expected = [[sum(map(operator.mul, x, v)) * unit % prime for v in vectors.tolist()] for x in X.tolist()]
    assert products(given_as, vectors, prime).tolist() == expected


def test_products_modulo_a_prime_of_more_columns_than_floats_can_sum():
    prime, width = PRIMES[0], (1 << 20) + 3
    X = np.full((1, width), prime - 1)
    assert products(X, X, prime).tolist() == [[width % prime]]


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([-1060, -600, -540, -300, 0, 300, 520, 900]),
    st.booleans(),
    st.booleans(),
)
def test_rounding_never_passes_for_a_proof_at_any_scale(seed, scale, lift, dense):
    rng = np.random.default_rng(seed)
    weights = rng.integers(-3, 4, 4 + lift).astype(float)
    X = np.ldexp(rng.standard_normal((60, 4)).round(rng.integers(1, 20)), scale)
    y = np.r_[0, 1, (X[2:] @ weights[:4] + (weights[4] if lift else 0) > 0).astype(int)]
    # Scores as close to zero as floats can bring them, on either side.
    X[:, 3] -= (rng.random(60) < 0.3) * (X @ weights[:4]) / (weights[3] or 1.0)
    claim = Certificate("separable", "binary", ("0", "1"), (), lift, (), 60, 4, "0" * 64, (tuple(weights),))
    check = verify(claim, X if dense else sparse.csr_array(X), y, same_data=False)
    truth = first_wrong_by_fractions(X, y, weights, lift)
    assert check.holds == (not truth)
    assert check.holds or check.reason == truth


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, np.float32, sparse.csr_array])
def test_numbers_that_are_not_finite_are_named_whatever_their_weight(bad, storage):
    X, y = np.array([[1.0, 0.0], [2.0, 1.0], [-1.0, 0.0], [-2.0, 1.0]]), [1, 1, 0, 0]
    fields = separability(X, y).certificate.to_dict()
    fields["weights"] = [["0x1.0p+0", "0x0.0p+0", "0x0.0p+0"]]
    X[2, 1] = bad
    for same_data in (True, False):
        with pytest.raises(InputError, match=r"row 2, column 1"):
            verify(fields, storage(X), y, same_data=same_data)


def test_type_and_storage_are_part_of_the_data():
    X, y = np.array([[0.0], [1.0]]), [0, 1]
    certificate = separability(X, y).certificate
    assert verify(certificate, np.asfortranarray(X), y).holds
    for other in (X.astype(np.float32), X.astype(int), sparse.csr_array(X)):
        with pytest.raises(CertificateError, match="another hash"):
            verify(certificate, other, y)
        assert verify(certificate, other, y, same_data=False).holds


GOOD = separability([[0], [1], [0], [1]], [0, 1, 1, 0]).certificate.to_dict()


def spoiled(**fields):
    found = copy.deepcopy(GOOD)
    for path, value in fields.items():
        *steps, last = path.split("__")
        target = found
        for step in steps:
            target = target[step]
        target[last] = value
    return json.dumps(found)


LINE = separability([[0], [1], [2], [3]], [0, 0, 1, 1]).certificate.to_dict()


def separating(*weights):
    """A certificate of four rows on a line with a weight that is written so."""
    return json.dumps({**LINE, "weights": [[*weights, "0"]]})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not valid JSON"),
        (json.dumps(GOOD)[:-20], "not valid JSON"),
        ("[" * 100_000, "nested too deeply|not valid JSON"),
        ("[]", "JSON object"),
        ("{}", "not a separatrix certificate"),
        (spoiled(version=2), "version 2"),
        (spoiled(version="9" * 10_000), "version"),
        (spoiled(claim="true"), "'claim'"),
        (spoiled(question={}), "'kind'"),
        (spoiled(multipliers__fine=["9" * 5000] * 4), "integer string"),
        (spoiled(multipliers__fine=["0x" + "f" * (1 << 20)] * 4), "integer string"),
        (spoiled(multipliers__denominator="0"), "denominator"),
        (spoiled(multipliers__rows=[0, 1, 2, 99]), "row 99"),
        (spoiled(multipliers__rows=[0, 1, 2, -1]), "row -1"),
        (spoiled(multipliers__rows=[[[]], 1, 2, 3]), "names row"),
        (spoiled(multipliers__rows={}), "not a list"),
        (spoiled(data__rows=True), "number of rows"),
        (spoiled(data__rows=10**18), "is about"),
        (spoiled(data__sha256="abc"), "sha256"),
        (spoiled(weights=[["1", "0"]]), "'weights', which belong to other claims"),
        (separating("nan"), "integer string"),
        (separating("0x1p+5000"), "finite"),
        (separating("1", "1"), "2 numbers"),
        (separating("0x1.00000000000001p+0"), "finite number"),
        (separating("0x1.8p-1074"), "finite number"),
        (separating("0x1p-1075"), "finite number"),
        (separating("0x1p+1024"), "finite number"),
        (separating("0x3p+0"), "finite number"),
        (separating("1p1"), "finite number"),
        (separating("+0x1p+0"), "finite number"),
        (separating(" 0x1p+0"), "finite number"),
        (separating("0x1p+0 "), "finite number"),
        (separating("0X1P+0"), "integer string"),
        (separating("0x1.8P+0"), "integer string"),
        (separating("0x1p0"), "finite number"),
        (separating("+1"), "integer string"),
        (separating("1_0"), "integer string"),
        (separating("\u0661"), "integer string"),
        (separating("1").replace('"multipliers": null', '"multipliers": {}'), "belong to other claims"),
        (spoiled(version=1.0), "version 1.0"),
        (spoiled(version=True), "version True"),
        (spoiled(note=1), "unknown field 'note'"),
        (spoiled(question__note=1), "unknown field 'note'"),
        (spoiled(data__note=1), "unknown field 'note'"),
        (spoiled(multipliers__note=1), "unknown field 'note'"),
        (spoiled(question__excluded=[1, 1]), "names a row twice"),
        (spoiled(question__excluded=[]).replace('"lift": true', '"lift": true, "lift": true'), "twice"),
        (json.dumps(GOOD).replace('"weights": null, ', ""), "'weights' is missing"),
        (json.dumps(GOOD).replace('"weights": null', '"weights": NaN'), "no NaN"),
        (spoiled(question__lift=1), "lift"),
        (spoiled(data__rows=5).replace('"rows": 5', '"rows": ' + "9" * 10_000), "not valid JSON"),
    ],
)
def test_hostile_certificates_get_a_clear_error_soon(text, words):
    start = time.monotonic()
    with pytest.raises(CertificateError, match=words):
        verify(text, [[0], [1], [0], [1]], [0, 1, 1, 0])
    assert time.monotonic() - start < 2.0


@settings(max_examples=300, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_that_python_or_c_writes_is_read(value):
    fraction, exponent = value.hex().split("p")
    short = fraction.rstrip("0").rstrip(".") if "." in fraction else fraction
    for text in (value.hex(), f"{short if short[-1] != 'x' else short + '0'}p{exponent}"):
        weight = Certificate.from_json(separating(text)).weights[0][0]
        assert math.copysign(1.0, weight) == math.copysign(1.0, value)
        assert weight == value
    low = Certificate.from_json(separating("0x1p-1074")).weights[0][0]
    assert low == 5e-324


@pytest.mark.parametrize("place", ["version", "claim", "question", "weights", "data", "multipliers", "note"])
def test_a_dict_nested_deeply_is_refused_as_text_is(place):
    deep = []
    for _ in range(995):
        deep = [deep]
    for value in (deep, {"a": deep}):
        with pytest.raises(CertificateError):
            verify({**GOOD, place: value}, [[0], [1], [0], [1]], [0, 1, 1, 0])
    with pytest.raises(CertificateError):
        verify({**GOOD, "multipliers": {**GOOD["multipliers"], "rows": [deep]}}, *CROSSED)


CROSSED = ([[0], [1], [0], [1]], [0, 1, 1, 0])


def test_an_object_with_anything_in_it_is_refused_as_text_is():
    certificate = Certificate.from_dict(GOOD)
    for change in ({"claim": {1}}, {"classes": (b"0", "1")}, {"weights": ((None,),)}, {"multipliers": 7}):
        with pytest.raises(CertificateError):
            verify(replace(certificate, **change), *CROSSED)


def test_the_columns_that_the_command_line_adds_are_no_part_of_a_claim():
    assert verify({**GOOD, "columns": {"target": "y"}}, *CROSSED).holds


def test_without_columns_an_intercept_alone_proves_inseparability():
    X, y = np.zeros((3, 0)), [0, 1, 1]
    lifted = separability(X, y)
    assert lifted.status == "overlapping"
    assert verify(lifted.certificate, X, y).holds
    plain = separability(X, y, fit_intercept=False)
    assert plain.status == "overlapping"
    assert verify(plain.certificate, X, y).holds


def test_a_certificate_of_another_shape_or_kind_is_refused():
    X, y = [[0], [1], [0], [1]], [0, 1, 1, 0]
    with pytest.raises(CertificateError, match="4 x 1"):
        verify(GOOD, [[0, 1], [1, 1]], [0, 1])
    with pytest.raises(CertificateError, match="classes"):
        verify(GOOD, X, ["a", "b", "b", "a"])
    with pytest.raises(CertificateError, match="Got int"):
        verify(7, X, y)
    assert issubclass(CertificateError, SeparatrixError)


def test_what_a_certificate_leaves_out_is_said():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
    part = separability(X, y, sample_weight=[1, 0, 1, 1])
    assert verify(part.certificate, X, y).reason.endswith(" 1 of 4 rows.")
    origin = separability(X + 1.0, y, fit_intercept=False)
    assert verify(origin.certificate, X + 1.0, y).reason.endswith(" There is no intercept.")
    labels = ["a", "b", "c", "b"]
    rest = separability(X, labels, multiclass="one-vs-rest").parts["a"]
    assert "Class 'a' is compared with all" in verify(rest.certificate, X, labels).reason
    pair = separability(X, labels, multiclass="pairwise").parts["a", "b"]
    assert "Class 'b' is compared with class 'a'" in verify(pair.certificate, X, labels).reason
    mapped = separability(X, y, kernel="poly")
    assert "monomials of degree 1, 2, 3." in verify(mapped.certificate, X, y).reason


@pytest.mark.parametrize("module", ["separatrix.certificates", "separatrix.certificates.check"])
def test_the_checker_imports_no_solver(module):
    code = f"import sys, {module}; print(' '.join(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = set(found.stdout.split())
    assert not loaded & {"highspy", "numba", "sklearn", "flint"}
    own = {name.removeprefix("separatrix.") for name in loaded if name.startswith("separatrix.")}
    packages = {
        "certificates",
        "deadline",
        "errors",
        "float_environment",
        "inputs",
        "printable",
        "rows",
        "sparse",
    }
    assert {name.split(".")[0] for name in own} == packages
    expected = {"rows.blocks", "rows.threads"}
    assert {name for name in own if name.startswith("rows.")} == expected
