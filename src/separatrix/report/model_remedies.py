"""Remedies for regressions without a finite estimate: what to use for each model, with lines that run."""

from __future__ import annotations

from ..proofs.existence import Estimate
from .remedies import Remedy

DROP = (
    "The rows that cause it are fitted perfectly in the limit and say nothing about the other coefficients. "
    "Without them and the infinite coefficients, the others have their estimates."
)
PENALIZED = "Its estimates are finite, and less biased in small samples than maximum likelihood."
# For each model: the name of the remedy, when to use it, the package of R, and the call.
IN_R = {
    "binary": ("Firth's penalty", PENALIZED, "logistf", "logistf::logistf({formula}, data = d)"),
    "binomial": (
        "Mean bias reduction",
        PENALIZED,
        "brglm2",
        "glm({formula}, binomial, d, method = brglm2::brglm_fit)",
    ),
    "multinomial": ("Mean bias reduction", PENALIZED, "brglm2", "brglm2::brmultinom({formula}, data = d)"),
    "ordinal": (
        "A penalty on the cumulative logits",
        "Ridge-like penalties keep the estimates finite; choose the strength by cross-validation.",
        "ordinalNet",
        "ordinalNet::ordinalNet(model.matrix({right}, d)[, -1], factor(d${y}), alpha = 0)",
    ),
    "adjacent": (
        "Mean bias reduction",
        PENALIZED,
        "brglm2",
        "brglm2::bracl({formula}, data = d, parallel = TRUE)",
    ),
    "continuation": (
        "Firth's penalty on the stages",
        "A continuation-ratio model is a binary regression with one row per stage.",
        "logistf",
        "logistf::logistf(stops ~ stage + {terms}, data = one_row_per_stage)",
    ),
    "poisson": (
        "Mean bias reduction",
        PENALIZED,
        "brglm2",
        "glm({formula}, poisson, d, method = brglm2::brglm_fit)",
    ),
    "gamma": (
        "Mean bias reduction",
        PENALIZED,
        "brglm2",
        "glm({formula}, Gamma('log'), d, method = brglm2::brglm_fit)",
    ),
    "conditional": (
        "A penalty within strata",
        "Lasso for matched data. For few strata, exact conditional logistic regression is an alternative.",
        "clogitL1",
        "clogitL1::clogitL1(model.matrix({right}, d)[, -1], d${y}, d${strata})",
    ),
    "cox": (
        "Firth's penalty",
        "The usual choice for monotone likelihood (Heinze and Schemper 2001).",
        "coxphf",
        "coxphf::coxphf({formula}, data = d)",
    ),
    "bradley-terry": (
        "Mean bias reduction",
        "It gives every player a finite ability (Firth 1993).",
        "BradleyTerry2",
        "BradleyTerry2::BTm(1, winner, loser, data = d, br = TRUE)",
    ),
}


def model_remedies(
    found: Estimate, path: str, formula: str | None, target: str | None, further: dict[str, str]
) -> tuple[Remedy, ...]:
    """Return what to do if there is no estimate: lines of code that name the file and the variables."""
    if found.exists is not False:
        return ()
    model = found.asked.model
    name, when, package, call = IN_R[model]
    left = {
        "cox": f"Surv({further.get('time', 'time')}, {further.get('event', 'event')})",
        "binomial": f"cbind({target}, {further.get('trials', 'trials')} - {target})",
    }.get(model, target or "y")
    columns = [each for each in found.coefficients if "|" not in each and not each.startswith("(")]
    terms = " + ".join(dict.fromkeys(_variable(each) for each in columns)) or "1"
    written = formula or f"{left} ~ {terms}"
    line = call.format(
        formula=written.replace("Surv(", "survival::Surv("),
        right="~" + written.partition("~")[2],
        y=target or written.partition("~")[0].strip(),
        terms=terms,
        strata=further.get("strata", "strata"),
    )
    read = f"d <- read.csv({path!r}); "
    remedies = [Remedy(name, when, (("R", f"install.packages({package!r})"), ("R", read + line)))]
    rows = found.responsible_rows.tolist()
    if model != "bradley-terry" and len(rows) < found.n_rows:
        others = {name: column for name, column in further.items() if name in ("strata", "groups", "weights")}
        given = "".join(f", {name}={column!r}" for name, column in others.items())
        code = (
            f"import pandas, separatrix; d = pandas.read_csv({path!r}).drop(index={rows}); "
            f"print(separatrix.check_estimate({written!r}, d, {model!r}{given}))"
        )
        remedies.append(Remedy("Leave out the rows that cause it", DROP, (("Python", code),)))
    if model in ("binary", "poisson") and target is not None:
        when = "For predictions; do not interpret the coefficients as effects."
        remedies.append(Remedy("Ridge", when, (("Python", _ridge(model, path, target)),)))
    return tuple(remedies)


def _variable(name: str) -> str:
    """Return the variable of a coefficient such as ``sex=m``, ``sex[T.m]`` or ``dose [yes]``."""
    return name.partition(" [")[0].partition("=")[0].partition("[T.")[0]


def _ridge(model: str, path: str, target: str) -> str:
    kind = "LogisticRegression" if model == "binary" else "PoissonRegressor"
    return (
        f"import pandas; from sklearn.linear_model import {kind}; "
        f"d = pandas.get_dummies(pandas.read_csv({path!r}), drop_first=True); "
        f"print({kind}().fit(d.drop(columns={target!r}), d[{target!r}]).coef_)"
    )
