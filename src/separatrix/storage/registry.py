"""The names of types in model files, and with them the list of types that are trusted.

skops writes the module and the name of every class. In a model file the classes of this package have one name
of the registry instead, such as ``separatrix/Perceptron/1``. The number is the version of what a class keeps:
it rises when the fields of the class change. The old name stays in the registry as long as the class can read
the old fields. A module path of this package in a file is refused.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

from .. import _HOMES as PUBLIC
from ..errors import ModelFileError
from ..kernels import KINDS

PACKAGE = "separatrix"
SCHEMA = "schema.json"  # where a skops archive names its types

# The classes that estimators hold. Their homes are text, so that reading a model imports only what that
# model needs.
HELD = {
    "dual.budget": ("BudgetedSupport",),
    "dual.expansion": ("Expansion", "SupportRows"),
    "dual.kernel_margin": ("KernelOptimum",),
    "dual.kernel_soft": ("KernelSoftOptimum",),
    "dual.similarity": ("Similarity",),
    "margins.hard.max_margin": ("HardOptimum",),
    "margins.soft.soft_margin": ("SoftOptimum",),
    "perceptron.voting": ("Voters",),
    "result": (
        "Cycle",
        "KernelResult",
        "KernelTrace",
        "OnlineResult",
        "PassRecord",
        "Result",
        "Status",
        "Trace",
        "Votes",
    ),
}

# Classes whose fields have changed. Since version 2, results keep their history as columns, optima have a
# status, and estimators have fit_intercept; Perceptron has n_iter_no_change, and since version 3 a margin.
VERSIONS = dict.fromkeys(
    (
        *("KernelResult", "Result"),
        *("HardOptimum", "KernelOptimum", "KernelSoftOptimum", "SoftOptimum"),
        *("LinearProgram", "MaxMargin", "Perceptron", "SoftMargin"),
    ),
    2,
) | {"Perceptron": 3}

_HOMES_OF_CLASSES = {
    **{name: f"{PACKAGE}.{home}" for home, names in HELD.items() for name in names},
    **{name: f"{PACKAGE}.{home}" for name, home in PUBLIC.items() if str(home).startswith("estimators.")},
}

TYPES: dict[str, str] = {
    **{
        f"{PACKAGE}/{name}/{version}": f"{home}.{name}"
        for name, home in _HOMES_OF_CLASSES.items()
        for version in range(1, VERSIONS.get(name, 1) + 1)
    },
    # A kernel states its own name in files; kernels that hold a function have no name.
    **{kind.stored_as: f"{kind.__module__}.{kind.__name__}" for kind in KINDS if kind.stored_as},
}

# Names of classes that were replaced by another class, which reads their fields.
RENAMED = {"separatrix/Outcome/1": "separatrix/Status/1"}


def named(data: bytes) -> bytes:
    """Return an archive of skops with names of the registry instead of the modules of our classes."""
    names = {home: name for name, home in TYPES.items()}  # the newest of a class, which is the last

    def rename(node: dict[str, Any]) -> dict[str, Any]:
        name = names.get(f"{node.get('__module__')}.{node.get('__class__')}")
        if name is not None:
            del node["__module__"], node["__class__"]
            node["__type__"] = name
        return node

    return _rewritten(data, rename)


def resolved(data: bytes, path: str) -> bytes:
    """Return the archive as skops reads it; nothing is imported.

    Raises
    ------
    ModelFileError
        If a name is not in the registry, or a class of this package has another name.
    """

    def rename(node: dict[str, Any]) -> dict[str, Any]:
        module, name = node.get("__module__"), node.get("__type__")
        if isinstance(module, str) and module.partition(".")[0] == "separatrix":
            raise ModelFileError(
                f"{path} names a type of separatrix by its module ({module}), which model files do not since "
                "0.1.0. Nothing was loaded. If the file is from a development version, fit and save again."
            )
        if not isinstance(name, str):
            return node
        name = RENAMED.get(name, name)
        if name not in TYPES or "__module__" in node or "__class__" in node:
            raise ModelFileError(
                f"{path} holds the type {name[:80]!r}, which is not one of this release. Nothing was loaded. "
                "Install a newer separatrix, or get the file again from where it was saved."
            )
        del node["__type__"]
        node["__module__"], _, node["__class__"] = TYPES[name].rpartition(".")
        return node

    return _rewritten(data, rename)


def _rewritten(data: bytes, rename: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    """Return the archive with every object of its schema renamed, and all other members unchanged."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        for member in dict.fromkeys(old.namelist()):
            content = old.read(member)
            if member == SCHEMA:
                content = json.dumps(json.loads(content, object_hook=rename)).encode()
            new.writestr(member, content)
    return target.getvalue()
