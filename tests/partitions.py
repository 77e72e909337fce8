"""Matrices and labels cut into the partitions of Dask collections, and a cluster for them."""

from __future__ import annotations

import contextlib
import itertools

import numpy as np
from hypothesis import strategies as st
from scipy import sparse


@st.composite
def cuts(draw, n_rows, most=6):
    """Lengths of partitions, some of them empty, that come to so many rows."""
    edges = draw(st.lists(st.integers(0, n_rows), max_size=most - 1))
    return np.diff([0, *sorted(edges), n_rows]).tolist()


def as_dask(values, lengths, known=True):
    """An array, a CSR matrix, or labels as a Dask array with chunks of these lengths, known or not."""
    import dask.array as da
    from dask.delayed import delayed

    parts, start = [], 0
    meta = values[:0] if sparse.issparse(values) else np.empty((0,) * values.ndim, dtype=values.dtype)
    for length in lengths:
        shape = (length if known else np.nan, *values.shape[1:])
        part = delayed(values[start : start + length], pure=False)
        parts.append(da.from_delayed(part, shape, meta=meta))
        start += length
    return da.concatenate(parts, allow_unknown_chunksizes=not known)


def as_dask_frame(frame, lengths):
    """A data frame with partitions of these lengths."""
    edges = np.cumsum([0, *lengths]).tolist()
    return frames_as_dask([frame.iloc[a:b] for a, b in itertools.pairwise(edges)])


def frames_as_dask(frames, meta=None):
    """Data frames as the partitions of one."""
    import dask.dataframe as dd

    return dd.from_map(_as_it_is, frames, meta=frames[0].iloc[:0] if meta is None else meta)


def _as_it_is(frame):
    return frame


@contextlib.contextmanager
def cluster_of_two():
    """A Dask cluster: two workers, each a process of its own, over TCP. It is not the default one."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, protocol="tcp", dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client
