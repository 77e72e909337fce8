"""``separatrix verify``: does a certificate hold, and for which data? Independent of every solver."""

from __future__ import annotations

import math
import shlex
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from ...errors import CertificateError, SeparatrixError
from .. import options
from ..console import document, facts, heading, show, waiting, write_json


@options.reads("row_names")
def verify(
    certificate: Annotated[
        str, typer.Argument(metavar="CERTIFICATE", help="The JSON file that check wrote.")
    ],
    source: options.Reading,
    same_data: Annotated[
        bool,
        typer.Option(
            "--same-data/--any-data", help="Compare the hash of the data too, or check only the mathematics."
        ),
    ] = True,
    independent: Annotated[
        bool,
        typer.Option(
            "--independent",
            help="Also ask a second checker, which shares no code with the first, in a fresh interpreter.",
        ),
    ] = False,
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            help="Stop a check after this time, for certificates of unknown origin. --memory also limits "
            "the memory of a check.",
        ),
    ] = math.inf,
    json: options.Json = False,
) -> None:
    """Does a certificate hold for these data? Exit code 0 if it does, 1 if it does not.

    The target and the columns are those in the certificate, unless they are given here. Conditions and
    queries are not part of a certificate: repeat those that were given to check. The answer always says what
    the claim is about: target, columns, how they were read, and whether this is the file's plain reading.

    For example:

        separatrix verify proof.json endometrial.csv
    """
    from ...certificates.check import verify as verify_certificate
    from ...files.encoding import Encoding
    from ..certificate_files import unpack

    if source.elsewhere:
        source.refuse_elsewhere(independent=independent)
    memory = source.memory or math.inf
    limits: dict[str, Any] = {"same_data": same_data, "time_limit": time_limit, "memory_limit": memory}
    content = Path(certificate).read_bytes()
    parts, columns = unpack(content, memory)
    kept = columns.get("target")
    own = "encoding" in columns and not (source.features or source.exclude)
    known = Encoding.from_dict(columns["encoding"]) if own else None
    told = source.target is None and isinstance(kept, str)
    if told:
        source = replace(source, target=kept)
    rows = source.open(intercept=parts[0][1].lift, known=_fitting(known, parts[0][1]))
    with waiting("Checking the proof"):
        X, y = source.read(rows)
        if y is None:
            raise CertificateError("Which column is the target?", remedy="Name it.", parameter="target")
        checks = [(of, proof, verify_certificate(proof, X, y, **limits)) for of, proof in parts]
        second = (
            _ask_second(content, X, y, same_data=same_data, time_limit=time_limit) if independent else None
        )
        subject = _subject(source, rows, [proof for _, proof in parts])
    reasons = [options.rows_named(check.reason, rows) for _, _, check in checks]
    holds = all(check.holds for _, _, check in checks) and (second is None or second.holds)
    if json:
        found = [
            {
                "of": of,
                "claim": proof.claim,
                "holds": check.holds,
                "reason": reason,
                "question": question_of(proof),
                "classes": proof.classes,
                "intercept": proof.lift,
                "rows": proof.n_rows,
                "rows_left_out": len(set(proof.excluded)),
            }
            for (of, proof, check), reason in zip(checks, reasons, strict=True)
        ]
        write_json(
            {
                **document("verify", rows),
                "holds": holds,
                "certificates": found,
                "notes": rows.notes,
                "same_data": same_data,
                "target_from": "certificate" if told else "command",
                "left_out": subject.left_out,
                "plain": subject.plain,
                "differences": subject.differences,
                "independent": None if second is None else asdict(second),
            }
        )
    else:
        show(heading("The certificate holds." if holds else "The certificate does not hold.", _tone(holds)))
        for (of, proof, _), reason in zip(checks, reasons, strict=True):
            show(f"{of + ': ' if of else ''}{proof.claim} ({question_of(proof)}).", reason)
        if second is not None:
            show("The second checker says:", *(f"  {line}" for line in second.words))
        if subject.plain is not True:
            show(heading(subject.words, "bold yellow"))
        named = f"{rows.target_name}{', as the certificate says' if told else ''}"
        pairs = [
            (
                "data",
                f"{rows.name}: {X.shape[0]:,} rows{'' if same_data else '; their hash was not compared'}",
            ),
            ("target", f"{named}: {_some(parts[0][1].classes)}"),
            ("columns", _some(columns_of(rows.encoding))),
            *([("left out", _some(subject.left_out))] if subject.left_out else []),
            *(("note", note) for note in rows.notes),
        ]
        show("", facts(pairs), "")
        if subject.plain is True:
            show(subject.words)
    if not holds:
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Subject:
    """What a claim is about, compared with the file as it is read without options.

    Attributes
    ----------
    words : str
    left_out : tuple of str
        Columns that the plain reading has and the claim leaves out.
    plain : bool or None
        Whether this is the plain reading; None where the data cannot be read again to tell.
    differences : tuple of str
        What is read differently, one sentence each.
    """

    words: str
    left_out: tuple[str, ...]
    plain: bool | None
    differences: tuple[str, ...]


def _subject(source: options.Reading, rows: Any, proofs: list[Any]) -> _Subject:
    differences, left_out = [], ()
    given = source.given("data", "target")
    if given:
        differences.append(f"It was read with {shlex.join(given)}.")
    again = source.data not in (None, "-") or source.sql is not None
    if again:
        try:
            plain = source.plainly.open(intercept=proofs[0].lift).encoding
            differences += rows.encoding.unlike(plain)
            used = {column.name for column in rows.encoding.columns}
            left_out = tuple(each.name for each in plain.columns if each.name not in used)
        except SeparatrixError as problem:
            differences.append(f"Without these options, the file is refused: {problem.problem}")
    most = max(len(set(proof.excluded)) for proof in proofs)
    if most:
        differences.append(f"{most:,} of {proofs[0].n_rows:,} rows are left out by the certificate.")
    plainly = f"the plain reading of {rows.name}, with {rows.target_name} as the target and no other option"
    if differences:
        return _Subject(
            f"This is not {plainly}. {' '.join(differences)}", left_out, False, tuple(differences)
        )
    if again:
        return _Subject(f"This is {plainly}.", (), True, ())
    return _Subject(
        "Standard input is read only once, so this was not compared with its plain reading.", (), None, ()
    )


def question_of(proof: Any) -> str:
    """What a certificate is an answer to."""
    from ...certificates.monomials import PLAIN
    from ...proofs.answer import condition, question_words

    listed = ", ".join(map(str, proof.degrees))
    space = "" if proof.degrees == PLAIN else f"monomials of degree {listed}"
    return question_words(proof.question, proof.classes, proof.chosen, condition(proof.lift, space))


def columns_of(encoding: Any) -> list[str]:
    """The columns that are used, with the levels of text."""
    if encoding.width is not None:
        return [f"{encoding.width:,} numbered from {encoding.first}"]
    return [each.name if each.levels is None else f"{each.name}: {each.kind}" for each in encoding.columns]


def _some(values: Any) -> str:
    from ...files.encoding import shown

    return shown(list(values))


def _tone(holds: bool) -> str:
    return "bold green" if holds else "bold red"


def _fitting(encoding: Any, proof: Any) -> Any:
    """The columns of the certificate, which must be as many as it speaks of."""
    if encoding is not None and encoding.n_features != proof.n_columns:
        raise CertificateError(
            f"The certificate names {encoding.n_features} columns and speaks of {proof.n_columns}; it was "
            "changed."
        )
    return encoding


@dataclass(frozen=True)
class _Second:
    """What the second checker said.

    Attributes
    ----------
    holds : bool
    words : tuple of str
        Its lines.
    """

    holds: bool
    words: tuple[str, ...]


def _ask_second(certificate: bytes, X: Any, y: Any, same_data: bool, time_limit: float) -> _Second:
    """Let the second checker look at the same certificate and the same numbers.

    It gets them in files that only this user can read, and that are removed when it has answered. ``-I`` and
    ``-S`` keep environment variables, the current directory and installed packages away from it.
    """
    import numpy as np

    with (
        TemporaryDirectory(prefix="separatrix-") as folder,
        as_file(files("separatrix.checker") / "check_certificate.py") as checker,
    ):
        proof, data = Path(folder, "certificate.json"), Path(folder, "data.npz")
        proof.write_bytes(certificate)
        np.savez(data, **_arrays(X), y=_labels(y))
        command = [sys.executable, "-I", "-S", "-X", "utf8", str(checker), str(proof), str(data)]
        command += [] if same_data else ["--any-data"]
        seconds = None if math.isinf(time_limit) else time_limit
        try:
            done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=seconds)
        except subprocess.TimeoutExpired:
            raise CertificateError(
                f"The second checker gave no answer within {time_limit:g} seconds.",
                remedy="Allow more time, or leave out --independent.",
                parameter="time_limit",
            ) from None
    return _Second(done.returncode == 0, tuple((done.stdout + done.stderr).splitlines()))


def _arrays(X: Any) -> dict[str, Any]:
    import numpy as np

    from ...sparse import sparse

    if not sparse.issparse(X):
        return {"X": X}
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}


def _labels(y: Any) -> Any:
    """The labels as an array that is read without pickle."""
    import numpy as np

    labels = np.asarray(y)
    plain = np.asarray(labels.tolist())
    if plain.dtype.kind not in "biufU" or plain.tolist() != labels.tolist():
        raise CertificateError("The second checker reads labels only if they are numbers or text.")
    return plain
