r"""
3. A tie is a mistake, and what makes a run long
================================================

*This chapter shows why the algorithm needs ≤ instead of <, and which two quantities determine how long it runs.*

.. raw:: html

    <iframe class="playground" src="../play/index.html?lesson=3" title="The playground, for this chapter" loading="lazy"></iframe>

One character
-------------

The note's loop corrects a row if :math:`y_i = +1` and :math:`\langle w, x_i\rangle < 0`, or if :math:`y_i = -1` and
:math:`\langle w, x_i\rangle > 0`. It starts with :math:`w = 0`. Then every score is zero, so no row satisfies the condition, and the
algorithm stops before its first step. The result :math:`w = 0` separates nothing. The proof in the note is correct for every step that the algorithm makes, but
it makes none.

Writing :math:`\le` instead of :math:`<` fixes this: *a tie is a mistake*. The proof does not change, because it only uses that a mistake has
:math:`\langle w, z\rangle \le 0`. The notes of chapters 0 and 4 contain the same error in places.
"""

import matplotlib.pyplot as plt
import numpy as np
import separatrix as sx


def perceptron(Z, is_mistake, most=1000):
    """Run the note's loop with a given condition; return the weights and the number of updates."""
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
    print(
        f"mistake if score {name}: {updates} updates, {right} of {len(Z)} rows correct"
    )

# %%
# A start other than zero hides the error, but does not fix it: a run can still end with a row exactly *on* its hyperplane. For example, from
# :math:`w = (1, 0)` with the single row :math:`z = (0, 1)`, it ends immediately, with score zero.
#
# The theorem
# -----------
#
# **Theorem.** If some :math:`w^*` has :math:`\langle w^*, z_i\rangle \ge 1` for all rows, and no row is longer than :math:`r`, then the
# perceptron that starts at zero ends with a separator after at most :math:`r^2|w^*|^2` updates. (The proof is the one of chapter 0.)
#
# *It ends with a separator*, because it ends only if no row is a mistake, and this is the definition of a separator. *It ends*, because
# the number of updates is bounded. On inseparable data it never ends, but the weights stay bounded (the perceptron
# cycling theorem: Minsky and Papert; Block and Levin 1970). If the rows are integers, there are only finitely many integer weight vectors of bounded length. So
# some vector must occur twice, and this proves that the data are inseparable: the rows that were added between the two occurrences sum to zero, so the numbers of
# times that each row was added are Gordan's multipliers.

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
# The note names two factors that make a run long: a narrow band between the classes, and points of large magnitude. The bound :math:`(R/\gamma)^2`
# depends only on their ratio. If all signed rows are multiplied by the same positive number, :math:`R` and :math:`\gamma` are multiplied by it, too. If the run starts at
# zero, the weights are also multiplied by this number, no score changes its sign, and the run makes the same updates. So neither factor acts alone.

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
# If the run starts at zero, :math:`w = \sum_i n_i z_i`, where :math:`n_i` is the number of updates on row :math:`i`. (The note writes :math:`\sum n_i x_i`. There,
# :math:`n_i` also has the sign of the label.) Chapter 4 turns this formula into the dual algorithm. The library stores the counts because they also prove something:
# no hyperplane has a margin larger than :math:`|\sum n_iz_i|/\sum n_i` (see the end of chapter 1).

model = sx.Perceptron().fit(problem.X, problem.y)
counts = model.mistake_counts_
lifted = signs[:, None] * np.column_stack([problem.X, np.ones(len(problem.X))])
w = np.append(model.coef_[0], model.intercept_[0])
print("w is the sum:", np.allclose(counts @ lifted, w))
print(
    f"no lifted margin is larger than {np.linalg.norm(counts @ lifted) / counts.sum():.3f}"
)
sx.plot.DecisionRegionDisplay.from_estimator(
    model, problem.X, problem.y, point_sizes="mistakes"
)

# %%
# "The dual of linear regression"
# -------------------------------
#
# The note calls a separator the dual of linear regression: one line passes close to the points, the other keeps away from them. The two have more in common than that. Regression
# on the labels minimizes :math:`\sum_i (y_i - \langle w, x_i\rangle)^2 + \lambda|w|^2`. At the minimum, the gradient is zero: :math:`\lambda w = \sum_i (y_i - \langle w, x_i\rangle)\,x_i`. So both answers have
# the form :math:`w = \sum_i a_i x_i`, and what differs is :math:`a`. For the perceptron, :math:`a_i = n_i y_i`: its sign is the label, and it is zero for a row that was never
# corrected. For regression, :math:`a_i` is the residual divided by :math:`\lambda`: it is rarely zero, and for a row whose score is beyond its label (:math:`y_i\langle w, x_i\rangle > 1`) it has the *opposite* sign of the label. Such
# rows pull the line toward themselves, so regression on the labels may fail to separate separable data:

generator = np.random.default_rng(0)
X = np.vstack(
    [
        generator.normal([1.0, 0.0], 0.35, (15, 2)),
        generator.normal([9.0, 4.0], 0.6, (6, 2)),
        generator.normal([-1.0, 0.0], 0.35, (15, 2)),
    ]
)
y = np.repeat([1, 1, -1], [15, 6, 15])
lifted, penalty = np.column_stack([X, np.ones(len(X))]), 0.1
regression = np.linalg.solve(lifted @ lifted.T + penalty * np.eye(len(X)), y)
corrections = y * sx.Perceptron(order="cyclic").fit(X, y).mistake_counts_
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
left.scatter(*X.T, c=np.where(y > 0, "C1", "C0"), s=18)
for name, a, color in (
    ("regression", regression, "C3"),
    ("perceptron", corrections, "C2"),
):
    w = a @ lifted
    wrong = np.count_nonzero(y * (lifted @ w) <= 0)
    left.axline(
        (-w[2] / w[0], 0.0),
        (-w[2] / w[0] - w[1], w[0]),
        color=color,
        label=f"{name}: {wrong} wrong",
    )
    right.plot(
        a * y / np.abs(a).max(),
        "o-" if name == "regression" else "s",
        ms=3,
        lw=0.6,
        color=color,
        label=name,
    )
left.set(xlim=(-3, 11), ylim=(-3, 6))
left.legend(loc="lower right")
right.axhline(0.0, color="gray", lw=0.8)
right.set(
    xlabel="row (15 to 20 are far away)", ylabel="$a_i y_i$, scaled to the largest"
)
right.legend()

# %%
# Experiments and playground
# --------------------------
#
# - ``separatrix experiment updates``: how do the margin and the magnitude of the points change the number of updates, separately and together?
#
# ``separatrix play --lesson 3`` opens this chapter as a lesson in the playground. (If the playground is
# already running, use `this link <http://127.0.0.1:8317/?lesson=3>`_.)
#
# Questions
# ---------
#
# - Does the perceptron find the line with the largest margin? Compare it with chapter 1.
# - Find two orders of the same rows for which the perceptron finds different separators.
