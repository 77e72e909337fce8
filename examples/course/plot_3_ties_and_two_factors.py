r"""
3. A tie is a mistake, and what makes a run long
================================================

*A chapter on one character of the algorithm, and on two numbers that decide how long it runs.*

One character
-------------

The note's loop corrects a row while :math:`y_i = +1` and :math:`\langle w, x_i\rangle < 0`, or :math:`y_i = -1` and
:math:`\langle w, x_i\rangle > 0`. It starts with :math:`w = 0`. Then every score is zero, no row satisfies the condition, and the
algorithm stops before its first step, with :math:`w = 0`, which separates nothing. The proof that follows is right for the
steps that are made; there are none.

Writing :math:`\le` mends it: *a tie is a mistake*. The proof needs no more: a mistake has
:math:`\langle w, z\rangle \le 0`, and that is all that was used. The notes of chapters 0 and 4 have the same slip in places.
"""

import matplotlib.pyplot as plt
import numpy as np
import separatrix as sx


def perceptron(Z, is_mistake, most=1000):
    """The note's loop, with the condition left open: the weights, and how many updates were made."""
    w, updates = np.zeros(Z.shape[1]), 0
    while updates < most:
        wrong = [z for z in Z if is_mistake(w @ z)]
        if not wrong:
            break
        w, updates = w + wrong[0], updates + 1
    return w, updates


problem = sx.datasets.make_separable(40, margin=0.1, random_state=0)
signs = np.where(problem.y == np.unique(problem.y)[1], 1, -1)
Z = signs[:, None] * problem.X
for name, rule in {"< 0": lambda s: s < 0, "<= 0": lambda s: s <= 0}.items():
    w, updates = perceptron(Z, rule)
    right = np.count_nonzero(Z @ w > 0)
    print(f"mistake if score {name}: {updates} updates, {right} of {len(Z)} rows right")

# %%
# A start that is not zero hides the slip, but does not mend it: a run may still end with a row exactly *on* its plane. From
# :math:`w = (1, 0)` with the one row :math:`z = (0, 1)` it ends at once, with score zero.
#
# The theorem
# -----------
#
# **Theorem.** If some :math:`w^*` has :math:`\langle w^*, z_i\rangle \ge 1` for all rows, and none is longer than :math:`r`, the
# perceptron from zero ends with a separator after at most :math:`r^2|w^*|^2` updates. (The proof is that of chapter 0.)
#
# *It ends with a separator* because it ends only when no row is a mistake, which is what separating means; and it must end because
# the updates are bounded. On data that no plane separates it never ends by itself. The weights stay bounded (the perceptron
# cycling theorem: Minsky and Papert; Block and Levin 1970). On whole numbers there are finitely many such weights, so they must
# come back, and a state that came back is a proof: the updates in between add up to zero, which are Gordan's multipliers.

X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 0, 1, 1])
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    run = sx.Perceptron(order="cyclic").fit(X, y)
print(run.result_.status.value)
print("multipliers:", run.result_.cycle.multipliers[:, 0])

# %%
# Two factors
# -----------
#
# The note names two: a narrow band between the classes, and points of large magnitude, make long runs. Both are in one
# ratio: the bound is :math:`(R/\gamma)^2`. If all rows are multiplied by one positive number, :math:`R` and :math:`\gamma` grow
# alike; from zero all weights are multiplied too, no sign changes, and the run is the same. So neither factor acts alone.

figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
for radius, marker in ((1.0, "o"), (4.0, "s")):
    ratios, updates = [], []
    for margin in np.geomspace(0.01, 0.2, 7):
        data = sx.datasets.make_separable(
            500, 5, margin=margin, radius=radius, random_state=1
        )
        fitted = sx.Perceptron(
            order="cyclic", fit_intercept=False, max_iter=100_000
        ).fit(data.X, data.y)
        ratios.append((fitted.result_.radius / data.margin) ** 2)
        updates.append(fitted.mistakes_)
    axes.loglog(ratios, updates, marker, label=f"radius {radius:g}")
axes.loglog(ratios, ratios, color="gray", label="the bound")
axes.set(xlabel="$(R/\\gamma)^2$", ylabel="updates")
axes.legend()

# %%
# The final weights are a sum of rows
# -----------------------------------
#
# :math:`w = \sum_i n_i z_i`, where :math:`n_i` counts the updates on row :math:`i`. (The note writes :math:`\sum n_i x_i`: its
# :math:`n_i` have the sign of the label.) The note keeps this for later; chapter 4 makes
# an algorithm of it. The library keeps the counts, because they are also half of a proof: :math:`|\sum n_iz_i|/\sum n_i` bounds every
# margin from above.

model = sx.Perceptron().fit(problem.X, problem.y)
counts = model.mistake_counts_
lifted = signs[:, None] * np.column_stack([problem.X, np.ones(len(problem.X))])
w = np.append(model.coef_[0], model.intercept_[0])
print("w is the sum:", np.allclose(counts @ lifted, w))
print(f"no margin is larger than {np.linalg.norm(counts @ lifted) / counts.sum():.3f}")
sx.plot.DecisionRegionDisplay.from_estimator(
    model, problem.X, problem.y, point_sizes="mistakes"
)

# %%
# Measure it, and show it
# -----------------------
#
# - ``separatrix experiment two-factors``: the width of the band and the magnitude of the points, each alone and together.
#
# As a lesson of the playground, to project or to step through: ``separatrix play --lesson 3``. (If the playground is
# running, `here it is <http://127.0.0.1:8317/?lesson=3>`_.)
#
# To think about
# --------------
#
# - Does the perceptron find the best line? Compare with the largest margin of chapter 1.
# - Find two orders of the same rows that lead to different separators.
