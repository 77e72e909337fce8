"""What a caller passes is read exactly or refused: reproducers of false certificates that once verified."""

from __future__ import annotations

import datetime as dt
import platform
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import separatrix as sx
from separatrix.certificates import Multipliers
from separatrix.errors import CertificateError, InputError, InputTypeError, LabelError, SeparatrixError

BIG = 2**53
DIGITS = [str(BIG + 1), str(BIG)]


def objects(values):
    """An object array of one dimension, whatever its elements are."""
    return np.fromiter(values, dtype=object, count=len(values))


def sets_of(kind):
    return [
        ([[0], [0], [1]], [kind("c"), kind("b"), kind()]),
        ([[0], [1], [2], [1], [2], [0]], [kind("a"), kind("ab"), kind("b")] * 2),
    ]


@pytest.mark.parametrize("kind", [frozenset, set, Counter])
@pytest.mark.parametrize("case", [0, 1])
def test_labels_without_a_total_order_are_refused(kind, case):
    X, labels = sets_of(kind)[case]
    for y in (labels, objects(labels)):
        for use in (sx.separability, sx.Perceptron().fit, sx.MaxMargin().fit):
            with pytest.raises(LabelError):
                use(np.array(X, dtype=float), y)
    proof = sx.separability([[0.0], [1.0], [2.0]], [0, 1, 2]).certificate
    with pytest.raises(LabelError):
        sx.verify(proof, np.array(X, dtype=float), objects(labels))


def test_sets_that_form_a_chain_are_classes():
    chain = [frozenset(), frozenset("a"), frozenset("ab")]
    verdict = sx.separability([[0.0], [1.0], [1.0]], objects(chain))
    assert verdict.certificate.classes == tuple(map(str, chain))
    assert verdict.status == "quasi-separable"


@pytest.mark.parametrize(
    "labels",
    [
        [(1, float("nan")), (1, float("nan")), (0, 1.0)],
        [(1, None), (2, None), (1, None)],
        [(1, (2, np.datetime64("NaT"))), (1, (3, 3)), (1, (3, 3))],
    ],
)
def test_tuples_that_hold_a_missing_value_are_no_labels(labels):
    with pytest.raises(LabelError, match="row 0"):
        sx.separability(np.arange(3.0)[:, None], objects(labels))


def test_tuples_are_classes_where_they_have_an_order():
    labels = [("b", 1), ("a", 2), ("b", 1), ("a", 3)]
    verdict = sx.separability([[0.0], [1.0], [0.0], [1.0]], objects(labels))
    assert verdict.certificate.classes == ("('a', 2)", "('a', 3)", "('b', 1)")
    assert verdict.status == "quasi-separable"


@pytest.mark.parametrize(
    "labels",
    [
        [np.int64(BIG + 1), float(BIG), 1.0],
        [BIG + 1, float(BIG), 1],
        [np.uint64(2**63 + 1), np.int64(-1), np.uint64(2**63)],
        [Decimal(BIG + 1), float(BIG), Fraction(1)],
    ],
)
def test_whole_number_labels_of_mixed_types_are_told_apart(labels):
    assert len(sx.separability(np.arange(3.0)[:, None], objects(labels)).certificate.classes) == 3


def test_unsigned_labels_beyond_floats_are_told_apart():
    y = np.array([BIG + 2, BIG, BIG + 1, BIG + 1], dtype=np.uint64)
    for X in ([[0.0], [1.0], [1.0], [0.0]], [[0.0], [1.0], [2.0], [2.0]], [[0.0], [1.0], [1.0], [2.0]]):
        assert sx.separability(X, y).status == sx.separability(X, [2, 0, 1, 1]).status


def test_whole_numbers_of_lists_keep_64_bits():
    X = [[2**64 - 1], [np.int64(0)], [2**64 - 2]]
    assert sx.separability(X, [0, 1, 1]).status == "separable"
    with pytest.raises(InputError, match=str(2**64 - 1)):
        sx.separability([[2**64 - 1], [-1], [2**64 - 2]], [0, 1, 1])


@pytest.mark.parametrize("labels", [[0.5, 1, 2], [Fraction(1, 2), 0, 1], [Decimal("0.5"), 0, 1]])
def test_fractions_are_no_labels_in_object_arrays_either(labels):
    with pytest.raises(LabelError, match="continuous"):
        sx.separability(np.arange(3.0)[:, None], objects(labels))


@pytest.mark.parametrize("y", [[True, 1, 0], [True, 2.0, False, 0.0][1:]])
def test_a_boolean_and_the_number_that_it_equals_are_no_two_labels(y):
    for labels in (y, objects(y)):
        with pytest.raises(LabelError, match="booleans and numbers"):
            sx.separability(np.arange(3.0)[:, None], labels)


@pytest.mark.parametrize("y", [np.array([1j, 2.0, 1j]), np.array([(1, 2.0)] * 3, dtype="i4,f8")])
def test_complex_numbers_and_records_are_no_labels(y):
    for use in (sx.separability, sx.Perceptron().fit):
        with pytest.raises(InputError):
            use(np.arange(3.0)[:, None], y)


def test_labels_of_other_types_are_compared_exactly_with_known_classes():
    model = sx.Perceptron()
    X = np.array([[0.0], [1.0]])
    model.partial_fit(X, np.array([float(BIG), 0.0]), classes=np.array([0.0, float(BIG)]))
    with pytest.raises(LabelError, match=str(BIG + 1)):
        model.partial_fit(X, np.array([BIG + 1, 0]))
    model = sx.Perceptron()
    model.partial_fit(X, np.array([BIG, 0]), classes=np.array([0, BIG], dtype=np.int64))
    with pytest.raises(LabelError, match=str(BIG + 1)):
        model.partial_fit(X, np.array([BIG + 1, 0], dtype=np.uint64))
    model.partial_fit(X, np.array([BIG, 0], dtype=np.uint64))


def test_whole_numbers_of_numpy_among_floats_are_read_exactly():
    X = np.array([[np.int64(BIG)], [np.int64(BIG + 1)], [0.5]], dtype=object)
    for use in (sx.separability, sx.Perceptron().fit, sx.MaxMargin().fit):
        with pytest.raises(InputError, match=str(BIG + 1)):
            use(X, [0, 1, 0])
    X[1, 0] = np.uint64(BIG + 2)
    assert sx.separability(X, [0, 1, 0]).status == "separable"


def test_whole_numbers_of_numpy_in_object_arrays_keep_64_bits():
    for low, kind in ((BIG, np.int64), (2**63 + 1, np.uint64)):
        X = np.array([[kind(low)], [low + 1]], dtype=object)
        assert sx.separability(X, [0, 1]).status == "separable"


def as_column(library, values, kind=None):
    """A table of one column ``a`` beside a column of floats."""
    floats = [0.5] * len(values)
    if library == "array":
        return np.array([[value, 0.5] for value in values], dtype=object)
    module = pytest.importorskip(library)
    if library == "pandas":
        return module.DataFrame({"a": module.Series(values, dtype=kind), "b": floats})
    if library == "polars":
        return module.DataFrame({"a": module.Series(values, dtype=kind), "b": floats})
    return module.table({"a": module.array(values, type=kind), "b": floats})


def kinds():
    """Columns that hold no numbers, by library."""
    yield pytest.param("array", DIGITS, None, id="text in objects")
    yield pytest.param("pandas", DIGITS, object, id="pandas objects")
    yield pytest.param("pandas", DIGITS, None, id="pandas default text")
    yield pytest.param("pandas", DIGITS, "string[python]", id="pandas string")
    yield pytest.param("pandas", DIGITS, "category", id="pandas category")
    yield pytest.param("pandas", [1, 2], "category", id="pandas category of numbers")
    yield pytest.param("pandas", ["2020-01-01", "2020-01-02"], "datetime64[ns]", id="pandas datetime")
    yield pytest.param("pandas", [1, 2], "timedelta64[ns]", id="pandas timedelta")
    yield pytest.param("pandas", [dt.date(2020, 1, 1)] * 2, object, id="pandas dates")
    yield pytest.param("pandas", [1j, 2.0], complex, id="pandas complex")
    yield pytest.param("polars", DIGITS, None, id="polars text")
    for name in ("string", "large_string"):
        yield pytest.param("pandas", DIGITS, f"{name}[pyarrow]", id=f"pandas {name}")
    for name in ("timestamp[ns]", "duration[s]", "date32"):
        yield pytest.param("pandas", [0, 1], f"{name}[pyarrow]", id=f"pandas {name}")
    try:
        import polars as pl

        yield pytest.param("polars", DIGITS, pl.Categorical, id="polars categorical")
        yield pytest.param("polars", DIGITS, pl.Enum(DIGITS), id="polars enum")
        yield pytest.param("polars", [0, BIG + 1], pl.Datetime("ns"), id="polars datetime")
        yield pytest.param("polars", [0, 1], pl.Date, id="polars date")
        yield pytest.param("polars", [0, 1], pl.Duration("us"), id="polars duration")
        yield pytest.param("polars", [b"1", b"2"], pl.Binary, id="polars binary")
        yield pytest.param("polars", [[1], [2]], pl.List(pl.Int64), id="polars list")
        yield pytest.param("polars", [None, None], pl.Null, id="polars null")
    except ImportError:
        pass
    try:
        import pyarrow as pa

        yield pytest.param("pyarrow", DIGITS, pa.string(), id="arrow text")
        yield pytest.param("pyarrow", DIGITS, pa.large_string(), id="arrow large text")
        yield pytest.param("pyarrow", [0, 1], pa.timestamp("ns"), id="arrow timestamp")
        yield pytest.param("pyarrow", [0, 1], pa.date32(), id="arrow date")
        yield pytest.param("pyarrow", [0, 1], pa.duration("s"), id="arrow duration")
        yield pytest.param("pyarrow", [None, None], pa.null(), id="arrow null")
    except ImportError:
        pass


@pytest.mark.parametrize(("library", "values", "kind"), [*kinds()])
def test_columns_that_hold_no_numbers_are_refused_by_name_and_type(library, values, kind):
    X = as_column(library, values, kind)
    for use in (sx.separability, sx.Perceptron().fit, sx.MaxMargin().fit):
        with pytest.raises(InputTypeError, match=r"(?s)numbers.*(\ba|\b0) \((?!X)"):
            use(X, [1, 0])


def test_text_that_looks_like_numbers_is_not_predicted_on():
    pd = pytest.importorskip("pandas")
    model = sx.Perceptron().fit(pd.DataFrame({"a": [0.0, 1.0]}), [0, 1])
    with pytest.raises(SeparatrixError, match="a \\("):
        model.predict(pd.DataFrame({"a": ["0", "1"]}))


def decimals():
    yield pytest.param("array", None, id="objects")
    yield pytest.param("pandas", object, id="pandas objects")
    try:
        import pandas as pd
        import polars as pl
        import pyarrow as pa

        yield pytest.param("pandas", pd.ArrowDtype(pa.decimal128(38, 4)), id="pandas arrow")
        yield pytest.param("polars", pl.Decimal(38, 4), id="polars")
        yield pytest.param("pyarrow", pa.decimal128(38, 4), id="arrow")
        yield pytest.param("pyarrow", pa.decimal256(50, 4), id="arrow long")
    except ImportError:
        pass


@pytest.mark.parametrize(("library", "kind"), [*decimals()])
def test_decimals_are_read_exactly_or_not_at_all(library, kind):
    exact = as_column(library, [Decimal("0.5"), Decimal("0.25")], kind)
    assert sx.separability(exact, [1, 0]).status == "separable"
    sx.Perceptron().fit(exact, [1, 0])
    for values in (["0.1", "0.2"], [f"{BIG + 1}.0", f"{BIG}.0"]):
        X = as_column(library, [Decimal(each) for each in values], kind)
        for use in (sx.separability, sx.Perceptron().fit):
            with pytest.raises(InputError, match="exactly"):
                use(X, [1, 0])


def whole():
    yield pytest.param("array", None, id="objects")
    for kind in ("int64", "uint64", "Int64", "UInt64", "int64[pyarrow]", object):
        yield pytest.param("pandas", kind, id=f"pandas {kind}")
    try:
        import polars as pl
        import pyarrow as pa

        yield pytest.param("polars", pl.Int64, id="polars")
        yield pytest.param("polars", pl.UInt64, id="polars unsigned")
        yield pytest.param("polars", pl.Int128, id="polars 128 bits")
        yield pytest.param("pyarrow", pa.int64(), id="arrow")
        yield pytest.param("pyarrow", pa.uint64(), id="arrow unsigned")
    except ImportError:
        pass


@pytest.mark.parametrize(("library", "kind"), [*whole()])
def test_whole_numbers_are_read_exactly_beside_floats_or_refused(library, kind):
    X = as_column(library, [BIG, BIG + 1], kind)
    for use in (sx.separability, sx.Perceptron().fit):
        with pytest.raises(InputError, match=str(BIG + 1)):
            use(X, [0, 1])
    X = as_column(library, [BIG, BIG + 2], kind)
    assert sx.separability(X, [0, 1]).status == "separable"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_signed_and_unsigned_columns_are_told_apart(library):
    module = pytest.importorskip(library)
    columns = {"a": np.array([-1, -1]), "b": np.array([2**63, 2**63 + 1], dtype=np.uint64)}
    with pytest.raises(InputError, match="exactly"):
        sx.separability(module.DataFrame(columns), [0, 1])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_booleans_are_numbers_in_every_library(library):
    for values in ([True, False], [1, 0]):
        X = as_column(library, values)
        assert sx.separability(X, [1, 0]).responsible_features["a"] == np.inf


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_missing_cell_is_named_in_every_library(library):
    X = as_column(library, [1, None, 2])
    with pytest.raises(InputError, match="row 1, column 0"):
        sx.separability(X, [1, 0, 1])


def labels_as_dask(parts):
    """Labels as the partitions of one Dask array, each of its own type."""
    da = pytest.importorskip("dask.array")
    from dask.delayed import delayed

    return da.concatenate(
        [da.from_delayed(delayed(each), each.shape, meta=np.empty(0, dtype=parts[0].dtype)) for each in parts]
    )


def rows_as_dask(X, lengths):
    da = pytest.importorskip("dask.array")
    return da.from_array(np.asarray(X, dtype=float), chunks=(tuple(lengths), len(X[0])))


@pytest.mark.parametrize("lengths", [(2, 2), (1, 3), (4,)])
@pytest.mark.parametrize(
    "parts",
    [
        (np.array([BIG, BIG + 1]), np.array([0, 0], dtype=np.uint64)),
        (np.array([-1, -1]), np.array([2**63, 2**63 + 1], dtype=np.uint64)),
        (np.array([BIG + 1, 0]), np.array([float(BIG), 0.0])),
        (np.array([BIG + 1, 0]), objects([BIG, np.int64(0)])),
    ],
)
def test_labels_of_partitions_of_two_types_are_told_apart(parts, lengths):
    y = [int(label) for each in parts for label in each.tolist()]
    X = [[float(k)] for k in range(4)]
    verdict = sx.separability(rows_as_dask(X, lengths), labels_as_dask(parts))
    assert [int(float(each)) if "." in each else int(each) for each in verdict.certificate.classes] == sorted(
        set(y)
    )
    assert sx.verify(verdict.certificate, rows_as_dask(X, lengths), labels_as_dask(parts)).holds
    codes = np.unique(objects(y), return_inverse=True)[1]
    assert verdict.status == sx.separability(X, codes).status


def test_text_of_partitions_of_two_types_is_told_apart():
    parts = np.array(["a", "b"]), objects(["a\0", "longer"])
    verdict = sx.separability(rows_as_dask([[0.0], [1.0], [2.0], [3.0]], (2, 2)), labels_as_dask(parts))
    assert verdict.certificate.classes == ("a", "a\0", "b", "longer")


@pytest.mark.parametrize(
    "parts",
    [
        (np.array([True, False]), np.array([1, 2])),
        (np.array([0, 1]), np.array(["0", "1"])),
        (np.array([0, 1]), np.array(["2020", "2021"], dtype="datetime64[D]")),
        (objects([frozenset("a"), frozenset("a")]), objects([frozenset("b"), frozenset()])),
        (objects([(1, float("nan"))] * 2), objects([(2, 2.0)] * 2)),
    ],
)
def test_labels_of_partitions_that_have_no_common_order_are_refused(parts):
    with pytest.raises(LabelError):
        sx.separability(rows_as_dask([[0.0], [1.0], [2.0], [3.0]], (2, 2)), labels_as_dask(parts))


def test_categories_of_partitions_are_told_apart_by_their_values():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    parts = [pd.Series(pd.Categorical(each)) for each in (["b", "c"], ["a", "b"])]
    y = dd.from_map(lambda part: part, parts, meta=parts[0].iloc[:0])
    verdict = sx.separability(rows_as_dask([[0.0], [1.0], [2.0], [0.0]], (2, 2)), y)
    assert verdict.certificate.classes == ("a", "b", "c")
    assert verdict.status == sx.separability([[0.0], [1.0], [2.0], [0.0]], [1, 2, 0, 1]).status


@pytest.mark.parametrize("lengths", [(2, 2), (1, 3)])
def test_online_learning_and_scores_tell_labels_of_two_types_apart(lengths):
    X = rows_as_dask([[0.0], [1.0], [0.0], [1.0]], lengths)
    parts = np.array([0, BIG + 1]), np.array([0, BIG], dtype=np.uint64)
    model = sx.Perceptron()
    with pytest.raises(LabelError, match=str(BIG)):
        model.partial_fit(X, labels_as_dask(parts), classes=np.array([0, BIG + 1]))
    parts = np.array([0, BIG + 1]), np.array([0, BIG + 1], dtype=np.uint64)
    model.partial_fit(X, labels_as_dask(parts), classes=np.array([0, BIG + 1]))
    model.fit(np.array([[0.0], [1.0]]), np.array([0, BIG]))
    assert model.score(X, labels_as_dask(parts)) == 0.5


def test_columns_of_partitions_are_refused_by_name_and_type():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    for kind in (object, "category"):
        frame = pd.DataFrame({"a": pd.Series(DIGITS * 2, dtype=kind), "b": [0.5] * 4})
        with pytest.raises(InputTypeError, match=r"numbers: a \(str|numbers: a \(category"):
            sx.separability(dd.from_pandas(frame, npartitions=2), [0, 1, 0, 1])


def flush_subnormal_numbers():
    """Let this thread count numbers below 2**-1022 as zero, as some libraries do."""
    import ctypes

    library, environment = ctypes.CDLL("libm.so.6"), (ctypes.c_uint32 * 8)()
    library.fegetenv(environment)
    environment[7] |= 0x8040  # in MXCSR: results and operands
    library.fesetenv(environment)
    return 2.0**-1022 * np.float64(0.5) == 0.0


@pytest.mark.skipif(
    platform.system() != "Linux" or platform.machine() != "x86_64", reason="sets the environment of x86-64"
)
def test_a_worker_of_a_cluster_that_flushes_subnormal_numbers_proves_nothing():
    distributed, da = pytest.importorskip("distributed"), pytest.importorskip("dask.array")
    X, y = np.array([[2.0**-1030], [-(2.0**-1030)]]), np.array([1, 0])
    proof = sx.separability(X, y).certificate
    assert proof.claim == "separable"
    # where both numbers count as zero, so does the sum of the signed rows
    false = replace(proof, claim="overlapping", weights=None, multipliers=Multipliers((0, 1), (), (1, 1)))
    X_there = da.from_array(X, chunks=(1, 1))
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        client.as_current(),
    ):
        assert sx.verify(proof, X_there, y).holds
        assert not sx.verify(false, X_there, y).holds
        if not client.submit(flush_subnormal_numbers, pure=False).result():
            pytest.skip("this machine has no such mode")
        for ask in (
            lambda: sx.separability(X_there, y),
            lambda: sx.verify(proof, X_there, y),
            lambda: sx.verify(false, X_there, y),
            lambda: sx.Perceptron().fit(X_there, y),
        ):
            with pytest.raises(CertificateError, match="subnormal"):
                ask()


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # so does scikit-learn say it
@pytest.mark.parametrize("kind", [str, int, float])
def test_a_target_with_a_value_for_each_row_is_no_target(kind):
    X, y = np.arange(1500.0)[:, None], np.array([kind(k) for k in range(1500)])
    for use in (sx.separability, sx.Perceptron().fit, sx.MaxMargin().fit, sx.SoftMargin().fit):
        with pytest.raises(LabelError, match=r"1,500 distinct values.*an identifier or a number"):
            use(X, y)
    with pytest.raises(LabelError, match="1,500 distinct values"):
        sx.separability(rows_as_dask(X.tolist(), (700, 800)), y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("classes", "rows"), [(1000, 1000), (1200, 2400)])
def test_many_classes_are_used_where_they_are_few_or_have_rows(classes, rows):
    X, y = np.arange(float(rows))[:, None], np.arange(rows) * classes // rows
    assert sx.Perceptron(max_iter=1, order="cyclic").fit(X, y).classes_.size == classes


def test_the_command_line_asks_whether_a_target_is_an_identifier(tmp_path):
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from separatrix.cli.app import app

    path = tmp_path / "names.csv"
    path.write_text("a,name\n" + "".join(f"{k},row {k}\n" for k in range(1500)))
    for command in ("check", "fit"):
        found = CliRunner().invoke(app, [command, str(path), "--target", "name"])
        assert found.exit_code == 2
        told = " ".join(found.output.split())
        assert "1,500 distinct values" in told
        assert "identifier or a number" in told
        assert "--target" in told


def test_counts_and_ordered_categories_are_said_to_be_nominal_here(tmp_path):
    pd = pytest.importorskip("pandas")
    X = [[0.0], [1.0], [2.0], [3.0]]
    counts = sx.separability(X, [0, 1, 2, 1])
    assert "counts (0, 1, 2, ...)" in counts.summary()
    assert "model='poisson'" in counts.summary()
    grades = pd.Series(pd.Categorical(["low", "mid", "high", "mid"], ["low", "mid", "high"], ordered=True))
    for verdict in (
        sx.separability(X, grades),
        sx.separability(X, grades, multiclass="pairwise"),
        sx.check_separation("grade ~ x", data=pd.DataFrame({"grade": grades, "x": [1.0, 0.0, 1.0, 2.0]})),
    ):
        assert "ordered category" in verdict.summary()
        assert "nominal" in verdict.summary()
    for y in (["a", "b", "c", "a"], [0, 1, 0, 1], [True, False, True, True], [10, 20, 35, 10]):
        assert not sx.separability(X, y).note


def test_check_says_that_counts_are_treated_as_nominal_classes(tmp_path):
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from separatrix.cli.app import app

    path = tmp_path / "counts.csv"
    path.write_text("a,claims\n1,0\n2,1\n3,2\n4,1\n5,0\n")
    for more in ([], ["--json"]):
        found = CliRunner().invoke(app, ["check", str(path), "--target", "claims", *more])
        assert "treated as nominal classes" in " ".join(found.output.split())


RANDOM = """
import random, sys, warnings
state = random.getstate()
import numpy as np
numbers = np.random.get_state()
import separatrix as sx
import separatrix.kernels, separatrix.features

warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(120, 3))
for y in ((X[:, 0] > 0).astype(int), np.arange(120) % 2, np.arange(120) % 3):
    for model in (sx.Perceptron(), sx.Perceptron(order="shuffled"), sx.SoftMargin(), sx.KernelPerceptron()):
        model.fit(X, y).predict(X)
    verdict = sx.separability(X, y, time_limit=5.0)
    sx.verify(verdict.certificate, X, y)
    sx.separability(X, y, kernel=sx.kernels.Polynomial(degree=2), time_limit=5.0)
    sx.features.Monomials(2).fit_transform(X)
sx.MaxMargin().fit(X, (X[:, 0] > 0).astype(int))
if sys.argv[1:]:
    sx.save(sx.Perceptron().fit(X, y), sys.argv[1])
    sx.load(sys.argv[1])
assert random.getstate() == state, "random"
after = np.random.get_state()
assert all(np.array_equal(a, b) for a, b in zip(numbers, after)), "numpy"
"""


def test_first_imports_fits_and_verdicts_leave_the_global_random_state_alone(tmp_path):
    try:
        import skops  # noqa: F401

        more = [str(tmp_path / "model.sx")]
    except ImportError:
        more = []
    subprocess.run([sys.executable, "-c", RANDOM, *more], check=True)
