r"""
With pandas, Polars, statsmodels and pipelines
==============================================

The answers use the names of columns and classes in the data frame.
"""

import warnings

import pandas as pd
import polars as pl
import separatrix as sx
import statsmodels.formula.api as smf
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

trial = pd.DataFrame(
    {
        "dose": [1.0, 2, 2, 3, 3, 4, 5, 6, 2, 5],
        "sex": list("fmfmfmfmfm"),
        "smoker": [0, 0, 0, 1, 0, 0, 0, 1, 0, 0],
        "ill": [0, 1, 0, 1, 1, 0, 1, 1, 0, 1],
    }
)

# %%
# If you use a formula, the verdict names the variables of the formula:

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    verdict = sx.check_separation("ill ~ dose + sex + smoker", data=trial)
print(verdict.status, verdict.responsible_features)
print(caught[0].message)

# %%
# The same works with Polars, for columns of numbers:

frame = pl.from_pandas(trial)
print(
    sx.separability(frame.select("dose", "smoker"), frame["ill"]).responsible_features
)

# %%
# Check the data before you fit a model with statsmodels. If the classes overlap, the estimate exists:

if sx.check_separation("ill ~ dose + sex", data=trial).status == "overlapping":
    print(smf.logit("ill ~ dose + sex", trial).fit(disp=0).params.round(3))

# %%
# You can use the estimators in a pipeline, and run a grid search over it:

pipeline = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(drop="if_binary"), ["sex"]),
        (StandardScaler(), ["dose"]),
        remainder="passthrough",
    ),
    sx.SoftMargin(),
)
search = GridSearchCV(pipeline, {"softmargin__C": [0.1, 1, 10]}, cv=2)
search.fit(trial[["dose", "sex", "smoker"]], trial.ill)
print(search.best_params_)

# %%
# Plots also show the names:

sx.plot.DecisionRegionDisplay.from_estimator(
    sx.SoftMargin().fit(trial[["dose", "smoker"]], trial.ill),
    trial[["dose", "smoker"]],
    trial.ill,
)
