"""Small problems for every test: hypothesis strategies, and the ways a matrix can be stored.

*Grids* hold small whole numbers, with ties, duplicate rows and zero rows: every sum over them is exact, so
answers are compared bit by bit. *Clouds* hold random floats: answers are compared to rounding.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from separatrix.rows.memory import MemoryRows, as_rows

ORDERS = ("working_set", "cyclic", "shuffled", "worst")


def _csr(X, index_type):
    matrix = sparse.csr_array(X)
    matrix.indices = matrix.indices.astype(index_type)
    matrix.indptr = matrix.indptr.astype(index_type)
    return matrix


def _strided(X):
    wide = np.full((2 * X.shape[0] + 1, 3 * X.shape[1] + 1), 77.0)
    view = wide[1::2, 1::3]
    view[...] = X
    return view


STORAGES = {
    "float64 by rows": lambda X: np.ascontiguousarray(X, dtype=np.float64),
    "float64 by columns": lambda X: np.asfortranarray(X, dtype=np.float64),
    "float64 strided": _strided,
    "float32": lambda X: X.astype(np.float32),
    "uint8": lambda X: X.astype(np.uint8),
    "int64": lambda X: X.astype(np.int64),
    "CSR int32": lambda X: _csr(X, np.int32),
    "CSR int64": lambda X: _csr(X, np.int64),
}
# Where the law does not depend on the storage, one dense and one sparse stand for all.
TWO_STORAGES = ("float64 by rows", "CSR int32")


@dataclass(frozen=True, eq=False)
class Case:
    """A matrix as plain numbers, the class code of each row, and whether the rows are lifted.

    ``few`` says who does the loops: NumPy, as for all rows so few, or the compiled ones.
    """

    X: np.ndarray
    codes: np.ndarray
    n_classes: int = 2
    lift: bool = True
    storage: str = "float64 by rows"
    few: bool = True

    @property
    def stored(self) -> Any:
        return STORAGES[self.storage](self.X)

    def rows(self, keep=None) -> MemoryRows:
        rows = as_rows(self.stored, self.codes, n_classes=self.n_classes, lift=self.lift, keep=keep)
        return replace(rows, few=self.few)


def codes_for(n_rows, n_classes):
    """Class codes in which every class occurs."""
    others = st.lists(st.integers(0, n_classes - 1), min_size=n_rows - n_classes, max_size=n_rows - n_classes)
    return others.flatmap(lambda some: st.permutations([*range(n_classes), *some])).map(np.array)


@st.composite
def grids(draw, storage=None, n_classes=None, lift=None, max_rows=12, max_columns=4, span=3):
    """Whole numbers from -span to span (from 0 where the type has no sign)."""
    storage = draw(st.sampled_from(list(STORAGES))) if storage is None else storage
    n_classes = draw(st.sampled_from([2, 2, 3, 4])) if n_classes is None else n_classes
    lift = draw(st.booleans()) if lift is None else lift
    n_rows = draw(st.integers(max(3, n_classes), max_rows))
    n_columns = draw(st.integers(1, max_columns))
    low = 0 if storage == "uint8" else -span
    row = st.lists(st.integers(low, span), min_size=n_columns, max_size=n_columns)
    distinct = draw(st.lists(row, min_size=1, max_size=n_rows))
    picks = draw(st.lists(st.integers(0, len(distinct) - 1), min_size=n_rows, max_size=n_rows))
    X = np.array([distinct[pick] for pick in picks], dtype=np.float64)
    return Case(X, draw(codes_for(n_rows, n_classes)), n_classes, lift, storage, draw(st.booleans()))


@st.composite
def separable_grids(draw, storage="float64 by rows", n_classes=2, lift=None, max_rows=14):
    """Whole numbers labelled by whole weights, with no row on the border of its class."""
    lift = draw(st.booleans()) if lift is None else lift
    n_columns = draw(st.integers(2, 4))
    low = 0 if storage == "uint8" else -3
    entry = st.integers(low, 3)
    W = np.array(
        draw(
            st.lists(
                st.lists(st.integers(-3, 3), min_size=n_columns + 1, max_size=n_columns + 1),
                min_size=n_classes,
                max_size=n_classes,
            )
        )
    )
    W[:, -1] *= lift
    rows = draw(
        st.lists(
            st.lists(entry, min_size=n_columns, max_size=n_columns), min_size=n_classes, max_size=max_rows
        )
    )
    X = np.array(rows, dtype=np.float64)
    outputs = np.column_stack([X, np.ones(len(X))]) @ W.T
    top = np.sort(outputs, axis=1)
    clear = top[:, -1] > top[:, -2]
    codes = outputs.argmax(axis=1)[clear]
    X = X[clear]
    present = np.unique(codes)
    if present.size < n_classes:  # too few classes left: the axes separate whatever is asked for
        X = np.eye(max(n_columns, n_classes))[:n_classes] * 2
        codes = np.arange(n_classes)
    return Case(X, codes, n_classes, lift, storage, draw(st.booleans()))


@st.composite
def clouds(draw, storage=None, n_classes=None, lift=None, max_rows=20, max_columns=6):
    """Random floats: no ties, and sums that round."""
    storages = [name for name in STORAGES if "int8" not in name and name != "int64"]
    storage = draw(st.sampled_from(storages)) if storage is None else storage
    n_classes = draw(st.sampled_from([2, 2, 3, 4])) if n_classes is None else n_classes
    lift = draw(st.booleans()) if lift is None else lift
    n_rows = draw(st.integers(max(3, n_classes), max_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((n_rows, draw(st.integers(1, max_columns))))
    X *= rng.random(X.shape) < draw(st.sampled_from([1.0, 0.5]))
    X = X.astype(np.float32).astype(np.float64)  # every storage holds these numbers exactly
    return Case(X, draw(codes_for(n_rows, n_classes)), n_classes, lift, storage, draw(st.booleans()))


def xor_case(storage="float64 by rows", lift=True):
    """The four corners of a square, opposite corners alike; moved where the type has no sign."""
    X = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]], dtype=np.float64)
    X = X + 1 if storage == "uint8" else X
    return Case(X, np.array([0, 0, 1, 1]), 2, lift, storage)


@st.composite
def cuts(draw, length):
    """Consecutive slices that cover ``length`` rows, often one row each."""
    if draw(st.booleans()):
        edges = list(range(length + 1))
    else:
        inner = draw(st.lists(st.integers(1, length - 1), unique=True, max_size=length - 1))
        edges = [0, *sorted(inner), length]
    return [slice(first, last) for first, last in itertools.pairwise(edges)]


def thin(n_columns, n_rows, gap, seed):
    """Rows on a plane with integer normal, those of label 1 moved up by ``gap`` in the first column."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-8, 9, (n_rows, n_columns)).astype(float)
    normal = rng.integers(-4, 5, n_columns)
    normal[0] = 1
    rows[:, 0] = -rows[:, 1:] @ normal[1:]
    y = np.arange(n_rows) % 2
    side = y if gap > 0 else np.arange(n_rows) // 2 % 2
    rows[:, 0] += side * gap
    return rows, y


def small_problem(seed):
    """A random problem of small integers: free labels, or labels from a plane with ties either way."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(2, 13)), int(rng.integers(1, 5))
    bound, n_classes = int(rng.choice([1, 2, 3, 10])), int(rng.choice([2, 2, 2, 3]))
    X = rng.integers(-bound, bound + 1, (n_rows, n_columns))
    if rng.random() < 0.3:
        X[:, rng.integers(n_columns)] = X[:, 0]
    y = rng.integers(0, n_classes, n_rows)
    if rng.random() < 0.5:
        scores = X @ rng.integers(-2, 3, n_columns)
        y = np.where(scores == 0, rng.integers(0, 2, n_rows), scores > 0)
    y[:2] = 0, 1
    return X, y, bool(rng.integers(2))


def chain(length):
    """Signed rows ``e_i - e_(i+1)``: from either end, one settles only when that before it has."""
    places = np.arange(length)
    values = np.concatenate([np.ones(length), -np.ones(length)])
    at = (np.tile(places, 2), np.concatenate([places, places + 1]))
    return sparse.csr_array((values, at), shape=(length, length + 1))
