"""The benchmarks follow the library: what they call is there."""

from __future__ import annotations

import importlib
import json
import pkgutil

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binom

import benchmarks
import separatrix as sx
from benchmarks import edge, images, mnist_fewest, page, peers, results
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


def test_the_tables_of_the_page_on_speed_are_those_of_the_results_file():
    text = results.PAGE.read_text("utf-8")
    assert results.with_tables(text) == text


def test_results_of_a_section_replace_its_older_ones_and_no_others(tmp_path):
    path = tmp_path / "results" / "bench.json"
    results.keep([Row("pass", "a", "1 s", "x 2 s", "2"), Row("margin", "b", "1 s", "", "")], ["quiet"], path)
    results.keep([Row("pass", "dense float64 c", "3 s", "Perceptron | 1 s", "0.3 times as fast")], [], path)
    kept = json.loads(path.read_text())["rows"]
    assert [(row["section"], row["what"]) for row in kept] == [
        ("margin", "b"),
        ("pass", "dense float64 c"),
    ]
    shown = results.rendered(path)
    assert "| 3 s | Perceptron \\| 1 s |" in shown  # lost, and shown


def _row(section, what, ours, against, ratio, met=None, noisy=""):
    told = {"section": section, "what": what, "ours": ours, "against": against, "ratio": ratio}
    return {**told, "target": ">= 1", "met": met, "noisy": noisy, "notes": ["a | b"], "load": "1.5"}


LOST = (
    _row("pass", "slower", "2 s", "Perceptron 1 s", "0.5 times as fast", met=False),
    _row("margin", "longer", "2 s", "SVC 1 s", "2 times its time"),
    _row("zero", "stopped", "no answer in 5 s", "", "", met=False),
    _row("start", "later", "2 s", "scikit-learn's 1 s", "+1.00 s", met=False),
)
NOT_LOST = (
    _row("pass", "faster", "1 s", "Perceptron 2 s", "2.0 times as fast", met=True),
    _row("zero", "at least", "9 s", "HiGHS: no answer in 5 s", "> 0.55"),
    _row("pass", "a product", "2 s", "X @ w, 1 core 1 s", "2 times its time"),
    _row("start", "soon", "2 s", "scikit-learn's 1.9 s", "+0.10 s", met=True),
)


@pytest.mark.parametrize("row", [*LOST, *NOT_LOST], ids=lambda row: row["what"])
def test_a_loss_is_a_row_in_which_another_was_faster_or_we_had_no_answer(row):
    assert page.is_lost(row) == (row in LOST)


def test_the_page_of_the_site_lists_losses_before_all_other_tables(tmp_path):
    pytest.importorskip("matplotlib")
    results_file = tmp_path / "bench.json"
    results_file.write_text(json.dumps({"rows": [*NOT_LOST, *LOST]}))
    index, *pictures = page.write(tmp_path / "page", results_file)
    text = index.read_text("utf-8")
    lost = text.partition("## Where we lose")[2].partition("\n## ")[0]
    assert all(f"| {row['what']} |" in lost for row in LOST)
    assert not any(f"| {row['what']} |" in lost for row in NOT_LOST)
    assert all(text.count(f"| {row['what']} |") == 1 for row in NOT_LOST)
    assert "a \\| b" in text
    named = next(line for line in lost.splitlines() if line.startswith("These sections"))
    assert "`verify`" in named
    assert "`pass`" not in named
    assert "`edge`" not in named
    assert [path.name for path in pictures] == [
        f"{section}-{theme}.svg" for section in ("pass", "zero", "margin") for theme in ("light", "dark")
    ]
    assert all(f"{{image}} {path.name}" in text and path.stat().st_size > 1000 for path in pictures)


def test_the_pictures_of_the_readme_are_drawn_by_their_script(tmp_path):
    from examples import readme_picture

    written = readme_picture.draw(tmp_path)
    names = ["answer-light.png", "answer-dark.png", "run-light.png", "run-dark.png"]
    assert [path.name for path in written] == names
    assert all((readme_picture.FOLDER / path.name).exists() for path in written)


ALL = "Perceptron 900 ms ±3%; Perceptron as shipped 2 errors left after 1 s; LinearSVC 1.20 s (1 run); "
MORE = "liblinear 85 ms ±1%; Vowpal Wabbit not installed (pip install vowpalwabbit); HiGHS no answer in 5 s"


@pytest.mark.parametrize(
    ("section", "against", "shown"),
    [
        (
            "zero",
            f"best liblinear. All: {ALL}{MORE}",
            [
                "Perceptron 900 ms ±3%",
                "85 ms ±1%",
                "not installed (pip install vowpalwabbit)",
                "no answer in 5 s",
            ],
        ),
        ("zero", f"nobody. All: Perceptron 3 errors left after 2 s; {MORE}", None),
        ("zero", "LinearSVC 3 s", ["", "", "", ""]),
        ("zero", "the faster product, X @ w 3 ms", ["", "", "", ""]),
        ("verdict", "HiGHS: no answer in 10 s", ["", "", "", "no answer in 10 s"]),
        ("verdict", "HiGHS 3.20 s (1 run)", ["", "", "", "3.20 s (1 run)"]),
        ("pass", "Perceptron 1 ms ±2%", ["Perceptron 1 ms ±2%", "", "", ""]),
        ("pass", "X @ w, 1 core 1 ms ±2%", ["", "", "", ""]),
        ("start", "scikit-learn's 1.76 s ±6%", ["1.76 s ±6%", "", "", ""]),
    ],
)
def test_the_table_has_a_column_for_each_program_and_its_fastest_contender_there(section, against, shown):
    found = results.by_program({"section": section, "against": against})
    assert found == (shown or ["Perceptron 3 errors left after 2 s", *found[1:]])


@pytest.mark.parametrize("columns", [7, 30_000])
def test_vowpal_wabbit_is_given_the_rows_that_are_there(columns, tmp_path):
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(70, columns)).astype(np.float32), np.where(rng.random(70) < 0.5, 1, -1)
    peers._write_vw(rows.astype(np.float64), y, tmp_path / "rows.vw")
    lines = (tmp_path / "rows.vw").read_text().splitlines()
    for line, label, row in zip(lines, y, rows, strict=True):
        head, _, cells = line.partition(" | ")
        assert int(head) == label
        assert np.array_equal(np.array([cell.partition(":")[2] for cell in cells.split()], np.float32), row)


def test_the_page_about_the_edge_is_written_from_its_results():
    answers = edge.read_answers(edge.RESULTS / "edge.jsonl")
    assert answers
    assert edge.page(answers) == edge.PAGE.read_text("utf-8")


def test_the_page_about_the_fewest_images_is_written_from_its_results():
    answers = mnist_fewest.read_answers(mnist_fewest.DOCS / "mnist-fewest.jsonl")
    assert all(each.upper == len(set(each.images)) >= each.lower for each in answers)
    assert [each.pair for each in answers] == [mnist_fewest.name(pair) for pair in mnist_fewest.PAIRS]
    assert mnist_fewest.page(answers) == (mnist_fewest.DOCS / "mnist-fewest.md").read_text("utf-8")


def test_a_pair_is_separable_without_the_images_of_its_answer():
    rng = np.random.default_rng(0)
    X, digits = rng.integers(0, 9, (90, 5)), rng.permutation(np.repeat([4, 7, 9], 30))
    answer = mnist_fewest.ask(X, digits, (4, 9), 2.0)
    kept = np.setdiff1d(np.flatnonzero(digits != 7), answer.images)
    assert answer.rows - answer.upper == kept.size
    assert sx.separability(X[kept], digits[kept]).status == "separable"


def naive_pixel(kind, image, i, j):
    """One number of an image of some kind, in Python's integers; dark beyond the border."""

    def at(r, c):
        return int(image[r, c]) if 0 <= r < 28 and 0 <= c < 28 else 0

    if kind == "edges":
        across = abs(at(i, j + 1) - at(i, j - 1)) if 0 < j < 27 else 0
        return across + (abs(at(i + 1, j) - at(i - 1, j)) if 0 < i < 27 else 0)
    if kind == "blurred":
        return sum((2 - abs(r)) * (2 - abs(c)) * at(i + r, j + c) for r in (-1, 0, 1) for c in (-1, 0, 1))
    return at(i, j) * at(i, j + 1) if kind == "products" else int(at(i, j) > 127)


@pytest.mark.parametrize("kind", ["edges", "blurred", "products", "thresholded"])
def test_numbers_of_images_are_those_of_the_formulas(kind):
    made = np.random.default_rng(0).choice(np.array([0, 3, 127, 128, 255], dtype=np.uint8), (2, 28, 28))
    found = images.KINDS[kind](made)
    assert found.dtype.kind in "iu"
    for image, numbers in zip(made, found.tolist(), strict=True):
        assert numbers == [[naive_pixel(kind, image, i, j) for j in range(28)] for i in range(28)]


def test_a_column_of_the_page_counts_what_was_not_decided():
    asked = [
        edge.Answer("images, edges", f"{i}-9", 10, 3, status, "", 0.0, 1.0, 1.0, 0.1, 1.0)
        for i, status in enumerate(["separable", "undecided", "inseparable"])
    ]
    assert "| images, edges, pairs | 3 | 1 | 1 | 1 |" in edge.page(asked)
    assert edge.summary(asked) == "3 questions, 3 answered within 30 s of wall-clock time, 1 undecided"


@pytest.mark.parametrize("name", edge.TEXTS)
def test_texts_have_the_verdict_that_they_are_made_for(name):
    X, y = edge.TEXTS[name](1000)
    found = edge.ask(edge.Question("text", name, lambda: (X, y)), 60.0)
    assert found.status == ("separable" if name == "labels from a hyperplane" else "inseparable")
    assert X.shape[1] == 1000
    rows = {tuple(row) for row in X.toarray().tolist()}
    assert name != "random labels" or len(rows) == X.shape[0]


def test_of_equal_rows_the_first_is_kept():
    X = sparse.csr_array(np.array([[0, 1], [2, 0], [0, 1], [0, 0], [2, 0], [0, 0]]))
    assert edge._different(X).tolist() == [0, 1, 3]


def test_peeled_rows_are_separable_and_with_one_more_they_are_not():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (120, 8))
    y = (X @ rng.normal(size=8) > 4.0).astype(int)
    y[:6] = 1 - y[:6]
    gone, last = edge.peel(X, y)
    assert set(last) <= set(gone)
    status = [
        sx.separability(np.delete(X, rows, axis=0), np.delete(y, rows), quasi=False).status
        for rows in (gone, [row for row in gone if row != last[0]])
    ]
    assert status == ["separable", "inseparable"]
