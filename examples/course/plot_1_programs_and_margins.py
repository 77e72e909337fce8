r"""
1. Linear programs, and the best among the separators
=====================================================

*This chapter finds separators by other methods, and asks which separator is best.*

.. raw:: html

    <iframe class="playground" src="../play/index.html#p=separable" title="The playground, for this chapter" loading="lazy"></iframe>

Separable means that a linear program is feasible
-------------------------------------------------

Let :math:`Z` be the matrix whose rows are the signed rows. The data are separable if some :math:`w` has :math:`Zw > 0`. By scaling
:math:`w`, this is equivalent to :math:`Zw \ge 1` for some :math:`w`. The note's linear program asks for such a :math:`w`, with a zero
objective: ``sx.LinearProgram(objective="feasible")``. Every separator, times a large enough number, is optimal for it, so the answer is whatever
the solver meets first.

``sx.LinearProgram()`` solves a different program that answers the same question: it maximizes the smallest score
:math:`\min_i \langle w, z_i\rangle` over all :math:`w` whose coordinates lie between −1 and 1. The maximum is positive if and only if the
data are separable. Its solution need not satisfy :math:`Zw \ge 1`, but a positive multiple of it does.

**Theorem of the alternative (Gordan 1873).** Exactly one of two statements is true: some :math:`w` has :math:`Zw > 0`; or some
:math:`l \ge 0`, not all zero, has :math:`Z^\top l = 0`.

**Proof.** *Both cannot be true*, because then :math:`0 = \langle Z^\top l, w\rangle = \sum_i l_i \langle z_i, w\rangle > 0`. *One of them is true:* If zero is
not in the convex hull of the rows, the shortest vector :math:`p` of the hull is not zero. Then
:math:`\langle p, z_i\rangle \ge |p|^2 > 0` for every row, because otherwise a small step from :math:`p` toward :math:`z_i` would lead to a
shorter vector of the hull. So :math:`w = p` separates. If zero is in the hull, it is a convex combination of the rows, and its coefficients are :math:`l`. ∎

The multipliers :math:`l` are a *proof* that nothing separates the data, and the weights :math:`w` are a proof that they are separable.
Whenever ``sx.separability`` answers a question about a hyperplane in the columns, it has checked such a proof in exact arithmetic.
"""

import matplotlib.pyplot as plt
import numpy as np
import separatrix as sx

problem = sx.datasets.make_separable(60, margin=0.12, intercept=0.2, random_state=4)
X, y = problem.X, problem.y
feasible = sx.LinearProgram(objective="feasible").fit(X, y)
signs = np.where(y == np.unique(y)[1], 1, -1)
lowest = (signs * feasible.decision_function(X)).min()
print(f"the program of the note: every score is at least {lowest:.6f}")
program = sx.LinearProgram().fit(X, y)
print(f"separated by the margin program: {program.score(X, y) == 1.0}")
verdict = sx.separability(X, y)
check = sx.verify(verdict.certificate, X, y)
print(f"{verdict.status}; the independent check accepts the proof: {check.holds}")

# %%
# The batch perceptron, and a bound without the dimension
# -------------------------------------------------------
#
# The note states Novikoff's theorem with :math:`B = \min\{|w| : Zw \ge 1\}` instead of the margin: there are at most
# :math:`(RB)^2` updates. This is the same statement, because :math:`B = 1/\gamma`: if the unit vector :math:`u` has the largest margin
# :math:`\gamma`, then :math:`u/\gamma` is the shortest :math:`w` with :math:`Zw \ge 1`.

# With fit_intercept="lifted" the margin is that of the lifted rows, as in the theorem.
margin = sx.MaxMargin(fit_intercept="lifted").fit(X, y)
lifted = np.column_stack([X, np.ones(len(X))])
w = np.append(margin.coef_[0], margin.intercept_[0])
scores = np.where(y == margin.classes_[1], 1, -1) * (lifted @ w)
B = np.linalg.norm(w / scores.min())
R = np.linalg.norm(lifted, axis=1).max()
model = sx.Perceptron().fit(X, y)
print(f"{model.mistakes_} mistakes; (R B)² = {(R * B) ** 2:.0f}")

# %%
# "Each update makes :math:`w` more correct on its point", because :math:`\langle w + z, z\rangle = \langle w, z\rangle + |z|^2`.
# On the other points, the score can rise or fall. The plot shows how many points are wrong after each update:

trace = sx.Perceptron(order="cyclic", trace=True).fit(X, y).result_.trace
wrong = [(signs * (lifted @ weights) <= 0).sum() for weights in trace.weights]
figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
axes.step(range(1, len(wrong) + 1), wrong, where="mid")
axes.set(xlabel="update", ylabel="points that are wrong")

# %%
# What Minsky and Papert showed
# -----------------------------
#
# The note says that in 1969 they argued that a *multilayer* perceptron cannot learn XOR. What they proved is about a *single*
# layer: no line separates XOR. Four multipliers prove it:

X4, y4 = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 0, 1, 1])
proof = sx.separability(X4, y4)
print(proof.status, {row: str(weight) for row, weight in proof.witness_rows.items()})

# %%
# Half of row 0 plus half of row 1 is the point (½, ½), and so is half of row 2 plus half of row 3. This point lies in both
# hulls, so no line separates the classes. Two lines and a rule that combines them separate the classes, so stacked
# perceptrons *can* represent XOR: see :ref:`XOR four ways <sphx_glr_applications_plot_xor_four_ways.py>`.
#
# What stacking buys
# ------------------
#
# "Stacking perceptrons?", asks the note. The answer is: every training row can be right, for any data in which no two equal points have different labels.
#
# **Theorem** (Marchand, Golea and Rujan 1990). Some list of at most :math:`n` half-spaces gives each of :math:`n` such points the class of the first half-space that contains it.
#
# **Proof.** Let :math:`p` be a longest of the points that are left. Every point :math:`x \ne p` has :math:`\langle p, x\rangle < \langle p, p\rangle`, by the
# inequality of Cauchy and Schwarz. So some half-space :math:`\langle p, x\rangle > t` contains :math:`p` and no other point. Give it the label of :math:`p`, take :math:`p`
# away, and repeat. ∎
#
# The list is a network of two layers. Hidden unit :math:`j` outputs 1 if the point is in half-space :math:`j`. The output unit adds :math:`\pm 2^{-j}` for each unit that fires,
# and the sign of the sum is that of the first one. ``PerceptronNetwork`` searches for half-spaces that contain many points of one class, and proves what it has found:

rings = sx.datasets.make_rings(150, 2, random_state=0)
figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="compressed")
for axes, (name, points, labels) in zip(
    panels, (("XOR", X4, y4), ("rings", rings.X, rings.y)), strict=True
):
    network = sx.PerceptronNetwork().fit(points, labels)
    sx.plot.DecisionRegionDisplay.from_estimator(network, points, labels, ax=axes)
    axes.set_title(f"{name}: {len(network.units_)} units, {network.errors_} errors")
    print(name, sx.verify(network.certificate_, points, labels).reason)

# %%
# The playground draws such a list unit by unit; the last step of ``separatrix play --lesson 1`` shows it on XOR.
#
# .. raw:: html
#
#     <iframe class="playground" src="../play/index.html#s=eyJ2IjoxLCJkYXRhIjp7ImNvbHVtbnMiOlsieCIsInkiXSwiY2xhc3NlcyI6WyLiiJIiLCIrIl0sInJvd3MiOltbLTEsLTFdLFstMSwxXSxbMSwtMV0sWzEsMV1dLCJsYWJlbHMiOlswLDEsMSwwXX0sInNldHRpbmdzIjp7Im1ldGhvZCI6Im5ldHdvcmsifSwibW9tZW50IjozfQ" title="The playground: a network of two perceptrons that gives every point of XOR its class" loading="lazy"></iframe>
#
# What stacking does not buy is a guarantee for new points: a list that is right on every noisy label has learned the noise.
#
# Which separator?
# ----------------
#
# **The distance of a point** :math:`x` **from the hyperplane** :math:`\{v : \langle w, v\rangle + b = 0\}` is :math:`|\langle w, x\rangle + b|/|w|`.
#
# **Proof.** Move from :math:`x` along the normal to :math:`v = x - s\,w/|w|`. This point is on the hyperplane if
# :math:`\langle w, x\rangle - s|w| + b = 0`, that is, if :math:`s = (\langle w, x\rangle + b)/|w|`. Any other point :math:`v'` of the
# hyperplane is farther from :math:`x`: the vector :math:`v - v'` is orthogonal to :math:`w`, so
# :math:`|x - v'|^2 = |x - v|^2 + |v - v'|^2`. ∎
#
# The picture shows the distance of three points, and the right triangle of the proof:

sx.plot.distance(
    [[3.0, 4.0], [-1.0, 0.5], [4.0, 1.5]], weights=[1.0, 2.0], intercept=-4.0
)

# %%
# The **margin** of a separator is the smallest distance of a row from its hyperplane. A separator with margin :math:`m` still makes no error if every
# point moves by less than :math:`m`, so the separator with the largest margin tolerates the largest moves. Among hyperplanes through the origin, its normal is
# the shortest vector in the hull of the signed rows, and the margin is the length of this vector. With a free intercept, the largest margin is
# half the distance between the hulls of the two classes.
#
# **An error in the note.** One slide says that the data are not separable if the margin of :math:`w` is negative. But this only says something about this
# :math:`w`: if :math:`w` separates the rows, the margin of :math:`-w` is negative. The data are not separable if *no* :math:`w` has a positive
# margin.
#
# The next figure compares four separators of two normal clouds: the perceptron's, those of the feasibility program and of the margin program, and the
# one with the largest margin.

generator = np.random.default_rng(3)
signs = np.repeat([1, -1], 40)
clouds = generator.standard_normal((80, 2)) + 2.5 * signs[:, None]
figure, panels = plt.subplots(2, 2, figsize=(9, 7), layout="compressed")
for axes, (name, model) in zip(
    panels.flat,
    {
        "perceptron": sx.Perceptron(order="cyclic"),
        "feasibility": sx.LinearProgram(objective="feasible"),
        "margin program": sx.LinearProgram(),
        "largest margin": sx.MaxMargin(),
    }.items(),
    strict=True,
):
    model.fit(clouds, signs)
    sx.plot.DecisionRegionDisplay.from_estimator(model, clouds, signs, ax=axes)
    distances = signs * model.decision_function(clouds) / np.linalg.norm(model.coef_)
    axes.set_title(f"{name}: margin {distances.min():.3f}")

# %%
# In more dimensions the difference grows. Over 25 pairs of such clouds with centers at distance 4 from the origin, the feasibility program kept 81 %, 20 % and 18 % of the
# largest margin (medians) in 2, 5 and 10 dimensions, and the margin program 100 %, 92 % and 84 %: see the experiment ``separators``. A closest pair of points
# planted by hand hides this, because it nearly fixes the separator.
#
# The library gives a lower and an upper bound on the largest margin. Any separator proves a lower bound. Any multipliers
# :math:`a \ge 0`, not all zero, prove the upper bound :math:`|\sum a_i z_i| / \sum a_i`, because the vector :math:`\sum a_i z_i / \sum a_i` is in the hull
# of the signed rows, and the largest margin is the length of the shortest vector there.

sx.plot.BracketDisplay.from_estimator(
    sx.Perceptron(order="cyclic", trace=True).fit(X, y), X, y
)

# %%
# Experiments and playground
# --------------------------
#
# - ``separatrix experiment separators``: how do four methods that find a separator differ, and how much perturbation does each tolerate?
# - ``separatrix experiment overfitting``: does a large margin predict better, and does it depend on the dimension?
# - ``separatrix experiment own-point``: what does an update do to its own point, and to the others?
#
# ``separatrix play --lesson 1`` opens this chapter as a lesson in the playground. (If the playground is
# already running, use `this link <http://127.0.0.1:8317/?lesson=1>`_.)
#
# Questions
# ---------
#
# - Add a point far behind its own class. Which of the four separators can change?
# - What is the smallest possible number of support vectors of the largest margin?
