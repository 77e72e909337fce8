"""Remedies for separation: when to use each of them, and a line of code."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..certificates.claims import Separation
from ..proofs.verdict import Verdict, separability
from .tables import NamedData

# What the names in the lines of code mean if no file is known, and the packages that the lines need.
NAMES = (
    "In Python, X and y are NumPy arrays: your columns, as numbers, and the class of each row. In R, d is a "
    "data frame with these columns and the class in y (0 or 1, or a factor for more than two classes)."
)
PACKAGES = (
    "The lines need packages. In R: install.packages(c('logistf', 'brglm2', 'nnet')). In Python: "
    "pip install firthmodels pandas scikit-learn scipy statsmodels."
)
LIKELIHOOD = (
    "The estimates are finite, and unique if no column is a linear combination of the others. Fit the "
    "regression as usual."
)
FIRTH = "from firthmodels import FirthLogisticRegression as F"
MOST_TERMS = 30  # variables of a formula that is written out
MOST_NUMBERS = 20_000  # in data for which variables are left out in turn
MOST_TRIED = 12  # variables that are left out in turn


@dataclass(frozen=True)
class Origin:
    """Where data come from.

    Attributes
    ----------
    path : str
        A CSV file that R and pandas read as it is, or nothing.
    target : str
        The column with the classes.
    formula : str
        The formula of the check, if there was one.
    command : tuple of str
        The command line of the check, as words. The line that checks again begins with them.
    further : mapping of str to str
        Further columns of a regression, such as its time or its weights.
    """

    path: str = ""
    target: str = ""
    formula: str = ""
    command: tuple[str, ...] = ()
    further: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_r(self) -> str:
        """How R reads the file."""
        quoted = json.dumps(self.path, ensure_ascii=False)
        return f"d <- read.csv({quoted}, check.names = FALSE); " if self.path else ""

    @property
    def words(self) -> str:
        """What to know about the lines of code."""
        return PACKAGES if self.path else f"{NAMES} {PACKAGES}"


@dataclass(frozen=True)
class Remedy:
    """A way to deal with separation.

    Attributes
    ----------
    name : str
    when : str
        When to use it, in a sentence or two.
    code : tuple of (str, str)
        The language or program, and a line of code.
    """

    name: str
    when: str
    code: tuple[tuple[str, str], ...]


def remedies(verdict: Verdict, data: NamedData, origin: Origin | None = None) -> tuple[Remedy, ...]:
    """Return the remedies for these data, or how to fit them if there is no separation."""
    origin = origin or Origin()
    if verdict.parts or verdict.kernel:
        return ()
    variables = tuple(dict.fromkeys(map(variable_of, data.names)))
    two, (read, formula) = np.unique(data.y).size == 2, _in_r(verdict, data, origin, variables)
    start = _in_python(origin, variables, "binary" if two else "multinomial")
    if verdict.status is Separation.OVERLAPPING:
        fit = f"glm({formula}, binomial, d)" if two else f"nnet::multinom({formula}, d)"
        lines = (("R", f"{read}summary({fit})"), ("Python", start + _likelihood(verdict, data)))
        return (Remedy("Maximum likelihood", LIKELIHOOD, lines),)
    if verdict.status not in (Separation.SEPARABLE, Separation.QUASI_SEPARABLE):
        return ()
    constant = "" if verdict.lift else "fit_intercept=False"
    found = [
        Remedy(
            "Firth's penalty",
            "The usual choice. Its estimates are finite (if no column is a linear combination of the others) "
            "and, in small samples, less biased than maximum likelihood."
            + (
                " Use the profile likelihood intervals and tests of logistf; those of glm are Wald's."
                if two
                else ""
            ),
            (
                ("R", f"{read}logistf::logistf({formula}, data = d)"),
                ("R", f"{read}summary(glm({formula}, binomial, d, method = brglm2::brglm_fit))"),
                ("Python", f"{start}{FIRTH}; print(F({constant}).fit(X, y).coef_)"),
            )
            if two
            else (("R", f"{read}summary(brglm2::brmultinom({formula}, data = d))"),),
        ),
        Remedy(
            "Ridge",
            "For predictions. The strength of the penalty determines how large the coefficients are, so "
            "choose it by cross-validation (which needs two rows of each class), and do not interpret the "
            "coefficients as effects.",
            (("Python", start + _ridge(verdict, data)),),
        ),
    ]
    suspects = _suspects(verdict, data)
    if not suspects:
        return tuple(found)
    if len(variables) > 1:
        found.append(
            Remedy(
                "Leave a variable out",
                "Only if it does not belong in the model (it records the outcome, or was measured after it), "
                "never because it predicts too well. Then check again.",
                (_without(_most_helpful(suspects, verdict, data), data, origin.command, start),),
            )
        )
    if two:
        found.append(
            Remedy(
                "An exact test",
                "For a p-value for one variable, not adjusted for the others. It is valid for samples of any "
                "size.",
                (("Python", _exact(suspects[0], data, start)),),
            )
        )
    return tuple(found)


def variable_of(name: str) -> str:
    """Return the variable of a column such as light=sunny, which was made from text."""
    return name.partition("=")[0]


def _in_r(verdict: Verdict, data: NamedData, origin: Origin, variables: tuple[str, ...]) -> tuple[str, str]:
    """Return how R reads the file, and the formula for its functions."""
    right = " + ".join(map(backticks, variables)) if origin.path else "."
    written = f"{backticks(origin.target)} ~ {right}{'' if verdict.lift else ' - 1'}"
    left, _, right = re.sub(r"\bC\(", "factor(", origin.formula or written).partition("~")
    left, classes = left.strip(), np.unique(data.y).tolist()
    if not (origin.path or origin.formula):
        left = "y"
    elif len(classes) > 2:
        left = f"factor({left})"
    elif classes != [0, 1]:
        left = f"({left} == {json.dumps(classes[1], ensure_ascii=False)})"
    return origin.in_r, f"{left} ~ {right.strip()}"


def backticks(name: str) -> str:
    """Write a name as R reads it."""
    return name if re.fullmatch(r"[A-Za-z][A-Za-z0-9_.]*", name) else f"`{name}`"


def _in_python(origin: Origin, variables: tuple[str, ...], model: str) -> str:
    """Return the beginning of a line that reads X and y from the file."""
    if not origin.path:
        return ""
    read = f"import pandas; d = pandas.read_csv({origin.path!r}); "
    if origin.formula:
        asked = f"separatrix.check_estimate({origin.formula!r}, d, {model!r}).data"
        return f"{read}import separatrix; e = {asked}; X, y = e['X'], e['y']; "
    columns = f"d[{list(variables)}], drop_first=True, dtype=float"
    return f"{read}y = d[{origin.target!r}]; X = pandas.get_dummies({columns}); "


def _likelihood(verdict: Verdict, data: NamedData) -> str:
    """Return the line that fits a regression with statsmodels."""
    classes, X = np.unique(data.y).tolist(), "s.add_constant(X)" if verdict.lift else "X"
    two = f"s.GLM((y == {classes[-1]!r}) * 1.0, {X}, s.families.Binomial()).fit()"
    more = f"s.MNLogit(numpy.unique(y, return_inverse=True)[1], {X}).fit(disp=False)"
    fit = two if len(classes) == 2 else more
    return f"import numpy, statsmodels.api as s; print({fit}.summary())"


def _suspects(verdict: Verdict, data: NamedData) -> list[str]:
    """Return the columns whose coefficients are not finite, those that are certainly infinite first."""
    signs = verdict.responsible_features
    named = sorted(signs, key=lambda name: math.isnan(signs[name])) or verdict.not_identified
    # With more than two classes, the coefficients of a column are called ``column [class]``.
    columns = dict.fromkeys(name if name in data.names else name.rpartition(" [")[0] for name in named)
    return [name for name in columns if name in data.names]


def _most_helpful(suspects: list[str], verdict: Verdict, data: NamedData) -> str:
    """Return the column whose variable leaves the fewest infinite coefficients if it is left out."""
    if not isinstance(data.X, np.ndarray) or data.X.size > MOST_NUMBERS:
        return suspects[0]

    def infinite(column: str) -> int:
        kept = [variable_of(name) != variable_of(column) for name in data.names]
        rest = separability(data.X[:, kept], data.y, fit_intercept=verdict.lift, time_limit=1.0)
        return 0 if rest.status is Separation.OVERLAPPING else 1 + len(rest.responsible_features)

    return min(suspects[:MOST_TRIED], key=infinite)


def _ridge(verdict: Verdict, data: NamedData) -> str:
    folds = min(5, int(np.unique(data.y, return_counts=True)[1].min()))
    # A class with a single row leaves nothing to validate with.
    model, chosen = ("LogisticRegressionCV", [f"cv={folds}"]) if folds > 1 else ("LogisticRegression", [])
    options = [*chosen, *([] if verdict.lift else ["fit_intercept=False"])]
    return (
        f"from sklearn.linear_model import {model} as L; "
        "from sklearn.pipeline import make_pipeline as p; "
        "from sklearn.preprocessing import StandardScaler as S; "
        f"print(p(S(), L({', '.join(options)})).fit(X, y)[-1].coef_)"
    )


def _without(variable: str, data: NamedData, command: tuple[str, ...], start: str) -> tuple[str, str]:
    """Return the line that checks again without a variable."""
    if command:
        column = variable_of(variable)
        if "," in column or '"' in column or column != column.strip():
            column = '"' + column.replace('"', '""') + '"'  # one name in a list
        return "shell", shlex.join([*command, "--exclude", column])
    place = data.names.index(variable)
    rest = f"numpy.delete({'X.to_numpy()' if start else 'X'}, {place}, 1)"
    return "Python", f"{start}import numpy, separatrix; print(separatrix.separability({rest}, y))"


def _exact(variable: str, data: NamedData, start: str) -> str:
    """Return a line with Fisher's test for two values, and with a permutation test for more."""
    place = data.names.index(variable)
    values, classes = data.column(place), np.unique(data.y).tolist()
    levels = np.unique(values)
    if levels.size == 2:
        counts = [[int(np.count_nonzero((values == v) & (data.y == c))) for v in levels] for c in classes]
        return f"from scipy.stats import fisher_exact; print(fisher_exact({counts}))"
    at = f"X.loc[y == {{!r}}, {variable!r}]" if start else f"X[y == {{!r}}, {place}]"
    sides = ", ".join(at.format(label) for label in classes)
    return (
        f"{start}from scipy.stats import PermutationMethod, ttest_ind; "
        f"print(ttest_ind({sides}, method=PermutationMethod()))"
    )
