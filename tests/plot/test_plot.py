"""Pictures, compared by what they draw: artists and their data, never pixels."""

from __future__ import annotations

import io
import itertools
import re
import runpy
import shlex
import subprocess
import sys
import time
import warnings
from html.parser import HTMLParser
from pathlib import Path as FilePath

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from matplotlib import pyplot as plt
from matplotlib.animation import FFMpegWriter
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.path import Path
from PIL import Image
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import separatrix as sx
from separatrix.errors import InputError, InputTypeError, LabelError, OutputError
from separatrix.plot.film import trace_of
from separatrix.plot.style import palette_of
from separatrix.result import Trace
from separatrix.views.palettes import DARK, LIGHT

mpl.use("Agg")
Regions, Run = sx.plot.DecisionRegionDisplay, sx.plot.RunDisplay
Bracket, Hulls = sx.plot.BracketDisplay, sx.plot.HullDisplay


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def separable():
    return sx.datasets.make_separable(60, margin=0.15, intercept=0.2, random_state=3)


@pytest.fixture(scope="module")
def traced(separable):
    return sx.Perceptron(order="cyclic", trace=True).fit(*separable)


@pytest.fixture(scope="module")
def three_classes():
    return sx.datasets.make_multiclass(60, 2, n_classes=3, margin=0.1, random_state=2)


@pytest.fixture(scope="module")
def overlapping():
    return sx.datasets.make_overlapping(60, 2, noise=0.1, random_state=1)


# --- the look ---


# Machado, Oliveira and Fernandes (2009), full severity: protanopia, deuteranopia, tritanopia; and none.
DEFICIENCIES = np.array(
    [
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
        np.eye(3),
    ]
)


def linear_light(color):
    values = np.array(to_rgb(color))
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(light):
    to_xyz = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])
    scaled = to_xyz @ np.clip(light, 0, 1) / [0.95047, 1.0, 1.08883]
    f = np.where(scaled > 0.008856, np.cbrt(scaled), 7.787 * scaled + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(a, b):
    """As the web accessibility guidelines define it."""
    bright = sorted(float(linear_light(c) @ [0.2126, 0.7152, 0.0722]) for c in (a, b))
    return (bright[1] + 0.05) / (bright[0] + 0.05)


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=lambda c: c.name)
def test_classes_stay_apart_for_every_eye(colors):
    for seen_as in DEFICIENCIES:
        seen = [lab(seen_as @ linear_light(color)) for color in colors.classes]
        for a, b in itertools.combinations(range(len(seen)), 2):
            assert np.linalg.norm(seen[a] - seen[b]) > 12, (colors.classes[a], colors.classes[b])
    # The two classes of most pictures are also apart in grey.
    assert abs(lab(linear_light(colors.classes[0]))[0] - lab(linear_light(colors.classes[1]))[0]) > 15


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=lambda c: c.name)
def test_text_and_lines_stand_out_from_the_paper(colors):
    assert contrast(colors.ink, colors.paper) > 12
    assert contrast(colors.muted, colors.paper) > 4.5
    assert contrast(colors.accent, colors.paper) > 3
    assert len({colors.marker(i) for i in range(10)}) == 10


def test_the_palette_follows_the_background_of_given_axes():
    _, light = sx.plot.new_figure("light")
    _, dark = sx.plot.new_figure("dark")
    assert (palette_of(light), palette_of(dark)) == (LIGHT, DARK)
    with plt.style.context("dark_background"):
        assert sx.plot.palette() is DARK
    with pytest.raises(InputError, match="'light', 'dark'"):
        sx.plot.palette("sepia")


def test_a_style_leaves_no_settings_behind():
    before = dict(mpl.rcParams)
    with sx.plot.style("dark"):
        assert mpl.rcParams["figure.facecolor"] == DARK.paper
    assert dict(mpl.rcParams) == before


def test_import_is_lazy_and_a_missing_matplotlib_is_one_line():
    code = "import sys, separatrix as sx; sx.Perceptron; print('matplotlib' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
    code = "import sys; sys.modules['matplotlib'] = None; import separatrix as sx; sx.plot"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip().split("\n")[-1] == (
        "separatrix.errors.MissingPackageError: sx.plot needs matplotlib. "
        "Install it with: pip install 'separatrix[plot]' (in a copy of the repository: pip install '.[plot]')"
    )


# --- decision regions ---


def drawn(collection):
    return np.asarray(collection.get_offsets())


def vertices(contours):
    return np.concatenate([path.vertices for each in contours for path in each.get_paths()])


def same_points(a, b):
    return np.array_equal(np.unique(a, axis=0), np.unique(b, axis=0))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_regions_points_band_and_support_of_the_largest_margin(separable, theme):
    X, y = separable
    model = sx.MaxMargin().fit(X, y)
    display = Regions.from_estimator(model, X, y, theme=theme)
    for label, points in zip(model.classes_, display.points_, strict=True):
        assert same_points(drawn(points), X[y == label])
    assert same_points(drawn(display.support_points_), X[model.support_])
    assert display.error_points_ is None
    assert display.level == pytest.approx(1.0)
    assert model.decision_function(vertices(display.boundary_)) == pytest.approx(0, abs=1e-9)
    assert np.abs(model.decision_function(vertices(display.band_))) == pytest.approx(1.0)


def test_the_weight_arrow_is_normal_to_the_boundary_and_points_to_the_positive_class(separable):
    X, y = separable
    model = sx.MaxMargin().fit(X, y)
    display = Regions.from_estimator(model, X, y)
    (arrow,) = display.weight_arrows_
    foot, tip = np.array(arrow.xyann), np.array(arrow.xy)
    assert model.decision_function([foot]) == pytest.approx(0, abs=1e-9)
    cross = np.linalg.det(np.vstack([tip - foot, model.coef_[0]]))
    assert cross == pytest.approx(0, abs=1e-9)
    assert model.decision_function([tip]) > 0
    assert display.ax_.get_aspect() == 1.0


def test_point_sizes_grow_with_the_mistakes(separable, traced):
    X, y = separable
    display = Regions.from_estimator(traced, X, y, point_sizes="mistakes")
    sizes = np.empty(len(y))
    for points in display.points_:
        for place, size in zip(drawn(points), points.get_sizes(), strict=True):
            sizes[np.flatnonzero((place == X).all(axis=1))] = size
    order = np.argsort(traced.mistake_counts_)
    assert (np.diff(sizes[order])[np.diff(traced.mistake_counts_[order]) > 0] > 0).all()
    assert (np.diff(sizes[order])[np.diff(traced.mistake_counts_[order]) == 0] == 0).all()
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"{traced.mistake_counts_.max()} mistakes" in labels
    assert "0 mistakes" in labels


def test_rows_on_the_wrong_side_are_marked(overlapping):
    X, y = overlapping
    model = sx.SoftMargin().fit(X, y)
    display = Regions.from_estimator(model, X, y)
    assert display.level == 1.0
    assert same_points(drawn(display.error_points_), X[model.predict(X) != y])


@pytest.mark.parametrize("average", [False, "averaged", "voted"])
def test_many_classes_tile_the_picture(three_classes, average):
    X, y = three_classes
    model = sx.Perceptron(order="cyclic", average=average).fit(X, y)
    display = Regions.from_estimator(model, X, y)
    assert display.model.linear == (average != "voted")
    if average != "voted":
        assert len(display.weight_arrows_) == 3
        best = np.sort(model.decision_function(vertices(display.boundary_)), axis=1)
        # Where a third class comes in, the lead is not linear between the points of the grid.
        assert np.mean(np.isclose(best[:, -1], best[:, -2])) > 0.95
    else:
        assert display.level is None  # shares of a vote have no margin
    assert [t.get_text() for t in display.ax_.get_legend().get_texts()][:3] == ["0", "1", "2"]


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        LinearSVC(),
        SVC(kernel="linear", decision_function_shape="ovo"),
        SVC(),
        KNeighborsClassifier(3),
        RandomForestClassifier(5, random_state=0),
        make_pipeline(StandardScaler(), sx.Perceptron()),
        sx.LinearProgram(),
        sx.MaxMargin(),
        sx.SoftMargin(),
    ],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_any_classifier_is_drawn_as_it_predicts(model, n_classes, separable, three_classes):
    X, y = separable if n_classes == 2 else three_classes
    model.fit(X, y)
    display = Regions.from_estimator(model, X, y)
    wrong = np.flatnonzero(model.predict(X) != y)
    assert np.isin(wrong, display.errors).all()
    assert len(display.points_) == n_classes
    # The color under a point is that of its predicted class: asked of the contours themselves.
    left, right, bottom, top = display.box_
    probes = np.random.default_rng(0).uniform([left, bottom], [right, top], (200, 2))
    predicted = np.searchsorted(model.classes_, model.predict(probes))
    agree = 0
    for label, region in enumerate(display.regions_):
        inside = np.zeros(len(probes), dtype=bool)
        for path in region.get_paths():
            inside |= path.contains_points(probes)
        agree += int((inside & (predicted == label)).sum())
    assert agree >= 180


def test_frames_keep_their_names_and_need_no_arrays(three_classes):
    X, y = three_classes
    for frame in (pd.DataFrame(X, columns=["long", "wide"]), pl.DataFrame(X, schema=["long", "wide"])):
        model = sx.Perceptron().fit(frame, y)
        display = Regions.from_estimator(model, frame, y)
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("long", "wide")
        Regions.from_estimator(KNeighborsClassifier().fit(frame, y), frame, y)  # warns if names are lost


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_points_as_small_as_floats_can_be_have_a_picture():
    X, y = np.array([[5e-324], [1e-323], [0.0]]), [0, 1, 0]
    model = sx.Perceptron(order="cyclic", max_iter=3, trace=True).fit(X, y)
    shown = sx.plot.RunDisplay.from_estimator(model, X, y)
    left, right = shown.ax_.get_xlim()
    assert left < 0.0 < right
    found = sx.plot.ErrorsDisplay.from_data(X, [1, 0, 0]).found
    assert found.upper == 1


def test_one_column_is_a_line():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["a", "a", "b", "b"]
    display = Regions.from_estimator(sx.MaxMargin().fit(X, y), X, y)
    assert vertices(display.boundary_)[:, 0] == pytest.approx(1.5)


@pytest.mark.parametrize("sparse", [False, True])
def test_projection_shows_the_distance_to_the_plane_and_the_widest_direction_across(sparse):
    problem = sx.datasets.make_separable(200, 7, margin=0.05, random_state=1)
    X, y = problem.X * [1, 2, 3, 4, 5, 6, 7], problem.y
    table = csr_array(X) if sparse else X
    model = sx.Perceptron(order="cyclic", max_iter=3000).fit(table, y)
    display = Regions.from_estimator(model, table, y)
    first, second = display.plane.directions
    length = np.linalg.norm(model.coef_)
    places = display.plane.place(table)
    assert places[:, 0] * length + model.intercept_ == pytest.approx(model.decision_function(table))
    assert display.plane.exact
    assert np.array([first @ first, second @ second, first @ second]) == pytest.approx([1, 1, 0], abs=1e-9)
    across = X - X.mean(axis=0)
    across -= np.outer(across @ first, first)
    best = np.linalg.svd(across, full_matrices=False)[2][0]
    assert abs(best @ second) == pytest.approx(1, abs=1e-3)
    x = vertices(display.boundary_)[:, 0]
    assert x == pytest.approx(-model.intercept_[0] / length)


def test_projections_of_what_is_not_linear_say_that_they_are_slices():
    X, y = sx.datasets.make_separable(150, 5, margin=0.1, random_state=1)
    display = Regions.from_estimator(SVC().fit(X, y), X, y)
    assert not display.plane.exact
    assert any("slice" in text.get_text() for text in display.ax_.texts)
    X, y = sx.datasets.make_multiclass(150, 6, n_classes=3, margin=0.05, random_state=1)
    # The differences of three weight vectors span a plane, so nothing is lost.
    assert Regions.from_estimator(sx.Perceptron().fit(X, y), X, y).plane.exact
    X, y = sx.datasets.make_multiclass(150, 6, n_classes=5, margin=0.01, random_state=1)
    assert not Regions.from_estimator(sx.SoftMargin().fit(X, y), X, y).plane.exact


@pytest.mark.parametrize("n_columns", [2, 30])
def test_ten_thousand_points_take_less_than_two_seconds(n_columns):
    X, y = sx.datasets.make_separable(10_000, n_columns, margin=0.05, random_state=0)
    model = sx.Perceptron().fit(X, y)
    Regions.from_estimator(model, X[:100], y[:100])  # fonts and the like, once
    start = time.process_time()
    display = Regions.from_estimator(model, X, y)
    display.figure_.savefig(io.BytesIO(), format="png")
    assert time.process_time() - start < 2.0


def test_a_display_draws_on_axes_that_are_given(separable):
    X, y = separable
    figure, axes = plt.subplots(1, 2)
    display = Regions.from_estimator(sx.MaxMargin().fit(X, y), X, y, ax=axes[0], title="here", legend=False)
    assert display.ax_ is axes[0]
    assert display.figure_ is figure
    assert axes[0].get_title(loc="left") == "here"
    again = display.plot(ax=axes[1])
    assert again.ax_ is axes[1]


# --- runs ---


@pytest.mark.parametrize("order", ["cyclic", "worst", "working_set"])
def test_a_run_shows_the_pick_and_the_weights_before_and_after(separable, order):
    X, y = separable
    model = sx.Perceptron(order=order, trace=True, random_state=0).fit(X, y)
    trace = model.result_.trace
    run = Run.from_estimator(model, X, y)
    for step in range(1, run.n_updates + 1):
        run.show(step)
        row = trace.rows[step - 1]
        assert same_points(drawn(run.pick_), X[[row]])
        title = run.ax_.get_title(loc="left")
        assert title.startswith(f"update {step} of {model.mistakes_}\nrow {row + 1} of ")
        vectors = [np.array(arrow.xy) - np.array(arrow.xyann) for arrow in run.arrows_]
        before = vectors[0] if step > 1 else 0.0
        assert before + vectors[-1] == pytest.approx(vectors[-2])
        w = trace.weights[step - 1]
        if run.boundary_:
            assert vertices(run.boundary_) @ w[:2] + w[2] == pytest.approx(0, abs=1e-9)
    assert run.weights[-1, 1] == pytest.approx(model.coef_[0])


def test_the_length_of_the_weights_stays_between_the_two_curves_of_the_proof(separable, three_classes):
    for X, y in (separable, three_classes):
        for rate in (1.0, 0.3):
            model = sx.Perceptron(order="cyclic", trace=True, eta0=rate).fit(X, y)
            run = Run.from_estimator(model, X, y)
            t = np.arange(len(run.norms))
            assert (run.norms >= run.proof.margin * t - 1e-9).all()
            assert (run.norms <= run.proof.radius * np.sqrt(t) + 1e-9).all()
            meet = (run.proof.radius / run.proof.margin) ** 2
            assert meet == pytest.approx(run.proof.bound, rel=1e-5)
            assert run.n_updates <= run.proof.bound
            assert run.bound_line_.get_xdata()[0] == run.proof.bound
            assert run.path_.get_ydata() == pytest.approx(run.norms[1:])
            assert f"of at most {int(run.proof.bound)}" in run.length_ax_.get_title(loc="left")


def test_where_no_bound_holds_none_is_drawn(separable, overlapping):
    X, y = separable
    with pytest.warns(sx.errors.ConvergenceWarning):
        renormalised = sx.Perceptron(order="cyclic", trace=True, renormalise=True, max_iter=3).fit(X, y)
    proof = Run.from_estimator(renormalised, X, y).proof
    assert (proof.bound, proof.radius, proof.margin) == (None, None, None)
    weighed = sx.Perceptron(order="cyclic", trace=True).fit(X, y, sample_weight=np.linspace(1, 2, len(y)))
    assert Run.from_estimator(weighed, X, y).proof.bound is None
    started = sx.Perceptron(order="cyclic", trace=True, init="random", random_state=0).fit(X, y)
    run = Run.from_estimator(started, X, y)
    assert run.proof.margin is None
    assert run.n_updates <= run.proof.bound
    X, y = overlapping
    with pytest.warns(sx.errors.ConvergenceWarning):
        model = sx.Perceptron(order="cyclic", trace=True, max_iter=5).fit(X, y)
    run = Run.from_estimator(model, X, y)
    assert run.n_updates <= run.proof.bound
    assert "hinge" in run.proof.name
    assert run.proof.margin is None


def test_a_run_of_many_columns_and_classes_is_projected():
    X, y = sx.datasets.make_multiclass(80, 6, n_classes=4, margin=0.03, random_state=0)
    model = sx.Perceptron(order="cyclic", trace=True, max_iter=2000).fit(X, y)
    run = Run.from_estimator(model, X, y, step=2)
    assert run.weights.shape == (model.mistakes_ + 1, 4, 2)
    assert 0 < len(run.regions_) <= 4
    _, ax = sx.plot.new_figure("dark")
    assert run.plot(1, ax=ax).length_ax_ is None


def test_films_are_whole_and_play_without_a_network(separable, traced, tmp_path):
    run = Run.from_estimator(traced, *separable, theme="dark")
    run.save(tmp_path / "run.gif", fps=4, dpi=50, max_frames=5)
    with Image.open(tmp_path / "run.gif") as film:
        assert film.n_frames == 5
        assert film.info["duration"] == 250
        assert film.convert("RGB").getpixel((0, 0)) == pytest.approx(
            [round(255 * v) for v in to_rgb(DARK.paper)], abs=6
        )
    run.save(tmp_path / "run.html", dpi=50, max_frames=3)
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    frames = re.findall(r'"(iVBOR[^"]*)"', page)
    assert len(frames) == 3
    assert "http" not in page
    assert not re.search(r"<(link|script|img)[^>]*(src|href)=", page)
    assert "frames" in run.film(dpi=40, max_frames=2)._repr_html_()
    assert run.steps(4)[0] == 0
    assert run.steps(4)[-1] == traced.mistakes_
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.gif", "run.html"]


def test_films_say_what_they_cannot_do(separable, traced, tmp_path, monkeypatch):
    run = Run.from_estimator(traced, *separable)
    monkeypatch.setattr(FFMpegWriter, "isAvailable", lambda: False)
    for name, message in (
        ("run.mp4", "ffmpeg"),
        ("run.avi", ".gif, .html, .mp4"),
        (".", ".gif, .html, .mp4"),
    ):
        with pytest.raises(InputError, match=message):
            run.save(tmp_path / name)
    (tmp_path / "dir.gif").mkdir()
    with pytest.raises(OutputError, match="is a directory"):
        run.save(tmp_path / "dir.gif")
    with pytest.raises(OutputError, match="does not exist"):
        run.save(tmp_path / "no" / "run.gif")
    with pytest.raises(InputError, match="two frames"):
        run.save(tmp_path / "run.gif", max_frames=1)
    with pytest.raises(InputError, match="fps"):
        run.save(tmp_path / "run.gif", fps=0)
    old = tmp_path / "old.gif"
    old.write_bytes(b"old")
    monkeypatch.setattr(Figure, "draw", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run.save(old)
    assert old.read_bytes() == b"old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dir.gif", "old.gif"]


def test_mp4_hands_every_picture_to_ffmpeg(separable, traced, tmp_path, monkeypatch):
    fake, script = tmp_path / "ffmpeg", tmp_path / "count.py"
    script.write_text(
        "import sys\n"
        "data = sys.stdin.buffer.read()\n"
        "assert sys.argv[-4:-2] == ['-f', 'mp4'] and sys.argv[-2] == '-y', sys.argv\n"
        "open(sys.argv[-1], 'w').write(f'{len(data)}')\n"
    )
    fake.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(script))} "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setitem(mpl.rcParams, "animation.ffmpeg_path", str(fake))
    run = Run.from_estimator(traced, *separable)
    run.save(tmp_path / "run.mp4", dpi=50, max_frames=3, fps=4)
    width, height, held = round(9.0 * 50), round(4.2 * 50), 2 * 4  # the end is held for two seconds
    assert int((tmp_path / "run.mp4").read_text()) == (3 + held) * 4 * width * height


# --- brackets ---


def test_the_bracket_closes_around_the_margin_and_ends_where_the_run_did(three_classes):
    problem = sx.datasets.make_separable(80, margin=0.15, random_state=3)
    for X, y, margin in ((problem.X, problem.y, problem.margin), (*three_classes, None)):
        model = sx.Perceptron(order="cyclic", trace=True, eta0=0.5).fit(X, y)
        result = model.result_
        display = Bracket.from_estimator(model, X, y, margin=margin)
        assert len(display.times) == model.mistakes_
        assert (np.diff(display.lower) >= 0).all()
        assert (np.diff(display.upper) <= 0).all()
        assert display.lower[-1] == pytest.approx(result.margin_lower)
        assert display.upper[-1] <= result.margin_upper * (1 + 1e-12)
        if margin is not None:
            assert (display.lower <= margin * (1 + 1e-12)).all()
            assert (display.upper >= margin * (1 - 1e-12)).all()
            assert display.margin_line_.get_ydata()[0] == margin
        assert display.upper_line_.get_ydata()[:-1] == pytest.approx(display.upper)
        shown = np.asarray(display.lower_line_.get_ydata())[:-1]
        assert np.array_equal(np.isnan(shown), display.lower <= 0)


def test_the_bracket_of_readings_needs_no_data(separable, overlapping):
    model = sx.Perceptron(order="cyclic").fit(*separable)
    display = Bracket.from_estimator(model)
    assert len(display.times) == len(model.result_.history)
    assert display.lower[-1] == model.result_.margin_lower
    with pytest.warns(sx.errors.ConvergenceWarning):
        model = sx.Perceptron(order="cyclic", max_iter=3).fit(*overlapping)
    texts = [text.get_text() for text in Bracket.from_estimator(model).ax_.texts]
    assert texts == ["no separator was found: no lower bound above zero"]


# --- hulls ---


def test_the_hulls_share_the_exact_point_of_the_verdict(overlapping):
    X, y = overlapping
    verdict = sx.separability(X, y)
    display = Hulls.from_verdict(verdict, X, y)
    exact = sx.geometry.common_point(X, y, verdict.witness_rows)
    assert display.common == exact
    point = np.array([[float(value) for value in exact]])
    assert drawn(display.common_point_) == pytest.approx(point)
    for label, hull, small in zip((-1, 1), display.hulls_, display.witness_hulls_, strict=True):
        corners = hull.get_paths()[0].vertices
        for rows in (X[y == label], point):
            assert (
                Path(corners).contains_points(rows, radius=1e-9).all()
                or Path(corners).contains_points(rows, radius=-1e-9).all()
            )
        witnesses = [row for row in verdict.witness_rows if y[row] == label]
        assert same_points(small.get_paths()[0].vertices[: len(witnesses)], X[witnesses])


def test_hulls_that_are_apart_show_twice_the_margin(separable):
    X, y = separable
    display = Hulls.from_data(X, y)
    ends = np.column_stack(display.gap_line_.get_data())
    assert np.linalg.norm(ends[0] - ends[1]) == pytest.approx(2 * separable.margin)
    assert display.common_point_ is None
    X, y = sx.datasets.make_separable(100, 5, margin=0.1, random_state=0)
    display = Hulls.from_data(X, y)
    ends = np.column_stack(display.gap_line_.get_data())
    assert ends[1] - ends[0] == pytest.approx([0.2, 0.0], abs=1e-7)  # nothing of its length is lost


def test_a_point_in_many_dimensions_is_projected():
    X, y = sx.datasets.make_overlapping(100, 6, noise=0.0, random_state=1)
    display = Hulls.from_data(X, y)
    exact = np.array([[float(value) for value in display.common]])
    assert drawn(display.common_point_) == pytest.approx(display.plane.place(exact))


def test_two_points_and_crossing_segments_have_hulls_too():
    display = Hulls.from_data([[0.0, 0.0], [1.0, 1.0]], ["a", "b"])
    assert [len(h.get_paths()[0].vertices) > 0 for h in display.hulls_] == [True, True]
    assert [str(v) for v in Hulls.from_data(*sx.datasets.make_xor()).common] == ["0", "0"]
    assert "(0, 0)" in Hulls.from_data(*sx.datasets.make_xor()).ax_.get_legend().get_texts()[-1].get_text()


def test_the_bracket_of_weighed_rows_is_not_drawn_after_each_mistake(separable):
    """It divided by mistakes: of rows that weigh a tenth, the upper bound came out a tenth as large."""
    X, y = separable
    model = sx.Perceptron(order="cyclic", trace=True).fit(X, y, sample_weight=np.full(len(y), 0.1))
    with pytest.raises(InputError, match="sample_weight"):
        Bracket.from_estimator(model, X, y)


# --- bad input ---


def test_three_classes_where_two_are_needed(three_classes):
    X, y = three_classes
    for draw in (
        lambda: Hulls.from_data(X, y),
        lambda: Hulls.from_verdict(sx.separability(X, y), X, y),
    ):
        with pytest.raises(LabelError, match=r"needs two classes. Got 3: 0, 1, 2"):
            draw()


def test_a_run_without_a_trace_says_how_to_keep_one(separable):
    X, y = separable
    model = sx.Perceptron(order="cyclic").fit(X, y)
    for draw in (
        lambda: Run.from_estimator(model, X, y),
        lambda: Bracket.from_estimator(model, X, y),
        lambda: trace_of(model.result_, Trace),
    ):
        with pytest.raises(InputError, match=r"trace=True"):
            draw()
    online = sx.Perceptron(trace=True).partial_fit(X, y, classes=[-1, 1])
    with pytest.raises(InputError, match="partial_fit"):
        Run.from_estimator(online, X, y)


def test_models_that_are_not_fitted_or_no_classifiers(separable):
    X, y = separable
    for draw in (Regions.from_estimator, Run.from_estimator, Bracket.from_estimator):
        with pytest.raises(NotFittedError):
            draw(sx.Perceptron(trace=True), X, y)
    with pytest.raises(InputTypeError, match="no classes_"):
        Regions.from_estimator(LinearRegression().fit(X, y), X, y)
    with pytest.raises(InputTypeError, match="no predict"):
        Regions.from_estimator(X, X, y)
    with pytest.raises(InputTypeError, match="MaxMargin"):
        Run.from_estimator(sx.MaxMargin().fit(X, y), X, y)
    with pytest.raises(InputTypeError, match="history"):
        Bracket.from_estimator(sx.MaxMargin().fit(X, y))
    with pytest.raises(InputTypeError, match="Verdict"):
        Hulls.from_verdict("separable", X, y)


def test_data_and_options_that_do_not_fit(separable, traced):
    X, y = separable
    missing = X.copy()
    missing[0, 0] = np.nan
    through_origin = sx.separability(X, y, fit_intercept=False)
    for message, draw in (
        ("59 labels", lambda: Regions.from_estimator(traced, X, y[:-1])),
        ("contains NaN: row 0", lambda: Regions.from_estimator(traced, missing, y)),
        ("not be empty", lambda: Regions.from_estimator(traced, missing[:0], y[:0])),
        ("two dimensions", lambda: Regions.from_estimator(traced, X[0], y)),
        ("not among the classes", lambda: Regions.from_estimator(traced, X, y + 5)),
        ("point_sizes must be", lambda: Regions.from_estimator(traced, X, y, point_sizes="huge")),
        ("band must be", lambda: Regions.from_estimator(traced, X, y, band=-1.0)),
        ("band must be", lambda: Regions.from_estimator(traced, X, y, band="wide")),
        (
            "MaxMargin does not",
            lambda: Regions.from_estimator(sx.MaxMargin().fit(X, y), X, y, point_sizes="mistakes"),
        ),
        (
            "fitted on 60 rows",
            lambda: Regions.from_estimator(traced, X[1:], y[1:], point_sizes="mistakes"),
        ),
        ("fitted on 60 rows", lambda: Run.from_estimator(traced, X[1:], y[1:])),
        ("fitted on 60 rows", lambda: Bracket.from_estimator(traced, X[1:], y[1:])),
        ("step must be", lambda: Run.from_estimator(traced, X, y, step=10_000)),
        ("through the origin", lambda: Hulls.from_verdict(through_origin, X, y)),
    ):
        with pytest.raises(InputError, match=message):
            draw()


# --- notebooks ---


class Checker(HTMLParser):
    """Collects the text and refuses tags that are not closed."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.tags = [], [], set()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read_html(thing):
    page = thing._repr_html_()
    checker = Checker()
    checker.feed(page)
    assert not checker.open
    assert not checker.tags & {"script", "style", "img", "link"}
    # Colours come from the page, or a dark notebook would be unreadable.
    assert set(re.findall(r"[a-z-]*color:[^;\"]*|stroke=\"[^\"]*\"", page)) <= {
        "color:inherit",
        'stroke="currentColor"',
    }
    assert len(page) < 20_000
    return " ".join(checker.text)


def test_answers_read_well_in_a_notebook(separable, traced, overlapping):
    X, y = separable
    assert "Novikoff" in read_html(sx.mistake_bounds(traced, X, y))
    assert "relative gap" in read_html(sx.MaxMargin().fit(X, y).optimum_)
    assert "objective" in read_html(sx.SoftMargin().fit(X, y).optimum_)
    X, y = overlapping
    assert "overlapping" in read_html(sx.separability(X, y))


def test_labels_are_escaped_in_a_notebook(separable):
    X, y = separable
    labels = np.where(y > 0, "<script>alert(1)</script>", "a & b")
    verdict = sx.separability(X, labels)
    assert "<script>alert(1)</script>" in read_html(verdict)  # as text, after unescaping
    assert "<script" not in verdict._repr_html_()
    many = sx.separability(np.arange(30.0)[:, None], np.arange(30) % 10, multiclass="pairwise")
    assert "25 more" in read_html(many)


def test_a_proof_by_cycle_is_named():
    with pytest.warns(sx.errors.ConvergenceWarning):
        model = sx.Perceptron(order="cyclic", trace=True).fit(*sx.datasets.make_xor())
    assert model.result_.cycle is not None
    assert "inseparable" in repr(model.result_)


# --- kernels ---


@pytest.mark.parametrize("n_classes", [2, 3])
def test_kernel_models_are_drawn_as_they_predict(n_classes, three_classes):
    X, y = sx.datasets.make_rings(60, 2, random_state=0) if n_classes == 2 else three_classes
    for model in (sx.KernelPerceptron(kernel="rbf"), sx.MaxMargin(kernel="rbf")):
        model.fit(X, y)
        display = Regions.from_estimator(model, X, y)
        assert not display.model.linear
        assert display.level > 0
        lines = vertices(display.boundary_)
        scores = np.atleast_2d(model.decision_function(lines).T).T
        best = np.sort(scores, axis=1) if n_classes > 2 else np.column_stack([0 * scores[:, 0], scores[:, 0]])
        spread = np.ptp(model.decision_function(X))
        # Between grid points the lines are straight and the scores are not: nearly tied is all there is.
        assert np.quantile(np.abs(best[:, -1] - best[:, -2]), 0.9) < 0.03 * spread
    sized = Regions.from_estimator(sx.KernelPerceptron(kernel="rbf").fit(X, y), X, y, point_sizes="mistakes")
    assert sized.mistakes.sum() > 0


def test_the_bracket_of_a_kernel_run():
    X, y = sx.datasets.make_rings(60, 2, random_state=0)
    model = sx.KernelPerceptron(kernel=sx.kernels.Gaussian(c=1.0)).fit(X, y)
    display = Bracket.from_estimator(model)
    assert display.upper[-1] == pytest.approx(model.result_.margin_upper)
    with pytest.raises(InputError, match="trace=True"):
        Bracket.from_estimator(model, X, y)


# --- distances ---


@settings(max_examples=20, deadline=None)
@example(points=np.full((3, 2), -9.0), weights=(3, -2), intercept=9)  # on the line, up to rounding
@example(points=np.full((3, 2), -7.0), weights=(-2, 3), intercept=7)
@given(
    points=hnp.arrays(float, (3, 2), elements=st.integers(-9, 9)),
    weights=st.tuples(st.integers(-5, 5), st.integers(-5, 5)).filter(any),
    intercept=st.integers(-9, 9),
)
def test_distances_are_drawn_at_right_angles_and_no_other_point_of_the_line_is_nearer(
    points, weights, intercept
):
    display = sx.plot.distance(points, weights, intercept)
    w = np.array(weights, dtype=float)
    on_line = np.vstack([display.projections, display.other])
    np.testing.assert_allclose(on_line @ w + intercept, 0.0, atol=1e-9)
    along = np.array([-w[1], w[0]])
    np.testing.assert_allclose((points - display.projections) @ along, 0.0, atol=1e-8)
    np.testing.assert_allclose(display.distances, (points @ w + intercept) / np.hypot(*w), atol=1e-12)
    for line, point, foot in zip(display.segments_, points, display.projections, strict=True):
        np.testing.assert_allclose(line.get_xydata(), [point, foot])
    r = np.linalg.norm(points[0] - display.other)
    assert r > np.linalg.norm(points[0] - display.projections[0])
    plt.close(display.figure_)


def test_distances_of_more_than_two_columns_are_refused_with_what_to_use():
    with pytest.raises(InputError, match="two columns") as raised:
        sx.plot.distance([[1.0, 2.0, 3.0]], [1.0, 2.0, 3.0])
    assert "sx.geometry.distance" in raised.value.remedy


# --- the gallery ---


def test_the_gallery_shows_the_code_that_drew_it():
    home = FilePath(__file__).parents[2]
    source = runpy.run_path(str(home / "examples" / "gallery.py"))
    assert (home / "docs" / "gallery.md").read_text(encoding="utf-8") == source["page"]()
    files = {path.name: path.stat().st_size for path in (home / "docs" / "gallery").iterdir()}
    assert set(re.findall(r"gallery/([\w.-]+)", source["page"]())) - {"gallery.py"} == set(files)
    assert sum(files.values()) < 1_000_000


@pytest.mark.slow
def test_the_gallery_can_be_drawn_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    home = FilePath(__file__).parents[2]
    with warnings.catch_warnings():
        runpy.run_path(str(home / "examples" / "gallery.py"))["main"](tmp_path)
    drawn_again = {path.name for path in (tmp_path / "gallery").iterdir()}
    assert drawn_again == {path.name for path in (home / "docs" / "gallery").iterdir()}


@pytest.mark.parametrize(("lower", "upper"), [(0.3, 0.8), (0.51, 0.52), (0.15, 8.0), (1e-6, 2.0)])
def test_a_narrow_bracket_has_ticks(lower, upper):
    """Also where no power of ten lies inside it."""
    times = np.arange(1.0, 6.0)
    display = sx.plot.BracketDisplay(times, np.full(5, lower), np.full(5, upper), "mistakes").plot()
    display.figure_.canvas.draw()
    low, high = display.ax_.get_ylim()
    ticks = [each for each in display.ax_.get_yticks() if low <= each <= high]
    shown = [each.get_text() for each in display.ax_.get_yticklabels() if each.get_text()]
    assert 2 <= len(ticks) <= 12
    assert len(set(shown)) == len(shown)


def test_the_fewest_errors_show_the_wrong_rows_and_a_polygon_for_each_witness():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, (40, 2))
    y = (X @ [1.0, 0.6] > 0).astype(int)
    y[[0, 2]] = 1 - y[[0, 2]]
    display = sx.plot.ErrorsDisplay.from_data(X, y)
    found = display.found
    assert len(display.witnesses_.get_paths()) == len(found.certificate.witnesses)
    np.testing.assert_array_equal(display.wrong_points_.get_offsets(), X[found.wrong_rows])
    scores = display._scores(X)
    assert set(np.flatnonzero(scores.argmax(axis=1) != y)) == set(found.wrong_rows.tolist())
    assert display.lower_line_.get_ydata()[-1] == found.lower
    assert display.upper_line_.get_ydata()[-1] == found.upper
    with pytest.raises(InputError, match="one or two columns"):
        sx.plot.ErrorsDisplay.from_fewest(found, rng.standard_normal((40, 3)), y)
