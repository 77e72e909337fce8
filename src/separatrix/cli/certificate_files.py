"""Certificate files of the command line: the proof, and how the columns of the file were read."""

from __future__ import annotations

import math
from typing import Any

from ..certificates.check import need_for_text, read_claim
from ..certificates.fields import read_json
from ..deadline import NEVER
from ..errors import CertificateError

SEVERAL = "separatrix certificates"


def pack(verdict: Any, rows: Any, fewest: Any = None) -> dict[str, Any]:
    """Return the certificate of a verdict, or those of all its parts, with the columns that they are about.

    If the fewest errors were asked for, their certificate is one more part.

    Conditions and queries are not stored, because a file from somebody else must not contain code.
    """
    if verdict.certificate is None and not verdict.parts:
        raise CertificateError(
            "The verdict is undecided, so there is no proof, and no certificate was written."
        )
    columns = {"target": rows.target_name, "encoding": rows.encoding.as_dict()}
    if verdict.certificate is not None and fewest is None:
        return {**verdict.certificate.to_dict(), "columns": columns}
    parts = [
        {"of": _key(key), "certificate": None if part.certificate is None else part.certificate.to_dict()}
        for key, part in verdict.parts.items()
    ]
    if fewest is not None:
        found = {"separability": verdict, "fewest errors": fewest}
        parts = [{"of": of, "certificate": each.certificate.to_dict()} for of, each in found.items()]
    return {"format": SEVERAL, "version": 1, "parts": parts, "columns": columns}


def unpack(content: bytes, memory: float = math.inf) -> tuple[list[tuple[str, Any]], dict[str, Any]]:
    """Return the certificates, each with the classes that it is about, and the columns."""
    need_for_text(content, NEVER.need, memory)
    fields = read_json(content)
    columns = fields.get("columns") if isinstance(fields, dict) else None
    columns = columns if isinstance(columns, dict) else {}
    if not isinstance(fields, dict) or fields.get("format") != SEVERAL:
        return [("", read_claim(fields))], columns
    parts = fields.get("parts")
    version = fields.get("version")
    if type(version) is not int or version != 1 or not isinstance(parts, list) or not parts:
        raise CertificateError("This list of certificates is empty, or does not have version 1.")
    found = []
    for part in parts:
        if not isinstance(part, dict) or not isinstance(part.get("certificate"), dict):
            raise CertificateError("One part has no certificate, because its verdict was undecided.")
        found.append((str(part.get("of")), read_claim(part["certificate"])))
    return found, columns


def _key(key: Any) -> str:
    return " and ".join(map(str, key)) if isinstance(key, tuple) else f"{key} against the rest"
