"""Labels, frame libraries and column types against exact rationals: a target of ``make fuzz``.

A case is a few rows of numbers and labels that are known exactly, handed over in one of many types. What is
accepted has to be those numbers and those classes, and the verdict on them that of a rational simplex method;
what is refused is refused by InputError, and never where nothing but ordinary types was used.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import separatrix as sx
from separatrix.errors import InputError
from separatrix.inputs.data import read_data
from separatrix.inputs.training import read_training_anywhere
from tests import naive

BIG = 2**53
TOP = 2**63
SECONDS = 5.0  # for a verdict, which may end as undecided or inseparable
DASK = 0.03  # the share of cases in partitions, which take long


@dataclass(frozen=True, eq=False)
class Column:
    """Values in some type: the numbers, or None where it holds none; and whether it must be accepted."""

    values: Any
    numbers: list[Fraction] | None
    ordinary: bool = False


def whole(rng: random.Random, count: int, low: int = -TOP, high: int = TOP - 1) -> list[int]:
    """Neighbors, small or where floats have gaps, in a range."""
    base = rng.choice([0, 0, 0, -1, BIG, -BIG, TOP - 3, 2 * TOP - 3, -TOP])
    found = [base + rng.randrange(3) for _ in range(count)]
    if rng.random() < 0.2:
        found[rng.randrange(count)] = rng.randrange(3)
    return [min(max(each, low), high) for each in found]


def fractions_of_two(rng: random.Random, count: int) -> list[float]:
    """Floats: small, beside each other, beyond 2**53, or subnormal."""
    scale = rng.choice([0.5, 0.5, 1.0, 2.0**-1074, 2.0**53, 2.0**-30])
    base = rng.choice([0.0, 1.0]) if scale <= 1.0 else 0.0
    return [base + scale * rng.randrange(-1, 3) for _ in range(count)]


def floats32(rng: random.Random, count: int) -> list[float]:
    return [
        float(np.float32(rng.choice([0.1, 0.5, 1.0, 2.0**24, 2.0**-140]) * rng.randrange(3)))
        for _ in range(count)
    ]


def booleans(rng: random.Random, count: int) -> list[bool]:
    return [rng.random() < 0.5 for _ in range(count)]


def decimals(rng: random.Random, count: int) -> list[Decimal]:
    """Of up to four places; some are no floats."""
    texts = rng.choice([["0.5", "0.25", "1"], ["0.1", "0.2", "0.5"], [f"{BIG}.0", f"{BIG + 1}.0", "0.5"]])
    return [Decimal(rng.choice(texts)) for _ in range(count)]


def mixed(rng: random.Random, count: int) -> list[Any]:
    """Numbers of many types side by side."""
    makers: list[Callable[[], Any]] = [
        lambda: whole(rng, 1)[0],
        lambda: np.int64(whole(rng, 1)[0]),
        lambda: np.uint64(whole(rng, 1, 0, 2 * TOP - 1)[0]),
        lambda: fractions_of_two(rng, 1)[0],
        lambda: np.float32(0.1),
        lambda: np.float64(rng.choice([0.1, float(BIG)])),
        lambda: decimals(rng, 1)[0],
        lambda: Fraction(rng.randrange(3), rng.choice([2, 3])),
        lambda: rng.random() < 0.5,
        lambda: np.bool_(rng.random() < 0.5),
    ]
    some = rng.sample(makers, rng.choice([1, 2, 3]))
    return [rng.choice(some)() for _ in range(count)]


def exact(value: Any) -> Fraction:
    """A number as it is."""
    return Fraction(value.item() if isinstance(value, np.generic) else value)


def texts(rng: random.Random, count: int) -> list[str]:
    """Text that looks like numbers."""
    return [str(each) for each in whole(rng, count)]


def objects(values: list[Any]) -> np.ndarray:
    return np.fromiter(values, dtype=object, count=len(values))


def dates(rng: random.Random, count: int) -> list[dt.date]:
    return [dt.date(2020, 1, 1 + rng.randrange(3)) for _ in range(count)]


SIGNED, UNSIGNED = (-TOP, TOP - 1), (0, 2 * TOP - 1)


def column(rng: random.Random, library: str, count: int) -> Column:
    """A column of a library, of a random type."""
    return rng.choice(KINDS[library])(rng, count)


def typed(
    make: Callable[..., Any], values: Callable[..., list[Any]], *options: Any, ordinary: bool = True
) -> Any:
    """A column of numbers made by ``make(values)``."""

    def made(rng: random.Random, count: int) -> Column:
        found = values(rng, count, *options)
        numbers = [exact(each) for each in found]
        small = all(abs(each) < BIG and each == Fraction(float(each)) for each in numbers)
        return Column(make(found), numbers, small)

    return made


def no_numbers(make: Callable[..., Any], values: Callable[..., list[Any]] = texts) -> Any:
    """A column that must be refused."""
    return lambda rng, count: Column(make(values(rng, count)), None)


def of_pandas(kind: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pd.Series(values, dtype=kind)


def of_polars(kind: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pl.Series(values, dtype=kind)


def of_arrow(kind: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pa.chunked_array([pa.array(values, type=kind)])


def as_they_are(values: list[Any]) -> Any:
    return objects(values)


PANDAS = [
    *(typed(of_pandas(kind), whole, *SIGNED) for kind in ("int64", "Int64", "int64[pyarrow]", object)),
    *(typed(of_pandas(kind), whole, *UNSIGNED) for kind in ("uint64", "UInt64", "uint64[pyarrow]")),
    typed(of_pandas("int8"), whole, -100, 100),
    *(typed(of_pandas(kind), fractions_of_two) for kind in ("float64", "Float64", "double[pyarrow]", object)),
    *(typed(of_pandas(kind), floats32) for kind in ("float32", "Float32", "float[pyarrow]")),
    *(typed(of_pandas(kind), booleans) for kind in ("bool", "boolean", "bool[pyarrow]", object)),
    typed(of_pandas(object), mixed),
    typed(of_pandas(object), decimals),
    typed(of_pandas(pd.ArrowDtype(pa.decimal128(38, 4))), decimals),
    *(no_numbers(of_pandas(kind)) for kind in (object, None, "string", "category", "string[pyarrow]")),
    no_numbers(of_pandas("datetime64[ns]"), dates),
    no_numbers(of_pandas("date32[pyarrow]"), dates),
    no_numbers(of_pandas(object), dates),
    no_numbers(of_pandas("category"), booleans),
    no_numbers(of_pandas("timedelta64[ns]"), lambda rng, count: whole(rng, count, 0, 10**9)),
]
POLARS = [
    *(typed(of_polars(kind), whole, *SIGNED) for kind in (pl.Int64, pl.Int128, pl.Object)),
    typed(of_polars(pl.UInt64), whole, *UNSIGNED),
    typed(of_polars(pl.Int16), whole, -100, 100),
    typed(of_polars(pl.Float64), fractions_of_two),
    typed(of_polars(pl.Float32), floats32),
    typed(of_polars(pl.Boolean), booleans),
    typed(of_polars(pl.Decimal(38, 4)), decimals),
    typed(of_polars(pl.Object), mixed),
    *(no_numbers(of_polars(kind)) for kind in (pl.String, pl.Categorical, pl.Object)),
    no_numbers(lambda values: pl.Series(values, dtype=pl.Enum(sorted(set(values))))),
    no_numbers(of_polars(pl.Date), dates),
    no_numbers(of_polars(pl.Datetime("ns")), lambda rng, count: whole(rng, count, *SIGNED)),
    no_numbers(of_polars(pl.Duration("us")), lambda rng, count: whole(rng, count, 0, BIG)),
]
ARROW = [
    typed(of_arrow(pa.int64()), whole, *SIGNED),
    typed(of_arrow(pa.uint64()), whole, *UNSIGNED),
    typed(of_arrow(pa.int8()), whole, -100, 100),
    typed(of_arrow(pa.float64()), fractions_of_two),
    typed(of_arrow(pa.float32()), floats32),
    typed(of_arrow(pa.bool_()), booleans),
    typed(of_arrow(pa.decimal128(38, 4)), decimals),
    typed(of_arrow(pa.decimal256(50, 4)), decimals),
    *(no_numbers(of_arrow(kind)) for kind in (pa.string(), pa.large_string())),
    no_numbers(lambda values: pa.chunked_array([pa.array(values).dictionary_encode()])),
    no_numbers(of_arrow(pa.date32()), dates),
    no_numbers(of_arrow(pa.timestamp("ns")), lambda rng, count: whole(rng, count, *SIGNED)),
]
OBJECTS = [
    typed(as_they_are, whole, *SIGNED),
    typed(as_they_are, whole, *UNSIGNED),
    typed(as_they_are, fractions_of_two),
    typed(as_they_are, booleans),
    typed(as_they_are, decimals),
    typed(as_they_are, mixed),
    no_numbers(as_they_are),
    no_numbers(as_they_are, dates),
]
KINDS = {
    "pandas": PANDAS,
    "dask": PANDAS,
    "polars": POLARS,
    "pyarrow": ARROW,
    "object array": OBJECTS,
    "list": OBJECTS,
}


def table(library: str, columns: list[Column]) -> Any:
    """The columns side by side, as the library has them."""
    named = {f"c{j}": each.values for j, each in enumerate(columns)}
    if library == "polars":
        return pl.DataFrame([each.alias(name) for name, each in named.items()])
    if library == "pyarrow":
        return pa.table(named)
    if library in ("pandas", "dask"):
        frame = pd.DataFrame(named)
        if library == "pandas":
            return frame
        import dask
        import dask.dataframe as dd

        half = len(frame) // 2
        with dask.config.set({"dataframe.convert-string": False}):  # else Dask makes text of objects
            return dd.from_map(_as_it_is, [frame.iloc[:half], frame.iloc[half:]], meta=frame.iloc[:0])
    rows = [list(row) for row in zip(*(each.values.tolist() for each in columns), strict=True)]
    if library == "list":
        return rows
    matrix = np.empty((len(rows), len(columns)), dtype=object)
    for place in np.ndindex(matrix.shape):
        matrix[place] = rows[place[0]][place[1]]
    return matrix


def _as_it_is(part: Any) -> Any:
    return part


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels in some type, the labels themselves, and whether they must be accepted, or refused."""

    y: Any
    truth: list[Any]
    ordinary: bool = False
    refused: bool = False


def labels(rng: random.Random, count: int, library: str) -> Labels:
    """Labels of a random type."""
    made: Labels = rng.choice(LABELS)(rng, count)
    if library == "dask" and rng.random() < 0.7:
        parts = [rng.choice(NUMERIC)(rng, each) for each in (count // 2, count - count // 2)]
        import dask.array as da
        from dask.delayed import delayed

        arrays = [np.asarray(part.y) for part in parts]
        y = da.concatenate(
            [da.from_delayed(delayed(each), each.shape, meta=np.empty(0, arrays[0].dtype)) for each in arrays]
        )
        return Labels(y, [label for part in parts for label in part.truth])
    return made


def small(rng: random.Random, count: int) -> list[int]:
    return [rng.randrange(2) for _ in range(count)]


def words(rng: random.Random, count: int) -> list[str]:
    return [rng.choice(["a", "b", "a ", "A", "", "\0a", "é"]) for _ in range(count)]


def sets(rng: random.Random, count: int) -> list[Any]:
    kind = rng.choice([frozenset, frozenset, set])
    return [kind(rng.choice(["", "a", "b", "ab", "c", "abc"])) for _ in range(count)]


def pairs(rng: random.Random, count: int) -> list[Any]:
    odd = rng.choice([0, 0, None, float("nan")])
    return [(rng.randrange(2), rng.choice([1, 1.0, odd])) for _ in range(count)]


def holds_missing(values: list[Any]) -> bool:
    return any(part is None or part != part for each in values for part in each)


def kind_of_labels(
    make: Callable[..., Any], values: Callable[..., list[Any]], *options: Any, ordinary: bool = False
) -> Any:
    def made(rng: random.Random, count: int) -> Labels:
        found = values(rng, count, *options)
        return Labels(make(found), found, ordinary)

    return made


def made_pairs(rng: random.Random, count: int) -> Labels:
    found = pairs(rng, count)
    return Labels(objects(found), found, refused=holds_missing(found))


def whole_floats(rng: random.Random, count: int) -> list[float]:
    return [float(each) for each in whole(rng, count)]


NUMERIC = [
    kind_of_labels(lambda found: np.array(found, dtype=np.int64), whole, *SIGNED),
    kind_of_labels(lambda found: np.array(found, dtype=np.uint64), whole, *UNSIGNED),
    kind_of_labels(lambda found: np.array(found, dtype=np.int64), small, ordinary=True),
    kind_of_labels(np.array, whole_floats),
    kind_of_labels(objects, whole, *UNSIGNED),
]
LABELS = [
    *NUMERIC,
    kind_of_labels(list, whole, *UNSIGNED),
    kind_of_labels(list, small, ordinary=True),
    kind_of_labels(np.array, booleans, ordinary=True),
    kind_of_labels(objects, mixed),
    kind_of_labels(list, mixed),
    kind_of_labels(objects, words, ordinary=True),
    kind_of_labels(list, words, ordinary=True),
    kind_of_labels(objects, sets),
    kind_of_labels(list, sets),
    made_pairs,
    kind_of_labels(objects, dates, ordinary=True),
    kind_of_labels(lambda found: np.array(found, dtype="datetime64[D]"), dates, ordinary=True),
    *(
        kind_of_labels(of_pandas(kind), whole, *SIGNED)
        for kind in ("Int64", "category", "int64[pyarrow]", object)
    ),
    *(kind_of_labels(of_pandas(kind), words, ordinary=True) for kind in (object, "string", "category")),
    kind_of_labels(of_polars(pl.UInt64), whole, *UNSIGNED),
    *(kind_of_labels(of_polars(kind), words, ordinary=True) for kind in (pl.String, pl.Categorical)),
    kind_of_labels(of_polars(pl.Object), mixed),
    kind_of_labels(lambda found: pa.array(found, type=pa.uint64()), whole, *UNSIGNED),
    kind_of_labels(of_arrow(pa.string()), words),
]


def partition(truth: list[Any]) -> list[int]:
    """The first row with an equal label, for each row: numbers are compared exactly, others by ``==``."""
    plain = [each.item() if isinstance(each, np.generic) else each for each in truth]
    return [next(k for k, each in enumerate(plain) if each == label) for label in plain]


def check_inputs(rng: random.Random, count: int, _folder: Path) -> None:
    """What is accepted is read exactly and judged rightly; what must be accepted or refused is."""
    accepted = 0
    for _ in range(count):
        library = "dask" if rng.random() < DASK else rng.choice([each for each in KINDS if each != "dask"])
        n_rows, n_columns = rng.randint(3, 6), rng.choice([1, 1, 2, 3])
        columns = [column(rng, library, n_rows) for _ in range(n_columns)]
        target = labels(rng, n_rows, library)
        accepted += judged_rightly(library, columns, target, lift=rng.random() < 0.8)
    assert accepted * 5 > count, f"{accepted} of {count} were accepted: too few to tell much"


def judged_rightly(library: str, columns: list[Column], target: Labels, *, lift: bool) -> bool:
    """Whether it was accepted; AssertionError if that was wrong, or what was made of it."""
    X, y = table(library, columns), target.y
    groups = partition(target.truth)
    told = f"{library} {X!r} {y!r} of {[each.numbers for each in columns]} {target.truth}"
    readable = all(each.numbers is not None for each in columns) and not target.refused
    try:
        data = read_data(X, y)
    except InputError:
        ordinary = target.ordinary and all(each.ordinary for each in columns) and len(set(groups)) > 1
        assert not ordinary, f"refused: {told}"
        return False
    assert readable, f"accepted: {told}"
    rows = list(zip(*(each.numbers or [] for each in columns), strict=True))
    matrix = data.matrix[np.arange(len(rows))] if library == "dask" else data.matrix
    same_numbers(matrix, rows, told)
    codes = data.codes.tolist()
    assert [codes.index(each) for each in codes] == groups, f"other classes: {told}"
    if library != "dask":
        same_training(X, y, rows, groups, told)
    verdict = sx.separability(X, y, fit_intercept=lift, time_limit=SECONDS)
    truth = naive.separation(signed_rows(rows, codes, lift))
    true = verdict.status in (truth, "undecided") or (verdict.status, truth != "separable") == (
        "inseparable",
        True,
    )
    assert true, f"{verdict.status}, truly {truth}: {told}"
    if verdict.certificate is not None:
        assert sx.verify(verdict.certificate, X, y).holds, told
    return True


def same_numbers(matrix: Any, rows: list[tuple[Fraction, ...]], told: str) -> None:
    """Each number is what it was made from."""
    found = [tuple(exact(each) for each in row) for row in np.asarray(matrix)]
    assert found == rows, f"other numbers: {told}"


def same_training(X: Any, y: Any, rows: list[tuple[Fraction, ...]], groups: list[int], told: str) -> None:
    """What an estimator would be fitted on is the same, if it is not refused."""
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scikit-learn, about few rows
            read, _, _ = read_training_anywhere(sx.Perceptron(), X, y, None)
    except InputError:
        return
    same_numbers(read.matrix, rows, told)
    codes = np.asarray(read.labels).tolist()
    assert [codes.index(each) for each in codes] == groups, f"other classes in training: {told}"


def signed_rows(rows: list[tuple[Fraction, ...]], codes: list[int], lift: bool) -> list[list[Fraction]]:
    """The signed rows of two classes, or of all classes at once."""
    lifted = [[*row, *([Fraction(1)] * lift)] for row in rows]
    n_classes = max(codes) + 1
    if n_classes == 2:
        return [[(1 if own else -1) * v for v in row] for row, own in zip(lifted, codes, strict=True)]
    return [
        [((c == own) - (c == rival)) * v for c in range(n_classes) for v in row]
        for row, own in zip(lifted, codes, strict=True)
        for rival in range(n_classes)
        if rival != own
    ]
