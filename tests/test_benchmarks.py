"""The benchmarks follow the library: what they call is there."""

from __future__ import annotations

import importlib
import json
import pkgutil

import pytest
from scipy.stats import binom

import benchmarks
from benchmarks import results
from benchmarks.table import Row, median_interval

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


def test_the_table_of_the_readme_is_the_one_of_the_results_file():
    text = results.README.read_text("utf-8")
    assert results.with_table(text, results.rendered()) == text


def test_results_of_a_section_replace_its_older_ones_and_no_others(tmp_path):
    path = tmp_path / "results" / "bench.json"
    results.keep([Row("pass", "a", "1 s", "x 2 s", "2"), Row("margin", "b", "1 s", "", "")], ["quiet"], path)
    results.keep([Row("pass", "dense float64 c", "3 s", "y | z 1 s", "0.3 times as fast")], [], path)
    kept = json.loads(path.read_text())["rows"]
    assert [(row["section"], row["what"]) for row in kept] == [
        ("margin", "b"),
        ("pass", "dense float64 c"),
    ]
    shown = results.rendered(path)
    assert "0.3 times as fast" in shown  # lost, and shown
    assert "y \\| z" in shown


def test_the_picture_of_the_readme_is_drawn_by_its_script(tmp_path):
    pytest.importorskip("matplotlib")
    from examples import readme_picture

    written = readme_picture.draw(tmp_path)
    assert [path.name for path in written] == ["run-light.png", "run-dark.png"]
    assert all((readme_picture.FOLDER / path.name).exists() for path in written)
