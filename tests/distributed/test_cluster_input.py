"""Dask collections that cannot be used as they are: each is handled, or named with its partition."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import ClusterError, InputError, InputTypeError, LabelError
from tests.partitions import as_dask, frames_as_dask

pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
pd = pytest.importorskip("pandas")

LENGTHS = [10] * 10


def rows(n=100):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, (X[:, 0] > 0.0).astype(int)


@pytest.fixture(params=["threads", "workers"])
def anywhere(request):
    """With and without a client."""
    if request.param == "workers":
        request.getfixturevalue("client")


def test_chunks_along_columns_are_refused_with_the_remedy():
    X, y = rows()
    for ask in (sx.separability, sx.Perceptron().fit, sx.Perceptron().partial_fit):
        with pytest.raises(InputError, match=r"into 2 chunks.*X\.rechunk\(\{1: -1\}\)"):
            ask(
                da.from_array(X, chunks=(10, 2)),
                y,
                **({"classes": [0, 1]} if "partial" in ask.__name__ else {}),
            )


def test_a_missing_number_is_named_with_its_partition_and_row(anywhere):
    X, y = rows()
    X[73, 1] = np.nan
    model = sx.Perceptron().fit(*rows())
    there = as_dask(X, LENGTHS)
    for ask in (sx.separability, sx.MaxMargin().fit):
        with pytest.raises(InputError, match=r"In partition 7 \(its row 3\): .*NaN: row 73, column 1"):
            ask(there, y)
    with pytest.raises(InputError, match=r"In partition 7: .*NaN: row 3, column 1"):
        model.predict(there).compute()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    with pytest.raises(InputError, match=r"In partition 1 \(its row 3\): .*row 73, column 1 \('b'\)"):
        sx.separability(frames_as_dask([frame[:70], frame[70:]]), y)


def test_columns_that_differ_between_partitions_are_named(anywhere):
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    other = frame[50:].rename(columns={"b": "B"})
    with pytest.raises(InputError, match=r"In partition 1: .*B, b"):
        sx.separability(frames_as_dask([frame[:50], other]), y)
    parts = [da.from_array(X[:50]), da.from_array(X[50:, :2])]
    from dask.delayed import delayed

    wrong = da.concatenate([da.from_delayed(delayed(part), (50, 3), dtype=float) for part in parts])
    with pytest.raises(InputError, match="In partition 1: X has 2 columns, and 3 in partition 0"):
        sx.separability(wrong, y)


def test_a_label_that_appears_in_one_partition_only_is_a_class(anywhere):
    X, _ = rows()
    y = np.array(["many"] * 95 + ["few"] * 5)
    found = sx.separability(as_dask(X, LENGTHS), as_dask(y, LENGTHS))
    assert found.certificate.classes == ("few", "many")
    assert found.status == sx.separability(X, y).status


def test_labels_that_cannot_be_used_are_named_with_their_partition(anywhere):
    X, y = rows()
    missing = y.astype(object)
    missing[42] = None
    with pytest.raises(LabelError, match="In partition 4 of y: y has no label in row 2"):
        sx.separability(as_dask(X, LENGTHS), as_dask(missing, LENGTHS))
    mixed = y.astype(object)
    mixed[:50] = "text"
    with pytest.raises(LabelError, match="mixes text and numbers"):
        sx.separability(as_dask(X, LENGTHS), as_dask(mixed, LENGTHS))
    with pytest.raises(LabelError, match="100 rows and y has 90 labels"):
        sx.separability(as_dask(X, LENGTHS), as_dask(y[:90], [45, 45]))
    with pytest.raises(LabelError, match="one class"):
        sx.Perceptron().fit(as_dask(X, LENGTHS), np.zeros(100))


def test_a_file_that_cannot_be_read_is_named(tmp_path, anywhere):
    import dask.dataframe as dd

    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    for k in range(3):
        frame[k * 30 : (k + 1) * 30].to_parquet(tmp_path / f"part.{k}.parquet")
    there = dd.read_parquet(tmp_path)
    path = tmp_path / "part.2.parquet"
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(ClusterError, match="In partition 2: "):
        sx.separability(there[["a", "b", "c"]], there["y"])


def test_text_and_categories_are_refused_as_in_memory():
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(k=pd.Categorical(y))
    with pytest.raises(InputTypeError) as there:
        sx.separability(frames_as_dask([frame]), y)
    with pytest.raises(InputTypeError) as here:
        sx.separability(frame, y)
    assert str(there.value) == str(here.value)
    with pytest.raises(InputTypeError, match=r"These columns of X do not contain numbers: t \(str"):
        sx.separability(frames_as_dask([frame[["a"]].assign(t="text")]), y)


def test_what_needs_rows_in_memory_says_so():
    X, y = rows()
    there = as_dask(X, LENGTHS)
    for ask in (
        lambda: sx.KernelPerceptron().fit(there, y),
        lambda: sx.MaxMargin(kernel="rbf").fit(there, y),
        lambda: sx.separability(there, y, kernel="rbf"),
        lambda: sx.check_separation("y ~ a", data=frames_as_dask([pd.DataFrame({"a": [1.0], "y": [1]})])),
    ):
        with pytest.raises(InputError, match=r"in memory.*compute\(\)"):
            ask()
    with pytest.raises(InputError, match="needs rows in memory"):
        sx.Perceptron(average=True).fit(there, y)


def test_columns_of_another_training_are_refused_before_anything_is_computed():
    X, y = rows()
    model = sx.Perceptron().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    with pytest.raises(InputError, match="feature names should match"):
        model.predict(frames_as_dask([pd.DataFrame(X, columns=["a", "b", "d"])]))
    with pytest.raises(InputError, match="2 features, but Perceptron is expecting 3"):
        model.score(as_dask(X[:, :2], LENGTHS), y)


def test_weights_that_are_none_of_a_score_are_named():
    X, y = rows(20)
    model = sx.Perceptron().fit(X, y)
    there = as_dask(X, [7, 13]), as_dask(y, [7, 13])
    assert model.score(*there, sample_weight=np.arange(20.0)) == model.score(X, y, np.arange(20.0))
    with pytest.raises(InputError, match=r"one number for each row, shape \(20,\)"):
        model.score(*there, sample_weight=np.ones(19))
    with pytest.raises(InputError, match="All rows have weight zero"):
        model.score(*there, sample_weight=np.zeros(20))
    with pytest.raises(InputError, match=r"one number for each row, shape \(20,\)"):
        model.partial_fit(*there, sample_weight=np.ones(19))
