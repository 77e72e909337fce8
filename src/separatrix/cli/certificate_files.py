"""Certificates as the command line keeps them: the proof, and how the columns of the file were read."""

from __future__ import annotations

import math
from typing import Any

from ..certificates.claims import MAX_TEXT, Certificate, read_json
from ..certificates.work_limit import need_for_text
from ..deadline import NEVER
from ..errors import CertificateError

SEVERAL = "separatrix certificates"
VERSION = 1


def pack(verdict: Any, rows: Any) -> dict[str, Any]:
    """The certificate of a verdict, or all of those of its parts, with the columns they speak of.

    Conditions and queries are not kept: a file that somebody sends must not bring code along.
    """
    if verdict.certificate is None and not verdict.parts:
        raise CertificateError("The verdict is undecided: there is no proof, so no certificate was written.")
    columns = {"target": rows.target_name, "encoding": rows.encoding.as_dict()}
    if verdict.certificate is not None:
        return {**verdict.certificate.to_dict(), "columns": columns}
    parts = [
        {"of": _key(key), "certificate": None if part.certificate is None else part.certificate.to_dict()}
        for key, part in verdict.parts.items()
    ]
    return {"format": SEVERAL, "version": VERSION, "parts": parts, "columns": columns}


def unpack(content: bytes, memory: float = math.inf) -> tuple[list[tuple[str, Certificate]], dict[str, Any]]:
    """The certificates, each with what it speaks of, and the columns; anything else is refused."""
    need_for_text(content, NEVER.need, memory)
    if len(content) > MAX_TEXT:
        raise CertificateError(f"The file is {len(content):,} bytes long; certificates are shorter.")
    try:
        fields = read_json(content)
    except RecursionError:
        raise CertificateError("The certificate is nested too deeply to be one.") from None
    except ValueError as problem:
        raise CertificateError(
            f"The certificate is not valid JSON ({problem}). If it was copied, a part may be missing."
        ) from None
    columns = fields.get("columns") if isinstance(fields, dict) else None
    columns = columns if isinstance(columns, dict) else {}
    if not isinstance(fields, dict) or fields.get("format") != SEVERAL:
        return [("", Certificate.from_dict(fields))], columns
    parts = fields.get("parts")
    version = fields.get("version")
    if type(version) is not int or version != VERSION or not isinstance(parts, list) or not parts:
        raise CertificateError(f"This list of certificates is not of version {VERSION}, or it is empty.")
    found = []
    for part in parts:
        if not isinstance(part, dict) or not isinstance(part.get("certificate"), dict):
            raise CertificateError("A part of the list has no certificate: its verdict was undecided.")
        found.append((str(part.get("of")), Certificate.from_dict(part["certificate"])))
    return found, columns


def _key(key: Any) -> str:
    return " and ".join(map(str, key)) if isinstance(key, tuple) else f"{key} against the rest"
