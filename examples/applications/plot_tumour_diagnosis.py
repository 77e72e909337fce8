r"""
Tumour diagnosis: separable, and what that is worth
===================================================

569 tumours, 30 measurements (scikit-learn's breast cancer data). All of them can be separated by a plane. A logistic
regression without a penalty has no finite estimate then, and a perfect score on the learnt rows means nothing.
"""

import warnings

import numpy as np
import separatrix as sx
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
verdict = sx.separability(X, y)
print(verdict.status, "- the proof holds:", sx.verify(verdict.certificate, X, y).holds)

# %%
# How wide is the band? The margin below is in the units of the scaled columns, with a free intercept, and bracketed.

scaled = StandardScaler().fit_transform(X)
best = sx.MaxMargin().fit(scaled, y)
print(
    f"largest affine margin between {best.margin_lower_:.6f} and {best.margin_upper_:.6f}"
)
sx.plot.DecisionRegionDisplay.from_estimator(best, scaled, y)

# %%
# The picture looks along the plane: few rows hold a band that is narrow beside the clouds. What do models score on rows
# that they did not see?

models = {
    "largest margin": sx.MaxMargin(inseparable="warn"),
    "soft margin, C = 0.05": sx.SoftMargin(C=0.05),
    "perceptron": sx.Perceptron(),
    "averaged perceptron": sx.Perceptron(average="averaged", random_state=0),
    "logistic regression (ridge)": LogisticRegression(C=0.1),
    "SVC (Gaussian)": SVC(),
}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for name, model in models.items():
        scores = cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=10)
        print(f"{name:28} {scores.mean():.3f} ± {scores.std() / np.sqrt(10):.3f}")

# %%
# The widest separating band is not the best classifier here: it rests on a few hard rows. Models that accept some errors
# do better. Separability is a fact about the data, not a recommendation.
#
# Which tumours are hard? Those that the perceptron had to correct most often:

model = sx.Perceptron(max_iter=10_000).fit(scaled, y)
hardest = np.argsort(model.mistake_counts_)[::-1][:5]
for row in hardest:
    print(f"row {row}: {y[row]:9} corrected {model.mistake_counts_[row]:,} times")
