"""Draw the README's picture: a run of the perceptron, and the two curves that it cannot leave.

python -m examples.readme_picture        # writes docs/readme/run-light.png and run-dark.png
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

import separatrix as sx

FOLDER = Path(__file__).parent.parent / "docs" / "readme"


def draw(folder: Path = FOLDER) -> list[Path]:
    """The picture in both themes; the same bytes every time."""
    mpl.use("Agg")
    problem = sx.datasets.make_separable(80, margin=0.02, random_state=13)
    model = sx.Perceptron(order="cyclic", fit_intercept=False, trace=True, max_iter=1000)
    model.fit(problem.X, problem.y)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for theme in ("light", "dark"):
        path = folder / f"run-{theme}.png"
        display = sx.plot.RunDisplay.from_estimator(model, problem.X, problem.y, theme=theme)
        display.figure_.savefig(path, dpi=110, metadata={"Software": None})
        written.append(path)
    return written


if __name__ == "__main__":
    for each in draw():
        print(each)
