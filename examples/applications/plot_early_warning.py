r"""
Early warning from sensors: several kinds of fault, and a fast answer
=====================================================================

A machine with twelve sensors either runs well or fails in one of four ways. The perceptron with one weight vector per class
learns all five classes at once. The signals in this example are simulated. For real data, take "dataset for sensorless drive diagnosis"
(58,509 rows, eleven classes) from the UCI repository, and use its columns and classes instead of ``X`` and ``y``.
"""

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
import separatrix as sx
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Perceptron as OneAgainstRest
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(3)
kinds = ["well", "bearing", "winding", "shaft", "sensor"]
centers = rng.normal(scale=1.1, size=(5, 12))
n = 5000
kind = rng.choice(5, n, p=[0.6, 0.1, 0.1, 0.1, 0.1])
X = centers[kind] + rng.normal(scale=1.2, size=(n, 12))
y = np.array(kinds)[kind]
train, test, y_train, y_test = train_test_split(X, y, random_state=0)

verdict = sx.separability(train, y_train, quasi=False)
print("all five at once:", verdict.status)

# %%
# No linear model classifies all of these readings correctly, so we compare models by their accuracy on readings that were not
# used for training:

models = {
    'always "well"': DummyClassifier(),
    "perceptron, all classes at once": sx.Perceptron(max_iter=20),
    "averaged": sx.Perceptron(average="averaged", max_iter=20, random_state=0),
    "scikit-learn, one against rest": OneAgainstRest(max_iter=20, random_state=0),
    "random forest": RandomForestClassifier(random_state=0, n_estimators=50),
}
scores = {}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for name, model in models.items():
        scores[name] = model.fit(train, y_train).score(test, y_test)
        print(f"{name:33} {scores[name]:.3f}")
figure, axes = plt.subplots(figsize=(6.5, 2.4), layout="constrained")
axes.plot(list(scores.values()), list(scores), "o")
axes.grid(axis="y", alpha=0.4)
axes.set(xlim=(0.5, 1.0), xlabel="accuracy on held-out readings")
axes.invert_yaxis()

# %%
# An early warning must be fast to compute. The averaged model consists of five weight vectors, which are 65 numbers, and needs one small matrix product per reading.

model = models["averaged"]
seconds = []
for _ in range(50):
    begin = time.perf_counter()
    model.predict(test[:1])
    seconds.append(time.perf_counter() - begin)
print(
    f"one reading in {1e6 * np.median(seconds):.0f} microseconds, including checks of the input"
)
