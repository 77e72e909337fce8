"""Models in files that execute nothing when they are read: sx.save and sx.load.

A model file is a skops archive (plain arrays and JSON, no pickle) that holds one dictionary: the format and
its version, the model, and, if the model was fitted from a data file, how its columns were encoded.
Types are trusted by name: those of the registry, CSR matrices, and the scikit-learn, NumPy and SciPy types
that skops itself trusts. In the registry, the types of this package have names that contain no module path.
"""

from __future__ import annotations

import io
import warnings
import zipfile
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from .. import __version__
from ..atomic import write_bytes
from ..errors import InputTypeError, ModelFileError, needs
from ..random_state import random_state_kept
from ..sparse import sparse
from . import registry

FORMAT = "separatrix model"
VERSION = 1

TRUSTED = (
    *registry.TYPES.values(),
    f"{sparse.csr_array.__module__}.csr_array",
    f"{sparse.csr_matrix.__module__}.csr_matrix",
)

# Members are stored, not compressed, so a file cannot expand to more than its size. Only sparse matrices are
# archives of their own, which may expand by this factor.
UNFOLDED = 64
UNFOLDED_BYTES = 1 << 28


@dataclass(frozen=True)
class Saved:
    """What a model file holds.

    Attributes
    ----------
    model : estimator
    columns : dict or None
        How the columns of a data file become the features of the model, if it was fitted from a file.
    version : int
        The version of the file format.
    release : str
        The release of separatrix that wrote it.
    """

    model: Any
    columns: dict[str, Any] | None
    version: int
    release: str


def save(model: Any, path: str | PathLike[str], *, columns: dict[str, Any] | None = None) -> None:
    """Write a model to a file, with its feature names, classes and mistake counts.

    The file is written completely or not at all: it gets a temporary name, and is renamed.

    Parameters
    ----------
    model : estimator
        One of this library, or a scikit-learn pipeline of them.
    path : str or path
        Usually ending in ``.skops``.
    columns : dict, optional
        How the columns of a data file become features; the command line stores it here.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import separatrix as sx
    >>> model = sx.Perceptron().fit([[0.0], [1.0], [3.0]], ["low", "low", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sx.save(model, pathlib.Path(folder) / "model.skops")
    ...     again = sx.load(pathlib.Path(folder) / "model.skops")
    >>> again.predict([[2.9]]), again.mistakes_ == model.mistakes_
    (array(['high'], dtype='<U4'), True)
    """
    write_bytes(path, packed(model, columns=columns))


def packed(model: Any, *, columns: dict[str, Any] | None = None) -> bytes:
    """Return the content of a model file; see `save`."""
    if not isinstance(model, BaseEstimator):
        raise InputTypeError(f"save needs an estimator. Got {type(model).__name__} instead.")
    skops = _skops()
    fields = {
        "format": FORMAT,
        "version": VERSION,
        "release": __version__,
        "columns": columns,
        "model": model,
    }
    data = skops.dumps(fields, compression=zipfile.ZIP_STORED)
    foreign = _foreign(skops, data)
    if foreign:
        raise ModelFileError(
            f"This model holds types that model files cannot store: {', '.join(foreign)}. They can store "
            "estimators of separatrix and scikit-learn whose parameters are numbers, text and arrays."
        )
    content: bytes = registry.named(data)
    return content


def load(path: str | PathLike[str]) -> Any:
    """Read a model from a file; nothing in the file is executed.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator

    Raises
    ------
    ModelFileError
        If the file is damaged, has another format or version, or holds a type that is not trusted.
    """
    return read(path).model


def read(path: str | PathLike[str]) -> Saved:
    """Read everything that a model file holds."""
    skops = _skops()
    data = Path(path).read_bytes()
    _check_archive(data, str(path))
    try:
        data = registry.resolved(data, str(path))
        foreign = _foreign(skops, data)
        if foreign:
            raise ModelFileError(
                f"{path} holds types that are not trusted: {', '.join(foreign)}. Nothing was loaded. Only "
                "models of separatrix and scikit-learn are read; ask the author of the file about the others."
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn warns about other versions of its transformers
            fields = skops.loads(data, trusted=list(TRUSTED))
    except ModelFileError:
        raise
    except Exception as problem:  # a hostile file may fail anywhere in the reader
        raise ModelFileError(
            f"{path} is not a model file that can be read ({type(problem).__name__}: {_short(problem)}). "
            "It may be damaged; save the model again."
        ) from problem
    return _opened(fields, str(path))


def _opened(fields: Any, path: str) -> Saved:
    """Return the fields, after a check of their types."""
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise ModelFileError(
            f"{path} is a skops file, but not one of separatrix.",
            remedy="Models are written by sx.save; read this one with skops.io.load.",
        )
    version, release = fields.get("version"), fields.get("release")
    if version != VERSION:
        raise ModelFileError(
            f"{path} has format version {_short(version)}, written by separatrix {_short(release)}; this "
            f"release, {__version__}, reads version {VERSION}. Install a release that reads it."
        )
    model, columns = fields.get("model"), fields.get("columns")
    if not isinstance(model, BaseEstimator) or not isinstance(columns, dict | None):
        raise ModelFileError(f"{path} holds no model, but {type(model).__name__}. Save the model again.")
    return Saved(model, columns, VERSION, str(release))


def _check_archive(data: bytes, path: str) -> None:
    """Refuse a file that is not an archive, is damaged, or is a decompression bomb."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            _check_sizes(members, len(data), path)
            if any(member.compress_type != zipfile.ZIP_STORED for member in members):
                raise ModelFileError(
                    f"{path} is compressed; a model file is not, so this is not one.",
                    remedy="Read it with skops.io.load if you trust it, and save the model again.",
                )
            broken = archive.testzip()
            if broken is not None:
                raise ModelFileError(
                    f"{path} is damaged: the checksum of its part {broken!r} is wrong. Save the model again."
                )
            for member in members:
                if member.filename.endswith(".npz"):
                    content = archive.read(member)
                    with zipfile.ZipFile(io.BytesIO(content)) as inner:
                        room = max(UNFOLDED_BYTES, UNFOLDED * len(content))
                        _check_sizes(inner.infolist(), room, path)
    except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as problem:
        if isinstance(problem, ModelFileError):
            raise
        raise ModelFileError(
            f"{path} is not a model file, or only a part of one ({_short(problem)}). Save or copy the model "
            "again."
        ) from problem


def _check_sizes(members: list[zipfile.ZipInfo], room: int, path: str) -> None:
    unfolded = sum(member.file_size for member in members)
    if unfolded > room:
        raise ModelFileError(
            f"{path} would expand to {unfolded:,} bytes, more than the {room:,} that a model file of its "
            "size can hold. It was not opened; get the file again from where it was saved."
        )


def _foreign(skops: Any, data: bytes) -> list[str]:
    """Return the types in the file that are not trusted."""
    return sorted(set(skops.get_untrusted_types(data=data)) - set(TRUSTED))


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 160 else text[:157] + "..."


def _skops() -> Any:
    with needs("A model file", extra="cli"), random_state_kept():
        import skops.io
    return skops.io
