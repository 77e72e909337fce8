"""Predict, score and learn on Dask collections, partition by partition, on the workers that have the rows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, SeparatrixError
from ..inputs.data import count_columns, hits, read_weights
from ..inputs.matrix import is_collection, titles
from ..rows.blocks import BlockMatrix
from .collections import among, is_frame, joined, labels_of, need_as_many, need_whole_rows, started


def mapped(model: Any, method: str, X: Any) -> NDArray[Any]:
    """Return the result of ``predict`` or ``decision_function`` as a Dask array; nothing is computed yet.

    The result has the chunks of X; their lengths are unknown if those of X are.
    """
    frame = is_frame(X)
    if not frame:
        need_whole_rows(X)
    _need_columns(model, X)
    labels = method == "predict"
    dtype = model.classes_.dtype if labels else np.dtype(np.float64)
    many = not labels and len(model.classes_) > 2
    empty = np.empty((0, len(model.classes_)) if many else (0,), dtype=dtype)
    result: NDArray[Any]  # in fact a Dask array
    if frame:
        result = X.map_partitions(_answer, model, method, empty, meta=empty, enforce_metadata=False)
        return result
    chunks = (X.chunks[0], (len(model.classes_),)) if many else (X.chunks[0],)
    result = X.map_blocks(
        _answer,
        model,
        method,
        empty,
        dtype=dtype,
        chunks=chunks,
        drop_axis=None if many else 1,
        meta=empty,
        name=f"separatrix-{method}-{np.random.default_rng().integers(1 << 62):x}",
    )
    return result


def score(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[float, float]:
    """Return the weight of the rows that a model classifies correctly, and that of all rows."""
    read, labelled = _with_labels(X, y, sample_weight)
    _need_columns(model, X)
    right, total = np.sum(read.map("score", _hits, model, each=labelled), axis=0)
    return float(right), float(total)


def learn(model: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
    """Call ``partial_fit`` on each partition in turn: the model is sent to the rows, and returned.

    After an error the model is as before the call; after an interrupt, as after the last whole partition.
    """
    before = dict(vars(model))
    try:
        read, labelled = _with_labels(X, y, sample_weight)
        for k, own in enumerate(labelled):
            known = classes if k == 0 else None
            vars(model).update(among(read, [k]).map("learn", _taught, model, known, each=[own])[0])
    except Exception:
        vars(model).clear()
        vars(model).update(before)
        raise


def _need_columns(model: Any, X: Any) -> None:
    """Refuse columns that differ from those of the training, before anything is computed."""
    names = titles(X) if is_frame(X) else None
    count_columns(model, X.shape[1] if names is None else len(names), names, reset=False)


def _with_labels(
    X: Any, y: Any, sample_weight: Any
) -> tuple[BlockMatrix, list[tuple[NDArray[Any], NDArray[np.float64] | None]]]:
    """Return the partitions of X that have rows, and the labels and weights of the rows of each."""
    if not is_frame(X):
        need_whole_rows(X)
    read = started(X)
    sizes: list[int] = read.map("look", _length)
    full = [k for k, size in enumerate(sizes) if size]
    edges = np.cumsum([0, *(sizes[k] for k in full)])
    total = int(edges[-1])
    if not total:
        raise InputError("X has no rows.")
    labels = joined(started(y, " of y").map("labels", labels_of)) if is_collection(y) else np.asarray(y)
    need_as_many(total, len(labels))
    weights = None if sample_weight is None else read_weights(sample_weight, total)
    cut = [slice(*each) for each in itertools.pairwise(edges)]
    return among(read, full), [(labels[own], None if weights is None else weights[own]) for own in cut]


def _answer(
    part: Any, model: Any, method: str, empty: Any, block_info: Any = None, partition_info: Any = None
) -> Any:
    """Return the result for a partition; Dask says where it is, for arrays and for frames in its own way."""
    if not part.shape[0]:
        return empty
    try:
        return getattr(model, method)(part)
    except SeparatrixError as error:
        place = partition_info["number"] if partition_info else block_info[0]["chunk-location"][0]
        error.context = f"In partition {place}"
        raise


def _hits(part: Any, model: Any, labels: Any, weights: Any) -> tuple[float, float]:
    return hits(model.predict(part), labels, weights)


def _taught(part: Any, model: Any, classes: Any, labels: Any, weights: Any) -> dict[str, Any]:
    options = {} if weights is None else {"sample_weight": weights}
    return dict(vars(model.partial_fit(part, labels, classes=classes, **options)))


def _length(part: Any) -> int:
    return int(part.shape[0])  # a sparse matrix has no len
