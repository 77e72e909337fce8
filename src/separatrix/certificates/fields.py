"""How a certificate is written as JSON: each field is read by its type, and everything else is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

from ..errors import CertificateError

FORMAT = "separatrix certificate"
VERSION = 1

# Limits of what is read, to bound time and memory: far more than any honest certificate needs.
MAX_TEXT = 1 << 30
MAX_DIGITS = 1 << 19
MAX_ENTRIES = 1 << 28

DIGITS = re.compile(r"-?(0x[0-9a-f]+|[0-9]{1,19})")
FLOAT = re.compile(r"-?0x([01])(?:\.([0-9a-f]{1,13}))?p([+-][0-9]{1,4})")

DATA = ("rows", "columns", "sha256")

Number = float | int


def read_json(text: str | bytes) -> Any:
    """Read strict JSON: no field twice, no NaN, and integers of at most 19 digits.

    Raises CertificateError for anything else.
    """
    if len(text) > MAX_TEXT:
        raise CertificateError(
            f"The certificate is {len(text)} characters long; at most {MAX_TEXT} are read."
        )
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


def write_number(value: Number) -> str:
    """Write a float in hexadecimal digits, and an integer in decimal ones if it is short."""
    if isinstance(value, float):
        return value.hex()
    return str(value) if abs(value) < 10**18 else hex(value)


def read_object(
    fields: dict[str, Any], name: str, needed: Sequence[str], others: Sequence[str] = ()
) -> dict[str, Any]:
    """Read an object that has the needed fields, and none but those and the others."""
    found = fields.get(name)
    if not isinstance(found, dict):
        raise CertificateError(f"The certificate's {name!r} is missing or not an object.")
    need_fields(found, needed, others)
    return found


def need_document(fields: Any, needed: Sequence[str], others: Sequence[str] = ()) -> None:
    """Refuse what is not a certificate of this format and version with these fields."""
    if not isinstance(fields, dict):
        raise CertificateError(f"A certificate is a JSON object. Got {type(fields).__name__} instead.")
    if fields.get("format") != FORMAT:
        raise CertificateError(f"This is not a separatrix certificate: its 'format' is not {FORMAT!r}.")
    version = fields.get("version")
    if type(version) is not int or version != VERSION:
        raise CertificateError(
            f"The certificate has version {shown(version)}; this release reads version {VERSION}. "
            "Check it with the release that wrote it."
        )
    # "columns" says how the command line read a file, and is not part of the claim
    need_fields(fields, ("format", "version", *needed), (*others, "columns"))


def read_shape(fields: dict[str, Any]) -> tuple[int, int, str]:
    """Read which data the claim is about: the number of rows and of columns, and the SHA-256."""
    data = read_object(fields, "data", DATA)
    digest = data.get("sha256")
    if not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{64}", digest):
        raise CertificateError("The certificate's 'sha256' is not 64 hexadecimal digits.")
    return read_count(data, "rows"), read_count(data, "columns"), digest


def read_bool(fields: dict[str, Any], name: str) -> bool:
    """Read true or false."""
    found = fields.get(name)
    if not isinstance(found, bool):
        raise CertificateError(f"The certificate's {name!r} is not true or false.")
    return found


def need_fields(fields: dict[str, Any], needed: Sequence[str], others: Sequence[str]) -> None:
    """Refuse an object in which a needed field is missing, or that has a field of another name."""
    for name in needed:
        if name not in fields:
            raise CertificateError(f"The certificate's {name!r} is missing.")
    for name in fields:
        if name not in needed and name not in others:
            raise CertificateError(f"The certificate has an unknown field {shown(name)}.")


def read_list(fields: dict[str, Any], name: str) -> list[Any]:
    """Read a list, whatever its entries are."""
    found = fields.get(name)
    if not isinstance(found, list) or len(found) > MAX_ENTRIES:
        raise CertificateError(f"The certificate's {name!r} is missing or not a list.")
    return found


def read_indices(fields: dict[str, Any], name: str, length: int, what: str) -> tuple[int, ...]:
    """Read positions below a length: one by one only to find a wrong one, because that is slower."""
    found = read_list(fields, name)
    if set(map(type, found)) <= {int} and (not found or 0 <= min(found) <= max(found) < length):
        return tuple(found)
    return tuple(read_index(each, length, what) for each in found)


def read_integers(fields: dict[str, Any], name: str) -> tuple[int, ...]:
    """Read integers in text; each different text once."""
    found = read_list(fields, name)
    if not set(map(type, found)) <= {str}:
        return tuple(map(read_integer, found))
    known = {text: read_integer(text) for text in set(found)}
    return tuple(map(known.__getitem__, found))


def read_text(fields: dict[str, Any], name: str, allowed: Sequence[str]) -> str:
    """Read one of the allowed texts."""
    found = fields.get(name)
    if not isinstance(found, str) or found not in allowed:
        raise CertificateError(f"The certificate's {name!r} is not one of {', '.join(allowed)}.")
    return found


def read_count(fields: dict[str, Any], name: str) -> int:
    """Read a number of rows or columns."""
    found = fields.get(name)
    if type(found) is not int or not 0 <= found < 1 << 62:
        raise CertificateError(f"The certificate's number of {name} is missing or not a count.")
    return found


def read_index(found: Any, length: int, what: str) -> int:
    """Read a position below a length."""
    if type(found) is not int or not 0 <= found < length:
        raise CertificateError(
            f"The certificate names {what} {shown(found)}, but there are {length}, counted from 0."
        )
    return found


def read_class(found: Any) -> str:
    """Read the label of a class: text."""
    if isinstance(found, str):
        with suppress(UnicodeEncodeError):  # surrogates are not text
            found.encode()
            return found
    raise CertificateError("The certificate's 'classes' are not all text.")


def read_integer(found: Any) -> int:
    """Read an integer of any size, written in decimal or hexadecimal digits."""
    if not isinstance(found, str) or len(found) > MAX_DIGITS or not DIGITS.fullmatch(found):
        raise CertificateError(f"The certificate has {shown(found)} where an integer string is needed.")
    return int(found, 16 if "x" in found else 10)


def read_number(found: Any) -> Number:
    """Read a float as C's ``%a`` or Python's ``float.hex`` writes it, or an integer."""
    if not isinstance(found, str) or "p" not in found:
        return read_integer(found)
    parts = FLOAT.fullmatch(found)
    with suppress(OverflowError):
        if parts is not None:
            value, (first, digits, power) = float.fromhex(found), parts.groups("")
            exact = int(first + digits, 16) * Fraction(2) ** (int(power) - 4 * len(digits))
            if abs(Fraction(value)) == exact:  # nothing was rounded
                return value
    raise CertificateError(
        f"The certificate has {shown(found)}; a finite number that float64 holds exactly is needed."
    )


def shown(found: Any) -> str:
    """Return the beginning of what was found; only the type of an object with parts, which may be large."""
    return repr(found)[:40] if isinstance(found, str | int | float | None) else type(found).__name__
