"""Laws of habits: what users of scikit-learn type works here as there, or says what to type instead."""

from __future__ import annotations

import inspect
import pickle
import re
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import separatrix as sx
from separatrix.datasets import make_overlapping, make_separable
from separatrix.errors import InputError, NotSeparable, UnknownParameterError
from separatrix.kernels import tuned
from tests.problems import TWO_STORAGES, grids

quietly = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
ESTIMATORS = (sx.Perceptron, sx.KernelPerceptron, sx.MaxMargin, sx.SoftMargin, sx.LinearProgram)
PEERS = (Perceptron, SGDClassifier, LinearSVC, SVC)
every_estimator = pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])


def parameters(kind):
    return set(inspect.signature(kind).parameters)


# ---------------------------------------------------------------- names


@every_estimator
def test_one_name_for_one_thing_in_all_estimators(kind):
    own = parameters(kind)
    assert not own & {"max_passes", "learning_rate", "n_passes"}
    assert "verbose" in own
    assert list(inspect.signature(kind).parameters) == list(inspect.signature(kind.__init__).parameters)[1:]


@every_estimator
@pytest.mark.parametrize("name", sorted(set().union(*map(parameters, PEERS))))
def test_a_parameter_of_scikit_learn_is_there_or_the_error_says_what_to_do_instead(kind, name):
    if name in parameters(kind):
        return
    for attempt in (lambda: kind(**{name: 1}), lambda: kind().set_params(**{name: 1})):
        with pytest.raises(UnknownParameterError, match=f"{kind.__name__} has no parameter '{name}'") as told:
            attempt()
        assert isinstance(told.value, TypeError)
        assert isinstance(told.value, ValueError)
        assert "Its parameters are" not in told.value.remedy
        assert told.value.remedy.endswith((".", "=..."))
        assert told.value.parameter == name


@pytest.mark.parametrize(
    ("kind", "name", "remedy"),
    [
        (sx.Perceptron, "penalty", r"SoftMargin\(C="),
        (sx.Perceptron, "alpha", r"C=1 / \(alpha \* rows\)"),
        (sx.Perceptron, "shuffle", "order='shuffled'"),
        (sx.Perceptron, "tol", "max_iter"),
        (sx.Perceptron, "max_passes", "max_iter"),
        (sx.Perceptron, "early_stopping", "average=True"),
        (sx.Perceptron, "n_jobs", "cores"),
        (sx.Perceptron, "learning_rate", "eta0"),
        (sx.Perceptron, "kernel", "KernelPerceptron"),
        (sx.KernelPerceptron, "C", "SoftMargin"),
        (sx.KernelPerceptron, "warm_start", "partial_fit"),
        (sx.MaxMargin, "tol", "gap"),
        (sx.SoftMargin, "intercept_scaling", "fit_intercept=True"),
        (sx.Perceptron, "intercept", "fit_intercept=True"),
        (sx.SoftMargin, "probability", "CalibratedClassifierCV"),
        (sx.LinearProgram, "dual", "form='dual'"),
    ],
)
def test_the_error_names_the_remedy(kind, name, remedy):
    with pytest.raises(TypeError, match=remedy):
        kind(**{name: "l2"})


@every_estimator
def test_a_misspelt_parameter_is_answered_by_its_likely_name(kind):
    with pytest.raises(TypeError, match="Did you mean 'verbose'"):
        kind(verbos=1)
    with pytest.raises(TypeError, match="Its parameters are"):
        kind(zzzzzz=1)


RENAMED = pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        (sx.MaxMargin, "free", True),
        (sx.MaxMargin, "lifted", "lifted"),
        (sx.MaxMargin, None, False),
        (sx.SoftMargin, "free", True),
        (sx.SoftMargin, "lifted", "lifted"),
        (sx.SoftMargin, None, False),
        (sx.LinearProgram, "lifted", True),
        (sx.LinearProgram, None, False),
    ],
)


@RENAMED
def test_the_old_name_of_the_intercept_is_accepted_with_a_warning_that_says_what_to_write(kind, old, new):
    for make in (lambda: kind(intercept=old), lambda: kind().set_params(intercept=old)):
        with pytest.warns(FutureWarning, match=re.escape(f"Write fit_intercept={new!r}")) as caught:
            model = make()
        assert caught[0].filename == __file__
        assert model.fit_intercept is new or model.fit_intercept == new == "lifted"
        assert "intercept" not in model.get_params()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert clone(model).fit_intercept == new
    with pytest.raises(UnknownParameterError, match="fit_intercept="):
        kind(intercept=old, fit_intercept=new)


@every_estimator
@pytest.mark.parametrize("value", [True, False, "lifted", np.True_, np.False_])
def test_fit_intercept_takes_the_same_values_everywhere(kind, value):
    X, y = np.array([[1.0], [2.0], [-1.0], [-2.0]]), [1, 1, 0, 0]
    model = kind(fit_intercept=value).fit(X, y)
    assert model.predict(X).tolist() == y
    assert sx.separability(X, y, fit_intercept=value).lift is bool(value)


@every_estimator
@pytest.mark.parametrize("value", [None, 1, "free", "yes"])
def test_other_values_of_fit_intercept_are_refused(kind, value):
    with pytest.raises(InputError, match=f"{kind.__name__} must be True, False or 'lifted'") as told:
        kind(fit_intercept=value).fit(*XOR)
    assert told.value.parameter == "fit_intercept"
    with pytest.raises(InputError, match="separability must be True, False or 'lifted'"):
        sx.separability(*XOR, fit_intercept=value)


@quietly
@pytest.mark.parametrize("kind", [sx.Perceptron, sx.KernelPerceptron, sx.LinearProgram])
def test_lifted_means_true_where_the_intercept_is_always_a_constant_column(kind):
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]
    one, other = (kind(fit_intercept=value).fit(X, y) for value in (True, "lifted"))
    assert np.array_equal(one.decision_function(X), other.decision_function(X))
    if hasattr(one, "partial_fit"):
        one.partial_fit(X, y)
        other.set_params(fit_intercept=True).partial_fit(X, y)
        assert np.array_equal(one.decision_function(X), other.decision_function(X))


@every_estimator
def test_what_scikit_learn_does_with_estimators_still_works(kind):
    model = kind()
    assert clone(model).get_params() == model.get_params()
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()
    assert model.set_params(**model.get_params()) is model


def test_a_grid_with_a_wrong_name_is_refused_with_the_remedy():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(make_pipeline(StandardScaler(), sx.Perceptron()), {"perceptron__penalty": ["l2"]})
    with pytest.raises(ValueError, match="SoftMargin"):
        search.fit(X, y)


# ---------------------------------------------------------------- average, warm_start, verbose


@quietly
@given(data=st.data())
def test_average_true_is_averaged(data):
    case = data.draw(grids(storage=data.draw(st.sampled_from(TWO_STORAGES))))
    options = {"max_iter": 4, "random_state": 0, "fit_intercept": case.lift}
    one = sx.Perceptron(average=True, **options).fit(case.stored, case.codes)
    other = sx.Perceptron(average="averaged", **options).fit(case.stored, case.codes)
    assert np.array_equal(one.coef_, other.coef_)
    for model in (one, other):
        model.partial_fit(case.stored, case.codes)
    assert np.array_equal(one.coef_, other.coef_)


@quietly
def test_average_true_is_averaged_with_a_kernel():
    problem = make_overlapping(60, 3, random_state=0)
    one = sx.KernelPerceptron(average=True, max_iter=3).fit(problem.X, problem.y)
    other = sx.KernelPerceptron(average="averaged", max_iter=3).fit(problem.X, problem.y)
    assert np.array_equal(one.dual_coef_, other.dual_coef_)
    assert not np.array_equal(
        one.dual_coef_, sx.KernelPerceptron(max_iter=3).fit(problem.X, problem.y).dual_coef_
    )


@quietly
@given(data=st.data())
def test_a_warm_start_goes_on_from_the_last_weights(data):
    case = data.draw(grids(storage=data.draw(st.sampled_from(TWO_STORAGES))))
    options = {"order": "cyclic", "max_iter": 1, "fit_intercept": case.lift}
    model = sx.Perceptron(warm_start=True, **options)
    whole = sx.Perceptron(**{**options, "max_iter": 3}).fit(case.stored, case.codes)
    assume(whole.result_.cycle is None)  # a proof ends a run, and only within one call
    made = 0
    for _ in range(3):
        model.fit(case.stored, case.codes)
        made += model.mistakes_
    assert np.array_equal(model.coef_, whole.coef_)
    assert np.array_equal(model.intercept_, whole.intercept_)
    assert made == whole.mistakes_


@quietly
def test_a_warm_start_needs_the_same_classes_and_columns():
    problem = make_overlapping(40, 3, random_state=0)
    model = sx.Perceptron(warm_start=True).fit(problem.X, problem.y)
    before = model.coef_
    with pytest.raises(InputError, match="warm_start=True continues from weights of shape"):
        model.fit(problem.X[:, :2], problem.y)
    with pytest.raises(InputError, match="the classes"):
        model.fit(problem.X, problem.y + 5)
    assert model.coef_ is before
    model.set_params(warm_start=False).fit(problem.X[:, :2], problem.y)


def test_the_bounds_of_a_warm_start_know_the_first_weights():
    problem = make_separable(60, 3, margin=0.05, random_state=0)
    model = sx.Perceptron(order="cyclic", warm_start=True, max_updates=2)
    with pytest.warns(Warning, match="max_updates"):
        model.fit(problem.X, problem.y)
    first = np.linalg.norm(model.result_.weights)
    model.set_params(max_updates=None).fit(problem.X, problem.y)
    report = sx.mistake_bounds(model, problem.X, problem.y)
    assert report.start_norm == pytest.approx(first)
    assert not np.isfinite(report["Novikoff"].value)
    assert report.mistakes <= report["any start"].value


@quietly
@pytest.mark.parametrize(
    "model",
    [
        sx.Perceptron(max_iter=20),
        sx.KernelPerceptron(max_iter=5),
        sx.SoftMargin(),
        sx.MaxMargin(inseparable="warn"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_verbose_writes_lines_and_silence_is_the_default(model, capsys):
    problem = make_overlapping(300, 3, random_state=0)
    clone(model).fit(problem.X, problem.y)
    assert capsys.readouterr() == ("", "")
    clone(model).set_params(verbose=2).fit(problem.X, problem.y)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") >= 1
    assert "\r" not in err
    assert "\x1b" not in err


@every_estimator
@pytest.mark.parametrize("value", [-1, "yes", None, 0.5])
def test_verbose_is_a_count(kind, value):
    with pytest.raises(InputError, match="'verbose' parameter"):
        kind(verbose=value).fit(*XOR)


# ---------------------------------------------------------------- probabilities and shapes


@every_estimator
def test_probabilities_are_refused_with_the_way_to_get_them(kind):
    model = kind()
    for name in ("predict_proba", "predict_log_proba"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=f"{kind.__name__} has no {name}.*CalibratedClassifierCV"):
            getattr(model, name)


@quietly
def test_the_ways_to_get_probabilities_work_as_they_are_written():
    import sklearn.calibration
    import sklearn.frozen

    X, y = load_iris(return_X_y=True)
    estimator = sx.Perceptron(average=True, random_state=0).fit(X, y)
    with pytest.raises(AttributeError) as refused:
        estimator.predict_proba(X)
    ways = re.findall(r"sklearn\.calibration\S+\.fit\(X, y\)", str(refused.value))
    assert len(ways) == 2
    for way in ways:
        model = eval(way, {"sklearn": sklearn, "estimator": estimator, "X": X, "y": y})
        assert model.predict_proba(X).shape == (150, 3)


@quietly
@every_estimator
@pytest.mark.parametrize("n_classes", [2, 3])
def test_decision_functions_have_the_shapes_of_scikit_learn(kind, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    options = {"inseparable": "warn"} if "inseparable" in parameters(kind) else {}
    model = kind(**options).fit(X, y)
    for peer in (Perceptron(), LinearSVC(), SVC()):
        assert model.decision_function(X).shape == peer.fit(X, y).decision_function(X).shape


# ---------------------------------------------------------------- kernels by name


@given(st.floats(1e-3, 1e3), st.integers(1, 4), st.floats(0.0, 10.0), st.integers(0, 10**6))
def test_named_kernels_are_those_of_scikit_learn(gamma, degree, coef0, seed):
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (5, 3))
    assert tuned("rbf", X, gamma=gamma)(X) == pytest.approx(rbf_kernel(X, gamma=gamma), rel=1e-9, abs=1e-9)
    own = tuned("poly", X, gamma=gamma, degree=degree, coef0=coef0)(X)
    peer = polynomial_kernel(X, gamma=gamma, degree=degree, coef0=coef0)
    assert own == pytest.approx(peer, rel=1e-9, abs=1e-9 * np.abs(peer).max())


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.1])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_gamma_means_what_it_means_in_svc(store, gamma, kernel):
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]
    model = sx.MaxMargin(kernel=kernel, gamma=gamma, coef0=0.0).fit(store(X), y)
    peer = SVC(kernel=kernel, gamma=gamma, C=1e12, tol=1e-10).fit(store(X), y)
    assert model.decision_function(store(X)) == pytest.approx(
        peer.decision_function(store(X)), rel=1e-3, abs=1e-3
    )


@quietly
def test_gamma_scale_is_of_the_rows_that_count():
    X, y = load_iris(return_X_y=True)
    X, y = np.vstack([X, 1e6 * X]), np.concatenate([y, y])
    weights = np.repeat([1.0, 0.0], 150)
    model = sx.SoftMargin(kernel="rbf", gamma="scale").fit(X, y, sample_weight=weights)
    alone = sx.SoftMargin(kernel="rbf", gamma="scale").fit(X[:150], y[:150])
    assert model.kernel_ == alone.kernel_


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "sigmoid"}, "sigmoid.*negative eigenvalues"),
        ({"gamma": 0.0}, "'gamma' parameter must be above 0"),
        ({"gamma": "wide"}, "'scale', 'auto' or a positive number"),
        ({"gamma": np.nan}, "gamma"),
        ({"kernel": "poly", "coef0": -1.0}, "'coef0' parameter must be 0 or more"),
        ({"kernel": "poly", "degree": 0}, "'degree' parameter"),
        ({"kernel": sx.kernels.Gaussian(), "gamma": 0.1}, "only if the kernel is a name"),
    ],
)
@pytest.mark.parametrize("kind", [sx.KernelPerceptron, sx.MaxMargin])
def test_bad_parameters_of_a_kernel_are_refused(kind, options, words):
    with pytest.raises(ValueError, match=words):
        kind(**{"kernel": "rbf", **options}).fit(*XOR)


def test_parameters_of_a_kernel_need_one():
    with pytest.raises(InputError, match="gamma can be set only if there is a kernel"):
        sx.MaxMargin(gamma=0.1).fit(*XOR)


def test_what_needs_all_rows_is_refused_in_partial_fit():
    with pytest.raises(InputError, match=r"gamma='scale'.*partial_fit"):
        sx.KernelPerceptron(gamma="scale").partial_fit(*XOR, classes=[0, 1])


def test_gamma_must_stay_between_calls_of_partial_fit():
    model = sx.KernelPerceptron(gamma=0.5).partial_fit(*XOR, classes=[0, 1])
    with pytest.raises(InputError, match="must stay"):
        model.set_params(gamma=0.6).partial_fit(*XOR)


# ---------------------------------------------------------------- sample weights of zero and one


def test_sample_weights_of_a_kernel_perceptron_are_refused():
    with pytest.raises(TypeError, match="sample_weight"):
        sx.KernelPerceptron().fit(*XOR, sample_weight=[1, 1, 2, 1])


# ---------------------------------------------------------------- a run that ended at its limit


def warned(model, X, y):
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    return str(caught[0].message)


def test_the_warning_says_what_the_run_knows_and_whom_to_ask():
    X, y = load_breast_cancer(return_X_y=True)
    model = sx.Perceptron(fit_intercept=False, max_iter=5)
    said = warned(model, X, y)
    assert f"the weights have {model.result_.errors} of 569 rows on the wrong side or on the boundary" in said
    assert "no margin is larger than" in said
    assert "raise max_iter, or scale the columns" in said
    assert "Ask sx.separability(X, y, fit_intercept=False) whether the classes can be separated" in said
    assert "Ask sx.separability(X, y) whether" in warned(sx.Perceptron(max_iter=5), X, y)


def test_a_run_that_came_back_says_that_no_weights_separate_and_does_not_advise_to_go_on():
    said = warned(sx.Perceptron(order="cyclic"), *XOR)
    assert "No weights of this model separate these rows: the run came back to an earlier state." in said
    assert "Ask sx.separability(X, y) for a certificate" in said
    assert "max_iter" not in said


@pytest.mark.parametrize("average", [True, "voted"])
@pytest.mark.parametrize("kind", [sx.Perceptron, sx.KernelPerceptron])
def test_an_average_is_told_to_keep_it_where_nothing_separates(kind, average):
    X, y = make_overlapping(80, 3, random_state=0).X, np.arange(80) % 2
    said = warned(kind(max_iter=5, average=average), X, y)
    assert "the last" in said
    assert "keep the average" in said
    assert "If they can, raise max_iter, or scale the columns; if they cannot, keep the average" in said


@pytest.mark.parametrize("action", ["ignore", "once"])
def test_fit_asks_for_no_verdict_whatever_the_filter_of_warnings(action, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError

    problem = make_overlapping(80, 3, random_state=0)
    monkeypatch.setattr("separatrix.proofs.verdict.separability", refuse)
    monkeypatch.setattr("separatrix.estimators.hyperplane.separability", refuse)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter(action, ConvergenceWarning)
        sx.Perceptron(max_iter=5).fit(problem.X, problem.y)
        sx.KernelPerceptron(max_iter=5).fit(problem.X, problem.y)
        sx.MaxMargin().fit(problem.X, problem.X[:, 0] > 0.0)


def test_max_margin_solves_once_and_asks_for_at_most_one_verdict(monkeypatch):
    from separatrix.estimators import hyperplane, margin

    calls = []

    def counted(name, function):
        return lambda *args, **options: calls.append(name) or function(*args, **options)

    monkeypatch.setattr(margin, "solve_max_margin", counted("solve", margin.solve_max_margin))
    monkeypatch.setattr(hyperplane, "separability", counted("verdict", hyperplane.separability))
    problem = make_overlapping(80, 3, random_state=0)
    with pytest.raises(NotSeparable):
        sx.MaxMargin().fit(problem.X, problem.y)
    assert calls == ["solve", "verdict"]
    calls.clear()
    sx.MaxMargin().fit(problem.X, problem.X[:, 0] > 0.0)
    assert calls == ["solve"]
