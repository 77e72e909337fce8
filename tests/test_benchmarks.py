"""The benchmarks follow the library: what they call is there."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
from scipy.stats import binom

import benchmarks
from benchmarks.table import median_interval

NAMES = [each.name for each in pkgutil.iter_modules(benchmarks.__path__)]


@pytest.mark.parametrize("name", NAMES)
def test_every_part_of_the_benchmarks_can_be_imported(name):
    importlib.import_module(f"benchmarks.{name}")


@pytest.mark.parametrize("n", range(5, 60))
def test_the_interval_of_a_median_is_the_narrowest_that_holds_it_nine_times_of_ten(n):
    low, high = median_interval([float(value) for value in range(n, 0, -1)])
    assert low + high == n + 1
    assert 2 * binom.cdf(low - 1, n, 0.5) <= 0.1
    assert low == (n + 1) // 2 or 2 * binom.cdf(low, n, 0.5) > 0.1
