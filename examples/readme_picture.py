"""Draw the pictures of the README and of the start page of the site.

python -m examples.readme_picture        # writes answer-*.png and run-*.png to docs/readme
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import separatrix as sx

FOLDER = Path(__file__).parent.parent / "docs" / "readme"
PATIENTS = np.array([[1, 31], [2, 45], [2, 62], [3, 29], [3, 51], [4, 47], [5, 33], [6, 58]])
RECOVERED = np.array(["no", "no", "no", "no", "yes", "yes", "yes", "yes"])


def draw(folder: Path = FOLDER) -> list[Path]:
    """Draw both pictures in both themes; the bytes are the same every time."""
    mpl.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, picture in {"answer": answer, "run": run}.items():
        for theme in ("light", "dark"):
            path = folder / f"{name}-{theme}.png"
            with mpl.rc_context(sx.plot.settings(theme)):
                figure = picture(theme)
                figure.savefig(path, dpi=110, metadata={"Software": None})
            plt.close(figure)
            written.append(path)
    return written


def answer(theme: str) -> Figure:
    """Show the README's eight patients: the line that separates them, and a regression that diverges."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    for label, marker in (("no", "o"), ("yes", "s")):
        left.plot(*PATIENTS[label == RECOVERED].T, marker, label=f"recovered: {label}")
    model = sx.MaxMargin().fit(PATIENTS, RECOVERED)
    (dose, age), intercept = model.coef_[0], model.intercept_[0]
    ages = np.array([25.0, 66.0])
    left.plot(-(intercept + age * ages) / dose, ages, color=sx.plot.palette(theme).ink)
    left.set(xlabel="dose", ylabel="age", title="A line separates the patients ...")
    left.legend(frameon=False, fontsize=8)
    estimates, errors = newton_steps(14)
    steps = np.arange(1, len(estimates) + 1)
    right.semilogy(steps, estimates, "o-", label="coefficient of dose")
    right.semilogy(steps, errors, "s--", label="its standard error")
    right.set(xlabel="Newton step of the logistic regression", xticks=steps[1::2])
    right.set_title("... so the regression has no finite estimate")
    right.legend(frameon=False, fontsize=8)
    return figure


def newton_steps(count: int) -> tuple[list[float], list[float]]:
    """Return the coefficient of dose and its standard error after each Newton step from zero."""
    design = np.column_stack([np.ones(len(PATIENTS)), PATIENTS])
    outcome, beta = RECOVERED == "yes", np.zeros(3)
    estimates, errors = [], []
    for _ in range(count):
        chance = 1 / (1 + np.exp(-design @ beta))
        information = design.T @ (design * (chance * (1 - chance))[:, None])
        beta = beta + np.linalg.solve(information, design.T @ (outcome - chance))
        estimates.append(float(beta[1]))
        errors.append(float(np.sqrt(np.linalg.inv(information)[1, 1])))
    return estimates, errors


def run(theme: str) -> Figure:
    """Show a run of the perceptron, and the two curves that it stays between."""
    problem = sx.datasets.make_separable(80, margin=0.02, random_state=13)
    model = sx.Perceptron(order="cyclic", fit_intercept=False, trace=True, max_iter=1000)
    model.fit(problem.X, problem.y)
    return sx.plot.RunDisplay.from_estimator(model, problem.X, problem.y, theme=theme).figure_


if __name__ == "__main__":
    for each in draw():
        print(each)
