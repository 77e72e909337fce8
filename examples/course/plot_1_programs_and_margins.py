r"""
1. Linear programs, and the best among the separators
=====================================================

*A chapter on finding a separator by other means, and on choosing one.*

Separable means: the linear program is feasible
-----------------------------------------------

Let :math:`Z` be the matrix of the signed rows. The data are separable if some :math:`w` has :math:`Zw > 0`. Scaling
:math:`w` shows that this is the same as :math:`Zw \ge 1`: a linear program with nothing to optimise.

**Either, or.** Exactly one of two things is true (Gordan 1873): some :math:`w` has :math:`Zw > 0`; or some
:math:`l \ge 0`, not all zero, has :math:`Z^\top l = 0`.

*Not both:* then :math:`0 = \langle Z^\top l, w\rangle = \sum_i l_i \langle z_i, w\rangle > 0`. *One of them:* if zero is
not in the hull of the rows, the shortest point :math:`p` of the hull is not zero, and
:math:`\langle p, z_i\rangle \ge |p|^2 > 0` for every row, as otherwise a step from :math:`p` towards :math:`z_i` would be
shorter; so :math:`w = p` separates. If zero is in the hull, its weights are :math:`l`. ∎

The multipliers :math:`l` are a *proof* that nothing separates, and the weights :math:`w` are a proof that something does.
This library never answers without one of them, and checks it in exact arithmetic.
"""

import matplotlib.pyplot as plt
import numpy as np
import separatrix as sx

problem = sx.datasets.make_separable(60, margin=0.12, intercept=0.2, random_state=4)
X, y = problem.X, problem.y
program = sx.LinearProgram().fit(X, y)
print(f"separated by a linear program: {program.score(X, y) == 1.0}")
verdict = sx.separability(X, y)
check = sx.verify(verdict.certificate, X, y)
print(f"{verdict.status}; checked by code that solved nothing: {check.holds}")

# %%
# The batch perceptron, and a bound without the dimension
# -------------------------------------------------------
#
# The note states Novikoff's theorem with :math:`B = \min\{|w| : Zw \ge 1\}` in place of the margin: at most
# :math:`(RB)^2` updates. It is the same statement, :math:`B = 1/\gamma`: if :math:`|u| = 1` has the largest margin
# :math:`\gamma`, then :math:`u/\gamma` is the shortest :math:`w` with :math:`Zw \ge 1`.

# With fit_intercept="lifted" the margin is that of the lifted rows, which the theorem speaks of.
margin = sx.MaxMargin(fit_intercept="lifted").fit(X, y)
lifted = np.column_stack([X, np.ones(len(X))])
w = np.append(margin.coef_[0], margin.intercept_[0])
scores = np.where(y == margin.classes_[1], 1, -1) * (lifted @ w)
B = np.linalg.norm(w / scores.min())
R = np.linalg.norm(lifted, axis=1).max()
model = sx.Perceptron().fit(X, y)
print(f"{model.mistakes_} mistakes; (R B)² = {(R * B) ** 2:.0f}")

# %%
# "Each update makes :math:`w` more correct on its point": :math:`\langle w + z, z\rangle = \langle w, z\rangle + |z|^2`.
# On the other points anything may happen. Here is how many points are wrong after each update:

trace = sx.Perceptron(order="cyclic", trace=True).fit(X, y).result_.trace
signs = np.where(y == np.unique(y)[1], 1, -1)
wrong = [(signs * (lifted @ weights) <= 0).sum() for weights in trace.weights]
figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
axes.step(range(1, len(wrong) + 1), wrong, where="mid")
axes.set(xlabel="update", ylabel="points that are wrong")

# %%
# What Minsky and Papert showed
# -----------------------------
#
# The note says that they argued in 1969 that a *multilayer* perceptron cannot learn XOR. What they proved is about a *single*
# layer: one plane does not separate XOR, and a proof is four multipliers.

X4, y4 = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 0, 1, 1])
proof = sx.separability(X4, y4)
print(proof.status, {row: str(weight) for row, weight in proof.witness_rows.items()})

# %%
# Half of row 0 plus half of row 1 is the point (½, ½); so is half of row 2 plus half of row 3. One point lies in both
# hulls, so no line has them on different sides. Two lines and a rule to combine them do, so stacking
# perceptrons *can* represent XOR: see :ref:`XOR four ways <sphx_glr_applications_plot_xor_four_ways.py>`.
#
# Which separator?
# ----------------
#
# **The distance of a point from a plane** :math:`\{v : \langle w, v\rangle + b = 0\}` is :math:`|\langle w, x\rangle + b|/|w|`.
# *Why?* Walk from :math:`x` along the normal: :math:`v = x - s\,w/|w|`. It is on the plane when
# :math:`\langle w, x\rangle - s|w| + b = 0`, so :math:`s = (\langle w, x\rangle + b)/|w|`. Any other point :math:`v'` of the
# plane is farther: :math:`v - v'` is at right angles to :math:`w`, so
# :math:`|x - v'|^2 = |x - v|^2 + |v - v'|^2`. ∎
#
# The **margin** of a separator is its smallest such distance, and a separator of margin :math:`m` makes no error when every
# point is moved by less than :math:`m`. So the largest margin bears the longest moves. Among planes through the origin its normal is
# the shortest point of the hull of the signed rows, and the margin is the length of that point; with a free intercept the margin is
# half the distance between the two hulls.
#
# **A slip.** One slide says that the data are not separable if the margin of :math:`w` is negative. That is a fact about this
# :math:`w` only: turn a separator round, and its margin is negative. The data are not separable if *no* :math:`w` has a positive
# margin.

best = sx.MaxMargin().fit(X, y)
figure, panels = plt.subplots(1, 3, figsize=(10, 3.4), layout="compressed")
for axes, (name, model) in zip(
    panels,
    {
        "perceptron": sx.Perceptron().fit(X, y),
        "linear program": program,
        "largest margin": best,
    }.items(),
    strict=True,
):
    sx.plot.DecisionRegionDisplay.from_estimator(model, X, y, ax=axes)
    distances = signs * model.decision_function(X) / np.linalg.norm(model.coef_)
    axes.set_title(f"{name}: margin {distances.min():.3f}")

# %%
# The library brackets the largest margin from both sides. Any separator proves a lower bound. Any multipliers
# :math:`a \ge 0` prove the upper bound :math:`|\sum a_i z_i| / \sum a_i`, because that point is in the hull.

sx.plot.BracketDisplay.from_estimator(
    sx.Perceptron(order="cyclic", trace=True).fit(X, y), X, y
)

# %%
# Measure it, and show it
# -----------------------
#
# - ``separatrix experiment separators``: how do three methods that find a separator differ?
# - ``separatrix experiment robustness``: how much perturbation does each separator bear?
# - ``separatrix experiment own-point``: what does an update do to its own point, and to the others?
#
# As a lesson of the playground, to project or to step through: ``separatrix play --lesson 1``. (If the playground is
# running, `here it is <http://127.0.0.1:8317/?lesson=1>`_.)
#
# To think about
# --------------
#
# - Add a point far behind its own class. Which of the three separators can change?
# - In how many points of a picture does the largest margin rest, at least?
