"""The fewest errors of any hyperplane: what a certificate of the kind "fewest" claims, and its proof.

A row is *wrong* for weights if one of its signed rows has a score that is not positive. Equal rows (with
equal numbers and the same label) are wrong together: the first of them stands for all, with their cost.

*Upper end.* The weights of the certificate get rows wrong that cost ``upper``.

*Lower end.* A *witness* is a positive combination of signed rows that is exactly zero; every ``w`` gets at
least one of its rows wrong, because its scores on them, with these multipliers, sum to zero. A *tree*
branches on rows: each is *lost* (wrong) in one branch and *kept* (not wrong) in the other, so that every
``w`` belongs to a leaf. A leaf has some ``u_j >= 0`` on witnesses. With ``load_i``, the sum of the u of the
witnesses that contain row i, let W be the rows of a leaf that some ``w`` gets wrong. Each witness meets W,
so that ``sum u_j`` is at most the sum of ``load_i`` over W, and the rows cost

    sum over W of c_i >= sum u_j + sum over W of (c_i - load_i)
                      >= sum u_j + sum over lost rows (c_i - load_i)
                         + sum over free rows min(0, c_i - load_i).

The bound of a tree is the lowest one of its leaves, rounded up, because costs are integers. Trees that share
no row bound the costs of different rows, so that their bounds add up.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ..deadline import Pause
from ..errors import CertificateError
from ..inputs.data import Data
from ..sparse import sparse
from .claims import Certificate, Multipliers, read_signed_rows, read_weights
from .fields import (
    FORMAT,
    VERSION,
    Number,
    need_document,
    need_fields,
    read_bool,
    read_class,
    read_index,
    read_indices,
    read_integer,
    read_integers,
    read_list,
    read_object,
    read_shape,
    write_number,
)
from .monomials import Ints
from .numbers import row_integers
from .proof import Fails, Kind
from .scores import Signs, need_memory, wrong_rows

KIND = "fewest"
CLAIM = "fewest-errors"
FIELDS = ("claim", "question", "data", "lower", "upper", "weights", "witnesses", "unit", "trees")


@dataclass(frozen=True)
class Leaf:
    """A leaf of a tree: the u of some witnesses, in units of one over the certificate's ``unit``."""

    witnesses: tuple[int, ...]
    u: tuple[int, ...]


# The nodes of a tree in depth-first order: a row that is branched on, followed by the tree in which it is
# lost and by the tree in which it is kept; or a leaf.
Tree = tuple[int | Leaf, ...]


@dataclass(frozen=True, repr=False)
class FewestCertificate:
    """A proof that the fewest errors of any hyperplane cost at least ``lower`` and at most ``upper``.

    Attributes
    ----------
    classes : tuple of str
    lift : bool
        Whether there is an intercept.
    costs : tuple of int or None
        What each row costs; None means 1 for each.
    n_rows, n_columns : int
    sha256 : str
    lower, upper : int
    weights : tuple of tuples of numbers
        One vector, or one per class if there are more than two.
    witnesses : tuple of Multipliers
        With positive integers.
    unit : int
        What the u of leaves are divided by.
    trees : tuple of trees
    """

    classes: tuple[str, ...]
    lift: bool
    costs: tuple[int, ...] | None
    n_rows: int
    n_columns: int
    sha256: str
    lower: int
    upper: int
    weights: tuple[tuple[Number, ...], ...]
    witnesses: tuple[Multipliers, ...]
    unit: int
    trees: tuple[Tree, ...]

    question: ClassVar[str] = KIND
    claim: ClassVar[str] = CLAIM
    excluded: ClassVar[tuple[int, ...]] = ()

    def __repr__(self) -> str:
        size = f"{self.n_rows:,} x {self.n_columns:,}"
        return f"<FewestCertificate: [{self.lower}, {self.upper}]; {size} numbers, sha256 {self.sha256[:12]}>"

    def words(self) -> str:
        """Return the question in a few words."""
        where = "with an intercept" if self.lift else "through the origin"
        return f"the fewest errors of any hyperplane {where}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain types: integers as strings, floats as hexadecimal strings."""
        costs = None if self.costs is None else list(map(write_number, self.costs))
        return {
            "format": FORMAT,
            "version": VERSION,
            "claim": CLAIM,
            "question": {"kind": KIND, "classes": list(self.classes), "lift": self.lift, "costs": costs},
            "data": {"rows": self.n_rows, "columns": self.n_columns, "sha256": self.sha256},
            "lower": write_number(self.lower),
            "upper": write_number(self.upper),
            "weights": [list(map(write_number, each)) for each in self.weights],
            "witnesses": [
                {
                    "rows": list(each.rows),
                    "rivals": list(each.rivals),
                    "multipliers": list(map(write_number, each.coarse)),
                }
                for each in self.witnesses
            ],
            "unit": write_number(self.unit),
            "trees": [[_written(node) for node in tree] for tree in self.trees],
        }

    def to_json(self, indent: int | None = None) -> str:
        """Write the certificate as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)


def _written(node: int | Leaf) -> dict[str, Any]:
    if isinstance(node, Leaf):
        return {"witnesses": list(node.witnesses), "u": list(map(write_number, node.u))}
    return {"row": node}


def _read(fields: dict[str, Any]) -> FewestCertificate:
    need_document(fields, FIELDS)
    question = read_object(fields, "question", ("kind", "classes", "lift", "costs"))
    classes = tuple(map(read_class, read_list(question, "classes")))
    lift = read_bool(question, "lift")
    n_rows, n_columns, digest = read_shape(fields)
    if fields["claim"] != CLAIM:
        raise CertificateError(f"The certificate's 'claim' is not {CLAIM!r}.")
    costs = None if question["costs"] is None else read_integers(question, "costs")
    if costs is not None and (len(costs) != n_rows or min(costs, default=0) < 0):
        raise CertificateError(
            "The certificate's 'costs' are not one integer for each row, none of them negative."
        )
    kind = "joint" if len(classes) > 2 else "binary"
    witnesses = []
    for each in read_list(fields, "witnesses"):
        part = read_object({"witness": each}, "witness", ("rows", "rivals", "multipliers"))
        rows, rivals = read_signed_rows(part, n_rows, len(classes), kind)
        factors = read_integers(part, "multipliers")
        if len(factors) != len(rows) or min(factors, default=0) <= 0:
            raise CertificateError("A witness of the certificate needs a positive multiplier for each row.")
        witnesses.append(Multipliers(rows, rivals, factors))
    trees = read_list(fields, "trees")
    if not all(isinstance(tree, list) for tree in trees):
        raise CertificateError("The certificate's 'trees' are not lists.")
    found = FewestCertificate(
        classes=classes,
        lift=lift,
        costs=costs,
        n_rows=n_rows,
        n_columns=n_columns,
        sha256=digest,
        lower=read_integer(fields["lower"]),
        upper=read_integer(fields["upper"]),
        weights=read_weights(fields, n_columns + lift, len(classes), kind),
        witnesses=tuple(witnesses),
        unit=read_integer(fields["unit"]),
        trees=tuple(tuple(_node(each, n_rows, len(witnesses)) for each in tree) for tree in trees),
    )
    if found.unit <= 0:
        raise CertificateError("The certificate's 'unit' is not positive.")
    return found


def _node(given: Any, n_rows: int, n_witnesses: int) -> int | Leaf:
    if isinstance(given, dict) and "row" in given:
        need_fields(given, ("row",), ())
        return read_index(given["row"], n_rows, "row")
    fields = read_object({"leaf": given}, "leaf", ("witnesses", "u"))
    witnesses, u = read_indices(fields, "witnesses", n_witnesses, "witness"), read_integers(fields, "u")
    if len(witnesses) != len(u) or len(set(witnesses)) != len(u) or min(u, default=0) < 0:
        raise CertificateError(
            "A leaf of the certificate needs one u for each witness, none of them negative."
        )
    return Leaf(witnesses, u)


def _prove(claim: FewestCertificate, data: Data, pause: Pause, memory: float) -> str:
    """Return what is proved, or raise `Fails`."""
    if isinstance(data.matrix, np.ndarray) or sparse.issparse(data.matrix):
        rows = data.matrix.data.size if sparse.issparse(data.matrix) else data.matrix.size
        need_memory(16.0 * rows + 200.0 * claim.n_rows, memory)
    else:
        raise CertificateError("A certificate of the fewest errors is checked on rows in memory.")
    signs = Signs(claim_of_rows(claim), data, memory)
    pause()
    costs = row_costs(claim.costs, equal_rows(data))
    wrong = np.flatnonzero(wrong_rows(claim.weights, signs, pause)).tolist()
    cost = sum(costs.get(row, 0) for row in wrong)
    if cost != claim.upper:
        raise Fails(f"The rows that the weights get wrong cost {cost}, not {claim.upper}.")
    supports = []
    for number, witness in enumerate(claim.witnesses):
        pause()
        for row in witness.rows:
            if row not in costs:
                raise Fails(f"Row {row} equals a row before it, which has to be named instead.", row)
        if not _vanishes(witness, signs):
            raise Fails(f"The combination of witness {number} is not zero.")
        supports.append(sorted(set(witness.rows)))
    scaled = {row: each * claim.unit for row, each in costs.items()}
    lower, seen = 0, set[int]()
    for number, tree in enumerate(claim.trees):
        bound, own = _tree_bound(tree, scaled, supports, pause)
        if not seen.isdisjoint(own):
            raise Fails(f"Tree {number} has a row of another tree.", min(seen & own))
        seen |= own
        lower += max(0, -(-bound // claim.unit))
    if lower < claim.lower:
        raise Fails(f"The trees prove that the errors cost at least {lower}, not {claim.lower}.")
    return (
        f"The rows that these weights get wrong cost {claim.upper}, and those that any weights get wrong "
        f"cost at least {claim.lower}, by {len(claim.witnesses)} witnesses."
    )


def claim_of_rows(claim: FewestCertificate) -> Certificate:
    """Return a claim of separability about the same signed rows."""
    kind = "joint" if len(claim.classes) > 2 else "binary"
    own = (claim.classes, (), claim.lift, (), claim.n_rows, claim.n_columns, claim.sha256)
    return Certificate("separable", kind, *own)


def equal_rows(data: Data) -> Ints:
    """Return for each row the first row that has the same numbers and the same label."""
    matrix = data.matrix
    keys: list[Any]
    if sparse.issparse(matrix):
        rows = sparse.csr_array(matrix, copy=True)
        rows.eliminate_zeros()
        ends = rows.indptr.tolist()
        parts = ((rows.indices[a:b], rows.data[a:b]) for a, b in pairwise(ends))
        keys = [(places.tobytes(), values.tobytes()) for places, values in parts]
    elif matrix.shape[1]:
        plain = np.ascontiguousarray(matrix + matrix.dtype.type(0))  # -0.0 becomes 0.0
        keys = plain.view(np.dtype((np.void, plain.shape[1] * plain.itemsize))).ravel().tolist()
    else:
        keys = [b""] * matrix.shape[0]
    first: dict[Any, int] = {}
    found = [
        first.setdefault(key, row) for row, key in enumerate(zip(keys, data.codes.tolist(), strict=True))
    ]
    return np.array(found, dtype=np.int64)


def row_costs(costs: Sequence[int] | None, first: Ints) -> dict[int, int]:
    """Return the cost of each row that no row before it equals, with the costs of those after it that do."""
    found: dict[int, int] = {}
    for row, each in enumerate(first.tolist()):
        found[each] = found.get(each, 0) + (1 if costs is None else costs[row])
    return found


def _vanishes(witness: Multipliers, signs: Signs) -> bool:
    """Whether the sum of the signed rows, times their multipliers, is exactly zero."""
    sums: dict[tuple[int, int], dict[int, int]] = {}
    rivals = witness.rivals or (-1,) * len(witness.rows)
    if len(set(zip(witness.rows, rivals, strict=True))) != len(witness.rows) or not witness.rows:
        return False
    for row, rival, factor in zip(witness.rows, rivals, witness.coarse, strict=True):
        if rival == signs.codes[row]:
            return False
        numbers = list(row_integers(signs.matrix, row))
        numbers += [(int(signs.matrix.shape[1]), 1, 0)] if signs.lift else []
        for block, sign in signs.places(row, rival):
            for column, mantissa, exponent in numbers:
                at = sums.setdefault((block, column), {})
                at[exponent] = at.get(exponent, 0) + sign * factor * mantissa
    for by_exponent in sums.values():
        low = min(by_exponent)
        if sum(value << (exponent - low) for exponent, value in by_exponent.items()):
            return False
    return True


def _tree_bound(
    tree: Tree, costs: Mapping[int, int], supports: Sequence[Sequence[int]], pause: Pause
) -> tuple[int, set[int]]:
    """Return the bound of a tree in units, and the rows that it is about."""
    rows, bounds = set[int](), list[int]()
    open_leaves: list[tuple[frozenset[int], frozenset[int]]] = [(frozenset(), frozenset())]
    for node in tree:
        pause()
        if not open_leaves:
            raise Fails("A tree has nodes after its last leaf.")
        lost, kept = open_leaves.pop()
        if isinstance(node, Leaf):
            prices = dict(zip(node.witnesses, node.u, strict=True))
            bounds.append(leaf_bound(costs, supports, prices, lost, kept))
            rows.update(*(supports[j] for j in node.witnesses))
            continue
        if node not in costs:
            raise Fails(f"Row {node} equals a row before it, which has to be named instead.", node)
        if node in lost or node in kept:
            raise Fails(f"A tree branches on row {node} twice.", node)
        rows.add(node)
        open_leaves += [(lost, kept | {node}), (lost | {node}, kept)]
    if open_leaves:
        raise Fails("A tree has a branch without a leaf.")
    return min(bounds), rows


def leaf_bound(
    costs: Mapping[int, int] | Sequence[int],
    supports: Sequence[Sequence[int]],
    prices: Mapping[int, int],
    lost: Collection[int],
    kept: Collection[int],
) -> int:
    """Return what the wrong rows of any hyperplane of a leaf cost at least, for the u of some witnesses."""
    load: dict[int, int] = {}
    for j, u in prices.items():
        for row in supports[j]:
            load[row] = load.get(row, 0) + u
    free = sum(min(0, costs[row] - own) for row, own in load.items() if row not in lost and row not in kept)
    return sum(prices.values()) + sum(costs[row] - load.get(row, 0) for row in lost) + free


FEWEST = Kind(_read, _prove)
