"""The versions that pyproject.toml allows: what they must get right, and how their bounds are read."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix.loops.rows import DenseRows, combine
from tests.oldest import lower_bounds, read_project


def test_a_loop_tells_rows_apart_that_differ_in_order_or_type_only():
    # numba looks a call's types up by a fingerprint. Before 0.61 it lost the first 40 bytes of a longer one,
    # where the memory order and the type of our values stand: after some thirty calls, rows by columns were
    # read by the loop for rows by rows.
    values = np.array([[1, 2, 3], [4, 5, 6]])
    alike = [np.array(values, dtype=kind, order=order) for kind in "dfi" for order in "CF"]
    labels, counts, steps = np.ones(2, dtype=np.int32), np.array([[0], [1]]), np.ones(1)
    for turn in range(200):
        for matrix in alike:
            w = np.zeros(3)
            combine(DenseRows(matrix, labels, False), counts, steps, w)
            assert w.tolist() == [4, 5, 6], (turn, matrix.dtype, matrix.flags.f_contiguous)


def test_every_dependency_has_one_lower_bound():
    bounds = lower_bounds(read_project())
    assert {"numpy", "numba", "duckdb", "pytest"} <= bounds.keys()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["numpy"], "no lower bound"),
        (["numpy>=1", "numpy>=2"], "two lower bounds"),
        (["numpy<3"], "no lower bound"),
    ],
)
def test_a_requirement_without_one_lower_bound_is_refused(asked, message):
    with pytest.raises(ValueError, match=message):
        lower_bounds({"name": "separatrix", "dependencies": asked, "optional-dependencies": {}})


def test_an_extra_that_names_extras_adds_no_bound():
    project = {
        "name": "separatrix",
        "dependencies": ["numpy>=1.26"],
        "optional-dependencies": {"cli": ["rich>=13"], "dev": ["separatrix[cli]"]},
    }
    assert lower_bounds(project) == {"numpy": "1.26", "rich": "13"}
