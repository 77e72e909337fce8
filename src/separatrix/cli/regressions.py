"""Questions about regressions from the command line: reading the columns, and showing the answer."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from json import dumps
from typing import Any

import typer

from ..atomic import write_all
from ..errors import CertificateError, InputError
from ..inputs.response import FURTHER
from . import options
from .console import document, facts, heading, say, show, show_remedies, show_table, waiting, write_json


def named_columns(given: dict[str, Any]) -> dict[str, str]:
    """Return the further columns that the options name."""
    return {name: given[name] for name in FURTHER if given.get(name) is not None}


def is_regression(formula: str | None) -> bool:
    """Whether a formula is about a model that the question of separability does not cover."""
    if formula is None:
        return False
    from ..proofs.statistics.r_formula import read_written

    return read_written(formula).model is not None


def read_frame(source: options.Reading, wanted: list[str], named: Iterable[str] = ()) -> tuple[Any, Any]:
    """Return a table and its columns as a data frame; an empty list of wanted columns means all.

    Columns that are named are read even if their numbers count up, as times in order may.
    """
    features = [options.quoted(each) for each in wanted] or None
    table = replace(source, target=None, features=features).open()
    if not hasattr(table, "frame"):
        raise InputError(f"A regression needs named columns, and {table.name!r} has none.")
    with waiting("Reading the rows"):
        frame = table.frame()
    once = wanted or source.data == "-"  # what comes from standard input is read only once
    lost = [] if once else [name for name in named if name not in frame.columns]
    return read_frame(replace(source, exclude=None), [*frame.columns, *lost]) if lost else (table, frame)


def design_of(frame: Any, target: str | None, further: dict[str, str]) -> tuple[Any, dict[str, Any]]:
    """Return the design matrix and the other columns; text becomes a column per level except the first."""
    import pandas as pd

    taken = {**further, **({} if target is None else {"y": target})}
    for name in taken.values():
        if name not in frame.columns:
            raise InputError(
                f"There is no column {name!r}, or it looks like row numbers.",
                remedy="Name the columns with --features.",
            )
    inner = frame[[name for name in frame.columns if name not in taken.values()]]
    text = [name for name in inner.columns if inner[name].dtype.kind not in "biuf"]
    X = pd.get_dummies(inner, columns=text, prefix_sep="=", drop_first=True) if text else inner
    return X.astype(float), {name: frame[column] for name, column in taken.items()}


def check_regression(
    source: options.Reading, further: dict[str, str], asked: dict[str, Any], offset: str | None
) -> bool | None:
    """Answer, show and write what was asked; return whether the estimate exists."""
    from ..proofs.estimates import check_estimate
    from ..proofs.statistics.formula import variables
    from ..report.model_remedies import model_remedies, words
    from ..report.tables import NamedData, coefficient_table, responsible_table

    formula, certificate, report = (asked.pop(name) for name in ("formula", "certificate", "report"))
    as_json, explain = asked.pop("json"), asked.pop("explain")
    options.need_apart(source.data, certificate=certificate, report=report)
    features = (options.names(source.features) if source.features else None) or []
    if formula is not None:
        if source.target or source.features or source.exclude:
            raise typer.BadParameter(
                "--formula names the columns: leave out --target, --features, --exclude."
            )
        features = variables(formula)
    elif source.target is None and not {"time", "winner"} & further.keys():
        raise typer.BadParameter("Name the response with --target, or the time with --time.")
    wanted = [*features, *filter(None, [source.target]), *further.values()] if features else []
    exclude = [*(source.exclude or []), *([options.quoted(offset)] if offset else [])]
    named = [*filter(None, [source.target]), *further.values()]
    source_read = replace(source, exclude=exclude or None)
    table, frame = read_frame(source_read, list(dict.fromkeys(wanted)), [] if formula else named)
    with warnings.catch_warnings(), waiting("Searching for a proof"), options.naming_rows(table):
        warnings.simplefilter("ignore")
        if formula is not None:
            found = check_estimate(formula, frame, **{**further, **asked})
        else:
            X, columns = design_of(frame, source.target, further)
            found = check_estimate(X, **columns, **asked)
        _ = found.coefficients  # computed on first use, which may take seconds
    others = {**further, **({"offset": offset} if offset else {})}
    origin = replace(options.origin(source, table, formula), target=source.target or "", further=others)
    ways = model_remedies(found, origin)
    data = NamedData(frame, frame.index.to_numpy(), tuple(map(str, frame.columns)), table.places)
    contents = {}
    if certificate is not None:
        contents[certificate] = _certificate(found, source.target, further, list(frame.columns), formula)
    if report is not None:
        from ..report.page import estimate_text

        notes = (("Reading", note) for note in table.notes)
        known = (("Kind of file", table.kind), *notes, *((("Formula", formula),) if formula else ()))
        contents[report] = estimate_text(found, data, ways, words(origin), table.name, known).encode()
    write_all(contents)
    if as_json:
        write_json(
            {
                **document("check", table),
                "model": found.asked.model,
                "exists": found.exists,
                "unique": found.unique,
                "coefficients": found.coefficients,
                "responsible_rows": [each.row for each in table.places(found.responsible_rows.tolist())],
                "rows_counted_from": 1,
                "left_out": found.dropped,
                "certificate_file": certificate,
                "report_file": report,
                "search": [asdict(step) for step in found.search] if explain else [],
            }
        )
        return found.exists
    told = [("left out", found.dropped), *(("note", note) for note in (*table.notes, found.note))]
    show(
        heading(found.headline, "bold yellow" if found.exists is None else "bold"),
        "",
        facts(
            [
                ("data", f"{table.name}: {found.n_rows:,} rows"),
                ("model", found.title),
                *((name, note) for name, note in told if note),
            ]
        ),
        "",
    )
    show_table(coefficient_table(found))
    show_table(responsible_table(found, data))
    show_remedies(ways, words(origin))
    if certificate is not None:
        say(f"Certificate: {certificate}. Check it with: {source.verify_command(certificate)}")
    if report is not None:
        say(f"Report: {report}")
    return found.exists


def _certificate(
    found: Any, target: str | None, further: dict[str, str], columns: list[str], formula: str | None
) -> bytes:
    if formula is not None:
        raise typer.BadParameter(
            "--certificate does not work with --formula, because a certificate must not contain code."
        )
    if found.certificate is None:
        raise CertificateError(
            "The answer is undecided, so there is no proof, and no certificate was written."
        )
    features = [name for name in columns if name not in (target, *further.values())]
    about = {"target": target, "further": further, "features": features}
    return f"{dumps({**found.certificate.to_dict(), 'columns': about}, indent=1)}\n".encode()


def verify_regression(
    source: options.Reading,
    proof: Any,
    columns: dict[str, Any],
    limits: dict[str, Any],
    as_json: bool,
    ask_second: Callable[..., dict[str, Any]] | None,
) -> bool:
    """Check the certificate of a regression against the columns that it names, and show the result."""
    from ..certificates.check import verify

    further, features = columns.get("further"), columns.get("features")
    target = source.target or columns.get("target")
    if not isinstance(further, dict) or not set(further) <= set(FURTHER) or not isinstance(features, list):
        raise CertificateError("The certificate does not say which columns it is about.")
    wanted = [*features, *filter(None, [target]), *further.values()]
    table, frame = read_frame(source, list(dict.fromkeys(map(str, wanted))))
    X, given = design_of(frame, target, further)
    with waiting("Checking the proof"):
        check, second = verify(proof, X, **given, **limits), None
        if ask_second is not None:
            names = [f"--target={target}"] if target else []
            names += [f"--further={name}={column}" for name, column in further.items()]
            second = ask_second(X.to_numpy(), given, names)
    holds = check.holds and (second is None or second["holds"])
    if as_json:
        told = {
            "holds": holds,
            "independent": second,
            "claim": proof.claim,
            "reason": check.reason,
            "model": proof.asked.model,
        }
        write_json({**document("verify", table), **told})
    else:
        tone = "bold green" if holds else "bold red"
        words = "The certificate holds." if holds else "The certificate does not hold."
        taken = [f"{name}: {column}" for name, column in further.items()]
        show(
            heading(words, tone),
            f"{proof.claim} ({proof.words()}). {check.reason}",
            *([] if second is None else ["The second checker says:", *second["words"]]),
            "",
            facts(
                [
                    ("data", f"{table.name}: {X.shape[0]:,} rows"),
                    *([("response", str(target))] if target else []),
                    *([("further columns", ", ".join(taken))] if taken else []),
                    ("columns", ", ".join(map(str, X.columns))),
                ]
            ),
        )
    return bool(holds)
