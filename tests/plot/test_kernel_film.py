"""Laws of the film of a kernel perceptron's run."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

import separatrix as sx
from separatrix.errors import InputError
from separatrix.plot.film import after
from separatrix.views.palettes import THEMES

X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
Y = np.array([0, 0, 1, 1])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("way", [{}, {"average": True}, {"budget": 4}], ids=str)
def test_the_model_after_so_many_updates_is_that_of_a_run_that_stops_there(n_classes, way):
    rng = np.random.default_rng(0)
    rows, labels = rng.standard_normal((20, 2)), np.arange(20) % n_classes
    options = {"kernel": "rbf", "max_iter": 4, **{k: v for k, v in way.items() if k != "average"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = sx.KernelPerceptron(trace=True, **{**options, **way}).fit(rows, labels)
        for step in (1, 5, whole.mistakes_):
            short = sx.KernelPerceptron(max_updates=step, **options).fit(rows, labels)
            then = after(whole, step)
            assert then.decision_function(rows) == pytest.approx(short.decision_function(rows), abs=1e-12)
            assert set(then.support_) <= set(short.support_)


def test_a_film_has_a_picture_for_each_update_or_as_many_as_asked_for(tmp_path):
    model = sx.KernelPerceptron("poly", degree=2, trace=True).fit(X, Y)
    film = sx.plot.kernel_film(model, X, Y, dpi=40, max_frames=3, resolution=20)
    assert film.count == 3
    film.save(tmp_path / "run.gif")
    with Image.open(tmp_path / "run.gif") as image:
        assert image.n_frames == 3
    film.save(tmp_path / "run.html")
    assert "kernel perceptron" in (tmp_path / "run.html").read_text("utf-8")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_picture_has_the_colours_of_its_theme(theme):
    model = sx.KernelPerceptron("poly", degree=2, trace=True).fit(X, Y)
    for figure in sx.plot.kernel_film(model, X, Y, theme=theme, resolution=20).pictures():
        FigureCanvasAgg(figure).draw()
        (axes,) = figure.axes
        words = [axes.xaxis.label, axes.yaxis.label, *axes.get_xticklabels(), *axes.get_yticklabels()]
        assert {word.get_color() for word in words} <= {THEMES[theme].ink, THEMES[theme].muted}


@pytest.mark.parametrize("options", [{}, {"budget": 3}])
def test_a_run_that_was_not_kept_has_no_film(options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sx.KernelPerceptron(**options).fit(X, Y)
    with pytest.raises(InputError, match=r"trace=True"):
        sx.plot.kernel_film(model, X, Y)
    with pytest.raises(InputError, match=r"trace=True"):
        sx.plot.kernel_film(sx.KernelPerceptron(trace=True), X, Y)
