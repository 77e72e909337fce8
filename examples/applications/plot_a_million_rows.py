r"""
A million rows on a laptop
==========================

Is there a separator for a million rows with twenty columns? And what if we flip a few labels? Both answers come with a proof.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
import separatrix as sx
from sklearn.linear_model import Perceptron

problem = sx.datasets.make_separable(1_000_000, 20, margin=0.01, random_state=0)
sx.separability(problem.X[:1000], problem.y[:1000])  # compiles once for this processor


def ask(y):
    begin = time.perf_counter()
    verdict = sx.separability(problem.X, y, quasi=False)
    middle = time.perf_counter()
    holds = sx.verify(verdict.certificate, problem.X, y).holds
    print(
        f"{verdict.status:12} in {middle - begin:.1f} s; "
        f"checked ({holds}) in {time.perf_counter() - middle:.1f} s"
    )
    return verdict


ask(problem.y)

# %%
# Three wrong labels in a million are enough to make the data inseparable. A few rows prove it. There are 21 weights, and 22 rows are always
# enough for such a proof: one more than the number of weights.

flipped = problem.y.copy()
flipped[np.random.default_rng(1).choice(len(flipped), 3, replace=False)] *= -1
verdict = ask(flipped)
print(f"{len(verdict.witness_rows)} rows prove that the two hulls share a point")

# %%
# For comparison, we run scikit-learn's perceptron with its default settings. It proves nothing, and it stops when its loss no longer decreases.

begin = time.perf_counter()
usual = Perceptron(random_state=0).fit(problem.X, problem.y)
seconds = time.perf_counter() - begin
errors = np.count_nonzero(usual.predict(problem.X) != problem.y)
print(f"scikit-learn: errors left after {seconds:.1f} s: {errors:,}")

# %%
# The plot shows the rows of the proof among a thousand other rows, in two of the columns:

figure, axes = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
axes.plot(*problem.X[:1000, :2].T, ".", color="lightgray")
witness = list(verdict.witness_rows)
for label, marker in ((-1, "o"), (1, "s")):
    rows = [row for row in witness if flipped[row] == label]
    axes.plot(*problem.X[rows, :2].T, marker, label=f"witness, class {label}")
axes.set(xlabel="column 0", ylabel="column 1")
figure.legend(loc="outside right upper")
