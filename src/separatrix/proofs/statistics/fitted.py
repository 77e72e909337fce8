"""Models of statsmodels, scikit-learn and lifelines, and their results, as questions about regressions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import InputError
from .asked import Asked
from .formula import read_formula

# The links that increase strictly onto (0, 1), by the names of statsmodels' classes.
BINARY_LINKS = ("Logit", "Probit", "Cauchy", "CLogLog", "LogLog", "CDFLink")
FAMILIES = {
    "Poisson": "poisson",
    "NegativeBinomial": "poisson",
    "Gamma": "gamma",
    "InverseGaussian": "inverse-gaussian",
}
# Of scikit-learn: the model, and the parameter that is zero if there is no penalty.
REGRESSORS = {"LogisticRegression": "", "PoissonRegressor": "poisson", "GammaRegressor": "gamma"}

# Of lifelines: the columns that a model names, by the attributes with their names.
LIFELINES = {
    "CoxPHFitter": {"entry": "entry_col", "time": "duration_col", "event": "event_col"},
    "CoxTimeVaryingFitter": {"entry": "start_col", "time": "stop_col", "event": "event_col"},
}


def read_fitted(model: Any, X: Any = None, y: Any = None) -> Asked | None:
    """Return what a model of another library is about, before or after its fit; None if it is no model."""
    inner = getattr(model, "model", model)
    if hasattr(inner, "endog") and hasattr(inner, "exog"):
        return _of_statsmodels(inner)
    if type(model).__name__ in LIFELINES:
        return _of_lifelines(model, X)
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if hasattr(last, "get_params") and hasattr(last, "fit"):
        return _of_sklearn(model, last, X, y)
    return None


def _of_statsmodels(model: Any) -> Asked:
    kinds = [each.__name__ for each in type(model).__mro__]
    names = [str(name) for name in model.exog_names or ()][: np.shape(model.exog)[1]] or None
    given: dict[str, Any] = {"y": model.endog}
    missing = getattr(model.data, "missing_row_idx", None) or []
    rows = np.delete(np.arange(len(model.endog) + len(missing)), missing)
    asked = Asked(model.exog, given, intercept=False, names=names, rows=rows)
    if {"GEE", "PenalizedMixin"} & set(kinds):
        raise InputError(
            f"{kinds[0]} of statsmodels is not answered here: it does not maximize the likelihood."
        )
    if "Logit" in kinds or "Probit" in kinds:
        return _changed(asked, "binary")
    if "MNLogit" in kinds:
        labels = model._ynames_map
        return _changed(asked, "multinomial", y=np.array([str(labels[int(code)]) for code in model.endog]))
    if "OrderedModel" in kinds:
        return _changed(asked, "ordinal", y=_categorical(model.endog, model.labels))
    if "ConditionalLogit" in kinds:
        return _changed(asked, "conditional", strata=model.groups)
    if "ConditionalPoisson" in kinds:
        return _changed(asked, "poisson", groups=model.groups)
    if "PHReg" in kinds:
        columns = {name: getattr(model, name) for name in ("entry", "strata")}
        found = _changed(asked, "cox", y=None, time=model.endog, event=model.status, **columns)
        return replace(found, ties=model.ties)
    if "GLM" in kinds:
        return _of_glm(asked, model)
    if "Poisson" in kinds:
        return _changed(asked, "poisson")
    estimated = "NegativeBinomial" in kinds or "GeneralizedPoisson" in kinds
    raise InputError(
        f"{kinds[0]} of statsmodels is not answered here"
        + (" because its dispersion is estimated." if estimated else "."),
        remedy="For a given dispersion, the answer is that of a Poisson regression: model='poisson'."
        if estimated
        else "docs/scope.md lists the models that are.",
    )


def _of_glm(asked: Asked, model: Any) -> Asked:
    family, link = type(model.family).__name__, type(model.family.link).__name__
    weights = np.asarray(model.freq_weights) * np.asarray(model.var_weights)
    more = {} if (weights == 1.0).all() else {"weights": weights}
    if family == "Binomial" and link in BINARY_LINKS:
        trials = np.broadcast_to(model.n_trials, model.endog.shape)
        plain = (trials == 1).all() and np.isin(model.endog, (0, 1)).all()
        if plain:
            return _changed(asked, "binary", **more)
        successes = np.where(trials > 0, np.round(np.nan_to_num(model.endog) * trials, 9), 0.0)
        return _changed(asked, "binomial", y=successes, trials=trials, **more)
    if family in FAMILIES and link == "Log":
        return _changed(asked, FAMILIES[family], **more)
    raise InputError(
        f"A {family} family with the link {link} is not answered here.",
        remedy="docs/scope.md lists the models that are.",
    )


def _changed(asked: Asked, model: str, **columns: Any) -> Asked:
    given = {name: value for name, value in {**asked.columns, **columns}.items() if value is not None}
    return replace(asked, columns=given, model=model)


def _categorical(codes: Any, labels: Any) -> Any:
    import pandas as pd

    return pd.Categorical.from_codes(np.asarray(codes, dtype=np.int64), labels, ordered=True)


def _of_lifelines(model: Any, frame: Any) -> Asked:
    """Read a fitted Cox model of lifelines, which keeps the names of its columns, but not the data."""
    name = type(model).__name__
    names = {to: getattr(model, of, None) for to, of in {**LIFELINES[name], "weights": "weights_col"}.items()}
    if frame is None or names["time"] is None:
        raise InputError(
            f"{name} of lifelines keeps no data: fit it, and pass check_estimate(model, frame).",
            remedy='Without a model: check_estimate(frame, time="T", event="E").',
            parameter="data",
        )
    if getattr(model, "baseline_estimation_method", "breslow") != "breslow":
        raise InputError("A parametric baseline hazard is not answered here.", parameter="design")
    given = {to: column for to, column in names.items() if column is not None}
    strata = [model.strata] if isinstance(model.strata, str) else list(model.strata or ())
    columns = {to: frame[column] for to, column in given.items()}
    columns |= {"strata": frame.groupby(strata).ngroup()} if strata else {}
    if getattr(model, "formula", None):
        X = read_formula(f"Surv(`{given['time']}`) ~ {model.formula}", frame).X
    else:
        taken = [*given.values(), *strata, *filter(None, [getattr(model, "cluster_col", None)])]
        taken += [model.id_col] if getattr(model, "id_col", None) in frame.columns else []
        X = frame.drop(columns=taken)
    strength = np.broadcast_to(model.penalizer, X.shape[1])
    return Asked(X, columns, "cox", False, ties="efron", penalized=np.flatnonzero(strength).tolist())


def _of_sklearn(model: Any, last: Any, X: Any, y: Any) -> Asked:
    """Read a pipeline: its steps but the last are fitted again on a copy, and make the design matrix."""
    name = type(last).__name__
    if name not in REGRESSORS:
        raise InputError(
            f"{name} is not answered here; of scikit-learn, {', '.join(REGRESSORS)} are.",
            parameter="design",
        )
    if X is None or y is None:
        raise InputError(f"{name} needs the data: check_estimate(model, data=X, y=y).", parameter="data")
    from sklearn.base import clone

    steps = clone(model[:-1]) if len(getattr(model, "steps", ())) > 1 else None
    design = X if steps is None else steps.fit_transform(X, y)
    names = None if steps is None else [str(each) for each in steps.get_feature_names_out()]
    kind = REGRESSORS[name] or ("binary" if np.unique(np.asarray(y)).size == 2 else "multinomial")
    logistic = name == "LogisticRegression"
    free = (last.penalty is None or np.isinf(last.C)) if logistic else last.alpha == 0
    penalized = () if free else tuple(range(design.shape[1]))
    solver, weights = getattr(last, "solver", ""), getattr(last, "class_weight", None)
    one_each = solver == "liblinear" or getattr(last, "multi_class", "") == "ovr"
    if kind == "multinomial" and one_each:
        raise InputError(f"This {name} is one regression for each class: ask about each.", parameter="design")
    if isinstance(weights, dict) and 0 in weights.values():
        raise InputError("A class has weight zero: leave its rows out.", parameter="design")
    but = "" if solver == "liblinear" else " except the intercept"
    note = "" if free else f"{name} has a penalty on every coefficient{but}"
    return Asked(design, {"y": y}, kind, bool(last.fit_intercept), names, penalized=penalized, note=note)
