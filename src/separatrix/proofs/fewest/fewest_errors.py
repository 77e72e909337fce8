"""Ask how close to separable the classes are: the fewest errors of any hyperplane, with a proof."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ...certificates.check import check_claim
from ...certificates.claims import Multipliers, Separation
from ...certificates.digest import start_digest
from ...certificates.error_bounds import FewestCertificate, Leaf, Tree, claim_of_rows, equal_rows, row_costs
from ...certificates.scores import Signs, wrong_rows
from ...deadline import Deadline, OutOfTime, need_time_limit
from ...errors import InputError, LabelError, SeparatrixError
from ...inputs.data import Data, need_intercept, read_data, read_weights
from ...inputs.matrix import is_collection
from ...progress import Progress
from ...result import Status
from ...rows.protocol import Floats, Ints, Mask
from ..prove import Judge, Proof, prove
from ..search import Weights
from ..signed_rows import SignedRows
from .branching import UNIT, Cover
from .cost_rows import CostRows
from .error_search import ErrorSearch
from .witnesses import Witness

SHARE = 0.2  # of the time, for the question whether the classes are separable
# How many times the rows of a witness the first parts have. On Pima, whose bracket is [77, 148] after 60 s
# without parts, 4 times prove 41 in 0.4 s, 6 times 66 in 3 s, and 10 times 87 in 16 s of processor time.
PART = 10
# How many times the rows of disjoint witnesses, one per wrong row, are looked at first. With 100 of 20,000
# labels flipped and 10 columns, the bracket closes after 1.5 s with 2, 2.5 s with 4, and 6 s with all rows.
NEAR = 2
PRICED = 1 << 19  # numbers of the rows among which witnesses are looked for, at most
MOST = 1 << 27  # numbers of all signed rows as an array


@dataclass(frozen=True, eq=False, repr=False)
class FewestErrors:
    """How close to separable the classes are.

    A row is wrong if it is on the wrong side of the hyperplane or on it.

    Attributes
    ----------
    lower, upper : int or float
        Every hyperplane gets at least ``lower`` rows wrong, and the hyperplane of ``weights`` gets ``upper``
        wrong; with sample weights, the sum of the weights of these rows, as the nearest float. The
        certificate has these numbers as integers, in proportion.
    weights : tuple of tuples of numbers
        One vector with the intercept last, or one per class: exact.
    wrong_rows : ndarray of int64
        The rows that these weights get wrong: without them, the classes are separable.
    in_every, in_none : ndarray of int64
        Rows that every cheapest set of wrong rows contains, and that none contains, as far as the proof says.
    certificate : FewestCertificate
        The proof of both ends, for `verify`.
    history : tuple of (float, lower, upper)
        Seconds since the beginning, and the two ends, whenever one of them changed.
    status : Status
        Why the search ended: REACHED if the two ends are equal; costs above 10^9 may differ in their tenth
        digit.
    total : int or float
        The number of rows, or the sum of their weights.
    """

    lower: float
    upper: float
    weights: Weights
    wrong_rows: Ints
    in_every: Ints
    in_none: Ints
    certificate: FewestCertificate
    history: tuple[tuple[float, float, float], ...]
    status: Status
    total: float

    @property
    def exact(self) -> bool:
        """Whether the two ends are equal."""
        return self.certificate.lower == self.certificate.upper

    @property
    def ceiling(self) -> float:
        """What disjoint witnesses of rows in general position can prove at most: ``n / (d + 2)``."""
        width = self.certificate.n_columns + self.certificate.lift
        return self.total / (width * max(1, len(self.weights) - 1) + 1)

    def summary(self) -> str:
        """Return the answer in words."""
        best, reached = (100.0 * (1.0 - each / self.total) for each in (self.lower, self.upper))
        which = "linear classifier" if self.certificate.lift else "linear classifier without an intercept"
        if not self.upper:
            return f"The classes are separable: some {which} is strictly right on all of these rows (proved)."
        lower, upper, total = map(_amount, (self.lower, self.upper, self.total))
        if not self.lower:
            text = "It is not settled whether the classes are separable"
            return f"{text}; this {which} gets {upper} of {total} rows wrong."
        text = f"No {which} on these columns is strictly right on more than {_share(best)} of these rows"
        if self.status is Status.REACHED:
            text += f" (proved), and this one reaches that: it gets {upper} of {total} rows wrong."
            every, wrong = self.in_every.size, self.wrong_rows.size
            if every == wrong:
                return f"{text} No other set of wrong rows is as small (proved)."
            text += f" Proved to be in every smallest set of wrong rows: {every:,} of these"
            return f"{text} ({wrong - every:,} undecided); in none: {self.in_none.size:,} of the others."
        text += f" (proved); this one reaches {_share(reached)}."
        text += f" The fewest errors are between {lower} and {upper}."
        if self.ceiling < self.upper:
            most = _amount(math.floor(self.ceiling))
            text += f" Disjoint witnesses of d + 2 rows prove at most n / (d + 2) = {most} of them."
        return text

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        lower, upper, total = map(_amount, (self.lower, self.upper, self.total))
        return f"<FewestErrors: between {lower} and {upper} of {total}>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain types, ready for JSON."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "exact": self.exact,
            "total": self.total,
            "summary": self.summary(),
            "wrong_rows": self.wrong_rows.tolist(),
            "in_every": self.in_every.tolist(),
            "in_none": self.in_none.tolist(),
            "history": [list(each) for each in self.history],
            "certificate": self.certificate.to_dict(),
        }


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) and value < 1e15 else f"{value:,.6g}"


def _share(percent: float) -> str:
    """Return a percentage with as many digits as tell it from 100."""
    digits = max(1, 1 - math.floor(math.log10(100.0 - percent))) if percent < 100.0 else 0
    return f"{percent:.{digits}f} %"


def fewest_errors(
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    time_limit: float = 60.0,
    fit_intercept: bool | str = True,
) -> FewestErrors:
    """Find the fewest rows that a hyperplane gets wrong, between two bounds that are both proved.

    This is also the smallest number of rows whose removal makes the classes separable. It is NP-hard to find,
    so the two bounds need not meet in time. A row on the hyperplane is wrong.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (rows, columns)
        Integers and floats are used exactly, without rounding.
    y : array of shape (rows,)
        Class labels. With more than two classes there is one weight vector per class, and a row is wrong if
        its own class does not have the largest score alone.
    sample_weight : array of shape (rows,), optional
        What each row costs if it is wrong, instead of 1. Rows with weight zero are left out.
    time_limit : float
        Seconds. It may be exceeded by about one second, and by the time to write the proof.
        ``KeyboardInterrupt`` ends the search as well, and the bounds found by then are returned.
    fit_intercept : bool or "lifted"
        False: only hyperplanes through the origin.

    Returns
    -------
    FewestErrors

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], [0, 0, 1, 0, 1, 1]
    >>> found = fewest_errors(X, y)
    >>> found.lower, found.upper, len(found.wrong_rows)
    (1, 1, 1)

    References
    ----------
    E. Amaldi and V. Kann (1995). The complexity and approximability of finding maximum feasible subsystems of
    linear relations. Theoretical Computer Science 147.
    """
    need_time_limit(time_limit, "fewest_errors")
    lift = need_intercept(fit_intercept, "fewest_errors")
    if is_collection(X):
        raise InputError(
            "The fewest errors need rows in memory, and X is a Dask collection.",
            remedy="Take the rows into memory first, if they fit: X.compute().",
            parameter="X",
        )
    data = read_data(X, y)
    weights = None if sample_weight is None else read_weights(sample_weight, data.codes.size)
    return fewest_of(data, weights, lift, float(time_limit))


def fewest_of(data: Data, weights: Floats | None, lift: bool, seconds: float) -> FewestErrors:
    """Find the fewest errors on data that were read."""
    costs, unit = None, Fraction(1)
    if weights is not None:
        if np.unique(data.codes[weights > 0.0]).size < 2:
            raise LabelError("The rows of positive weight have fewer than two classes; two are needed.")
        costs, unit = whole_costs(weights)
    return _Run(data, costs, lift, Deadline.after(seconds)).answer(unit)


def whole_costs(weights: Floats) -> tuple[tuple[int, ...], Fraction]:
    """Return integers in the same proportions as the weights, and the weight that one stands for."""
    ratios = [Fraction(each) for each in weights.tolist()]
    below = math.lcm(*(each.denominator for each in ratios))
    whole = [int(each * below) for each in ratios]
    common = math.gcd(*whole) or 1
    return tuple(each // common for each in whole), Fraction(common, below)


class _Run:
    """One question: the search from above and the proofs from below, which take turns.

    Attributes
    ----------
    weights, wrong, upper
        The upper end: exact weights, a mask of the rows that they get wrong, and their cost.
    counted
        The lowest cost, by floating-point scores, of weights whose errors were counted.
    covers : list of Cover
        The lower end: trees of different rows, whose bounds add up.
    """

    def __init__(self, data: Data, costs: tuple[int, ...] | None, lift: bool, deadline: Deadline) -> None:
        self.data, self.deadline, self.begun = data, deadline, time.monotonic()
        self.digest = start_digest(data)  # computed during the search
        self.first = equal_rows(data)
        self.costs = {row: cost for row, cost in row_costs(costs, self.first).items() if cost}
        n_rows, n_columns = map(int, data.matrix.shape)
        own = (data.classes, lift, costs, n_rows, n_columns)
        self.claim = FewestCertificate(*own, "", 0, 0, (), (), UNIT, ())
        self.signs = Signs(claim_of_rows(self.claim), data)
        inside = np.zeros(n_rows, dtype=bool)
        inside[list(self.costs)] = True
        binary = len(data.classes) == 2
        self.signed = SignedRows(data, 1 if binary else None, inside, lift, deadline)
        if self.signed.ids.size * self.signed.width > MOST:
            raise InputError(
                f"The fewest errors need all signed rows as an array of at most {MOST:,} numbers; these have "
                f"{self.signed.ids.size * self.signed.width:,}.",
                remedy="Take fewer rows or columns.",
                parameter="X",
            )
        self.weights: Weights = ((0.0,) * self.signed.block,) * (1 if binary else len(data.classes))
        self.wrong: Mask = inside[self.first]
        self.upper = self.counted = sum(self.costs.values())
        self.covers: list[Cover] = []
        self.history: list[tuple[float, int, int]] = []
        self.progress = Progress()

    @property
    def lower(self) -> int:
        """The lower end."""
        return sum(cover.bound for cover in self.covers)

    @property
    def closed(self) -> bool:
        """Whether the two ends meet; costs above 10^9 may differ in the tenth digit."""
        return self.lower >= self.upper - self.upper // 10**9

    def answer(self, unit: Fraction) -> FewestErrors:
        """Close the two ends as far as time allows, and return them with their proof."""
        status = Status.REACHED
        try:
            with self.progress:
                self._close()
        except OutOfTime:
            status = Status.TIME_LIMIT
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        if self.closed:
            status = Status.REACHED
        self._note()
        every, none = self._settled()
        claim = self._certificate()
        check = check_claim(claim, self.data)
        if not check.holds:
            raise SeparatrixError(f"The checker refused the proof of the fewest errors: {check.reason}")

        def weighed(cost: int) -> float:
            found = cost * unit
            return int(found) if found.denominator == 1 else float(found)

        return FewestErrors(
            lower=weighed(claim.lower),
            upper=weighed(claim.upper),
            weights=self.weights,
            wrong_rows=np.flatnonzero(self.wrong),
            in_every=np.flatnonzero(np.isin(self.first, every)),
            in_none=np.flatnonzero(np.isin(self.first, none)),
            certificate=claim,
            history=tuple((seconds, weighed(low), weighed(high)) for seconds, low, high in self.history),
            status=status,
            total=weighed(sum(self.costs.values())),
        )

    def _close(self) -> None:
        """Raise the lower end and lower the upper end until they meet."""
        witness = self._separate()
        self._note()
        if not self.upper:
            return
        rows = CostRows.of(self.signed, np.array(list(self.costs)), list(self.costs.values()))
        search = ErrorSearch(rows, self.deadline)
        if witness is not None:
            few = Cover(rows.part(np.flatnonzero(np.isin(rows.rows, witness.rows))), search, self.deadline)
            few.begin(witness)
            self.covers = [few]
        for _ in search.trim():
            self._count(search)
        most = min(rows.rows.size, PRICED // (rows.rivals * self.signed.width))
        if most < rows.rows.size and most * rows.rivals <= self.signed.width:
            most = 0  # fewer rows than columns that were chosen from more are seldom dependent
        size = min(most, NEAR * (self.signed.width + 1) * max(1, int(search.wrong.sum())))
        near = rows.near(search.weights, size)
        jobs = [(search.steps(near), 1.0), (self._cover(rows, search, size, most), 4.0)]
        if search.cost * (self.signed.width + 1) > sum(self.costs.values()):
            jobs.append((self._parts(rows.part(rows.near(search.weights, most))), 3.0))
        for _ in take_turns(jobs):
            self._count(search)
            if self.closed:
                break
        end = Deadline.after(SHARE * self.deadline.left)
        for _ in self._settle(rows, search, min(most, 4 * size)):
            if end.passed:
                return

    def _separate(self) -> Witness | None:
        """Ask whether all rows are separable; return a witness if they are not."""
        signed = self.signed.due(Deadline.after(SHARE * self.deadline.left))
        found = self._proof(signed)
        if found.status is Separation.SEPARABLE and found.weights is not None:
            self._accept(found.weights)
        return None if found.witness is None else Witness.of(signed, found.witness)

    def _proof(self, signed: SignedRows) -> Proof:
        question = replace(claim_of_rows(self.claim), excluded=tuple(np.flatnonzero(~signed.inside).tolist()))
        return prove(signed, Judge(question, self.data, signed.deadline), quasi=False, exact=True)

    def _count(self, search: ErrorSearch) -> None:
        """Count the errors of the best weights exactly, if floats say that they are fewer than before."""
        if search.cost < self.counted:
            self.counted = search.cost
            self._accept(search.rows.problem().exact_weights(search.weights))
            if search.cost < self.upper:  # rounding: look for weights that are right where floats say so
                right = np.zeros_like(self.signed.inside)
                right[search.rows.rows[~search.wrong]] = True
                rest = SignedRows(self.data, self.signed.positive, right, self.signed.lift, self.deadline)
                weights = self._proof(rest).weights
                if weights is not None:
                    self._accept(weights)
        self._note()

    def _accept(self, weights: Weights) -> None:
        wrong = wrong_rows(weights, self.signs, self.deadline.need)
        cost = sum(self.costs.get(row, 0) for row in np.flatnonzero(wrong).tolist())
        if cost < self.upper:
            wrong &= np.isin(self.first, list(self.costs))
            self.weights, self.upper, self.wrong = weights, cost, wrong

    def _note(self) -> None:
        """Remember and show the two ends if one has changed."""
        ends = self.lower, self.upper
        if not self.history or self.history[-1][1:] != ends:
            self.history.append((time.monotonic() - self.begun, *ends))
        if self.progress.due():
            self.progress.show(f"The fewest errors are between {ends[0]:,} and {ends[1]:,}")

    def _keep(self, covers: list[Cover]) -> None:
        """Keep trees if their bounds add up to more than those that are kept."""
        if sum(cover.bound for cover in covers) > self.lower:
            self.covers = covers

    def _cover(self, rows: CostRows, search: ErrorSearch, size: int, most: int) -> Iterator[None]:
        """Prove a bound for rows near the hyperplane; if that is all there is to prove, for twice as many."""
        while size:
            cover = Cover(rows.part(rows.near(search.weights, size)), search, self.deadline)
            for _ in cover.steps():
                self._keep([cover])
                yield
            size = min(most, 2 * size) if size < most else 0

    def _parts(self, rows: CostRows) -> Iterator[None]:
        """Prove a bound for each of some disjoint parts of the rows; then for parts twice as large."""
        n_rows, size = rows.rows.size, PART * (self.signed.width + 1)
        order = np.random.default_rng(0).permutation(n_rows)
        while 4 * size <= n_rows:
            parts = [rows.part(np.sort(each)) for each in np.array_split(order, round(n_rows / size))]
            covers = [Cover(part, ErrorSearch(part, self.deadline), self.deadline) for part in parts]
            for _ in take_turns([(_closing(cover), 1.0) for cover in covers]):
                self._keep(covers)
                yield
            size *= 2

    def _settle(self, rows: CostRows, search: ErrorSearch, size: int) -> Iterator[None]:
        """Look for proofs that every cheapest set contains a wrong row: among some rows, then among more."""
        before = self.covers
        for each in before:
            yield from each.settle(self.upper - self.lower + each.bound)
        every = self._settled()[0]
        if before and before[0].size < size and len(every) < np.count_nonzero(search.wrong):
            cover = Cover(rows.part(rows.near(search.weights, size)), search, self.deadline)
            yield from cover.steps()
            yield from cover.settle(cover.bound)
            if cover.bound == self.lower and len(cover.settled(cover.bound)[0]) > len(every):
                self.covers = [cover]

    def _settled(self) -> tuple[list[int], list[int]]:
        """Return the rows that every cheapest set of wrong rows contains, and those that none contains."""
        slack = self.upper - self.lower
        found = [cover.settled(slack + cover.bound) for cover in self.covers]
        every = set[int]().union(*(each for each, _ in found))
        none = {row for row, cost in self.costs.items() if cost > slack}
        for cover, (_, own) in zip(self.covers, found, strict=True):
            none -= set(cover.rows.rows.tolist()) - own
        return list(every), list(none)

    def _certificate(self) -> FewestCertificate:
        witnesses, trees = list[Multipliers](), list[Tree]()
        for cover in self.covers:
            number: dict[int, int] = {}
            tree: list[int | Leaf] = []
            for node in cover.nodes():
                if node.children:
                    tree.append(int(cover.rows.rows[node.row]))
                    continue
                for j in node.prices:
                    if j not in number:
                        number[j] = len(witnesses)
                        witnesses.append(cover.witnesses[j].multipliers(self.signed))
                tree.append(Leaf(tuple(number[j] for j in node.prices), tuple(node.prices.values())))
            trees.append(tuple(tree))
        return replace(
            self.claim,
            sha256=self.digest(),
            lower=min(self.lower, self.upper),
            upper=self.upper,
            weights=self.weights,
            witnesses=tuple(witnesses),
            trees=tuple(trees),
        )


def _closing(cover: Cover) -> Iterator[None]:
    """Narrow the bracket of some rows until it is closed."""
    yield from cover.search.trim()
    for _ in take_turns([(cover.search.steps(np.arange(cover.size)), 1.0), (cover.steps(), 4.0)]):
        yield
        if cover.closed:
            return


def take_turns(jobs: list[tuple[Iterator[None], float]]) -> Iterator[None]:
    """Do steps of the jobs in turn, so that each gets its share of the time, until all have ended."""
    shares = dict(jobs)
    spent = dict.fromkeys(shares, 0.0)
    while spent:
        job = min(spent, key=lambda each: spent[each] / shares[each])
        begin = time.perf_counter()
        try:
            next(job)
        except StopIteration:
            del spent[job]
            continue
        spent[job] += time.perf_counter() - begin
        yield
