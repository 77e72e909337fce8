"""A time limit holds on every path of a verdict: within a second, and one scan of the data."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from types import SimpleNamespace

import flint
import numpy as np
import pytest
from scipy import sparse

import separatrix as sx
from separatrix import deadline
from separatrix.certificates.check import verify
from separatrix.certificates.claims import Certificate
from separatrix.certificates.scores import Signs, first_wrong
from separatrix.deadline import Deadline, OutOfTime
from separatrix.dual import kernel_margin
from separatrix.inputs.data import read_data
from separatrix.perceptron import orders
from separatrix.perceptron.orders import solve_perceptron
from separatrix.proofs import prove, signed_rows
from separatrix.proofs.exact import integer_rows, partition
from separatrix.proofs.search import Problem
from separatrix.proofs.statistics import coefficients
from separatrix.proofs.strategies import (
    class_subsets,
    exact_partition,
    interior_point,
    linear_program,
    sparse_elimination,
)
from separatrix.proofs.verdict import separability
from separatrix.result import Status
from separatrix.rows.memory import as_rows
from tests.problems import thin

NORMAL = np.random.default_rng(0).standard_normal
LABELS = np.random.default_rng(1).integers


def seconds(call):
    """What a call takes: by the clock, or of the processors where others keep those busy."""
    clock, work = time.monotonic(), time.process_time()
    found = call()
    return min(time.monotonic() - clock, time.process_time() - work), found


def noise(n_rows, n_columns, n_classes=2):
    return NORMAL((n_rows, n_columns)), LABELS(0, n_classes, n_rows)


def sparse_rows(n_rows, n_columns, density):
    rng = np.random.default_rng(0)
    return sparse.random_array((n_rows, n_columns), density=density, rng=rng, format="csr")


def with_pairs(X, y):
    return sparse.csr_array(sparse.vstack([X, X[:20]], format="csr")), np.concatenate([y, 1 - y[:20]])


def no_linear_program(monkeypatch):
    nothing = Status.STALLED, np.zeros(0), np.zeros(0)
    monkeypatch.setattr(linear_program.WorkingProgram, "solve", lambda _: nothing)


def no_partition(monkeypatch):
    no_linear_program(monkeypatch)
    monkeypatch.setattr(exact_partition, "exact_partition", lambda *_: None)
    monkeypatch.setattr(partition, "LARGEST", 1 << 18)


# Each path: what it is called by, how it is forced, the data, the seconds, the options.
PATHS = {
    "perceptron": (
        (orders, "solve_perceptron"),
        None,
        lambda: noise(400_000, 20),
        0.5,
        {},
    ),
    "linear program": (
        (linear_program.WorkingProgram, "solve"),
        lambda monkeypatch: monkeypatch.setattr(interior_point, "FEWEST", 1000),
        lambda: noise(3000, 300),
        0.4,
        {},
    ),
    "interior point": ((interior_point, "solve_interior"), None, lambda: noise(6000, 600), 0.6, {}),
    "exact partition": (
        (exact_partition, "exact_partition"),
        no_linear_program,
        lambda: thin(150, 1800, -(2.0**-40), 0),
        0.4,
        {},
    ),
    "integer simplex": (
        (exact_partition, "gordan"),
        no_partition,
        lambda: thin(50, 400, -(2.0**-40), 0),
        0.4,
        {},
    ),
    "sparse elimination": (
        (sparse_elimination, "eliminate"),
        None,
        lambda: with_pairs(sparse_rows(6000, 5000, 0.005), LABELS(0, 2, 6000)),
        0.5,
        {},
    ),
    "finer question": (
        (prove, "_positive_everywhere"),
        lambda monkeypatch: monkeypatch.setattr(prove, "TIGHT_ROW", 1e-3),  # as on a slow machine
        lambda: (LABELS(0, 3, (100_000, 3)), LABELS(0, 2, 100_000)),
        3.0,
        {},
    ),
    "kernel margin": (
        (kernel_margin, "solve_kernel_margin"),
        None,
        lambda: noise(1500, 5),
        0.01,
        {"kernel": sx.kernels.Gaussian(0.5)},
    ),
    "kernel without a map": (
        (kernel_margin, "solve_kernel_margin"),
        None,
        lambda: noise(1500, 5),
        0.01,
        {"kernel": sx.kernels.Polynomial(20)},
    ),
    "monomials": (
        (orders, "solve_perceptron"),
        None,
        lambda: noise(5000, 6),
        0.3,
        {"kernel": sx.kernels.Polynomial(6)},
    ),
    "many classes": (
        (class_subsets.ClassSubsets, "attempt"),
        None,
        lambda: noise(20_000, 30, 10),
        0.3,
        {},
    ),
    "parts": (
        (orders, "solve_perceptron"),
        None,
        lambda: noise(10_000, 30, 10),
        0.3,
        {"multiclass": "pairwise"},
    ),
}


@pytest.mark.parametrize("path", PATHS)
def test_a_time_limit_holds_within_a_second_and_a_scan(path, monkeypatch):
    (home, name), force, data, limit, options = PATHS[path]
    X, y = data()
    if force is not None:
        force(monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(signed_rows, "SMALL", 0)
        separability(X[:200], y[:200], time_limit=0.2, **options)  # compiles, imports
    entered, solver = [], getattr(home, name)
    monkeypatch.setattr(home, name, lambda *a, **k: entered.append(name) or solver(*a, **k))
    # Seconds of the processor: on a busy machine the time would be up before the path is reached.
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=time.process_time))
    monkeypatch.setattr(deadline, "slowdown", lambda: 1.0)
    scan, _ = seconds(lambda: (read_data(X, y), X @ np.ones(X.shape[1])))
    took, verdict = seconds(lambda: separability(X, y, time_limit=limit, **options))
    assert entered
    assert took < limit + 1.0 + scan
    assert verdict.certificate is None or verify(verdict.certificate, X, y, same_data=False)


def test_coefficients_hold_the_time_limit_and_are_undecided_then():
    X, y = noise(1400, 1400)
    X[:, 0] = 50.0 * (2 * y - 1)
    verdict = separability(X, y)
    assert verdict.status == "separable"
    asked, proof, judge = verdict.find_coefficients.args
    took, found = seconds(
        lambda: coefficients.coefficient_answers(
            asked.due(Deadline.after(0.2)), proof, judge, [f"x{j}" for j in range(1401)]
        )
    )
    assert took < 1.2
    assert set(found.answers.values()) == {None}
    assert len(found.responsible) == 1401


def test_an_estimate_is_longer_if_processes_share_the_cores(monkeypatch):
    monkeypatch.setattr(deadline, "slowdown", lambda: 4.0)
    Deadline.after(5.0).need(1.0)
    with pytest.raises(OutOfTime):
        Deadline.after(3.0).need(1.0)


def test_an_estimate_of_operations_is_longer_if_many_processes_share_a_core(monkeypatch):
    due = Deadline.after(5.0)
    for times, enough in ((1.0, True), (6.0, True), (12.0, False)):
        monkeypatch.setattr(deadline, "slowdown", lambda times=times: times)
        if enough:
            due.need(operations=3.0 * deadline.FLOPS_PER_SECOND)
        else:
            with pytest.raises(OutOfTime):
                due.need(operations=3.0 * deadline.FLOPS_PER_SECOND)


def test_the_slowdown_is_what_the_clock_shows():
    """Work in this thread; the ratio is that of the clock and the processor time of the same work."""
    deadline.slowdown()
    wall, used = time.monotonic(), time.thread_time()
    while time.thread_time() - used < 0.5:
        pass
    ratio = (time.monotonic() - wall) / (time.thread_time() - used)
    assert deadline._wait() == pytest.approx(ratio, rel=0.5)
    assert deadline.slowdown() >= 1.0


def test_exact_algebra_that_would_end_after_the_deadline_is_not_begun():
    random.seed(0)
    matrix = flint.fmpz_mat(300, 300, [random.getrandbits(60) for _ in range(90_000)])
    first = integer_rows.times(matrix, [1] + [0] * 299)
    soon = Deadline.after(0.05)
    for call in (
        lambda: integer_rows.solved(matrix, first, soon),
        lambda: integer_rows.pivot_columns(matrix, integer_rows.FIRST_PRIME, soon),
        lambda: integer_rows.combined(matrix, first, integer_rows.FIRST_PRIME, soon),
        lambda: integer_rows.vanishing(matrix, first, integer_rows.FIRST_PRIME, soon),
        lambda: integer_rows.products(
            np.ones((10, 3)), np.ones((1, 3), dtype=np.int64), 7, deadline=Deadline(0.0)
        ),
        lambda: partition.gordan(flint.fmpz_mat([[1, -1], [-1, 1]]), deadline=Deadline(0.0)),
    ):
        with pytest.raises(OutOfTime):
            call()


def test_whoever_pauses_the_checker_may_end_it():
    X, y = thin(10, 400, 2.0**-44, seed=0)
    rng = np.random.default_rng(0)
    rng.integers(-8, 9, (400, 10))
    normal = rng.integers(-4, 5, 10)
    normal[0] = 1
    data = read_data(X, y)
    claim = Certificate("separable", "binary", ("0", "1"), (), True, (), 400, 10, "")
    weights = ((*(float(v) for v in normal), -(2.0**-45)),)
    pauses, signs = [], Signs(claim, data)
    assert first_wrong(weights, signs, signs.none(), lambda: pauses.append(1)) is None
    assert len(pauses) > 100  # rows too near to the plane for floats
    with pytest.raises(OutOfTime):
        first_wrong(weights, signs, signs.none(), Deadline(0.0).need)


def test_a_perceptron_ends_after_the_pass_in_which_its_deadline_comes():
    X, y = NORMAL((2000, 5)), LABELS(0, 2, 2000).astype(np.int32)
    for order in ("cyclic", "shuffled", "worst", "working_set"):
        result = solve_perceptron(as_rows(X, y), order=order, max_iter=10**9, deadline=Deadline.after(0.1))
        assert result.status is Status.TIME_LIMIT
        assert result.errors > 0


def test_parts_share_the_time_and_those_left_over_say_so():
    X, y = NORMAL((3000, 20)), LABELS(0, 5, 3000)
    verdict = separability(X, y, multiclass="pairwise", time_limit=1e-9)
    assert verdict.status == "undecided"
    assert len(verdict.parts) == 10
    last = verdict.parts[3, 4]
    assert (last.status, last.margin) == ("undecided", (-np.inf, np.inf))
    assert last.n_rows == np.isin(y, (3, 4)).sum()
    assert "undecided" in verdict.summary()
    assert verdict.to_dict()["parts"]["3 - 4"]["separable"] is None


def test_a_linear_program_after_its_deadline_says_so():
    X = NORMAL((2000, 200))
    y = (X @ NORMAL(200) > 0).astype(int)
    rows = signed_rows.SignedRows(read_data(X, y), 1, np.ones(2000, dtype=bool), True)
    program = linear_program.WorkingProgram(Problem(rows, (), lambda _: True, np.ones(2000, dtype=bool)))
    program.add(rows.ids)
    for moment, status in ((Deadline(0.0), Status.TIME_LIMIT), (Deadline(), Status.REACHED)):
        program.problem = replace(program.problem, rows=rows.due(moment))
        assert program.solve()[0] is status


def test_rows_are_made_of_integers_until_the_deadline():
    rows = signed_rows.SignedRows(read_data([[1.0], [2.0]], [0, 1]), 1, np.ones(2, dtype=bool), True)
    with pytest.raises(OutOfTime):
        rows.due(Deadline.after(0.0)).integers(np.arange(2))
