"""Laws of the generators: what they say about their rows holds in exact arithmetic."""

from __future__ import annotations

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from separatrix.datasets import (
    make_checkerboard,
    make_multiclass,
    make_overlapping,
    make_rings,
    make_separable,
    make_spirals,
    make_xor,
)
from separatrix.features import monomials
from separatrix.proofs.verdict import separability

EPS = Fraction(1, 2**52)

seeds = st.integers(0, 2**32 - 1)
shares = st.floats(1e-6, 1 - 2e-9)
radii = st.sampled_from([1.0, 0.37, 1e-9, 12345.678, 1e12])


def law(*cases, n_cases=60, **named_cases):
    """Try a property on random cases, however long the exact arithmetic takes."""

    def decorate(test):
        return settings(deadline=None, max_examples=n_cases)(given(*cases, **named_cases)(test))

    return decorate


def exact(values):
    """The same numbers as fractions, row by row."""
    return [exact(row) if np.ndim(row) else Fraction(float(row)) for row in values]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction())


def square(a):
    return dot(a, a)


@st.composite
def separable_problems(draw, **fixed):
    n_columns = draw(st.integers(1, 9))
    radius = draw(radii)
    margin = radius * draw(shares)
    room = radius * (1 - 1.5e-9) - margin
    intercept = draw(st.one_of(st.booleans(), st.floats(-1, 1).map(lambda share: share * room)))
    options = {"intercept": intercept}
    return make_separable(
        draw(st.integers(3, 25)),
        n_columns,
        margin=margin,
        radius=radius,
        random_state=draw(seeds),
        **(options | fixed),
    )


@st.composite
def overlapping_problems(draw, **fixed):
    n_columns = draw(st.integers(1, 9))
    options = {
        "noise": draw(st.floats(0, 1)),
        "n_witnesses": draw(st.one_of(st.none(), st.integers(2, min(n_columns, 3) + 2))),
    } | fixed
    n_rows = draw(st.integers(11, 40))
    return make_overlapping(n_rows, n_columns, radius=draw(radii), random_state=draw(seeds), **options)


@st.composite
def multiclass_problems(draw, **fixed):
    n_classes = draw(st.integers(2, 6))
    n_columns = draw(st.integers(1 if n_classes == 2 else 2, 8))
    radius = draw(radii)
    cosine = -1 / (n_classes - 1) if n_classes <= n_columns + 1 else np.cos(2 * np.pi / n_classes)
    margin = draw(shares) * radius * (1 - cosine) / np.sqrt(n_classes)
    return make_multiclass(
        draw(st.integers(n_classes + 2, 25)),
        n_columns,
        n_classes,
        margin=float(margin),
        radius=radius,
        random_state=draw(seeds),
        **fixed,
    )


def exact_scores(problem):
    u, b = exact(problem.weights), Fraction(problem.intercept)
    return [int(sign) * (dot(u, x) + b) for sign, x in zip(problem.y, exact(problem.X), strict=True)]


# Separable


@law(separable_problems())
def test_no_row_is_nearer_to_the_plane_than_the_margin(problem):
    assert min(exact_scores(problem)) >= Fraction(problem.margin)


@law(separable_problems())
def test_the_margin_is_attained_in_each_class(problem):
    assert problem.y[problem.tight_rows].tolist() == [1, -1]
    scores = exact_scores(problem)
    for row in problem.tight_rows:
        assert scores[row] - Fraction(problem.margin) <= EPS * Fraction(problem.radius)


@law(st.one_of(separable_problems(), multiclass_problems()))
def test_the_weights_have_unit_norm_and_not_more(problem):
    assert (1 - 8 * EPS) ** 2 <= sum(square(w) for w in exact(np.atleast_2d(problem.weights))) <= 1


@law(st.one_of(separable_problems(), multiclass_problems()))
def test_the_radius_is_attained_and_not_exceeded(problem):
    longest = max(square(x) for x in exact(problem.X))
    radius = Fraction(problem.radius)
    assert (radius * (1 - 8 * EPS)) ** 2 <= longest <= radius**2


@law(separable_problems())
def test_no_plane_has_a_larger_affine_margin(problem):
    positive, negative = (exact(problem.X[[row]])[0] for row in problem.tight_rows)
    half_distance = [(a - b) / 2 for a, b in zip(positive, negative, strict=True)]
    upper = Fraction(problem.margin) + 4 * EPS * Fraction(problem.radius)
    assert square(half_distance) <= upper**2


@law(separable_problems(intercept=False))
def test_without_intercept_the_lifted_margin_is_the_same_number(problem):
    assert problem.intercept == 0.0
    lifted = [[*exact(problem.X[[row]])[0], Fraction(1)] for row in problem.tight_rows]
    signs = [int(problem.y[row]) for row in problem.tight_rows]
    mean = [
        sum(sign * x for sign, x in zip(signs, column, strict=True)) / 2
        for column in zip(*lifted, strict=True)
    ]
    assert mean[-1] == 0
    assert square(mean) <= (Fraction(problem.margin) + 4 * EPS * Fraction(problem.radius)) ** 2


@law(st.floats(0.05, 0.5), st.integers(1, 6), seeds)
def test_the_perceptron_stays_within_the_mistake_bound(margin, n_columns, seed):
    problem = make_separable(30, n_columns, margin=margin, random_state=seed)
    signed_rows = problem.y[:, np.newaxis] * problem.X
    w = np.zeros(n_columns)
    mistakes = 0
    while (wrong := np.flatnonzero(signed_rows @ w <= 0)).size:
        w += signed_rows[wrong[0]]
        mistakes += 1
        assert mistakes <= (problem.radius / problem.margin) ** 2


@law(seeds)
def test_a_small_margin_leaves_rows_near_the_plane(seed):
    problem = make_separable(1000, 50, margin=0.001, random_state=seed)
    scores = problem.y * (problem.X @ problem.weights)
    # Uniform in the ball, a tenth of the rows and more would lie within 0.02 of the plane.
    assert (scores < 0.021).mean() > 0.05


@law(st.floats(-0.8, 0.8), seeds)
def test_an_offset_that_is_given_is_the_offset(offset, seed):
    assert make_separable(10, 3, intercept=offset, random_state=seed).intercept == offset


@law(st.floats(0.01, 0.9), seeds)
def test_a_random_offset_leaves_room_for_both_classes(margin, seed):
    problem = make_separable(10, 3, margin=margin, intercept=True, random_state=seed)
    assert 0 < abs(problem.intercept) <= (1 - margin) / 2


def test_one_column_has_the_exact_normal():
    assert abs(make_separable(10, 1, random_state=0).weights[0]) == 1.0


@law(seeds)
def test_more_rows_than_one_block_make_no_difference(seed):
    n_rows = 3000
    problem = make_separable(n_rows, 3, margin=0.2, intercept=True, random_state=seed)
    scores = problem.y * (problem.X @ problem.weights + problem.intercept)
    assert scores.min() == pytest.approx(0.2, abs=1e-14)
    assert (np.linalg.norm(problem.X, axis=1) <= 1 + 1e-14).all()


@pytest.mark.slow
def test_a_large_problem_takes_seconds():
    start = time.perf_counter()
    problem = make_separable(200_000, 100, margin=0.01, random_state=0)
    assert time.perf_counter() - start < 5
    assert (problem.y * (problem.X @ problem.weights)).min() == pytest.approx(0.01, abs=1e-14)


# Overlapping


@law(overlapping_problems())
def test_no_row_of_an_overlapping_problem_exceeds_the_radius(problem):
    assert all(square(x) <= Fraction(problem.radius) ** 2 for x in exact(problem.X))


@law(overlapping_problems())
def test_the_planted_plane_is_wrong_on_the_flipped_rows_and_on_no_other(problem):
    scores = problem.y * (problem.X @ problem.weights)
    others = np.setdiff1d(np.arange(problem.y.size), problem.witness_rows)
    assert np.array_equal(others[scores[others] < 0], problem.flipped_rows)


@law(st.floats(0, 1), st.integers(6, 200), seeds)
def test_the_noise_is_the_share_of_flipped_labels(noise, n_rows, seed):
    problem = make_overlapping(n_rows, 4, noise=noise, random_state=seed)
    assert problem.flipped_rows.size == round(noise * (n_rows - 6))


@law(st.integers(1, 6), seeds)
def test_as_many_witnesses_as_the_space_allows_span_it(n_columns, seed):
    problem = make_overlapping(30, n_columns, n_witnesses=n_columns + 2, random_state=seed)
    witnesses = np.column_stack([problem.X[problem.witness_rows], np.ones(n_columns + 2)])
    assert np.linalg.matrix_rank(witnesses) == n_columns + 1


def test_two_witnesses_are_one_point_in_both_classes():
    problem = make_overlapping(20, 3, n_witnesses=2, random_state=0)
    first, second = problem.witness_rows
    assert np.array_equal(problem.X[first], problem.X[second])
    assert problem.y[first] == -problem.y[second]
    assert problem.witness_weights.tolist() == [1, 1]


def test_many_witnesses_still_cancel():
    problem = make_overlapping(1000, 700, n_witnesses=702, random_state=0)
    rows = problem.witness_rows
    signed = problem.witness_weights * problem.y[rows]
    assert signed.sum() == 0
    assert not (signed @ problem.X[rows]).any()
    assert all(dot(exact(signed), column) == 0 for column in exact(problem.X[rows].T[:20]))


# The exclusive or


def test_four_rows_are_the_classic_corners():
    problem = make_xor()
    corners = {tuple(x): int(label) for x, label in zip(problem.X.tolist(), problem.y, strict=True)}
    assert corners == {(1.0, 1.0): -1, (-1.0, -1.0): -1, (1.0, -1.0): 1, (-1.0, 1.0): 1}


@law(st.integers(4, 60), st.floats(0, 0.99), seeds)
def test_the_product_of_the_columns_solves_the_exclusive_or(n_rows, noise, seed):
    problem = make_xor(n_rows, noise=noise, random_state=seed)
    lifted = np.column_stack([problem.X, problem.X.prod(axis=1)])
    assert (problem.y * (lifted @ problem.weights)).min() == problem.margin
    assert problem.margin >= (1 - noise) ** 2 * (1 - 1e-12)
    assert np.abs(np.abs(problem.X) - 1).max() <= noise + 1e-15


@law(seeds, n_cases=20)
def test_three_rows_of_two_columns_that_are_not_on_a_line_can_be_separated(seed):
    X = np.random.default_rng(seed).standard_normal((3, 2))
    for y in itertools.product([-1, 1], repeat=3):
        if len(set(y)) == 2:
            assert separability(X, np.array(y), quasi=False).separable
    corners = make_xor()
    assert separability(*corners, quasi=False).separable is False
    for three in itertools.combinations(corners.X, 3):
        assert np.linalg.matrix_rank(np.column_stack([three, np.ones(3)])) == 3


# Rings


@st.composite
def ring_problems(draw):
    inner = draw(radii)
    return make_rings(
        draw(st.integers(4, 30)),
        draw(st.integers(1, 6)),
        inner=inner,
        gap=inner * draw(st.floats(1e-6, 10)),
        random_state=draw(seeds),
    )


def ring_radii(problem):
    """The lengths of the longest row inside and of the shortest one outside, by the tight rows."""
    return [Fraction(float(np.abs(problem.X[row]).max())) for row in problem.tight_rows[:2]]


@law(ring_problems())
def test_the_gap_between_the_rings_is_exact_and_attained(problem):
    squares = [square(x) for x in exact(problem.X)]
    inside = [length for length, sign in zip(squares, problem.y, strict=True) if sign < 0]
    outside = [length for length, sign in zip(squares, problem.y, strict=True) if sign > 0]
    inner, outer = ring_radii(problem)
    assert max(inside) == inner**2
    assert min(outside) == outer**2


@law(ring_problems())
def test_the_radial_lift_separates_the_rings_by_the_margin(problem):
    assert problem.weights.tolist() == [0.0] * problem.X.shape[1] + [1.0]
    b = Fraction(problem.intercept)
    scores = [int(sign) * (square(x) + b) for sign, x in zip(problem.y, exact(problem.X), strict=True)]
    tolerance = 4 * EPS * ring_radii(problem)[1] ** 2
    assert abs(min(scores) - Fraction(problem.margin)) <= tolerance
    assert all(abs(scores[row] - Fraction(problem.margin)) <= tolerance for row in problem.tight_rows)


@law(ring_problems())
def test_no_plane_separates_the_lifted_rings_by_more(problem):
    below, right, left = (exact(problem.X[[row]])[0] for row in problem.tight_rows)
    inner, outer = ring_radii(problem)
    share = (outer + inner) / (2 * outer)
    assert 0 <= share <= 1
    above = [share * a + (1 - share) * b for a, b in zip(right, left, strict=True)]
    assert above == below


def test_no_row_among_thousands_leaves_its_ring():
    problem = make_rings(5000, 20, inner=1.0, gap=0.5, random_state=0)
    lengths = np.linalg.norm(problem.X, axis=1)
    assert lengths[problem.y < 0].max() == 1.0
    assert lengths[problem.y > 0].min() == 1.5
    assert lengths.max() <= 2.5 + 1e-9


# Multiclass


def exact_leads(problem):
    """For each row, the smallest lead of its class over another, exactly."""
    weights = exact(problem.weights)
    leads = []
    for label, x in zip(problem.y, exact(problem.X), strict=True):
        scores = [dot(w, x) for w in weights]
        leads.append(min(scores[label] - score for r, score in enumerate(scores) if r != label))
    return leads


@law(multiclass_problems())
def test_every_class_leads_by_the_margin_and_some_row_by_no_more(problem):
    leads = exact_leads(problem)
    margin = Fraction(problem.margin)
    assert min(leads) >= margin
    for row in problem.tight_rows:
        assert leads[row] - margin <= 2 * EPS * Fraction(problem.radius)


@law(multiclass_problems())
def test_every_class_has_a_row(problem):
    assert sorted(set(problem.y.tolist())) == list(range(len(problem.weights)))


@law(st.integers(7, 40), seeds, n_cases=20)
def test_many_classes_fit_in_a_plane(n_classes, seed):
    problem = make_multiclass(100, 2, n_classes, margin=1e-5, random_state=seed)
    assert min(exact_leads(problem)) >= Fraction(1e-5)


# Spirals and checkerboards


@law(n_rows=st.integers(4, 40), turns=st.floats(2, 20), seed=seeds)
def test_a_row_of_one_arm_is_the_middle_of_two_of_the_other(n_rows, turns, seed):
    problem = make_spirals(n_rows, turns=turns, random_state=seed)
    # on its arm, a row at radius r has the angle 2 pi (r - 1/2), on the other half a turn more
    radius = np.hypot(*problem.X.T)
    angle = np.arctan2(*(problem.X * problem.y[:, None]).T[::-1]) / (2 * np.pi)
    assert np.allclose((radius - 0.5 - angle + 0.5) % 1.0, 0.5, atol=1e-9)


@pytest.mark.parametrize("turns", [2.0, 2.25, 2.5])
def test_a_polynomial_that_separates_the_whole_arms_has_a_degree_of_twice_twice_the_turns_plus_one(turns):
    # Where the arms meet the first axis; made as the rows are, at the shares of the arm that end up there.
    half_turns = np.arange(math.floor(2 * turns) + 1)
    places = (0.5 + half_turns / 2) * (-1.0) ** half_turns
    X, y = np.append(places, -places)[:, None], np.repeat([1, -1], half_turns.size)
    needed = 2 * math.floor(2 * turns) + 1
    for degree, separable in ((needed - 1, False), (needed, True)):
        powers = monomials(X / 2.0, tuple(range(degree + 1)))
        assert separability(powers, y, quasi=False, fit_intercept=False).separable is separable
    sample = make_spirals(4000, turns=turns, random_state=0)
    for place, label in zip(X[:, 0], y, strict=True):
        nearest = np.hypot(sample.X[:, 0] - place, sample.X[:, 1]).argmin()
        assert sample.y[nearest] == label


@pytest.mark.parametrize("seed", range(5))
def test_four_rows_of_the_spirals_need_degree_two(seed):
    X, y = make_spirals(4, random_state=seed)
    for degree, separable in ((1, False), (2, True)):
        powers = monomials(X, tuple(range(degree + 1)))
        assert separability(powers, y, quasi=False, fit_intercept=False).separable is separable


@law(n_rows=st.integers(4, 40), squares=st.integers(2, 5), gap=st.floats(0, 0.9), seed=seeds)
def test_neighbouring_squares_have_other_labels_and_keep_apart(n_rows, squares, gap, seed):
    problem = make_checkerboard(n_rows, squares, gap=gap, random_state=seed)
    assert (problem.X >= 0).all()
    assert problem.X.max() <= squares
    edge = np.abs(problem.X - np.rint(problem.X)).min()
    assert edge >= gap / 2 - 1e-12


# All of them

witnessed = st.one_of(
    overlapping_problems(),
    ring_problems(),
    st.builds(make_xor, st.integers(4, 60), noise=st.floats(0, 0.99), random_state=seeds),
    st.builds(make_spirals, st.integers(4, 40), turns=st.floats(2, 20), random_state=seeds),
    st.builds(make_checkerboard, st.integers(4, 40), st.integers(2, 5), random_state=seeds),
)


@law(witnessed, n_cases=200)
def test_the_witnesses_cancel_exactly_and_in_floats(problem):
    rows, multipliers = problem.witness_rows, problem.witness_weights
    assert len(set(rows.tolist())) == rows.size == multipliers.size
    assert multipliers.dtype.kind == "i"
    assert (multipliers > 0).all()
    signed = multipliers * problem.y[rows]
    assert signed.sum() == 0
    assert not (signed @ problem.X[rows]).any()
    assert all(dot(exact(signed), column) == 0 for column in zip(*exact(problem.X[rows]), strict=True))


@law(st.one_of(separable_problems(), ring_problems(), st.builds(make_spirals, random_state=seeds)))
def test_the_classes_are_balanced(problem):
    assert set(problem.y.tolist()) == {-1, 1}
    assert abs(int(problem.y.sum())) <= 1


MAKERS = {
    "separable": lambda seed: make_separable(20, 3, intercept=True, random_state=seed),
    "overlapping": lambda seed: make_overlapping(20, 3, random_state=seed),
    "xor": lambda seed: make_xor(20, random_state=seed),
    "rings": lambda seed: make_rings(20, random_state=seed),
    "spirals": lambda seed: make_spirals(20, random_state=seed),
    "checkerboard": lambda seed: make_checkerboard(20, random_state=seed),
    "multiclass": lambda seed: make_multiclass(20, 3, 4, random_state=seed),
}
every_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


def contents(problem):
    return {name: np.asarray(v).tolist() for name, v in {"X": problem.X, **problem.answer}.items()}


@every_maker
@law(seed=seeds, n_cases=10)
def test_the_same_seed_gives_the_same_problem(make, seed):
    assert contents(make(seed)) == contents(make(np.random.default_rng(seed)))


@every_maker
@law(seed=seeds, n_cases=10)
def test_another_seed_gives_another_problem(make, seed):
    assume(seed > 0)
    assert contents(make(seed)) != contents(make(seed - 1))


@every_maker
def test_no_seed_gives_another_problem_each_time(make):
    assert contents(make(None)) != contents(make(None))


@every_maker
def test_a_generator_moves_on(make):
    rng = np.random.default_rng(0)
    assert contents(make(rng)) != contents(make(rng))


@every_maker
def test_a_problem_unpacks_into_rows_and_labels(make):
    problem = make(0)
    X, y = problem
    assert X is problem.X
    assert y is problem.y
    assert X.dtype == np.float64
    assert y.dtype == np.int64
    assert X.shape[0] == y.shape[0] == 20


@every_maker
def test_a_problem_is_frozen_and_prints_on_one_line(make):
    problem = make(0)
    with pytest.raises(AttributeError):
        problem.y = None
    assert repr(problem).startswith("Problem(X=<20x")
    assert "\n" not in repr(problem)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_separable(2), r"n_rows is 2; it must be at least 3"),
        (lambda: make_separable(10, 0), r"n_columns is 0"),
        (lambda: make_separable(margin=1.0), r"margin is 1; it must be below 0\.999999999,"),
        (
            lambda: make_separable(margin=1 - 1e-10),
            r"margin is 0\.9999999999; it must be below 0\.999999999,",
        ),
        (lambda: make_separable(margin=2.0, radius=1.5), r"margin is 2; it must be below 1\.4999"),
        (lambda: make_separable(margin=0.0), r"margin is 0; it must be positive"),
        (lambda: make_separable(margin=-1.0), r"margin is -1"),
        (lambda: make_separable(margin=float("nan")), r"margin is nan"),
        (lambda: make_separable(radius=float("inf")), r"radius is inf"),
        (lambda: make_separable(intercept=0.95), r"margin is 0\.1; it must be below 0\.04999"),
        (lambda: make_separable(intercept=float("nan")), r"it must be below nan"),
        (lambda: make_overlapping(3, 2), r"n_rows is 3; it must be at least 4"),
        (lambda: make_overlapping(noise=1.5), r"noise is 1\.5;.*from 0 to 1"),
        (lambda: make_overlapping(noise=float("nan")), r"noise is nan"),
        (lambda: make_overlapping(n_witnesses=1), r"n_witnesses is 1;.*2 to 4"),
        (lambda: make_overlapping(n_witnesses=5), r"n_witnesses is 5;.*2 to 4"),
        (lambda: make_xor(3), r"n_rows is 3; it must be at least 4"),
        (lambda: make_xor(noise=1.0), r"noise is 1;.*below 1"),
        (lambda: make_rings(3), r"n_rows is 3"),
        (lambda: make_spirals(3), r"n_rows is 3"),
        (lambda: make_spirals(turns=1.0), r"turns is 1;.*from 2 to 20"),
        (lambda: make_checkerboard(squares=1), r"squares is 1"),
        (lambda: make_checkerboard(gap=1.0), r"gap is 1;"),
        (lambda: make_rings(gap=0.0), r"gap is 0"),
        (lambda: make_rings(inner=1.0, gap=1e-12), r"gap is 1e-12; it must be above 1e-09"),
        (lambda: make_rings(inner=-1.0), r"inner is -1"),
        (lambda: make_multiclass(4, 2, 3), r"n_rows is 4; it must be at least 5"),
        (lambda: make_multiclass(10, 1, 3), r"n_columns is 1; it must be at least 2"),
        (lambda: make_multiclass(10, 2, 1), r"n_classes is 1"),
        (lambda: make_multiclass(50, 2, 10), r"margin is 0\.1; it must be below .*10 classes in 2 columns"),
    ],
)
def test_parameters_that_cannot_be_met_are_refused_with_advice(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("make", [make_separable, make_overlapping, make_xor, make_rings, make_multiclass])
def test_a_count_that_is_not_whole_is_refused(make):
    with pytest.raises(TypeError, match=r"n_rows is 10.5; a whole number"):
        make(10.5)
