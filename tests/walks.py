"""Three new users walk from the built wheel to their answer, each in a clean environment with one extra.

python tests/walks.py [biostatistician] [engineer] [lecturer]      # needs pip and packages; `make test-walks`
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import venv

ROOT = pathlib.Path(__file__).parent.parent
BIN = "Scripts" if os.name == "nt" else "bin"
PATIENTS = """dose,age,ward,recovered
1,31,a,no
2,45,b,no
2,62,a,no
3,29,b,no
3,51,a,yes
4,47,b,yes
5,33,a,yes
6,58,b,yes
"""
ENGINEER = """
import warnings
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
import separatrix as sx

X, y = load_breast_cancer(return_X_y=True)
warnings.simplefilter("ignore")
pipeline = make_pipeline(StandardScaler(), sx.Perceptron(average=True, random_state=0))
assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.93
search = GridSearchCV(make_pipeline(StandardScaler(), sx.SoftMargin()), {"softmargin__C": [0.1, 1.0]}, cv=3)
assert search.fit(X, y).best_score_ > 0.93
verdict = sx.separability(X, y)
assert verdict.separable and sx.verify(verdict.certificate, X, y).holds
pipeline.fit(X, y)
sx.write_report("report.html", X, y, model=pipeline)
assert "StandardScaler" in open("report.html", encoding="utf-8").read()
try:
    sx.Perceptron(penalty="l2")
except TypeError as problem:
    print("told:", problem)
else:
    raise AssertionError("penalty was taken")
"""
LECTURER = """
import separatrix as sx

X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
assert sx.separability(X, y).status == "overlapping"
assert sx.KernelPerceptron(kernel=sx.kernels.Polynomial(degree=2)).fit(X, y).converged_
problem = sx.datasets.make_separable(60, margin=0.1, random_state=0)
model = sx.Perceptron(order="cyclic", trace=True).fit(problem.X, problem.y)
display = sx.plot.RunDisplay.from_estimator(model, problem.X, problem.y)
assert len(repr(display)) < 120
display.figure_.savefig("run.png")
print(sx.mistake_bounds(model, problem.X, problem.y))
"""


class Walk:
    """A clean environment with the wheel and one extra, and a folder to work in."""

    def __init__(self, wheel: pathlib.Path, extra: str, home: pathlib.Path) -> None:
        self.home = home
        venv.create(home / "venv", with_pip=True)
        self.run(self.python, "-m", "pip", "install", "--quiet", f"{wheel}[{extra}]" if extra else str(wheel))

    @property
    def python(self) -> str:
        return str(self.home / "venv" / BIN / "python")

    def run(self, *command: str, code: int = 0) -> str:
        clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        done = subprocess.run(command, cwd=self.home, env=clean, capture_output=True, text=True, timeout=1800)
        if done.returncode != code:
            sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def separatrix(self, *arguments: str, code: int = 0) -> str:
        return self.run(str(self.home / "venv" / BIN / "separatrix"), *arguments, code=code)


def biostatistician(walk: Walk) -> None:
    """A CSV, a question, a proof to send along, a report for the appendix."""
    (walk.home / "patients.csv").write_text(PATIENTS)
    said = walk.separatrix("check", "patients.csv", "--target", "recovered", "--certificate", "proof.json")
    assert said.startswith("Complete separation."), said
    for words in ("dose", "to +∞", "Firth", "logistf::logistf", "--exclude"):
        assert words in said, words
    assert "holds" in walk.separatrix("verify", "proof.json", "patients.csv")
    (walk.home / "other.csv").write_text(PATIENTS.replace("1,31", "1,32"))
    walk.separatrix("verify", "proof.json", "other.csv", code=2)
    said = walk.separatrix("check", "patients.csv", "--formula", "recovered ~ age + C(ward)")
    assert said.startswith("Overlap (a finite estimate exists)."), said
    answer = json.loads(walk.separatrix("check", "patients.csv", "-t", "recovered", "--json"))
    assert answer["separation"] == "complete separation"
    walk.separatrix("check", "patients.csv", "-t", "recovered", "--report", "report.html")
    assert "What to do" in (walk.home / "report.html").read_text("utf-8")
    walk.separatrix("check", "patients.csv", "-t", "recoverd", code=2)


def engineer(walk: Walk) -> None:
    """Pipelines, searches and cross-validation, as with any estimator."""
    said = walk.run(walk.python, "-c", ENGINEER)
    assert "told:" in said, said


def lecturer(walk: Walk) -> None:
    """XOR, a run with its bound as a picture and as a film, data with a known answer."""
    walk.run(walk.python, "-c", LECTURER)
    assert (walk.home / "run.png").stat().st_size > 10_000
    walk.separatrix("generate", "separable", "--rows", "40", "-o", "easy.csv")
    walk.separatrix("film", "easy.csv", "--target", "y", "-o", "run.html")
    assert (walk.home / "run.html").stat().st_size > 10_000
    walk.separatrix("generate", "xor", "-o", "xor.csv")
    assert walk.separatrix("check", "xor.csv", "-t", "y", "--degree", "2").startswith("Complete separation.")


# Who walks, and the extra that they would install.
WALKS = {biostatistician: "cli,formula", engineer: "", lecturer: "cli,plot"}


def main(wanted: list[str]) -> None:
    """Build the wheel once, and let everybody walk who was asked for."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        build = [
            sys.executable,
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "--outdir",
            str(place),
            str(ROOT),
        ]
        subprocess.run(build, check=True, capture_output=True, timeout=600)
        (wheel,) = place.glob("*.whl")
        for walk, extra in WALKS.items():
            if not wanted or walk.__name__ in wanted:
                home = place / walk.__name__
                home.mkdir()
                walk(Walk(wheel, extra, home))
                print(f"{walk.__name__}: arrived")


if __name__ == "__main__":
    main(sys.argv[1:])
