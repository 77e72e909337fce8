"""``separatrix check``: can the classes be separated? With the proof."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from ...errors import InputError
from .. import options
from ..console import document, facts, heading, say, show, show_remedies, show_table, waiting, write_json

STATUSES = ("separable", "quasi-separable", "overlapping", "inseparable", "undecided")
# Measured with ten million columns of a LIBSVM file: 223 for the verdict, 362 and more with a report.
BYTES_A_COLUMN = 400


@options.reads()
def check(
    source: options.Reading,
    intercept: options.Intercept = True,
    quasi: Annotated[
        bool, typer.Option("--quasi/--no-quasi", help="Also tell quasi-separable from overlapping.")
    ] = True,
    multiclass: Annotated[
        str,
        typer.Option(
            metavar="joint|one-vs-rest|pairwise",
            help="What to ask of more than two classes: all at once, or in parts.",
        ),
    ] = "joint",
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit", metavar="SECONDS", help="How long to look; what is not proved by then stays open."
        ),
    ] = 600.0,
    formula: Annotated[
        str | None,
        typer.Option(
            "--formula",
            metavar="TEXT",
            help='Ask about a model in the words of R, such as "y ~ x + C(z)", instead of --target and '
            "--features. Needs the extra formula.",
        ),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            "--kernel", help="Ask in the feature space of a kernel, such as linear, poly, rbf or geometric."
        ),
    ] = None,
    degree: Annotated[
        int | None,
        typer.Option("--degree", min=1, help="Ask about polynomials of this degree (kernel poly)."),
    ] = None,
    gamma: options.Gamma = None,
    certificate: Annotated[
        str | None, typer.Option("--certificate", metavar="FILE", help="Write the proof to a JSON file.")
    ] = None,
    report: options.Report = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="VERDICT",
            help="End with exit code 1 on this verdict: separable, quasi-separable, overlapping, undecided, "
            "or inseparable (which quasi-separable and overlapping are too). May be given several times.",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also list the strategies of the search, with their times.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Can the classes be separated? The verdict in plain words, with an exact proof.

    For example:

        separatrix check endometrial.csv --target HG --certificate proof.json

        separatrix check patients.parquet --target ill --exclude id --report report.html

        separatrix check patients.csv --formula "ill ~ dose + C(ward)"

        separatrix check xor.csv --target y --degree 2

        separatrix check data.svm --fail-if separable --fail-if quasi-separable && fit-a-logistic-regression
    """
    for each in fail_if or []:
        if each not in STATUSES:
            raise typer.BadParameter(f"--fail-if takes one of {', '.join(STATUSES)}. Got {each!r} instead.")
    chosen = options.kernel("poly" if degree is not None and kernel is None else kernel, degree, gamma)
    writes = certificate is not None or report is not None
    if writes:
        options.need_apart(source.data, certificate=certificate, report=report)
    if source.elsewhere:
        source.refuse_elsewhere(formula=formula, kernel=kernel, degree=degree, report=report)
    if formula is not None:
        if certificate is not None:
            raise typer.BadParameter(
                "--certificate does not go with --formula: a formula is code, which a file that is sent "
                "around must not bring along. Name the columns with --features, or write a query with --sql."
            )
        from ..design import design

        rows: Any = design(source, formula)
        (X, y), intercept = rows.read(), rows.design.intercept and intercept
    else:
        rows = source.open(intercept=intercept, labelled=True)
        _need_room(rows.encoding.n_features, rows.name)
        with waiting("Reading the rows"):
            X, y = source.read(rows)
    from ...proofs.verdict import separability  # late: what is wrong with the data is said a second earlier

    with waiting("Looking for a separator, or for a proof against one"), options.naming_rows(rows):
        verdict = separability(
            X,
            y,
            quasi=quasi,
            kernel=chosen,
            fit_intercept=intercept,
            multiclass=multiclass,
            time_limit=time_limit,
            feature_names=rows.feature_names,
        )
        _ = verdict.coefficients  # found when they are first asked for, which may take seconds
    if writes:
        _write(certificate, report, rows, X, y, verdict, chosen)
    if json:
        told = document("check", rows)
        told["data"]["notes"] = [*told["data"]["notes"], *filter(None, [verdict.note])]
        write_json(
            {
                **told,
                **_with_places(verdict.to_dict(), rows),
                "certificate_file": certificate,
                "verify": None if certificate is None else source.verify_command(certificate),
                "report_file": report,
                **({"search": [asdict(step) for step in _steps(verdict)]} if explain else {}),
            }
        )
    else:
        _show(rows, source.shown(X, y, rows), verdict)
        if explain and (steps := _steps(verdict)):
            listed = [(step.strategy, f"{step.outcome}, {step.seconds:.3f} s") for step in steps]
            show("The search:", facts(listed), "")
        if certificate is not None:
            say(f"Certificate: {certificate}. Check it with: {source.verify_command(certificate)}")
        if report is not None:
            say(f"Report: {report}")
    if fail_if and _matches(verdict, fail_if):
        raise typer.Exit(1)


def _steps(verdict: Any) -> list[Any]:
    """The steps of the search, of a question with parts those of each part in turn."""
    parts = verdict.parts.values() or (verdict,)
    return [step for part in parts for step in part.search]


def _need_room(columns: int, name: str) -> None:
    """Raise before the work begins where a verdict on so many columns does not fit into memory."""
    from ...files.source.detect import free_memory

    free = free_memory()
    if columns * BYTES_A_COLUMN > free:
        raise InputError(
            f"{name!r} has {columns:,} columns. A verdict and its proof take about {BYTES_A_COLUMN} bytes "
            f"for each, {columns * BYTES_A_COLUMN / 1e9:.0f} GB, and {free / 1e9:.0f} GB are free. Number "
            "the columns from 1 on without gaps, or leave out those that are never used."
        )


def _matches(verdict: Any, wanted: list[str]) -> bool:
    return verdict.status in wanted or (verdict.separable is False and "inseparable" in wanted)


def _show(rows: Any, data: Any, verdict: Any) -> None:
    import numpy as np

    from ...report import remedies, tables, words

    labels, counts = np.unique(data.y, return_counts=True)
    named = ", ".join(f"{label} ({count:,})" for label, count in zip(labels[:8], counts[:8], strict=True))
    more = f" and {labels.size - 8} more" if labels.size > 8 else ""
    options.show_doubts(rows.target_name, labels)
    show(
        # separation is good for a classifier and bad for a regression: only an open answer has a color
        heading(words.answer(verdict), "bold yellow" if verdict.separable is None else "bold"),
        verdict.meaning,
        "",
        facts(
            [
                ("data", f"{rows.name}: {tables.size_of(data.X)}"),
                (rows.target_name or "target", named + more),
                ("question", verdict.question),
                *([("reason", verdict.reason)] if verdict.reason else []),
                ("best margin", tables.margin_words(verdict.margin, verdict.margin_kind, verdict.kernel)),
                *(
                    [("rows separated", separated)]
                    if (separated := words.separated_rows(verdict, data))
                    else []
                ),
                *notes(rows),
                *([("note", verdict.note)] if verdict.note else []),
            ]
        ),
        "",
        *(f"{sentence}" for sentence in words.proof(verdict)),
        "",
    )
    if verdict.parts:
        show_table(tables.parts_table(verdict))
    if verdict.witness:
        show_table(tables.witness_table(verdict, data))
    if after := words.consequence(verdict):
        show(after, "")
        show_table(tables.variable_table(verdict, data))
    file = rows.name if _read_whole(rows) else None
    show_remedies(remedies.remedies(verdict, data, target=rows.target_name, source=file))


def _read_whole(rows: Any) -> bool:
    """Whether other programs, told nothing but its name, read the same rows from the file."""
    asked, known = rows.asked, getattr(rows, "table", rows).encoding
    return not (asked.get("where") or asked.get("sql") or asked.get("missing") == "drop" or known.na)


def _write(
    certificate: str | None, report: str | None, rows: Any, X: Any, y: Any, verdict: Any, kernel: Any
) -> None:
    """Write what was asked for; where one file cannot be written, none is."""
    contents = {}
    if certificate is not None:
        import json

        from ..certificate_files import pack

        contents[certificate] = json.dumps(pack(verdict, rows), indent=1) + "\n"
    if report is not None:
        from ...report.page import report_text

        with waiting("Drawing the report"):
            contents[report] = report_text(
                X,
                y,
                title=rows.name,
                names=rows.feature_names,
                verdict=verdict,
                kernel=kernel,
                facts=reading(rows),
                places=rows.places,
            )
    from ...atomic import write_all

    write_all({path: text.encode() for path, text in contents.items()})


def reading(rows: Any) -> tuple[tuple[str, str], ...]:
    """How the rows were read, for a report."""
    told = tuple(("Reading", note) for note in (*rows.doubts, *rows.notes))
    return (("Kind of file", rows.kind), ("Target", str(rows.target_name)), *told)


def notes(rows: Any) -> list[tuple[str, str]]:
    """The same for the terminal."""
    return [("note", note) for note in rows.notes]


def _with_places(fields: dict[str, Any], rows: Any) -> dict[str, Any]:
    """A verdict whose rows, outside of certificates, are the rows of the file, counted from 1."""
    proving = [each["row"] for each in fields["witness_rows"]]
    places = rows.places([*proving, *fields["strict_rows"]])
    witness = [
        {
            **each,
            "row": place.row,
            **({"line": place.line or place.row} if rows.has_lines else {}),
            **({} if place.name is None else {"name": place.name}),
        }
        for each, place in zip(fields["witness_rows"], places, strict=False)
    ]
    parts = {key: _with_places(part, rows) for key, part in fields["parts"].items()}
    strict = [place.row for place in places[len(proving) :]]
    return {**fields, "rows_counted_from": 1, "witness_rows": witness, "strict_rows": strict, "parts": parts}
