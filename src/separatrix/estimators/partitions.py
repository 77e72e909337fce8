"""Models and Dask collections: predict lazily, score and learn partition by partition, where the rows are."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LabelError, SeparatrixError
from ..inputs import known_classes, read_weights
from ..inputs.collections import (
    Partitions,
    delayed_parts,
    is_collection,
    is_frame,
    need_whole_rows,
    one_number_a_row,
)
from ..inputs.frames import titles
from ..inputs.labels import one_label_a_row
from ..rows.blocks import Work


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
    read, labels, weights = _beside_each_other(X, y, sample_weight)
    _need_columns(model, X)
    found = read.map("score", _hits, model, beside=(labels.handles,), each=weights)
    hits, total = (sum(each) for each in zip(*found, strict=True))
    if not total:
        raise InputError("All rows have weight zero; a share of them is none. Give some a positive weight.")
    return float(hits / total)


def learn(model: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
    """Call ``partial_fit`` on each partition in turn: the model goes to the rows, and comes back.

    An error leaves the model as it was; an interrupt leaves it as it was after the last whole partition.
    """
    known_classes(model, classes)
    before = dict(vars(model))
    try:
        read, labels, weights = _beside_each_other(X, y, sample_weight)
        for k in range(len(read.handles)):
            known = classes if k == 0 else None
            one = read.among([k])
            taught = one.map("learn", _taught, model, known, beside=([labels.handles[k]],), each=[weights[k]])
            vars(model).update(taught[0])
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
) -> tuple[Partitions, Partitions, list[tuple[NDArray[np.float64] | None]]]:
    """Partitions of X that have rows, their labels, and the weights of their rows."""
    if not is_frame(X):
        need_whole_rows(X)
    read = Partitions.of(X)
    sizes: list[int] = read.map("look", _length)
    full = [k for k, size in enumerate(sizes) if size]
    read, lengths = read.among(full), [sizes[k] for k in full]
    total, edges = sum(lengths), np.cumsum([0, *lengths])
    if not total:
        raise InputError("X has no rows.")
    if not is_collection(y):
        given = np.asarray(y)
        if len(given) != total:
            raise LabelError(f"X has {total} rows and y has {len(given)} labels; one label a row is needed.")
        own = [(given[a:b],) for a, b in itertools.pairwise(edges)]
        kept = read.runner.keep(Work("labels", _as_it_is, [()] * len(own), own=own))
        labels = Partitions(kept, read.places, read.runner)
    else:
        labels = Partitions.of(y, " of y")
        found = labels.map("look", _length)
        if sum(found) != total:
            raise LabelError(f"X has {total} rows and y has {sum(found)} labels; one label a row is needed.")
        if [size for size in found if size] == lengths:
            labels = labels.among([k for k, size in enumerate(found) if size])
        else:
            labels = Partitions.of(_recut(y, found, lengths), " of y")
    weights = one_number_a_row(sample_weight)
    if weights is None:
        return read, labels, [(None,)] * len(lengths)
    values = read_weights(weights, total)
    return read, labels, [(values[a:b],) for a, b in itertools.pairwise(edges)]


def _recut(y: Any, sizes: list[int], wanted: list[int]) -> Any:
    """Labels in chunks of other lengths, those that X has."""
    import dask.array as da
    from dask.delayed import delayed

    flat = delayed(_flat, pure=True)
    parts = [
        da.from_delayed(flat(part), (size,), meta=np.empty(0, dtype=object))
        for part, size in zip(delayed_parts(y), sizes, strict=True)
    ]
    return da.concatenate(parts).rechunk((tuple(wanted),))


def _flat(labels: Any) -> NDArray[Any]:
    """Labels as objects: pieces of two types would be rounded where they are joined."""
    flat = one_label_a_row(labels, len(labels))
    return flat if flat.dtype.kind in "mM" else flat.astype(object)


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


def _hits(part: Any, labels: Any, model: Any, weights: Any) -> tuple[float, float]:
    known, found = one_label_a_row(labels, len(labels)), model.predict(part)
    if known.dtype.kind != found.dtype.kind:  # NumPy would round numbers of two kinds to compare them
        known, found = known.astype(object), found.astype(object)
    right = np.asarray(found == known)
    if weights is None:
        return float(right.sum()), float(right.size)
    return float(weights[right].sum()), float(weights.sum())


def _taught(part: Any, labels: Any, model: Any, classes: Any, weights: Any) -> dict[str, Any]:
    options = {} if weights is None else {"sample_weight": weights}
    return dict(vars(model.partial_fit(part, labels, classes=classes, **options)))


def _length(part: Any) -> int:
    return int(part.shape[0])


def _as_it_is(value: Any) -> Any:
    return value
