"""Largest margins, verdicts and degrees in feature space, against explicit maps, libsvm and exact checks."""

from __future__ import annotations

import json
import time
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import separatrix as sx
from examples import classic_problems
from separatrix.certificates.monomials import MonomialMatrix
from separatrix.deadline import Deadline
from separatrix.dual.kernel_margin import certified_bracket, solve_kernel_margin
from separatrix.dual.kernel_rows import KernelRows
from separatrix.errors import (
    CertificateError,
    ConvergenceWarning,
    IllegalKernelError,
    InputError,
    NotSeparable,
    NumericOverflowError,
)
from separatrix.kernels import Gaussian, Geometric, Linear, Polynomial
from separatrix.result import Status

law = settings(max_examples=15, deadline=None)
INTERCEPTS = [True, "lifted", False]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([sx.MaxMargin(kernel=Polynomial(2), inseparable="warn")])
def test_obeys_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "precomputed"])
def test_checks_of_scikit_learn_pass_unless_they_give_a_matrix_that_is_not_legal(kernel):
    found = check_estimator(sx.MaxMargin(kernel=kernel, inseparable="warn"), on_fail=None, on_skip=None)
    assert len(found) > 40
    failed = {entry["check_name"] for entry in found if entry["status"] != "passed"}
    illegal = {"check_estimators_dtypes", "check_positive_only_tag_during_fit"}  # random square matrices
    assert failed == (illegal if kernel == "precomputed" else set())


def disc(seed, n_rows=60, columns=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, columns))
    square = (X**2).sum(axis=1)
    kept = np.abs(square - 1.5) > 0.05
    return X[kept], (square[kept] > 1.5).astype(int)


# The largest margin


@pytest.mark.parametrize("intercept", INTERCEPTS)
@law
@given(seed=st.integers(0, 10**6), many=st.booleans())
def test_the_margin_is_that_of_the_explicit_map(intercept, seed, many):
    X, y = disc(seed)
    if many:
        y = y + (X[:, 0] > 0) * y
    kernel = Polynomial(2) if intercept is False else Polynomial(2, c=0.5)
    ours = sx.MaxMargin(kernel=kernel, fit_intercept=intercept).fit(X, y)
    plain = sx.MaxMargin(fit_intercept=intercept).fit(kernel.feature_map(X), y)
    assert ours.margin_lower_ == pytest.approx(plain.margin_lower_, rel=1e-6)
    assert ours.margin_upper_ == pytest.approx(plain.margin_upper_, rel=1e-6)
    assert ours.margin_lower_ <= ours.margin_upper_ * (1 + 1e-9)
    assert np.array_equal(ours.predict(X), y)
    wanted = plain.decision_function(kernel.feature_map(X))
    assert np.allclose(ours.decision_function(X), wanted, atol=1e-4 * np.abs(wanted).max())


@law
@given(seed=st.integers(0, 10**6), c=st.floats(0.5, 2.0))
def test_libsvm_finds_the_same_margin(seed, c):
    X, y = disc(seed)
    kernel = Gaussian(c)
    ours = sx.MaxMargin(kernel=kernel).fit(X, y)
    theirs = SVC(kernel="rbf", gamma=c, C=1e10, tol=1e-8).fit(X, y)
    gram = kernel(X[theirs.support_])
    theirs_margin = float((theirs.dual_coef_ @ gram @ theirs.dual_coef_.T)[0, 0]) ** -0.5
    assert ours.converged_
    assert theirs_margin == pytest.approx(ours.margin_lower_, rel=1e-4)


def test_scores_follow_from_the_support_alone():
    X, y = disc(0)
    model = sx.MaxMargin(kernel="rbf").fit(X, y)
    scores = (model.dual_coef_ @ model.kernel_(X[model.support_], X))[0] + model.intercept_
    assert np.allclose(model.decision_function(X), scores)
    assert (np.where(y == 1, 1, -1) * scores).min() == pytest.approx(1.0, rel=1e-9)
    assert model.support_.size < len(X)


def _random(n_rows):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_rows, 5)), rng.integers(0, 2, n_rows)
    return KernelRows(Gaussian(0.1), X, y.astype(np.int32), 2, np.arange(n_rows), lift=True, free=False)


@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.5])
@pytest.mark.parametrize("n_rows", [500, 1500, 6000])
def test_a_deadline_is_kept_within_a_second_and_what_is_proved_by_then_holds(n_rows, seconds):
    certified_bracket(_random(60), solve_kernel_margin(_random(60), gap=1e-3, max_iter=2000))  # compile
    rows = _random(n_rows)
    start, worked = time.monotonic(), time.process_time()
    deadline = Deadline.after(seconds)
    found = solve_kernel_margin(rows, gap=1e-3, max_iter=2000, deadline=deadline)
    lower, upper = certified_bracket(rows, found, deadline=deadline)
    # By the clock, or of the processors where others keep those busy.
    assert min(time.monotonic() - start, time.process_time() - worked) < seconds + 1.0
    assert lower < upper
    assert upper > 0.0  # the margin is positive, as the kernel is strict
    assert found.status in (Status.REACHED, Status.TIME_LIMIT)


def test_a_deadline_leaves_time_to_certify_a_margin_that_was_found():
    X, y = disc(1, 4000)
    rows = KernelRows(Gaussian(1.0), X, y.astype(np.int32), 2, np.arange(len(y)), lift=True, free=False)
    deadline = Deadline.after(2.0)
    found = solve_kernel_margin(rows, gap=1e-15, max_iter=10**6, deadline=deadline)
    lower, upper = certified_bracket(rows, found, deadline=deadline)
    assert found.margin_lower > 0.0
    assert 0.0 < lower <= upper


def test_many_rows_need_a_small_working_set_only():
    X, y = disc(1, 4000)
    model = sx.MaxMargin(kernel=Polynomial(2)).fit(X, y)
    assert model.converged_
    assert model.support_.size < 20
    plain = sx.MaxMargin().fit(Polynomial(2).feature_map(X), y)
    assert model.margin_lower_ == pytest.approx(plain.margin_lower_, rel=1e-6)


@pytest.mark.parametrize("storage", [sparse.csr_array, sparse.csr_matrix, np.float32, np.asfortranarray])
def test_storage_makes_no_difference(storage):
    X, y = disc(2)
    X = np.round(X * 8) / 8
    X, place = np.unique(X, axis=0, return_index=True)
    y = ((X**2).sum(axis=1) > 1.5).astype(int)
    assert place.size == y.size
    wanted = sx.MaxMargin(kernel=Polynomial(2)).fit(X, y)
    found = sx.MaxMargin(kernel=Polynomial(2)).fit(storage(X), y)
    assert found.margin_lower_ == pytest.approx(wanted.margin_lower_, rel=1e-9)
    assert np.allclose(found.decision_function(storage(X)), wanted.decision_function(X), atol=1e-6)


def test_a_precomputed_matrix_and_a_function_serve_as_well():
    X, y = disc(3)
    wanted = sx.MaxMargin(kernel=Gaussian(1.0)).fit(X, y)
    gram = Gaussian(1.0)(X)
    given_matrix = sx.MaxMargin(kernel="precomputed").fit(gram, y)
    own = sx.MaxMargin(kernel=lambda A, B: Gaussian(1.0)(A, B)).fit(X, y)
    for model, rows in ((given_matrix, gram), (own, X)):
        assert model.margin_lower_ == pytest.approx(wanted.margin_lower_, rel=1e-8)
        assert np.allclose(model.decision_function(rows), wanted.decision_function(X), atol=1e-6)


def test_rows_of_weight_zero_are_left_out():
    X, y = disc(4)
    noisy = np.where(np.arange(len(y)) < 5, 1 - y, y)
    weight = (np.arange(len(y)) >= 5).astype(float)
    with_weights = sx.MaxMargin(kernel=Polynomial(2)).fit(X, noisy, sample_weight=weight)
    without = sx.MaxMargin(kernel=Polynomial(2)).fit(X[5:], y[5:])
    assert with_weights.margin_lower_ == pytest.approx(without.margin_lower_, rel=1e-9)
    assert with_weights.support_.min() >= 5


@law
@given(seed=st.integers(0, 10**6), kernel=st.sampled_from([Polynomial(2), Gaussian(1.0), Geometric(2)]))
def test_the_certified_bracket_holds_the_bracket_of_the_solver(seed, kernel):
    X, y = disc(seed)
    rows = KernelRows(kernel, X, y.astype(np.int32), 2, np.arange(len(y)), True, False)
    found = solve_kernel_margin(rows)
    lower, upper = certified_bracket(rows, found)
    assert 0.0 < lower <= found.margin_lower
    assert upper >= found.margin_upper * (1 - 1e-12)
    assert upper - lower <= 1e-6 * upper


# What cannot be separated


def test_a_proof_comes_with_the_refusal():
    X, y = disc(5)
    y[0] = 1 - y[0]
    with pytest.raises(NotSeparable, match="cannot be separated") as caught:
        sx.MaxMargin(kernel=Polynomial(2)).fit(X, y)
    assert sx.verify(caught.value.certificate, X, y).holds


def test_identical_rows_are_proof_for_any_kernel():
    X, y = disc(6)
    X, y = np.vstack([X, X[:1]]), np.append(y, 1 - y[0])
    for kernel in ("rbf", lambda A, B: Gaussian(2.0)(A, B)):
        verdict = sx.separability(X, y, kernel=kernel)
        assert verdict.status == "inseparable"
        assert sorted(verdict.witness_rows) == [0, len(y) - 1]
        assert sx.verify(verdict.certificate, X, y).holds
        with pytest.raises(NotSeparable) as caught:
            sx.MaxMargin(kernel=kernel).fit(X, y)
        assert sx.verify(caught.value.certificate, X, y).holds


def test_the_soft_margin_takes_over_where_it_is_asked_to():
    X, y = disc(7)
    y[0] = 1 - y[0]
    with pytest.warns(ConvergenceWarning, match="soft margin"):
        model = sx.MaxMargin(kernel=Polynomial(2), inseparable="warn").fit(X, y)
    theirs = SVC(kernel=Polynomial(2), C=1.0, tol=1e-8).fit(X, y)
    assert np.allclose(model.decision_function(X), theirs.decision_function(X), atol=1e-3)


@pytest.mark.parametrize(
    ("kernel", "X", "message"),
    [
        ("precomputed", np.ones((4, 3)), "must be square"),
        ("precomputed", np.triu(np.ones((4, 4))), "must be symmetric"),
        ("precomputed", -np.eye(4), "not legal"),
        ("precomputed", 1.0 - np.eye(4), "not legal"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), np.eye(4), "returned nan"),
        (lambda A, B: np.ones(3), np.eye(4), "is needed"),
        ("cosine", np.eye(4), "no kernel named 'cosine'"),
    ],
)
def test_kernels_that_are_none_are_refused(kernel, X, message):
    with pytest.raises(InputError, match=message):
        sx.MaxMargin(kernel=kernel).fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize("inseparable", ["raise", "warn"])
@pytest.mark.parametrize("shift", [0.0, 3.0], ids=["some eigenvalues", "a negative diagonal"])
def test_a_matrix_that_is_no_inner_products_is_refused(shift, inseparable):
    rng = np.random.default_rng(0)
    K = rng.normal(size=(40, 40))
    K = K + K.T - shift * np.eye(40)
    with pytest.raises(IllegalKernelError, match="not legal"):
        sx.MaxMargin(kernel="precomputed", inseparable=inseparable).fit(K, np.arange(40) % 2)


@pytest.mark.parametrize("model", [sx.MaxMargin, sx.SoftMargin])
def test_a_legal_kernel_is_never_called_illegal(model):
    X = np.random.default_rng(0).normal(size=(20, 3)) + 1e6  # such as seconds since a date
    with pytest.raises(NumericOverflowError, match="Rounding errors of the kernel"):
        model(kernel=Gaussian(0.1)).fit(X, np.arange(20) % 2)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_where_the_steps_run_out_independent_images_are_separated_all_the_same(intercept):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 4
    X, y = np.vstack([X, X[:1] + np.array([1e-5, 0.0])]), np.append(y, 1)  # no margin is above 1e-5
    with pytest.warns(ConvergenceWarning, match="limit of steps"):
        model = sx.MaxMargin(kernel=Gaussian(1.0), fit_intercept=intercept, max_iter=100).fit(X, y)
    assert 0.0 < model.margin_lower_ <= model.margin_upper_ < 1e-4
    assert np.array_equal(model.predict(X), y)


def test_prediction_needs_rows_of_the_same_width():
    X, y = disc(8)
    model = sx.MaxMargin(kernel="rbf").fit(X, y)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(np.ones((2, 3)))


# Verdicts


def exact_monomials(X, degrees):
    rows = []
    for row in X.tolist():
        numbers = [Fraction(v) for v in row]
        rows.append(
            [
                np.prod([numbers[c] for c in which], initial=Fraction(1))
                for degree in degrees
                for which in combinations_with_replacement(range(len(numbers)), degree)
            ]
        )
    return rows


@law
@given(
    seed=st.integers(0, 10**6),
    power=st.sampled_from([-200, -3, 0, 90]),
    degrees=st.sampled_from([(1, 2), (3,)]),
)
def test_mapped_rows_are_exact(seed, power, degrees):
    X = np.random.default_rng(seed).normal(size=(4, 3)) * 2.0**power
    X[0, 1] = 0.0
    mapped = MonomialMatrix(X, degrees)
    wanted = exact_monomials(X, degrees)
    for row in range(4):
        found = [Fraction(0)] * mapped.shape[1]
        numbers = [(c, *v.as_integer_ratio()) for c, v in enumerate(X[row].tolist()) if v]
        dyadic = [(c, top, 1 - bottom.bit_length()) for c, top, bottom in numbers]
        for column, mantissa, exponent in mapped.integers(iter(dyadic)):
            found[column] = Fraction(mantissa) * Fraction(2) ** exponent
        assert found == wanted[row]
        floats = mapped[row : row + 1][0]
        for value, exact in zip(floats.tolist(), wanted[row], strict=True):
            error = abs(Fraction(value) - exact)
            assert error <= 3 * Fraction(2) ** -52 * abs(exact) + Fraction(mapped.smallest_error())


@law
@given(seed=st.integers(0, 10**6), flips=st.integers(0, 2), scale=st.sampled_from([1.0, 1e-90, 1e60]))
def test_verdicts_through_the_map_hold_in_rationals(seed, flips, scale):
    X, y = disc(seed, 25)
    y[:flips] = 1 - y[:flips]
    X = X * scale
    verdict = sx.separability(X, y, kernel=Polynomial(2), quasi=False)
    certificate = verdict.certificate
    assert certificate.degrees == (1, 2)
    assert sx.verify(json.dumps(certificate.to_dict()), X, y).holds
    rows = [[*row, Fraction(1)] for row in exact_monomials(X, (1, 2))]
    signs = np.where(y == 1, 1, -1).tolist()
    if verdict.separable:
        weights = [Fraction(v) for v in certificate.weights[0]]
        assert all(
            s * sum(w * v for w, v in zip(weights, row, strict=True)) > 0
            for s, row in zip(signs, rows, strict=True)
        )
    else:
        values = certificate.multipliers.numerators()
        total = [
            sum(v * signs[i] * rows[i][j] for i, v in zip(certificate.multipliers.rows, values, strict=True))
            for j in range(6)
        ]
        assert total == [0] * 6
        assert min(values) > 0


@law
@given(seed=st.integers(0, 10**6), flips=st.integers(0, 2))
def test_the_finer_verdict_is_that_of_the_integer_map(seed, flips):
    X = np.random.default_rng(seed).integers(-3, 4, (20, 2))
    y = ((X**2).sum(axis=1) > 6).astype(int)
    y[:flips] = 1 - y[:flips]
    y[-2:] = [0, 1]
    mapped = np.column_stack([X, X[:, 0] ** 2, X[:, 0] * X[:, 1], X[:, 1] ** 2])
    verdict = sx.separability(X, y, kernel=Polynomial(2))
    assert verdict.status == sx.separability(mapped, y).status
    assert sx.verify(verdict.certificate, X, y).holds


def test_a_certificate_of_monomials_cannot_be_bent():
    X, y = disc(9)
    certificate = sx.separability(X, y, kernel=Polynomial(2)).certificate.to_dict()
    assert certificate["question"]["degrees"] == [1, 2]
    for degrees in ([], [0, 1], [2, 1], [1, 1], [99], ["2"]):
        with pytest.raises(CertificateError):
            sx.verify({**certificate, "question": {**certificate["question"], "degrees": degrees}}, X, y)
    weights = [list(certificate["weights"][0])]
    weights[0][2] = (-float.fromhex(weights[0][2])).hex()
    assert not sx.verify({**certificate, "weights": weights}, X, y).holds


def test_a_kernel_without_a_constant_may_need_the_intercept():
    X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), [0, 0, 1, 1]
    kernel = Polynomial(2, c=0)
    assert sx.separability(X, y, kernel=kernel).status == "separable"
    assert sx.separability(X, y, kernel=kernel, fit_intercept=False).status == "quasi-separable"
    assert sx.separability(X, y, kernel=Polynomial(2), fit_intercept=False).status == "separable"


def test_where_no_map_exists_a_bracket_or_a_theorem_decides():
    X, y = disc(10)
    verdict = sx.separability(X, y, kernel="rbf")
    assert verdict.status == "separable"
    assert 0.0 < verdict.margin[0] <= verdict.margin[1]
    assert verdict.certificate is None
    assert "margin" in verdict.reason
    close = np.array([[0.0], [1e-9], [2e-9], [1.0]])
    verdict = sx.separability(close, [0, 1, 0, 1], kernel="rbf")
    assert verdict.status == "separable"
    assert "Micchelli" in verdict.reason
    y[:3] = 1 - y[:3]
    verdict = sx.separability(X, y, kernel=Linear().warped(lambda X: 1.0 + X[:, 0] ** 2))
    assert verdict.status == "undecided"
    assert verdict.margin[0] <= 0.0 <= verdict.margin[1]


def test_responsible_features_are_monomials():
    X, y = sx.datasets.make_xor()
    verdict = sx.separability(X, y, kernel=Polynomial(2))
    assert verdict.responsible_features["x0 x1"] == -np.inf


# Degrees


@law
@given(seed=st.integers(0, 10**6), roots=st.integers(1, 4))
def test_sign_changes_on_a_line_are_the_smallest_degree(seed, roots):
    rng = np.random.default_rng(seed)
    changes = np.sort(rng.choice(np.arange(1, 20), roots, replace=False)).astype(float)
    X = np.arange(20.0)[:, None] + 0.5
    y = np.searchsorted(changes, X[:, 0]) % 2
    found = sx.smallest_separating_degree(X, y, max_degree=6)
    assert found.degree == roots
    assert list(found.verdicts) == list(range(1, roots + 1))
    for verdict in found.verdicts.values():
        assert sx.verify(verdict.certificate, X, y).holds


def test_degrees_end_where_nothing_can_help():
    found = sx.smallest_separating_degree([[0.0], [1.0], [1.0]], [0, 1, 0], max_degree=4)
    assert (found.degree, found.separable, found.conflict) == (None, False, True)
    assert list(found.verdicts) == [1]
    assert "identical rows" in str(found)
    found = sx.smallest_separating_degree(np.arange(6.0)[:, None], [0, 1, 0, 1, 0, 1], max_degree=3)
    assert (found.degree, found.separable, found.conflict) == (None, False, False)
    assert "no degree up to 3" in str(found)
    with pytest.raises(InputError, match="Got 0 instead"):
        sx.smallest_separating_degree([[0.0], [1.0]], [0, 1], max_degree=0)


# Classic problems


@pytest.mark.parametrize("name", classic_problems.PROBLEMS)
def test_embedding_and_kernel_agree_on_the_classic_problems(name):
    answer = classic_problems.solve(name)
    problem = answer.problem
    plain = sx.separability(problem.X, problem.y, quasi=False)
    assert plain.status == "inseparable"
    assert sx.verify(answer.verdict.certificate, problem.X, problem.y).holds
    assert answer.by_kernel.margin_lower_ == pytest.approx(answer.by_embedding.margin_lower_, rel=1e-5)
    assert answer.agree
    assert np.array_equal(answer.by_kernel.predict(problem.X), problem.y)
    assert np.array_equal(answer.by_embedding.predict(answer.embedding(problem.X)), problem.y)
