"""What every solver gives back: a status, a bracket, how it got there, and how long that took."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.margins.hard.max_margin import HardOptimum
from separatrix.margins.lp.linear_program import solve_linear_program
from separatrix.margins.rounding.proved_margin import exact_product
from separatrix.result import Solution, Status
from separatrix.rows.memory import as_rows


@pytest.fixture(scope="module")
def problem():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((60, 3))
    y = (X @ np.array([1.0, -1.0, 0.5]) > 0.1).astype(int)
    return X, y


SOLVED = {
    "hard": lambda X, y: sx.MaxMargin().fit(X, y).optimum_,
    "soft": lambda X, y: sx.SoftMargin().fit(X, y).optimum_,
    "hard, kernel": lambda X, y: sx.MaxMargin(kernel="poly").fit(X, y).optimum_,
    "soft, kernel": lambda X, y: sx.SoftMargin(kernel="poly").fit(X, y).optimum_,
    "program": lambda X, y: solve_linear_program(as_rows(X, y)),
    "perceptron": lambda X, y: sx.Perceptron(max_iter=10_000).fit(X, y).result_,
    "kernel perceptron": lambda X, y: sx.KernelPerceptron(kernel="poly").fit(X, y).result_,
}


@pytest.mark.parametrize("name", SOLVED)
def test_every_solver_returns_a_solution(name, problem):
    found = SOLVED[name](*problem)
    assert isinstance(found, Solution)
    assert found.status in (Status.REACHED, Status.SEPARATED)
    assert found.outcome is found.status
    lower, upper = found.bracket
    assert lower <= upper
    assert found.gap >= 0.0
    assert found.seconds >= 0.0


@pytest.mark.parametrize("name", ["hard", "soft", "hard, kernel"])
def test_the_brackets_of_a_history_never_widen_and_hold_the_optimum(name, problem):
    found = SOLVED[name](*problem)
    lowers, uppers = np.array(found.history).T
    assert (np.diff(lowers) >= 0.0).all()
    assert (np.diff(uppers) <= 0.0).all()
    lower, upper = found.bracket
    assert lowers.max() <= upper * (1.0 + 1e-9)
    assert uppers.min() >= lower * (1.0 - 1e-9)


def test_an_optimum_from_a_file_that_calls_its_status_an_outcome_is_read():
    old = HardOptimum.__new__(HardOptimum)
    old.__setstate__({"outcome": Status("STALLED"), "margin_lower": 1.0, "margin_upper": 2.0})
    assert old.status is Status.STALLED
    assert (old.history, old.seconds, old.gap) == ((), 0.0, 0.5)


@pytest.mark.parametrize("power", [-900, 0, 900])
def test_a_sum_of_products_near_the_ends_of_the_range_is_rounded_once(power):
    a, b = np.array([3.0, 1.0, -3.0]), np.array([1.0, 2.0**-60, 1.0])
    assert exact_product(np.ldexp(a, power), np.ldexp(b, -power)) == 2.0**-60


@pytest.mark.parametrize("seed", range(10))
def test_a_small_problem_that_is_solved_exactly_is_soon_left_alone(seed):
    generator = np.random.default_rng(seed)
    X, y = generator.integers(-4, 5, (8, 2)), np.arange(8) % 2
    assert sx.SoftMargin().fit(X, y).n_iter_ < 500
