"""What a certificate claims, about which data, and how it is written as JSON.

A certificate answers one question about the *signed rows* ``z_i = y_i * lift(x_i)`` by a theorem of Tucker
(1956): there are weights ``w`` and multipliers ``l >= 0`` with ``Zw >= 0`` and ``Z'l = 0``. Rows with a
positive multiplier are *tight* (every such ``w`` has the score zero on them), the others are *strict* (``w``
has a positive score). If a certificate names degrees, the ``x_i`` are monomials of the data, see `monomials`.
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import CertificateError
from .monomials import PLAIN, count_columns

FORMAT = "separatrix certificate"
VERSION = 1
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

# The fields of the document and of its objects. `_Reader.certificate` lists the optional ones.
FIELDS = ("format", "version", "claim", "question", "data", "weights", "multipliers")
QUESTION = ("kind", "classes", "chosen", "lift", "excluded")
DATA = ("rows", "columns", "sha256")
MULTIPLIERS = ("rows", "rivals", "coarse", "fine", "denominator")
APPROXIMATE = ("rows", "rivals", "values", "left_out")

# Limits of what is read, to bound time and memory: far more than any honest certificate needs.
MAX_TEXT = 1 << 30
MAX_DIGITS = 1 << 19
MAX_ENTRIES = 1 << 28
MAX_DEGREE = 64
MAX_MONOMIALS = 1 << 22

DIGITS = re.compile(r"-?(0x[0-9a-f]+|[0-9]{1,19})")
FLOAT = re.compile(r"-?0x([01])(?:\.([0-9a-f]{1,13}))?p([+-][0-9]{1,4})")

Number = float | int


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
            "weights": None if self.weights is None else [list(map(_write, each)) for each in self.weights],
            "multipliers": None,
        }
        if m is not None:
            found["multipliers"] = {
                "rows": list(m.rows),
                "rivals": list(m.rivals),
                "coarse": list(map(_write, m.coarse)),
                "fine": list(map(_write, m.fine)),
                "denominator": _write(m.denominator),
            }
        if near is not None:
            found["approximate"] = {
                "rows": list(near.rows),
                "rivals": list(near.rivals),
                "values": list(map(_write, near.values)),
                "left_out": [[[c, _write(v)] for c, v in terms] for terms in near.left_out],
            }
        return found

    def to_json(self, indent: int | None = None) -> str:
        """Write the certificate as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)

    @classmethod
    def from_dict(cls, fields: Any) -> Certificate:
        """Read what `to_dict` wrote. Raises CertificateError for anything else."""
        return _Reader(fields).certificate()

    @classmethod
    def from_json(cls, text: str | bytes) -> Certificate:
        """Read what `to_json` wrote. Raises CertificateError for anything else."""
        if len(text) > MAX_TEXT:
            raise CertificateError(
                f"The certificate is {len(text)} characters long; at most {MAX_TEXT} are read."
            )
        return cls.from_dict(read_json(text))


def read_json(text: str | bytes) -> Any:
    """Read strict JSON: no field twice, no NaN, and integers of at most 19 digits.

    Raises CertificateError for anything else.
    """
    try:
        return json.loads(text, parse_int=_short_int, parse_constant=_no_constant, object_pairs_hook=_fields)
    except RecursionError:
        raise CertificateError("The certificate is nested too deeply.") from None
    except ValueError as error:
        raise CertificateError(
            f"The certificate is not valid JSON ({error}). If it was copied, a part may be missing."
        ) from None


def _no_constant(name: str) -> None:
    raise ValueError(f"JSON has no {name}")


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a field twice")
    return found


def _short_int(digits: str) -> int:
    if len(digits) > 19:
        raise ValueError(f"a bare integer of {len(digits)} digits; long integers are written as strings")
    return int(digits)


def _write(value: Number) -> str:
    if isinstance(value, float):
        return value.hex()
    return str(value) if abs(value) < 10**18 else hex(value)


class _Reader:
    """Reads the fields of a certificate one by one, and names each one that has a wrong type or size."""

    def __init__(self, fields: Any) -> None:
        if not isinstance(fields, dict):
            raise CertificateError(f"A certificate is a JSON object. Got {type(fields).__name__} instead.")
        if fields.get("format") != FORMAT:
            raise CertificateError(f"This is not a separatrix certificate: its 'format' is not {FORMAT!r}.")
        version = fields.get("version")
        if type(version) is not int or version != VERSION:
            raise CertificateError(
                f"The certificate has version {_shown(version)}; this release reads version {VERSION}. "
                "Check it with the release that wrote it."
            )
        self.fields = fields

    def certificate(self) -> Certificate:
        # "columns" says how the command line read a file, and is not part of the claim
        self._only(self.fields, FIELDS, ("approximate", "columns"))
        question = self._object(self.fields, "question", QUESTION, ("degrees",))
        data = self._object(self.fields, "data", DATA)
        kind = self._text(question, "kind", QUESTIONS)
        claim = self._text(self.fields, "claim", CLAIMS)
        classes = tuple(map(_any_text, self._list(question, "classes")))
        n_rows, n_columns = self._count(data, "rows"), self._count(data, "columns")
        lift = question.get("lift")
        if not isinstance(lift, bool):
            raise CertificateError("The certificate's 'lift' is not true or false.")
        digest = data.get("sha256")
        if not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{64}", digest):
            raise CertificateError("The certificate's 'sha256' is not 64 hexadecimal digits.")
        chosen = self._indices(question, "chosen", len(classes), "class")
        if len(chosen) != {"one-vs-rest": 1, "pair": 2}.get(kind, 0) or len(set(chosen)) != len(chosen):
            raise CertificateError(f"The certificate's 'chosen' classes do not fit a {kind} question.")
        excluded = self._indices(question, "excluded", n_rows, "row")
        if len(set(excluded)) < len(excluded):
            raise CertificateError("The certificate's 'excluded' names a row twice.")
        weights, multipliers, near = (
            self.fields.get(name) for name in ("weights", "multipliers", "approximate")
        )
        if multipliers is not None and claim == Separation.SEPARABLE:
            raise CertificateError(
                "The certificate claims 'separable', but has 'multipliers', which belong to other claims."
            )
        has_weights = claim in (Separation.SEPARABLE, Separation.QUASI_SEPARABLE)
        if weights is not None and not has_weights:
            raise CertificateError(
                f"The certificate claims {str(claim)!r}, but has 'weights', which belong to other claims."
            )
        degrees = self._degrees(question, n_columns)
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
            weights=None if weights is None else self._weights(width, len(classes), kind),
            multipliers=None if multipliers is None else self._multipliers(n_rows, len(classes), kind),
            degrees=degrees,
            approximate=None if near is None else self._approximate(n_rows, width, len(classes), kind),
        )

    def _degrees(self, question: dict[str, Any], n_columns: int) -> tuple[int, ...]:
        if "degrees" not in question:
            return PLAIN
        degrees = self._indices(question, "degrees", MAX_DEGREE + 1, "degree")
        if not degrees or min(degrees) < 1 or list(degrees) != sorted(set(degrees)):
            raise CertificateError("The certificate's 'degrees' are not positive integers in order.")
        count = count_columns(n_columns, degrees)
        if count > MAX_MONOMIALS:
            raise CertificateError(
                f"The certificate is about {count} monomials; at most {MAX_MONOMIALS} are checked."
            )
        return degrees

    def _weights(self, width: int, n_classes: int, kind: str) -> tuple[tuple[Number, ...], ...]:
        vectors = self._list(self.fields, "weights")
        wanted = n_classes if kind == "joint" else 1
        if len(vectors) != wanted:
            raise CertificateError(f"The certificate has {len(vectors)} weight vectors; {wanted} are needed.")
        if not all(isinstance(vector, list) and len(vector) == width for vector in vectors):
            raise CertificateError(f"A weight vector of the certificate does not have {width} numbers.")
        return tuple(tuple(map(_number, vector)) for vector in vectors)

    def _signed_rows(
        self, fields: dict[str, Any], n_rows: int, n_classes: int, kind: str
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        rows = self._indices(fields, "rows", n_rows, "row")
        rivals = self._indices(fields, "rivals", n_classes, "class")
        if len(rivals) != (len(rows) if kind == "joint" else 0):
            raise CertificateError("The certificate's 'rivals' do not fit its rows.")
        return rows, rivals

    def _multipliers(self, n_rows: int, n_classes: int, kind: str) -> Multipliers:
        fields = self._object(self.fields, "multipliers", MULTIPLIERS)
        rows, rivals = self._signed_rows(fields, n_rows, n_classes, kind)
        coarse, fine = self._integers(fields, "coarse"), self._integers(fields, "fine")
        denominator = _integer(fields.get("denominator"))
        if len(coarse) not in (0, len(rows)) or len(fine) > len(rows):
            raise CertificateError("The certificate's multipliers do not fit its rows.")
        if denominator <= 0:
            raise CertificateError("The certificate's 'denominator' is not positive.")
        return Multipliers(rows, rivals, coarse, fine, denominator)

    def _approximate(self, n_rows: int, width: int, n_classes: int, kind: str) -> Approximate:
        fields = self._object(self.fields, "approximate", APPROXIMATE)
        rows, rivals = self._signed_rows(fields, n_rows, n_classes, kind)
        values = tuple(map(_number, self._list(fields, "values")))
        if len(values) != len(rows) or not all(isinstance(v, float) and v > 0.0 for v in values):
            raise CertificateError("The certificate's 'values' are not one positive float for each row.")
        left_out = []
        for terms in self._list(fields, "left_out"):
            pairs = terms if isinstance(terms, list) else []
            if not pairs or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
                raise CertificateError("The certificate's 'left_out' is not a list of lists of pairs.")
            left_out.append(tuple((_index(c, width, "coordinate"), _integer(v)) for c, v in pairs))
        absent = {terms[0][0] for terms in left_out}
        if len(absent) != len(left_out):
            raise CertificateError("The certificate leaves out a coordinate twice.")
        for terms in left_out:
            named = [c for c, _ in terms]
            if len(set(named)) != len(named) or not all(v for _, v in terms) or absent & set(named[1:]):
                raise CertificateError("A relation in the certificate's 'left_out' has the wrong form.")
        return Approximate(rows, rivals, tuple(map(float, values)), tuple(left_out))

    @classmethod
    def _object(
        cls, fields: dict[str, Any], name: str, needed: Sequence[str], others: Sequence[str] = ()
    ) -> dict[str, Any]:
        found = fields.get(name)
        if not isinstance(found, dict):
            raise CertificateError(f"The certificate's {name!r} is missing or not an object.")
        cls._only(found, needed, others)
        return found

    @staticmethod
    def _only(fields: dict[str, Any], needed: Sequence[str], others: Sequence[str]) -> None:
        for name in needed:
            if name not in fields:
                raise CertificateError(f"The certificate's {name!r} is missing.")
        for name in fields:
            if name not in needed and name not in others:
                raise CertificateError(f"The certificate has an unknown field {_shown(name)}.")

    @staticmethod
    def _list(fields: dict[str, Any], name: str) -> list[Any]:
        found = fields.get(name)
        if not isinstance(found, list) or len(found) > MAX_ENTRIES:
            raise CertificateError(f"The certificate's {name!r} is missing or not a list.")
        return found

    @classmethod
    def _indices(cls, fields: dict[str, Any], name: str, length: int, what: str) -> tuple[int, ...]:
        """Read positions below a length: one by one only to find a wrong one, because that is slower."""
        found = cls._list(fields, name)
        if set(map(type, found)) <= {int} and (not found or 0 <= min(found) <= max(found) < length):
            return tuple(found)
        return tuple(_index(each, length, what) for each in found)

    @classmethod
    def _integers(cls, fields: dict[str, Any], name: str) -> tuple[int, ...]:
        """Read integers in text; each different text once."""
        found = cls._list(fields, name)
        if not set(map(type, found)) <= {str}:
            return tuple(map(_integer, found))
        known = {text: _integer(text) for text in set(found)}
        return tuple(map(known.__getitem__, found))

    @staticmethod
    def _text(fields: dict[str, Any], name: str, allowed: Sequence[str]) -> str:
        found = fields.get(name)
        if not isinstance(found, str) or found not in allowed:
            raise CertificateError(f"The certificate's {name!r} is not one of {', '.join(allowed)}.")
        return found

    @staticmethod
    def _count(fields: dict[str, Any], name: str) -> int:
        found = fields.get(name)
        if type(found) is not int or not 0 <= found < 1 << 62:
            raise CertificateError(f"The certificate's number of {name} is missing or not a count.")
        return found


def _index(found: Any, length: int, what: str) -> int:
    if type(found) is not int or not 0 <= found < length:
        raise CertificateError(
            f"The certificate names {what} {_shown(found)}, but there are {length}, counted from 0."
        )
    return found


def _any_text(found: Any) -> str:
    if isinstance(found, str):
        with suppress(UnicodeEncodeError):  # surrogates are not text
            found.encode()
            return found
    raise CertificateError("The certificate's 'classes' are not all text.")


def _integer(found: Any) -> int:
    if not isinstance(found, str) or len(found) > MAX_DIGITS or not DIGITS.fullmatch(found):
        raise CertificateError(f"The certificate has {_shown(found)} where an integer string is needed.")
    return int(found, 16 if "x" in found else 10)


def _number(found: Any) -> Number:
    """Read a float as C's ``%a`` or Python's ``float.hex`` writes it, or an integer."""
    if not isinstance(found, str) or "p" not in found:
        return _integer(found)
    parts = FLOAT.fullmatch(found)
    with suppress(OverflowError):
        if parts is not None:
            value, (first, digits, power) = float.fromhex(found), parts.groups("")
            exact = int(first + digits, 16) * Fraction(2) ** (int(power) - 4 * len(digits))
            if abs(Fraction(value)) == exact:  # nothing was rounded
                return value
    raise CertificateError(
        f"The certificate has {_shown(found)}; a finite number that float64 holds exactly is needed."
    )


def _shown(found: Any) -> str:
    """Return the beginning of what was found; only the type of an object with parts, which may be large."""
    return repr(found)[:40] if isinstance(found, str | int | float | None) else type(found).__name__
