"""Random planar problems for the two engines of the playground, and what has to be the same in their answers.

The engine of the page (`static/js/engine`) runs in Node, or in a browser; the other one is the library.
"""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import separatrix as sx
from separatrix.certificates.half_spaces import NetworkCertificate, Unit
from separatrix.playground.server.worker import answer

SCRIPTS = Path(sx.__file__).parent / "playground" / "static" / "js"
ENGINE = SCRIPTS / "engine"
NODE = shutil.which("node")
# Reads one question per line, and writes one answer per line; undefined is null.
ASKED = """
import { createInterface } from "node:readline";
import { answer } from "./engine/engine.js";
import { readTable } from "./pasted.js";
import { script } from "./python.js";
const others = { table: readTable, code: ({ data, settings }) => script(data, settings) };
for await (const line of createInterface({ input: process.stdin })) {
  const [question, request] = JSON.parse(line);
  let told;
  try {
    told = (others[question]?.(request) ?? answer(question, request)) ?? null;
  } catch (problem) {
    told = { refused: problem.code ?? "bug", message: problem.stack };
  }
  console.log(JSON.stringify(told));
}
"""
Ask = Callable[[str, Any], Any]
SETTINGS: dict[str, Any] = {
    "method": "perceptron", "order": "cyclic", "start": "zeros", "rate": 1.0, "margin": 0.0, "lift": True,
    "renormalise": False, "average": "last", "passes": 1000, "updates": 2000, "seed": 0,
    "kernel": {"kind": "gaussian", "c": 1.0}, "budget": None, "intercept": "free", "C": 1.0, "variant": "PA",
    "form": "primal",
}  # fmt: skip
LINEAR = {"kind": "linear"}
SQUARE = {"kind": "power", "part": LINEAR, "exponent": 2}
# Kernels whose values on a lattice are integers, so that no rounding decides what is a mistake.
WHOLE_KERNELS = [
    LINEAR, SQUARE,
    {"kind": "polynomial", "degree": 2, "c": 1.0}, {"kind": "polynomial", "degree": 3, "c": 0.0},
    {"kind": "geometric", "degree": 3}, {"kind": "shifted", "part": SQUARE, "c": 2.0},
    {"kind": "sum", "parts": [LINEAR, SQUARE]}, {"kind": "product", "parts": [LINEAR, SQUARE]},
    {"kind": "scaled", "part": SQUARE, "c": 0.5},
]  # fmt: skip
OTHER_KERNELS = [
    {"kind": "gaussian", "c": 0.7}, {"kind": "exp", "part": {"kind": "scaled", "part": LINEAR, "c": 0.1}},
    {"kind": "sum", "parts": [LINEAR, {"kind": "gaussian", "c": 2.0}]},
]  # fmt: skip


@contextlib.contextmanager
def engine_in_node(folder: Path) -> Iterator[Ask]:
    """Start the engine in Node, on a copy that is marked as modules, and yield the function that asks it."""
    assert NODE is not None
    shutil.copytree(ENGINE, folder / "engine")
    for name in ("pasted.js", "python.js"):
        shutil.copy(SCRIPTS / name, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "asked.js").write_text(ASKED)
    command = [NODE, str(folder / "asked.js")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        source, target = process.stdout, process.stdin

        def ask(question: str, request: Any) -> Any:
            target.write(json.dumps([question, request]) + "\n")
            target.flush()
            return json.loads(source.readline())

        try:
            yield ask
        finally:
            target.close()


def ask_library(question: str, request: Any) -> Any:
    """Return the answer of the Python server, as the page reads it."""
    status, body = answer(question, json.dumps(request).encode())
    told = json.loads(body)
    return told if status == 200 else {"refused": told["code"], "message": told["message"]}


def random_problem(chance: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return points and settings: either all sums are exact in floats, or the points are in general position.

    In both cases rounding does not decide what is a mistake. Random starts, weights of length one, most
    kernels, passive-aggressive steps and Winnow are not exact, so they get points in general position.
    Polynomial kernels are exact on small integers only: on a finer grid, their sums have more than 53 bits.
    Runs with weights of length one are compared as long as their rounding errors stay small, see
    `certain_updates`.
    """
    settings = random_settings(chance)
    curved = settings["method"] == "kernel" and settings["kernel"] != {"kind": "linear"}
    other = curved and settings["kernel"] in OTHER_KERNELS
    online = settings["method"] in ("passive_aggressive", "winnow")
    inexact = other or online or settings["renormalise"] or settings["start"] == "random"
    exact = chance.choice(["lattice", "line", "general"]) if curved else None
    return random_points(chance, "general" if inexact else exact), settings


def random_points(chance: random.Random, kind: str | None = None) -> dict[str, Any]:
    """Return points of two to four classes, perhaps on a lattice or a line, equal, huge or small."""
    size, classes = chance.choice([2, 3, 4, 5, 8, 13, 20, 40]), chance.choice([2, 2, 2, 3, 4])
    kind = kind or chance.choice(["lattice", "grid", "general", "line", "huge", "small"])
    if kind == "general":
        rows = [[chance.gauss(0.0, 1.0), chance.gauss(0.0, 1.0)] for _ in range(size)]
    elif kind == "line":
        across = [float(chance.randint(-4, 4)) for _ in range(size)]
        rows = [[x, 2.0 * x + 1.0] for x in across]
    else:
        most, unit = {
            "lattice": (3, 1.0),
            "grid": (128, 1 / 64),
            "huge": (50, 2.0**20),
            "small": (50, 2.0**-12),
        }[kind]
        rows = [[chance.randint(-most, most) * unit, chance.randint(-most, most) * unit] for _ in range(size)]
    for _ in range(chance.choice([0, 0, 1, 3])):
        rows.append(list(chance.choice(rows)))  # duplicates, perhaps with another label
    if chance.random() < 0.5:
        a, b, c = (
            chance.gauss(0.0, 1.0),
            chance.gauss(0.0, 1.0),
            chance.gauss(0.0, 0.5) * max(map(abs, rows[0])),
        )
        labels = [int(a * x + b * y + c > 0.0) for x, y in rows]
    else:
        labels = [chance.randrange(classes) for _ in rows]
    if len(set(labels)) < 2:
        labels[0] = 1 - min(1, labels[0])
    names = chance.choice([["A", "B", "C", "D"], ["\N{MINUS SIGN}", "+", "x", "a b"], ["10", "9", "1", "2"]])
    return {
        "columns": ["x", "y"],
        "classes": names[: max(2, max(labels) + 1)],
        "rows": rows,
        "labels": labels,
    }


def random_settings(chance: random.Random) -> dict[str, Any]:
    """Return settings whose runs the engine computes; rates are powers of two, so that scaling is exact."""
    changed: dict[str, Any] = {
        "order": chance.choice(["cyclic", "shuffled", "worst", "working_set"]),
        "start": chance.choice(["zeros", "zeros", "random"]),
        "rate": chance.choice([1.0, 1.0, 0.25, 2.0]),
        "margin": chance.choice([0.0, 0.0, 0.0, 0.5, 4.0]),
        "lift": chance.random() < 0.7,
        "seed": chance.randrange(2**31),
        "passes": chance.choice([1, 2, 7, 30, 1000]),
        "updates": chance.choice([5, 50, 300, 2000]),
    }
    kind = chance.choice(
        ["last", "last", "averaged", "voted", "unit", "kernel", "margin", "online", "network"]
    )
    if kind in ("averaged", "voted", "kernel"):
        changed["order"] = chance.choice(["cyclic", "shuffled"] + ["working_set"] * (kind != "kernel"))
        changed["average"] = chance.choice(["last", "averaged", "voted"]) if kind == "kernel" else kind
    if kind == "kernel":
        changed |= {"method": "kernel", "kernel": chance.choice(WHOLE_KERNELS + OTHER_KERNELS)}
    elif kind == "margin":
        changed |= {"method": "max_margin", "intercept": chance.choice(["free", "lifted"])}
    elif kind == "unit":
        changed |= {"renormalise": True, "margin": 0.0}
    elif kind == "online":
        changed |= {
            "method": chance.choice(["passive_aggressive", "winnow"]),
            "order": chance.choice(["cyclic", "shuffled"]),
            "variant": chance.choice(["PA", "PA-I", "PA-II"]),
            "C": chance.choice([0.1, 1.0, 10.0]),
            "rate": chance.choice([0.02, 0.1, 0.5]),
            "updates": 20_000,
        }
    elif kind == "network":
        changed["method"] = "network"
    return SETTINGS | changed


def compare(ask: Ask, data: dict[str, Any], settings: dict[str, Any]) -> str:
    """Return what differs between the two engines, in words; nothing if all is the same."""
    request = {"data": data, "settings": settings}
    run = {"data": settled(data), "settings": settings, "box": None, "live": False}
    runs = {"passive_aggressive": _online, "winnow": _online, "network": _network}
    found = [*_verdicts(ask, request), *runs.get(settings["method"], _runs)(ask, run)]
    return "; ".join(found)


def _verdicts(ask: Ask, request: Any) -> Iterator[str]:
    ours, library = ask("verdict", request), ask_library("verdict", request)
    if ours is None or "refused" in ours or "refused" in library:
        if ours is None or ours.get("refused") != library.get("refused"):
            yield f"verdict: {str(ours)[:300]} and {str(library)[:200]}"
        return
    for field in ("status", "conflict"):
        if ours[field] != library[field]:
            yield f"{field}: {ours[field]} and {library[field]}"
    if len(ours["common"]) != len(library["common"]) or len(ours["hulls"]) != len(library["hulls"]):
        yield "one has a common point or hulls that the other has not"
    low, high = library["margin"]
    apart = high is not None and (
        ours["margin"][0] > high * 1.001 or ours["margin"][1] < (low or 0.0) * 0.999
    )
    if ours["status"] == "separable" and apart:
        yield f"margin {ours['margin']} outside {library['margin']}"
    if ours["certificate"] is None:
        if library["certificate"] is not None:
            yield "no certificate"
        return
    data = request["data"]
    X, y = np.array(data["rows"]), np.array(data["classes"])[data["labels"]]
    y = y.astype(np.int64) if data["classes"][0].isdigit() else y
    checked = sx.verify(ours["certificate"], X, y)
    own = ask("verify", {"data": data, "certificate": ours["certificate"]})
    theirs = (
        ask("verify", {"data": data, "certificate": library["certificate"]})
        if library["certificate"]
        else own
    )
    if not checked.holds or ours["certificate"]["claim"] != ours["status"]:
        yield f"the certificate does not hold: {checked.reason}"
    if not own["holds"]:
        yield f"the engine refuses its own certificate: {own['reason']}"
    if not theirs["holds"]:
        yield f"the engine refuses the library's certificate: {theirs['reason']}"


def settled(data: dict[str, Any]) -> dict[str, Any]:
    """Give equal points the same class if their coordinates have many bits.

    Corrections of equal points of different classes cancel, so that exact scores return to zero, and rounding
    would decide what is a mistake.
    """
    if all((value * 2.0**20).is_integer() for row in data["rows"] for value in row):
        return data
    first: dict[tuple[float, ...], int] = {}
    labels = [
        first.setdefault(tuple(row), label) for row, label in zip(data["rows"], data["labels"], strict=True)
    ]
    return {**data, "labels": labels}


def certain_updates(request: Any) -> int:
    """Return how many updates of a run with weights of length one are the same in both engines up to 1e-9.

    An update computes v = w + step z, and then w = v / |v|. If two v differ by d, then v / |v| and v' / |v'|
    differ by at most 2 d / (|v| + |v'|): a difference grows by the factor 1 / |v|, which is large if z nearly
    cancels w. Each engine adds rounding errors of its own, of at most 16 units for up to twelve weights. The
    compiled loops of the library may add in any order, so their last bits are not those of the engine.
    """
    library = ask_library("run", request)
    if "refused" in library:
        return int(request["settings"]["updates"])
    data = request["data"]
    rows, codes = np.array(data["rows"]), np.searchsorted(library["classes"], data["labels"])
    rows = np.column_stack([rows, np.ones(len(rows))]) if request["settings"]["lift"] else rows
    updates, rate = library["updates"], request["settings"]["rate"]
    weights = np.array(updates["weights"])
    apart = 1e-15 * float(np.linalg.norm(weights[0]))
    for made, (row, rival) in enumerate(zip(updates["rows"], updates["rivals"], strict=True)):
        step = np.zeros_like(weights[made])
        if step.ndim == 1:
            step += rate * (2.0 * codes[row] - 1.0) * rows[row]
        else:
            step[codes[row]] += rate / 2.0 * rows[row]
            step[rival] -= rate / 2.0 * rows[row]
        before, length = np.linalg.norm(weights[made]), np.linalg.norm(weights[made] + step)
        apart += 2.0**-48 * float(before + np.linalg.norm(step))
        apart = 2.0 * apart / max(1e-300, 2.0 * float(length) - apart) + 2.0**-48
        if apart > 1e-9:
            return max(1, made)
    return int(request["settings"]["updates"])


def _runs(ask: Ask, request: Any) -> Iterator[str]:
    if request["settings"]["renormalise"]:
        shorter = request["settings"] | {"updates": certain_updates(request)}
        request = {**request, "settings": shorter}
    ours, library = ask("run", request), ask_library("run", request)
    if ours is None and request["settings"]["method"] == "max_margin":
        return  # more than two classes, or a margin that floats cannot tell from zero
    if ours is None or "refused" in ours or "refused" in library:
        if ours is None or ours.get("refused") != library.get("refused"):
            yield f"run: {str(ours)[:300]} and {str(library)[:200]}"
        return
    for field in ("mistakes", "status", "errors", "converged", "classes", "lifted"):
        if ours[field] != library[field]:
            yield f"{field}: {ours[field]} and {library[field]}"
    if library["updates"] is None:
        close = np.allclose(ours["model"]["weights"], library["model"]["weights"], rtol=1e-4)
        if not close or not np.allclose(ours["model"]["margin"], library["model"]["margin"], rtol=1e-6):
            yield f"margins: {ours['model']} and {library['model']}"
        return
    made, theirs = ours["updates"], library["updates"]
    for field in ("rows", "rivals"):
        if made[field] != theirs[field]:
            yield f"{field} of the mistakes: {made[field][:50]} and {theirs[field][:50]}"
            return
    scale = 1.0 + float(np.abs(np.array(made["scores"], dtype=float)).max(initial=0.0))
    for field in ("scores", "weights", "squares"):
        if made[field] is not None and not _near(made[field], theirs[field], scale**2):
            yield field
    if made["errors"] != theirs["errors"]:
        yield "errors of the steps"
    if (ours["visits"] is None) != (library["visits"] is None):
        yield "visits"
    elif ours["visits"] is not None:
        for field in ("rows", "updates"):
            if ours["visits"][field] != library["visits"][field]:
                yield f"{field} of the visits"
    if ours["counts"] != library["counts"] or ours["model"]["predicted"] != library["model"]["predicted"]:
        yield "counts or predictions"


def model_of(ask: Ask, request: Any) -> Any:
    """Return the model that the code of the page fits, quietly."""
    code = ask("code", request).partition("\n\nfor ")[0].partition("\n\nprint(")[0]
    scope: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(code, scope)
    return scope["model"]


def _online(ask: Ask, request: Any) -> Iterator[str]:
    """Compare passive-aggressive learning or Winnow with the library's; the bound is that of its theorem."""
    ours, data = ask("run", request), request["data"]
    if "refused" in ours:
        if ours["refused"] != ask_library("run", request)["refused"]:
            yield f"run: {ours}"
        return
    if ours["status"] == "update_limit":
        return  # a limit that the library does not have
    model = model_of(ask, request)
    updates, theorem = ours["updates"], ours["theorem"]
    mistakes = sum(score <= 0.0 for score in updates["scores"])
    if mistakes != model.mistakes_ or (ours["status"] == "separated") != model.converged_:
        yield f"{mistakes} mistakes, {ours['status']}: {model.mistakes_} and {model.result_.status}"
    weights = np.array(ours["model"]["weights"])
    weights = weights[1:] if len(ours["classes"]) == 2 else weights
    if not np.allclose(weights, np.column_stack([model.coef_, model.intercept_]), rtol=1e-6, atol=1e-9):
        yield f"weights {weights} and {model.coef_}, {model.intercept_}"
    bound = theorem["bound"]
    if bound is not None and theorem["values"][-1] > bound * (1.0 + 1e-9):
        yield f"the bound {bound} does not hold: {theorem['values'][-1]}"
    best = sx.mistake_bounds(model, data["rows"], data["labels"]).best.value
    if bound is not None and bound < best * (1.0 - 1e-6):
        yield f"the bound {bound} is below the best one that the library knows: {best}"


def _network(ask: Ask, request: Any) -> Iterator[str]:
    """Let `sx.verify` check the half-planes; the first one holds no fewer points than that of the library."""
    ours, data = ask("run", request), request["data"]
    X, y = np.array(data["rows"]), np.array(data["labels"])
    if "refused" in ours and ours["refused"] == ask_library("run", request)["refused"]:
        return
    try:
        model = sx.PerceptronNetwork().fit(X, y)
    except sx.errors.NotSeparable:
        if ours.get("refused") != "conflict":
            yield "a network for two equal points of different classes"
        return
    if "refused" in ours:
        yield f"no network: {ours}"
        return
    units = tuple(Unit(tuple(unit["weights"]), unit["label"]) for unit in ours["units"])
    proof = replace(model.certificate_, units=units, default=ours["rest"], excluded=())
    assert isinstance(proof, NetworkCertificate)
    if not sx.verify(proof, X, y).holds:
        yield f"the network is not right on every point: {sx.verify(proof, X, y).reason}"
    if model.units_ and len(ours["units"][0]["rows"]) < model.units_[0].n_rows:
        yield f"the first unit holds fewer points: {len(ours['units'][0]['rows'])}, {model.units_[0].n_rows}"


def _near(ours: Any, theirs: Any, scale: float) -> bool:
    return np.allclose(
        np.array(ours, dtype=float), np.array(theirs, dtype=float), rtol=1e-9, atol=1e-9 * scale
    )


def check_engine(chance: random.Random, size: int, folder: Path) -> None:
    """Compare the two engines on random problems; a target of ``make fuzz``."""
    with engine_in_node(folder) as ask:
        for number in range(size):
            data, settings = random_problem(chance)
            found = compare(ask, data, settings)
            assert not found, f"problem {number}: {found}\n{json.dumps([data, settings])}"
