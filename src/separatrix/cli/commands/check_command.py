"""``separatrix check``: can the classes be separated? With the proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import typer

from ...errors import InputError
from .. import options
from ..console import document, facts, heading, say, show, show_remedies, show_table, waiting, write_json

STATUSES = ("separable", "quasi-separable", "overlapping", "inseparable", "undecided")


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
            "--time-limit",
            metavar="SECONDS",
            help="How long to search; what is not proved by then stays open.",
        ),
    ] = 600.0,
    formula: Annotated[
        str | None,
        typer.Option(
            "--formula",
            metavar="TEXT",
            help='Ask about a model in R notation, such as "y ~ x + C(z)", instead of --target and '
            "--features. Needs the extra formula.",
        ),
    ] = None,
    kernel: options.Kernel = None,
    degree: options.Degree = None,
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
        rows: Any = _formula_rows(source, formula)
        (X, y), intercept = rows.read(), rows.design.intercept and intercept
    else:
        rows = source.open(intercept=intercept, labelled=True)
        _need_room(rows.encoding.n_features, rows.name)
        with waiting("Reading the rows"):
            X, y = source.read(rows)
    from ...proofs.verdict import separability  # late: errors in the data are reported a second earlier

    with waiting("Searching for a separator, or for a proof that there is none"), options.naming_rows(rows):
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
        _show(rows, source.shown(X, y, rows), verdict, [] if formula else source.command("check"))
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


def _need_room(columns: int, name: str, each: int = 400) -> None:
    """Raise before the work begins if a verdict on so many columns does not fit into memory.

    Measured with ten million columns of a LIBSVM file: 223 bytes per column for the verdict, 362 and more
    with a report.
    """
    from ...files.source.detect import free_memory

    free, needed = free_memory(), columns * each
    if needed > free:
        raise InputError(
            f"{name!r} has {columns:,} columns. A verdict and its proof take about {each} bytes per column, "
            f"{needed / 1e9:.0f} GB in all, and {free / 1e9:.0f} GB are free. Number the columns from 1 on "
            "without gaps, or leave out those that are never used."
        )


def _matches(verdict: Any, wanted: list[str]) -> bool:
    return verdict.status in wanted or (verdict.separable is False and "inseparable" in wanted)


def _show(rows: Any, data: Any, verdict: Any, command: list[str]) -> None:
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
                *(("note", note) for note in rows.notes),
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
    show_remedies(remedies.remedies(verdict, data, command=command))


def _write(
    certificate: str | None, report: str | None, rows: Any, X: Any, y: Any, verdict: Any, kernel: Any
) -> None:
    """Write the files that were asked for; if one of them cannot be written, none is."""
    contents = {}
    if certificate is not None:
        import json

        from ..certificate_files import pack

        contents[certificate] = f"{json.dumps(pack(verdict, rows), indent=1)}\n".encode()
    if report is not None:
        contents[report] = options.report_of(rows, X, y, verdict=verdict, kernel=kernel)
    from ...atomic import write_all

    write_all(contents)


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


@dataclass(frozen=True, eq=False)
class _FormulaRows:
    """The rows that a formula makes of a table; whatever is not said here is said by the table."""

    table: Any
    formula: str
    design: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.table, name)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Labels that seem to mean the same."""
        from ...files.label_spelling import doubts

        return tuple(doubts(self.target_name, set(self.design.y.tolist())))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about how the file was read."""
        return (f"formula: {self.formula}", *self.table.notes)

    @property
    def target_name(self) -> str:
        """The left side of the formula."""
        return self.formula.partition("~")[0].strip()

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name for each column of the matrix."""
        return tuple(map(str, self.design.X.columns))

    def read(self) -> tuple[Any, Any]:
        """The matrix and the labels."""
        from ...files.batches import whole

        labels = self.design.y
        return self.design.X.to_numpy(dtype=float), whole(labels) if labels.dtype.kind == "f" else labels

    def places(self, rows: Sequence[int]) -> Any:
        """Where rows of the matrix are in the file."""
        return self.table.places(self.design.rows[list(rows)].tolist())

    def describe(self) -> dict[str, Any]:
        """Plain facts for JSON."""
        return {
            **self.table.describe(),
            "rows": len(self.design.y),
            "target": self.target_name,
            "features": int(self.design.X.shape[1]),
            "columns": None,
            "notes": [*self.doubts, *self.notes],
            "formula": self.formula,
        }


def _formula_rows(source: options.Reading, formula: str) -> _FormulaRows:
    """Read the variables of a formula, and evaluate it on them."""
    from ...proofs.statistics.formula import read_formula, variables

    for name in ("target", "features", "exclude"):
        if getattr(source, name):
            raise typer.BadParameter(
                f"--{name} does not go with --formula, which names the columns. Leave it out."
            )
    table = replace(source, features=[options.quoted(each) for each in variables(formula)]).open()
    if not hasattr(table.reader, "frame"):
        raise InputError(f"{table.name!r} has no named columns, which a formula needs.")
    with waiting("Reading the rows"):
        found = read_formula(formula, table.reader.frame())
    lost = found.n_data - len(found.y)
    if lost:
        raise InputError(
            f"{table.name!r} lacks values in {lost:,} of {found.n_data:,} rows that the formula uses.",
            remedy="Fill them in, or leave such rows out with missing='drop'.",
            parameter="missing",
        )
    return _FormulaRows(table, formula, found)
