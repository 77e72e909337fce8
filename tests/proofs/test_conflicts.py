"""Identical rows with different labels are found by numbers that hold hash and label."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.inputs.data import read_data
from separatrix.proofs.signed_rows import SignedRows
from separatrix.proofs.strategies import conflicts
from separatrix.rows.hashing import distinct, label_bits, label_keys, suspects
from tests.partitions import as_dask

hashes_of = st.lists(st.integers(0, 5) | st.integers(0, 2**64 - 1), max_size=60)


def below(hashes, bits):
    """What is kept of a hash beside a label: its last bits."""
    return hashes % (1 << (63 - bits))


@given(hashes_of, st.integers(2, 9), st.data())
def test_suspects_are_the_hashes_that_come_with_several_labels(hashes, n_classes, data):
    size = len(hashes)
    labels = data.draw(st.lists(st.integers(0, n_classes - 1), min_size=size, max_size=size))
    bits = label_bits(n_classes)
    keys = label_keys(np.array(hashes, dtype=np.uint64), np.array(labels, dtype=np.int32), bits)
    groups = defaultdict(set)
    for each, label in zip(hashes, labels, strict=True):
        groups[below(each, int(bits))].add(label)
    assert suspects(keys, bits).tolist() == sorted(key for key, some in groups.items() if len(some) > 1)
    assert distinct(keys).tolist() == sorted(set(keys.tolist()))


@st.composite
def labelled(draw):
    """Few different rows, so that some are equal, and labels of three classes."""
    n_rows = draw(st.integers(2, 40))
    X = draw(st.lists(st.tuples(*[st.sampled_from([0.0, -0.0, 1.0])] * 2), min_size=n_rows, max_size=n_rows))
    y = draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows))
    order = sorted(draw(st.sets(st.integers(0, n_rows - 1), min_size=1)))
    return np.array(X), np.array(y), np.array(order)


def expected(X, y, order):
    """The first row of the lowest label and the last of the highest, of each set of equal rows."""
    groups = defaultdict(list)
    for i in order:
        groups[tuple(X[i] + 0.0)].append((int(y[i]), int(i)))
    return {(min(each)[1], max(each)[1]) for each in groups.values() if len({label for label, _ in each}) > 1}


@pytest.mark.parametrize("few", [0, 1000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.uint8])
@given(case=labelled())
def test_one_pair_of_each_set_of_equal_rows_is_found(few, dtype, case):
    X, y, order = case
    X = X.astype(dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conflicts, "SMALL", few)
        assert set(conflicts.conflicting_rows(X, y, order)) == expected(X, y, order)


@given(case=labelled(), cut=st.integers(0, 40))
def test_the_same_pairs_are_found_in_blocks(case, cut):
    pytest.importorskip("distributed")
    X, y, order = case
    if len(set(y.tolist())) < 2:
        return
    lengths = [min(cut, len(X)), len(X) - min(cut, len(X))]
    data = read_data(as_dask(X, lengths), y)
    keep = np.isin(np.arange(len(X)), order)
    if np.unique(data.codes[keep]).size < 2:
        return
    positive = 1 if len(data.classes) == 2 else None
    found = conflicts.conflicts(SignedRows(data, positive, keep, True), len(X))
    pairs = {tuple(each.ids // (1 if positive else len(data.classes))) for each in found}
    assert pairs == expected(X, data.codes, order)
