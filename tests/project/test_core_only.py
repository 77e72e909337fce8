"""Without any extra the core works, and everything else says in one line what to install."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import venv

import pytest

import separatrix as sx

ROOT = pathlib.Path(__file__).parents[2]
EXTRAS = (
    "duckdb", "formulaic", "matplotlib", "msgspec", "onnx", "onnxruntime", "pandas", "polars", "pyarrow",
    "pyreadstat", "python_calamine", "rich", "river", "skops", "starlette", "typer", "uvicorn",
)  # fmt: skip

# As if the extras were not installed: the program below is the same for this and for a real environment.
BLOCK = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""
CORE = r"""
import contextlib, io, json, pathlib, sys, tempfile
import numpy as np
import separatrix as sx

X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 2.0]], ["no", "no", "yes", "yes"]
model = sx.Perceptron().fit(X, y)
assert list(model.predict(X)) == y
assert sx.MaxMargin().fit(X, y).converged_
assert sx.SoftMargin().fit(X, y).score(X, y) == 1.0
assert sx.LinearProgram().fit(X, y).score(X, y) == 1.0
assert sx.KernelPerceptron().fit(X, y).converged_
verdict = sx.separability(X, y)
assert verdict.separable
certificate = json.loads(json.dumps(verdict.certificate.to_dict()))
assert sx.verify(certificate, X, y).holds
assert sx.mistake_bounds(model, X, y).mistakes == model.mistakes_
assert sx.smallest_separating_degree(X, y).degree == 1
assert sx.datasets.make_separable(20, margin=0.1, random_state=0).X.shape == (20, 2)
path = pathlib.Path(tempfile.mkdtemp()) / "report.html"

from separatrix.files.table import open_table
svm = path.with_name("rows.svm")
svm.write_text("1 1:2\n-1 1:1\n")
assert open_table(svm).read()[0].shape == (2, 1)
csv = path.with_name("rows.csv")
csv.write_text("x,y\n1,a\n2,b\n")

def command_line():
    from separatrix.cli import main
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.suppress(SystemExit):
        main()
    raise ImportError(said.getvalue().strip())

for name, use in {
    "plot": lambda: sx.plot,
    "report with pictures": lambda: sx.write_report(path, X, y),
    "playground": lambda: sx.playground,
    "experiments": lambda: sx.experiments,
    "save": lambda: sx.save(model, path),
    "load": lambda: sx.load(path),
    "export_onnx": lambda: sx.export_onnx(model, path),
    "river": lambda: sx.river,
    "formula": lambda: sx.check_separation("y ~ x", data={"x": [1, 2], "y": [0, 1]}),
    "table": lambda: open_table(csv),
    "program": command_line,
}.items():
    try:
        use()
    except ImportError as problem:
        said = str(problem)
        assert "pip install 'separatrix[" in said and "\n" not in said, (name, said)
    else:
        raise AssertionError(f"{name} needs nothing?")
print("core only")
"""


def test_the_core_works_without_extras_and_the_rest_says_what_to_install():
    source = {**os.environ, "PYTHONPATH": str(pathlib.Path(sx.__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", BLOCK + CORE], capture_output=True, text=True, timeout=300, env=source
    )
    assert done.stdout == "core only\n", done.stderr


@pytest.mark.slow
def test_an_environment_without_extras_runs_the_core(tmp_path):
    """The wheel in an environment of its own; needs the package index or a pip cache."""
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    built = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", str(ROOT)], capture_output=True, text=True, env=clean
    )
    assert built.returncode == 0, built.stderr
    done = subprocess.run([python, "-c", CORE], capture_output=True, text=True, timeout=600, env=clean)
    assert done.stdout == "core only\n", done.stderr
    listed = subprocess.run([python, "-m", "pip", "list"], capture_output=True, text=True, env=clean).stdout
    assert not [name for name in EXTRAS if f"\n{name} " in listed]
