r"""
The hardest digits, and some that are labelled wrongly
======================================================

The perceptron keeps count of how often each row had to be corrected. Rows with high counts are hard; some are hard because
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
# Give 18 random digits a wrong label, and look at the counts again. How many of the wrong ones are among the 36 most corrected?

rng = np.random.default_rng(0)
wrong = rng.choice(len(y), 18, replace=False)
noisy = y.copy()
noisy[wrong] = (noisy[wrong] + rng.integers(1, 10, 18)) % 10
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    counts = sx.Perceptron(max_iter=200).fit(X, noisy).mistake_counts_
top = np.argsort(counts, kind="stable")[::-1][:36]
found = np.isin(wrong, top).sum()
print(f"{found} of 18 wrong labels are among the 36 most corrected of {len(y):,} rows")
print(f"by chance it would be {36 * 18 / len(y):.1f}")

# %%
# The usual way is cross-validation: rows to which a model that did not see them gives the smallest probability.

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    judged = cross_val_predict(
        LogisticRegression(max_iter=200), X / 16, noisy, cv=5, method="predict_proba"
    )
doubted = np.argsort(judged[np.arange(len(noisy)), noisy], kind="stable")[:36]
print(f"by cross-validation: {np.isin(wrong, doubted).sum()} of 18")

# %%
# Cross-validation finds more, for the price of five fits. The counts come with the one fit that was made anyway.
