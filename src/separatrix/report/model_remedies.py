"""Remedies for regressions without a finite estimate: what to use for each model, with lines that run."""

from __future__ import annotations

import numpy as np

from ..certificates.models.build import MODELS
from ..proofs.existence import Estimate
from ..proofs.statistics.r_formula import split
from .remedies import MOST_TERMS, Origin, Remedy, backticks, variable_of

DROP = (
    "In the limit, these rows are fitted perfectly; the estimates that stay finite are those of the other "
    "rows. Columns that depend on others in these rows are left out as well."
)
DIVIDE = (
    "In the limit, rows with different scores along the direction of the certificate are no longer compared: "
    "the scores divide the strata. The estimates that stay finite are those of the divided strata."
)
RIDGE = (
    "For predictions; do not interpret the coefficients as effects. Choose the strength by cross-validation."
)
PENALIZED = "Its estimates are finite, and less biased in small samples than maximum likelihood."
REDUCED = ("Mean bias reduction", PENALIZED, "brglm2")
# The columns of all rows: in some of them, a factor may have one level, which glm refuses.
TABLE = "X <- model.matrix(~ {right}, model.frame(~ {right}, d, na.action = na.pass)); "
STAGES = (
    "k <- as.integer(factor(d${y})); s <- do.call(rbind, lapply(1:(max(k) - 1), function(j) "
    "cbind(d, stage = factor(j), stops = k == j)[k >= j, ])); "
)
GAMES = (
    "p <- sort(unique(c(d${winner}, d${loser}))); X <- cbind(sapply(p[-1], function(i) "
    "(d${winner} == i) - (d${loser} == i)), model.matrix(~ {right}, d)[, -1, drop = FALSE]); "
)
TWO_PARTS = (
    "A model in two parts",
    "This response is never zero: ask whether it is positive, and how large it is if so.",
    "brglm2",
    TABLE + "print(glm(I({y} > 0) ~ 0 + X, binomial, d{weights}, method = brglm2::brglm_fit)); "
    "glm({y} ~ 0 + X, %s, d{weights}, subset = {y} > 0)",
)
# For each model: the name of the remedy, when to use it, the package of R, and the call.
IN_R = {
    "binary": ("Firth's penalty", PENALIZED, "logistf", "logistf::logistf({formula}, data = d{weights})"),
    "binomial": (*REDUCED, "glm({formula}, binomial, d{weights}, method = brglm2::brglm_fit)"),
    "multinomial": (*REDUCED, "brglm2::brmultinom({formula}, data = d{weights})"),
    "ordinal": (
        "A penalty on the cumulative logits",
        "Ridge-like penalties keep the estimates finite; choose the strength by cross-validation.",
        "ordinalNet",
        "ordinalNet::ordinalNet(model.matrix(~ {right}, d)[, -1, drop = FALSE], factor(d${y}), alpha = 0)",
    ),
    "adjacent": (*REDUCED, "brglm2::bracl(factor({y}) ~ {right}, data = d{weights}, parallel = TRUE)"),
    "continuation": (
        "Mean bias reduction of the stages",
        "A continuation-ratio model is a binary regression with one row for each stage that is reached.",
        "brglm2",
        STAGES + "glm(stops ~ stage + {right}, binomial, s{weights}, method = brglm2::brglm_fit)",
    ),
    "poisson": (*REDUCED, "glm({formula}, poisson, d{weights}, method = brglm2::brglm_fit)"),
    "gamma": (*TWO_PARTS[:3], TWO_PARTS[3] % "Gamma('log')"),
    "inverse-gaussian": (*TWO_PARTS[:3], TWO_PARTS[3] % "inverse.gaussian('log')"),
    "conditional": (
        "A penalty within strata",
        "Lasso for matched data. For few strata, exact conditional logistic regression is an alternative.",
        "clogitL1",
        "clogitL1::clogitL1(model.matrix(~ {right}, d)[, -1, drop = FALSE], d${y}, {strata})",
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
        "brglm2",
        GAMES + "glm(rep(1, nrow(X)) ~ 0 + X, binomial, method = brglm2::brglm_fit, start = 0 * X[1, ])",
    ),
}
# The lines of Python begin with the estimate e, which has the data, and the rows that are left.
REST = {
    "binary": "s.GLM(r.y, r.X, s.families.Binomial(), freq_weights=r.weights)",
    "binomial": "s.GLM(r.y, r.X, s.families.Binomial(), freq_weights=r.weights)",
    "poisson": "s.GLM(r.y, r.X, s.families.Poisson(), freq_weights=r.weights)",
    "poisson groups": "s.ConditionalPoisson(r.y, r.X, groups=r.groups)",
    "binary groups": "s.ConditionalLogit(r.y, r.X, groups=r.groups)",
    "conditional": "s.ConditionalLogit(r.y, r.X, groups=r.groups)",
    "cox": "s.PHReg(r.y, r.X, r.event, entry=r.entry, strata=r.groups, ties={ties!r})",
}
LEARNED = (
    "from sklearn.linear_model import {} as L; from sklearn.preprocessing import StandardScaler as S; "
    "print(L().fit(S().fit_transform(e.data['X']), e.data['y'], e.data.get('weights')).coef_)"
)
PENALIZED_LINES = {
    "binary": LEARNED.format("LogisticRegression"),
    "multinomial": LEARNED.format("LogisticRegression"),
    "poisson": LEARNED.format("PoissonRegressor"),
    "cox": "from statsmodels.api import PHReg; print(PHReg(e.data['time'], e.data['X'], e.data.get('event'), "
    "strata=e.data.get('strata')).fit_regularized(alpha=0.1).params)",
}


def model_remedies(found: Estimate, origin: Origin) -> tuple[Remedy, ...]:
    """Return what to do if there is no estimate: lines of code that name the file and the variables."""
    if found.exists is not False:
        return ()
    model, further = found.asked.model, origin.further
    name, when, package, call = IN_R["conditional" if model == "binary" and "groups" in further else model]
    written = origin.formula or _written(found, origin)
    left, _, right = map(str.strip, written.partition("~"))
    terms = [term.strip() for term in split(right, "+")]
    strata = [backticks(further[each]) for each in ("strata", "groups") if each in further]
    strata += [term[7:-1] for term in terms if term.startswith("strata(")]
    offset = [f" + {term}" for term in terms if term.startswith("offset(")]
    right = " + ".join(term for term in terms if not term.startswith("strata(")) or "1"
    effects = f" + factor({backticks(further['groups'])})" if "groups" in further else ""
    formula = written if "::Surv(" in written else written.replace("Surv(", "survival::Surv(")
    line = call.format(
        formula=formula + effects,
        right=right,
        y=left,
        strata=f"with(d, interaction({', '.join(strata)}))",
        weights=f", weights = {backticks(further['weights'])}" if "weights" in further else "",
        **{each: backticks(further.get(each, each)) for each in ("winner", "loser")},
    )
    installed = ("R", f"install.packages({package!r})")
    remedies = [Remedy(name, when, (installed, ("R", origin.in_r + line)))]
    given = "".join(
        f", {each}={further[each]!r}" for each in ("strata", "groups", "weights") if each in further
    )
    start = f"import pandas, separatrix; d = pandas.read_csv({origin.path!r}); " if origin.path else ""
    start += f"e = separatrix.check_estimate({written!r}, d, {model!r}{given}); "
    python = "offset(" not in written  # which matters for the estimates
    if found.estimable and found.find_rest is not None:
        lines, family = [], "poisson" if model == "poisson" else "binomial"
        divides, kind = found.divides_strata, f"{model} groups" if "groups" in further else model
        if python and not ({"weights"} <= further.keys() and (divides or "groups" in further)):
            fit = REST[kind].format(ties=found.asked.ties)
            shown = f"import statsmodels.api as s; print({fit}.fit().summary(xname=r.names))"
            lines.append(("Python", f"{start}r = e.rest(); {shown}"))
        rows = (found.responsible_rows + 1).tolist()
        if len(rows) <= MOST_TERMS and "weights" not in further and not divides:
            rest = f"d, subset = -c({', '.join(map(str, rows))})"
            fit = f"summary(glm({left} ~ 0 + X{''.join(offset)}, {family}, {rest}))"
            lines.append(("R", origin.in_r + TABLE.format(right=right + effects) + fit))
        told = ("Divide the strata", DIVIDE) if divides else ("Leave out the rows that cause it", DROP)
        if lines or not divides:
            remedies.append(Remedy(*told, tuple(lines)))
    unused = {"groups", "entry"} | ({"weights"} if model == "cox" else set())
    if model in PENALIZED_LINES and python and not unused & further.keys():
        remedies.append(Remedy("Ridge", RIDGE, (("Python", start + PENALIZED_LINES[model]),)))
    return tuple(remedies)


def words(origin: Origin) -> str:
    """Say what to know about the lines of code."""
    known = "" if origin.path else "Here, d is a data frame with the columns of the question. "
    return f"{known}The lines of Python need: pip install formulaic pandas scikit-learn statsmodels."


def _written(found: Estimate, origin: Origin) -> str:
    """Write the formula of the question as R does."""
    model, y, further = found.asked.model, backticks(origin.target), origin.further
    left = {
        "cox": ", ".join(backticks(further[each]) for each in ("entry", "time", "event") if each in further),
        "binomial": f"{y}, {backticks(further.get('trials', 'trials'))} - {y}",
    }.get(model)
    call = {"cox": "Surv", "binomial": "cbind"}.get(model)
    columns = list(found.coefficients)[: np.shape(found.data["X"])[1]]  # thresholds and players follow
    if model == "multinomial":  # a coefficient is called ``column [class]``
        columns = [each.rpartition(" [")[0] for each in columns]
    terms = [backticks(name) for name in dict.fromkeys(map(variable_of, columns))]
    terms += [f"offset({backticks(further['offset'])})"] if "offset" in further else []
    bare = MODELS[model].intercept and not found.asked.intercept and "groups" not in further
    return f"{f'{call}({left})' if call else y} ~ {' + '.join(terms) or '1'}{' - 1' if bare else ''}"
