"""What a certificate claims, about which data, and how it is written as JSON.

A certificate answers one question about the *signed rows* ``z_i = y_i * lift(x_i)`` by a theorem of Tucker
(1956): there are weights ``w`` and multipliers ``l >= 0`` with ``Zw >= 0`` and ``Z'l = 0``. Rows with a
positive multiplier are *tight* (every such ``w`` has the score zero on them), the others are *strict* (``w``
has a positive score). If a certificate names degrees, the ``x_i`` are monomials of the data, see `monomials`.
"""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass
from typing import Any

from ..errors import CertificateError
from .fields import (
    FORMAT,
    VERSION,
    Number,
    need_document,
    read_bool,
    read_class,
    read_index,
    read_indices,
    read_integer,
    read_integers,
    read_json,
    read_list,
    read_number,
    read_object,
    read_shape,
    read_text,
    write_number,
)
from .monomials import PLAIN, count_columns

QUESTIONS = ("binary", "joint", "one-vs-rest", "pair")


class Separation(enum.StrEnum):
    """What is known about some rows. Several questions have the answer of one that comes first here."""

    OVERLAPPING = "overlapping"
    INSEPARABLE = "inseparable"
    QUASI_SEPARABLE = "quasi-separable"
    UNDECIDED = "undecided"
    SEPARABLE = "separable"

    def __repr__(self) -> str:
        return repr(self.value)


CLAIMS = tuple(each for each in Separation if each is not Separation.UNDECIDED)

# The fields of the document and of its objects. `_read_certificate` lists the optional ones.
FIELDS = ("claim", "question", "data", "weights", "multipliers")
QUESTION = ("kind", "classes", "chosen", "lift", "excluded")
MULTIPLIERS = ("rows", "rivals", "coarse", "fine", "denominator")
APPROXIMATE = ("rows", "rivals", "values", "left_out")

# Limits of what is read, to bound time and memory: far more than any honest certificate needs.
MAX_DEGREE = 64
MAX_MONOMIALS = 1 << 22


@dataclass(frozen=True, repr=False)
class Multipliers:
    """Positive multipliers on signed rows. The other signed rows have the multiplier zero.

    The multiplier of ``rows[i]`` is ``coarse[i] + fine[i] / denominator``: an integer, and on the first
    ``len(fine)`` rows (a basis) a correction that makes the sum exactly zero.

    Attributes
    ----------
    rows : tuple of int
        Row indices in the data.
    rivals : tuple of int
        For the joint question, the class that each row is compared with; otherwise empty.
    coarse : tuple of int
        One for each row, or empty for zeros.
    fine : tuple of int
        One for each of the first ``len(fine)`` rows.
    denominator : int
        Positive.
    """

    rows: tuple[int, ...]
    rivals: tuple[int, ...] = ()
    coarse: tuple[int, ...] = ()
    fine: tuple[int, ...] = ()
    denominator: int = 1

    def __repr__(self) -> str:
        return f"<Multipliers on {len(self.rows):,} signed rows>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain types, as they are written in JSON."""
        return {
            "rows": list(self.rows),
            "rivals": list(self.rivals),
            "coarse": list(map(write_number, self.coarse)),
            "fine": list(map(write_number, self.fine)),
            "denominator": write_number(self.denominator),
        }

    def numerators(self) -> list[int]:
        """Return each multiplier times the denominator."""
        total = [c * self.denominator for c in self.coarse] if self.coarse else [0] * len(self.rows)
        for i, value in enumerate(self.fine):
            total[i] += value
        return total


@dataclass(frozen=True, repr=False)
class Approximate:
    """Floats near multipliers on signed rows: the checker proves that exact multipliers exist near them.

    Attributes
    ----------
    rows, rivals : tuple of int
        As in `Multipliers`.
    values : tuple of float
        Positive, one for each row.
    left_out : tuple of relations
        Each is a tuple of pairs (coordinate, nonzero integer) whose sum of products is zero on the rows. The
        first coordinate therefore depends on the others, and is left out.
    """

    rows: tuple[int, ...]
    rivals: tuple[int, ...]
    values: tuple[float, ...]
    left_out: tuple[tuple[tuple[int, int], ...], ...] = ()

    def __repr__(self) -> str:
        return f"<Approximate multipliers on {len(self.rows):,} signed rows>"


@dataclass(frozen=True, repr=False)
class Certificate:
    """A claim about one question, with everything that proves it.

    Attributes
    ----------
    claim : {"separable", "inseparable", "quasi-separable", "overlapping"}
    question : {"binary", "joint", "one-vs-rest", "pair"}
    classes : tuple of str
        The class labels as text, in sorted order.
    chosen : tuple of int
        Positions in ``classes``: the class that is compared with the rest, or the two classes of a pair.
    lift : bool
        Whether there is an intercept: the last weight.
    excluded : tuple of int
        Rows that the claim leaves out, because their weight is zero.
    n_rows, n_columns : int
        Shape of the data.
    sha256 : str
        Digest of the data and the labels, see `start_digest`.
    weights : tuple of tuples of numbers, or None
        One weight vector, or one per class for the joint question. Floats or integers, both exact.
    multipliers : Multipliers or None
    degrees : tuple of int
        The claim is about all monomials of these degrees in the columns of the data; (1,) means the columns
        themselves.
    approximate : Approximate or None
        Instead of ``multipliers``, for the claims "inseparable" and "overlapping".
    """

    claim: str
    question: str
    classes: tuple[str, ...]
    chosen: tuple[int, ...]
    lift: bool
    excluded: tuple[int, ...]
    n_rows: int
    n_columns: int
    sha256: str
    weights: tuple[tuple[Number, ...], ...] | None = None
    multipliers: Multipliers | None = None
    degrees: tuple[int, ...] = PLAIN
    approximate: Approximate | None = None

    def __repr__(self) -> str:
        size = f"{self.n_rows:,} x {self.n_columns:,}"
        return f"<Certificate: {self.claim}; {self.question}; {size} numbers, sha256 {self.sha256[:12]}>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain types: integers as strings, floats as hexadecimal strings."""
        m, near = self.multipliers, self.approximate
        question = {
            "kind": self.question,
            "classes": list(self.classes),
            "chosen": list(self.chosen),
            "lift": self.lift,
            "excluded": list(self.excluded),
        }
        if self.degrees != PLAIN:
            question["degrees"] = list(self.degrees)
        found: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "claim": self.claim,
            "question": question,
            "data": {"rows": self.n_rows, "columns": self.n_columns, "sha256": self.sha256},
            "weights": None
            if self.weights is None
            else [list(map(write_number, each)) for each in self.weights],
            "multipliers": None if m is None else m.to_dict(),
        }
        if near is not None:
            found["approximate"] = {
                "rows": list(near.rows),
                "rivals": list(near.rivals),
                "values": list(map(write_number, near.values)),
                "left_out": [[[c, write_number(v)] for c, v in terms] for terms in near.left_out],
            }
        return found

    def to_json(self, indent: int | None = None) -> str:
        """Write the certificate as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)

    @classmethod
    def from_dict(cls, fields: Any) -> Certificate:
        """Read what `to_dict` wrote. Raises CertificateError for anything else."""
        return _read_certificate(fields)

    @classmethod
    def from_json(cls, text: str | bytes) -> Certificate:
        """Read what `to_json` wrote. Raises CertificateError for anything else."""
        return cls.from_dict(read_json(text))


def _read_certificate(fields: Any) -> Certificate:
    need_document(fields, FIELDS, ("approximate",))
    question = read_object(fields, "question", QUESTION, ("degrees",))
    kind = read_text(question, "kind", QUESTIONS)
    claim = read_text(fields, "claim", CLAIMS)
    classes = tuple(map(read_class, read_list(question, "classes")))
    n_rows, n_columns, digest = read_shape(fields)
    lift = read_bool(question, "lift")
    chosen = read_indices(question, "chosen", len(classes), "class")
    if len(chosen) != {"one-vs-rest": 1, "pair": 2}.get(kind, 0) or len(set(chosen)) != len(chosen):
        raise CertificateError(f"The certificate's 'chosen' classes do not fit a {kind} question.")
    excluded = read_indices(question, "excluded", n_rows, "row")
    if len(set(excluded)) < len(excluded):
        raise CertificateError("The certificate's 'excluded' names a row twice.")
    weights, multipliers, near = (fields.get(name) for name in ("weights", "multipliers", "approximate"))
    if multipliers is not None and claim == Separation.SEPARABLE:
        raise CertificateError(
            "The certificate claims 'separable', but has 'multipliers', which belong to other claims."
        )
    has_weights = claim in (Separation.SEPARABLE, Separation.QUASI_SEPARABLE)
    if weights is not None and not has_weights:
        raise CertificateError(
            f"The certificate claims {str(claim)!r}, but has 'weights', which belong to other claims."
        )
    degrees = _degrees(question, n_columns)
    fits = multipliers is None and degrees == PLAIN and not has_weights
    if near is not None and not fits:
        raise CertificateError("The certificate's 'approximate' multipliers do not fit the rest of it.")
    width = count_columns(n_columns, degrees) + lift
    return Certificate(
        claim=claim,
        question=kind,
        classes=classes,
        chosen=chosen,
        lift=lift,
        excluded=excluded,
        n_rows=n_rows,
        n_columns=n_columns,
        sha256=digest,
        weights=None if weights is None else read_weights(fields, width, len(classes), kind),
        multipliers=None if multipliers is None else read_multipliers(fields, n_rows, len(classes), kind),
        degrees=degrees,
        approximate=None if near is None else _approximate(fields, n_rows, width, len(classes), kind),
    )


def _degrees(question: dict[str, Any], n_columns: int) -> tuple[int, ...]:
    if "degrees" not in question:
        return PLAIN
    degrees = read_indices(question, "degrees", MAX_DEGREE + 1, "degree")
    if not degrees or min(degrees) < 1 or list(degrees) != sorted(set(degrees)):
        raise CertificateError("The certificate's 'degrees' are not positive integers in order.")
    count = count_columns(n_columns, degrees)
    if count > MAX_MONOMIALS:
        raise CertificateError(
            f"The certificate is about {count} monomials; at most {MAX_MONOMIALS} are checked."
        )
    return degrees


def read_weights(
    fields: dict[str, Any], width: int, n_classes: int, kind: str
) -> tuple[tuple[Number, ...], ...]:
    """Read one weight vector, or one per class for the joint question."""
    vectors = read_list(fields, "weights")
    wanted = n_classes if kind == "joint" else 1
    if len(vectors) != wanted:
        raise CertificateError(f"The certificate has {len(vectors)} weight vectors; {wanted} are needed.")
    if not all(isinstance(vector, list) and len(vector) == width for vector in vectors):
        raise CertificateError(f"A weight vector of the certificate does not have {width} numbers.")
    return tuple(tuple(map(read_number, vector)) for vector in vectors)


def read_signed_rows(
    fields: dict[str, Any], n_rows: int, n_classes: int, kind: str
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Read rows, each with a rival class for the joint question."""
    rows = read_indices(fields, "rows", n_rows, "row")
    rivals = read_indices(fields, "rivals", n_classes, "class")
    if len(rivals) != (len(rows) if kind == "joint" else 0):
        raise CertificateError("The certificate's 'rivals' do not fit its rows.")
    return rows, rivals


def read_multipliers(document: dict[str, Any], n_rows: int, n_classes: int, kind: str) -> Multipliers:
    """Read exact multipliers, with rivals for the joint question."""
    fields = read_object(document, "multipliers", MULTIPLIERS)
    rows, rivals = read_signed_rows(fields, n_rows, n_classes, kind)
    coarse, fine = read_integers(fields, "coarse"), read_integers(fields, "fine")
    denominator = read_integer(fields.get("denominator"))
    if len(coarse) not in (0, len(rows)) or len(fine) > len(rows):
        raise CertificateError("The certificate's multipliers do not fit its rows.")
    if denominator <= 0:
        raise CertificateError("The certificate's 'denominator' is not positive.")
    return Multipliers(rows, rivals, coarse, fine, denominator)


def _approximate(document: dict[str, Any], n_rows: int, width: int, n_classes: int, kind: str) -> Approximate:
    fields = read_object(document, "approximate", APPROXIMATE)
    rows, rivals = read_signed_rows(fields, n_rows, n_classes, kind)
    values = tuple(map(read_number, read_list(fields, "values")))
    if len(values) != len(rows) or not all(isinstance(v, float) and v > 0.0 for v in values):
        raise CertificateError("The certificate's 'values' are not one positive float for each row.")
    left_out = []
    for terms in read_list(fields, "left_out"):
        pairs = terms if isinstance(terms, list) else []
        if not pairs or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise CertificateError("The certificate's 'left_out' is not a list of lists of pairs.")
        left_out.append(tuple((read_index(c, width, "coordinate"), read_integer(v)) for c, v in pairs))
    absent = {terms[0][0] for terms in left_out}
    if len(absent) != len(left_out):
        raise CertificateError("The certificate leaves out a coordinate twice.")
    for terms in left_out:
        named = [c for c, _ in terms]
        if len(set(named)) != len(named) or not all(v for _, v in terms) or absent & set(named[1:]):
            raise CertificateError("A relation in the certificate's 'left_out' has the wrong form.")
    return Approximate(rows, rivals, tuple(map(float, values)), tuple(left_out))
