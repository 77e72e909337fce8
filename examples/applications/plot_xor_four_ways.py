r"""
XOR four ways
=============

XOR is the classic example of four points that no line separates. This example proves it, and then separates the points in three other ways.
"""

import matplotlib.pyplot as plt
import numpy as np
import separatrix as sx

X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 0, 1, 1])

# %%
# 1. The verdict
# --------------
#
# In both classes, the midpoint of the two points is (½, ½). So this point lies in both convex hulls, and every line gets at least one point wrong.

verdict = sx.separability(X, y)
print(
    verdict.status, {row: str(weight) for row, weight in verdict.witness_rows.items()}
)
sx.plot.HullDisplay.from_verdict(verdict, X, y)

# %%
# 2. A lift
# ---------
#
# If we add the product :math:`x_1x_2` as a third coordinate, a plane separates the points. ``smallest_separating_degree`` finds the smallest degree,
# with a proof at each step.

lifted = np.column_stack([X, X[:, 0] * X[:, 1]])
print("with the product:", sx.separability(lifted, y).status)
print(sx.smallest_separating_degree(X, y, max_degree=3))

# %%
# 3. A kernel
# -----------
#
# A kernel does the same without computing the coordinates.

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
# *Or* and *and* are separable, and XOR is "or, but not and". So two perceptrons and a third one that combines their outputs are
# enough. Each of the three is trained. What is **not** learned is the idea to use *or* and *and*: we chose these labels ourselves.
# To find them from the XOR labels alone is the task of training a multilayer network, which this library does not do.

either = sx.Perceptron().fit(X, X.any(axis=1).astype(int))
both = sx.Perceptron().fit(X, X.all(axis=1).astype(int))


def hidden(points):
    return np.column_stack([either.predict(points), both.predict(points)])


top = sx.Perceptron().fit(hidden(X), y)
print("two lines:", top.predict(hidden(X)), "wanted:", y)
