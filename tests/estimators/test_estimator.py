"""Laws of the scikit-learn face: it behaves as scikit-learn expects, and says what the run did."""

from __future__ import annotations

import inspect
import pickle
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import separatrix as sx
from separatrix.datasets import make_multiclass, make_overlapping, make_separable, make_xor
from separatrix.errors import LabelError
from separatrix.result import Status
from tests import naive
from tests.problems import ORDERS, TWO_STORAGES, grids

quietly = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
every_order = pytest.mark.parametrize("order", ORDERS)


# ---------------------------------------------------------------- scikit-learn's own checks


@quietly
@parametrize_with_checks([sx.Perceptron()])
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


def checks_not_passed(model):
    found = check_estimator(model, on_fail=None, on_skip=None)
    assert len(found) > 40
    return {entry["check_name"] for entry in found if entry["status"] != "passed"}


@quietly
def test_no_check_of_scikit_learn_is_skipped_or_expected_to_fail():
    assert checks_not_passed(sx.Perceptron()) == set()


@quietly
@pytest.mark.parametrize(
    "options",
    [{"average": "averaged"}, {"order": "shuffled", "average": "voted"}, {"order": "mixed", "average": True}],
)
def test_visits_in_turn_pass_every_check_but_those_that_their_weights_cannot(options):
    # A row given twice is visited twice, a row of weight two is corrected by twice the step: where every
    # row is visited in turn these are different runs, and the mean over visits ignores class weights.
    impossible = {
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
        "check_class_weight_classifiers",
    }
    assert checks_not_passed(sx.Perceptron(**options)) <= impossible


# ---------------------------------------------------------------- what the attributes say


@quietly
@every_order
@given(data=st.data())
def test_the_attributes_mean_what_they_say(order, data):
    case = data.draw(grids(storage=data.draw(st.sampled_from(TWO_STORAGES))))
    names = np.array(["ant", "bee", "cat", "dog"])[: case.n_classes]
    model = sx.Perceptron(order=order, fit_intercept=case.lift, max_iter=15, random_state=0)
    model.fit(case.stored, names[case.codes])
    result = model.result_
    assert model.mistakes_ == result.mistakes == sum(record.mistakes for record in result.history)
    assert model.mistake_counts_.sum() == model.kept_mistakes_ == result.kept_mistakes <= model.mistakes_
    assert model.mistake_counts_.shape == case.codes.shape
    assert model.n_iter_ == result.passes == len(result.history)
    assert model.classes_.tolist() == names.tolist()
    assert model.n_features_in_ == case.X.shape[1]
    weights = naive.combination(case.X, case.codes, case.n_classes, case.lift, result.counts)
    shown = np.column_stack([model.coef_, model.intercept_]) if case.lift else model.coef_
    assert shown == pytest.approx(np.atleast_2d(weights), rel=1e-12, abs=1e-12)
    assert case.lift or not model.intercept_.any()
    scores = naive.scores(case.X, case.codes, case.n_classes, case.lift, result.weights)
    assert model.converged_ == (result.status is Status.SEPARATED) == bool(np.all(scores > 0))
    if model.converged_:
        assert model.score(case.stored, names[case.codes]) == 1.0


@quietly
def test_the_mistakes_of_a_model_are_told_apart_from_those_behind_its_weights():
    problem = make_overlapping(4000, 5, noise=0.05, random_state=2)
    model = sx.Perceptron(max_iter=30).fit(problem.X, problem.y)
    assert 0 < model.kept_mistakes_ < model.mistakes_
    assert model.mistake_counts_.sum() == model.kept_mistakes_
    before = model.mistakes_, model.kept_mistakes_
    model.partial_fit(problem.X[:200], problem.y[:200])
    made = model.result_.mistakes
    assert made > 0
    assert (model.mistakes_, model.kept_mistakes_) == (before[0] + made, before[1] + made)
    assert model.mistake_counts_.sum() == model.kept_mistakes_


@quietly
@given(data=st.data())
def test_predictions_are_the_sign_or_the_largest_output(data):
    case = data.draw(grids(storage=data.draw(st.sampled_from(TWO_STORAGES))))
    model = sx.Perceptron(order="cyclic", fit_intercept=case.lift, max_iter=4).fit(case.stored, case.codes)
    outputs = naive.lifted(case.X, case.lift) @ np.atleast_2d(model.result_.weights).T
    expected = (outputs[:, 0] > 0).astype(int) if case.n_classes == 2 else outputs.argmax(axis=1)
    assert np.array_equal(
        model.decision_function(case.stored), outputs[:, 0] if case.n_classes == 2 else outputs
    )
    assert np.array_equal(model.predict(case.stored), expected)


def naive_run(case, order, passes):
    return naive.perceptron(
        case.X,
        case.codes,
        n_classes=case.n_classes,
        lift=case.lift,
        order="cyclic" if order == "cyclic" else "shuffled",
        max_iter=passes,
        seed=6,
    )


@quietly
@given(data=st.data(), order=st.sampled_from(["cyclic", "shuffled", "working_set"]))
def test_an_averaged_model_predicts_with_the_mean_weights(data, order):
    case = data.draw(grids(storage=data.draw(st.sampled_from(TWO_STORAGES))))
    model = sx.Perceptron(
        order=order, average="averaged", fit_intercept=case.lift, max_iter=4, random_state=6
    )
    model.fit(case.stored, case.codes)
    answer = naive_run(case, order, model.n_iter_)
    outputs = naive.lifted(case.X, case.lift) @ np.atleast_2d(naive.average(answer)).T
    shown = model.decision_function(case.stored)
    assert shown == pytest.approx(outputs[:, 0] if case.n_classes == 2 else outputs, rel=1e-9, abs=1e-9)


@quietly
@given(data=st.data(), order=st.sampled_from(["cyclic", "shuffled", "working_set"]))
def test_a_voted_model_lets_every_copy_of_the_weights_vote(data, order):
    storage = data.draw(st.sampled_from(TWO_STORAGES))
    case = data.draw(grids(storage=storage))
    other = data.draw(grids(storage=storage, max_columns=1))
    model = sx.Perceptron(order=order, average="voted", fit_intercept=case.lift, max_iter=4, random_state=6)
    model.fit(case.stored, case.codes)
    answer = naive_run(case, order, model.n_iter_)
    unseen = np.repeat(other.X, case.X.shape[1], axis=1)
    for X in (case.X, unseen):
        shares = naive.votes(answer, X, case.n_classes, case.lift) / len(answer.visited)
        shown = model.decision_function(sparse.csr_array(X) if "CSR" in storage else X)
        assert shown == pytest.approx(shares[:, 1] - shares[:, 0] if case.n_classes == 2 else shares)
        assert np.array_equal(model.predict(X), shares.argmax(axis=1))


@quietly
def test_a_voted_model_keeps_mistakes_and_not_copies():
    problem = make_overlapping(400, 200, noise=0.1, random_state=0)
    model = sx.Perceptron(order="cyclic", average="voted", max_iter=20).fit(problem.X, problem.y)
    copies = model.mistakes_ * 201 * 8
    assert len(pickle.dumps(model._voters)) < copies / 2
    assert model._voters.support.shape[0] <= 400


@quietly
def test_averaged_and_voted_models_are_fitted_by_every_order_that_visits_every_row():
    problem = make_overlapping(60, 3, random_state=0)
    for average in ("averaged", "voted"):
        model = sx.Perceptron(average=average, max_iter=5, random_state=0).fit(problem.X, problem.y)
        assert model.result_.order == "shuffled"
        with pytest.raises(ValueError, match="cyclic"):
            sx.Perceptron(order="worst", average=average).fit(problem.X, problem.y)


@every_order
def test_the_same_seed_gives_the_same_model(order):
    problem = make_separable(80, 3, margin=0.1, random_state=0)
    options = {"order": order, "init": "random", "random_state": 11, "max_iter": 1000}
    one = sx.Perceptron(**options).fit(problem.X, problem.y)
    other = sx.Perceptron(**options).fit(problem.X, problem.y)
    assert np.array_equal(one.coef_, other.coef_)
    assert one.mistakes_ == other.mistakes_
    assert one.converged_


def test_another_seed_gives_another_shuffle():
    problem = make_separable(200, 5, margin=0.02, random_state=0)
    models = [
        sx.Perceptron(order="shuffled", max_iter=5000, random_state=seed).fit(problem.X, problem.y)
        for seed in (1, np.random.default_rng(2), np.random.RandomState(3))
    ]
    assert len({tuple(model.coef_[0]) for model in models}) == 3


def test_a_given_start_is_where_learning_starts():
    problem = make_separable(50, 2, margin=0.1, random_state=0)
    start = np.append(100 * problem.weights, 0.0)
    model = sx.Perceptron(init=start).fit(problem.X, problem.y)
    assert model.mistakes_ == 0
    assert np.array_equal(model.result_.weights, start)
    model.coef_ += 1.0
    assert np.array_equal(start, np.append(100 * problem.weights, 0.0))


# ---------------------------------------------------------------- weights of rows and classes


@quietly
@every_order
@given(data=st.data())
def test_a_row_of_weight_zero_is_as_if_absent(order, data):
    case = data.draw(grids(storage=data.draw(st.sampled_from(TWO_STORAGES))))
    n_rows = len(case.codes)
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows)))
    assume(np.unique(case.codes[keep]).size == case.n_classes)
    options = {"order": order, "fit_intercept": case.lift, "max_iter": 12, "random_state": 4}
    weighted = sx.Perceptron(**options).fit(case.stored, case.codes, sample_weight=keep.astype(float))
    absent = sx.Perceptron(**options).fit(case.stored[np.flatnonzero(keep)], case.codes[keep])
    assert np.array_equal(weighted.coef_, absent.coef_)
    assert np.array_equal(weighted.intercept_, absent.intercept_)
    assert np.array_equal(weighted.mistake_counts_[keep], absent.mistake_counts_)
    assert not weighted.mistake_counts_[~keep].any()
    for name in ("status", "errors", "passes", "radius", "margin_lower", "margin_upper"):
        assert getattr(weighted.result_, name) == getattr(absent.result_, name), name


@quietly
@pytest.mark.parametrize("order", ["cyclic", "shuffled"])
@given(data=st.data())
def test_weights_of_rows_scale_their_updates(order, data):
    case = data.draw(grids(storage=data.draw(st.sampled_from(TWO_STORAGES))))
    n_rows = len(case.codes)
    drawn = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=n_rows, max_size=n_rows)
    weights = np.array(data.draw(drawn))
    assume(np.unique(case.codes[weights > 0]).size == case.n_classes)
    model = sx.Perceptron(order=order, fit_intercept=case.lift, max_iter=4, random_state=4, trace=True)
    model.fit(case.stored, case.codes, sample_weight=weights)
    answer = naive.perceptron(
        case.X,
        case.codes,
        n_classes=case.n_classes,
        lift=case.lift,
        order=order,
        max_iter=model.n_iter_,
        weights=weights,
        seed=4,
    )
    assert model.result_.trace.rows.tolist() == answer.rows
    assert np.array_equal(model.result_.weights, answer.weights)
    total = naive.combination(case.X, case.codes, case.n_classes, case.lift, model.result_.counts, weights)
    assert model.result_.weights == pytest.approx(total)


@quietly
@every_order
@given(data=st.data())
def test_weights_of_classes_scale_the_updates_of_their_rows(order, data):
    case = data.draw(grids(storage="float64 by rows"))
    by_class = dict(enumerate([0.5, 2.0, 4.0, 1.0][: case.n_classes]))
    model = sx.Perceptron(
        order=order, class_weight=by_class, fit_intercept=case.lift, max_iter=8, random_state=0, trace=True
    ).fit(case.stored, case.codes)
    steps = np.array([by_class[code] for code in case.codes])
    total = naive.combination(case.X, case.codes, case.n_classes, case.lift, model.result_.counts, steps)
    assert np.array_equal(model.result_.weights, total)
    assert np.all(model.result_.trace.scores <= 0)


def test_balanced_classes_are_those_of_scikit_learn():
    problem = make_separable(60, 3, margin=0.1, random_state=0)
    X, y = problem.X[:45], np.sort(problem.y)[:45]
    y = np.where(problem.X[:45] @ problem.weights > 0, 1, -1)
    counts = {label: np.sum(y == label) for label in (-1, 1)}
    by_hand = {label: len(y) / (2 * count) for label, count in counts.items()}
    options = {"order": "cyclic", "max_iter": 1000}
    balanced = sx.Perceptron(class_weight="balanced", **options).fit(X, y)
    assert np.array_equal(balanced.coef_, sx.Perceptron(class_weight=by_hand, **options).fit(X, y).coef_)


# ---------------------------------------------------------------- not converged


@every_order
def test_not_converged_is_a_warning_that_says_what_to_do(order):
    problem = make_overlapping(80, 3, random_state=0)
    model = sx.Perceptron(order=order, max_iter=12, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"Ask sx\.separability\(X, y\) whether.*SoftMargin"):
        model.fit(problem.X, problem.y)
    assert not model.converged_
    assert model.result_.status is Status.PASS_LIMIT


@every_order
def test_the_warning_says_how_many_rows_are_wrong_after_how_many_passes(order):
    problem = make_overlapping(80, 3, random_state=1)
    model = sx.Perceptron(order=order, max_iter=12, random_state=0)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(problem.X, problem.y)
    (text,) = (str(warning.message) for warning in caught)
    wrong = np.sum(model.predict(problem.X) != problem.y)
    for words in (f"{wrong} of 80 rows", f"{model.n_iter_} passes"):
        assert words in text
    assert caught[0].filename == __file__


def test_an_update_limit_is_a_warning_that_names_it():
    problem = make_overlapping(80, 3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="limit of updates.*max_updates"):
        model = sx.Perceptron(order="cyclic", max_updates=5).fit(problem.X, problem.y)
    assert model.mistakes_ == 5


@every_order
def test_xor_is_a_warning_that_says_inseparable(order):
    problem = make_xor()
    with pytest.warns(ConvergenceWarning, match="No weights of this model separate.*for a certificate"):
        model = sx.Perceptron(order=order, max_iter=10_000, random_state=0).fit(problem.X, problem.y)
    assert model.result_.status is Status.INSEPARABLE


@pytest.mark.filterwarnings("error")
@every_order
def test_converged_is_no_warning(order):
    problem = make_separable(80, 3, margin=0.1, random_state=0)
    assert sx.Perceptron(order=order, max_iter=10_000).fit(problem.X, problem.y).converged_


# ---------------------------------------------------------------- with the rest of scikit-learn


def test_it_works_in_a_pipeline_a_search_and_a_calibration():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), sx.Perceptron(average="averaged", order="cyclic", max_iter=20))
    with pytest.warns(ConvergenceWarning):
        assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(
        pipeline,
        {"perceptron__average": [False, "averaged", "voted"], "perceptron__eta0": [1.0, 0.1]},
        cv=3,
    )
    with pytest.warns(ConvergenceWarning):
        search.fit(X, y)
    assert search.best_score_ > 0.9
    with pytest.warns(ConvergenceWarning):
        calibrated = CalibratedClassifierCV(pipeline, cv=3).fit(X, y)
    shares = calibrated.predict_proba(X)
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(X)))
    assert calibrated.score(X, y) > 0.85


@quietly
def test_a_search_in_processes_reads_memory_that_cannot_be_written():
    X, y = load_iris(return_X_y=True)
    X.flags.writeable = y.flags.writeable = False
    assert sx.Perceptron(max_iter=20).fit(X, y).score(X, y) > 0.6


def frames(X):
    yield pd.DataFrame(X, columns=["length", "width"])
    yield pl.DataFrame(X, schema=["length", "width"])


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_keep_their_column_names(kind):
    problem = make_separable(30, 2, margin=0.2, random_state=0)
    frame = dict(zip(("pandas", "polars"), frames(problem.X), strict=True))[kind]
    model = sx.Perceptron().fit(frame, problem.y)
    assert model.feature_names_in_.tolist() == ["length", "width"]
    assert np.array_equal(model.coef_, sx.Perceptron().fit(problem.X, problem.y).coef_)
    assert model.score(frame, problem.y) == 1.0
    with pytest.raises(ValueError, match="feature names"):
        model.predict(
            frame.rename({"width": "breadth"}) if kind == "polars" else frame.rename(columns=str.upper)
        )


def test_a_pipeline_with_frames_out_keeps_the_names():
    problem = make_separable(30, 2, margin=0.2, random_state=0)
    frame = pd.DataFrame(problem.X, columns=["length", "width"])
    pipeline = (
        make_pipeline(StandardScaler(), sx.Perceptron()).set_output(transform="pandas").fit(frame, problem.y)
    )
    assert pipeline[-1].feature_names_in_.tolist() == ["length", "width"]


def test_a_matrix_is_not_changed_by_a_fit():
    problem = make_separable(30, 2, margin=0.2, random_state=0)
    before = problem.X.copy()
    sx.Perceptron().fit(problem.X, problem.y)
    assert np.array_equal(problem.X, before)


@quietly
@pytest.mark.parametrize("average", [False, "averaged", "voted"])
def test_a_clone_is_new_and_a_pickle_is_the_same(average):
    problem = make_multiclass(60, 3, 3, margin=0.05, random_state=0)
    model = sx.Perceptron(average=average, order="cyclic", eta0=0.5).fit(problem.X, problem.y)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict(problem.X)
    restored = pickle.loads(pickle.dumps(model))
    assert np.array_equal(restored.decision_function(problem.X), model.decision_function(problem.X))
    assert np.array_equal(restored.mistake_counts_, model.mistake_counts_)
    restored.partial_fit(problem.X, problem.y)
    model.partial_fit(problem.X, problem.y)
    assert np.array_equal(restored.coef_, model.coef_)


def test_parameters_can_be_set_and_take_effect():
    problem = make_separable(60, 3, margin=0.02, random_state=0)
    model = sx.Perceptron().set_params(order="cyclic", max_updates=2, fit_intercept=False)
    with pytest.warns(ConvergenceWarning):
        model.fit(problem.X, problem.y)
    assert model.mistakes_ == 2
    assert model.intercept_.tolist() == [0.0]
    with pytest.raises(ValueError, match="has no parameter"):
        model.set_params(speed=3)


@pytest.mark.parametrize(
    "labels", [[-1, 1], [0, 1], ["no", "yes"], [False, True], [1.0, 2.0], [10**12, 10**13]]
)
def test_any_two_labels_will_do(labels):
    problem = make_separable(40, 3, margin=0.2, random_state=0)
    y = np.array(labels)[(problem.y > 0).astype(int)]
    model = sx.Perceptron().fit(problem.X, y)
    assert model.classes_.tolist() == labels
    assert np.array_equal(model.predict(problem.X), y)
    assert model.predict(problem.X).dtype == y.dtype


def test_a_class_of_zero_weight_is_not_balanced():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 2]
    model = sx.Perceptron(class_weight="balanced").fit(X, y, sample_weight=[1, 1, 1, 0])
    assert model.converged_
    assert not model.coef_[2].any()


@pytest.mark.parametrize(
    "labels",
    [
        np.array([-128, 0, 127], dtype=np.int8),
        np.array([-30_000, 0, 30_000], dtype=np.int16),
        np.array([2**63 + 1, 2**63 + 2, 2**63 + 3], dtype=np.uint64),
        np.array([-(2**63), -(2**63) + 1, 2**63 - 1]),
        np.array([0, 1, 5], dtype=">i8"),
    ],
    ids=["int8", "int16", "uint64", "int64", "big-endian"],
)
def test_whole_numbers_of_any_size_are_labels(labels):
    y = labels[[0, 1, 2, 0, 1, 2]]
    model = sx.Perceptron().fit(np.eye(6), y)
    assert model.converged_
    assert model.classes_.tolist() == labels.tolist()
    assert model.predict(np.eye(6)).tolist() == y.tolist()


def test_many_classes_get_one_weight_vector_each():
    problem = make_multiclass(80, 4, 4, margin=0.05, random_state=0)
    model = sx.Perceptron(fit_intercept=False, max_iter=1000).fit(problem.X, problem.y)
    assert model.coef_.shape == (4, 4)
    assert model.intercept_.shape == (4,)
    assert model.score(problem.X, problem.y) == 1.0
    assert model.coef_.sum(axis=0) == pytest.approx(np.zeros(4))


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int64])
def test_the_weights_are_float64_whatever_the_rows(dtype):
    X = np.array([[2, 1], [1, 3], [0, 0], [1, 0]], dtype=dtype)
    model = sx.Perceptron().fit(X, [1, 1, 0, 0])
    assert model.coef_.dtype == model.intercept_.dtype == model.decision_function(X).dtype == np.float64
    assert model.score(X, [1, 1, 0, 0]) == 1.0


def named(section, text):
    """What a numpydoc section lists."""
    lines = inspect.cleandoc(text).split("\n")
    if section not in lines:
        return set()
    start = lines.index(section) + 2
    end = next((k for k in range(start, len(lines) - 1) if lines[k + 1].startswith("---")), len(lines))
    heads = [line.split(" : ")[0] for line in lines[start:end] if line and not line.startswith(" ")]
    return {name.strip() for head in heads for name in head.split(",")}


@pytest.mark.parametrize(
    "model",
    [
        sx.Perceptron(),
        sx.KernelPerceptron(budget=3),
        sx.MaxMargin(),
        sx.MaxMargin(kernel="rbf"),
        sx.SoftMargin(),
        sx.LinearProgram(),
        sx.features.Monomials(),
        sx.features.RadialLift(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_documentation_names_every_parameter_and_attribute(model):
    model.fit(pd.DataFrame({"a": [1.0, 2.0, -1.0], "b": [0.0, 1.0, 0.0]}), [1, 1, 0])
    text = type(model).__doc__
    assert named("Parameters", text) == set(model.get_params())
    public = {name for name in dir(model) if name.endswith("_") and not name.startswith("_")}
    only_some = {"coef_", "support_vectors_"} if isinstance(model, sx.MaxMargin | sx.SoftMargin) else set()
    assert named("Attributes", text) - only_some == public - only_some


TYPES = {
    "text with a zero byte": ("a\0", "a"),
    "bytes": (b"a", b"b"),
    "dates": (date(2020, 1, 1), date(2021, 1, 1)),
    "decimals": (Decimal(1), Decimal(2)),
    "large integers": (2**70, 2**70 + 1),
    "booleans": (False, True),
}


@pytest.mark.parametrize("labels", TYPES.values(), ids=TYPES)
def test_a_score_is_the_share_of_equal_labels_whatever_their_type(labels):
    X, one, other = np.array([[0.0], [1.0], [5.0], [6.0]]), *labels
    model = sx.Perceptron().fit(X, [one, one, other, other])
    assert model.score(X, [one, one, other, other]) == 1.0
    assert model.score(X, [one, one, other, one]) == 0.75
    assert model.score(X, [other, other, one, one]) == 0.0
    assert model.score(X, [one, one, other, one], sample_weight=[1, 1, 1, 3]) == 0.5
    with pytest.raises(LabelError, match="Use labels of one type"):
        model.score(X, [0, 1, 2, 3] if isinstance(one, str) else ["a", "b", "c", "d"])
