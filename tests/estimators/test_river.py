"""Laws of the face for river: its own checks pass, and the bits are those of `partial_fit`."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import river.checks as checks
from hypothesis import given
from hypothesis import strategies as st

import separatrix as sx
from separatrix.errors import InputError, InputTypeError, LabelError
from tests.problems import clouds, grids


def frame(X):
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])


def dictionaries(X):
    return frame(X).to_dict("records")


LEARNERS = [sx.river.Perceptron, sx.river.PassiveAggressive]


@pytest.mark.filterwarnings("ignore")  # river's own
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.__name__)
@pytest.mark.parametrize(
    "check", list(checks.yield_checks(sx.river.Perceptron())), ids=lambda check: check.__name__
)
def test_rivers_checks_pass(learner, check):
    check(learner())


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.__name__)
def test_no_check_of_river_is_skipped(learner):
    assert learner()._unit_test_skips() == set()


@given(data=st.data(), variant=st.sampled_from(["PA", "PA-I", "PA-II"]), C=st.sampled_from([1.0, 0.03]))
def test_the_bits_of_passive_aggressive_steps_are_those_of_partial_fit(data, variant, C):
    case = data.draw(clouds(storage="float64 by rows"))
    classes = list(range(case.n_classes))
    options = {"C": C, "variant": variant, "fit_intercept": case.lift}
    other = sx.PassiveAggressive(**options).partial_fit(case.X, case.codes, classes=classes)
    one = sx.river.PassiveAggressive(**options, classes=classes)
    for x, y in zip(dictionaries(case.X), case.codes.tolist(), strict=True):
        one.learn_one(x, y)
    same(one, other, case.X)


@pytest.mark.parametrize("options", [{"C": 0.0}, {"C": True}, {"variant": "PA-0"}])
def test_wrong_parameters_of_passive_aggressive_are_named(options):
    with pytest.raises(InputError, match=f"{next(iter(options))!r} parameter of PassiveAggressive"):
        sx.river.PassiveAggressive(**options)


def same(model, other, X):
    """Whether a model of river has the bits of one of ours."""
    own = model._shown()
    lifted = np.column_stack([other.coef_, other.intercept_]) if model.fit_intercept else other.coef_
    assert np.array_equal(np.atleast_2d(own), lifted)
    assert model.mistakes == other.mistakes_
    assert [model.predict_one(x) for x in dictionaries(X)] == other.predict(X).tolist()
    assert model.predict_many(frame(X)).tolist() == other.predict(X).tolist()


@given(data=st.data(), average=st.booleans(), rate=st.sampled_from([1.0, 0.3]), named=st.booleans())
def test_the_bits_are_those_of_partial_fit(data, average, rate, named):
    case = data.draw(clouds(storage="float64 by rows"))
    if not named and case.n_classes > 2:
        named = True  # a third class that comes late begins with other weights
    classes = list(range(case.n_classes))
    options = {"eta0": rate, "fit_intercept": case.lift, "average": average}
    other = sx.Perceptron(**options).partial_fit(case.X, case.codes, classes=classes)
    one = sx.river.Perceptron(**options, classes=classes if named else None)
    many = sx.river.Perceptron(**options, classes=classes if named else None)
    for x, y in zip(dictionaries(case.X), case.codes.tolist(), strict=True):
        one.learn_one(x, y)
    cut = data.draw(st.integers(0, len(case.codes)))
    for part in (slice(0, cut), slice(cut, None)):
        many.learn_many(frame(case.X)[part], pd.Series(case.codes)[part])
    for model in (one, many):
        if len(model.labels) == case.n_classes:
            same(model, other, case.X)


@given(data=st.data())
def test_learn_many_is_learn_one_row_by_row_also_where_classes_come_late(data):
    case = data.draw(grids(storage="float64 by rows"))
    one, many = sx.river.Perceptron(), sx.river.Perceptron()
    labels = np.array(["d", "b", "c", "a"])[case.codes].tolist()
    for x, y in zip(dictionaries(case.X), labels, strict=True):
        one.learn_one(x, y)
    many.learn_many(frame(case.X), labels)
    assert one.labels == many.labels == sorted(set(labels))
    assert np.array_equal(one._weights, many._weights)
    assert (one.mistakes, one.visits) == (many.mistakes, many.visits)


def test_a_third_class_changes_no_decision_between_the_two_before():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = (X @ [1.0, -1.0, 0.5] > 0.2).astype(int)
    model = sx.river.Perceptron()
    model.learn_many(frame(X), y)
    before = model._shown().copy()
    model._meet(7)
    assert np.array_equal(model._weights[1] - model._weights[0], before)
    assert not model._weights[2].any()


def test_features_may_come_and_go():
    model = sx.river.Perceptron()
    model.learn_one({"a": 1.0}, True)
    model.learn_one({"b": 2.0}, False)
    model.learn_one({"c": 1.0, "a": -1.0}, False)
    assert set(model.weights) == {"a", "b", "c"}
    assert model.predict_one({"never seen": 5.0}) in (True, False)
    assert model.predict_one({}) in (True, False)
    model.learn_one({}, True)


def test_rows_without_features_are_learnt_from():
    model = sx.river.Perceptron()
    assert model.predict_one({}) is None
    for label in ("yes", "no", "no"):
        model.learn_one({}, label)
    assert model.predict_one({}) == "no"
    assert model.intercept == -1.0
    model.learn_one({"a": 1.0}, "yes")
    assert model.weights == {"a": 1.0}


def test_before_two_classes_the_one_that_is_known_is_predicted():
    model = sx.river.Perceptron()
    assert model.predict_one({"a": 1.0}) is None
    model.learn_one({"a": 1.0}, "spam")
    assert model.predict_one({"a": -9.0}) == "spam"
    assert model.predict_many(pd.DataFrame({"a": [1.0, 2.0]})).tolist() == ["spam", "spam"]


def test_a_model_goes_on_after_pickling():
    X = np.random.default_rng(1).standard_normal((50, 3))
    y = (X[:, 0] > 0).tolist()
    whole, part = sx.river.Perceptron(average=True), sx.river.Perceptron(average=True)
    whole.learn_many(frame(X), y)
    part.learn_many(frame(X)[:20], y[:20])
    part = pickle.loads(pickle.dumps(part))
    part.learn_many(frame(X)[20:], y[20:])
    assert np.array_equal(whole._shown(), part._shown())


def test_it_is_part_of_a_pipeline_of_river():
    from river import datasets, evaluate, metrics, preprocessing

    model = preprocessing.StandardScaler() | sx.river.Perceptron(average=True)
    score = evaluate.progressive_val_score(datasets.Phishing().take(500), model, metrics.Accuracy())
    assert score.get() > 0.8


@pytest.mark.parametrize(
    ("wrong", "kind", "words"),
    [
        (lambda model: model.learn_one({"a": "red"}, 1), InputTypeError, "OneHotEncoder"),
        (lambda model: model.learn_one({"new": 1.0, "a": "red"}, 1), InputTypeError, "OneHotEncoder"),
        (lambda model: model.learn_one({"a": None}, 1), InputTypeError, "not a number"),
        (lambda model: model.learn_one({"a": 2**2000}, 1), InputTypeError, "not a number within floats"),
        (lambda model: model.learn_one({"a": float("nan")}, 1), InputError, "NaN.*'a'"),
        (lambda model: model.learn_one({"a": 1.0}, None), LabelError, "class label"),
        (lambda model: model.learn_many(pd.DataFrame({"a": [1.0]}), [0, 1]), InputError, "one label per row"),
        (lambda model: sx.river.Perceptron(eta0=0.0), InputError, "'eta0' parameter"),
        (lambda model: model.predict_proba_one({"a": 1.0}), NotImplementedError, "not probabilities"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused_and_changes_no_weight(wrong, kind, words):
    model = sx.river.Perceptron()
    model.learn_one({"a": 1.0}, 0)
    before = model.weights, model.mistakes
    with pytest.raises(kind, match=words):
        wrong(model)
    assert (model.weights, model.mistakes) == before
