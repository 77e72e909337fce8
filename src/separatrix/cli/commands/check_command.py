"""``separatrix check``: decide whether the classes can be separated, with the proof."""

from __future__ import annotations

from dataclasses import asdict, replace
from types import SimpleNamespace
from typing import Any

import typer

from ...certificates.claims import Separation
from ...errors import InputError
from .. import options, regressions
from ..console import document, facts, heading, say, show, show_remedies, show_table, waiting, write_json

ROWS_OF_FEWEST = ("wrong_rows", "in_every", "in_none")
STATUSES = (*Separation, "no-estimate")


def check(
    source: options.Reading,
    *,
    intercept: bool = True,
    quasi: bool = True,
    multiclass: str = "joint",
    time_limit: float = 600.0,
    formula: str | None = None,
    kernel: str | None = None,
    degree: options.Count = None,
    gamma: float | None = None,
    fewest: bool = False,
    model: str | None = None,
    time: str | None = None,
    event: str | None = None,
    entry: str | None = None,
    strata: str | None = None,
    groups: str | None = None,
    trials: str | None = None,
    weights: str | None = None,
    winner: str | None = None,
    loser: str | None = None,
    offset: str | None = None,
    ties: str | None = None,
    certificate: str | None = None,
    report: str | None = None,
    fail_if: list[str] | None = None,
    explain: bool = False,
    json: bool = False,
) -> None:
    """Can the classes be separated? Prints the verdict in plain words, with an exact proof.

    For example:

        separatrix check endometrial.csv --target HG --certificate proof.json

        separatrix check patients.parquet --target ill --exclude id --report report.html

        separatrix check patients.csv --formula "ill ~ dose + C(ward)"

        separatrix check claims.csv --target claims --model poisson --groups region

        separatrix check trial.csv --model cox --time days --event died --strata center

        separatrix check xor.csv --target y --degree 2

        separatrix check patients.csv --target ill --fewest

        separatrix check data.svm --fail-if separable --fail-if quasi-separable --fail-if undecided

    Options
    -------
    quasi: Distinguish quasi-separable from overlapping.
    multiclass joint|one-vs-rest|pairwise: The question for more than two classes: all at once, or in parts.
    time_limit SECONDS: How long to search. What is not proved by then is undecided.
    fewest: If no hyperplane separates the classes, also find the fewest rows that one gets wrong, for at most
        a minute (or less, with --time-limit). Ctrl-C ends this search, and what is proved by then is shown.
    formula TEXT: A model formula as in R, such as "y ~ x + I(x^2) + factor(z)" or "Surv(days, died) ~ dose",
        instead of --target and --features. Needs the package formulaic.
    model MODEL: Ask instead whether the maximum-likelihood estimate of a regression exists: binary, binomial,
        multinomial, ordinal, adjacent, continuation, poisson, gamma, inverse-gaussian, conditional, cox or
        bradley-terry.
    time COLUMN: Cox: the time of each row.
    event COLUMN: Cox: 1 if the row is a death, 0 if it is censored.
    entry COLUMN: Cox: the time from which on the row is at risk.
    strata COLUMN: Cox and conditional: the stratum of each row.
    groups COLUMN: Binary and poisson: each of these groups has an intercept of its own.
    trials COLUMN: Binomial: the number of trials, if the target has the successes.
    weights COLUMN: Rows of weight zero are left out. Other weights matter for gamma only.
    winner COLUMN: Bradley-Terry: the winner of each comparison.
    loser COLUMN: Bradley-Terry: the loser.
    offset COLUMN: An offset never changes the answer; the column is left out.
    ties efron|breslow|exact: Cox: how tied deaths are treated.
    certificate FILE: Write the proof to a JSON file.
    fail_if VERDICT: Exit with code 1 on this verdict: separable, quasi-separable, overlapping, undecided, or
        inseparable (that is, quasi-separable or overlapping); with --model, no-estimate. May be repeated.
    explain: Also list the search strategies, with their times.
    """
    for each in fail_if or []:
        if each not in STATUSES:
            raise typer.BadParameter(f"--fail-if takes one of {', '.join(STATUSES)}. Got {each!r} instead.")
    further = regressions.named_columns(locals())
    if model is not None or further or regressions.is_regression(formula):
        if kernel or degree or multiclass != "joint":
            raise typer.BadParameter("A regression has no --kernel, --degree or --multiclass.")
        asked = {"formula": formula, "model": model, "ties": ties, "time_limit": time_limit}
        asked |= {"json": json, "explain": explain, "certificate": certificate, "report": report}
        asked |= {} if intercept else {"fit_intercept": False}
        exists = regressions.check_regression(source, further, asked, offset)
        if exists is not True and "no-estimate" in (fail_if or []):
            raise typer.Exit(1)
        return
    chosen = options.kernel("poly" if degree is not None and kernel is None else kernel, degree, gamma)
    writes = certificate is not None or report is not None
    if writes:
        options.need_apart(source.data, certificate=certificate, report=report)
    if formula is not None:
        if certificate is not None:
            raise typer.BadParameter(
                "--certificate does not work with --formula, because a certificate must not contain code. "
                "Name the columns with --features, or write a query with --sql."
            )
        rows: Any = _formula_rows(source, formula)
        (X, y), intercept = rows.read(), rows.design.intercept and intercept
    else:
        rows = source.open(intercept=intercept, labelled=True)
        _need_room(rows.encoding.n_features, rows.name)
        with waiting("Reading the rows"):
            X, y = rows.read()
    from ...proofs.verdict import separability  # imported late, so that errors in the data appear sooner

    with waiting("Searching for a separator, or for a proof that none exists"), options.naming_rows(rows):
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
        _ = verdict.coefficients  # computed on first use, which may take seconds
    found = None
    if fewest and verdict.separable is False:
        if chosen is not None or verdict.parts:
            raise typer.BadParameter("--fewest does not work with a kernel, or with questions in parts.")
        with waiting("Searching for the fewest errors"):
            found = verdict.fewest(min(time_limit, 60.0))
    origin = options.origin(source, rows, formula)
    if writes:
        _write(certificate, report, rows, X, y, verdict, chosen, found, origin)
    if json:
        told = {**document("check", rows), **_with_places(verdict.to_dict(), rows)}
        told["data"]["notes"] = [*told["data"]["notes"], *filter(None, [verdict.note])]
        told["certificate_file"], told["report_file"] = certificate, report
        told["verify"] = None if certificate is None else source.verify_command(certificate)
        told |= {"search": [asdict(step) for step in _steps(verdict)]} if explain else {}
        told |= {} if found is None else {"fewest": _fewest_with_places(found.to_dict(), rows)}
        write_json(told)
    else:
        _show(rows, X, y, verdict, origin, found)
        if explain and (steps := _steps(verdict)):
            listed = [(step.strategy, f"{step.outcome}, {step.seconds:.3f} s") for step in steps]
            show("The search tried these strategies in turn:", facts(listed), "")
        if certificate is not None:
            say(f"Certificate: {certificate}. Check it with: {source.verify_command(certificate)}")
        if report is not None:
            say(f"Report: {report}")
    if fail_if and _matches(verdict, fail_if):
        raise typer.Exit(1)


def _steps(verdict: Any) -> list[Any]:
    """Return the steps of the search, for all parts of the question."""
    parts = verdict.parts.values() or (verdict,)
    return [step for part in parts for step in part.search]


def _need_room(columns: int, name: str, each: int = 400) -> None:
    """Raise an error before the work begins if a verdict needs more memory than there is.

    On a LIBSVM file with ten million columns, the verdict took 223 bytes per column, and the report 362.
    """
    from ...files.source.detect import free_memory

    free, needed = free_memory(), columns * each
    if needed > free:
        raise InputError(
            f"{name!r} has {columns:,} columns. A verdict and its proof take about {each} bytes per column, "
            f"{needed / 1e9:.0f} GB in all, and {free / 1e9:.0f} GB are free. Leave out columns that are "
            "never used, or number the columns without gaps."
        )


def _matches(verdict: Any, wanted: list[str]) -> bool:
    return verdict.status in wanted or (verdict.separable is False and Separation.INSEPARABLE in wanted)


def _show(rows: Any, X: Any, y: Any, verdict: Any, origin: Any, fewest: Any) -> None:
    import numpy as np

    from ...report import remedies, tables, words

    data = tables.read(X, y, rows.feature_names, rows.places)
    options.show_doubts(rows.target_name, np.unique(data.y))
    # The proof of these two says what they mean; so does the heading of a question with parts.
    proved = verdict.certificate and verdict.status in (Separation.SEPARABLE, Separation.OVERLAPPING)
    show(
        # Separation is good for a classifier and bad for a regression, so only "undecided" has a color.
        heading(words.answer(verdict), "bold yellow" if verdict.separable is None else "bold"),
        *([] if proved or verdict.parts else [verdict.meaning]),
        "",
        facts(
            [
                ("data", f"{rows.name}: {tables.size_of(data.X)}"),
                (rows.target_name or "target", tables.class_counts(data.y, 8)),
                ("question", verdict.question),
                *([("reason", verdict.reason)] if verdict.reason else []),
                ("best margin", tables.margin_words(verdict.margin, verdict.margin_kind, verdict.kernel)),
                *([("rows separated", strict)] if (strict := words.separated_rows(verdict, data)) else []),
                *(("note", note) for note in rows.notes),
                *([("note", verdict.note)] if verdict.note else []),
            ]
        ),
        "",
        *words.proof(verdict),
        "",
    )
    show_table(tables.parts_table(verdict))
    show_table(tables.witness_table(verdict, data))
    if fewest is not None:
        show(fewest.summary(), "")
        show_table(tables.wrong_table(fewest, data))
    if after := words.consequence(verdict):
        show(after, "")
        show_table(tables.variable_table(verdict, data))
    show_remedies(remedies.remedies(verdict, data, origin), origin.words)


def _write(
    certificate: str | None,
    report: str | None,
    rows: Any,
    X: Any,
    y: Any,
    verdict: Any,
    kernel: Any,
    fewest: Any,
    origin: Any,
) -> None:
    """Write the certificate and the report; if one of them cannot be written, write neither."""
    from json import dumps

    from ...atomic import write_all
    from ..certificate_files import pack

    contents = {}
    if certificate is not None:
        contents[certificate] = f"{dumps(pack(verdict, rows, fewest), indent=1)}\n".encode()
    if report is not None:
        known = {"verdict": verdict, "kernel": kernel, "fewest": fewest, "origin": origin}
        contents[report] = options.report_of(rows, X, y, **known)
    write_all(contents)


def _with_places(fields: dict[str, Any], rows: Any) -> dict[str, Any]:
    """Replace the row numbers of a verdict by those of the file, counted from 1, except in certificates."""
    proving = [each["row"] for each in fields["witness_rows"]]
    places = rows.places([*proving, *fields["strict_rows"]])
    witness = [
        {
            **each,
            "row": place.row,
            **({"line": place.line or place.row} if rows.line_finder else {}),
            **({} if place.name is None else {"name": place.name}),
        }
        for each, place in zip(fields["witness_rows"], places, strict=False)
    ]
    parts = {key: _with_places(part, rows) for key, part in fields["parts"].items()}
    strict = [place.row for place in places[len(proving) :]]
    return {**fields, "rows_counted_from": 1, "witness_rows": witness, "strict_rows": strict, "parts": parts}


def _fewest_with_places(fields: dict[str, Any], rows: Any) -> dict[str, Any]:
    """Do the same for the fewest errors."""
    named = {name: [place.row for place in rows.places(fields[name])] for name in ROWS_OF_FEWEST}
    return {**fields, **named, "rows_counted_from": 1}


def _formula_rows(source: options.Reading, formula: str) -> Any:
    """Return the design matrix of a formula, with the interface of the table that it was made from."""
    from ...files.label_spelling import doubts
    from ...files.reader import whole
    from ...proofs.statistics.formula import read_formula, variables

    for name in ("target", "features", "exclude"):
        if getattr(source, name):
            raise typer.BadParameter(
                f"--{name} does not work with --formula, which names the columns. Leave it out."
            )
    table = replace(source, features=[options.quoted(each) for each in variables(formula)]).open()
    if not hasattr(table, "frame"):
        raise InputError(f"A formula needs named columns, and {table.name!r} has none.")
    with waiting("Reading the rows"):
        found = read_formula(formula, table.frame())
    lost = found.n_data - len(found.y)
    if lost:
        raise InputError(
            f"{table.name!r} has missing values in {lost:,} of the {found.n_data:,} rows.",
            remedy="Fill them in, or drop these rows with missing='drop'.",
            parameter="missing",
        )
    labels = whole(found.y) if found.y.dtype.kind == "f" else found.y
    target, notes = formula.partition("~")[0].strip(), (f"formula: {formula}", *table.notes)
    doubtful = tuple(doubts(target, set(found.y.tolist())))
    described = {**table.describe(), "rows": len(labels), "target": target}
    described |= {"features": int(found.X.shape[1]), "columns": None, "formula": formula}
    return SimpleNamespace(
        name=table.name,
        kind=table.kind,
        line_finder=table.line_finder,
        encoding=table.encoding,
        design=found,
        doubts=doubtful,
        notes=notes,
        target_name=target,
        feature_names=tuple(map(str, found.X.columns)),
        read=lambda: (found.X.to_numpy(dtype=float), labels),
        places=lambda rows: table.places(found.rows[list(rows)].tolist()),
        describe=lambda: {**described, "notes": [*doubtful, *notes]},
    )
