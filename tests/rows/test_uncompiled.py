"""With NUMBA_DISABLE_JIT=1 every loop runs as the Python that it is written in, and does the same."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("pyarrow")

# Whole numbers, so that sums are exact in any order.
RUNS = """
import hashlib, pathlib, tempfile, warnings
import numpy as np, pyarrow as pa, pyarrow.parquet, scipy.sparse
import separatrix as sx
from separatrix.files.table import open_table

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.integers(-3, 4, (600, 5)).astype(float)
labels = (X @ rng.normal(size=5) > 0).astype(int), np.argmax(X @ rng.normal(size=(5, 3)), axis=1)
for y in labels:
    for rows in (X, scipy.sparse.csr_array(X)):
        for order in ("cyclic", "worst", "working_set"):
            run = sx.Perceptron(order=order, trace=True, max_iter=3).fit(rows, y)
            print(order, run.mistakes_, run.mistake_counts_.sum(), run.result_.trace.weights.sum())
        print(f"{abs(sx.SoftMargin(gap=1e-6).fit(rows, y).coef_).sum():.4f}")
    run = sx.KernelPerceptron(kernel=sx.kernels.Polynomial(degree=2), max_iter=2).fit(X[:100], y[:100])
    print("kernel", run.mistakes_)
place = pathlib.Path(tempfile.mkdtemp()) / "rows.parquet"
columns = {f"x{j}": X[:, j] for j in range(5)}
columns |= {"f": X[:, 0].astype("f4") / 2, "i": X[:, 1].astype("i4"), "l": X[:, 2].astype("i8") * 2**40}
columns["y"] = labels[0]
pa.parquet.write_table(pa.table(columns), place)
print(hashlib.sha256(open_table(place, target="y").read()[0].tobytes()).hexdigest())
place = place.with_suffix(".csv")
numbers = rng.normal(size=50).tolist()
place.write_text("a,y\\n" + "".join(f"{value!r},{k % 2}\\n" for k, value in enumerate(numbers)))
print(hashlib.sha256(open_table(place, target="y").read()[0].tobytes()).hexdigest())
"""


def output(**environment):
    done = subprocess.run(
        [sys.executable, "-c", RUNS],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_loops_that_are_not_compiled_do_the_same():
    assert output(NUMBA_DISABLE_JIT="0") == output(NUMBA_DISABLE_JIT="1")
