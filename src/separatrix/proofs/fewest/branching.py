"""Prove that every hyperplane makes many errors: the lower end.

The rows that a hyperplane gets wrong are a *hitting set* of all witnesses. The covering program ``min sum
c_i x_i`` with ``sum of x over each witness >= 1, x >= 0`` bounds every hitting set from below; witnesses are
added to it as cutting planes (the combinatorial Benders decomposition of the 0-1 loss). Then rows are
branched on: in each leaf of a tree some rows are *lost*, some *kept* and the others free. For any ``u_j >=
0`` on the witnesses, with ``load_i`` the sum of u over the witnesses that contain row i, every hyperplane of
the leaf costs at least

    sum u_j + sum over lost rows (c_i - load_i) + sum over free rows min(0, c_i - load_i),

whether or not u is optimal. So floats from a linear program need no repair: u is rounded to multiples of one
power of two, and the bound is computed in integers.

G. Codato and M. Fischetti (2006). Combinatorial Benders' cuts for mixed-integer linear programming.
Operations Research 54.
"""

from __future__ import annotations

import heapq
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...certificates.error_bounds import leaf_bound
from ...deadline import Deadline
from ...margins.lp.highs import quiet_solver, run_until
from ...result import Status
from ...rows.protocol import Floats
from .cost_rows import CostRows
from .error_search import ErrorSearch
from .witnesses import Pricing, Witness

UNIT = 1 << 30  # the u of leaves are multiples of 1 / UNIT
ROUNDS = 2  # of cuts at a node below the root
WHOLE = 1e-6  # how far from an integer an x may be that is meant to be one


@dataclass(eq=False)
class Node:
    """A node of the tree: a leaf until it has children.

    Attributes
    ----------
    lost, kept : frozenset of int
        Places of rows.
    prices : dict of int to int
        The u of witnesses, in units of ``1 / UNIT``.
    bound : int
        What every hyperplane of this leaf costs at least, in units of ``1 / UNIT``.
    x : ndarray
        The solution of the covering program.
    row : int
        The place of the row that was branched on.
    children : tuple of Node
        In which that row is lost, and in which it is kept.
    """

    lost: frozenset[int]
    kept: frozenset[int]
    prices: dict[int, int]
    bound: int
    x: Floats
    row: int = -1
    children: tuple[Node, ...] = ()

    def __lt__(self, other: Node) -> bool:
        """The leaf with the lower bound is split first."""
        return self.bound < other.bound


class Cover:
    """Witnesses of some rows, the covering program, and the tree of branches.

    Attributes
    ----------
    witnesses : list of Witness
    supports : list of lists of int
        The places of the rows of each witness.
    root : Node
    leaves : heap of Node
    """

    def __init__(self, rows: CostRows, search: ErrorSearch, deadline: Deadline) -> None:
        self.rows, self.search, self.deadline = rows, search, deadline
        self.draw = np.random.default_rng(0)
        self.size = rows.rows.size
        self.witnesses: list[Witness] = []
        self.supports: list[list[int]] = []
        self._costs = [cost * UNIT for cost in rows.whole]
        self._place = {row: place for place, row in enumerate(rows.rows.tolist())}
        self._places = np.arange(self.size, dtype=np.int32)
        self._solver = quiet_solver()
        self._solver.addVars(self.size, np.zeros(self.size), np.ones(self.size))
        self._solver.changeColsCost(self.size, self._places, rows.costs)
        self.root = Node(frozenset(), frozenset(), {}, 0, np.zeros(self.size))
        self.leaves = [self.root]

    @property
    def bound(self) -> int:
        """The least that any hyperplane costs."""
        return -(-self.leaves[0].bound // UNIT)

    @property
    def closed(self) -> bool:
        """Whether the two ends meet."""
        return self._closes(self.leaves[0])

    def _closes(self, node: Node) -> bool:
        """Whether a bound reaches the upper end; costs above 10^9 may differ in the tenth digit."""
        upper = self.search.cost
        return -(-node.bound // UNIT) >= upper - upper // 10**9

    def nodes(self) -> Iterator[Node]:
        """Yield the nodes of the tree in depth-first order, those in which the row is lost first."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            stack += reversed(node.children)
            yield node

    def settled(self, most: int) -> tuple[set[int], set[int]]:
        """Return the rows that every hyperplane of cost at most ``most`` loses, and those that none loses.

        In a leaf in which row i is free, the bound rises by ``max(0, load_i - c_i)`` if it is kept, and by
        ``max(0, c_i - load_i)`` if it is lost.
        """
        every, none = set(range(self.size)), set(range(self.size))
        for leaf in self.leaves:
            room = most * UNIT - leaf.bound
            if room >= 0:
                slack = list(self._costs)
                for j, u in leaf.prices.items():
                    for place in self.supports[j]:
                        slack[place] -= u
                every &= leaf.lost | {i for i, each in enumerate(slack) if -each > room} - leaf.kept
                none &= leaf.kept | {i for i, each in enumerate(slack) if each > room} - leaf.lost
        return {int(self.rows.rows[i]) for i in every}, {int(self.rows.rows[i]) for i in none}

    def begin(self, witness: Witness) -> None:
        """Add a witness, and compute the bound that it gives."""
        self._add(witness)
        self._solve(self.root)

    def steps(self) -> Iterator[None]:
        """Raise the bound, step by step, until both ends meet."""
        yield from self._cover_wrong_rows()
        yield from self._refine(self.root)
        while not self.closed:
            node = self.leaves[0]
            row = self._branching_row(node)
            if row is None:  # no witness violates this hitting set: the search gets its weights
                return
            children = self._children(node, row)
            for child in children:
                yield from self._refine(child)
            self._branch([(node, row, children)])
        yield  # both ends meet

    def settle(self, most: int) -> Iterator[None]:
        """Branch on each wrong row that costs more than ``most`` to keep, as far as a few rounds prove it."""
        wrong = self.search.rows.rows[self.search.wrong].tolist()
        for row in [self._place[each] for each in wrong if each in self._place]:
            branches = []
            for leaf in self.leaves:
                if leaf.bound <= most * UNIT and row not in leaf.lost:
                    lost, kept = self._children(leaf, row)
                    if row not in leaf.kept:
                        yield from self._keep(kept, row, most)
                    if kept.bound <= most * UNIT:
                        break
                    branches.append((leaf, row, (lost, kept)))
            else:
                self._branch(branches)

    def _children(self, node: Node, row: int) -> tuple[Node, Node]:
        """Return the leaves in which a row is lost, and in which it is kept."""
        fixed = node.lost | {row}, node.kept
        prices = {j: u for j, u in node.prices.items() if row not in self.supports[j]}  # no witness needs it
        lost = Node(*fixed, prices, leaf_bound(self._costs, self.supports, prices, *fixed), node.x)
        return lost, Node(node.lost, node.kept | {row}, node.prices, node.bound, node.x)

    def _branch(self, branches: list[tuple[Node, int, tuple[Node, Node]]]) -> None:
        """Give some leaves their children."""
        for node, row, children in branches:
            node.row, node.children = row, children
        leaves = [each for leaf in self.leaves for each in leaf.children or (leaf,)]
        heapq.heapify(leaves)
        self.leaves = leaves  # at once: an interrupt may come at any time

    def _add(self, witness: Witness | None) -> bool:
        """Add a witness to the covering program, if it is one."""
        if witness is None:
            return False
        support = [self._place[row] for row in witness.rows.tolist()]
        self.witnesses.append(witness)
        self.supports.append(support)
        self._solver.addRow(1.0, np.inf, len(support), np.array(support, np.int32), np.ones(len(support)))
        return True

    def _cover_wrong_rows(self) -> Iterator[None]:
        """Find a witness for each wrong row, deepest first, that avoids rows of other witnesses."""
        scores = self.rows.scores(self.search.weights)
        used, places = np.zeros(self.size), np.argsort(scores)[: np.count_nonzero(scores <= 0.0)].tolist()
        for count, place in enumerate(places, 1):
            if not used[place] and self._pack(place, used):
                used[self.supports[-1]] += 1.0
            if count % 10 == 0 or count == len(places):
                self._solve(self.root)
            yield

    def _pack(self, place: int, used: Floats) -> bool:
        """Add a witness of a wrong row that avoids other wrong rows and rows in use, if it can."""
        outputs = (self.rows.values @ self.search.weights).reshape(self.size, -1)
        prices = np.where(outputs.min(axis=1) <= 0.0, 5.0, 1e-2) + used / self.rows.costs
        found = self.pricing.cheapest(prices, place * self.rows.rivals + int(outputs[place].argmin()))
        return found is not None and self._add(self.pricing.exact(found))

    def _keep(self, node: Node, row: int, most: int) -> Iterator[None]:
        """Add witnesses, first of a row that is kept, while the leaf costs at most ``most``."""
        self._solve(node)
        for count in range(2 * ROUNDS):
            if node.bound > most * UNIT:
                return
            if count < ROUNDS:
                used = np.zeros(self.size)
                for j in node.prices:
                    used[self.supports[j]] += 1.0
                self._pack(row, used)
                yield
            else:
                yield from self._cut(node.x, node.x)
            self._solve(node)

    def _refine(self, node: Node) -> Iterator[None]:
        """Solve the covering program of a leaf, and add violated witnesses, a few times below the root.

        They are looked for at a running mean of its solutions, because these differ much from round to round;
        if none is found there, at the last solution.
        """
        rounds, new, mean = 0, 0, node.x
        while node is self.root or rounds < ROUNDS:
            self._solve(node)
            mean = 0.5 * (mean + node.x) if new else node.x
            if self._closes(node):
                return
            new = yield from self._cut(node.x, mean)
            if not new and mean is node.x:
                return
            rounds += 1

    def _cut(self, x: Floats, mean: Floats) -> Generator[None, None, int]:
        """Look near the mean for witnesses that x violates; return how many were added.

        Rows of a witness that was found get higher prices, so that the next one differs.
        """
        prices, new = mean.copy(), 0
        while True:
            found = self.pricing.cheapest(prices + 1e-4 * self.draw.random(self.size))
            self.search.offer(self.pricing.weights)
            yield
            if found is None:
                return new
            if x[found.places].sum() < 1.0 - WHOLE:
                new += self._add(self.pricing.exact(found))
            if prices[found.places].sum() >= 1.0 - WHOLE:
                return new
            prices[found.places] += 0.5 + 0.5 * self.draw.random()

    def _branching_row(self, node: Node) -> int | None:
        """Return the place of the row whose x is closest to one half."""
        rows = np.setdiff1d(np.flatnonzero(node.x > WHOLE), list(node.lost | node.kept))
        return int(rows[np.argmin(np.abs(node.x[rows] - 0.5))]) if rows.size else None

    def _solve(self, node: Node) -> None:
        """Solve the covering program of a leaf; keep the new u if their bound is better."""
        low, high = np.zeros(self.size), np.ones(self.size)
        low[list(node.lost)], high[list(node.kept)] = 1.0, 0.0
        self._solver.changeColsBounds(self.size, self._places, low, high)
        if run_until(self._solver, self.deadline) is Status.REACHED:
            solution = self._solver.getSolution()
            node.x = np.clip(np.asarray(solution.col_value), 0.0, 1.0)
            duals = np.round(np.asarray(solution.row_dual) * UNIT)
            prices = {j: int(duals[j]) * self.rows.scale for j in np.flatnonzero(duals > 0.0).tolist()}
        else:  # all rows of a witness are kept: no hyperplane belongs to such a leaf
            self.deadline.need()
            full = [j for j, support in enumerate(self.supports) if node.kept.issuperset(support)]
            prices = dict.fromkeys(full[:1], (self.search.cost + 1) * UNIT)
        bound = leaf_bound(self._costs, self.supports, prices, node.lost, node.kept)
        if bound > node.bound:
            node.bound, node.prices = bound, prices

    @cached_property
    def pricing(self) -> Pricing:
        """The linear program that finds witnesses."""
        return Pricing(self.rows, self.deadline)
