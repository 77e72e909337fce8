"""The options that several commands share, and how a command opens the table that they describe."""

from __future__ import annotations

import csv
import glob
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, dataclass
from inspect import signature
from typing import Annotated, Any

import typer

from ..errors import SeparatrixError
from .console import heading, say, show, waiting


def size(words: str) -> int:
    """Return the number of bytes of a size such as ``2GB``.

    Examples
    --------
    >>> size("500MB"), size("1.5 G")
    (500000000, 1500000000)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*", words, re.IGNORECASE)
    if not found or float(found[1]) <= 0:
        raise typer.BadParameter(f"--memory needs a size such as 500MB or 2GB. Got {words!r} instead.")
    return int(float(found[1]) * 1000 ** " KMGT".index(found[2].upper() or " "))


# The help of options that several commands have in addition to those of `Reading`.
SHARED = """
Options
-------
intercept: Use an intercept, or only hyperplanes through the origin.
kernel NAME: Work in the feature space of a kernel: linear, poly, rbf, geometric or monomial.
degree: The degree of the kernel poly, geometric or monomial.
coef0: The constant of the kernel poly: (gamma <x, x'> + coef0)^degree.
gamma NUMBER: The gamma of the rbf kernel exp(-gamma |x - x'|^2). By default it is 1; the models max-margin
    and soft-margin compute it from the data, as scikit-learn's SVC does.
order ORDER: Perceptrons: the order of corrections: working_set, cyclic, shuffled, interleaved, worst
    or mixed.
average averaged|voted: Perceptrons: predict with the mean of all weights, or by a vote of all weights.
max_updates: Perceptrons: the maximum number of updates.
n_iter_no_change N: Perceptrons: stop if this number of passes hardly reduces the number of wrong rows, and
    the largest possible margin is tiny.
shards N: Perceptrons with --order mixed: the number of parts that learn in parallel.
mixing mistakes|even: Perceptrons with --order mixed: how the parts are weighted in the average.
max_iter: The maximum number of passes over the rows, or of steps of a solver.
eta0, --learning-rate: Perceptrons: the learning rate, which scales every update.
intercept_scaling S: Perceptrons: the constant in the column whose weight is the intercept.
objective margin|feasible: Linear program: the best solution, or any weights with scores of at least one.
renormalise: Perceptrons: scale the weights to length one after each update.
margin B: Perceptrons: correct every row whose score is at most B, for a larger margin.
seed: The seed of the random number generator.
init WEIGHTS: Perceptrons: the initial weights: zeros, random, or numbers separated by commas, with the
    intercept last. For more than two classes, one list per class, separated by semicolons.
class_weight balanced: Weight the classes inversely to their numbers of rows.
output, -o FILE: Save the model to this file, such as model.skops.
report FILE: Write an HTML report with pictures.
json: Write the result as JSON.
"""

Count = Annotated[int | None, {"min": 1}]


class Settings(dict[str, Any]):
    """The parameters of an estimator, or of another function, that were given as options."""

    def __init__(self, **given: Any) -> None:
        super().__init__({name: value for name, value in given.items() if value is not None})


@dataclass(frozen=True)
class Reading:
    """The table that a command reads. Each field is an option of every command that has a `Reading`.

    The names of a list are separated by commas, and an option for a list may be repeated.

    Options
    -------
    data DATA: A file, a pattern of files, a folder of Parquet files, or - for standard input: CSV, Parquet,
        JSON lines, LIBSVM, npy, npz, SQLite, DuckDB, Excel, Arrow, Feather, ARFF, SAS, SPSS, Stata, IDX, also
        compressed.
    target, -t: The column with the class of each row.
    features COLUMNS: Use only these columns, separated by commas. Default: all except the target.
    exclude COLUMNS: Leave these columns out, separated by commas.
    where: Keep only the rows that satisfy this SQL condition.
    sql: Read the result of this SQL query, in which DATA is called data. Tables of SQLite and DuckDB files
        keep their names.
    table: The table of an SQLite or DuckDB file.
    sheet: The name of the sheet of an Excel file.
    skip N: Skip this number of lines, or of rows of a sheet, such as titles above the row of names.
    encoding: The encoding of text that is not UTF-8, such as latin-1. UTF-16 is recognized.
    missing error|drop: Stop if values are missing, or drop the rows that lack them.
    decimal .|,: The decimal separator. Default: inferred from the columns.
    thousands SIGN: The thousands separator. Default: inferred from the columns.
    na CODES: More codes for missing values, separated by commas, such as .,-9
    text COLUMNS: Read these columns as text, separated by commas.
    row_names COLUMN: The column with the names of the rows. It is not a feature.
    memory SIZE: How much memory the data may use, such as 500MB or 2GB. In addition, the program uses up to
        350 MB, and about 100 bytes per row.
    """

    data: str | None = None
    _: KW_ONLY
    target: str | None = None
    features: list[str] | None = None
    exclude: list[str] | None = None
    where: str | None = None
    sql: str | None = None
    table: str | None = None
    sheet: str | None = None
    skip: Count = None
    encoding: str | None = None
    missing: str = "error"
    decimal: str | None = None
    thousands: str | None = None
    na: list[str] | None = None
    text: list[str] | None = None
    row_names: str | None = None
    memory: Annotated[int | None, {"parser": size}] = None

    def open(
        self,
        *,
        intercept: bool = True,
        known: Any = None,
        labelled: bool = False,
    ) -> Any:
        """Open the table without reading it.

        If it must be ``labelled``, it needs a target with at least two values. ``known`` is the encoding of
        the table that a model was fitted on.
        """
        from ..files.table import open_table

        asked = {name: value for name, value in vars(self).items() if value not in (None, [])}
        asked |= {name: names(asked[name]) for name in LISTS if name in asked}
        if "encoding" in asked:
            asked["text_encoding"] = asked.pop("encoding")
        table = open_table(
            asked.pop("data", None),
            **asked,
            intercept=intercept,
            encoding=known,
        )
        if labelled:
            _ = table.classes
        return table

    def verify_command(self, certificate: str) -> str:
        """Return the command that checks a certificate of these rows, quoted for a shell.

        It does not repeat the target and the columns, which are in the certificate.

        Examples
        --------
        >>> Reading("my data.csv", where="age > 30", na=["-9"]).verify_command("proof.json")
        "separatrix verify proof.json 'my data.csv' --where 'age > 30' --na=-9"
        """
        return shlex.join(self.command("verify", _path(certificate), without=NOT_REPEATED))

    def command(self, name: str, *words: str, without: tuple[str, ...] = ("data",)) -> list[str]:
        """Return the words of a command line that reads the same rows."""
        data = [] if self.data is None else [_path(self.data)]
        return ["separatrix", name, *words, *data, *self.given(*without)]

    def given(self, *without: str) -> list[str]:
        """Return the words of the options that were given, without some of them."""
        words: list[str] = []
        for name, given in vars(self).items():
            if name in (*without, "memory") or given in (None, getattr(Reading, name)):
                continue
            option = f"--{name.replace('_', '-')}"
            if given is True:
                words.append(option)
                continue
            for value in given if name in LISTS else [given]:
                words += [f"{option}={value}"] if str(value).startswith("-") else [option, str(value)]
        return words

    @property
    def plainly(self) -> Reading:
        """The same table and target, without any other option."""
        kept = ("data", "target", "sql", "table", "sheet", "encoding")
        return Reading(**{name: getattr(self, name) for name in kept})


def option_name(parameter: str) -> str:
    """Return the name of the option for a parameter of the library.

    Examples
    --------
    >>> option_name("max_iter"), option_name("n_columns"), option_name("init")
    ('max-iter', 'columns', 'start')
    """
    return RENAMED.get(parameter, parameter.removeprefix("n_").replace("_", "-"))


RENAMED = {"init": "start", "random_state": "seed", "text_encoding": "encoding"}
# Options whose values are separated by commas.
LISTS = ("features", "exclude", "na", "text")
# Options that a certificate contains, or that do not change its check.
NOT_REPEATED = ("data", "target", "features", "exclude", "row_names")


def _path(name: str) -> str:
    """Return a path as an argument that cannot be mistaken for an option."""
    return f"./{name}" if name.startswith("-") and name != "-" else name


def harmless(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would take for a formula.

    Examples
    --------
    >>> [harmless(text) for text in ("=1+1", "-2+3", "-2", "no")]
    ["'=1+1", "'-2+3", '-2', 'no']
    """
    number = re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) and not number else text


def need_apart(data: str | None, **outputs: str | None) -> None:
    """Refuse to overwrite an input file, and to write two outputs to one file."""
    read = [] if data is None else [data, *glob.glob(data, recursive=True)]
    if data is not None and os.path.isdir(data):
        read += glob.glob(os.path.join(glob.escape(data), "**"), recursive=True)
    taken = {os.path.realpath(each): "an input file" for each in read}
    for name, path in outputs.items():
        if path is None or (os.path.exists(path) and not os.path.isfile(path)):
            continue  # a directory is refused later, and a device accepts everything
        option, place = f"--{name}", os.path.realpath(path)
        if place in taken:
            raise typer.BadParameter(f"{option} would overwrite {taken[place]}: {path!r}. Name another file.")
        taken[place] = f"the file of {option}"


def say_saved(output: str | None) -> None:
    """Say where the model is and how to use it, or how to save it."""
    if output is None:
        say("The model was not saved. To save it, add -o model.skops.")
    else:
        command = shlex.join(["separatrix", "predict", _path(output)])
        say(f"Model: {output}. Use it with: {command} DATA")


def report_of(rows: Any, X: Any, y: Any, *, facts: tuple[tuple[str, str], ...] = (), **known: Any) -> bytes:
    """Return the report on these rows, with notes on how they were read."""
    from ..report.page import report_text

    told = tuple(("Reading", note) for note in (*rows.doubts, *rows.notes))
    read = (("Kind of file", rows.kind), ("Target", str(rows.target_name)), *told, *facts)
    with waiting("Drawing the report"):
        page = report_text(
            X, y, title=rows.name, names=rows.feature_names, facts=read, places=rows.places, **known
        )
    return page.encode()


def origin(source: Reading, rows: Any, formula: str | None = None) -> Any:
    """Return where the rows come from; the file is named if R and pandas read it as it is."""
    from ..proofs.statistics.formula import variables
    from ..report.remedies import MOST_TERMS, Origin

    path, header = source.data or "", set[str]()
    if path.endswith(".csv") and not source.given("data", "target", "features", "exclude", "row_names"):
        with suppress(OSError, UnicodeError, StopIteration), open(path, encoding="utf-8", newline="") as file:
            header = set(next(csv.reader(file)))
    taken = [*(name.partition("=")[0] for name in rows.feature_names), rows.target_name]
    used = set(variables(formula) if formula else filter(None, taken))
    plain = len(header) > 1 and not rows.encoding.told()  # commas, and numbers without units or other signs
    named = path if plain and header >= used and len(used) <= MOST_TERMS else ""
    command = () if formula else tuple(source.command("check"))
    return Origin(named, rows.target_name or "", formula or "", command)


def show_doubts(name: str | None, labels: Any) -> None:
    """Warn above the answer if some labels seem to mean the same class."""
    if labels.dtype.kind in "OU":
        from ..files.label_spelling import doubts

        for each in doubts(name or "target", labels.tolist()):
            show(heading(f"Warning: {each}", "bold yellow"), "")


def say_notes(table: Any) -> None:
    """Print the notes on how the file was read."""
    for note in table.notes:
        say(f"Note: {note}")


@contextmanager
def naming_rows(table: Any, first: int = 0) -> Iterator[None]:
    """Let errors name the row of the file; ``first`` is the number of rows before this part of the table."""
    try:
        yield
    except SeparatrixError as error:
        if error.row is not None:
            error.row += first
            error.row_name = table.places([error.row])[0].words
            if isinstance(error.column, int):
                error.column, error.column_name = table.feature_names[error.column], ""
        raise


def kernel(name: str | None, degree: int | None, gamma: float | None) -> Any:
    """Return the kernel with this name and these parameters; None without a name."""
    for option, value, kinds in (
        ("degree", degree, ("poly", "geometric", "monomial")),
        ("gamma", gamma, ("rbf",)),
    ):
        if value is not None and name not in kinds:
            raise typer.BadParameter(f"--{option} is for --kernel {' or '.join(kinds)}. Leave it out.")
    need_named_kernel(name)
    if degree is None and gamma is None:
        return name
    from ..kernels.given import tuned  # late: kernels import scikit-learn

    return tuned(name, None, degree=degree, gamma=gamma)


def need_named_kernel(name: str | None) -> None:
    """Refuse a Gram matrix instead of rows, which files do not have."""
    if name == "precomputed":
        raise typer.BadParameter("--kernel precomputed needs a Gram matrix. Use it from Python.")


def need_known(given: Iterable[str], function: Any, name: str) -> None:
    """Refuse options for parameters that a function, or an estimator, does not have."""
    for each in set(given) - signature(function).parameters.keys():
        raise typer.BadParameter(f"--{option_name(each)} is not an option of {name}. Leave it out.")


def first_weights(words: str) -> Any:
    """Return the initial weights: a name, or numbers."""
    import numpy as np

    if words in ("zeros", "random"):
        return words
    try:
        lists = [[float(number) for number in part.split(",")] for part in words.split(";")]
        return np.array(lists[0] if len(lists) == 1 else lists, dtype=np.float64)
    except ValueError:
        raise typer.BadParameter(
            "--start is zeros, random, or numbers separated by commas (for more than two classes, one list "
            f"per class, separated by semicolons). Got {words!r} instead."
        ) from None


def name_features(estimator: Any, encoding: Any) -> None:
    """Store the names of the columns in the model, as scikit-learn does for frames."""
    import numpy as np

    if encoding.width is None:
        for step in getattr(estimator, "named_steps", {"": estimator}).values():
            step.feature_names_in_ = np.array(encoding.feature_names, dtype=object)


def labels(words: str) -> list[Any]:
    """Return class labels from text, as numbers if all of them are numbers.

    Examples
    --------
    >>> labels("-1,1"), labels("ham, spam")
    ([-1, 1], ['ham', 'spam'])
    """
    found = names([words]) or []
    for kind in (int, float):
        with suppress(ValueError):
            return [kind(each) for each in found]
    return list(found)


def number_or_text(words: str) -> float | str:
    """Return a number if the text is one."""
    try:
        return float(words)
    except ValueError:
        return words


def names(words: Sequence[str] | None) -> list[str] | None:
    """Return the names in a list; names that contain commas are in quotation marks.

    Examples
    --------
    >>> names(["age, dose", '"a, b"'])
    ['age', 'dose', 'a, b']
    """
    if not words:
        return None
    cells = (cell.strip() for line in csv.reader(words, skipinitialspace=True) for cell in line)
    return [cell for cell in cells if cell]


def quoted(name: str) -> str:
    """Return a name in quotation marks, for a list of names."""
    return '"' + name.replace('"', '""') + '"'
