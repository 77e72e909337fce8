"""Ask the second checker about every certificate that the first one is asked about.

`install` puts itself before `check_claim` and `start_digest`, through which every proof and every hash goes.
The second checker, one file that imports nothing of the package, gets the certificate as text and the data
as plain Python numbers.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.certificates import check as first
from separatrix.certificates import digest
from separatrix.certificates.models.build import MODELS
from separatrix.checker import check_certificate as second

SHORT, LONG = 10**4, 10**6  # numbers of the data in `make test` and in `make test-slow`
# Proofs about more than SHORT numbers wait until a test is over: it may be one of time limits.
LATER: list[tuple[bool, Any, Any, dict[str, list[Any]]]] = []


def install(most: int) -> None:
    """Let both checkers look at every proof about at most so many numbers, and raise where they differ."""
    first.check_claim = both_check(first.check_claim, most)
    first.start_digest = digest.start_digest = both_hash(digest.start_digest, most)


def both_check(check_claim: Callable[..., Any], most: int) -> Callable[..., Any]:
    """The first checker, with the second at its side."""

    @functools.wraps(check_claim)
    def asked_twice(claim: Any, data: Any, *options: Any, **named: Any) -> Any:
        found = check_claim(claim, data, *options, **named)
        effort = work(claim, data)
        if effort <= most:
            LATER.append((found.holds, claim, as_table(data.matrix), columns_of(data, claim)))
        if effort <= SHORT:
            settle()
        return found

    return asked_twice


def both_hash(start_digest: Callable[..., Any], most: int) -> Callable[..., Any]:
    """The digest, computed twice."""

    @functools.wraps(start_digest)
    def hashed_twice(data: Any) -> Callable[..., str]:
        finish = start_digest(data)

        def both(*options: Any) -> str:
            found = finish(*options)
            if size(data) <= most and digest.CHUNK == second.PIECE:  # tests of pieces make them shorter
                columns = {name: values.tolist() for name, values in data.columns.items()}
                own = second.digest(as_table(data.matrix), list(data.classes), data.codes.tolist(), columns)
                assert found == own, f"the digests of {data.matrix!r} differ"
            return found

        return both

    return hashed_twice


def settle() -> None:
    """Ask about all that waits: the second checker says the same, or proves what floats could not confirm."""
    while LATER:
        holds, claim, table, columns = LATER.pop()
        hashed = replace(claim, sha256=claim.sha256 or "0" * 64)  # not yet known while a proof is looked for
        text = json.dumps(hashed.to_dict())
        own, why = ask_about(text, table, columns)
        same = own == holds or (getattr(claim, "approximate", None) is not None and own)
        assert same, f"the checkers differ: {holds} and {own} ({why}) of {text[:5000]} about {table!r:.5000}"


def ask(text: str, X: Any, y: list[Any] | None, same_data: bool = False, **columns: Any) -> tuple[bool, str]:
    """What the second checker says about a certificate and its data."""
    return ask_about(text, as_table(X), {**columns, **({} if y is None else {"y": y})}, same_data)


def ask_about(text: str, table: Any, columns: dict[str, Any], same_data: bool = False) -> tuple[bool, str]:
    """The same for a table of its own."""
    try:
        [(_, proof)] = second.read_certificates(text.encode("utf-8", "surrogatepass"))
        second.check(proof, table, columns, same_data)
    except (ValueError, OverflowError, RecursionError) as reason:
        return False, str(reason)
    return True, ""


def as_table(X: Any) -> Any:
    """A matrix as the second checker holds it; that it reads files alike has tests of its own."""
    if isinstance(X, np.ndarray):
        return second.Table("dense", X.dtype.newbyteorder("<").str, X.shape, X.ravel().tolist())
    parts = (X.data.tolist(), X.indices.tolist(), X.indptr.tolist())
    return second.Table("csr", X.dtype.newbyteorder("<").str, X.shape, *parts)


def columns_of(data: Any, claim: Any) -> dict[str, list[Any]]:
    """The label of every row, and the further columns of a regression."""
    columns = {name: values.tolist() for name, values in data.columns.items()}
    labels = list(data.labels)
    with suppress(ValueError, TypeError, OverflowError):  # regressions keep the text of numbers
        numbers = [float(label) if "." in str(label) else int(label) for label in labels]
        labels = numbers if [*map(str, numbers)] == [*map(str, labels)] else labels
    for name in {"winner", "loser"} & columns.keys():
        columns[name] = [labels[code] for code in columns[name]]
    if claim.question != "estimate" or MODELS[claim.asked.model].response in ("classes", "ordered"):
        columns["y"] = [labels[code] for code in data.codes.tolist()]
    return columns


def size(data: Any) -> float:
    """How many numbers there are; those that lie elsewhere are too many."""
    X = data.matrix
    if isinstance(X, np.ndarray):
        return X.size
    return X.nnz + sum(X.shape) if hasattr(X, "indptr") else math.inf


def work(claim: Any, data: Any) -> float:
    """About how many products of numbers a proof asks for, if that is more than there are numbers."""
    if math.isinf(size(data)):
        return math.inf
    if claim.question == "network":
        return size(data) * max(1, len(claim.units))
    degrees, (rows, columns) = getattr(claim, "degrees", (1,)), data.matrix.shape
    products = 0 if degrees == (1,) else rows * sum(math.comb(columns + d - 1, d) * d for d in degrees)
    near = getattr(claim, "approximate", None)
    inverse = 0 if near is None else len(near.rows) * min(columns * len(claim.classes), len(near.rows)) ** 2
    return max(size(data), products, inverse / 1000)
