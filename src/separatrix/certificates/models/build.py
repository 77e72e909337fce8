"""The models by name, and the rows of a regression."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...inputs.data import Data
from .counts import gamma, inverse_gaussian, poisson
from .regression import Given, Model, Regression, Rows
from .responses import binary, binomial, bradley_terry, conditional, continuation, multinomial, ordinal
from .survival import cox

MODELS = {
    "binary": Model("binary regression", "classes", binary, takes=("groups",)),
    "binomial": Model("binomial regression", "numbers", binomial, needs=("trials",)),
    "multinomial": Model("multinomial regression", "classes", multinomial),
    "ordinal": Model("cumulative ordinal regression", "ordered", ordinal, intercept=False),
    "adjacent": Model("adjacent-categories regression", "ordered", ordinal, intercept=False),
    "continuation": Model("continuation-ratio regression", "ordered", continuation, intercept=False),
    "poisson": Model("Poisson regression", "numbers", poisson, takes=("groups",)),
    "gamma": Model("gamma regression with log link", "numbers", gamma),
    "inverse-gaussian": Model(
        "inverse Gaussian regression with log link", "numbers", inverse_gaussian, concave=False
    ),
    "conditional": Model(
        "conditional logistic regression", "classes", conditional, ("strata",), intercept=False
    ),
    "cox": Model("Cox regression", "none", cox, ("time",), ("event", "entry", "strata"), intercept=False),
    "bradley-terry": Model(
        "Bradley-Terry model", "none", bradley_terry, ("winner", "loser"), intercept=False
    ),
}
UNBOUNDED = ("gamma", "inverse-gaussian")  # likelihoods that no penalty bounds
TIES = ("efron", "breslow", "exact")


def build(asked: Regression, data: Data) -> Rows:
    """Return the rows that decide whether the estimate of a regression exists."""
    model, columns = MODELS[asked.model], data.columns
    missing = [name for name in model.needs if name not in columns]
    missing += ["y"] if model.response == "numbers" and "y" not in columns else []
    if missing:
        raise InputError(f"A {model.title} needs {' and '.join(missing)}.", parameter=missing[0])
    for name in columns:
        if name not in (*model.needs, *model.takes, "weights", "y"):
            raise InputError(f"A {model.title} has no {name!r}.", parameter=name)
    if asked.intercept and (not model.intercept or "groups" in columns):
        raise InputError(f"This {model.title} has no intercept.", parameter="intercept")
    if asked.penalized and asked.model in UNBOUNDED:
        raise InputError(f"The answer for a penalized {model.title} is not known.", parameter="penalized")
    if asked.penalized and asked.penalized[-1] >= data.matrix.shape[1]:
        raise InputError(f"There is no column {asked.penalized[-1]}.", parameter="penalized")
    inside = columns["weights"] > 0 if "weights" in columns else np.ones(data.matrix.shape[0], dtype=bool)
    rows = np.flatnonzero(inside)
    if not rows.size:
        raise InputError("No row has a positive weight.", parameter="weights")
    return model.build(Given(asked, data, rows))
