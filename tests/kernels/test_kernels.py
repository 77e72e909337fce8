"""Laws of kernels: the algebra, the evaluation, the maps, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import manhattan_distances, pairwise_kernels
from sklearn.svm import SVC

import separatrix as sx
from separatrix.errors import InputError, InputTypeError, NumericOverflowError
from separatrix.kernels import (
    Custom,
    Gaussian,
    Geometric,
    Linear,
    Monomial,
    Polynomial,
    Precomputed,
    as_kernel,
    check_gram,
    check_legal,
    exp,
    polynomial,
)
from tests.naive_kernel import off_by


def first_column(X):
    values = X[:, [0]]
    return np.asarray(values.toarray() if sparse.issparse(values) else values).ravel()


def dot(X, Y):
    return X @ Y.T


positive = st.floats(0.1, 3.0)
finite_maps = st.recursive(
    st.one_of(
        st.just(Linear()),
        st.builds(Polynomial, st.integers(1, 3), st.floats(0.0, 2.0)),
        st.builds(Geometric, st.integers(1, 3)),
    ),
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a * b, inner, inner),
        st.builds(lambda a, c: a.scaled(c), inner, positive),
        st.builds(lambda a, c: a + c, inner, positive),
        st.builds(lambda a, n: a**n, inner, st.integers(1, 3)),
        st.builds(polynomial, inner, st.sampled_from([(0, 1), (1, 0, 2), (0.5, 3, 0, 1)])),
    ),
    max_leaves=3,
)
kernels = st.one_of(
    finite_maps,
    st.builds(Gaussian, positive),
    st.builds(Monomial, st.integers(1, 4)),
    st.builds(lambda a, d: a + 2 * Monomial(d), finite_maps, st.integers(1, 3)),
    st.builds(lambda a, c: a.warped(first_column) + c, finite_maps, positive),
    st.builds(lambda a, c: a + Gaussian(c), finite_maps, positive),
    st.builds(lambda a, c: a * Gaussian(c), finite_maps, positive),
    st.builds(lambda c, d: exp(Linear().scaled(c) + d), positive, positive),
    st.builds(lambda c: exp(Gaussian(c)) ** 2, positive),
)
law = settings(max_examples=40, deadline=None)


def two_matrices(seed, columns=3):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (7, columns)), rng.uniform(-1, 1, (5, columns))


def naive(kernel, x, z):
    """One value, from the formula, by recursion."""
    name, t = type(kernel).__name__, float(sum(a * b for a, b in zip(x, z, strict=True)))
    if name == "Linear":
        return t
    if name == "Polynomial":
        return (kernel.c + t) ** kernel.degree
    if name == "Gaussian":
        return float(np.exp(-kernel.c * sum((a - b) ** 2 for a, b in zip(x, z, strict=True))))
    if name == "Monomial":
        powers = product(range(kernel.degree + 1), repeat=len(x))
        kept = (m for m in powers if sum(m) <= kernel.degree)
        return sum(float(np.prod(np.power(x, m) * np.power(z, m))) for m in kept)
    if name == "Geometric":
        return sum(t**j for j in range(kernel.degree + 1))
    if name == "Sum":
        return sum(naive(member, x, z) for member in kernel.members)
    if name == "Product":
        return float(np.prod([naive(member, x, z) for member in kernel.members]))
    if name == "Constant":
        return kernel.c
    if name == "PolynomialOf":
        return sum(a * naive(kernel.inner, x, z) ** j for j, a in enumerate(kernel.coefficients))
    if name == "Exponential":
        return float(np.exp(naive(kernel.inner, x, z)))
    return x[0] * z[0]  # warped by the first column


@law
@given(kernel=kernels, seed=st.integers(0, 10**6))
def test_blocks_are_the_formula_value_by_value(kernel, seed):
    X, Y = two_matrices(seed)
    wanted = np.array([[naive(kernel, x, z) for z in Y] for x in X])
    scale = 1.0 + np.abs(wanted).max()
    assert np.allclose(kernel(X, Y), wanted, atol=1e-12 * scale)
    assert np.allclose(kernel.diagonal(X), [naive(kernel, x, x) for x in X], atol=1e-10 * scale)
    assert kernel(X[0], Y[0]) == pytest.approx(wanted[0, 0], abs=1e-12 * scale)
    assert np.allclose(kernel.block(X, Y, dtype=np.float32), wanted, atol=1e-4 * scale)
    for left in (X, sparse.csr_array(X)):
        for right in (Y, sparse.csr_array(Y)):
            assert np.allclose(kernel.block(left, right), wanted, atol=1e-12 * scale)


@settings(max_examples=60, deadline=None)
@given(
    kernel=st.one_of(
        kernels, st.builds(Polynomial, st.integers(5, 60)), st.builds(Geometric, st.integers(4, 40))
    ),
    scale=st.sampled_from([0.01, 0.3, 1.0, 30.0]),
    columns=st.sampled_from([1, 3, 40]),
    seed=st.integers(0, 10**6),
    dtype=st.sampled_from([np.float64, np.float32]),
    turned=st.booleans(),
)
def test_no_value_errs_by_more_than_the_bound_that_its_kernel_states(
    kernel, scale, columns, seed, dtype, turned
):
    rng = np.random.default_rng(seed)
    X, Y = scale * rng.standard_normal((3, columns)), scale * rng.standard_normal((3, columns))
    Y[0], Y[1] = X[0], -X[1]  # as alike and as opposed as rows can be
    X = np.asfortranarray(X) if turned else X  # another order of summation
    bound = kernel.rounding(
        columns, np.sqrt((np.vstack([X, Y]) ** 2).sum(axis=1).max()), np.finfo(dtype).eps / 2
    )
    try:
        found, alone = kernel.block(X, Y, dtype=dtype), kernel.diagonal(X)
    except NumericOverflowError:
        return
    for i, j in np.ndindex(found.shape):
        off = off_by(kernel, X[i], Y[j], 0, float(found[i, j]))[1]
        diagonal = [off_by(kernel, row, row, 0, 0.0)[0] for row in (X[i], Y[j])]
        root = float(np.sqrt(diagonal[0]) * np.sqrt(diagonal[1]))
        tiny = 1e-300 if dtype is np.float64 else 1e-36  # below it numbers underflow
        assert off <= 1.03 * bound * root + tiny
        double = kernel.rounding(columns, float(np.linalg.norm(X[i])), 2.0**-53)
        assert abs(off_by(kernel, X[i], X[i], 0, alone[i])[1]) <= 1.03 * double * diagonal[0] + 1e-300


@law
@given(kernel=finite_maps, seed=st.integers(0, 10**6))
def test_a_kernel_has_a_bound_if_and_only_if_all_its_parts_have(kernel, seed):
    assert kernel.rounding(3, 1.0, 2.0**-53) is not None
    for whole in (
        kernel + Custom(dot),
        Custom(dot) * kernel,
        2 * Custom(dot),
        Custom(dot).warped(first_column),
    ):
        assert whole.rounding(3, 1.0, 2.0**-53) is None


@law
@given(a=kernels, b=kernels, c=positive, seed=st.integers(0, 10**6))
def test_the_gram_of_a_combination_is_the_combination_of_grams(a, b, c, seed):
    X, Y = two_matrices(seed)
    one, two = a(X, Y), b(X, Y)
    scale = (1 + np.abs(one).max()) * (1 + np.abs(two).max())
    assert np.allclose((a + b)(X, Y), one + two, atol=1e-13 * scale)
    assert np.allclose((a * b)(X, Y), one * two, atol=1e-13 * scale)
    assert np.allclose((c * a)(X, Y), c * one, atol=1e-13 * scale)
    assert np.allclose((a * c)(X, Y), a.scaled(c)(X, Y), rtol=0)
    assert (a / 4)(X, Y).tolist() == a.scaled(0.25)(X, Y).tolist()
    warped = X[:, [0]] * one * Y[:, 0]
    assert np.allclose(a.warped(first_column)(X, Y), warped, atol=1e-13 * scale)


@law
@given(kernel=kernels, seed=st.integers(0, 10**6))
def test_gram_matrices_are_positive_semidefinite_to_rounding(kernel, seed):
    X = two_matrices(seed)[0]
    gram = kernel(X)
    assert np.allclose(gram, gram.T, atol=1e-12 * np.abs(gram).max())
    lowest = np.linalg.eigvalsh((gram + gram.T) / 2).min()
    assert lowest >= -1e-12 * max(1.0, np.abs(gram).max())
    assert check_legal(kernel, X).legal


@law
@given(kernel=finite_maps, seed=st.integers(0, 10**6))
def test_the_feature_map_has_the_kernel_as_inner_product(kernel, seed):
    X, Y = two_matrices(seed, columns=2)
    wanted = kernel(X, Y)
    mapped, other = kernel.feature_map(X), kernel.feature_map(Y)
    assert np.allclose(mapped @ other.T, wanted, atol=1e-11 * (1 + np.abs(wanted).max()))
    thin = kernel.feature_map(sparse.csr_array(X))
    thin = thin.toarray() if sparse.issparse(thin) else thin
    assert np.allclose(thin, mapped, atol=1e-11 * (1 + np.abs(mapped).max()))


@law
@given(degree=st.integers(1, 6), c=st.floats(0, 2), columns=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_the_feature_space_is_spanned_by_the_monomials_of_the_degrees_named(degree, c, columns, seed):
    kernel = Polynomial(degree, c)
    assert kernel.degrees == ((degree,) if c == 0 else tuple(j for j, a in enumerate(kernel.series) if a > 0))
    X = two_matrices(seed, columns)[0]
    count = sx.features.count_monomials(columns, kernel.degrees)
    assert kernel.feature_map(X).shape == (7, count)


@given(degree=st.integers(1, 20))
def test_geometric_is_right_where_its_closed_form_is_singular(degree):
    kernel = Geometric(degree)
    assert kernel([1.0], [1.0]) == degree + 1
    assert kernel([0.6, 0.8], [0.6, 0.8]) == pytest.approx(degree + 1, rel=1e-12)
    assert kernel([1.0], [2.0]) == 2 ** (degree + 1) - 1
    near = Fraction(1) + Fraction(2) ** -40
    exact = float((near ** (degree + 1) - 1) / (near - 1))
    assert kernel([1.0], [1.0 + 2.0**-40]) == pytest.approx(exact, rel=1e-13)


@law
@given(degree=st.integers(1, 5), columns=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_the_map_of_plain_monomials_is_exact_and_one_column_is_the_geometric_kernel(degree, columns, seed):
    kernel = Monomial(degree)
    X = np.random.default_rng(seed).integers(-4, 5, (6, columns)).astype(float)
    mapped = kernel.feature_map(X)
    assert mapped.shape == (6, comb(columns + degree, degree))
    assert np.array_equal(mapped, sx.features.Monomials(degree).fit_transform(X))
    assert np.array_equal(mapped @ mapped.T, kernel(X))  # whole numbers, without rounding
    assert np.array_equal(kernel(X[:, :1]), Geometric(degree)(X[:, :1]))
    assert np.all(kernel.diagonal(X) <= kernel.ceiling(float(np.linalg.norm(X, axis=1).max())))


@law
@given(degree=st.integers(1, 3), seed=st.integers(0, 10**6))
def test_plain_monomials_separate_what_the_polynomial_kernel_separates(degree, seed):
    generator = np.random.default_rng(seed)
    X, y = generator.integers(-2, 3, (10, 2)), generator.permutation([0, 1] * 5)
    plain, scaled = (sx.separability(X, y, kernel=k) for k in (Monomial(degree), Polynomial(degree)))
    assert plain.status == scaled.status
    assert sx.verify(plain.certificate, X, y).holds


@law
@given(a=kernels, b=kernels)
def test_equal_kernels_are_equal_and_hash_alike(a, b):
    assert a + b == b + a
    assert hash(a + b) == hash(b + a)
    assert a * b == b * a
    assert hash(a * b) == hash(b * a)
    assert a + b != a * b
    assert len({a, a, a.scaled(1.5)}) == 2
    assert clone(a, safe=False) == a


def test_parameters_tell_kernels_apart_and_cannot_be_changed():
    assert Polynomial(2) == Polynomial(2, 1.0) != Polynomial(3)
    assert Gaussian(1) == Gaussian(1.0) != Gaussian(2.0)
    assert 2 * (3 * Linear()) == 6 * Linear()
    assert sum([Linear(), Gaussian(), Linear()]) == Linear() + Linear() + Gaussian()
    with pytest.raises(AttributeError):
        Polynomial(2).degree = 3


@pytest.mark.parametrize(
    ("kernel", "formula"),
    [
        (Linear(), "<x, x'>"),
        (Polynomial(3), "(1 + <x, x'>)^3"),
        (Polynomial(3, 0), "<x, x'>^3"),
        (Gaussian(0.5), "exp(-0.5 |x - x'|^2)"),
        (Geometric(4), "sum_{j<=4} <x, x'>^j"),
        (Monomial(4), "sum_{|m|<=4} x^m x'^m"),
        (2 * (Linear() + Gaussian(1)), "2 * (<x, x'> + exp(-1 |x - x'|^2))"),
        ((Linear() + Gaussian(1)) * Polynomial(2), "(<x, x'> + exp(-1 |x - x'|^2)) * (1 + <x, x'>)^2"),
        (Linear().warped(first_column), "first_column(x) first_column(x') * <x, x'>"),
        (as_kernel(dot), "dot(x, x')"),
    ],
)
def test_a_kernel_prints_as_its_formula(kernel, formula):
    assert str(kernel) == formula


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("linear", Linear()),
        ("poly", Polynomial(3)),
        ("rbf", Gaussian(1.0)),
        ("geometric", Geometric(3)),
        ("monomial", Monomial(3)),
    ],
)
def test_names_stand_for_kernels(name, kernel):
    assert as_kernel(name) == kernel == as_kernel(kernel)


def test_every_name_stands_for_one_kernel_and_every_kernel_of_the_list_is_public():
    named = [name for kind in sx.kernels.KINDS for name in kind.names]
    assert len(set(named)) == len(named) == len(sx.kernels.NAMES)
    assert {kind.__name__ for kind in sx.kernels.KINDS} <= set(sx.kernels.__all__)
    assert len(set(sx.kernels.__all__)) == len(sx.kernels.__all__)


def test_a_kernel_of_a_users_own_claims_nothing_that_it_does_not_state():
    class Cubic(sx.kernels.Kernel):
        def formula(self, values, left, right):
            values **= 3

    kernel = Cubic()
    assert kernel.rounding(3, 1.0, 2.0**-53) is None
    assert kernel.series is None
    assert kernel.degrees is None
    assert not kernel.strict_by
    assert not kernel.positive_diagonal
    assert not kernel.names
    assert not kernel.stored_as
    X, Y = two_matrices(0)
    assert np.allclose(kernel(X, Y), (X @ Y.T) ** 3)
    verdict = sx.separability(np.array([[1.0], [2.0], [-1.0]]), [1, 1, 0], kernel=kernel)
    assert verdict.status == "separable"
    assert "taken as they come" in verdict.reason


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", [Gaussian(0.3) + 2 * Linear(), Polynomial(2), Custom(dot)], ids=str)
def test_scikit_learn_takes_kernels_as_metrics_and_for_its_estimators(kernel, form):
    rng = np.random.default_rng(0)
    X, Y = form(rng.standard_normal((30, 4))), form(rng.standard_normal((7, 4)))
    labels = np.arange(30) % 2
    K, cross = kernel.block(X, X), kernel.block(Y, X)
    assert np.allclose(pairwise_kernels(X, metric=kernel), K)
    assert np.allclose(pairwise_kernels(Y, X, metric=kernel), cross)
    ours = SVC(kernel=kernel).fit(X, labels).decision_function(Y)
    assert np.allclose(ours, SVC(kernel="precomputed").fit(K, labels).decision_function(cross), atol=1e-5)
    ridge = KernelRidge(kernel=kernel).fit(X, labels).predict(Y)
    assert np.allclose(ridge, KernelRidge(kernel="precomputed").fit(K, labels).predict(cross))
    ours, theirs = (KernelPCA(n_components=3, kernel=each) for each in (kernel, "precomputed"))
    assert np.allclose(np.abs(ours.fit(X).transform(Y)), np.abs(theirs.fit(K).transform(cross)), atol=1e-6)


class Laplace(sx.kernels.Kernel):
    by_products = False

    def values(self, X, Y, dtype):
        return np.exp(-np.abs(X[:, None] - Y[None]).sum(axis=2))

    def diagonal(self, X):
        return np.ones(len(X))


def test_a_kernel_that_is_no_function_of_inner_products_states_its_values():
    X, Y = two_matrices(0)
    wanted = np.exp(-manhattan_distances(X, Y))
    assert np.allclose(Laplace()(X, Y), wanted)
    assert np.allclose((2 * Laplace() + Linear())(X, Y), 2 * wanted + X @ Y.T)
    assert Laplace().block(X, Y, dtype=np.float32).dtype == np.float32
    square = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    assert sx.KernelPerceptron(kernel=Laplace()).fit(square, [0, 0, 1, 1]).converged_
    with pytest.raises(NotImplementedError, match="by_products = False"):
        sx.kernels.Kernel()(X)


def test_precomputed_rows_are_picked_by_index():
    X, Y = two_matrices(0)
    gram, cross = Gaussian(1)(X), Gaussian(1)(Y, X)
    kernel = as_kernel("precomputed")
    anchors = kernel.anchors(gram, np.array([4, 1]))
    assert np.array_equal(kernel.block(cross, anchors), cross[:, [4, 1]])
    assert np.array_equal(kernel.diagonal(gram), gram.diagonal())
    assert np.array_equal(kernel(gram), gram)


@law
@given(seed=st.integers(0, 10**6), size=st.integers(2, 12))
def test_an_illegal_kernel_is_proved_illegal_in_exact_arithmetic(seed, size):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(size, size))
    gram = matrix + matrix.T
    found = check_legal("precomputed", gram)
    lowest = np.linalg.eigvalsh(gram).min()
    assert found.smallest_eigenvalue == pytest.approx(lowest, abs=1e-12)
    assert found.legal == (lowest >= 0)
    if not found.legal:
        exact = sum(
            Fraction(a) * Fraction(b) * Fraction(gram[i, j])
            for i, a in zip(found.rows, found.vector, strict=True)
            for j, b in zip(found.rows, found.vector, strict=True)
        )
        assert exact == found.value < 0
        assert found.value < -found.rounding


@pytest.mark.parametrize("distance", [0.0, 1e3, 1e6, 1e9, 1e16])
def test_rounding_alone_makes_no_kernel_illegal(distance):
    X = np.random.default_rng(0).normal(size=(60, 2)) + distance
    for kernel in (
        Linear(),
        Polynomial(2),
        Gaussian(0.01),
        Gaussian(1.0),
        exp(Linear() / (1.0 + distance**2)),
    ):
        found = check_legal(kernel, X)
        assert found.legal, str(found)
        assert found.smallest_eigenvalue > -1e-9 or distance


def test_sigmoid_is_not_a_kernel():
    X = np.random.default_rng(1).normal(size=(40, 3))
    found = check_legal(lambda X, Y: np.tanh(X @ Y.T - 1.0), X)
    assert not found
    assert "not legal" in str(found)


NAN = np.full((3, 3), np.nan)
BAD = [
    (lambda: Linear() - Gaussian(), InputError, "difference of two kernels"),
    (lambda: -Linear(), InputError, "negative kernel"),
    (lambda: Linear().scaled(-1.0), InputError, "0 or more"),
    (lambda: -2 * Linear(), InputError, "0 or more"),
    (lambda: Linear().scaled(np.nan), InputError, "must be finite"),
    (lambda: Linear().scaled("2"), InputTypeError, "must be a number"),
    (lambda: Linear().warped(3), InputTypeError, "must be a function"),
    (lambda: Linear().warped(lambda X: X)(np.eye(3)), InputError, r"shape \(3, 3\)"),
    (lambda: Linear().warped(lambda X: X[:, 0] / 0)(-np.ones((2, 1))), InputError, "-inf: row 0"),
    (lambda: Polynomial(0), InputError, "whole number of 1 or more. Got 0"),
    (lambda: Polynomial(2.5), InputError, "whole number of 1 or more. Got 2.5"),
    (lambda: Geometric(0), InputError, "'degree' parameter of Geometric"),
    (lambda: Geometric(1.5), InputError, "Got 1.5"),
    (lambda: Monomial(0), InputError, "'degree' parameter of Monomial"),
    (lambda: Polynomial(2, -1), InputError, "'c' parameter of Polynomial must be 0 or more"),
    (lambda: Gaussian(-1), InputError, "'c' parameter of Gaussian must be above 0"),
    (lambda: Gaussian(0), InputError, "above 0"),
    (lambda: Gaussian(np.inf), InputError, "finite"),
    (lambda: as_kernel("sigmoid"), InputError, "sigmoid kernel.*not an inner product"),
    (lambda: as_kernel(Gaussian), InputTypeError, r"pass Gaussian\(\)"),
    (lambda: as_kernel(3), InputTypeError, "Got 3 instead"),
    (lambda: Custom(lambda X, Y: NAN)(np.eye(3)), InputError, "returned nan for rows 0 and 0; 9 values"),
    (lambda: Custom(lambda X, Y: 1.0)(np.eye(3)), InputError, r"shape \(\).*\(3, 3\) is needed"),
    (lambda: Custom(lambda X, Y: X)(np.eye(3)[:2]), InputError, r"\(2, 2\) is needed"),
    (lambda: Custom(lambda X, Y: dot(X, Y) * 1j)(np.eye(3)), InputTypeError, "real numbers"),
    (lambda: Precomputed() + Linear(), InputError, "cannot be combined"),
    (lambda: Precomputed().scaled(2), InputError, "cannot be combined"),
    (lambda: check_gram(np.ones((2, 3))), InputError, r"must be square.*\(2, 3\)"),
    (lambda: check_gram([[1.0, 2.0], [0.0, 1.0]]), InputError, r"symmetric, but K\[0, 1\] = 2.0"),
    (lambda: check_gram([[1.0, np.nan], [np.nan, 1.0]]), InputError, "not finite"),
    (lambda: Linear()(np.eye(3), np.eye(2)), InputError, "3 columns and Y has 2"),
    (lambda: Linear()(np.ones(3)), InputError, "must be a matrix"),
    (lambda: Linear()([["a"]]), InputTypeError, "real numbers"),
    (lambda: Linear().block(np.eye(2), np.eye(2), dtype=int), InputTypeError, "float32 or float64"),
    (lambda: Gaussian().feature_map(np.eye(2)), InputError, "no finite map"),
    (lambda: (Linear().warped(first_column) + 1).feature_map(np.eye(2)), InputError, "no finite map"),
    (lambda: Polynomial(5).feature_map(np.zeros((2, 784))), InputError, f"{comb(789, 5):,} columns"),
    (lambda: Polynomial(9)(np.full((1, 1), 1e30)), NumericOverflowError, "leaves the range of float64"),
    (lambda: check_legal("linear", np.zeros((5001, 1))), InputError, "at most 5,000"),
    (
        lambda: check_legal(lambda X, Y: X + 0 * Y.T, np.array([[1.0, 1.0], [0.0, 1.0]])),
        InputError,
        "not symmetric",
    ),
]


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(("wrong", "kind", "message"), BAD)
def test_what_cannot_be_a_kernel_is_refused_with_the_reason(wrong, kind, message):
    with pytest.raises(kind, match=message):
        wrong()


# ---------------------------------------------------------------- powers, polynomials, limits


@law
@given(c=positive, seed=st.integers(0, 10**6), dtype=st.sampled_from([np.float64, np.float32]))
def test_the_gaussian_is_an_exponential_and_a_rescaling(c, seed, dtype):
    X, Y = two_matrices(seed)
    gaussian = Gaussian(c)
    warped = exp(Linear().scaled(2.0 * c)).warped(lambda X: np.exp(-c * (X**2).sum(axis=1)))
    wanted = gaussian.block(X, Y, dtype=dtype)
    radius = float(np.linalg.norm(np.vstack([X, Y]), axis=1).max())
    unit = float(np.finfo(dtype).eps) / 2.0
    allowed = warped.rounding(3, radius, unit) + gaussian.rounding(3, radius, unit)
    assert np.abs(warped.block(X, Y, dtype=dtype) - wanted).max() <= 2.0 * allowed


@law
@given(c=st.floats(0.01, 0.3), seed=st.integers(0, 10**6))
def test_a_limit_is_what_its_polynomials_come_to(c, seed):
    X, Y = two_matrices(seed)
    inner = Linear().scaled(c)
    terms = [1.0]
    for j in range(1, 40):
        terms.append(terms[-1] / j)
    assert polynomial(inner, terms)(X, Y) == pytest.approx(exp(inner)(X, Y), rel=1e-13)


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(0.5) ** 3,
        Linear() + 2,
        3 + Linear(),
        exp(Linear()),
        exp(0.1 * Polynomial(2)),
        polynomial(Gaussian(1.0), [0, 1, 0, 2]),
    ],
    ids=str,
)
def test_what_is_built_is_legal_and_is_learnt_with(kernel):
    problem = sx.datasets.make_rings(60, 2, random_state=0)
    assert check_legal(kernel, problem.X)
    model = sx.KernelPerceptron(kernel, max_iter=5000)
    expected = sx.separability(problem.X, problem.y, kernel=kernel, time_limit=5)
    if expected.separable:
        model.fit(problem.X, problem.y)
        assert model.converged_
    assert hash(kernel) == hash(clone(model).kernel)
    assert clone(model).kernel == kernel


def test_one_is_the_same_however_it_is_written():
    X, Y = two_matrices(0)
    k = Linear()
    assert (k + 1) == (1 + k) == (1.0 + k)
    assert k + 0 is k
    assert k**1 is k
    assert np.allclose(((k + 1) ** 3)(X, Y), Polynomial(3)(X, Y))
    assert ((k + 1) ** 3).series == Polynomial(3).series
    assert ((k + 1) ** 3).degrees == (0, 1, 2, 3)
    assert polynomial(k + 1, [0, 0, 0, 1]).series == Polynomial(3).series
    assert np.allclose(((k + 1) ** 3).feature_map(X) @ ((k + 1) ** 3).feature_map(Y).T, Polynomial(3)(X, Y))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: Linear() ** 0, "whole number of 1 or more"),
        (lambda: Linear() ** 0.5, "whole number of 1 or more"),
        (lambda: Linear() ** -1, "whole number of 1 or more"),
        (lambda: Linear() + (-1), "0 or more"),
        (lambda: -2.0 + Linear(), "0 or more"),
        (lambda: Linear() + np.nan, "finite"),
        (lambda: polynomial(Linear(), [1, -1]), "0 or more"),
        (lambda: polynomial(Linear(), [1]), "a positive coefficient after the first"),
        (lambda: polynomial(Linear(), []), "a positive coefficient after the first"),
        (lambda: exp(Precomputed()), "precomputed Gram matrix cannot be combined"),
        (lambda: Precomputed() + 1, "precomputed Gram matrix cannot be combined"),
        (lambda: Precomputed() ** 2, "precomputed Gram matrix cannot be combined"),
    ],
)
def test_what_would_not_be_legal_is_refused(wrong, words):
    with pytest.raises(InputError, match=words):
        wrong()


def test_an_exponential_that_overflows_says_so():
    with pytest.raises(NumericOverflowError, match="leaves the range"):
        exp(Linear())([[100.0]])


def test_functions_of_a_users_own_kernel_work_and_claim_no_bound():
    X, Y = two_matrices(0)
    for kernel, wanted in [
        (exp(Custom(dot)), np.exp(X @ Y.T)),
        (Custom(dot) ** 2, (X @ Y.T) ** 2),
        (Custom(dot) + 1, X @ Y.T + 1),
        (polynomial(Custom(dot), [1, 2]), 1 + 2 * (X @ Y.T)),
    ]:
        assert kernel(X, Y) == pytest.approx(wanted)
        assert kernel.rounding(3, 1.0, 2.0**-53) is None
