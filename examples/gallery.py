"""Draw the gallery: ``python examples/gallery.py`` writes docs/gallery.md and the pictures beside it.

Every function here draws one picture. The page shows its docstring as text and its body as code.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from PIL import Image

import separatrix as sx

THEMES = ("light", "dark")
HEAD = """\
# Gallery

This page shows every kind of picture that `sx.plot` draws, with its code. `python examples/gallery.py`
writes the page. The pictures have a light and a dark version, and classes differ in marker as well as in
color. To install what is needed, run `pip install '.[plot]'`. All displays accept `ax=` to draw on your own
axes, and `theme="light"` or `"dark"`. They keep what they drew in attributes that end in an underscore.
Legends are next to the axes if the figure makes room for them, as with `plt.subplots(layout="compressed")`.

```python
import numpy as np
import separatrix as sx
```
"""


def largest_margin():
    """The largest margin.

    The band between the classes is as wide as possible. The circled rows are the support vectors. If
    scores are linear, as here, the boundary is drawn exactly; otherwise it is computed on a grid.
    """
    X, y = sx.datasets.make_separable(80, margin=0.12, intercept=0.2, random_state=3)
    model = sx.MaxMargin().fit(X, y)
    return sx.plot.DecisionRegionDisplay.from_estimator(model, X, y)


def hard_points():
    """Mistakes per row.

    The size of a point shows how often its row was corrected. The smallest dots were never corrected.
    """
    X, y = sx.datasets.make_separable(200, margin=0.02, random_state=5)
    model = sx.Perceptron().fit(X, y)
    return sx.plot.DecisionRegionDisplay.from_estimator(model, X, y, point_sizes="mistakes")


def soft_margin():
    """Classes that overlap.

    Rows on the wrong side are crossed out. Rows inside the band, or on the wrong side, have a positive
    hinge loss.
    """
    X, y = sx.datasets.make_overlapping(120, noise=0.08, random_state=1)
    model = sx.SoftMargin(C=10).fit(X, y)
    return sx.plot.DecisionRegionDisplay.from_estimator(model, X, y)


def many_classes():
    """Many classes, one weight vector each.

    The arrows are the weight vectors minus their mean. Each region belongs to the class with the largest
    score.
    """
    X, y = sx.datasets.make_multiclass(150, 2, n_classes=4, margin=0.02, random_state=2)
    model = sx.Perceptron().fit(X, y)
    return sx.plot.DecisionRegionDisplay.from_estimator(model, X, y)


def kernel_regions():
    """Kernels, and any classifier of scikit-learn.

    The scores of a classifier are computed on a grid. Here the kernel perceptron separates a disk from
    the ring around it.
    """
    X, y = sx.datasets.make_rings(120, 2, random_state=0)
    model = sx.KernelPerceptron(kernel=sx.kernels.Gaussian(c=1.0)).fit(X, y)
    return sx.plot.DecisionRegionDisplay.from_estimator(model, X, y)


def many_columns():
    """More than two columns.

    The picture projects 10,000 rows of 30 columns onto the weights and onto the widest direction orthogonal
    to them, so distances from the hyperplane are to scale.
    """
    X, y = sx.datasets.make_separable(10_000, 30, margin=0.05, random_state=0)
    model = sx.MaxMargin().fit(X, y)
    return sx.plot.DecisionRegionDisplay.from_estimator(model, X, y)


def one_update():
    """One update of a run.

    The left side shows the row that was picked, the weights before and after, and the boundary. The right
    side shows Novikoff's proof for a run from zero: after t mistakes, the length of the weights is at least
    the dashed line and at most the solid line, so no run can continue beyond the point where they cross.
    """
    X, y = sx.datasets.make_separable(40, margin=0.15, intercept=0.2, random_state=3)
    model = sx.Perceptron(order="cyclic", trace=True).fit(X, y)
    return sx.plot.RunDisplay.from_estimator(model, X, y, step=5)


def whole_run():
    """The whole run as an animation.

    You can save it as `.gif`, as `.html` (a player that needs no network) or, with ffmpeg, as `.mp4`. In a
    notebook, `run.film()` plays it.
    """
    X, y = sx.datasets.make_separable(40, margin=0.15, intercept=0.2, random_state=3)
    model = sx.Perceptron(order="cyclic", trace=True).fit(X, y)
    run = sx.plot.RunDisplay.from_estimator(model, X, y)
    run.save("whole_run.gif", fps=1.5)
    return run


def bracket():
    """The margin bracket narrows.

    The mistake counts prove an upper bound on every margin, and weights that separate the rows prove a
    lower bound. The plot shows the best of each so far.
    """
    problem = sx.datasets.make_separable(300, 2, margin=0.02, random_state=0)
    model = sx.Perceptron(order="cyclic", trace=True).fit(problem.X, problem.y)
    return sx.plot.BracketDisplay.from_estimator(model, problem.X, problem.y, margin=problem.margin)


def hulls_that_meet():
    """No line separates these rows: the hulls share a point.

    The circled rows prove it. The star is a weighted mean of the circled rows of each class, and the two
    means are equal as exact fractions.
    """
    X = np.array([[0, 5], [1, 2], [7, 0], [4, 2], [3, 7], [1, 6], [5, 0], [7, 1]])
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    return sx.plot.HullDisplay.from_data(X, y)


def hulls_apart():
    """These rows can be separated: there is a gap between the hulls.

    The plot shows the nearest points of the two hulls. The largest margin of a line with an intercept is
    half of their distance. For lines through the origin it may be smaller.
    """
    X, y = sx.datasets.make_separable(100, margin=0.1, random_state=3)
    return sx.plot.HullDisplay.from_data(X, y)


def fewest_errors():
    """The fewest errors of any line.

    The line gets the circled rows wrong. Every line gets a corner of each polygon wrong, and no two polygons
    share a corner, so that no line makes fewer errors. On the right, the two ends meet.
    """
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, (70, 2))
    y = (X @ [1.0, 0.6] > 0).astype(int)
    flipped = [5, 20, 33, 60]
    y[flipped] = 1 - y[flipped]
    return sx.plot.ErrorsDisplay.from_data(X, y)


def distances():
    """The distance from a hyperplane.

    Each point is joined to its projection. The dashed triangle is the proof that no other point v of the line
    is as near to u as v*.
    """
    return sx.plot.distance([[3.0, 4.0], [-1.0, 0.5], [4.0, 1.5]], weights=[1.0, 2.0], intercept=-4.0)


EXAMPLES: tuple[Callable[[], Any], ...] = (
    largest_margin,
    hard_points,
    soft_margin,
    many_classes,
    kernel_regions,
    many_columns,
    one_update,
    whole_run,
    bracket,
    hulls_that_meet,
    hulls_apart,
    fewest_errors,
    distances,
)


def page() -> str:
    """The text of docs/gallery.md."""
    return "\n".join([HEAD, *map(section, EXAMPLES)])


def section(example: Callable[[], Any]) -> str:
    """One example: its title, text, code and picture."""
    title, _, text = inspect.getdoc(example).partition("\n\n")
    source = inspect.getsource(example).partition('    """\n')[2]
    code = textwrap.dedent(source).replace("return ", "").rstrip().removesuffix("\nrun")
    name, title = example.__name__, title.rstrip(".")
    if example is whole_run:
        shown = f"![{title}](gallery/{name}.gif)"
    else:
        shown = (
            f'<picture><source media="(prefers-color-scheme: dark)" srcset="gallery/{name}-dark.png">'
            f'<img alt="{title}" src="gallery/{name}-light.png"></picture>'
        )
    return f"## {title}\n\n{text}\n\n{shown}\n\n```python\n{code}\n```\n"


def draw(example: Callable[[], Any], folder: Path) -> None:
    """The pictures of one example."""
    if example is whole_run:
        run = example()
        run.save(folder / "whole_run.gif", fps=1.5, dpi=80, theme="light")
        Path("whole_run.gif").unlink()
        plt.close(run.figure_)
        return
    for theme in THEMES:
        with mpl.rc_context(sx.plot.settings(theme)):
            display = example()
            path = folder / f"{example.__name__}-{theme}.png"
            display.figure_.savefig(path, dpi=110)
            plt.close(display.figure_)
        with Image.open(path) as picture:
            few = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        few.save(path, optimize=True)


def main(folder: Path) -> None:
    """Write the page and its pictures."""
    mpl.use("Agg")
    warnings.simplefilter("ignore", sx.errors.ConvergenceWarning)
    (folder / "gallery").mkdir(parents=True, exist_ok=True)
    for example in EXAMPLES:
        draw(example, folder / "gallery")
    (folder / "gallery.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs")
