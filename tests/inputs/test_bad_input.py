"""Bad input: each with its own clear error, and nothing changed."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
import tracemalloc
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import separatrix as sx
from separatrix.errors import InputError, LabelError, NumericOverflowError, SeparatrixError
from separatrix.inputs import read_labels
from separatrix.inputs.data import coded, one_label_per_row

X = np.array([[2.0, 1.0], [1.0, 3.0], [-1.0, -2.0], [-2.0, 0.5]])
Y = np.array([1, 1, 0, 0])
WIDE = np.column_stack([X, X])


def spoiled(value, row=2, column=1, matrix=X):
    bad = matrix.copy()
    bad[row, column] = value
    return bad


def state(model):
    return copy.deepcopy(vars(model))


def same(one, other):
    """Equal in every bit; NaN is equal to itself here."""
    if sparse.issparse(one):
        return sparse.issparse(other) and same(one.toarray(), other.toarray())
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and repr(one.tolist()) == repr(other.tolist())
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "__dataclass_fields__"):
        return type(one) is type(other) and same(vars(one), vars(other))
    return repr(one) == repr(other) if isinstance(one, float) else one == other


def check_refused(call, error, message, model):
    """The call fails with this error and leaves the model as it was, bit by bit."""
    before = state(model)
    with pytest.raises(error, match=message):
        call(model)
    assert same(before, state(model)), "the failed call changed the model"


BAD_DATA = {
    "NaN": (spoiled(np.nan), Y, ValueError, r"NaN: row 2, column 1"),
    "infinity": (spoiled(np.inf), Y, ValueError, r"infinity: row 2, column 1"),
    "minus infinity": (spoiled(-np.inf), Y, ValueError, r"infinity: row 2, column 1"),
    "NaN in CSR": (sparse.csr_array(spoiled(np.nan)), Y, ValueError, r"NaN: row 2, column 1"),
    "NaN in a wider matrix": (spoiled(np.nan, 3, 3, WIDE), Y, ValueError, r"NaN: row 3, column 3"),
    "one class": (X, np.zeros(4, dtype=int), LabelError, r"one class \(.*0.*two"),
    "one class in a wider matrix": (WIDE, np.zeros(4, dtype=int), LabelError, r"one class \(.*0.*two"),
    "no rows": (X[:0], Y[:0], ValueError, r"0 sample"),
    "no columns": (X[:, :0], Y, ValueError, r"0 feature"),
    "lengths that differ": (X, Y[:3], ValueError, "X has 4 rows and y has 3 labels"),
    "no labels": (X, None, ValueError, r"y"),
    "mixed labels": (X, np.array([1, "a", 1, "a"], dtype=object), LabelError, "mixes text and numbers"),
    "mixed labels in a list": (X, [1, "a", 1, "a"], LabelError, "mixes text and numbers"),
    "mixed labels in a Series": (X, pd.Series([1, "a", 1, "a"]), LabelError, "mixes text and numbers"),
    "labels that are measurements": (X, np.array([0.1, 0.2, 0.35, 0.9]), ValueError, "continuous"),
    "a label that is NaN": (X, np.array([0.0, 1.0, np.nan, 0.0]), ValueError, "NaN"),
    "a label that is None": (X, np.array([0, 1, None, 0], dtype=object), LabelError, "no label in row 2"),
    "a missing label among text": (X, ["a", "b", np.nan, "a"], LabelError, "no label in row 2"),
    "masked labels": (X, np.ma.array(Y, mask=[0, 0, 1, 0]), ValueError, "y is a masked array"),
    "masked values": (np.ma.array(X, mask=X > 2.5), Y, ValueError, "X is a masked array"),
    "two columns of labels": (X, np.column_stack([Y, Y]), ValueError, r"1d array|multi"),
    "three dimensions": (np.zeros((4, 2, 2)), Y, ValueError, "two dimensions"),
    "one dimension": (np.zeros(4), Y, ValueError, "two dimensions"),
    "complex numbers": (X + 1j, Y, ValueError, "[Cc]omplex"),
    "complex CSR": (sparse.csr_array(X + 1j), Y, ValueError, "[Cc]omplex"),
    "object columns": (np.array([[1, "red"], [2, "blue"]] * 2, dtype=object), Y, ValueError, r"numbers: 1 "),
    "text": (np.array([["a", "b"]] * 4), Y, ValueError, r"numbers: 0 \(str\), 1 \(str\)"),
    "a frame with text": (
        pd.DataFrame({"size": [1, 2, 3, 4], "colour": list("abcd")}),
        Y,
        ValueError,
        r"colour",
    ),
    "a polars frame with text": (
        pl.DataFrame({"size": [1, 2, 3, 4], "colour": list("abcd")}),
        Y,
        ValueError,
        r"colour",
    ),
    "a frame with dates": (
        pd.DataFrame({"size": [1, 2, 3, 4], "when": pd.to_datetime(["2020-01-01"] * 4)}),
        Y,
        (TypeError, ValueError),
        r"when",
    ),
    "a square beyond float64": (spoiled(1e200), Y, NumericOverflowError, "Row 2 of X"),
}


@pytest.mark.parametrize("case", BAD_DATA)
@pytest.mark.parametrize("fitted", [True, False], ids=["fitted", "new"])
def test_a_fit_on_bad_data_says_what_is_wrong_and_changes_nothing(case, fitted):
    matrix, labels, error, message = BAD_DATA[case]
    model = sx.Perceptron().fit(X, Y) if fitted else sx.Perceptron()
    check_refused(lambda model: model.fit(matrix, labels), error, message, model)


@pytest.mark.parametrize("case", [name for name in BAD_DATA if not name.startswith("one class")])
@pytest.mark.parametrize("first", [True, False], ids=["first call", "later call"])
def test_learning_online_from_bad_data_says_what_is_wrong_and_changes_nothing(case, first):
    matrix, labels, error, message = BAD_DATA[case]
    model = sx.Perceptron()
    if not first:
        model.partial_fit(X, Y, classes=[0, 1])
        if hasattr(matrix, "columns"):
            model = sx.Perceptron().partial_fit(
                pd.DataFrame(X, columns=list(matrix.columns)), Y, classes=[0, 1]
            )
    if "label" in case and "columns" not in case:
        error, message = (ValueError, TypeError), r"."
    if matrix.shape[-1] != 2 and not first:
        message = r"."
    check_refused(lambda model: model.partial_fit(matrix, labels, classes=[0, 1]), error, message, model)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("average", [False, "averaged", "voted"])
def test_predicting_from_values_that_are_not_finite_names_them(value, average):
    model = sx.Perceptron(average=average, order="cyclic").fit(X, Y)
    check_refused(lambda model: model.predict(spoiled(value)), ValueError, "row 2, column 1", model)


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda X, columns: pl.DataFrame(X, schema=columns)])
def test_a_bad_value_in_a_frame_is_named_by_its_column(frame):
    bad = frame(spoiled(np.nan), columns=["width", "height"])
    with pytest.raises(InputError, match=r"row 2, column 1 \('height'\)"):
        sx.Perceptron().fit(bad, Y)


BAD_PARAMETERS = [
    ("eta0", -1.0, "positive finite number.*-1.0"),
    ("eta0", 0.0, "positive finite number.*0.0"),
    ("eta0", 0, "positive finite number"),
    ("eta0", np.nan, "positive finite number.*nan"),
    ("eta0", np.inf, "positive finite number.*inf"),
    ("eta0", 10**400, "positive finite number"),
    ("eta0", "1", "positive finite number.*'1'"),
    ("eta0", True, "positive finite number.*True"),
    ("eta0", None, "positive finite number.*None"),
    ("order", "best", "'working_set', 'cyclic', 'shuffled', 'worst'.*'best'"),
    ("order", None, "'working_set', 'cyclic', 'shuffled', 'worst'.*None"),
    ("average", "mean", "False, True, 'averaged', 'voted'.*'mean'"),
    ("average", 10, "False, True, 'averaged', 'voted'.*10"),
    ("max_iter", 0, "positive whole number.*0"),
    ("max_iter", 2.5, "positive whole number.*2.5"),
    ("max_updates", -3, "positive whole number or None.*-3"),
    ("fit_intercept", "yes", "True, False or 'lifted'.*'yes'"),
    ("renormalise", 1, "True or False.*1"),
    ("trace", None, "True or False.*None"),
    ("init", "ones", "'zeros', 'random'.*'ones'"),
    ("init", np.ones(5), r"shape \(3,\).*\(5,\)"),
    ("init", np.array([1.0, np.nan, 0.0]), "finite weights"),
    ("random_state", "seed", "random_state.*'seed'"),
    ("random_state", -1, "random_state.*-1"),
]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    BAD_PARAMETERS,
    ids=[f"{name}={str(value)[:12]}" for name, value, _ in BAD_PARAMETERS],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_bad_parameter_is_named_with_what_is_needed(name, value, message, method):
    model = sx.Perceptron().fit(X, Y).set_params(**{name: value})
    if method == "partial_fit":
        if name in ("init", "random_state"):  # read when learning starts
            model = sx.Perceptron(**{name: value})
        check_refused(lambda model: model.partial_fit(X, Y, classes=[0, 1]), InputError, message, model)
    else:
        check_refused(lambda model: model.fit(X, Y), InputError, message, model)


def test_a_mean_of_renormalised_weights_is_refused():
    model = sx.Perceptron(average="averaged", renormalise=True)
    check_refused(lambda model: model.fit(X, Y), InputError, "Choose one", model)


@pytest.mark.parametrize(
    "weights", [np.zeros(4), [1, 1, -1, 1], [1, np.nan, 1, 1], [1, 1, 1], np.ones((4, 2))]
)
def test_bad_sample_weights_are_refused(weights):
    model = sx.Perceptron().fit(X, Y)
    check_refused(lambda model: model.fit(X, Y, sample_weight=weights), ValueError, "weight", model)


@pytest.mark.parametrize("weights", [{0: 0.0, 1: 1.0}, {0: -1.0, 1: 1.0}, {0: np.inf, 1: 1.0}, "even", 3])
def test_bad_class_weights_are_refused(weights):
    model = sx.Perceptron().fit(X, Y).set_params(class_weight=weights)
    check_refused(lambda model: model.fit(X, Y), (ValueError, TypeError), "class_weight", model)


@pytest.mark.parametrize("weight", ["balanced"])
def test_balanced_classes_need_all_labels_at_once(weight):
    model = sx.Perceptron(class_weight=weight)
    check_refused(lambda model: model.partial_fit(X, Y, classes=[0, 1]), InputError, "dict", model)


@pytest.mark.parametrize("matrix", [WIDE, X[:, :1], sparse.csr_array(WIDE)])
def test_another_width_is_refused_online_and_in_prediction(matrix):
    model = sx.Perceptron().partial_fit(X, Y, classes=[0, 1])
    check_refused(lambda model: model.partial_fit(matrix, Y), ValueError, "expecting 2 features", model)
    check_refused(lambda model: model.predict(matrix), ValueError, "expecting 2 features", model)


@pytest.mark.parametrize("classes", [[0, 1], [0, 1, 2]])
@pytest.mark.parametrize("unseen", [7, -1, 1.5, "cat"])
def test_an_unseen_class_is_refused_online(classes, unseen):
    model = sx.Perceptron().partial_fit(X, Y, classes=classes)
    labels = np.array([0, 1, unseen, 0]) if not isinstance(unseen, str) else np.array(["0", "1", unseen, "0"])
    check_refused(
        lambda model: model.partial_fit(X, labels), ValueError, "not among the classes|has fractions", model
    )


@pytest.mark.parametrize("unseen", ["ape", "dog", "zebra"])
def test_an_unseen_name_is_refused_online(unseen):
    model = sx.Perceptron().partial_fit(X, ["cat", "cow", "cat", "cow"], classes=["cat", "cow"])
    labels = ["cat", unseen, "cow", "cow"]
    check_refused(lambda model: model.partial_fit(X, labels), LabelError, rf"'{unseen}'.*row 1", model)


def test_the_first_call_online_needs_the_classes():
    model = sx.Perceptron()
    check_refused(lambda model: model.partial_fit(X, Y), InputError, "classes=", model)
    check_refused(lambda model: model.partial_fit(X, Y, classes=[1]), InputError, "two classes", model)


def test_other_classes_in_a_later_call_are_refused():
    model = sx.Perceptron().partial_fit(X, Y, classes=[0, 1])
    check_refused(lambda model: model.partial_fit(X, Y, classes=[0, 1, 2]), InputError, "first call", model)


@pytest.mark.parametrize("order", ["working_set", "cyclic", "shuffled", "worst"])
@pytest.mark.parametrize(
    "limits", [{}, {"max_updates": 1}, {"max_iter": 2}], ids=["", "one update", "two passes"]
)
def test_overflow_during_the_run_is_an_error_and_not_an_answer(order, limits):
    big = 100.0 * X
    model = sx.Perceptron(order=order, random_state=0).fit(X, Y)
    model.set_params(eta0=1e307, **limits)
    check_refused(lambda model: model.fit(big, Y), NumericOverflowError, "eta0", model)


def test_overflow_online_is_an_error_and_not_an_answer():
    model = sx.Perceptron(eta0=1e307).partial_fit(X * 1e-300, Y, classes=[0, 1])
    check_refused(lambda model: model.partial_fit(-100.0 * X, Y), NumericOverflowError, "eta0", model)


def test_overflow_of_the_mean_is_an_error_and_not_an_answer():
    rng = np.random.default_rng(0)
    matrix, labels = rng.standard_normal((200, 2)), rng.integers(0, 2, 200)
    model = sx.Perceptron(order="cyclic", average="averaged", max_iter=100, eta0=1e152)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(matrix, labels)
        except NumericOverflowError:
            return
    assert np.all(np.isfinite(model.coef_))


def test_overflow_of_a_score_is_an_error_and_not_a_class():
    model = sx.Perceptron(eta0=1e150).fit(X, Y)
    check_refused(lambda model: model.predict([[1e300, 1e300]]), NumericOverflowError, "[Ss]cale", model)


def test_an_error_about_the_width_of_a_large_matrix_does_not_copy_it():
    model = sx.Perceptron().fit(X, Y)
    large = np.zeros((100_000, 20))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="expecting 2 features"):
            model.predict(large)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < large.nbytes / 2


def test_every_error_of_ours_can_be_caught_as_one_kind():
    for bad in (spoiled(np.nan), spoiled(1e200)):
        with pytest.raises(SeparatrixError):
            sx.Perceptron().fit(bad, Y)


@pytest.mark.parametrize(
    "y",
    [
        np.array(["2020-01-01", "NaT", "2021-01-01"], dtype="datetime64[D]"),
        np.array([1, "NaT", 2], dtype="timedelta64[s]"),
        [np.datetime64("2020"), np.datetime64("NaT"), np.datetime64("2021")],
        np.array([np.datetime64("2020"), np.datetime64("NaT"), np.datetime64("2021")], dtype=object),
    ],
)
def test_a_time_that_is_not_one_is_a_missing_label(y):
    for use in (lambda: sx.separability(np.arange(3.0)[:, None], y), lambda: read_labels(y)):
        with pytest.raises(LabelError, match="no label in row 1"):
            use()


@pytest.mark.parametrize(
    "y",
    [
        [2**53, 2**53 + 1, 1.0],
        [np.int64(2**53), np.int64(2**53 + 1), 1.0],
        [2**63 + 1, 2**63, -1],
        [np.uint64(2**63 + 1), np.int64(2**63 - 1), np.int64(1)],
        ["a\0", "a", "b"],
        [b"a\0", b"a", b"b"],
        ("a\0", "a", "b"),
    ],
)
def test_labels_that_an_array_would_merge_are_told_apart(y):
    X = np.arange(3.0)[:, None]
    verdict = sx.separability(X, y)
    assert len(verdict.certificate.classes) == 3
    assert sx.verify(verdict.certificate, X, y).holds
    model = sx.Perceptron(max_iter=10_000).fit(X, y)
    assert [*model.predict(X)] == [*y]


@pytest.mark.parametrize(
    "y",
    [
        [2**63, 2**63 + 1, 2**63],
        [2**63, 2**63 + 1, 0],
        [2**64, 2**64 + 1, 3],
        [2**53, 2**53 + 2, 1.0],
        [True, 2, 0],
        ["", "a", ""],
    ],
)
def test_labels_that_stay_distinct_are_classes(y):
    assert len(coded(one_label_per_row(y, 3))[0]) == len(set(y))


def frames_of_labels():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    whole, text = [2**53, 2**53 + 1, 0], ["a\0", "a", "b"]
    yield from (pandas.Series(whole, dtype=dtype) for dtype in ("Int64", "UInt64", "category"))
    yield from (pandas.Series(text, dtype=dtype) for dtype in ("string", "category", "object"))
    yield from (polars.Series(whole), polars.Series(text), polars.Series(text, dtype=polars.Categorical))
    yield polars.Series([2**63, 2**63 + 1, 0], dtype=polars.UInt64)
    yield pandas.Series(np.array([2**63, 2**63 + 1, 0], dtype=np.uint64)).astype("UInt64")


def test_labels_of_frames_are_not_merged():
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
    for y in frames_of_labels():
        held = len(set(y.to_list()))  # categories of old versions of pandas merge 'a\0' and 'a' themselves
        assert len(sx.separability(X, y).certificate.classes) == held, y
        assert sx.Perceptron().fit(X, y).classes_.size == held, y
        assert len(set(sx.Perceptron().fit(X, y).classes_.tolist())) == held, y


def test_missing_labels_of_frames_are_no_classes():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, day = np.arange(3.0)[:, None], dt.date(2020, 1, 1)
    found = [
        polars.Series(["a", None, "b"]),
        polars.Series([1, None, 2]),
        polars.Series([day, None, dt.date(2021, 1, 1)]),
        pandas.Series([1, None, 2], dtype="Int64"),
        pandas.Series([True, None, False], dtype="boolean"),
        pandas.Series(["a", None, "b"], dtype="category"),
        [Decimal("0.1"), Decimal("NaN"), Decimal("0.2")],
    ]
    for y in found:
        for use in (sx.separability, sx.Perceptron().fit, sx.MaxMargin().fit):
            with pytest.raises(LabelError, match="no label in row 1"):
                use(X, y)


def test_a_row_that_is_counted_anew_changes_neither_its_column_nor_its_value():
    column = "row 70 {row} %s"
    told = InputError("X has a word", row=7, column=1, column_name=column, value="row 7")
    told.row += 100
    assert str(told) == f"X has a word: row 7 in row 107, column 1 ({column!r})."
    again = pickle.loads(pickle.dumps(told))
    assert (str(again), again.row, again.column, again.value) == (str(told), 107, 1, "row 7")
