"""Models and Dask collections: predict lazily, score and learn partition by partition, where the rows are."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LabelError, SeparatrixError
from ..inputs.dask_hook import is_collection
from ..inputs.data import read_weights
from ..inputs.frames import titles
from ..inputs.labels import as_objects, one_label_a_row
from .collections import Partitions, is_frame, need_whole_rows


def mapped(model: Any, method: str, X: Any) -> NDArray[Any]:
    """A Dask array of what a method of a model says of each row; nothing is computed yet.

    Parameters
    ----------
    model : estimator
    method : {"predict", "decision_function"}
    X : Dask array or data frame
        The chunks of the answer are those of X, of unknown length if those are.
    """
    frame = is_frame(X)
    if not frame:
        need_whole_rows(X)
    _need_columns(model, X)
    labels = method == "predict"
    dtype = model.classes_.dtype if labels else np.dtype(np.float64)
    many = not labels and len(model.classes_) > 2
    empty = np.empty((0, len(model.classes_)) if many else (0,), dtype=dtype)
    told: NDArray[Any]  # of Dask, used as one of NumPy is
    if frame:
        told = X.map_partitions(_told_frame, model, method, empty, meta=empty, enforce_metadata=False)
        return told
    chunks = (X.chunks[0], (len(model.classes_),)) if many else (X.chunks[0],)
    told = X.map_blocks(
        _told_block,
        model,
        method,
        empty,
        dtype=dtype,
        chunks=chunks,
        drop_axis=None if many else 1,
        meta=empty,
        name=f"separatrix-{method}-{np.random.default_rng().integers(1 << 62):x}",
    )
    return told


def score(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """The share of the rows, or of their weight, that a model puts into their class."""
    read, beside = _beside_each_other(X, y, sample_weight)
    _need_columns(model, X)
    found = read.map("score", _hits, model, each=beside)
    hits, total = (sum(each) for each in zip(*found, strict=True))
    if not total:
        raise InputError("All rows have weight zero; a share of them is none. Give some a positive weight.")
    return float(hits / total)


def learn(model: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
    """Call ``partial_fit`` on each partition in turn: the model goes to the rows, and comes back.

    An error leaves the model as it was; an interrupt leaves it as it was after the last whole partition.
    """
    before = dict(vars(model))
    try:
        read, beside = _beside_each_other(X, y, sample_weight)
        for k, own in enumerate(beside):
            known = classes if k == 0 else None
            vars(model).update(read.among([k]).map("learn", _taught, model, known, each=[own])[0])
    except Exception:
        vars(model).clear()
        vars(model).update(before)
        raise


def _need_columns(model: Any, X: Any) -> None:
    """Refuse columns that are not those of the training, before anything is computed."""
    names = titles(X) if is_frame(X) else None
    known = getattr(model, "feature_names_in_", None)
    if names is not None and known is not None and tuple(map(str, known)) != names:
        raise InputError(
            "The feature names should match those that were passed during fit. "
            f"Got {', '.join(names[:5])} instead of {', '.join(map(str, known[:5]))}."
        )
    width = len(names) if names is not None else X.shape[1]
    if width == width and width != model.n_features_in_:
        raise InputError(
            f"X has {width} features, but {type(model).__name__} is expecting {model.n_features_in_} "
            "features as input."
        )


def _beside_each_other(
    X: Any, y: Any, sample_weight: Any
) -> tuple[Partitions, list[tuple[NDArray[Any], NDArray[np.float64] | None]]]:
    """Partitions of X that have rows, and the labels and weights of the rows of each."""
    if not is_frame(X):
        need_whole_rows(X)
    read = Partitions.of(X)
    sizes: list[int] = read.map("look", _length)
    full = [k for k, size in enumerate(sizes) if size]
    edges = np.cumsum([0, *(sizes[k] for k in full)])
    total = int(edges[-1])
    if not total:
        raise InputError("X has no rows.")
    labels = _joined(Partitions.of(y, " of y").map("labels", _labels)) if is_collection(y) else np.asarray(y)
    if len(labels) != total:
        raise LabelError(f"X has {total} rows and y has {len(labels)} labels; one label a row is needed.")
    weights = None if sample_weight is None else read_weights(sample_weight, total)
    cut = [slice(*each) for each in itertools.pairwise(edges)]
    return read.among(full), [(labels[own], None if weights is None else weights[own]) for own in cut]


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Labels one after the other: as objects if they are of two types, which NumPy would round."""
    full = [part for part in parts if part.size]
    if len({part.dtype.kind for part in full}) > 1:
        return as_objects([label for part in full for label in part.tolist()])
    return np.concatenate(full or parts)


def _labels(part: Any) -> NDArray[Any]:
    return one_label_a_row(part, len(part))


def _told_block(block: Any, model: Any, method: str, empty: Any, block_info: Any = None) -> Any:
    place = block_info[0]["chunk-location"][0] if block_info else -1
    return _told(block, model, method, empty, place)


def _told_frame(part: Any, model: Any, method: str, empty: Any, partition_info: Any = None) -> Any:
    return _told(part, model, method, empty, partition_info["number"] if partition_info else -1)


def _told(part: Any, model: Any, method: str, empty: Any, place: int) -> Any:
    if not part.shape[0]:
        return empty
    try:
        return getattr(model, method)(part)
    except SeparatrixError as error:
        error.context = f"In partition {place}"
        raise


def _hits(part: Any, model: Any, labels: Any, weights: Any) -> tuple[float, float]:
    known, found = one_label_a_row(labels, len(labels)), model.predict(part)
    if known.dtype.kind != found.dtype.kind:  # NumPy would round numbers of two kinds to compare them
        known, found = known.astype(object), found.astype(object)
    right = np.asarray(found == known)
    if weights is None:
        return float(right.sum()), float(right.size)
    return float(weights[right].sum()), float(weights.sum())


def _taught(part: Any, model: Any, classes: Any, labels: Any, weights: Any) -> dict[str, Any]:
    options = {} if weights is None else {"sample_weight": weights}
    return dict(vars(model.partial_fit(part, labels, classes=classes, **options)))


def _length(part: Any) -> int:
    return int(part.shape[0])
