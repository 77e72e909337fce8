r"""
XOR four ways
=============

Four points that no line separates: the classic. A proof that no line does, then three ways around it.
"""

import matplotlib.pyplot as plt
import numpy as np
import separatrix as sx

X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 0, 1, 1])

# %%
# 1. The verdict
# --------------
#
# Half of each class's two points is the same point. It lies in both hulls, so every line has an error.

verdict = sx.separability(X, y)
print(
    verdict.status, {row: str(weight) for row, weight in verdict.witness_rows.items()}
)
sx.plot.HullDisplay.from_verdict(verdict, X, y)

# %%
# 2. A lift
# ---------
#
# Add the product :math:`x_1x_2` as a third coordinate, and a plane separates. ``smallest_separating_degree`` finds the degree
# with a proof at each step.

lifted = np.column_stack([X, X[:, 0] * X[:, 1]])
print("with the product:", sx.separability(lifted, y).status)
print(sx.smallest_separating_degree(X, y, max_degree=3))

# %%
# 3. A kernel
# -----------
#
# The same without writing coordinates down.

figure, panels = plt.subplots(1, 2, figsize=(8, 3.6), layout="compressed")
for axes, kernel in zip(
    panels, (sx.kernels.Polynomial(degree=2), sx.kernels.Gaussian(c=1.0)), strict=True
):
    model = sx.KernelPerceptron(kernel=kernel).fit(X, y)
    sx.plot.DecisionRegionDisplay.from_estimator(model, X, y, ax=axes)
    axes.set_title(f"{kernel}: {model.mistakes_} mistakes", fontsize=9)

# %%
# 4. Two lines
# ------------
#
# *Or* and *and* are separable, and XOR is "or, but not and": a committee of two perceptrons and a third one that listens to
# them. Each of the three is learnt. What is **not** learnt is the idea to ask for *or* and *and*: those labels were given by
# us. Finding them from the XOR labels alone is what training a multilayer network means, and this library does not do that.

either = sx.Perceptron().fit(X, X.any(axis=1).astype(int))
both = sx.Perceptron().fit(X, X.all(axis=1).astype(int))


def hidden(points):
    return np.column_stack([either.predict(points), both.predict(points)])


top = sx.Perceptron().fit(hidden(X), y)
print("two lines:", top.predict(hidden(X)), "wanted:", y)
