r"""
The hardest digits, and some with wrong labels
==============================================

The perceptron counts how often it corrected each row. Rows with high counts are hard, and some of them are hard because
their label is wrong.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import separatrix as sx
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

digits = load_digits()
X, y = digits.data, digits.target
model = sx.Perceptron(max_iter=2000).fit(X, y)
print(f"{len(y):,} digits, {model.mistakes_:,} mistakes, separated: {model.converged_}")
hardest = np.argsort(model.mistake_counts_, kind="stable")[::-1][:10]
figure, panels = plt.subplots(2, 5, figsize=(7, 3.4), layout="constrained")
for axes, row in zip(panels.flat, hardest, strict=True):
    axes.imshow(digits.images[row], cmap="gray_r")
    axes.set_title(f"a {y[row]}, {model.mistake_counts_[row]} times", fontsize=8)
    axes.axis("off")

# %%
# Find wrong labels
# -----------------
#
# We give 18 random digits a wrong label, and look at the counts again. How many of these digits are among the 36 rows with the highest counts?

rng = np.random.default_rng(0)
wrong = rng.choice(len(y), 18, replace=False)
noisy = y.copy()
noisy[wrong] = (noisy[wrong] + rng.integers(1, 10, 18)) % 10
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    counts = sx.Perceptron(max_iter=200).fit(X, noisy).mistake_counts_
top = np.argsort(counts, kind="stable")[::-1][:36]
found = np.isin(wrong, top).sum()
print(f"{found} of 18 wrong labels are among the 36 highest counts of {len(y):,} rows")
print(f"expected by chance: {36 * 18 / len(y):.1f}")

# %%
# The usual method is cross-validation: look for the rows whose label gets the smallest probability from a model that was not trained on them.

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    judged = cross_val_predict(
        LogisticRegression(max_iter=200), X / 16, noisy, cv=5, method="predict_proba"
    )
doubted = np.argsort(judged[np.arange(len(noisy)), noisy], kind="stable")[:36]
print(f"by cross-validation: {np.isin(wrong, doubted).sum()} of 18")

# %%
# Cross-validation finds more of the wrong labels, but needs five fits. The counts come at no extra cost from a single fit.
