"""The digest of the data is what docs/certificates.md says, written here once more from that page."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from scipy import sparse

from separatrix.certificates import digest
from separatrix.errors import InputError
from separatrix.inputs.data import read_data
from separatrix.rows import spill

SHORT = 64  # bytes of a piece here, so that small data have many


def obvious(X, y):
    """The page's recipe, one number at a time."""
    labels = sorted(set(y))
    storage = "csr" if sparse.issparse(X) else "dense"
    kind = X.dtype.newbyteorder("<").str
    text = f"separatrix certificate 1 {storage} {kind} {X.shape[0]} {X.shape[1]}".encode()
    positions = [labels.index(label).to_bytes(8, "little") for label in y]
    if sparse.issparse(X):
        own = X.dtype if X.dtype.kind == "f" else np.int64
        values = [np.array(v, dtype=own).tobytes() for v in X.data]
        indices = [int(v).to_bytes(8, "little") for v in X.indices]
        starts = [int(v).to_bytes(8, "little") for v in X.indptr]
        lists = [values, indices, starts, positions]
    else:
        lists = [[row.tobytes() for row in np.ascontiguousarray(X)], positions]
    for each in lists:
        size = max(1, SHORT // max(1, len(each[0]) if each else 1))
        for start in range(0, len(each), size):
            text += hashlib.sha256(b"".join(each[start : start + size])).digest()
    return hashlib.sha256(text + json.dumps([str(label) for label in labels]).encode()).hexdigest()


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int16, np.uint8])
@pytest.mark.parametrize("shape", [(40, 3), (7, 20), (2, 1)])
def test_the_digest_is_the_documented_one(kind, shape, monkeypatch):
    monkeypatch.setattr(digest, "CHUNK", SHORT)
    X = np.random.default_rng(0).integers(0, 3, shape).astype(kind)
    y = ["ja" if i % 3 else "ñ" for i in range(shape[0])]
    assert digest.start_digest(read_data(X, y))() == obvious(X, y)
    assert digest.start_digest(read_data(np.asfortranarray(X), y))() == obvious(X, y)
    rows = sparse.csr_array(X)
    wide = sparse.csr_array((rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)), shape)
    assert digest.start_digest(read_data(rows, y))() == obvious(rows, y)
    assert digest.start_digest(read_data(wide, y))() == obvious(rows, y)


@pytest.mark.parametrize("width", [1, 3, 20])
@pytest.mark.parametrize("rows", [1, 4, 7])
def test_a_matrix_on_disk_has_the_digest_of_one_in_memory(width, rows, monkeypatch):
    monkeypatch.setattr(digest, "CHUNK", SHORT)
    X = np.random.default_rng(0).standard_normal((40, width))
    spilled = spill.Spill()
    for start in range(0, 40, rows):
        spilled.append(X[start : start + rows])
    mapped, y = spilled.matrix(1 << 20), [i % 2 for i in range(40)]
    assert digest.start_digest(read_data(mapped, y))() == obvious(X, y)
    assert digest.start_digest(read_data(mapped[1:], y[1:]))() == obvious(X[1:], y[1:])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_matrix_on_disk_that_is_not_finite_is_refused_by_its_place(bad):
    X = np.ones((40, 3))
    X[17, 2] = bad
    spilled = spill.Spill()
    spilled.append(X[:20])
    spilled.append(X[20:])
    with pytest.raises(InputError, match="row 17, column 2"):
        read_data(spilled.matrix(1 << 20), [i % 2 for i in range(40)])


@pytest.mark.parametrize("labels", [[3, 1, 3, 7], [-5, -5, 2, 2], [2**62, 2**62 + 1, 2**62, 2**62]])
def test_labels_are_coded_in_their_order(labels):
    for kind in (np.int64, np.uint64, object) if min(labels) >= 0 else (np.int64, np.int8):
        data = read_data(np.zeros((4, 1)), np.array(labels, dtype=kind))
        classes, codes = np.unique(labels, return_inverse=True)
        assert data.labels == tuple(classes.tolist())
        assert np.array_equal(data.codes, codes)
