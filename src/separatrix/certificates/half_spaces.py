"""Certificates of networks: half-spaces with labels, the first of which that holds a row has its class.

Unit j fires on a row x if ``<w_j, (x, 1)> > 0``, exactly. A row gets the class of the first unit that fires
on it, and the default class if none does. The claim is that every row, except those that are left out, gets
its own class.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..deadline import NEVER, Pause
from ..errors import CertificateError
from ..float_environment import HALF_UNIT, SMALLEST_NORMAL, need_exact_floats
from ..inputs.data import Data
from ..rows.blocks import BlockMatrix
from .fields import (
    FORMAT,
    VERSION,
    Number,
    need_document,
    need_fields,
    read_class,
    read_index,
    read_indices,
    read_list,
    read_number,
    read_object,
    read_shape,
    read_text,
    write_number,
)
from .monomials import Ints
from .numbers import NUMBERS_AT_A_TIME, row_integers
from .proof import Fails, Kind
from .scores import SAFE, float_outputs, in_floats, need_memory, rounded

CLAIM = "fits"


class Unit(NamedTuple):
    """A half-space with a label: the weights, with the intercept last, and the position of the class."""

    weights: tuple[Number, ...]
    label: int


@dataclass(frozen=True, repr=False)
class NetworkCertificate:
    """The claim that a list of half-spaces classifies rows correctly; see the module.

    Attributes
    ----------
    units : tuple of Unit
        In the order in which they are asked.
    default : int
        The class of a row on which no unit fires.
    classes, excluded, n_rows, n_columns, sha256
        As in `Certificate`.
    """

    units: tuple[Unit, ...]
    default: int
    classes: tuple[str, ...]
    excluded: tuple[int, ...]
    n_rows: int
    n_columns: int
    sha256: str
    claim: str = CLAIM
    question: str = "network"
    lift: bool = True

    def __repr__(self) -> str:
        return f"<NetworkCertificate: {len(self.units)} units; {self.n_rows:,} x {self.n_columns:,} numbers>"

    def words(self) -> str:
        """Return the question that the certificate answers."""
        return "Does the list of half-spaces give every row its class?"

    def to_dict(self) -> dict[str, Any]:
        """Return plain types: integers as strings, floats as hexadecimal strings."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "claim": self.claim,
            "question": {
                "kind": self.question,
                "classes": list(self.classes),
                "excluded": list(self.excluded),
            },
            "data": {"rows": self.n_rows, "columns": self.n_columns, "sha256": self.sha256},
            "units": [
                {"weights": list(map(write_number, unit.weights)), "class": unit.label} for unit in self.units
            ],
            "default": self.default,
        }

    def to_json(self, indent: int | None = None) -> str:
        """Write the certificate as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)


def read_network(fields: dict[str, Any]) -> NetworkCertificate:
    """Read what `NetworkCertificate.to_dict` wrote. Raises CertificateError for anything else."""
    need_document(fields, ("claim", "question", "data", "units", "default"))
    read_text(fields, "claim", (CLAIM,))
    question = read_object(fields, "question", ("kind", "classes", "excluded"))
    classes = tuple(map(read_class, read_list(question, "classes")))
    n_rows, n_columns, digest = read_shape(fields)
    excluded = read_indices(question, "excluded", n_rows, "row")
    if len(set(excluded)) < len(excluded):
        raise CertificateError("The certificate's 'excluded' names a row twice.")
    units = tuple(_read_unit(each, n_columns + 1, len(classes)) for each in read_list(fields, "units"))
    default = read_index(fields.get("default"), len(classes), "class")
    return NetworkCertificate(units, default, classes, excluded, n_rows, n_columns, digest)


def _read_unit(found: Any, width: int, n_classes: int) -> Unit:
    if not isinstance(found, dict):
        raise CertificateError("A unit of the certificate is not an object.")
    need_fields(found, ("weights", "class"), ())
    weights = tuple(map(read_number, read_list(found, "weights")))
    if len(weights) != width:
        raise CertificateError(f"A unit of the certificate has {len(weights)} weights; {width} are needed.")
    return Unit(weights, read_index(found["class"], n_classes, "class"))


def prove_network(claim: NetworkCertificate, data: Data, pause: Pause, memory: float) -> str:
    """Return what is proved, or raise `Fails` with the first row that gets another class."""
    if isinstance(data.matrix, BlockMatrix):
        raise CertificateError(
            "A certificate of a network is checked on rows in memory.", remedy="Pass X.compute()."
        )
    need_memory(32.0 * claim.n_rows, memory)
    asked = np.ones(claim.n_rows, dtype=bool)
    asked[list(claim.excluded)] = False
    if not asked.any():
        raise Fails("No rows are left for this question.")
    labels = np.array([*(unit.label for unit in claim.units), claim.default])
    found = labels[first_firing([unit.weights for unit in claim.units], data.matrix, pause)]
    wrong = np.flatnonzero(asked & (found != data.codes))
    if wrong.size:
        row = int(wrong[0])
        raise Fails(
            f"Row {row} gets class {claim.classes[found[row]]!r}, and is of class "
            f"{claim.classes[data.codes[row]]!r}.",
            row,
        )
    rest = f" {len(claim.excluded)} of {claim.n_rows} rows are left out." if claim.excluded else ""
    fired = f"The first of {len(claim.units)} units that fires"
    return f"{fired} gives {asked.sum()} rows their class, exactly.{rest}"


def first_firing(units: Sequence[tuple[Number, ...]], matrix: Any, pause: Pause = NEVER.need) -> Ints:
    """Return for each row the number of the first unit that fires on it, or the number of units."""
    found: Ints = np.full(matrix.shape[0], len(units), dtype=np.int64)
    left = np.arange(matrix.shape[0])
    for number, weights in enumerate(units):
        fires = exact_signs(matrix[left], weights, pause) > 0
        found[left[fires]] = number
        left = left[~fires]
        if not left.size:
            break
    return found


def exact_signs(matrix: Any, weights: tuple[Number, ...], pause: Pause = NEVER.need) -> Ints:
    """Return the sign of ``<w, (x, 1)>`` of each row.

    It is computed in floats if their error bound decides it, and otherwise in integers. The bound is that of
    `scores`, see docs/certificates.md.
    """
    need_exact_floats()
    n_rows, n_columns = map(int, matrix.shape)
    (vector,), (sizes,) = rounded((weights,))
    roundings = n_columns + 9
    found: Ints = np.zeros(n_rows, dtype=np.int64)
    step = max(1, NUMBERS_AT_A_TIME // max(1, n_columns))
    for start in range(0, n_rows, step):
        pause()
        block = in_floats(matrix[start : start + step])
        with np.errstate(all="ignore"):
            outputs = float_outputs(block, vector[None], lift=True)[:, 0]
            bounds = float_outputs(abs(block), sizes[None], lift=True)[:, 0]
            errors = 2.0 * roundings * HALF_UNIT * (bounds + SMALLEST_NORMAL * 2.0**52 * sizes.sum())
            decided = (bounds < SAFE) & (np.abs(outputs) > errors + roundings * 2.0**-1020)
            found[start : start + step] = np.where(decided, np.sign(outputs), 0)
        for row in (np.flatnonzero(~decided) + start).tolist():
            pause()
            found[row] = _exact_sign(matrix, row, weights)
    return found


def _exact_sign(matrix: Any, row: int, weights: tuple[Number, ...]) -> int:
    """Return the sign of the score of a row, in integers."""
    parts: dict[int, int] = {}
    for column, mantissa, exponent in [*row_integers(matrix, row), (int(matrix.shape[1]), 1, 0)]:
        above, below = weights[column].as_integer_ratio()
        at = exponent + 1 - below.bit_length()
        parts[at] = parts.get(at, 0) + mantissa * above
    low = min(parts)
    total = sum(value << (exponent - low) for exponent, value in parts.items())
    return (total > 0) - (total < 0)


NETWORK = Kind(read_network, prove_network)
