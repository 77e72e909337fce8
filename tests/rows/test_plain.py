"""Laws of the loops in NumPy, by which few rows are learnt: their runs are the compiled ones."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix.datasets import make_separable
from separatrix.loops.layouts import MISTAKES
from separatrix.perceptron import learner
from separatrix.perceptron.learner import Learner
from separatrix.perceptron.orders import solve_perceptron
from separatrix.rows import numpy_loops
from separatrix.rows.memory import as_rows, lightly
from tests.problems import ORDERS, grids


def outcome(result):
    """All that a run gives back."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in (
            *vars(result).items(),
            *((f"trace {name}", value) for name, value in vars(result.trace).items()),
        )
        if name not in ("trace", "votes", "cycle")
    }


@settings(max_examples=60)
@given(
    case=grids(),
    order=st.sampled_from(ORDERS),
    average=st.sampled_from([False, "averaged", "voted"]),
    light=st.sampled_from([0, 1, 3, 10**9]),
    max_updates=st.sampled_from([None, 4]),
    weighted=st.booleans(),
)
def test_where_sums_are_exact_a_run_by_numpy_is_the_compiled_one_bit_by_bit_wherever_it_changes_over(
    case, order, average, light, max_updates, weighted
):
    average = False if order == "worst" else average
    weights = 2.0 ** (np.arange(len(case.codes)) % 3 - 1) if weighted else None
    found = []
    for few, limit in ((True, light), (False, 0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(learner, "LIGHT", limit)
            options = {"max_iter": 8, "max_updates": max_updates, "row_weights": weights, "seed": 3}
            rows = replace(case, few=few).rows()
            found.append(solve_perceptron(rows, order=order, average=average, trace=True, **options))
    plainly, compiled = found
    assert outcome(plainly) == outcome(compiled)
    if average == "voted":
        assert plainly.votes.survivals.tolist() == compiled.votes.survivals.tolist()


@pytest.mark.parametrize("n_rows", [200, 600])
@pytest.mark.parametrize("margin", [0.1, 0.02])
def test_few_rows_are_separated_within_novikoffs_bound(n_rows, margin):
    problem = make_separable(n_rows, 5, margin=margin, random_state=1)
    rows = lightly(as_rows(problem.X, (problem.y > 0).astype(int)))
    assert rows.few
    result = solve_perceptron(rows, max_iter=1000)
    assert result.separated
    assert result.mistakes <= (rows.radius / problem.margin) ** 2


def test_how_many_rows_are_scored_beside_it_changes_no_bit_of_a_score():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 13))
    model = sx.Perceptron().fit(X, (X @ rng.standard_normal((13, 3))).argmax(axis=1))
    whole = model.decision_function(X)
    for size in (1, 2, 7, 299):
        parts = [model.decision_function(X[first : first + size]) for first in range(0, 300, size)]
        assert np.array_equal(np.concatenate(parts), whole)


FITS = """
import json, sys
{before}
import numpy as np
import separatrix as sx
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 5))
found = []
for target in (X[:, 0] + X[:, 1] > 0, X[:, :3].argmax(axis=1)):
    for options in ({{}}, {{"average": True, "max_iter": 9}}, {{"max_updates": 50, "trace": True}}):
        model = sx.Perceptron(random_state=0, **options)
        model.fit(X, target)
        found.append([model.coef_.tolist(), model.predict(X[:9]).tolist(), model.score(X, target)])
print(json.dumps(["numba" in sys.modules, found]))
"""
MANY = """
import numpy, separatrix, warnings
numbers = numpy.random.default_rng(1).normal(size=(9000, 7))
separatrix.Perceptron(max_iter=3).fit(numbers, numbers[:, 0] > 0)
"""


def test_few_rows_load_no_compiler_and_one_that_is_loaded_changes_no_bit():
    found = []
    for before in ("", MANY):
        code = FITS.format(before=before)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
        )
        found.append(json.loads(done.stdout))
    (cold, fresh), (warm, later) = found
    assert (cold, warm) == (False, True)
    assert fresh == later


@pytest.mark.parametrize("after", range(1, 6))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_pass_that_is_interrupted_leaves_everything_as_it_was(after, n_classes, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 4)), rng.integers(0, n_classes, 60)
    rows = as_rows(X, y, n_classes=n_classes)
    start = rng.standard_normal(rows.weights_shape)
    state = Learner(rows, start=start, steps=np.ones(1), averaging=True, logging=True, few=True)
    made, update = [], numpy_loops.correct

    def interrupted(*arguments):
        made.append(1)
        update(*arguments)
        if len(made) == after:
            raise KeyboardInterrupt

    monkeypatch.setattr(numpy_loops, "correct", interrupted)
    before = [each.copy() for each in state.tally]
    with pytest.raises(KeyboardInterrupt):
        numpy_loops.learn(rows.storage, rows.order, state.weights, state.steps, state.tally)
    assert np.array_equal(state.weights, start)
    for name, each, kept in zip(state.tally._fields, state.tally, before, strict=True):
        assert name == "log" or np.array_equal(each, kept)
    monkeypatch.undo()
    assert numpy_loops.learn(rows.storage, rows.order, state.weights, state.steps, state.tally) == 60
    assert state.tally.clock[MISTAKES] == state.tally.counts.sum() > 0
