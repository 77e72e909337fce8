"""Is what would be released whole? Run by `make release-check`; needs the network, or pip's cache.

Builds sdist and wheel twice and compares them byte by byte; looks at their files and metadata; installs the
wheel in clean environments (core, each extra alone, all of them), runs a smoke test in each, and lists the
licences of everything that came along.
"""

from __future__ import annotations

import email.policy
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from email.parser import BytesParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LARGE = 1_000_000  # bytes of one file in the sdist
SHIPPED = (
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "SECURITY.md",
    "pyproject.toml",
    "src/separatrix/py.typed",
)
# Licences that put no condition on programs that only import the package.
FREE = (
    "mit",
    "bsd",
    "apache",
    "psf",
    "python software",
    "isc",
    "mpl",
    "lgpl",
    "zlib",
    "unlicense",
    "cc0",
    "hpnd",
)

# Packages whose metadata name no licence; the file that comes with them does.
READ_BY_HAND = {"skops": "MIT"}

CORE = """
import numpy as np, separatrix as sx
X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 0, 1, 1])
verdict = sx.separability(X, y)
assert verdict.status == "overlapping" and sx.verify(verdict.certificate, X, y).holds
assert sx.KernelPerceptron(kernel=sx.kernels.Polynomial(degree=2)).fit(X, y).converged_
sx.write_report("report.html", X, y)
assert "<html" in open("report.html", encoding="utf-8").read()
"""
CLI = """
import subprocess, sys
rows = "1,31,no 2,45,no 2,62,no 3,29,no 3,51,yes 4,47,yes 5,33,yes 6,58,yes".split()
open("t.csv", "w").write("\\n".join(["dose,age,got", *rows, ""]))
program = [sys.executable, "-m", "separatrix.cli"]
subprocess.run([*program, "check", "t.csv", "--target", "got", "--certificate", "p.json"], check=True)
subprocess.run([*program, "verify", "p.json", "t.csv"], check=True)
subprocess.run([*program, "fit", "t.csv", "--target", "got", "-o", "m.skops"], check=True)
subprocess.run([*program, "predict", "m.skops", "t.csv", "-o", "o.csv"], check=True)
assert open("o.csv").read().count("\\n") == 9
"""
FORMULA = """
import warnings, pandas as pd, separatrix as sx
warnings.simplefilter("ignore")
frame = pd.DataFrame({"y": [0, 0, 1, 1], "x": [1.0, 2, 3, 4], "g": list("abab")})
assert sx.check_separation("y ~ x + C(g)", data=frame).status == "separable"
"""
ONNX = """
import numpy as np, separatrix as sx
X, y = np.array([[0.0, 1], [1, 0]]), np.array([0, 1])
sx.export_onnx(sx.Perceptron().fit(X, y), "m.onnx")
assert open("m.onnx", "rb").read()
"""
PLOT = """
import matplotlib; matplotlib.use("Agg")
import numpy as np, separatrix as sx
X, y = np.array([[0.0, 1], [1, 0], [2, 0]]), np.array([0, 1, 1])
sx.plot.DecisionRegionDisplay.from_estimator(sx.Perceptron().fit(X, y), X, y)
"""
DASK = """
import dask.array as da, numpy as np, separatrix as sx
X, y = np.arange(8.0).reshape(8, 1), np.arange(8) // 4
pieces, labels = da.from_array(X, chunks=(3, 1)), da.from_array(y, chunks=3)
verdict = sx.separability(pieces, labels)
assert verdict.status == "separable" and sx.verify(verdict.certificate, X, y).holds
"""
FORMATS = """
import pyreadstat, python_calamine, separatrix
"""
PLAY = """
import asyncio, separatrix.playground as playground
app = playground.create_app()
assert app is not None
"""
RIVER = """
import separatrix as sx
model = sx.river.Perceptron()
for number in range(20):
    model.learn_one({"x": float(number % 2)}, bool(number % 2))
assert model.predict_one({"x": 1.0}) is True
"""
LICENCES = """
import importlib.metadata, json
def licence(told):
    classes = [each for each in told.get_all("Classifier", []) if each.startswith("License")]
    classes = [each.rpartition(" :: ")[2] for each in classes]
    return told.get("License-Expression") or "; ".join(classes) or (told.get("License") or "").strip()[:60]
print(json.dumps([(d.name, d.version, licence(d.metadata)) for d in importlib.metadata.distributions()]))
"""
# What must work with each extra alone. A new extra needs a line here: the check says so.
SMOKE = {
    "": CORE,
    "cli": CLI,
    "dask": DASK,
    "formula": FORMULA,
    "onnx": ONNX,
    "plot": PLOT,
    "formats": FORMATS,
    "play": PLAY,
    "river": RIVER,
}
NOT_FOR_USERS = ("all", "dev", "docs", "test")


def main() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    offered = [name for name in extras if name not in NOT_FOR_USERS]
    if unknown := [name for name in offered if name not in SMOKE]:
        sys.exit(
            f"no smoke test for the extras {', '.join(unknown)}: add one to SMOKE in {Path(__file__).name}"
        )
    with tempfile.TemporaryDirectory(prefix="separatrix-release-") as folder:
        place = Path(folder)
        sdist, wheel = _reproducible(place)
        _look_inside(sdist, wheel)
        for extra in ["", *offered]:
            _smoke(place, wheel, extra, [SMOKE[extra]])
        python = _smoke(place, wheel, "all", list(SMOKE.values()))
        _licences(python)
    print("1 passed, 0 failed")


def _reproducible(place: Path) -> tuple[Path, Path]:
    """Build twice; the same bytes must come out."""
    digests = []
    for name in ("first", "second"):
        out = place / name
        subprocess.run(
            [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT],
            env={**os.environ, "SOURCE_DATE_EPOCH": "1767225600"},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        digests.append({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.iterdir()})
    if digests[0] != digests[1]:
        sys.exit(f"two builds differ: {json.dumps(digests, indent=1)}")
    print(f"built twice, the same bytes: {', '.join(sorted(digests[0]))}")
    (sdist,) = (place / "first").glob("*.tar.gz")
    (wheel,) = (place / "first").glob("*.whl")
    return sdist, wheel


def _look_inside(sdist: Path, wheel: Path) -> None:
    with tarfile.open(sdist) as archive:
        sizes = {member.name.partition("/")[2]: member.size for member in archive.getmembers()}
    if missing := [name for name in SHIPPED if name not in sizes]:
        sys.exit(f"the sdist lacks {', '.join(missing)}")
    if large := [name for name, size in sizes.items() if size > LARGE]:
        sys.exit(f"the sdist has files over {LARGE:,} bytes: {', '.join(large)}")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        told = BytesParser(policy=email.policy.default).parsebytes(archive.read(metadata))
    if stray := [name for name in names if not name.startswith(("separatrix/", "separatrix-"))]:
        sys.exit(f"the wheel has files outside the package: {', '.join(stray)}")
    for field in (
        "Name",
        "Version",
        "Summary",
        "License-Expression",
        "Requires-Python",
        "Description-Content-Type",
    ):
        if not told[field]:
            sys.exit(f"the metadata lack {field}")
    if told["Description-Content-Type"] != "text/markdown" or "# separatrix" not in told.get_payload():
        sys.exit("the long description is not the README")
    print(f"{len(sizes)} files in the sdist, {len(names)} in the wheel; metadata complete")


def _smoke(place: Path, wheel: Path, extra: str, scripts: list[str]) -> Path:
    """Install the wheel with one set of extras in a new environment, and use it there."""
    home = place / f"venv-{extra or 'core'}"
    venv.create(home, with_pip=True)
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    what = f"{wheel}[{extra}]" if extra else str(wheel)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["NUMBA_CACHE_DIR"] = str(place / "cache")
    subprocess.run([python, "-m", "pip", "install", "--quiet", what], env=environment, check=True)
    work = home / "work"
    work.mkdir()
    for script in scripts:
        done = subprocess.run(
            [python, "-c", script], cwd=work, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"the smoke test of {extra or 'core'} failed:\n{script}\n{done.stdout}{done.stderr}")
    print(f"{extra or 'core'}: installed, works")
    return python


def _licences(python: Path) -> None:
    """List what each installed package says of its licence; stop at one that is not known to be free."""
    told = json.loads(
        subprocess.run([python, "-c", LICENCES], capture_output=True, text=True, check=True).stdout
    )
    doubtful = []
    for name, version, licence in sorted(told, key=lambda each: each[0].lower()):
        known = READ_BY_HAND.get(name, licence)
        print(f"  {name} {version}: {known or 'says nothing'}")
        if not any(word in known.lower() for word in FREE):
            doubtful.append(name)
    if doubtful:
        sys.exit(f"look at the licences of {', '.join(doubtful)} by hand, and extend FREE if they are free")


if __name__ == "__main__":
    main()
