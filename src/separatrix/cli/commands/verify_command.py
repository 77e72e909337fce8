"""``separatrix verify``: check a certificate, independently of the solvers."""

from __future__ import annotations

import math
import shlex
import subprocess
import sys
from dataclasses import replace
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from ...errors import CertificateError, SeparatrixError
from ...printable import printable
from .. import options, regressions
from ..console import document, facts, heading, show, waiting, write_json


def verify(
    certificate: str,
    source: Annotated[options.Reading, ("row_names",)],
    *,
    same_data: bool = True,
    independent: bool = False,
    time_limit: float = math.inf,
    json: bool = False,
) -> None:
    """Does a certificate hold for these data? Exit code 0 if it does, 1 if it does not.

    If it cannot be checked, for example because these are other data, the exit code is 2.

    The target and the columns are those in the certificate, unless you specify them. Conditions and queries
    are not part of a certificate, so repeat those that you used with check. The answer always says what the
    claim is about: the target, the columns, how they were read, and whether this is the plain reading of the
    file, that is, with no option except the target.

    For example:

        separatrix verify proof.json endometrial.csv

    Options
    -------
    certificate CERTIFICATE: The JSON file that check wrote.
    same_data, --any-data: Also compare the hash of the data, or check the proof for these data, whatever they
        are.
    independent: Also run a second checker, which shares no code with the first, in a fresh interpreter.
    time_limit SECONDS: Stop after this time; useful for certificates of unknown origin. --memory also limits
        the memory of the check.
    """
    from ...certificates.check import verify as verify_certificate
    from ...files.encoding import Encoding, shown
    from ..certificate_files import unpack

    memory = source.memory or math.inf
    limits: dict[str, Any] = {"same_data": same_data, "time_limit": time_limit, "memory_limit": memory}
    content = Path(certificate).read_bytes()
    parts, columns = unpack(content, memory)
    if parts[0][1].question == "estimate":
        ask = partial(_ask_second, content, same_data=same_data, time_limit=time_limit)
        if not regressions.verify_regression(
            source, parts[0][1], columns, limits, json, ask if independent else None
        ):
            raise typer.Exit(1)
        return
    kept = columns.get("target")
    own = "encoding" in columns and not (source.features or source.exclude)
    known = Encoding.from_dict(columns["encoding"]) if own else None
    told = source.target is None and isinstance(kept, str)
    if told:
        source = replace(source, target=kept)
    rows = source.open(intercept=parts[0][1].lift, known=_fitting(known, parts[0][1]))
    with waiting("Checking the proof"):
        X, y = rows.read()
        if y is None:
            raise CertificateError("Which column is the target?", remedy="Name it.", parameter="target")
        checks = [(of, proof, verify_certificate(proof, X, y, **limits)) for of, proof in parts]
        target = printable(str(rows.target_name))
        asked = content, X, {"y": y}, [f"--target={target}"]
        second = _ask_second(*asked, same_data=same_data, time_limit=time_limit) if independent else None
        plain, differences, left_out = _compare(source, rows, [proof for _, proof in parts])
    reasons = [
        check.reason
        if check.row is None
        # The reason counts rows from 0, as the certificate does.
        else f"{check.reason} In the file, counted from 1, it is {rows.places([check.row])[0].words}."
        for _, _, check in checks
    ]
    holds = all(check.holds for _, _, check in checks) and (second is None or second["holds"])
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
                "left_out": left_out,
                "plain": plain,
                "differences": differences,
                "independent": second,
            }
        )
    else:
        tone = "bold green" if holds else "bold red"
        show(heading("The certificate holds." if holds else "The certificate does not hold.", tone))
        for (of, proof, _), reason in zip(checks, reasons, strict=True):
            show(f"{of + ': ' if of else ''}{proof.claim} ({question_of(proof)}).", reason)
        if second is not None:
            show("The second checker says:", *(f"  {line}" for line in second["words"]))
        if plain:
            said = f"This is the plain reading of {rows.name}, with no option except the target."
        elif plain is None:
            said = "Standard input can be read only once, so this was not compared with its plain reading."
        else:
            said = f"This is not the plain reading of {rows.name}. {' '.join(differences)}"
        hashed = "" if same_data else " (their hash was not compared)"
        pairs = [
            ("data", f"{rows.name}: {X.shape[0]:,} rows{hashed}"),
            ("target", f"{rows.target_name}{' (from the certificate)' if told else ''}"),
            ("classes", shown(parts[0][1].classes)),
            ("columns", shown(columns_of(rows.encoding))),
            *([("left out", shown(left_out))] if left_out else []),
            *(("note", note) for note in rows.notes),
        ]
        show("", facts(pairs), "", said if plain else heading(said, "bold yellow"))
    if not holds:
        raise typer.Exit(1)


def _compare(
    source: options.Reading, rows: Any, proofs: list[Any]
) -> tuple[bool | None, list[str], list[str]]:
    """Compare the rows of a claim with the plain reading of the file: the same target, and no other option.

    Returns
    -------
    plain : bool or None
        Whether they are the same; None for standard input, which cannot be read again.
    differences : list of str
        What is read differently, one sentence each.
    left_out : list of str
        Columns that the plain reading has and the claim leaves out.
    """
    differences: list[str] = []
    left_out: list[str] = []
    if given := source.given("data", "target"):
        differences.append(f"It was read with {shlex.join(given)}.")
    again = source.data not in (None, "-") or source.sql is not None
    if again:
        try:
            plain = source.plainly.open(intercept=proofs[0].lift).encoding
            differences += rows.encoding.unlike(plain)
            used = {column.name for column in rows.encoding.columns}
            left_out = [each.name for each in plain.columns if each.name not in used]
        except SeparatrixError as problem:
            differences.append(f"Without these options, the file is refused: {problem.problem}")
    if most := max(len(set(proof.excluded)) for proof in proofs):
        differences.append(f"The certificate leaves out {most:,} of {proofs[0].n_rows:,} rows.")
    return False if differences else True if again else None, differences, left_out


def question_of(proof: Any) -> str:
    """Return the question that a certificate answers."""
    from ...certificates.claims import Certificate
    from ...certificates.monomials import PLAIN
    from ...proofs.answer import Question

    if not isinstance(proof, Certificate):
        return str(proof.words())
    listed = ", ".join(map(str, proof.degrees))
    space = "" if proof.degrees == PLAIN else f"monomials of degree {listed}"
    return Question(proof.question, proof.classes, proof.chosen, proof.lift, space).words()


def columns_of(encoding: Any) -> list[str]:
    """Return the columns that are used, with the kind of those that contain text."""
    if encoding.width is not None:
        return [f"{encoding.width:,} columns, numbered from {encoding.first}"]
    return [each.name if each.levels is None else f"{each.name}: {each.kind}" for each in encoding.columns]


def _fitting(encoding: Any, proof: Any) -> Any:
    """Refuse a certificate whose list of columns does not match its claim."""
    if encoding is not None and encoding.n_features != proof.n_columns:
        raise CertificateError(
            f"The certificate lists {encoding.n_features} columns, but its claim is about "
            f"{proof.n_columns}. It was changed after it was written."
        )
    return encoding


def _ask_second(
    certificate: bytes,
    X: Any,
    columns: dict[str, Any],
    names: list[str],
    *,
    same_data: bool,
    time_limit: float,
) -> dict[str, Any]:
    """Let the second checker check the same certificate and the same numbers, whose names it repeats.

    It gets them in files that only this user can read, and that are removed afterwards. ``-I`` and ``-S``
    keep environment variables, the current directory and installed packages away from it.
    """
    import numpy as np

    with (
        TemporaryDirectory(prefix="separatrix-") as folder,
        as_file(files("separatrix.checker") / "check_certificate.py") as checker,
    ):
        proof, data = Path(folder, "certificate.json"), Path(folder, "data.npz")
        proof.write_bytes(certificate)
        np.savez(data, **_arrays(X), **{name: _labels(each) for name, each in columns.items()})
        command = [sys.executable, "-I", "-S", "-X", "utf8", str(checker), str(proof), str(data)]
        command += [*names, *([] if same_data else ["--any-data"])]
        seconds = None if math.isinf(time_limit) else time_limit
        try:
            done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=seconds)
        except subprocess.TimeoutExpired:
            raise CertificateError(
                f"The second checker did not finish within {time_limit:g} seconds.",
                remedy="Allow more time, or leave out --independent.",
                parameter="time_limit",
            ) from None
    return {"holds": done.returncode == 0, "words": (done.stdout + done.stderr).splitlines()}


def _arrays(X: Any) -> dict[str, Any]:
    import numpy as np

    from ...sparse import sparse

    if not sparse.issparse(X):
        return {"X": X}
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}


def _labels(y: Any) -> Any:
    """Return the labels as an array that can be read without pickle."""
    import numpy as np

    labels = np.asarray(y)
    plain = np.asarray(labels.tolist())
    if plain.dtype.kind not in "biufU" or plain.tolist() != labels.tolist():
        raise CertificateError("The second checker can only read labels that are numbers or text.")
    return plain
