"""The page on clusters says what was measured."""

from __future__ import annotations

import json

import pytest

import separatrix as sx

pytest.importorskip("dask.array")
from benchmarks import scaling


def test_the_tables_of_the_page_are_those_of_the_results():
    found = json.loads(scaling.RESULTS.read_text("utf-8"))
    page = scaling.PAGE.read_text("utf-8")
    assert scaling.with_tables(page, found) == page


def test_rounds_and_bytes_are_counted():
    with scaling.counted() as traffic:
        assert sx.separability(*scaling.collection(1600, 0.1), quasi=False).separable
    assert traffic.rounds["pass"] >= 1
    assert traffic.rounds["hash"] == 1
    # The weights of 20 columns and the intercept go to each block in every epoch.
    assert traffic.sent >= traffic.rounds["pass"] * scaling.BLOCKS * 21 * 8
    assert traffic.received >= 1600 * 12  # codes and hashes of each row
