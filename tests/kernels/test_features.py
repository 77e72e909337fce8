"""Laws of the explicit embeddings."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import separatrix as sx
from separatrix.errors import InputError
from separatrix.features import Monomials, RadialLift
from separatrix.kernels import Polynomial

law = settings(max_examples=40, deadline=None)


@parametrize_with_checks([Monomials(), Monomials(3, scaled=True), RadialLift()])
def test_obeys_scikit_learn(estimator, check):
    check(estimator)


def rows(seed, columns):
    return np.random.default_rng(seed).uniform(-2, 2, (5, columns))


@law
@given(degree=st.integers(1, 4), columns=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_monomials_are_all_products_of_columns_up_to_the_degree(degree, columns, seed):
    X = rows(seed, columns)
    wanted = [
        np.prod(X[:, list(which)], axis=1)
        for d in range(degree + 1)
        for which in combinations_with_replacement(range(columns), d)
    ]
    mapped = Monomials(degree).fit_transform(X)
    assert mapped.shape[1] == comb(columns + degree, degree)
    assert np.allclose(mapped, np.column_stack(wanted), rtol=1e-14)
    thin = Monomials(degree).fit_transform(sparse.csr_array(X))
    assert sparse.issparse(thin)
    assert np.allclose(thin.toarray(), mapped, rtol=1e-14)


@law
@given(degree=st.integers(1, 5), columns=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_scaled_monomials_have_the_polynomial_kernel_as_inner_product(degree, columns, seed):
    X, Y = rows(seed, columns), rows(seed + 1, columns)
    model = Monomials(degree, scaled=True).fit(X)
    wanted = Polynomial(degree, c=1.0)(X, Y)
    assert np.allclose(model.transform(X) @ model.transform(Y).T, wanted, atol=1e-12 * np.abs(wanted).max())


@law
@given(degree=st.integers(1, 4), columns=st.integers(1, 4))
def test_names_say_what_each_column_is(degree, columns):
    X = np.array([[2.0, 3.0, 5.0, 7.0][:columns]])
    model = Monomials(degree).fit(X)
    values = {f"x{j}": v for j, v in enumerate(X[0])}
    for name, value in zip(model.get_feature_names_out(), model.transform(X)[0], strict=True):
        product = 1.0
        for factor in name.split(" ") if name != "1" else []:
            base, _, power = factor.partition("^")
            product *= values[base] ** int(power or 1)
        assert product == value


def test_names_of_a_frame_survive():
    frame = pd.DataFrame({"age": [1.0, 2.0], "size": [3.0, 4.0]})
    wanted = ["1", "age", "size", "age^2", "age size", "size^2"]
    assert Monomials().fit(frame).get_feature_names_out().tolist() == wanted
    assert RadialLift().fit(frame).get_feature_names_out().tolist() == ["age", "size", "|x|^2"]
    assert Monomials().set_output(transform="pandas").fit_transform(frame).columns.tolist() == wanted


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_radial_lift_adds_squared_lengths(kind):
    X = rows(0, 3).astype(kind)
    lifted = RadialLift().fit_transform(X)
    assert lifted.dtype == kind
    assert np.allclose(lifted, np.column_stack([X, (X**2).sum(axis=1)]))
    thin = RadialLift().fit_transform(sparse.csr_array(X))
    assert thin.dtype == kind
    assert np.allclose(thin.toarray(), lifted)


def test_a_map_that_is_too_large_is_refused_with_the_count():
    with pytest.raises(InputError, match=rf"{comb(403, 3):,} columns for 400 variables.*Use the kernel"):
        Monomials(3).fit(np.zeros((1000, 400)))


@pytest.mark.parametrize("degree", [0, -1, 1.5, True, "2"])
def test_a_degree_that_is_none_is_refused(degree):
    with pytest.raises(InputError, match="whole number of 1 or more"):
        Monomials(degree).fit(np.eye(2))


def test_the_radial_lift_separates_the_rings_by_their_margin():
    problem = sx.datasets.make_rings(100, 3, random_state=0)
    model = sx.MaxMargin().fit(RadialLift().fit_transform(problem.X), problem.y)
    assert model.margin_lower_ == pytest.approx(problem.margin, rel=1e-9)
