r"""
A logistic regression, rescued from separation
==============================================

The endometrial cancer data of Heinze and Schemper (2002) are the standard example of quasi-complete separation. This example simulates similar
data: every patient with the finding ``nv`` has the disease.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import separatrix as sx
import statsmodels.api as sm
from firthmodels import FirthLogisticRegression
from sklearn.linear_model import LogisticRegression

rng = np.random.default_rng(12)
n = 80
patients = pd.DataFrame(
    {"pi": rng.gamma(4, 4, n).round(), "eh": rng.gamma(3, 0.5, n).round(2)}
)
chance = 1 / (1 + np.exp(-(2.5 - 2.2 * patients.eh)))
patients["ill"] = (rng.random(n) < chance).astype(int)
patients["nv"] = ((patients.ill == 1) & (rng.random(n) < 0.4)).astype(int)
columns = ["nv", "pi", "eh"]

# %%
# Ask before the regression
# -------------------------

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    verdict = sx.check_separation(patients[columns], patients.ill)
print(verdict.status)
print(caught[0].message)

# %%
# What maximum likelihood does
# ----------------------------
#
# The coefficient of ``nv`` ends at a large value on its way to infinity, with a huge standard error.

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    fit = sm.Logit(patients.ill, sm.add_constant(patients[columns])).fit(
        disp=0, maxiter=50
    )
print(pd.DataFrame({"estimate": fit.params, "standard error": fit.bse}).round(2))

# %%
# Remedies
# --------
#
# **Firth's penalty** gives finite estimates with small bias, and confidence intervals. It is the usual choice for inference. **Ridge** is for
# prediction. **Removing the variable** changes the question. An **exact test** is for a single variable in a small sample.

firth = FirthLogisticRegression().fit(patients[columns], patients.ill)
ridge = LogisticRegression(C=1.0).fit(patients[columns], patients.ill)
estimates = pd.DataFrame(
    {
        "maximum likelihood": fit.params[columns],
        "Firth": firth.coef_.ravel(),
        "ridge": ridge.coef_.ravel(),
    },
    index=columns,
)
print(estimates.round(2))
figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
estimates.plot.barh(ax=axes)
axes.set_xlabel("coefficient")
axes.invert_yaxis()
print("without nv:", sx.separability(patients[["pi", "eh"]], patients.ill).status)
