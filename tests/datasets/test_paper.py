"""Problems for paper: what is said about rounded rows, stripes and touching classes holds exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix import datasets
from separatrix.errors import InputError, InputTypeError

law = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10**6)


@law
@given(seed=seeds, degree=st.integers(2, 4), columns=st.integers(1, 3), gap=st.sampled_from([0.0, 0.3]))
def test_stripes_need_exactly_their_degree(seed, degree, columns, gap):
    problem = datasets.make_stripes(25, columns, degree=degree, gap=gap, random_state=seed)
    assert (problem.degree, problem.units) == (degree, degree)
    values = np.prod([problem.X[:, 0] - k for k in range(1, degree + 1)], axis=0)
    assert np.all(np.sign(values) == problem.y * (-1) ** degree)
    # The multipliers prove that no lower degree separates: every monomial of lower degree sums to zero.
    rows, multipliers = problem.witness_rows, problem.witness_weights
    signed = [int(a) * int(y) for a, y in zip(multipliers, problem.y[rows], strict=True)]
    for powers in product(range(degree), repeat=columns):
        if sum(powers) < degree:
            terms = [
                s * np.prod([Fraction(float(v)) ** p for v, p in zip(problem.X[row], powers, strict=True)])
                for s, row in zip(signed, rows, strict=True)
            ]
            assert sum(terms) == 0


@law
@given(seed=seeds, degree=st.integers(2, 4))
def test_no_network_with_fewer_units_than_stripes_need_fits_the_witnesses(seed, degree):
    problem = datasets.make_stripes(20, degree=degree, random_state=seed)
    along, labels = problem.X[problem.witness_rows, 0], problem.y[problem.witness_rows]
    changes = np.count_nonzero(np.diff(labels[np.argsort(along)]))
    assert changes == degree  # k threshold units change at most k times along a line
    remaining, found = problem.X[:, 0], np.zeros(20, dtype=int)
    for unit in range(1, degree + 1):  # the list of half-spaces x_1 <= 1, x_1 <= 2, ...
        found[(remaining <= unit) & (found == 0)] = 1 if unit % 2 else -1
    found[found == 0] = 1 if degree % 2 == 0 else -1
    assert np.array_equal(found, problem.y)


@law
@given(seed=seeds, columns=st.integers(1, 5), rows=st.integers(8, 40))
def test_touching_classes_are_quasi_separable(seed, columns, rows):
    problem = datasets.make_quasi_separable(rows, columns, random_state=seed)
    assert problem.separation == "quasi-separable"
    scores = problem.y * (problem.X @ problem.weights)
    on_it = np.flatnonzero(scores == 0.0)
    assert np.array_equal(np.sort(problem.witness_rows), on_it)
    assert np.delete(scores, on_it).min() >= 0.1
    assert np.linalg.norm(problem.X, axis=1).max() <= 1.0
    signed = problem.witness_weights * problem.y[problem.witness_rows]
    assert not (signed @ problem.X[problem.witness_rows]).any()
    assert signed.sum() == 0
    assert sx.separability(problem.X, problem.y).status == "quasi-separable"


@law
@given(seed=seeds, decimals=st.sampled_from([None, 1, 2]), columns=st.integers(1, 3))
def test_the_answer_of_rounded_rows_is_exact(seed, decimals, columns):
    problem = datasets.make_separable(12, columns, margin=0.3, intercept=True, random_state=seed)
    rounded = datasets.to_integers(problem) if decimals is None else datasets.to_decimals(problem, decimals)
    scale = 1 if decimals is None else 10**decimals
    whole = [[round(v * scale) for v in row] for row in rounded.X.tolist()]
    np.testing.assert_allclose(np.array(whole) / scale, rounded.X, rtol=1e-15)
    found = sx.geometry.exact_margin(whole, rounded.y)
    assert rounded.margin_squared == found.squared / scale**2
    assert rounded.margin == pytest.approx(sx.MaxMargin(gap=1e-9).fit(*rounded).margin_lower_, rel=1e-7)
    scores = rounded.y * (rounded.X @ rounded.weights + rounded.intercept)
    assert scores.min() == pytest.approx(rounded.margin, rel=1e-9)


@law
@given(seed=seeds, kind=st.sampled_from(["overlapping", "xor", "rings", "quasi_separable", "stripes"]))
def test_rounded_rows_keep_their_kind_or_are_refused(seed, kind):
    problem = getattr(datasets, f"make_{kind}")(20, random_state=seed)
    try:
        rounded = datasets.to_decimals(problem, 1)
    except InputError:
        return  # the message is tested below
    assert rounded.separation == problem.separation
    if kind == "quasi_separable":
        scores = rounded.y * (rounded.X @ rounded.weights)
        assert (scores >= 0.0).all()
        assert (scores > 0.0).any()
    rows, multipliers = rounded.witness_rows, rounded.witness_weights
    signed = [int(a) * int(y) for a, y in zip(multipliers, rounded.y[rows], strict=True)]
    assert all(a > 0 for a in multipliers)
    for column in [*rounded.X[rows].T, np.ones(len(rows))]:  # the numbers as they are written
        assert sum(s * Fraction(repr(float(v))) for s, v in zip(signed, column, strict=True)) == 0


def test_bad_numbers_are_refused():
    problem = datasets.make_xor()
    for call in (
        lambda: datasets.make_stripes(degree=1),
        lambda: datasets.make_stripes(3, degree=5),
        lambda: datasets.make_stripes(gap=1.0),
        lambda: datasets.make_quasi_separable(3),
        lambda: datasets.make_quasi_separable(margin=2.0),
        lambda: datasets.to_decimals(problem, -1),
        lambda: datasets.to_decimals(problem, 15),
        lambda: datasets.to_decimals(problem, 400),
        lambda: datasets.to_integers(problem, 0),
    ):
        with pytest.raises(InputError):
            call()
    with pytest.raises(InputError, match="After rounding"):
        datasets.to_integers(datasets.make_separable(200, margin=0.001, random_state=0), 3)
    with pytest.raises(InputTypeError):
        datasets.to_decimals(problem, 1.5)


@pytest.mark.parametrize("degree", [2, 3, 4])
def test_a_network_that_fits_stripes_has_at_least_as_many_units_as_they_need(degree):
    problem = datasets.make_stripes(30, degree=degree, random_state=degree)
    network = sx.PerceptronNetwork().fit(problem.X, problem.y)
    assert network.score(problem.X, problem.y) == 1.0
    assert len(network.units_) >= problem.units
