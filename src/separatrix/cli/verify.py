"""``separatrix verify``: does a certificate hold? Checked exactly, by code that solved nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from . import options
from .console import heading, show, waiting, write_json


@options.reads("row_names")
def verify(
    certificate: Annotated[
        str, typer.Argument(metavar="CERTIFICATE", help="The JSON file that check wrote.")
    ],
    source: options.Reading,
    same_data: Annotated[
        bool,
        typer.Option(
            "--same-data/--any-data", help="Also compare the hash of the data, or check only the mathematics."
        ),
    ] = True,
    json: options.Json = False,
) -> None:
    """Does a certificate hold for these data? Exit code 0 if it does, 1 if it does not.

    The target and the columns are those in the certificate, unless they are given here. Conditions and
    queries are not part of a certificate: give those that were given to check.

    For example:

        separatrix verify proof.json endometrial.csv
    """
    from ..certificates.check import verify as verify_certificate
    from ..errors import CertificateError
    from ..tables.encoding import Encoding
    from .proofs import unpack

    parts, columns = unpack(Path(certificate).read_bytes())
    kept = columns.get("target")
    own = "encoding" in columns and not (source.features or source.exclude)
    known = Encoding.from_dict(columns["encoding"]) if own else None
    if source.target is None and isinstance(kept, str):
        source = replace(source, target=kept)
    rows = source.open(intercept=parts[0][1].lift, known=_fitting(known, parts[0][1]))
    with waiting("Checking the proof"):
        X, y = source.read(rows)
        if y is None:
            raise CertificateError("Which column is the target?", remedy="Name it.", parameter="target")
        checks = [(of, proof, verify_certificate(proof, X, y, same_data=same_data)) for of, proof in parts]
    reasons = [options.rows_named(check.reason, rows) for _, _, check in checks]
    holds = all(check.holds for _, _, check in checks)
    if json:
        found = [
            {"of": of, "claim": proof.claim, "holds": check.holds, "reason": reason}
            for (of, proof, check), reason in zip(checks, reasons, strict=True)
        ]
        write_json({"holds": holds, "certificates": found, "notes": rows.notes})
    else:
        show(heading("The certificate holds." if holds else "The certificate does not hold.", _tone(holds)))
        for (of, proof, _), reason in zip(checks, reasons, strict=True):
            show(f"{of + ': ' if of else ''}{proof.claim}. {reason}")
        options.say_notes(rows)
    if not holds:
        raise typer.Exit(1)


def _tone(holds: bool) -> str:
    return "bold green" if holds else "bold red"


def _fitting(encoding: Any, proof: Any) -> Any:
    """The columns of the certificate, which must be as many as it speaks of."""
    from ..errors import CertificateError

    if encoding is not None and encoding.n_features != proof.n_columns:
        raise CertificateError(
            f"The certificate names {encoding.n_features} columns and speaks of {proof.n_columns}; it was "
            "changed."
        )
    return encoding
