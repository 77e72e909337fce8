"""Remedies for separation: when to use each of them, and a line of code."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..certificates.claims import Separation
from ..proofs.verdict import Verdict
from .tables import NamedData

# What the names in the lines of code mean.
NAMES = (
    "In Python, X and y are NumPy arrays: your columns, as numbers, and the class of each row. In R, d is a "
    "data frame with these columns and the class in y (0 or 1, or a factor for more than two classes)."
)


@dataclass(frozen=True)
class Remedy:
    """A way to deal with separation.

    Attributes
    ----------
    name : str
    when : str
        When to use it, in a sentence or two.
    code : tuple of (str, str)
        The language or program, and a line of code; ``NAMES`` says what the names in it mean.
    """

    name: str
    when: str
    code: tuple[tuple[str, str], ...]


def remedies(verdict: Verdict, data: NamedData, *, command: Sequence[str] = ()) -> tuple[Remedy, ...]:
    """Return the remedies for these data; none if there is no separation.

    ``command`` is the command line of the check, as words. The line that checks again begins with them.
    """
    if (
        verdict.parts
        or verdict.kernel
        or verdict.status not in (Separation.SEPARABLE, Separation.QUASI_SEPARABLE)
    ):
        return ()
    two, formula = np.unique(data.y).size == 2, "y ~ ." if verdict.lift else "y ~ . - 1"
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
                ("R", f"logistf::logistf({formula}, data = d)"),
                ("R", f"glm({formula}, binomial, d, method = brglm2::brglm_fit)"),
                ("Python", "from firthmodels import FirthLogisticRegression as F; F().fit(X, y)"),
            )
            if two
            else (("R", f"brglm2::brmultinom({formula}, data = d)"),),
        ),
        Remedy(
            "Ridge",
            "For predictions. The strength of the penalty determines how large the coefficients are, so "
            "choose it by cross-validation (which needs two rows of each class), and do not interpret the "
            "coefficients as effects.",
            (("Python", _ridge(verdict, data)),),
        ),
    ]
    variable = _responsible(verdict, data)
    if variable is None:
        return tuple(found)
    if len({name.partition("=")[0] for name in data.names}) > 1:
        found.append(
            Remedy(
                "Leave a variable out",
                "Only if it does not belong in the model (it records the outcome, or was measured after it), "
                "never because it predicts too well. Then check again.",
                (_without(variable, data, command),),
            )
        )
    if two:
        found.append(
            Remedy(
                "An exact test",
                "For a p-value for one variable, not adjusted for the others. It is valid for samples of any "
                "size.",
                (("Python", _exact(variable, data)),),
            )
        )
    return tuple(found)


def _responsible(verdict: Verdict, data: NamedData) -> str | None:
    """Return a column whose coefficient is not finite, if possible one that is certainly infinite."""
    signs = verdict.responsible_features
    named = sorted(signs, key=lambda name: math.isnan(signs[name])) or verdict.not_identified
    columns = (name.partition(" [")[0] for name in named)
    return next((name for name in columns if name in data.names), None)


def _ridge(verdict: Verdict, data: NamedData) -> str:
    folds = min(5, int(np.unique(data.y, return_counts=True)[1].min()))
    # A class with a single row leaves nothing to validate with.
    model, chosen = ("LogisticRegressionCV", [f"cv={folds}"]) if folds > 1 else ("LogisticRegression", [])
    options = [*chosen, *([] if verdict.lift else ["fit_intercept=False"])]
    return (
        f"from sklearn.linear_model import {model} as L; "
        "from sklearn.pipeline import make_pipeline as p; "
        "from sklearn.preprocessing import StandardScaler as S; "
        f"p(S(), L({', '.join(options)})).fit(X, y)"
    )


def _without(variable: str, data: NamedData, command: Sequence[str]) -> tuple[str, str]:
    """Return the line that checks again without a variable."""
    if command:
        column = variable.partition("=")[0]  # text became columns such as light=sunny
        if "," in column or '"' in column or column != column.strip():
            column = '"' + column.replace('"', '""') + '"'  # one name in a list
        return "shell", shlex.join([*command, "--exclude", column])
    place = data.names.index(variable)
    return "Python", f"import numpy, separatrix; separatrix.check_separation(numpy.delete(X, {place}, 1), y)"


def _exact(variable: str, data: NamedData) -> str:
    """Return a line with Fisher's test for two values, and with a permutation test for more."""
    place = data.names.index(variable)
    values, classes = data.column(place), np.unique(data.y).tolist()
    levels = np.unique(values)
    if levels.size == 2:
        counts = [[int(np.count_nonzero((values == v) & (data.y == c))) for v in levels] for c in classes]
        return f"from scipy.stats import fisher_exact; print(fisher_exact({counts}))"
    sides = ", ".join(f"X[y == {label!r}, {place}]" for label in classes)
    return (
        "from scipy.stats import PermutationMethod, ttest_ind; "
        f"print(ttest_ind({sides}, method=PermutationMethod()))"
    )
