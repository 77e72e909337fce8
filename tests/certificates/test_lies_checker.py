"""False claims that once got past the checker of certificates, each by its door."""

from __future__ import annotations

import ctypes
import inspect
import json
import math
import os
import platform
import subprocess
import sys
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Barrier

import numpy as np
import pytest
from scipy import sparse

from separatrix import separability, verify
from separatrix.certificates import Certificate, Multipliers, check, scores
from separatrix.certificates.digest import start_digest
from separatrix.errors import CertificateError, InputError, LabelError
from separatrix.inputs.data import read_data
from separatrix.kernels import Polynomial
from separatrix.rows import threads

ON_X86 = pytest.mark.skipif(
    platform.system() != "Linux" or platform.machine() != "x86_64", reason="sets the environment of x86-64"
)
FLUSH = 0x8040  # in MXCSR: results and operands below 2**-1022 count as zero
UPWARD, DOWNWARD, TOWARD_ZERO = 0x4000, 0x2000, 0x6000


@contextmanager
def floats(bits):
    """Set bits of MXCSR for this thread, and for the threads that it starts meanwhile."""
    library, before, after = ctypes.CDLL("libm.so.6"), (ctypes.c_uint32 * 8)(), (ctypes.c_uint32 * 8)()
    library.fegetenv(before)
    after[:] = before[:]
    after[7] |= bits
    library.fesetenv(after)
    try:
        yield
    finally:
        library.fesetenv(before)


def plane(X, y, weights, **fields):
    """A claim that weights separate the rows, with the digest of the data."""
    data = read_data(X, y)
    rows, columns = data.matrix.shape
    return Certificate(
        claim="separable",
        question="binary",
        classes=data.classes,
        chosen=(),
        lift=False,
        excluded=(),
        n_rows=rows,
        n_columns=columns,
        sha256=start_digest(data)(),
        weights=(tuple(weights),),
        **fields,
    )


# Threads of BLAS keep the environment in which NumPy was imported; that of this thread is mended afterwards.
# They compute the second half of the rows: these are on the wrong side and look as if they were not. The rows
# of the first half are truly separated.
IN_THREADS = """
import ctypes
from contextlib import contextmanager
{function}
with floats({bits}):
    import numpy as np
from separatrix import verify
from separatrix.certificates import Certificate
X = np.zeros((2000, 500))
X[:, 0] = 1.0
X[1000:, :4] = {row}
w = np.zeros(500)
w[:4] = {weights}
X[:1000, 0] *= np.sign(w[0])
s = np.where(np.arange(2000) % 2, 1.0, -1.0)
print(np.count_nonzero(X @ w > 0))
X *= s[:, None]
claim = Certificate(
    "separable", "binary", ("-1.0", "1.0"), (), False, (), 2000, 500, "0" * 64, (tuple(w.tolist()),)
)
print(verify(claim, X, s, same_data=False).holds)
"""
LARGE = 1.797e308


@ON_X86
@pytest.mark.parametrize(
    ("bits", "row", "weights"),
    [
        (FLUSH, (2.0**-20, 2.0**-1023, 0.0, 0.0), (1.0, -(2.0**1023), 0.0, 0.0)),
        (FLUSH, (2.0**-20, -(2.0**1023), 0.0, 0.0), (1.0, 2.0**-1023, 0.0, 0.0)),
        (FLUSH, (2.0**-522, *(-(2.0**-511),) * 3), (2.0**-500, *(2.0**-511.1,) * 3)),
        (TOWARD_ZERO, (LARGE, -LARGE, 0.0, LARGE), (1.0, 4.0, 0.0, 1.0)),
    ],
)
def test_what_threads_of_blas_lose_proves_nothing_false(bits, row, weights):
    code = IN_THREADS.format(function=inspect.getsource(floats), bits=bits, row=row, weights=weights)
    known = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    run = subprocess.run([sys.executable, "-c", code], env=known, capture_output=True, text=True, check=True)
    positive, holds = run.stdout.split()
    if positive == "1000":
        pytest.skip("this BLAS has no threads that keep the environment in which they were started")
    assert holds == "False"


@ON_X86
@pytest.mark.parametrize("bits", [FLUSH, 0x8000, 0x0040, UPWARD, DOWNWARD, TOWARD_ZERO])
def test_nothing_is_asked_or_checked_in_a_thread_that_does_not_compute_as_it_should(bits):
    X, y = np.array([[LARGE, -LARGE, LARGE], [-LARGE, LARGE, -LARGE]]), [1, 0]
    claim = plane(X, y, (1.0, 4.0, 1.0))
    assert not verify(claim, X, y).holds
    with floats(bits):
        with pytest.raises(CertificateError, match="This thread"):
            verify(claim, X, y)
        with pytest.raises(CertificateError, match="This thread"):
            separability(X, y)
    assert separability(X, y).status == "separable"


@ON_X86
def test_tasks_on_blocks_look_at_the_threads_that_run_them(monkeypatch):
    """Both signed rows are subnormal and the same; where they count as zero, so does their sum."""
    array = pytest.importorskip("dask.array")
    X, y = np.array([[2.0**-1030], [-(2.0**-1030)]]), np.array([1, 0])
    blocks = array.from_array(X, chunks=(1, 1))
    proof = Multipliers((0, 1), (), (1, 1))
    claim = replace(plane(X, y, ()), claim="overlapping", weights=None, multipliers=proof)
    assert not verify(claim, blocks, y).holds
    with ThreadPoolExecutor(2) as pool:
        started = Barrier(3)
        with floats(FLUSH):
            for _ in range(2):
                pool.submit(started.wait)
        started.wait()
        monkeypatch.setattr(threads, "_pool", pool)
        with pytest.raises(CertificateError, match="subnormal"):
            verify(claim, blocks, y)


def flushed(values):
    return np.where(np.abs(values) < 2.0**-1022, 0.0, values)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("degrees", [(1,), (1, 2)])
def test_scores_of_flushed_numbers_and_products_are_within_their_bound(seed, degrees):
    """Scores as a thread would have them that counts every operand and result below 2**-1022 as zero."""
    rng = np.random.default_rng(seed)
    n, d = 40, 5

    def numbers(*shape):
        powers = rng.choice([-1060, -1023, -1000, -520, -510, -30, 0, 30], shape)
        return np.ldexp(rng.uniform(-2.0, 2.0, shape), powers)

    X, y = numbers(n, d), np.arange(n) % 2
    data = read_data(X, y)
    claim = plane(X, y, (), degrees=degrees)
    signs = scores.Signs(claim, data)
    block = np.asarray(signs.matrix[0:n])
    w = np.ldexp(
        rng.uniform(-2.0, 2.0, block.shape[1]), rng.choice([-1030, -5, 0, 990, 1022], block.shape[1])
    )
    given = (tuple(w.tolist()),)
    weighed = scores.ClaimedPlane(given, *scores.rounded(given), signs.none())
    outputs = np.zeros((n, 1))
    with np.errstate(all="ignore"):
        products = flushed(flushed(block) * flushed(w))
        for column in products.T:
            outputs[:, 0] = flushed(outputs[:, 0] + column)
        rows = np.arange(n)
        for bounds in (
            scores.float_outputs(scores._reach(flushed(block)), weighed.magnitudes, False),
            scores.float_outputs(flushed(np.abs(block)), flushed(weighed.magnitudes), False),
        ):
            undecided = set(scores._undecided(outputs, bounds, rows, weighed, signs)[0].tolist())
            for row in set(range(n)) - undecided:
                assert scores._exact_score(row, -1, weighed.exact, signs) == 1


def test_labels_of_characters_that_are_none_are_refused():
    """As JSON they were the same as one character, and had its digest."""
    X, smile = [[0.0], [1.0]], "\U0001f600"
    verdict = separability(X, ["a", smile])
    for label in ("\ud83d\ude00", "\ud83d"):
        for labels in (["a", label], np.array(["a", label]), np.array(["a", label], dtype=object)):
            with pytest.raises(LabelError, match="surrogate"):
                separability(X, labels)
            with pytest.raises(LabelError, match="surrogate"):
                verify(verdict.certificate, X, labels)
        with pytest.raises(CertificateError, match="not all text"):
            verify(replace(verdict.certificate, classes=("a", label)), X, ["a", smile])
    assert verify(verdict.certificate.to_json(), X, ["a", smile]).holds


def entries(kind, dtype, values):
    """A matrix of 2 x 2 numbers with several entries at its first place, and 1 at its last one."""
    data = np.array([*values, 1], dtype=dtype)
    rows = np.array([0] * len(values) + [1])
    starts = np.array([0, len(values), len(values) + 1])
    if kind == "coo":
        return sparse.coo_array((data, (rows, rows)), shape=(2, 2))
    if kind == "bsr":
        return sparse.bsr_array((data.reshape(-1, 1, 1), rows, starts), shape=(2, 2))
    return {"csr": sparse.csr_array, "csc": sparse.csc_array}[kind]((data, rows, starts), shape=(2, 2))


@pytest.mark.parametrize("kind", ["coo", "csr", "csc", "bsr"])
@pytest.mark.parametrize(
    ("dtype", "values"),
    [(np.uint8, (200, 100)), (bool, (True, True)), (np.float64, (1.0, 2.0**-60)), (np.int64, (1, 2))],
)
def test_several_entries_at_one_place_are_refused_because_their_sum_may_be_rounded(kind, dtype, values):
    X = entries(kind, dtype, values)
    with pytest.raises(InputError, match="several entries at one place") as found:
        separability(X, [0, 1])
    assert found.value.row == 0
    alone = read_data(entries(kind, dtype, values[:1]), [0, 1]).matrix
    assert alone.toarray().tolist() == [[values[0], 0], [0, 1]]


def test_what_a_sparse_matrix_says_of_itself_is_not_believed():
    X = entries("csr", np.float64, (1.0, 2.0))
    X.has_canonical_format = True
    with pytest.raises(InputError, match="several entries"):
        read_data(X, [0, 1])
    X.indices[0] = 7
    with pytest.raises(InputError, match="damaged sparse matrix"):
        read_data(X, [0, 1])


def document(X, y, claim="inseparable", kind="binary", degrees=(1,), **fields):
    """The text of a certificate that claims whatever it is told to."""
    classes = [str(each) for each in np.unique(y).tolist()]
    question = {"kind": kind, "classes": classes, "chosen": [], "lift": True, "excluded": []}
    data = {"rows": X.shape[0], "columns": X.shape[1], "sha256": "0" * 64}
    proof = {"weights": None, "multipliers": None, **fields}
    own = {"claim": claim, "question": {**question, "degrees": list(degrees)}, "data": data}
    return json.dumps({"format": "separatrix certificate", "version": 1, **own, **proof})


def multipliers(rows, **fields):
    known = {"rows": list(range(rows)), "rivals": [], "coarse": ["1"] * rows, "fine": [], "denominator": "1"}
    return {**known, **fields}


def approximate(rows, *left_out):
    values = {"rows": list(range(rows)), "rivals": [], "values": ["0x1p-1"] * rows}
    return {**values, "left_out": [list(map(list, each)) for each in left_out]}


def in_pairs(rows, columns):
    """Rows that stand twice, with both labels: with equal multipliers, their sum is zero."""
    X = np.repeat(np.random.default_rng(0).standard_normal((rows // 2, columns)), 2, axis=0)
    return X, np.arange(rows) % 2


def monomials_of_many_degrees():
    X, y = in_pairs(10, 5)
    return X, y, document(X, y, degrees=range(1, 41), multipliers=multipliers(10))


def a_long_relation():
    X = np.random.default_rng(0).integers(0, 9, (12_000, 784)) * 1.0
    X[:, 0] = X[:, 1:].sum(axis=1)
    y, relation = np.arange(12_000) % 2, [(0, "-1"), *((j, "1") for j in range(1, 784))]
    return X, y, document(X, y, "overlapping", approximate=approximate(900, relation))


def a_relation_of_long_numbers():
    X, y = np.zeros((30_000, 3)), np.arange(30_000) % 2
    relation = [(0, "0x" + "f" * 400_000), (1, "0x" + "f" * 50_000)]
    return X, y, document(X, y, "overlapping", approximate=approximate(900, relation))


def long_multipliers():
    X, y = in_pairs(8, 784)
    long = ["0x" + "f" * 400_000] * 8
    return X, y, document(X, y, multipliers=multipliers(8, fine=long, denominator=long[0]))


def many_approximate_multipliers():
    X, y = in_pairs(4000, 2000)
    return X, y, document(X, y, approximate=approximate(4000))


def one_long_weight():
    X, y = np.ones((300, 50_000)), np.arange(300) % 2
    long = "0x" + "f" * 18_000
    weights = [long, "-" + long, *["0"] * 49_999]
    return X, y, document(X, y, "quasi-separable", weights=[weights], multipliers=multipliers(298))


def many_classes():
    y = np.arange(300_000) % 500
    weights = [[str(k), "1"] for k in range(500)]
    return np.ones((y.size, 1)), y, document(np.ones((y.size, 1)), y, "separable", "joint", weights=weights)


def many_lists():
    return np.ones((2, 1)), [0, 1], '{"a":[' + "[]," * 3_000_000 + "[]]}"


@pytest.mark.parametrize("memory", [1e7, 1e8, math.inf])
@pytest.mark.parametrize(
    "case",
    [
        monomials_of_many_degrees,
        a_long_relation,
        a_relation_of_long_numbers,
        long_multipliers,
        many_approximate_multipliers,
        one_long_weight,
        many_classes,
        many_lists,
    ],
)
def test_no_certificate_takes_more_time_or_memory_than_is_allowed(case, memory):
    """By more than a second, and 100 MB."""
    X, y, text = case()
    tracemalloc.start()
    try:
        began = time.process_time()
        with suppress(CertificateError):
            verify(text, X, y, same_data=False, time_limit=0.5, memory_limit=memory)
        took, peak = time.process_time() - began, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert took < 1.5
    assert peak < memory + 1e8


def test_what_needs_more_memory_than_is_allowed_says_how_much():
    X, y, text = many_approximate_multipliers()
    with pytest.raises(CertificateError, match=r"takes about [\d,]+ MB of memory .* 10 MB are") as found:
        verify(text, X, y, same_data=False, memory_limit=1e7)
    assert found.value.parameter == "memory_limit"
    for wrong in (0, -1.0, "1GB", math.nan):
        with pytest.raises(InputError, match="'memory_limit' parameter of verify must be a positive number"):
            verify(text, X, y, memory_limit=wrong)


@pytest.mark.parametrize("seed", range(30))
def test_sums_of_columns_in_parts_are_those_of_all_columns(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (14, 3)) * rng.choice([1.0, 0.1])
    y = np.r_[:3, rng.integers(0, 2 + seed % 2, 11)]
    options = {"kernel": Polynomial(degree=2)} if seed % 3 else {}
    verdict = separability(X, y, multiclass="joint", **options)
    claim = verdict.certificate
    changed = []
    if claim.multipliers is not None:
        m = claim.multipliers
        more = (m.coarse[0] + 1, *m.coarse[1:]) if m.coarse else (0,) * (len(m.rows) - 1) + (1,)
        long = tuple(c << 100 for c in m.coarse), tuple(f << 100 for f in m.fine)
        changed = [replace(m, coarse=more), replace(m, coarse=long[0], fine=long[1])]
    stored = X if seed % 2 else sparse.csr_array(X)
    every = [claim, *(replace(claim, multipliers=each) for each in changed)]
    found = [verify(each, stored, y, same_data=False) for each in every]
    monkeypatch.setattr(check, "BYTES_AT_A_TIME", 1)  # one column at a time
    parts = [verify(each, stored, y, same_data=False) for each in every]
    assert (
        [each.holds for each in found] == [each.holds for each in parts] == [True, False, True][: len(found)]
    )


def test_the_command_line_limits_the_time_and_the_memory_of_a_check(tmp_path):
    X, y = in_pairs(600, 20)
    text = document(X, y * 1.0, degrees=range(1, 6), multipliers=multipliers(600))
    (tmp_path / "claim.json").write_text(text)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    command = [sys.executable, "-m", "separatrix.cli", "verify", "claim.json", "rows.npy", "--any-data"]
    command += ["--target", "21"]
    for more, words in (
        (["--time-limit", "0.2"], "within 0.2 seconds"),
        (["--memory", "2KB"], "1 MB are allowed"),
    ):
        run = subprocess.run([*command, *more], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert run.returncode not in (0, 1)
        assert words in " ".join(run.stderr.split())
