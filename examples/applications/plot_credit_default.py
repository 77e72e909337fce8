r"""
Credit default: an overlap, and what a linear rule can still do
================================================================

Will a client default? Whether a linear rule can answer *perfectly* on past clients is a question with a proof. Whether
it is *useful* is a question for clients that were not learnt from.

The clients here are made by a known law, so that the best possible score is known too. For real ones, take "default
of credit card clients" (30,000 rows) from the UCI repository, and use its columns and labels in the place of ``clients`` and
``default``; the best possible score is not known then.
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
# The verdict, on all clients: is there any linear rule without an error?

verdict = sx.separability(clients, default)
print(verdict.status)
print(f"{len(verdict.witness_rows)} clients prove it")

# %%
# So every linear rule is wrong somewhere, and a logistic regression has a finite estimate. Now models, on clients kept
# back. Defaults are rare, so the score is the mean of the two classes' hit rates; "best possible" knows the law.

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
    with warnings.catch_warnings():  # the perceptron says that it did not separate
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
axes.set(xlim=(0.4, 0.8), xlabel="mean of the two hit rates, on clients kept back")
axes.invert_yaxis()

# %%
# The linear models are level (differences of 0.01 are chance here), near what is possible: the law *is* linear in these
# columns. What this library adds is the certainty that the overlap is in the data, not in the solver.
