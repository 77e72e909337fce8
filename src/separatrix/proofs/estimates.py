"""Ask whether a maximum-likelihood estimate exists, in the habits of statisticians."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from ..certificates.models.build import MODELS, TIES
from ..certificates.models.regression import Regression
from ..deadline import need_time_limit
from ..errors import InputError, SeparationWarning
from ..inputs.data import likely_model, one_label_per_row
from ..inputs.matrix import is_frame, titles
from ..inputs.response import FURTHER
from ..printable import printable
from .answer import some
from .existence import Estimate, ask
from .statistics.asked import Asked
from .statistics.fitted import read_fitted
from .statistics.formula import read_formula

# What the models are called elsewhere.
ALIASES = {
    **dict.fromkeys(("logit", "logistic", "probit", "cloglog", "cauchit"), "binary"),
    **dict.fromkeys(("cumulative", "proportional odds", "polr"), "ordinal"),
    **dict.fromkeys(("negative binomial", "negbin", "ppml", "quasipoisson"), "poisson"),
    **dict.fromkeys(("inverse gaussian", "inverse.gaussian"), "inverse-gaussian"),
    **dict.fromkeys(("clogit", "matched"), "conditional"),
    **dict.fromkeys(("coxph", "phreg"), "cox"),
}


def check_estimate(
    design: Any,
    data: Any = None,
    model: str | None = None,
    *,
    y: Any = None,
    time: Any = None,
    event: Any = None,
    entry: Any = None,
    strata: Any = None,
    groups: Any = None,
    trials: Any = None,
    weights: Any = None,
    winner: Any = None,
    loser: Any = None,
    offset: Any = None,
    ties: str | None = None,
    penalized: Sequence[int | str] = (),
    fit_intercept: bool | None = None,
    feature_names: Sequence[str] | None = None,
    time_limit: float = 600.0,
) -> Estimate:
    """Say whether the maximum-likelihood estimate of a regression exists, with a proof.

    Parameters
    ----------
    design : str, model, data frame, array or sparse matrix
        A formula such as ``"counts ~ dose + sex"``, with ``data``; a model of statsmodels or its result; a
        pipeline of scikit-learn, with ``data`` and ``y``; a fitted Cox model of lifelines, with the frame as
        ``data``; or the design matrix. If it is a data frame, the
        columns below may be given by their names, and are then no columns of the design matrix.
    data : data frame or mapping, optional
        The variables of a formula, or the rows for a pipeline or a model of lifelines.
    model : str, optional
        "binary" (any link onto (0, 1), such as "logit" or "probit"), "binomial", "multinomial", "ordinal",
        "adjacent", "continuation", "poisson" (or negative binomial with given dispersion), "gamma",
        "inverse-gaussian", "conditional", "cox" or "bradley-terry". It can be left out if the response has
        two classes or is text.
    y : array or str
        The response: class labels, counts or amounts. For "binomial", the number of successes.
    time, event, entry : array or str
        Of a Cox model: the time of each row, whether it is a death (all are by default), and the time from
        which on the row is at risk.
    strata : array or str
        Of a Cox model or a conditional logit.
    groups : array or str
        Each group has an intercept of its own: fixed effects of a binary or Poisson regression.
    trials : array or str
        Of a binomial regression.
    weights : array or str
        Rows of weight zero are left out. Other weights matter only for a gamma regression.
    winner, loser : array or str
        Of a Bradley-Terry model. Columns such as a home advantage are seen from the winner.
    offset : array or str
        An offset does not change the answer, and is ignored.
    ties : {"efron", "breslow", "exact"}
        How a Cox model treats ties; the first two have the same answer.
    penalized : sequence of int or str
        Columns with a ridge or lasso penalty.
    fit_intercept : bool, optional
        By default, as the model has it. Fixed effects, ordinal, conditional and Cox models have none.
    feature_names : sequence of str, optional
        Names of the columns, if the design matrix has none.
    time_limit : float
        Seconds for the search. What is not proved by then is undecided.

    Returns
    -------
    Estimate

    Warns
    -----
    SeparationWarning
        If it is proved that there is no estimate.

    Examples
    --------
    >>> counts, treated = [3, 0, 2, 0, 0], [[0], [0], [0], [1], [1]]
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     estimate = check_estimate(treated, y=counts, model="poisson")
    >>> estimate.exists, estimate.coefficients["x0"], estimate.responsible_rows.tolist()
    (False, '-infinity', [3, 4])

    References
    ----------
    M. J. Silvapulle (1981). On the existence of maximum likelihood estimators for the binomial response
    models. Journal of the Royal Statistical Society B 43.
    S. Correia, P. Guimaraes and T. Zylkin (2019). Verifying the existence of maximum likelihood estimates for
    generalized linear models. arXiv:1903.01633.
    M. Jacobsen (1989). Existence and unicity of MLEs in discrete exponential family distributions.
    Scandinavian Journal of Statistics 16.
    """
    given = {name: each for name, each in locals().items() if name in ("y", *FURTHER) and each is not None}
    del offset  # it never changes the answer
    need_time_limit(time_limit, "check_estimate")
    asked = _read(design, data, given)
    kind = _model(model or asked.model, asked)
    named = MODELS[kind]
    names = feature_names or asked.names or titles(asked.X)
    intercept = asked.intercept if fit_intercept is None else fit_intercept
    intercept = named.intercept and "groups" not in asked.columns if intercept is None else intercept
    if isinstance(design, str):  # a formula has one by default, whatever the model
        intercept = bool(intercept) and named.intercept and "groups" not in asked.columns
    chosen = ties or asked.ties or TIES[0]
    if chosen not in TIES:
        raise InputError(f"The 'ties' parameter must be one of {', '.join(TIES)}. Got {ties!r} instead.")
    places = _places(penalized if len(penalized) else asked.penalized, names)
    regression = Regression(kind, bool(intercept), chosen if kind == "cox" else "", places)
    found = ask(regression, asked.X, asked.columns, names=names, time_limit=time_limit)
    if asked.rows is not None:
        found = replace(found, responsible_rows=asked.rows[found.responsible_rows])
    found = replace(found, note=asked.note)
    if found.exists is False:
        warnings.warn(printable(_warning(found)), SeparationWarning, stacklevel=2)
    return found


def _warning(found: Estimate) -> str:
    infinite = [f"{name} to {'+' if limit > 0 else '-'}infinity" for name, limit in found.infinite.items()]
    named = f" ({some(infinite)})" if infinite else ""
    return f"The {found.title} has no finite maximum-likelihood estimate{named}. Rows: {found.cause}."


def _read(design: Any, data: Any, given: dict[str, Any]) -> Asked:
    """Read the design, wherever it comes from, with the columns that were given."""
    if isinstance(design, str):
        return _of_formula(design, data, given)
    fitted = read_fitted(design, data, given.get("y"))
    if fitted is not None:
        return replace(fitted, columns={**fitted.columns, **given})
    if data is not None:
        raise InputError("data= belongs to a formula or a pipeline.", parameter="data")
    named = {name: value for name, value in given.items() if isinstance(value, str)}
    if not named:
        return Asked(design, given)
    if not is_frame(design):
        raise InputError("Columns can be given by name only if the design is a data frame.")
    known = titles(design) or ()
    for name, column in named.items():
        if column not in known:
            raise InputError(f"There is no column {column!r}.", parameter=name)
    rest = [column for column in known if column not in named.values()]
    return Asked(design[rest], {**given, **{name: design[column] for name, column in named.items()}})


def _of_formula(formula: str, data: Any, given: dict[str, Any]) -> Asked:
    if data is None:
        raise InputError(
            'With a formula, the variables come from data=: check_estimate("y ~ a", data=frame).'
        )
    if hasattr(data, "to_pandas"):
        data = data.to_pandas()
    for name, value in given.items():
        if isinstance(value, str) and value not in data:
            raise InputError(f"There is no column {value!r}.", parameter=name)
    found = read_formula(formula, data)
    named = {
        name: found.kept(data[value] if isinstance(value, str) else value) for name, value in given.items()
    }
    rows = None if found.rows.size == found.n_data else found.rows
    return Asked(found.X, {**found.columns, **named}, found.model, found.intercept, rows=rows)


def _model(name: str | None, asked: Asked) -> str:
    """Return the name of a model; guess it only if two classes, or text, leave no choice."""
    if name is not None:
        known = ALIASES.get(name.lower(), name.lower())
        known = "binomial" if known == "binary" and "trials" in asked.columns else known
        if known not in MODELS:
            raise InputError(
                f"The 'model' parameter must be one of {', '.join(MODELS)}. Got {name!r} instead.",
                parameter="model",
            )
        return known
    columns = asked.columns
    if "time" in columns:
        return "cox"
    if "winner" in columns:
        return "bradley-terry"
    if "trials" in columns:
        return "binomial"
    if "y" not in columns:
        raise InputError("The response is missing: pass y.", parameter="y")
    labels = np.unique(one_label_per_row(columns["y"]))
    if labels.size <= 2:
        return "conditional" if "strata" in columns else "binary"
    likely = likely_model(columns["y"], labels.tolist())
    if labels.dtype.kind in "biuf" or likely:
        looks = {"ordinal": "is ordered", "poisson": "looks like counts"}.get(likely, "holds numbers")
        raise InputError(
            f"The model is not named, and y {looks} ({labels.size} different values): "
            f"model={likely or 'poisson'!r}?",
            remedy="Name the model, for example 'multinomial' if the values are classes without an order.",
            parameter="model",
        )
    return "multinomial"


def _places(penalized: Sequence[int | str], names: Sequence[str] | None) -> tuple[int, ...]:
    """Return the numbers of columns that are given by number or name."""
    known, listed = list(names or ()), [penalized] if isinstance(penalized, str) else penalized
    for each in listed:
        number = isinstance(each, Integral) and not isinstance(each, bool)
        if each not in known if isinstance(each, str) else not number or each < 0:
            raise InputError(f"There is no column {each!r}.", parameter="penalized")
    return tuple(sorted({known.index(each) if isinstance(each, str) else int(each) for each in listed}))
