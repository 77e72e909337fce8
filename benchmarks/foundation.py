"""The foundation: one pass, time to zero errors, memory, start-up."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np
from sklearn.linear_model import Perceptron as SklearnPerceptron
from threadpoolctl import threadpool_limits

import separatrix as sx

from . import data, peers, timing
from .data import Problem
from .table import Row, Settings, faster, measured, shown, within

SMALL_SET = 10_000
EXTRA = 16  # passes whose time is divided: many, so that the noise of two whole fits is divided too


# One pass


def _passes(
    fit: Callable[[int], Any], extra: int, wholes: list[float], *, check: bool
) -> Callable[[], float]:
    """Return the seconds per pass, as the difference of two fits; the shorter fit is added to ``wholes``."""

    def measure() -> float:
        one = timing.clock(lambda: fit(1))
        models: list[Any] = []
        many = timing.clock(lambda: models.append(fit(extra + 1)))
        if check and models[0].n_iter_ != extra + 1:
            raise RuntimeError("the run converged early: the difference is not that of whole passes")
        wholes.append(one)
        return (many - one) / extra

    return measure


def _our_fit(X: Any, y: Any, **options: Any) -> Callable[[int], Any]:
    return lambda passes: sx.Perceptron(order="cyclic", max_iter=passes, **options).fit(X, y)


def _sklearn_fit(X: Any, y: Any) -> Callable[[int], Any]:
    return lambda passes: SklearnPerceptron(max_iter=passes, tol=None, shuffle=False).fit(X, y)


def _product(X: Any, width: int, threads: int | None = None) -> Callable[[], float]:
    w = np.random.default_rng(0).standard_normal(width).astype(X.dtype if X.dtype.kind == "f" else float)

    def measure() -> float:
        with threadpool_limits(threads):
            return median(timing.clock(lambda: X @ w) for _ in range(5))

    return measure


def _plain_product(X: Any, width: int) -> Callable[[], float]:
    """The product without BLAS, on one core.

    OpenBLAS multiplies float64 rows at about half the speed at which memory is read, so ``X @ w`` is
    not always the physical limit; this comes nearer to it. Sparse rows never go through BLAS.
    """
    if not isinstance(X, np.ndarray):
        return _product(X, width)
    w = np.random.default_rng(0).standard_normal(width).astype(X.dtype if X.dtype.kind == "f" else float)
    return lambda: median(timing.clock(lambda: np.einsum("ij,j->i", X, w)) for _ in range(5))


@dataclass(frozen=True)
class PassCase:
    """A set for one pass: our rows and the peer's, and what is promised (None: nothing).

    If a fit takes only a few milliseconds, it is repeated ``rounds`` times as often.
    """

    what: str
    ours: Any
    peer: Any
    y: Any
    a_pass: float
    a_fit: float | None = None
    product: float | None = 1.5
    rounds: int = 1


def _pass_cases(settings: Settings) -> Iterator[PassCase]:
    hard = data.normal(settings.rows, 100, 0.01)
    yield PassCase(f"dense float64 {hard.shape}", hard.X, hard.X, hard.y, 1.7)
    single = hard.X.astype(np.float32)
    yield PassCase(f"dense float32 {hard.shape}", single, single, hard.y, 2.0)
    path = settings.directory and settings.directory / data.PARITY.file
    if path and path.exists():
        digits = data.PARITY.read(path)
        what = f"{digits.name}, peer float64 {digits.shape}"
        yield PassCase(what, digits.X, peers.scaled(digits), digits.y, 2.0, product=None)
    mail = data.real_set(settings.directory, "enron")
    if mail is not None:
        mail = data.shuffled(mail)
        yield PassCase(f"CSR {mail.name}, shuffled {mail.shape}", mail.X, mail.X, mail.y, 1.0, 1.5, rounds=5)


def one_pass(settings: Settings) -> Iterator[Row]:
    """A pass and a whole one-pass fit against scikit-learn's, and a pass against a product."""
    for case in _pass_cases(settings):
        yield from _pass_rows(case, settings)
    yield from _rare_mistakes(settings)


def _pass_rows(case: PassCase, settings: Settings) -> Iterator[Row]:
    fit = _our_fit(case.ours, case.y)
    tried = fit(EXTRA + 1)
    extra = min(EXTRA, tried.n_iter_ - 2)  # the last pass of a run that converges is a clean one
    made = [record.mistakes for record in tried.result_.history[1 : extra + 1]]
    our_fits: list[float] = []
    peer_fits: list[float] = []
    times = timing.interleave(
        {
            "one": _product(case.peer, case.peer.shape[1], 1),
            "ours": _passes(fit, extra, our_fits, check=True),
            "peer": _passes(_sklearn_fit(case.peer, case.y), extra, peer_fits, check=False),
            "both": _product(case.peer, case.peer.shape[1]),
            "plain": _plain_product(case.peer, case.peer.shape[1]),
        },
        settings.pass_repeats * case.rounds,
    )
    ours, name = times["ours"], "Perceptron"
    compared = [
        faster("pass", f"{case.what}: a pass", ours, times["peer"], name, case.a_pass),
        faster("pass", f"{case.what}: one-pass fit", our_fits, peer_fits, name, case.a_fit or 1.0),
    ]
    if case.a_fit is None:
        compared[1] = replace(compared[1], target="", met=None)
    what = f"{case.what}: a pass with {np.mean(made):.0f} mistakes"
    products = [
        within("pass", what, ours, times["one"], "X @ w, 1 core", case.product),
        within("pass", what, ours, times["both"], "X @ w, all cores", None),
    ]
    if isinstance(case.peer, np.ndarray):
        products.append(within("pass", what, ours, times["plain"], "einsum without BLAS, 1 core", None))
    same_bytes = case.product is not None
    yield from (_possible(row, ours, times["plain"], same_bytes) for row in (*compared, *products))


def _possible(row: Row, a_pass: list[float], product: list[float], same_bytes: bool) -> Row:
    """Distrust a pass that seems to read the same bytes much faster than a plain product does."""
    if same_bytes and median(a_pass) < 0.5 * median(product):
        return replace(row, noisy="a pass cannot be so much faster than a product")
    return row


def _rare_mistakes(settings: Settings) -> Iterator[Row]:
    problem, start = data.nearly_solved(settings.rows, 100, flipped=20)
    fit = _our_fit(problem.X, problem.y, init=start)
    per_pass = fit(2).mistakes_ / 2
    times = timing.interleave(
        {
            "ours": _passes(fit, EXTRA, [], check=True),
            "both": _product(problem.X, 100),
            "plain": _plain_product(problem.X, 100),
        },
        settings.pass_repeats,
    )
    what = f"dense float64 {problem.shape}: a pass with {per_pass:.0f} mistakes"
    # Two threads may read up to twice as fast as the plain product's one: no test of what is possible.
    yield within("pass", what, times["ours"], times["both"], "X @ w, all cores", 1.5)
    yield within("pass", what, times["ours"], times["plain"], "einsum without BLAS, 1 core", None)


# Time to zero errors


def _contests(settings: Settings) -> Iterator[Problem]:
    for margin in settings.margins:
        yield data.ball(settings.rows, 100, margin)
        yield data.normal(settings.rows, 100, margin)
    names = ("mushrooms", "sms-spam", "golub") if settings.quick else None
    yield from data.real_sets(settings.directory, names)


def zero_errors(settings: Settings) -> Iterator[Row]:
    """Measure who reaches zero training errors, and how long it takes."""
    for problem in _contests(settings):
        sx.Perceptron(max_iter=3).fit(problem.X, problem.y)  # compiles for this storage
        yield from _contest(problem, settings)


def _contest(problem: Problem, settings: Settings) -> Iterator[Row]:
    outcomes = timing.compete(
        peers.contenders(problem, settings.peer_seconds),
        lambda answer: peers.errors_left(problem, answer),
        settings.peer_seconds,
    )
    ours = outcomes.pop("separatrix")
    what = f"{problem.name} {problem.shape}" + (f" ({problem.note})" if problem.note else "")
    if not ours.solved:
        yield Row("zero", what, _told(ours), "", "", "zero errors", False)
        return
    arrived = {name: each for name, each in outcomes.items() if each.solved}
    others = "; ".join(f"{name} {_told(each)}" for name, each in outcomes.items())
    margin = problem.name.rpartition(" ")[2] if "margin" in problem.name else ""
    if arrived:
        best = min(arrived, key=lambda name: arrived[name].median)
        row = faster("zero", what, ours.seconds, arrived[best].seconds, best, _promised(problem, margin))
        yield replace(row, against=f"best {best}. All: {others}")
    else:
        yield Row("zero", what, measured(ours.seconds), f"nobody. All: {others}", "", "", None)
    if margin == "0.01":
        yield _against_svc(what, ours, outcomes["LinearSVC"], settings.peer_seconds)
    if margin in ("0.01", "0.001"):
        width = problem.X.shape[1]
        ways = {"X @ w": _product(problem.X, width), "einsum": _plain_product(problem.X, width)}
        times = timing.interleave(ways, settings.repeats)
        unit = min(times, key=lambda name: median(times[name]))
        allowed = 500 if margin == "0.01" else 5_000
        yield within("zero", what, ours.seconds, times[unit], f"the faster product, {unit}", allowed)


def _against_svc(what: str, ours: timing.Outcome, svc: timing.Outcome, limit: float) -> Row:
    """At least three times as fast as LinearSVC; one that was stopped gives a lower bound only."""
    if svc.solved:
        return faster("zero", what, ours.seconds, svc.seconds, "LinearSVC", 3.0)
    bound = (svc.median if svc.seconds else limit) / ours.median
    row = Row("zero", what, measured(ours.seconds), f"LinearSVC {_told(svc)}", f"> {bound:.2f}", ">= 3", True)
    return row if bound >= 3.0 else replace(row, noisy="raise --peer-seconds")


def _promised(problem: Problem, margin: str) -> float:
    small = problem.X.shape[0] < SMALL_SET
    return 1.0 if small or margin in ("0.01", "0.001") else 2.0


def _told(outcome: timing.Outcome) -> str:
    if outcome.solved:
        return measured(outcome.seconds)
    if outcome.remark:
        return outcome.remark
    return f"{outcome.errors} errors left after {shown(outcome.median)}"


# Memory


def memory(settings: Settings) -> Iterator[Row]:
    """What a fit adds to the memory of its process."""
    if not os.path.exists("/proc/self/clear_refs"):
        yield Row("memory", "needs Linux (/proc)", "", "", "", "", None)
        return
    share = 10 if settings.quick else 1
    for options in ('order="cyclic", max_iter=1', "max_iter=3"):
        added, size, _, passes = timing.added_memory(2_000_000 // share, 100, "float64", options)
        what = f"float64 {2_000_000 // share:,} x 100, Perceptron({options}), {passes} passes"
        ratio = added / size
        yield Row(
            "memory",
            what,
            f"{added / 1e6:.0f} MB added",
            f"array {size / 1e6:.0f} MB",
            f"{ratio:.1%}",
            "<= 10%",
            ratio <= 0.1,
        )
    for options in ('order="cyclic", max_iter=1', "max_iter=3"):
        added, size, values, passes = timing.added_memory(500_000 // share, 784, "uint8", options)
        what = f"uint8 {500_000 // share:,} x 784, Perceptron({options}), {passes} passes"
        yield Row(
            "memory",
            what,
            f"{added / 1e6:.0f} MB added",
            f"array {size / 1e6:.0f} MB, as float64 {8 * values / 1e6:.0f} MB",
            f"{added / values:.2f} bytes a value",
            "<= 1",
            added <= values,
        )


# Start-up

IMPORT_CODE = """
import json, time
begin = time.perf_counter()
{statement}
print(json.dumps(time.perf_counter() - begin))
"""
FIT_CODE = """
import json, time, numpy as np, scipy.sparse as sp
from separatrix import Perceptron  # lazy: the import has a row of its own, so it stays outside the clock
random = np.random.default_rng(0)
X = random.standard_normal((2000, 10))
y = X[:, 0] > 0
X[:, 0] += np.where(y, 0.1, -0.1)
X = {convert}
times = []
for _ in range(5):
    begin = time.perf_counter()
    Perceptron().fit(X, y)
    times.append(time.perf_counter() - begin)
print(json.dumps(times))
"""
STORAGES = {"dense float64": "X", "dense float32": "X.astype(np.float32)", "CSR": "sp.csr_array(X)"}


def start_up(settings: Settings) -> Iterator[Row]:
    """Imports, the first fit with an empty numba cache, and fits after that."""
    yield from _imports(settings)
    for storage, convert in STORAGES.items():
        yield from _first_fits(storage, FIT_CODE.format(convert=convert), settings)
        if settings.quick:
            return


def _imports(settings: Settings) -> Iterator[Row]:
    statements = ("import sklearn", "import separatrix", "import separatrix; separatrix.Perceptron")
    times = timing.interleave(
        {each: functools.partial(timing.python, IMPORT_CODE.format(statement=each)) for each in statements},
        settings.repeats,
    )
    base = times[statements[0]]
    for statement in statements[1:]:
        more = median(times[statement]) - median(base)
        yield Row(
            "first",
            statement,
            measured(times[statement]),
            f"import sklearn {measured(base)}",
            f"{more:+.3f} s",
            "< 0.6 s more",
            more < 0.6,
        )


def _first_fits(storage: str, code: str, settings: Settings) -> Iterator[Row]:
    cold: list[float] = []
    warm: list[float] = []
    again: list[float] = []
    for _ in range(1 if settings.quick else 3):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(timing.python(code, cache=cache)[0])
            for _ in range(3):
                first, *later = timing.python(code, cache=cache)
                warm.append(first - median(later))
                again.append(median(later))
    yield _limited(f"first fit, {storage} 2,000 x 10, empty numba cache", cold, 8.0)
    yield _limited(f"first fit of a later process, {storage}: what it adds to a fit", warm, 0.1)
    yield _limited(f"later fits, {storage} 2,000 x 10: whole fit", again, 0.1)


def _limited(what: str, seconds: list[float], limit: float) -> Row:
    middle = median(seconds)
    return Row(
        "first",
        what,
        measured(seconds),
        f"limit {limit:g} s",
        f"{middle:.3g} s",
        f"< {limit:g} s",
        middle < limit,
    )


SECTIONS: dict[str, Callable[[Settings], Iterator[Row]]] = {
    "pass": one_pass,
    "zero": zero_errors,
    "memory": memory,
    "first": start_up,
}


NOTES = (
    *(f"{name}: {each}" for name, each in peers.PARAMETERS.items()),
    (
        "one pass: scikit-learn Perceptron(tol=None, shuffle=False) against Perceptron(order='cyclic'), "
        f"the difference of fits with up to {EXTRA + 1} passes and 1; ratios are medians of pairs; 'unsure' "
        "where a 90% interval of the median has both sides of the target in it, or the time is impossible"
    ),
    (
        "a contender that fails or takes over 3 s has one round; an answer counts when every row is "
        "strictly on its side, recomputed from the data"
    ),
)
