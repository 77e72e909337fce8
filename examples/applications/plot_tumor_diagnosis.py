r"""
Tumor diagnosis: separable data, and what that means
====================================================

The breast cancer data of scikit-learn contain 30 measurements of 569 tumors. A hyperplane separates the two classes. Therefore a logistic
regression without a penalty has no finite estimate, and a perfect score on the training rows means little.
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
# How large is the margin? The bracket below is for a hyperplane with a free intercept, in units of the standardized columns.

scaled = StandardScaler().fit_transform(X)
best = sx.MaxMargin().fit(scaled, y)
print(
    f"largest affine margin between {best.margin_lower_:.6f} and {best.margin_upper_:.6f}"
)
sx.plot.DecisionRegionDisplay.from_estimator(best, scaled, y)

# %%
# The picture shows the hyperplane from the side, as a line. A few rows determine the band, which is narrow compared with the classes. How well do different models predict rows
# that they were not trained on?

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
# The separator with the largest margin is not the best classifier here, because it depends on a few hard rows. Models that allow some errors
# do better. Separability is a property of the data, not a recommendation.
#
# Which tumors are hard to classify? Those that the perceptron corrected most often. The margin is tiny, so we switch off the rule that
# stops a run without progress, and let the run go on until it separates the classes:

model = sx.Perceptron(max_iter=10_000, n_iter_no_change=None).fit(scaled, y)
print(f"separated: {model.converged_}")
hardest = np.argsort(model.mistake_counts_)[::-1][:5]
for row in hardest:
    print(f"row {row}: {y[row]:9} corrected {model.mistake_counts_[row]:,} times")
