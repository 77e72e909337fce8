"""The options that several commands share, and the data they name."""

from __future__ import annotations

import glob
import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints

import typer

from ..errors import SeparatrixError
from .console import heading, say, show, waiting

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def size(words: str) -> int:
    """Bytes from text such as ``2GB``.

    For example:

    >>> size("500MB"), size("1.5 G")
    (500000000, 1500000000)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*", words, re.IGNORECASE)
    if not found or float(found[1]) <= 0:
        raise typer.BadParameter(f"--memory needs a size such as 500MB or 2GB. Got {words!r} instead.")
    return int(float(found[1]) * UNITS[found[2].upper()])


# An option that several commands have beside those of `Reading`.
Intercept = Annotated[
    bool,
    typer.Option("--intercept/--no-intercept", help="Hyperplanes anywhere, or only through the origin."),
]
Kernel = Annotated[
    str | None,
    typer.Option(help="Separate in the feature space of a kernel, such as linear, poly, rbf or geometric."),
]
Degree = Annotated[int | None, typer.Option(min=1, help="The degree of the kernel poly or geometric.")]
Gamma = Annotated[float | None, typer.Option(help="Of the rbf kernel exp(-gamma |x - x'|^2).")]
Order = Annotated[
    str | None,
    typer.Option(
        help="Perceptrons: which mistake is corrected next: working_set, cyclic, shuffled, worst or mixed."
    ),
]
MaxIter = Annotated[
    int | None, typer.Option("--max-iter", min=1, help="Perceptrons: how often all rows may be read.")
]
Eta0 = Annotated[
    float | None,
    typer.Option(
        "--eta0", "--learning-rate", help="Perceptrons: the learning rate, which scales every update."
    ),
]
Renormalise = Annotated[
    bool,
    typer.Option(
        "--renormalise/--no-renormalise",
        help="Perceptrons: scale the weights to length one after each update.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Makes chance repeatable.")]
Start = Annotated[
    str | None,
    typer.Option(
        "--start",
        metavar="WEIGHTS",
        help="Perceptrons: the first weights: zeros, random, or numbers separated by commas, with the "
        "intercept last. For more than two classes, one list per class, separated by semicolons.",
    ),
]
ModelFile = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where to save the model, such as model.skops."),
]
Report = Annotated[
    str | None, typer.Option("--report", metavar="FILE", help="Write an HTML report with pictures.")
]
Json = Annotated[bool, typer.Option("--json", help="Write the result as JSON, for machines.")]

CLUSTER = ("scheduler", "workers")  # options of commands that a cluster can do


@dataclass(frozen=True)
class Reading:
    """What is to be read: every command that `reads` has an option for each field.

    Lists may be given in one word, in several words, or by giving the option several times.
    """

    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="A file, a pattern of files, a folder of Parquet files, or - for standard input: CSV, "
            "Parquet, JSON lines, LIBSVM, npy, npz, SQLite, DuckDB, Excel, Arrow, Feather, ARFF, SAS, SPSS, "
            "Stata, IDX, also compressed.",
        ),
    ] = None
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column to be explained: the class of each row.")
    ] = None
    features: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS", help="Use only these columns, separated by commas. Default: all others."
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMNS", help="Leave these columns out, separated by commas."),
    ] = None
    where: Annotated[str | None, typer.Option(help="Keep the rows for which this SQL condition holds.")] = (
        None
    )
    sql: Annotated[
        str | None,
        typer.Option(
            help="Use the answer of this SQL query, in which DATA is called data; tables of SQLite and "
            "DuckDB files have their own names."
        ),
    ] = None
    table: Annotated[str | None, typer.Option(help="The table of an SQLite or DuckDB file.")] = None
    sheet: Annotated[str | None, typer.Option(help="The sheet of an Excel file, by its name.")] = None
    encoding: Annotated[
        str | None,
        typer.Option(help="How text that is not UTF-8 is written, such as latin-1. UTF-16 is recognized."),
    ] = None
    missing: Annotated[
        str, typer.Option(metavar="error|drop", help="What to do with rows that lack a value.")
    ] = "error"
    decimal: Annotated[
        str | None,
        typer.Option(metavar=".|,", help="What separates fractions. Default: the columns tell."),
    ] = None
    thousands: Annotated[
        str | None,
        typer.Option(metavar="SIGN", help="What separates thousands. Default: the columns tell."),
    ] = None
    na: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODES", help="More cells that mean a missing value, separated by commas, such as .,-9"
        ),
    ] = None
    text: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMNS", help="Read these columns as text, separated by commas."),
    ] = None
    row_names: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column that names the rows; it is not a feature."),
    ] = None
    merge_labels: Annotated[
        bool,
        typer.Option(
            "--merge-labels",
            help="Make one class of labels that differ in capital letters or blanks only, and of those that "
            "say true or false in several ways, such as y, yes and 1.",
        ),
    ] = False
    memory: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE",
            parser=size,
            help="How much memory the data may take, such as 500MB or 2GB. In addition, the program takes up "
            "to 350 MB, and about 100 bytes per row.",
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Let the workers of this Dask scheduler read the rows and work on them: an address such as "
            "tcp://host:8786, or the file that the scheduler writes. For Parquet and CSV files that all of "
            "them see. Needs the extra dask.",
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="The same with N processes on this machine, for this command."),
    ] = None
    closing: ExitStack = field(default_factory=ExitStack, compare=False)

    @property
    def elsewhere(self) -> bool:
        """Whether the rows are to be read and used by the workers of a cluster."""
        return self.scheduler is not None or self.workers is not None

    def refuse_elsewhere(self, **given: Any) -> None:
        """Refuse options that need all rows in this process: they are on a cluster."""
        for name, value in given.items():
            if value not in (None, False):
                place = "--workers" if self.scheduler is None else "--scheduler"
                raise typer.BadParameter(
                    f"--{name.replace('_', '-')} does not go with {place}: it is about rows in this process. "
                    "Leave out one of them."
                )

    def connect(self) -> Any:
        """A client of the cluster, until the command ends."""
        from ..distributed.command_rows import connect

        with waiting("Connecting to the cluster"):
            return connect(self.scheduler, self.workers, self.closing)

    def read(self, table: Any) -> Any:
        """All rows of an open table, and their labels: arrays here, or Dask arrays on the cluster."""
        if not self.elsewhere:
            return table.read(self.memory)
        from ..distributed.command_rows import read

        return read(table, self.connect())

    def shown(self, X: Any, y: Any, table: Any) -> Any:
        """Rows as tables of the answer show them."""
        if self.elsewhere:
            from ..distributed.command_rows import data_there

            return data_there(X, y, table)
        from ..report.tables import read

        return read(X, y, table.feature_names, table.places)

    def open(
        self,
        *,
        intercept: bool = True,
        known: Any = None,
        labelled: bool = False,
        count_columns: bool = True,
        live: bool = False,
    ) -> Any:
        """The table, not read yet; where it has to be ``labelled``, it has a target with two values or more.

        ``known`` is the encoding of the table that a model was fitted on.
        """
        from ..files.table import open_table

        if self.elsewhere:
            self.refuse_elsewhere(memory=self.memory, sql=self.sql, merge_labels=self.merge_labels)
        asked = {
            name: value
            for name, value in vars(self).items()
            if name not in NOT_OF_A_TABLE and value not in (None, [])
        }
        asked |= {name: names(asked[name]) for name in LISTS if name in asked}
        if "encoding" in asked:
            asked["text_encoding"] = asked.pop("encoding")
        table = open_table(
            asked.pop("data", None),
            **asked,
            intercept=intercept,
            encoding=known,
            count_columns=count_columns,
            live=live,
        )
        if labelled:
            _ = table.classes
        return table if self.memory is None else table.within(self.memory)

    def verify_command(self, certificate: str) -> str:
        """The command that checks a certificate of these rows, ready for a shell.

        The target and the columns are in the certificate.

        Examples
        --------
        >>> Reading("my data.csv", where="age > 30", na=["-9"]).verify_command("proof.json")
        "separatrix verify proof.json 'my data.csv' --where 'age > 30' --na=-9"
        """
        return shlex.join(self.command("verify", _path(certificate), without=NOT_REPEATED))

    def command(self, name: str, *words: str, without: tuple[str, ...] = ("data",)) -> list[str]:
        """A command line about the same rows, as words."""
        data = [] if self.data is None else [_path(self.data)]
        return ["separatrix", name, *words, *data, *self.given(*without)]

    def given(self, *without: str) -> list[str]:
        """The options that were given, but some, as words of a command line."""
        words: list[str] = []
        for name, given in vars(self).items():
            if name in (*without, *NOT_OF_A_TABLE) or given in (None, getattr(Reading, name)):
                continue
            option = f"--{name.replace('_', '-')}"
            if given is True:
                words.append(option)
                continue
            for value in given if name in LISTS else [given]:
                words += [f"{option}={value}"] if value.startswith("-") else [option, value]
        return words

    @property
    def plainly(self) -> Reading:
        """The same table and target, read without any other option."""
        return Reading(
            self.data,
            self.target,
            sql=self.sql,
            table=self.table,
            sheet=self.sheet,
            encoding=self.encoding,
            closing=self.closing,
        )


def reads(
    *without: str, only: tuple[str, ...] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of `Reading`, but some or only some, in the place of its ``source``."""
    hints = get_type_hints(Reading, include_extras=True)
    shared = [
        Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name])
        for each in fields(Reading)
        if each.name not in (*without, "closing") and (only is None or each.name in only)
    ]

    def expand(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            asked = {each.name: given.pop(each.name) for each in shared}
            with ExitStack() as closing:
                command(source=Reading(**asked, closing=closing), **given)

        found = signature(command, eval_str=True).parameters
        own = [each.replace(kind=Parameter.KEYWORD_ONLY) for name, each in found.items() if name != "source"]
        before = list(found).index("source")
        shown: Any = run
        shown.__signature__ = Signature([*own[:before], *shared, *own[before:]])
        return run

    return expand


# Separated by commas.
LISTS = ("features", "exclude", "na", "text")
# What a certificate holds itself, and what a check of it does not depend on.
NOT_REPEATED = ("data", "target", "features", "exclude", "row_names")
# Where the rows are read and kept, not which they are.
NOT_OF_A_TABLE = ("memory", "scheduler", "workers", "closing")


def _path(name: str) -> str:
    """A path as an argument that no program takes for an option."""
    return f"./{name}" if name.startswith("-") and name != "-" else name


# Text that a spreadsheet takes for a formula begins like this, unless it is a number.
FORMULA, PLAIN_NUMBER = r"^[=+@\t\r-]", r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def harmless(text: str) -> str:
    """A text for a CSV file: one that a spreadsheet would take for a formula begins with an apostrophe.

    Examples
    --------
    >>> [harmless(text) for text in ("=1+1", "-2+3", "-2", "no")]
    ["'=1+1", "'-2+3", '-2', 'no']
    """
    return f"'{text}" if re.search(FORMULA, text) and not re.search(PLAIN_NUMBER, text) else text


def need_apart(data: str | None, **outputs: str | None) -> None:
    """Refuse to write over what is read, and to write two things to one file."""
    read = [] if data is None else [data, *glob.glob(data, recursive=True)]
    if data is not None and os.path.isdir(data):
        read += glob.glob(os.path.join(glob.escape(data), "**"), recursive=True)
    taken = {os.path.realpath(each): "what is read" for each in read}
    for name, path in outputs.items():
        if path is None or (os.path.exists(path) and not os.path.isfile(path)):
            continue  # a directory is refused later, a device takes anything
        option, place = f"--{name}", os.path.realpath(path)
        if place in taken:
            raise typer.BadParameter(
                f"{option} would overwrite {taken[place]}: both are {path!r}. Name another file."
            )
        taken[place] = f"the file of {option}"


def say_saved(output: str | None) -> None:
    """Say where a model is and how it is used, or how it is saved."""
    if output is None:
        say("The model was not saved; give a file with -o model.skops.")
    else:
        command = shlex.join(["separatrix", "predict", _path(output)])
        say(f"Model: {output}. Use it with: {command} DATA")


def report_of(rows: Any, X: Any, y: Any, *, facts: tuple[tuple[str, str], ...] = (), **known: Any) -> bytes:
    """The report on these rows, with how they were read."""
    from ..report.page import report_text

    told = tuple(("Reading", note) for note in (*rows.doubts, *rows.notes))
    read = (("Kind of file", rows.kind), ("Target", str(rows.target_name)), *told, *facts)
    with waiting("Drawing the report"):
        page = report_text(
            X, y, title=rows.name, names=rows.feature_names, facts=read, places=rows.places, **known
        )
    return page.encode()


def show_doubts(name: str | None, labels: Any) -> None:
    """Say before any answer that some labels seem to mean the same."""
    if labels.dtype.kind in "OU":
        from ..files.label_spelling import doubts

        for each in doubts(name or "target", labels.tolist()):
            show(heading(f"Warning: {each}", "bold yellow"), "")


def say_notes(table: Any) -> None:
    """Say how the file was read, where that is not plain."""
    for note in table.notes:
        say(f"Note: {note}")


@contextmanager
def naming_rows(table: Any, first: int = 0) -> Iterator[None]:
    """Let errors about rows of a table, counted from ``first`` on, name the rows of the file."""
    try:
        yield
    except SeparatrixError as error:
        if error.row is not None:
            error.row += first
            error.row_name = table.places([error.row])[0].words
            if isinstance(error.column, int):
                error.column, error.column_name = table.feature_names[error.column], ""
        raise


def rows_named(words: str, table: Any) -> str:
    """Words of the checker about rows, counted from zero, as words about the rows of the file."""
    rows = sorted({int(row) for row in re.findall(r"\brow (\d+)\b", words)})
    places = dict(zip(rows, table.places(rows), strict=True)) if rows else {}
    return re.sub(r"\brow (\d+)\b", lambda each: places[int(each[1])].words, words)


def kernel(name: str | None, degree: int | None, gamma: float | None) -> Any:
    """The kernel of a name: the name itself, or one with its degree or width; None without a name."""
    for option, value, kinds in (("degree", degree, ("poly", "geometric")), ("gamma", gamma, ("rbf",))):
        if value is not None and name not in kinds:
            raise typer.BadParameter(f"--{option} is for --kernel {' or '.join(kinds)}, not for {name}.")
    if name == "precomputed":
        raise typer.BadParameter("--kernel precomputed needs a matrix, which only Python can give.")
    if degree is None and gamma is None:
        return name
    from ..kernels.given import tuned  # late: kernels import scikit-learn

    return tuned(name, None, degree=degree, gamma=gamma)


def first_weights(words: str) -> Any:
    """The first weights: a name, or numbers."""
    import numpy as np

    if words in ("zeros", "random"):
        return words
    try:
        lists = [[float(number) for number in part.split(",")] for part in words.split(";")]
        return np.array(lists[0] if len(lists) == 1 else lists, dtype=np.float64)
    except ValueError:
        raise typer.BadParameter(
            "--start is zeros, random, or numbers separated by commas, and for more than two classes a list "
            f"of as many numbers for each, separated by semicolons. Got {words!r} instead."
        ) from None


def name_features(estimator: Any, encoding: Any) -> None:
    """Let the model remember the names of its columns, as scikit-learn does for frames."""
    import numpy as np

    if encoding.width is None:
        for step in getattr(estimator, "named_steps", {"": estimator}).values():
            step.feature_names_in_ = np.array(encoding.feature_names, dtype=object)


def labels(words: str) -> list[Any]:
    """Class labels from text: numbers where all are.

    Examples
    --------
    >>> labels("-1,1"), labels("ham, spam")
    ([-1, 1], ['ham', 'spam'])
    """
    found = names([words]) or []
    for kind in (int, float):
        try:
            return [kind(each) for each in found]
        except ValueError:
            continue
    return list(found)


def names(words: Sequence[str] | None) -> list[str] | None:
    """The names of a list; those with commas are in quotation marks.

    Examples
    --------
    >>> names(["age, dose", '"a, b"'])
    ['age', 'dose', 'a, b']
    """
    if not words:
        return None
    one = re.compile(r'\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(?:,|$)')
    found = [each for word in words for each in one.finditer(word)]
    listed = [each[2].strip() if each[1] is None else each[1].replace('""', '"') for each in found]
    return [name for name in listed if name]


def quoted(name: str) -> str:
    """A name as one of a list, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'
