"""Bad input to the kernel perceptron: each with its own clear error, and nothing changed."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.kernels import Gaussian, Polynomial

X = np.array([[2.0, 1.0], [1.0, 3.0], [-1.0, -2.0], [-2.0, 0.5]])
Y = np.array([1, 1, 0, 0])


def spoiled_gram(value):
    K = X @ X.T
    K[1, 2] = value
    return K


@pytest.mark.parametrize(
    ("kernel", "matrix", "message"),
    [
        (lambda A, B: np.full((len(A), len(B)), np.nan), X, "returned nan for rows 0 and 0"),
        (lambda A, B: np.zeros((len(A), len(B) + 1)), X, r"returned shape .* is needed"),
        (lambda A, B: np.zeros(len(A)), X, r"returned shape \(\d+,\)"),
        ("precomputed", (X @ X.T)[:, :3], r"square.*\(4, 3\)"),
        ("precomputed", spoiled_gram(7.0), r"symmetric, but K\[1, 2\] = 7"),
        ("precomputed", spoiled_gram(np.nan), "NaN|not finite"),
        ("sigmoid", X, "sigmoid kernel.*negative eigenvalues"),
        (3, X, "A kernel must be a name"),
        (Polynomial, X, r"pass Polynomial\(\)"),
    ],
    ids=["NaN", "wide", "flat", "not square", "asymmetric", "NaN in Gram", "name", "number", "class"],
)
def test_a_kernel_that_cannot_be_used_is_refused(kernel, matrix, message):
    model = sx.KernelPerceptron(kernel)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(matrix, Y)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("degree", [0, -1, 1.5, "2", True])
def test_a_degree_must_be_a_whole_number(degree):
    with pytest.raises(ValueError, match="whole number of 1 or more"):
        Polynomial(degree=degree)


@pytest.mark.parametrize(
    "kernel", [lambda: Polynomial(2, -1.0), lambda: Gaussian(-1.0), lambda: Gaussian(0.0)]
)
def test_a_constant_must_not_be_negative(kernel):
    with pytest.raises(ValueError, match="'c' parameter"):
        kernel()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 1}, "at least 2"),
        ({"budget": 0}, "positive whole number"),
        ({"budget": 2.5}, "positive whole number"),
        ({"budget": 5, "average": "averaged"}, "cannot be combined"),
        ({"order": "worst"}, "order"),
        ({"dtype": "float16"}, "dtype"),
        ({"dtype": np.float32}, "dtype"),
        ({"memory_limit": 0}, "memory_limit"),
        ({"order": "working_set"}, "order"),
        ({"max_iter": 0}, "max_iter"),
        ({"max_updates": 0.5}, "max_updates"),
        ({"fit_intercept": "yes"}, "fit_intercept"),
        ({"random_state": "seed", "order": "shuffled"}, "random_state"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        sx.KernelPerceptron(**options).fit(X, Y)


def test_another_width_is_refused():
    model = sx.KernelPerceptron("rbf").fit(X, Y)
    with pytest.raises(ValueError, match="expecting 2 features"):
        model.predict(X[:, :1])
    with pytest.raises(ValueError, match="expecting 2 features"):
        model.partial_fit(np.column_stack([X, X]), Y)
    gram = sx.KernelPerceptron("precomputed").fit(X @ X.T, Y)
    with pytest.raises(ValueError, match="expecting 4 features"):
        gram.predict(X)


def test_a_gram_matrix_cannot_be_learnt_in_parts():
    with pytest.raises(AttributeError, match="partial_fit"):
        sx.KernelPerceptron("precomputed").partial_fit(X @ X.T, Y, classes=[0, 1])


def test_numbers_that_are_not_finite_are_named():
    model = sx.KernelPerceptron("rbf").fit(X, Y)
    bad = X.copy()
    bad[2, 1] = np.inf
    for call in (lambda: model.predict(bad), lambda: sx.KernelPerceptron().fit(bad, Y)):
        with pytest.raises(ValueError, match="infinity: row 2, column 1"):
            call()


def test_numbers_beyond_the_kernels_range_are_an_error_that_says_to_scale():
    with pytest.raises(OverflowError, match="Scale the columns"):
        sx.KernelPerceptron(Polynomial(8)).fit(X * 1e60, Y)
