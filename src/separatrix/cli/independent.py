"""The second checker of certificates, in an interpreter of its own that sees nothing of this package."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..errors import CertificateError
from ..sparse import sparse


@dataclass(frozen=True)
class Second:
    """What the second checker said.

    Attributes
    ----------
    holds : bool
    words : tuple of str
        Its lines.
    """

    holds: bool
    words: tuple[str, ...]


def ask(certificate: bytes, X: Any, y: Any, *, same_data: bool, time_limit: float) -> Second:
    """Let the second checker look at the same certificate and the same numbers.

    It gets them in files that only this user can read, and that are gone when it has answered. ``-I`` and
    ``-S`` keep environment variables, the current directory and installed packages away from it.
    """
    with (
        TemporaryDirectory(prefix="separatrix-") as folder,
        as_file(files("separatrix.checker") / "check_certificate.py") as checker,
    ):
        proof, data = Path(folder, "certificate.json"), Path(folder, "data.npz")
        proof.write_bytes(certificate)
        np.savez(data, **_arrays(X), y=_labels(y))
        command = [sys.executable, "-I", "-S", "-X", "utf8", str(checker), str(proof), str(data)]
        command += [] if same_data else ["--any-data"]
        seconds = None if math.isinf(time_limit) else time_limit
        try:
            done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=seconds)
        except subprocess.TimeoutExpired:
            raise CertificateError(
                f"The second checker gave no answer within {time_limit:g} seconds.",
                remedy="Allow more time, or leave out --independent.",
                parameter="time_limit",
            ) from None
    return Second(done.returncode == 0, tuple((done.stdout + done.stderr).splitlines()))


def _arrays(X: Any) -> dict[str, Any]:
    if not sparse.issparse(X):
        return {"X": X}
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}


def _labels(y: Any) -> Any:
    """The labels as an array that is read without pickle."""
    labels = np.asarray(y)
    plain = np.asarray(labels.tolist())
    if plain.dtype.kind not in "biufU" or plain.tolist() != labels.tolist():
        raise CertificateError("The second checker reads labels that are numbers or text; these are others.")
    return plain
