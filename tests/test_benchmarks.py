"""The benchmarks follow the library: what they call is there."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import benchmarks

NAMES = [each.name for each in pkgutil.iter_modules(benchmarks.__path__)]


@pytest.mark.parametrize("name", NAMES)
def test_every_part_of_the_benchmarks_can_be_imported(name):
    importlib.import_module(f"benchmarks.{name}")
