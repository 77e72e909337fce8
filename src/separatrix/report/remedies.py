"""What a statistician does about separated data: each remedy, when it is right, and a line of code."""

from __future__ import annotations

import csv
import itertools
import math
import re
from dataclasses import dataclass

import numpy as np

from ..proofs.verdict import Verdict
from .tables import NamedData

NAMED = 6  # variables up to which a formula names them, if all of the file are meant
LOOKED_AT = 100  # rows from which a file's decimal sign is told
PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# Words that pandas or R read as a truth value, or as missing: they would be no labels or levels there.
READ_OTHERWISE = frozenset(
    {"true", "false", "t", "f", "na", "n/a", "nan", "none", "null", "<na>", "#n/a", ""}
)


@dataclass(frozen=True)
class Remedy:
    """A way out of separation.

    Attributes
    ----------
    name : str
    when : str
        When it is right, in a sentence.
    code : tuple of (str, str)
        In which language or program, and a line of it.
    """

    name: str
    when: str
    code: tuple[tuple[str, str], ...]


def remedies(
    verdict: Verdict, data: NamedData, *, target: str | None = None, source: str | None = None
) -> tuple[Remedy, ...]:
    """What can be done, with lines of code about these data; nothing where there is nothing to mend.

    ``target`` and ``source`` are the column of the labels and the CSV file, where there is one: the lines
    then read that file, otherwise, and where other programs would read it otherwise, they speak of X and y.
    """
    if verdict.parts or verdict.kernel or verdict.status not in ("separable", "quasi-separable"):
        return ()
    lines = _Lines(verdict, data, target, source if source is not None and source.endswith(".csv") else None)
    found = [
        Remedy(
            "Firth's penalty",
            "The usual choice: every estimate is finite if no column depends on others, and less biased in "
            "small samples. Use its profile "
            "likelihood intervals and tests, not Wald's.",
            lines.firth(),
        ),
        Remedy(
            "Ridge",
            "For predictions: how strong the penalty is decides how large the coefficients are, so choose it "
            "by cross-validation and do not read them as effects.",
            lines.ridge(),
        ),
    ]
    variables = lines.variables()
    if variables and len(lines.columns) > 1:
        found.append(
            Remedy(
                "Leave a variable out",
                "Only if it does not belong into the model (it records the outcome, or came after it); never "
                "because it predicts too well. Then check again.",
                lines.without(variables[0]),
            )
        )
    if variables and lines.two:
        found.append(
            Remedy(
                "An exact test",
                "For a p-value of one variable, not adjusted for the others, that holds in samples of any "
                "size.",
                lines.exact(variables[0]),
            )
        )
    return tuple(found)


@dataclass(frozen=True)
class _Code:
    """What lines of code call the data: in R a formula and a frame, in Python what reads them, and arrays."""

    formula: str = "y ~ ."
    frame: str = "d"
    read: str = ""
    arrays: str = "X, y"


class _Lines:
    """Lines of code about one data set."""

    def __init__(self, verdict: Verdict, data: NamedData, target: str | None, source: str | None) -> None:
        self.verdict, self.data, self.target = verdict, data, target
        self.classes = np.unique(data.y).tolist()
        self.two = len(self.classes) == 2
        # a text column became several, named like light=sunny
        self.columns = list(dict.fromkeys(name.partition("=")[0] for name in data.names))
        self.numbers = all("=" not in name for name in data.names)
        named = source is not None and target is not None
        odd = any(isinstance(each, str) and _reads_otherwise(each) for each in self.classes)
        known = named and not odd
        file = _plain(str(source), self.columns, data.names, str(target)) if known else None
        self.source = None if file is None else file.path
        self.code = _Code()
        if file is not None:
            self.code = _Code(self._formula(file), self._frame(file), _read(file), self._arrays())

    def variables(self) -> list[str]:
        """The columns of the file whose coefficients are not finite, those that are surely infinite first."""
        signs = self.verdict.responsible_features
        named = sorted(signs, key=lambda name: math.isnan(signs[name])) or self.verdict.not_identified
        moved = (name.partition(" [")[0] for name in named)
        return [name for name in dict.fromkeys(moved) if name in self.data.names]

    def firth(self) -> tuple[tuple[str, str], ...]:
        if not self.two:
            return (("R", f"brglm2::brmultinom({self.code.formula}, data = {self.code.frame})"),)
        fit = f"FirthLogisticRegression().fit({self.code.arrays})"
        glm = f"glm({self.code.formula}, binomial, {self.code.frame}, method = brglm2::brglm_fit)"
        return (
            ("R", f"logistf::logistf({self.code.formula}, data = {self.code.frame})"),
            ("R", glm),
            ("Python", f"{self.code.read}from firthmodels import FirthLogisticRegression; {fit}"),
        )

    def ridge(self) -> tuple[tuple[str, str], ...]:
        imports = (
            "from sklearn.linear_model import LogisticRegressionCV as L; "
            "from sklearn.pipeline import make_pipeline as p; "
            "from sklearn.preprocessing import StandardScaler as S; "
        )
        folds = min(5, int(np.unique(self.data.y, return_counts=True)[1].min()))
        cross = f"cv={folds}" if folds > 1 else ""
        return (("Python", f"{self.code.read}{imports}p(S(), L({cross})).fit({self.code.arrays})"),)

    def without(self, variable: str) -> tuple[tuple[str, str], ...]:
        column = variable.partition("=")[0]
        if self.source is not None:
            left = f"--target {_word(str(self.target))} --exclude {_word(_listed(column))}"
            return (("shell", f"separatrix check {_word(self.source)} {left}"),)
        place = self.data.names.index(variable)
        numpy = f"import numpy, separatrix; separatrix.check_separation(numpy.delete(X, {place}, axis=1), y)"
        return (("Python", numpy),)

    def exact(self, variable: str) -> tuple[tuple[str, str], ...]:
        values = self.data.column(self.data.names.index(variable))
        levels = np.unique(values)
        if levels.size == 2:
            counts = [
                [int(np.count_nonzero((values == v) & (self.data.y == label))) for v in levels]
                for label in self.classes
            ]
            return (("Python", f"from scipy.stats import fisher_exact; print(fisher_exact({counts}))"),)
        place = self.data.names.index(variable)
        read = self.source is not None and variable in self.columns
        if read:
            column, label = f"d[{variable!r}]", f"d[{self.target!r}]"
        else:
            column, label = f"X[:, {place}]", "y"
        sides = ", ".join(f"{column}[{label} == {each!r}]" for each in self.classes)
        begin = self.code.read if read else ""
        test = f"print(ttest_ind({sides}, method=PermutationMethod()))"
        return (("Python", f"{begin}from scipy.stats import PermutationMethod, ttest_ind; {test}"),)

    def _formula(self, file: _CsvFile) -> str:
        response = _name_in_r(str(self.target))
        if self.two:
            positive = self.classes[1]
            shown = f'"{positive}"' if isinstance(positive, str) else f"{positive}"
            response = f"as.numeric({response} == {shown})"
        every = file.others == 0 and len(self.columns) > NAMED
        named = "." if every else " + ".join(map(_name_in_r, self.columns))
        return f"{response} ~ {named}{'' if self.verdict.lift else ' - 1'}"

    def _frame(self, file: _CsvFile) -> str:
        written = [f'"{file.path}"']
        written += [f'sep = "{file.separator}"'] if file.separator != "," else []
        written += [f'dec = "{file.decimal}"'] if file.decimal != "." else []
        written += [] if all(map(PLAIN_NAME.fullmatch, self.columns)) else ["check.names = FALSE"]
        return f"read.csv({', '.join(written)})"

    def _arrays(self) -> str:
        if self.numbers:
            return f"d[{self.columns!r}], d[{self.target!r}]"
        return f"pandas.get_dummies(d[{self.columns!r}], drop_first=True, dtype=float), d[{self.target!r}]"


@dataclass(frozen=True)
class _CsvFile:
    """A CSV file that other programs read alike, if told what separates its cells and its decimals."""

    path: str
    separator: str
    decimal: str
    others: int  # columns that are neither used nor the target


def _plain(path: str, columns: list[str], names: tuple[str, ...], target: str) -> _CsvFile | None:
    """How to tell other programs to read a CSV file; None where that would take more than two words.

    Looks at the first rows only.
    """
    try:
        with open(path, encoding="utf-8", newline="") as text:
            lines = list(itertools.islice(text, LOOKED_AT + 1))
    except (OSError, UnicodeDecodeError):
        return None
    for separator in (",", ";", "\t"):
        header, *rows = csv.reader(lines, delimiter=separator)
        if not {*columns, target} <= set(header) or any(len(row) != len(header) for row in rows):
            continue
        texts = [header.index(name) for name in columns if name not in names]
        if any(_reads_otherwise(row[place]) for row in rows for place in texts):
            continue
        places = [header.index(name) for name in columns if name in names]
        cells = [row[place].strip() for row in rows for place in places]
        for decimal in (".", ","):
            number = re.compile(rf"[-+]?\d*[{decimal}]?\d*([eE][-+]?\d+)?")
            if all(map(number.fullmatch, cells)):
                return _CsvFile(path, separator, decimal, len(header) - len(columns) - 1)
    return None


def _reads_otherwise(text: str) -> bool:
    """Whether a label or level is not one to pandas or R, or would end a quotation in a line of code."""
    return text.strip().casefold() in READ_OTHERWISE or any(sign in text for sign in "\"'\\\n")


def _listed(name: str) -> str:
    """A name as one of a list that is separated by commas."""
    return '"' + name.replace('"', '""') + '"' if re.search(r'[,"]|^\s|\s$', name) else name


def _read(file: _CsvFile) -> str:
    written = [repr(file.path)]
    written += [f"sep={file.separator!r}"] if file.separator != "," else []
    written += [f"decimal={file.decimal!r}"] if file.decimal != "." else []
    return f"import pandas; d = pandas.read_csv({', '.join(written)}); "


def _name_in_r(name: str) -> str:
    return name if PLAIN_NAME.fullmatch(name) else f"`{name}`"


def _word(text: str) -> str:
    """A word of a command line."""
    return text if re.fullmatch(r"[\w./=-]+", text) else "'" + text.replace("'", "'\\''") + "'"
