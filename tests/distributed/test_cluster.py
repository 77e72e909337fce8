"""The same questions, asked of Dask collections: the same answers, however the rows are cut."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix.certificates import digest
from separatrix.certificates.digest import start_digest
from separatrix.errors import InputError
from separatrix.inputs.data import read_data
from separatrix.proofs import signed_rows
from separatrix.rows.block_rows import cluster_rows
from separatrix.rows.memory import as_rows
from tests.elsewhere import PROTOCOL
from tests.partitions import as_dask, as_dask_frame, cuts, frames_as_dask
from tests.problems import STORAGES, grids, separable_grids

pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")


def problem(n=400, d=4, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    normal = rng.normal(size=d)
    scores = X @ normal - 0.3
    y = (scores + noise * rng.normal(size=n) > 0.0).astype(int)
    return X + 0.2 * np.outer(np.sign(scores), normal), y


@st.composite
def partitioned(draw, storages=tuple(STORAGES)):
    """Labelled rows in memory, the same cut into partitions, and labels cut otherwise or not at all."""
    storage, n_classes = draw(st.sampled_from(storages)), draw(st.sampled_from([2, 2, 3]))
    case = draw(st.one_of(grids(storage, n_classes), separable_grids(storage, n_classes)))
    n_rows = case.X.shape[0]
    X, y = STORAGES[case.storage](case.X), case.codes
    lengths = draw(cuts(n_rows))
    how = draw(st.sampled_from(["alike", "otherwise", "here"]))
    labels = y if how == "here" else as_dask(y, lengths if how == "alike" else draw(cuts(n_rows)))
    return (X, y), (as_dask(X, lengths, known=draw(st.booleans())), labels), case.lift


@given(partitioned())
def test_rows_in_partitions_answer_the_protocol_as_rows_in_memory_do(problem):
    (X, y), there, lift = problem
    data, other = read_data(X, y), read_data(*there)
    n_classes = len(data.classes)
    keep = np.arange(y.size) % 3 != 1
    here = as_rows(data.matrix, data.codes, n_classes=n_classes, lift=lift, keep=keep)
    rows = cluster_rows(other.matrix, other.beside, other.codes, n_classes=n_classes, lift=lift, keep=keep)
    assert all(hasattr(rows, name) for name in PROTOCOL)
    for name in ("n_rows", "n_columns", "n_classes", "lifted", "sparse", "numbers", "weights_shape"):
        assert getattr(rows, name) == getattr(here, name)
    assert rows.radius == here.radius
    assert rows.integral == here.integral
    for name in ("labels", "order", "squared_norms"):
        assert np.array_equal(getattr(rows, name), getattr(here, name))
    weights = np.random.default_rng(0).integers(-2, 3, here.weights_shape).astype(float)
    for limit in (1, 3, 100):
        for costs in (None, np.full(1, 2.0), np.arange(y.size) + 1.0):
            found, expected = rows.scan(weights, limit, costs), here.scan(weights, limit, costs)
            assert (found.mistakes, found.cost) == (expected.mistakes, expected.cost)
            assert np.array_equal(found.rows, expected.rows)
            assert np.array_equal(found.scores, expected.scores)
    assert np.array_equal(rows.outputs(weights), here.outputs(weights))
    some = np.random.default_rng(1).permutation(y.size)[:5]
    taken, expected = rows.take(some), here.take(some)
    assert np.array_equal(taken.outputs(weights), expected.outputs(weights))
    assert np.array_equal(taken.labels, expected.labels)
    factors = np.arange(y.size) % 4 - 1.0
    assert np.array_equal(rows.class_sums(factors), here.class_sums(factors))
    assert np.array_equal(np.tril(rows.outer_sum(some)), np.tril(here.outer_sum(some)))
    if n_classes == 2:
        assert np.array_equal(rows.scores(weights), here.scores(weights))
        assert np.array_equal(rows.combination(factors), here.combination(factors))
    counts = np.zeros((y.size, 1 if n_classes == 2 else n_classes), dtype=np.int64)
    counts[some[:2], 0] = [2, 1]
    ours, theirs = np.zeros(here.weights_shape), np.zeros(here.weights_shape)
    rows.combine(counts, np.ones(1), ours)
    here.combine(counts, np.ones(1), theirs)
    assert np.array_equal(ours, theirs)


@given(partitioned(), st.booleans(), st.sampled_from([0, signed_rows.SMALL]), st.data())
def test_a_verdict_does_not_depend_on_the_partitions(problem, quasi, small, data):
    (X, y), there, lift = problem
    options = {"quasi": quasi, "fit_intercept": lift}
    if data.draw(st.booleans()):
        options["sample_weight"] = 1.0 * (np.arange(y.size) != 1)
        if np.unique(np.delete(y, 1)).size < 2:
            return
    here = sx.separability(X, y, **options)
    with pytest.MonkeyPatch.context() as patch:  # small questions are answered by other code
        patch.setattr(signed_rows, "SMALL", small)
        found = sx.separability(*there, **options)
    assert found.status == here.status
    assert found.certificate.sha256 == here.certificate.sha256
    assert found.margin[0] <= here.margin[1]
    assert here.margin[0] <= found.margin[1]
    for certificate in (here.certificate, found.certificate):
        assert sx.verify(certificate, X, y)
        assert sx.verify(certificate, *there)


@pytest.mark.filterwarnings("ignore:Do not use the `random` module")  # threads of the cluster do
@settings(max_examples=6)
@given(partitioned(storages=("float64 by rows", "float32", "uint8", "CSR int32")))
def test_a_verdict_is_the_same_on_a_cluster(client, problem):
    (X, y), there, lift = problem
    here, found = sx.separability(X, y, fit_intercept=lift), sx.separability(*there, fit_intercept=lift)
    assert found.status == here.status
    assert found.certificate.sha256 == here.certificate.sha256
    assert sx.verify(found.certificate, X, y)
    assert sx.verify(here.certificate, *there)


def test_numbers_per_row_are_sent_without_a_warning_of_large_graphs(client):
    dask = pytest.importorskip("dask")
    X, y = problem()
    there = as_dask(X, (100, 300)).persist()
    low = {"distributed.admin.large-graph-warning-threshold": "1 kB"}
    with dask.config.set(low), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sx.Perceptron().fit(there, y).converged_


@pytest.mark.parametrize("multiclass", ["joint", "one-vs-rest", "pairwise"])
def test_questions_about_many_classes_do_not_depend_on_the_partitions(multiclass):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9000, 3))
    y = np.argmax(X @ rng.normal(size=(3, 3)), axis=1)
    y[::2000] = 1
    there = as_dask(X, [4000, 0, 1, 4999]), as_dask(y, [4000, 0, 1, 4999])
    here, found = (sx.separability(*each, multiclass=multiclass) for each in ((X, y), there))
    assert found.status == here.status
    for key, part in {None: found, **found.parts}.items():
        assert part.status == (here.parts[key] if key is not None else here).status
        if part.certificate is not None:
            assert sx.verify(part.certificate, X, y)
            assert sx.verify(part.certificate, *there)


def test_numbers_near_the_ends_of_float64_are_scaled_where_they_are():
    X, y = problem(6000, noise=0.1)
    X = X * np.array([1e200, 1e-200, 1.0, 1e150])
    there = as_dask(X, [1000, 5000]), y
    here, found = sx.separability(X, y, quasi=False), sx.separability(*there, quasi=False)
    assert found.status == here.status == "inseparable"
    assert sx.verify(found.certificate, X, y)


@given(st.data(), st.sampled_from(["float64 by rows", "float32", "uint8", "CSR int32", "CSR int64"]))
def test_the_digest_does_not_depend_on_the_partitions(data, storage):
    case = data.draw(grids(storage))
    X, y = STORAGES[storage](case.X), case.codes
    lengths = data.draw(cuts(y.size))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digest, "CHUNK", data.draw(st.integers(8, 200)))  # pieces across and inside of blocks
        expected = start_digest(read_data(X, y))()
        assert start_digest(read_data(as_dask(X, lengths), as_dask(y, lengths)))() == expected


def test_a_tampered_certificate_is_refused_on_a_cluster_as_in_memory():
    X, y = problem(3000)
    there = as_dask(X, [1000, 1500, 500]), as_dask(y, [1000, 1500, 500])
    good = sx.separability(X, y).certificate
    weights = tuple(-value for value in good.weights[0])
    wrong = replace(good, weights=(weights,))
    assert sx.verify(wrong, *there) == sx.verify(wrong, X, y)
    assert not sx.verify(wrong, *there)
    flipped = y.copy()
    flipped[2999] = 1 - flipped[2999]
    other = as_dask(X, [1000, 1500, 500]), flipped
    found = sx.verify(good, *other, same_data=False)
    assert found.reason == sx.verify(good, X, flipped, same_data=False).reason
    assert "Row 2999" in found.reason


def brackets_meet(a, b):
    return a[0] <= b[1] and b[0] <= a[1]


def test_models_of_a_collection_are_those_of_the_same_rows_in_memory(client):
    X, y = problem(3000)
    there = as_dask(X, [700, 0, 2300]), as_dask(y, [1000, 2000])
    perceptron = sx.Perceptron().fit(*there)
    assert perceptron.converged_
    assert (perceptron.predict(X) == y).all()
    for intercept in (True, "lifted", False):
        ours, theirs = (sx.MaxMargin(fit_intercept=intercept).fit(*each) for each in (there, (X, y)))
        assert brackets_meet(
            (ours.margin_lower_, ours.margin_upper_), (theirs.margin_lower_, theirs.margin_upper_)
        )
        assert ours.converged_ == theirs.converged_
    noisy = problem(3000, noise=1.0)[1]
    weights = np.arange(3000) % 3
    ours, theirs = (
        sx.SoftMargin(C=0.5, class_weight="balanced").fit(each, noisy, sample_weight=weights)
        for each in (there[0], X)
    )
    assert brackets_meet((ours.dual_objective_, ours.objective_), (theirs.dual_objective_, theirs.objective_))
    assert ours.converged_
    assert sx.LinearProgram().fit(*there).converged_


def test_columns_far_from_zero_are_moved_where_they_are():
    X, y = problem(2000)
    X = X + np.array([1e9, 0.0, 0.0, -3e8])
    ours, theirs = (sx.MaxMargin().fit(each, y) for each in (as_dask(X, [1500, 500]), X))
    assert ours.margin_lower_ == pytest.approx(theirs.margin_lower_, rel=1e-6)


def test_many_classes_are_learnt_from_a_collection():
    rng = np.random.default_rng(0)
    centres = 20.0 * np.eye(4)
    y = rng.integers(0, 4, 2000)
    X = centres[y] + rng.normal(size=(2000, 4))
    there = as_dask(X, [999, 1001]), y
    assert sx.Perceptron().fit(*there).converged_
    ours, theirs = sx.MaxMargin().fit(*there), sx.MaxMargin().fit(X, y)
    assert brackets_meet(
        (ours.margin_lower_, ours.margin_upper_), (theirs.margin_lower_, theirs.margin_upper_)
    )
    with pytest.raises(InputError, match="4 classes needs rows in memory"):
        sx.SoftMargin().fit(*there)


def test_a_data_frame_of_files_is_the_same_as_in_memory(tmp_path, client):
    import dask.dataframe as dd

    X, y = problem(500)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=np.arange(500) % 7, label=np.where(y, "yes", "no"))
    for k, length in enumerate([100, 0, 350, 50]):
        start = sum([100, 0, 350, 50][:k])
        frame.iloc[start : start + length].to_parquet(tmp_path / f"part.{k}.parquet")
    there = dd.read_parquet(tmp_path)
    columns = list("abcde")
    here = sx.separability(frame[columns], frame["label"])
    found = sx.separability(there[columns], there["label"])
    assert found.certificate.sha256 == here.certificate.sha256
    assert found.status == here.status
    assert set(found.responsible_features) == set(here.responsible_features)
    assert sx.verify(here.certificate, there[columns], there["label"])
    model = sx.MaxMargin().fit(there[columns], there["label"])
    assert model.feature_names_in_.tolist() == columns
    assert (model.predict(there[columns]).compute() == frame["label"].to_numpy()).all()


@pytest.mark.parametrize("where", ["threads", "workers"])
def test_categories_that_differ_between_partitions_are_encoded_as_in_memory(where, request, tmp_path):
    import dask.dataframe as dd

    if where == "workers":
        request.getfixturevalue("client")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=90).astype(np.float32),
            "light": rng.choice(["sun", "shade"], 90),
            "ward": pd.Categorical(rng.choice(["x", "y"], 90)),
            "dose": pd.array(rng.integers(0, 5, 90), dtype="Int64"),
            "on": rng.random(90) > 0.5,
        }
    )
    frame.loc[70:, "light"] = "dark"  # in the last partition only
    y = np.where(frame["a"] + frame["on"] + (frame["light"] == "dark") > 0.6, "ill", "well")
    parts = [frame[:30], frame[30:60].assign(ward=pd.Categorical(["z"] * 30)), frame[60:]]
    for k, each in enumerate(parts):
        each.to_parquet(tmp_path / f"part.{k}.parquet")
    whole = pd.concat([each.astype({"ward": str}) for each in parts])
    here = pd.get_dummies(whole, columns=["light", "ward"])
    there = dd.get_dummies(dd.read_parquet(tmp_path).categorize(["light", "ward"]), columns=["light", "ward"])
    assert [*there.columns] == [*here.columns]
    ours, theirs = sx.separability(there, y), sx.separability(here, y)
    assert ours.status == theirs.status
    assert ours.certificate.sha256 == theirs.certificate.sha256
    assert sx.verify(ours.certificate, here, y)
    assert sx.verify(theirs.certificate, there, as_dask(y, [45, 45]))
    model = sx.Perceptron(order="mixed").fit(there, y)
    assert model.feature_names_in_.tolist() == [*here.columns]
    assert (model.predict(there).compute() == model.predict(here)).all()


def test_partitions_of_different_types_get_the_type_they_have_together():
    whole = pd.DataFrame({"a": [1, 2, 3, 4], "b": [0, 1, 0, 1]})
    parts = pd.DataFrame({"a": [0.5, 1.5, 7.25, 8.0], "b": [1, 0, 1, 1]})
    frame, y = pd.concat([whole, parts]), np.array([0, 0, 0, 0, 1, 0, 1, 1])
    here, found = sx.separability(frame, y), sx.separability(frames_as_dask([whole, parts]), y)
    assert found.certificate.sha256 == here.certificate.sha256
    whole.loc[2, "a"] = 2**53 + 1
    with pytest.raises(InputError, match=r"In partition 0 .*9007199254740993"):
        sx.separability(frames_as_dask([whole, parts]), y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictions_are_lazy_and_those_of_the_same_rows_in_memory(client, n_classes):
    X, y = problem(600, d=3)
    y = y if n_classes == 2 else np.argmax(X, axis=1)
    labels = np.array(["no", "yes", "perhaps"])[y]
    frame = pd.DataFrame(X, columns=list("abc"))
    lengths = [200, 0, 399, 1]
    for here, there in ((X, as_dask(X, lengths)), (frame, as_dask_frame(frame, lengths))):
        model = sx.Perceptron(average=True, max_iter=20)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(here, labels)
        predicted = model.predict(there)
        assert type(predicted).__module__.startswith("dask.array")
        assert predicted.dtype == model.classes_.dtype
        assert (predicted.compute() == model.predict(here)).all()
        scores = model.decision_function(there)
        assert np.array_equal(scores.compute(), model.decision_function(here))
        assert scores.ndim == model.decision_function(here).ndim
        weights = np.arange(600.0) % 3
        for weight in (None, weights):
            expected = model.score(here, labels, weight)
            assert model.score(there, labels, weight) == pytest.approx(expected, rel=1e-12)
            assert model.score(there, as_dask(labels, [600]), weight) == pytest.approx(expected, rel=1e-12)


@settings(max_examples=10)
@given(cuts(40), cuts(40), st.sampled_from([False, "averaged", "voted"]))
def test_partial_fit_on_a_collection_is_the_sequential_stream(lengths, others, average):
    X, y = problem(40, noise=1.0)
    labels = as_dask(y, others)
    ours, theirs = sx.Perceptron(average=average), sx.Perceptron(average=average)
    for _ in range(2):
        ours.partial_fit(as_dask(X, lengths), labels, classes=[0, 1])
        theirs.partial_fit(X, y, classes=[0, 1])
    assert np.array_equal(ours.coef_, theirs.coef_)
    assert np.array_equal(ours.mistake_counts_, theirs.mistake_counts_)
    assert np.array_equal(ours.decision_function(X), theirs.decision_function(X))


def test_partial_fit_of_a_kernel_on_a_collection_is_the_sequential_stream():
    X, y = problem(60, noise=1.0)
    ours = sx.KernelPerceptron(kernel="rbf").partial_fit(as_dask(X, [20, 40]), y, classes=[0, 1])
    theirs = sx.KernelPerceptron(kernel="rbf").partial_fit(X, y, classes=[0, 1])
    assert np.array_equal(ours.decision_function(X), theirs.decision_function(X))


def test_dask_is_not_imported_unless_a_collection_comes():
    code = (
        "import sys, separatrix as sx; sx.separability([[1.0], [2.0]], [0, 1]); "
        "sx.Perceptron().fit([[1.0], [2.0]], [0, 1]); "
        "assert not {'dask', 'distributed'} & {name.partition('.')[0] for name in sys.modules}"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
