"""The experiments: every bound holds, every sentence is checked, and nothing that was measured is lost."""

from __future__ import annotations

import csv
import dataclasses
import itertools
import json
import math
import os
import re
import shutil
import signal
import time
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.figure import Figure

import separatrix as sx
from separatrix import experiments
from separatrix.experiments import runner, study_page
from separatrix.experiments.runner import STUDIES
from separatrix.experiments.study import Bounded, Finding, Study, as_table, grid, where
from separatrix.experiments.themes import convergence, embedding, generalization, separators, theory
from separatrix.views.palettes import LIGHT

NAMES = experiments.names()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    directory = tmp_path_factory.mktemp("experiments")
    return directory, {one.name: one for one in experiments.run_all(directory, quick=True)}


# ---------------------------------------------------------------- what the report says


@pytest.mark.parametrize("name", NAMES)
def test_the_tables_of_the_quick_report_confirm_every_claim(report, name):
    one = report[1][name]
    assert [finding.text for finding in one.findings if finding.holds is False] == []
    assert "NOT CONFIRMED" not in one.answer
    assert any(finding.holds for finding in one.findings)


@pytest.mark.parametrize("name", [study.name for study in STUDIES if study.bounds])
def test_every_bound_lies_above_every_observed_value(report, name):
    study, table = experiments.find(name), report[1][name].table
    for bounded in study.bounds:
        pairs = [
            (seen, limit)
            for seen, limit in zip(table[bounded.observed], table[bounded.bound], strict=True)
            if not math.isnan(limit)
        ]
        assert pairs
        assert all(seen <= limit * (1 + 1e-9) for seen, limit in pairs)


@pytest.mark.parametrize("name", NAMES)
def test_each_experiment_states_question_theorem_and_answer_and_draws_its_table(report, name):
    one = report[1][name]
    for text in (one.title, one.source, one.question, one.method, one.theorem, one.reference, one.answer):
        assert len(text) > 3
    assert len({len(column) for column in one.table.values()}) == 1
    for ax in one.figure.axes:
        assert ax.lines or ax.collections or ax.patches
        assert ax.get_title(loc="left")


def test_the_bound_is_drawn_on_the_axes_of_the_observations(report):
    for ax in report[1]["updates"].figure.axes:
        lines = {line.get_label(): line for line in ax.lines}
        bound = lines["bound (R/\N{GREEK SMALL LETTER GAMMA})²"]
        assert bound.get_color() == LIGHT.accent
        assert ax.get_xscale() == ax.get_yscale() == "log"
        table = report[1]["updates"].table
        assert set(bound.get_ydata()) <= set(table["bound"])
        assert len(ax.containers) == 2  # two orders, each with error bars


# ---------------------------------------------------------------- sentences that were once false


@pytest.mark.parametrize(
    ("h", "updates"), [(0.01, 89), (0.001, 987), (0.0001, 10_946)]
)  # every other Fibonacci number, as corrections by 1 and by the golden ratio nearly cancel
def test_the_distance_of_the_hulls_bounds_no_updates(h, updates):
    _, rows, y = separators.hull_case("two points", h)
    model = sx.Perceptron(order="cyclic", fit_intercept=False, max_iter=10**6, n_iter_no_change=None)
    assert model.fit(rows, y).mistakes_ == updates
    (record,) = experiments.find("hulls").measure(case="two points", h=h)
    assert record["updates"] == updates
    assert record["from_hulls"] == pytest.approx(27.4, abs=0.1)
    assert record["from_hulls"] < updates <= record["bound"]


def test_a_lift_does_not_make_the_distance_of_the_hulls_a_bound(report):
    far = where(report[1]["hulls"].table, case="far away")
    assert (far["updates"] > far["from_hulls"]).all()
    x, rows, y = separators.hull_case("far away", 0.01)
    lifted = sx.Perceptron(order="cyclic", max_iter=10**6).fit(x, y)
    assert lifted.mistakes_ == where(far, h=0.01)["updates"][0]
    np.testing.assert_array_equal(rows, np.column_stack([x, np.ones(2)]))


def integer_problem(seed):
    """Points with small integer coordinates, on which scores of exactly zero are common."""
    rng = np.random.default_rng([seed, 2])
    normal = rng.integers(1, 4, 3)
    X = rng.integers(-3, 4, (60, 3))
    scores = X @ normal
    return X[scores != 0].astype(float), np.sign(scores[scores != 0])


def test_powers_of_two_as_learning_rate_change_no_count_and_other_rates_do(report):
    table = where(report[1]["learning-rate"].table, start="zero")
    assert (table["updates"] == table["updates_rate_one"]).all()
    counts = {
        rate: [theory.perceptron(*integer_problem(seed), eta0=rate).mistakes_ for seed in range(40)]
        for rate in (1.0, 0.125, 0.5, 4.0, 0.1, 0.3, 1.0 / 3.0)
    }
    assert counts[0.125] == counts[0.5] == counts[4.0] == counts[1.0]
    assert any(counts[rate] != counts[1.0] for rate in (0.1, 0.3, 1.0 / 3.0))


def test_from_zero_the_learning_rate_changes_no_count_in_exact_arithmetic():
    for seed in range(20):
        X, y = integer_problem(seed)
        signed = [[Fraction(int(v)) for v in row] for row in (y[:, None] * X).tolist()]
        counts = []
        for rate in (Fraction(1), Fraction(1, 10), Fraction(3, 10), Fraction(1, 3)):
            w, updates, clean = [Fraction(0)] * 3, 0, False
            while not clean:
                clean = True
                for z in signed:
                    if sum(a * b for a, b in zip(w, z, strict=True)) <= 0:
                        w = [a + rate * b for a, b in zip(w, z, strict=True)]
                        updates, clean = updates + 1, False
            counts.append(updates)
        assert len(set(counts)) == 1


def test_renormalised_runs_with_a_bound_are_given_the_updates_it_allows(report):
    table = report[1]["renormalised"].table
    assert np.nanmax(table["bound"]) < table["max_updates"].min()


def test_a_score_is_the_length_times_the_signed_distance_and_the_largest_distance_is_another_rule(report):
    weights = np.array([[3.0, 0.0], [0.0, 1.0]])
    x = np.array([[1.0, 2.0]])
    scores = x @ weights.T
    distances = np.array([sx.geometry.distance(x, w)[0] for w in weights])
    np.testing.assert_allclose(scores[0], np.linalg.norm(weights, axis=1) * distances)
    assert scores.argmax() != distances.argmax()
    table = report[1]["discriminators"].table
    assert (table["directions_by_distance"][table["classes"] == 2] == 0).all()
    assert table["directions_by_distance"].max() > 0


def test_covers_share_is_one_half_at_half_the_points_and_far_from_nothing_just_below():
    assert theory.cover(24, 12) == 0.5
    assert theory.cover(24, 24) == 1.0
    assert theory.cover(24, 10) == pytest.approx(0.202, abs=5e-4)
    text = experiments.find("degree").theorem
    assert "none to speak of" not in text
    assert f"{theory.cover(24, 10):.2g} at 10" in text


def test_the_bound_by_the_margin_is_called_vacuous_where_it_is_above_one(report):
    one = report[1]["error-classes"]
    for quick in (True, False):
        sizes = {settings["n_rows"] for settings in experiments.find("error-classes").plan(quick)}
        assert 2 * theory.novikoff(1.0, 0.02) / (max(sizes) + 1) > 1
    assert f"is {one.table['margin_bound'].min():.1f} at the least" in one.answer
    assert "vacuous" in one.answer


def test_no_text_relies_on_lecture_notes_that_the_reader_does_not_have(report):
    for study in STUDIES:
        told = (study.title, study.question, study.method, study.theorem, study.reference)
        for text in (*told, report[1][study.name].answer):
            assert not re.search(r"\b(the|lecture) note\b|\bnote 0|[Ee]xercise", text), (study.name, text)


# ---------------------------------------------------------------- pictures


def _drawn(figure):
    """The figure with all places settled, and its renderer."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return canvas.get_renderer()


@pytest.mark.parametrize("name", NAMES)
def test_no_two_tick_labels_of_an_axis_touch(report, name):
    figure = report[1][name].figure
    renderer = _drawn(figure)
    for ax in figure.axes:
        for axis, sideways in ((ax.xaxis, True), (ax.yaxis, False)):
            low, high = sorted(axis.get_view_interval())
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            inside = [tick for tick in ticks if low <= tick.get_loc() <= high]
            labels = [label for tick in inside for label in (tick.label1, tick.label2)]
            boxes = [
                label.get_window_extent(renderer)
                for label in labels
                if label.get_visible() and label.get_text()
            ]
            ends = sorted((box.x0, box.x1) if sideways else (box.y0, box.y1) for box in boxes)
            assert all(first[1] < second[0] for first, second in itertools.pairwise(ends)), ax.get_title(
                "left"
            )


@pytest.mark.parametrize("name", NAMES)
def test_no_legend_lies_on_the_data(report, name):
    figure = report[1][name].figure
    renderer = _drawn(figure)
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes if ax.get_legend())]
    for legend in legends:
        box = legend.get_window_extent(renderer)
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.x1
        for ax in figure.axes:
            shared = type(box).intersection(box, ax.get_window_extent(renderer))
            assert shared is None or shared.width <= 0 or shared.height <= 0
            for axis in (ax.xaxis, ax.yaxis):
                assert not box.overlaps(axis.label.get_window_extent(renderer))


def test_a_share_of_none_or_all_has_an_interval_of_some_length(report):
    (shares,) = report[1]["degree"].figure.axes[1].containers
    (whiskers,) = shares[2]
    lengths = [segment[1, 1] - segment[0, 1] for segment in whiskers.get_segments()]
    assert len(lengths) == 6
    assert min(lengths) > 0.1


@pytest.mark.parametrize(("hits", "trials"), [(0, 15), (15, 15), (3, 15), (200, 400), (1, 1)])
def test_a_share_interval_leaves_each_tail_its_chance(hits, trials):
    low, high = theory.share_interval(hits, trials, 0.95)
    assert 0.0 <= low <= hits / trials <= high <= 1.0

    def chance(share, counts):
        return sum(math.comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in counts)

    if hits > 0:
        assert chance(low, range(hits, trials + 1)) == pytest.approx(0.025)
    if hits < trials:
        assert chance(high, range(hits + 1)) == pytest.approx(0.025)


def test_a_mean_interval_is_that_of_student():
    seen = np.array([1.0, 2.0, 4.0])
    error = seen.std(ddof=1) / math.sqrt(3)
    assert theory.mean_interval(seen) == pytest.approx(
        (7 / 3 - 4.302653 * error, 7 / 3 + 4.302653 * error), rel=1e-6
    )


def test_the_error_axis_ends_at_one(report):
    for ax in report[1]["error-classes"].figure.axes:
        assert 1.0 <= ax.get_ylim()[1] < 1.5


def test_the_largest_margins_sum_is_drawn_on_its_line_and_the_programs_below(report):
    ax = report[1]["dual"].figure.axes[0]
    lines = {line.get_label(): line for line in ax.lines}
    assert lines["program: at most 1"].get_ydata() == [1.0, 1.0]
    by_label = {one.get_label(): one[0] for one in ax.containers}
    np.testing.assert_allclose(by_label["largest margin"].get_ydata(), 1.0, rtol=1e-4)
    assert (by_label["linear program"].get_ydata() < 1.0).all()


# ---------------------------------------------------------------- the page and its files


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links, self.open = [], [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        for name in ("href", "src", "xlink:href"):
            if name in attributes:
                self.links.append(attributes[name])


def test_the_page_holds_every_experiment_and_needs_no_other_file(report):
    directory, every = report
    text = (directory / "index.html").read_text(encoding="utf-8")
    reader = _Reader()
    reader.feed(text)
    assert len(reader.ids) == len(set(reader.ids))
    assert set(NAMES) <= set(reader.ids)
    for link in reader.links:
        inside = link.startswith("#") and link[1:] in reader.ids
        assert inside or link.startswith("data:image/png") or (directory / link).is_file(), link
    assert "<script" not in text
    assert not re.search(r"url\((?!#)", text)
    assert text.count("<svg") == len(every)
    drawn = "".join(re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL)).lower()
    assert LIGHT.ink not in drawn  # ink and paper follow the theme
    assert "prefers-color-scheme:dark" in text
    assert "@media print" in text


@pytest.mark.parametrize("name", NAMES)
def test_the_table_lies_beside_the_figure_as_csv(report, name):
    directory, every = report
    table = every[name].table
    assert (directory / f"{name}.svg").is_file()
    with (directory / f"{name}.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == list(table)
    assert len(rows) == every[name].n_rows + 1
    for place, column in enumerate(table):
        assert [row[place] for row in rows[1:]] == [str(v) for v in table[column].tolist()]
    assert sorted(path.name for path in directory.glob(".*")) == []


@pytest.mark.parametrize("name", ["learning-rate", "order-start", "dual"])
def test_an_experiment_gives_the_same_table_and_the_same_picture_every_time(report, name):
    again = experiments.run(name, quick=True)
    for column, values in report[1][name].table.items():
        np.testing.assert_array_equal(values, again.table[column])
    assert study_page.svg_text(again.figure, name) == (report[0] / f"{name}.svg").read_text(encoding="utf-8")


# ---------------------------------------------------------------- interrupted and started again


def _toy(measure, bound=100.0):
    return Study(
        name="toy",
        title="A toy",
        source="nowhere",
        question="Is it?",
        method="Count.",
        theorem="It is.",
        reference="None.",
        plan=lambda quick: [{"cell_seed": seed} for seed in range(3 if quick else 10)],
        measure=measure,
        findings=lambda table: [Finding("There are rows.", len(table["value"]) > 0)],
        draw=lambda table: Figure(),
        bounds=(Bounded("value", "limit", "The limit"),),
    )


def _square(cell_seed):
    return [{"value": cell_seed**2, "limit": 100.0, "word": f"cell {cell_seed}"}]


@pytest.fixture
def toy(monkeypatch):
    def use(measure):
        study = _toy(measure)
        monkeypatch.setattr(runner, "STUDIES", (study,))

    return use


@pytest.mark.parametrize("stop", [0, 1, 7])
def test_an_interrupted_run_leaves_no_table(tmp_path, toy, stop):
    def interrupted(cell_seed):
        if cell_seed == stop:
            raise KeyboardInterrupt
        return _square(cell_seed)

    toy(interrupted)
    with pytest.raises(KeyboardInterrupt):
        experiments.run("toy", directory=tmp_path)
    assert list(tmp_path.iterdir()) == []
    toy(_square)
    one = experiments.run("toy", directory=tmp_path)
    assert one.table["value"].tolist() == [k**2 for k in range(10)]
    assert one.table["word"].tolist() == [f"cell {k}" for k in range(10)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["toy.csv"]


# ---------------------------------------------------------------- claims that fail are loud


def test_a_violated_bound_is_said_loudly(toy):
    toy(lambda cell_seed: [{"value": cell_seed, "limit": 8.5}])
    one = experiments.run("toy")
    assert not one.holds
    assert "NOT CONFIRMED BY THIS RUN: The limit is exceeded by 1 of 10 values of value" in one.answer
    text = study_page.page([one], {"toy": study_page.svg_text(one.figure, "toy")})
    assert "NOT confirmed" in text
    assert 'class="fails"' in text


def test_a_bound_that_applies_nowhere_is_not_called_held():
    nowhere = as_table([{"value": 1.0, "limit": math.nan}])
    assert Bounded("value", "limit", "The limit").check(nowhere).holds is False


# ---------------------------------------------------------------- bad input


def test_an_unknown_experiment_is_named_with_the_nearest_and_all_there_are():
    with pytest.raises(
        sx.errors.InputError, match=r"no experiment 'learning_rat'.*Did you mean 'learning-rate'"
    ):
        experiments.run("learning_rat")
    with pytest.raises(sx.errors.InputError, match=", ".join(NAMES)):
        experiments.find("zzz")


def test_underscores_are_as_good_as_hyphens():
    assert experiments.find("learning_rate").name == "learning-rate"


@pytest.mark.parametrize("inside", [(), ("deeper",)])
def test_an_output_directory_that_is_a_file_is_refused(tmp_path, inside):
    file = tmp_path / "report"
    file.write_text("mine")
    with pytest.raises(sx.errors.SeparatrixError, match=r"File exists|Not a directory"):
        experiments.run_all(file.joinpath(*inside), quick=True)
    assert file.read_text() == "mine"


# ---------------------------------------------------------------- the command


@pytest.fixture(scope="module")
def command():
    from typer.testing import CliRunner

    from separatrix.cli.app import app

    return lambda *words: CliRunner().invoke(app, ["experiment", *words], env={"COLUMNS": "500"})


def test_the_command_lists_the_experiments(command):
    shown = command("list")
    assert shown.exit_code == 0
    first = [line.split()[0] for line in shown.output.splitlines() if line.strip()]
    assert [word for word in first if word in NAMES] == NAMES  # titles may take two lines
    for number in range(1, 12):
        named = ", ".join(study.name for study in experiments.matching(f"exercise-{number}"))
        assert re.search(rf"exercise-{number} +{named}", shown.output)


def test_the_command_prints_the_answer_and_keeps_table_and_figure(command, tmp_path):
    shown = command("hulls", "--quick", "-o", str(tmp_path / "new"))
    assert shown.exit_code == 0
    assert "\nQuestion. " in shown.output
    assert "\\n" not in shown.output  # lines, not escapes of their ends
    assert "FAILS" not in shown.output
    assert {path.suffix for path in (tmp_path / "new").iterdir()} == {".csv", ".svg"}


def test_all_can_be_repeated_and_says_where_the_report_is(command, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "STUDIES", (experiments.find("hulls"), experiments.find("own-point")))
    for _ in range(2):
        shown = command("all", "--quick", "--output", str(tmp_path))
        assert shown.exit_code == 0
        assert (tmp_path / "index.html").as_uri() in shown.output
        assert "SEE THE REPORT" not in shown.output


def test_the_command_answers_machines_in_json(command):
    told = json.loads(command("hulls", "--quick", "--json").stdout)
    assert told["name"] == "hulls"
    assert told["holds"] is True
    assert all(finding["text"] for finding in told["findings"])
    assert [each["name"] for each in json.loads(command("list", "--json").stdout)] == NAMES


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["all"], "--output"),
        (["all", "-o", "report.html"], "a folder, or a PDF file"),
        (["hull"], "Did you mean 'hulls'"),
    ],
)
def test_all_needs_a_directory_or_a_pdf_and_an_unknown_name_is_refused(command, words, reason):
    shown = command(*words)
    assert shown.exit_code == 2
    assert reason in shown.stderr


# ---------------------------------------------------------------- the formulas


def test_the_bound_for_any_start_is_that_of_mistake_bounds():
    problem = sx.datasets.make_separable(100, 3, margin=0.1, random_state=0)
    first = np.array([0.3, -1.0, 0.5])
    model = sx.Perceptron(order="cyclic", fit_intercept=False, init=first, eta0=0.25).fit(*problem)
    report = sx.mistake_bounds(model, *problem)
    along = float(first @ problem.weights)
    own = theory.any_start(1.0, 0.1, float(np.linalg.norm(first)), along, 0.25)
    assert own == pytest.approx(report["any start"].value, rel=1e-5)
    assert theory.any_start(2.0, 0.1, 0.0, 0.0, 7.0) == pytest.approx(theory.novikoff(2.0, 0.1))


def test_the_lifted_bound_is_least_where_the_docstring_says():
    at = [theory.lifted(1.0, 0.1, 0.3, s) for s in np.geomspace(0.01, 100, 2001)]
    best = theory.lifted(1.0, 0.1, 0.3, math.sqrt(0.3))
    assert best == pytest.approx((1.3 / 0.1) ** 2)
    assert min(at) >= best * (1 - 1e-12)


def test_renormalised_bound_ends_where_progress_is_no_longer_certain():
    edge = 2 * 0.1 / (1 - 0.1**2)
    assert theory.renormalised(1.0, 0.1, 0.999 * edge) > 0
    assert math.isnan(theory.renormalised(1.0, 0.1, 1.001 * edge))


def test_an_update_of_renormalised_weights_brings_them_at_least_as_near_as_the_proof_says():
    rng = np.random.default_rng(0)
    margin, radius, rate = 0.2, 1.0, 0.3
    z = rng.standard_normal((20_000, 3))
    z *= (rng.uniform(margin, radius, 20_000) / np.linalg.norm(z, axis=1))[:, None]
    w = rng.standard_normal((20_000, 3))
    w /= np.linalg.norm(w, axis=1)[:, None]
    # The separator is the first axis: z has margin on it, and w gets z wrong.
    mistake = (z[:, 0] >= margin) & (np.einsum("ij,ij->i", w, z) <= 0.0)
    after = w + rate * z
    cosine = after[:, 0] / np.linalg.norm(after, axis=1)
    promised = (w[:, 0] + rate * margin) / math.hypot(1.0, rate * radius)
    near = mistake & (w[:, 0] >= -rate * margin)
    assert (near & (w[:, 0] < 0.0)).sum() > 20
    assert (cosine[near] >= promised[near] - 1e-12).all()
    # The condition is needed: from weights that point far away, the promise is broken.
    away = mistake & (w[:, 0] < -rate * margin)
    assert (cosine[away] < promised[away] - 1e-3).any()


def test_from_zero_renormalised_weights_have_a_cosine_of_at_least_margin_over_radius_after_each_update():
    problem = sx.datasets.make_separable(100, 3, margin=0.1, random_state=2)
    rate = 1.9 * problem.margin / problem.radius**2
    model = sx.Perceptron(
        order="cyclic",
        fit_intercept=False,
        renormalise=True,
        eta0=rate,
        trace=True,
        max_iter=10**5,
    ).fit(problem.X, problem.y)
    weights = model.result_.trace.weights
    cosines = weights @ problem.weights / np.linalg.norm(weights, axis=1)
    assert len(cosines) > 2
    assert (cosines >= problem.margin / problem.radius - 1e-12).all()
    assert model.mistakes_ <= theory.renormalised(problem.radius, problem.margin, rate)


@pytest.mark.parametrize(("n_points", "dimension"), [(3, 2), (5, 2), (5, 3), (6, 3)])
def test_cover_counts_the_labellings_that_planes_realise(n_points, dimension):
    X = np.random.default_rng(n_points).standard_normal((n_points, dimension))
    realised = 0
    for labels in itertools.product([-1, 1], repeat=n_points):
        if len(set(labels)) == 1:
            # One class: separable by a plane through the origin unless zero is in the hull; ask it both ways.
            doubled = np.vstack([X, -X])
            signs = np.array([*labels, *(-s for s in labels)])
            realised += sx.separability(doubled, signs, quasi=False, fit_intercept=False).separable
        else:
            realised += sx.separability(X, np.array(labels), quasi=False, fit_intercept=False).separable
    assert realised / 2**n_points == theory.cover(n_points, dimension)


def test_the_plain_dual_is_the_perceptron():
    from separatrix.experiments.themes.dual import plain_dual

    X, y = sx.datasets.make_separable(40, 3, margin=0.1, random_state=3)
    signed = y[:, None] * X
    model = sx.Perceptron(order="cyclic", fit_intercept=False).fit(X, y)
    np.testing.assert_array_equal(plain_dual(signed @ signed.T), model.mistake_counts_)


def test_where_keeps_the_rows_that_are_asked_for():
    table = as_table([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 1, "b": "y"}])
    assert where(table, a=1, b="y") == {"a": np.array([1]), "b": np.array(["y"])}


def test_a_plan_has_every_combination_of_the_quick_or_the_full_choices():
    plan = grid(a=([1], [1, 2]), b=["x", "y"])
    assert plan(True) == [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}]
    assert len(plan(False)) == 4
    with pytest.raises(ValueError, match="unpack"):
        grid(a=("x", "y", "z"))(True)  # a pair, or a list for both plans


def test_a_plan_asks_only_for_data_that_there_are(report):
    for quick in (True, False):
        shapes = {settings["data"] for settings in experiments.find("degree").plan(quick)}
        assert shapes == {"random labels", *embedding.SHAPES}


def test_an_interrupt_that_a_solver_answers_ends_the_experiment_and_keeps_no_table(tmp_path, monkeypatch):
    study = runner.find("own-point")
    measured = []

    def interrupted(**settings):
        measured.append(settings)
        try:
            if len(measured) == 2:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(5)
        except KeyboardInterrupt:
            return []  # what a solver has by then
        return study.measure(**settings)

    monkeypatch.setattr(runner, "STUDIES", (dataclasses.replace(study, measure=interrupted),))
    usual = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        experiments.run("own-point", quick=True, directory=tmp_path)
    assert len(measured) == 2
    assert signal.getsignal(signal.SIGINT) is usual
    monkeypatch.setattr(runner, "STUDIES", (study,))
    resumed = experiments.run("own-point", quick=True, directory=tmp_path).table
    fresh = experiments.run("own-point", quick=True).table
    assert all(np.array_equal(resumed[name], fresh[name]) for name in fresh)


def test_of_a_bound_of_zero_no_share_is_told():
    none = {"value": np.zeros(3), "limit": np.zeros(3)}
    assert Bounded("value", "limit", "The limit").check(none).text == (
        "The limit holds for all 3 values of value."
    )


@pytest.mark.parametrize("case", ["two points", "far away"])
@pytest.mark.parametrize("h", [0.3, 0.1, 0.03, 0.01])
def test_no_sum_of_fewer_than_golden_over_h_rows_separates_the_two_rows_of_a_counterexample(case, h):
    """The lower bound that chapter 0 proves, against all sums of so many rows, in exact arithmetic."""
    _, rows, y = separators.hull_case(case, h)
    (a, b), (c, d) = (
        [Fraction(float(v)) * int(sign) for v in row] for row, sign in zip(rows, y, strict=True)
    )
    fewest = separators.GOLDEN / h
    for n in range(math.ceil(fewest)):
        for m in range(math.ceil(fewest) - n):
            if n + m < fewest * (1 - 1e-9):
                w = (n * a + m * c, n * b + m * d)
                assert not (w[0] * a + w[1] * b > 0 and w[0] * c + w[1] * d > 0), (n, m)


def test_renormalised_weights_never_end_on_the_pair_of_chapter_4():
    """The step of its proof: from 0.2 <= |b| <= 0.6 an update at rate one leads there again."""
    for b in np.linspace(0.2, 0.6, 401):
        a, s = math.sqrt(1.0 - b * b), 0.8 - b
        assert 0.05 * a - 0.8 * b < 0.0
        assert 0.229 < s / math.hypot(a + 0.05, s) < 0.504


@pytest.mark.parametrize("seed", range(5))
def test_the_changes_of_side_are_those_of_a_plain_loop(seed):
    X, y = sx.datasets.make_separable(100, 3, margin=0.05, random_state=seed)
    w, sides, changes, clean = np.zeros(3), None, np.zeros(100, dtype=int), False
    while not clean:
        clean = True
        for sign, x in zip(y, X, strict=True):
            if sign * (w @ x) <= 0:
                w, clean = w + sign * x, False
                now = y * (X @ w) > 0
                changes += 0 if sides is None else now != sides
                sides = now
    (record,) = convergence._measure_toggles(100, 0.05, seed)
    assert record["most_changes"] == changes.max()
    assert record["share_changing"] == (changes > 0).mean()


@pytest.mark.parametrize("columns", [1, 3, 50])
def test_folded_clouds_are_separable_and_repeatable(columns):
    X, y = generalization.clouds(60, columns, 1)
    assert sx.separability(X, y, fit_intercept=False, quasi=False).separable
    np.testing.assert_array_equal(X, generalization.clouds(60, columns, 1)[0])


# ---------------------------------------------------------------- exercises, and reports as PDF


def test_every_exercise_has_an_experiment_that_names_it():
    for number in range(1, 12):
        found = experiments.matching(f"exercise-{number}")
        assert found
        assert all(number in study.exercises for study in found)
        assert re.search(rf"exercises? .*{number}|exercises 6 to 8", found[0].source)
    assert experiments.matching("all") == list(STUDIES)
    assert [study.name for study in experiments.matching("angle")] == ["angle"]
    with pytest.raises(sx.errors.InputError, match="1 to 11"):
        experiments.matching("exercise-12")


def test_a_pdf_needs_a_browser_and_the_message_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(sx.errors.OutputError, match="PDF") as raised:
        experiments.write_pdf(tmp_path / "report.pdf", ["angle"], quick=True)
    assert "print it to PDF" in raised.value.remedy
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["exit 1", "exit 0"])
def test_a_browser_that_prints_nothing_leaves_no_file(tmp_path, monkeypatch, ending):
    browser = tmp_path / "chromium"
    browser.write_text(f"#!/bin/sh\n{ending}\n")
    browser.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(sx.errors.OutputError, match="no PDF"):
        experiments.write_pdf(tmp_path / "report.pdf", ["learning-rate"], quick=True)
    assert not (tmp_path / "report.pdf").exists()


@pytest.mark.skipif(not any(map(shutil.which, study_page.BROWSERS)), reason="needs a browser")
def test_a_report_as_pdf_is_a_file_that_mentions_no_tables(tmp_path):
    done = experiments.write_pdf(tmp_path / "report.pdf", ["learning-rate"], quick=True)
    assert [one.name for one in done] == ["learning-rate"]
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert [path.name for path in tmp_path.iterdir()] == ["report.pdf"]
