"""Stacked perceptrons give every training row its class, exactly, and say so with a proof."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

import separatrix as sx
from separatrix.certificates.half_spaces import exact_signs
from separatrix.errors import CertificateError, InputError, NotSeparable
from separatrix.networks.sequential import _cut_vertex
from separatrix.sparse import sparse
from tests import naive_network as naive
from tests import second


def consistent(X, y):
    """Whether no two equal rows have different labels."""
    known = {}
    return all(
        known.setdefault(tuple(x), label) == label for x, label in zip(X.tolist(), y.tolist(), strict=True)
    )


@st.composite
def cases(draw):
    """Small sets: normal, lattice, collinear, different in the last bits only, of several sizes."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_classes, n, d = draw(st.integers(2, 3)), draw(st.integers(2, 10)), draw(st.integers(1, 4))
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n)])
    kind = draw(st.sampled_from(["normal", "lattice", "collinear", "close", "huge"]))
    X = rng.standard_normal((len(y), d))
    if kind == "lattice":
        X = rng.integers(-2, 3, (len(y), d)).astype(float)
    elif kind == "collinear":
        X = rng.integers(-6, 7, len(y))[:, None] * rng.integers(1, 4, d).astype(float)
    elif kind == "close":
        X = 1.0 + rng.integers(0, 4, (len(y), d)) * 2.0**-52
    elif kind == "huge":
        X = X * 10.0 ** rng.choice([-150, 0, 100], d)
    return X, y


@settings(max_examples=40, deadline=None)
@given(cases(), st.booleans())
def test_every_training_row_gets_its_class_and_both_checkers_agree(case, sparsely):
    X, y = case
    given_rows = sparse.csr_array(X) if sparsely else X
    model = sx.PerceptronNetwork()
    if not consistent(X, y):
        with pytest.raises(NotSeparable, match="are equal and have different labels") as refused:
            model.fit(given_rows, y)
        assert sx.verify(refused.value.certificate, given_rows, y).holds
        return
    model.fit(given_rows, y)
    assert model.errors_ == 0
    assert np.array_equal(model.predict(given_rows), y)
    assert sx.verify(model.certificate_, given_rows, y).holds  # asks the second checker, too
    units = model.certificate_.units
    assert naive.labels(units, model.certificate_.default, X) == y.tolist()
    assert len(units) <= len(y)


@settings(max_examples=80, deadline=None)
@given(cases())
def test_a_longest_row_can_be_cut_off_exactly(case):
    X, y = case
    if len(np.unique(X, axis=0)) < 2:
        return
    unit, fires = _cut_vertex(X, y)
    assert fires.any()
    assert np.array_equal(exact_signs(X, unit.weights) > 0, fires)
    assert len(np.unique(X[fires], axis=0)) == 1
    assert [naive.fires(unit.weights, x) for x in X.tolist()] == fires.tolist()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 7), st.booleans())
def test_the_number_of_units_is_at_least_the_smallest_possible_and_less_than_the_number_of_rows(
    seed, n, lattice
):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, 2)).astype(float) if lattice else rng.standard_normal((n, 2))
    y = np.concatenate([[0, 1], rng.integers(0, 2, n - 2)])
    if not consistent(X, y):
        return
    fewest, found = naive.fewest_units(X, y), len(sx.PerceptronNetwork().fit(X, y).units_)
    assert fewest <= found < n


def test_exclusive_or_takes_two_units_and_a_default():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    model = sx.PerceptronNetwork().fit(X, y)
    assert len(model.units_) == naive.fewest_units(X, y) == 2
    assert {unit.label for unit in model.units_} | {model.default_} == {0, 1}
    assert sum(unit.n_rows for unit in model.units_) < 4


@settings(max_examples=40, deadline=None)
@given(cases())
def test_the_two_layers_decide_as_the_list_does(case):
    X, y = case
    if not consistent(X, y):
        return
    model = sx.PerceptronNetwork().fit(X, y)
    hidden, output = model.as_network()
    exact = [
        np.array([naive.fires(w, x) for w, _ in model.certificate_.units], dtype=int) for x in X.tolist()
    ]
    sums = np.array([output @ np.append(fired, 1) for fired in exact])
    codes = (sums[:, 0] > 0).astype(int) if len(output) == 1 else sums.argmax(axis=1)
    assert np.array_equal(model.classes_[codes], y)
    assert hidden.shape == (len(model.units_), X.shape[1] + 1)


def test_with_many_units_the_two_layers_are_whole_numbers():
    X, y = np.arange(56.0)[:, None], np.arange(56) % 2
    model = sx.PerceptronNetwork().fit(X, y)
    hidden, output = model.as_network()
    assert len(model.units_) >= 53
    assert hidden.dtype == output.dtype == object
    fired = (hidden[:, 0][None, :] * X.astype(int).astype(object) + hidden[:, 1]) > 0
    sums = fired.astype(object) @ output[0, :-1] + output[0, -1]
    assert np.array_equal(sums > 0, y == 1)


def test_fewer_units_leave_errors_and_the_proof_leaves_these_rows_out():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 4.0, (100, 2))
    y = X.astype(int).sum(axis=1) % 2
    errors = []
    for most in (1, 5, None):
        model = sx.PerceptronNetwork(most).fit(X, y)
        assert len(model.units_) <= (most or 100)
        assert model.errors_ == (model.predict(X) != y).sum() == len(model.certificate_.excluded)
        assert sx.verify(model.certificate_, X, y).holds
        errors.append(model.errors_)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] == 0


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_are_kept_back_choose_the_number_of_units(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((150, 2))
    y = (X[:, 0] > 0) ^ (rng.random(150) < 0.2)
    model = sx.PerceptronNetwork(validation_fraction=0.3, random_state=seed).fit(X, y)
    errors = model.validation_errors_
    assert len(model.units_) == int(errors.argmin())
    assert model.errors_ >= errors.min()  # on the rows kept back alone
    assert sx.verify(model.certificate_, X, y).holds


def test_conflicts_are_refused_or_settled_by_the_most_frequent_label():
    X, y = np.array([[0.0, 0.0], [0.0, -0.0], [0.0, 0.0], [1.0, 1.0]]), np.array([0, 0, 1, 1])
    for rows in (X, sparse.csr_array(X)):
        with pytest.warns(ConvergenceWarning, match="most frequent label of equal rows"):
            model = sx.PerceptronNetwork(inseparable="warn").fit(rows, y)
        assert model.predict(rows).tolist() == [0, 0, 0, 1]
        assert model.errors_ == 1
        assert model.certificate_.excluded == (2,)
        assert sx.verify(model.certificate_, rows, y).holds


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"max_units": 0},
            "'max_units' parameter of PerceptronNetwork must be a positive whole number or None",
        ),
        (
            {"validation_fraction": 1.5},
            "'validation_fraction' parameter of PerceptronNetwork must be None or",
        ),
        ({"inseparable": "ignore"}, "'inseparable' parameter of PerceptronNetwork must be one of"),
        ({"validation_fraction": 0.01}, "has too few rows"),
    ],
)
def test_a_wrong_parameter_is_named(options, words):
    with pytest.raises(InputError, match=words):
        sx.PerceptronNetwork(**options).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learns_checks_pass():
    found = check_estimator(sx.PerceptronNetwork(5, inseparable="warn"), on_fail=None, on_skip=None)
    assert len(found) > 40
    assert {entry["check_name"] for entry in found if entry["status"] != "passed"} == set()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_models_are_saved_and_exported(n_classes, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), rng.integers(0, n_classes, 60)
    model = sx.PerceptronNetwork().fit(X, y)
    sx.save(model, tmp_path / "model.skops")
    loaded = sx.load(tmp_path / "model.skops")
    other = rng.standard_normal((200, 2))
    assert np.array_equal(loaded.decision_function(other), model.decision_function(other))
    assert sx.verify(loaded.certificate_, X, y).holds
    onnxruntime = pytest.importorskip("onnxruntime")
    for dtype in ("float64", "float32"):
        sx.export_onnx(model, tmp_path / "model.onnx", dtype=dtype)
        session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
        label, scores = session.run(["label", "scores"], {"X": other.astype(dtype)})
        assert label.tolist() == model.predict(other).tolist()
        assert scores == pytest.approx(model.decision_function(other), rel=1e-6)


# ---------------------------------------------------------------- the certificate


def xor():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    return X, y, sx.PerceptronNetwork().fit(X, y).certificate_.to_dict()


def changed(fields, path, value):
    fields = json.loads(json.dumps(fields))
    place = fields
    for name in path[:-1]:
        place = place[name]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return fields


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("claim",), "separable"),
        (("default",), 2),
        (("default",), True),
        (("units",), None),
        (("units", 0), []),
        (("units", 0, "class"), -1),
        (("units", 0, "weights"), ["1"]),
        (("units", 0, "weights", 0), 1.0),
        (("units", 0, "weights", 0), "0x1.00000000000001p+0"),
        (("units", 0, "bias"), "0"),
        (("question", "classes"), ["0", "1", "2"]),
        (("question", "excluded"), [0, 0]),
        (("question", "excluded"), [4]),
        (("question", "lift"), True),
        (("question", "kind"), "Network"),
        (("data", "rows"), 5),
        (("data", "sha256"), "0" * 64),
        (("weights",), None),
        (("default",), ...),
        (("units", 0, "class"), ...),
    ],
)
def test_a_certificate_with_a_wrong_field_is_not_read(path, value):
    X, y, fields = xor()
    wrong = changed(fields, path, value)
    with pytest.raises(CertificateError):
        sx.verify(wrong, X, y)
    assert not second.ask(json.dumps(wrong), X, y.tolist(), same_data=True)[0]


def test_a_false_claim_names_the_row():
    X, y, fields = xor()
    swapped = changed(fields, ("default",), 1 - fields["default"])
    check = sx.verify(swapped, X, y)
    assert not check.holds
    assert f"Row {check.row} gets class" in check.reason
    assert not second.ask(json.dumps(swapped), X, y.tolist())[0]
    nobody = sx.verify(changed(fields, ("question", "excluded"), [0, 1, 2, 3]), X, y)
    assert (nobody.holds, nobody.reason) == (False, "No rows are left for this question.")
