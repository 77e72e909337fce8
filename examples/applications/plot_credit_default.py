r"""
Credit default: overlapping classes, and what a linear rule can still do
========================================================================

Will a client default? We can prove whether some linear rule is *perfect* for past clients. Whether a rule is
*useful* has to be tested on clients that were not used for training.

The clients in this example are simulated from a known distribution, so we also know the best possible score. For real data, take "default
of credit card clients" (30,000 rows) from the UCI repository, and use its columns and labels instead of ``clients`` and
``default``. The best possible score is then unknown.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import separatrix as sx
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

rng = np.random.default_rng(7)
n = 6000
clients = pd.DataFrame(
    {
        "limit": rng.lognormal(11.5, 0.8, n).round(-3),
        "age": rng.integers(21, 70, n),
        "months_late": rng.poisson(0.6, n),
        "bill": rng.lognormal(10, 1.2, n).round(),
        "paid": rng.lognormal(8, 1.5, n).round(),
    }
)
logit = (
    -2.2
    + 1.1 * clients.months_late
    - 0.5 * (np.log(clients["limit"]) - 11.5)
    + 0.3 * (np.log(clients.bill) - 10)
    - 0.3 * (np.log(clients.paid) - 8)
)
chance = 1 / (1 + np.exp(-logit))
default = np.where(rng.random(n) < chance, "yes", "no")

# %%
# First, the verdict on all clients: is there a linear rule without an error?

verdict = sx.separability(clients, default)
print(verdict.status)
print(f"{len(verdict.witness_rows)} clients prove it")

# %%
# So every linear rule makes an error, and a logistic regression has a finite estimate. Next, we train models and score them on
# held-out clients. Defaults are rare, so the score is the balanced accuracy, the mean of the two classes' hit rates. "Best possible" uses the true distribution.

columns = clients.assign(
    **{name: np.log(clients[name]) for name in ("limit", "bill", "paid")}
)
train, test, y_train, y_test, _, p_test = train_test_split(
    columns, default, chance, test_size=0.5, random_state=0, stratify=default
)
models = {
    "always the larger class": DummyClassifier(),
    "logistic regression": LogisticRegression(class_weight="balanced"),
    "soft margin": sx.SoftMargin(C=0.1, class_weight="balanced"),
    "averaged perceptron": sx.Perceptron(
        average="averaged", max_iter=5, class_weight="balanced", random_state=0
    ),
}
scores = {}
for name, model in models.items():
    with warnings.catch_warnings():  # the perceptron warns that it did not separate
        warnings.simplefilter("ignore")
        pipeline = make_pipeline(StandardScaler(), model).fit(train, y_train)
    scores[name] = balanced_accuracy_score(y_test, pipeline.predict(test))
share = np.mean(default == "yes")
best = np.where(p_test > share, "yes", "no")
scores["best possible, about"] = balanced_accuracy_score(y_test, best)
for name, score in scores.items():
    print(f"{name:25} {score:.3f}")
figure, axes = plt.subplots(figsize=(6.5, 2.4), layout="constrained")
axes.plot(list(scores.values()), list(scores), "o")
axes.grid(axis="y", alpha=0.4)
axes.set(xlim=(0.4, 0.8), xlabel="balanced accuracy on held-out clients")
axes.invert_yaxis()

# %%
# The linear models have similar scores (a difference of 0.01 is within chance here), close to the best possible score, because the true model *is* linear in these
# columns. What this library adds is the certainty that the overlap is a property of the data, and not of the solver.
