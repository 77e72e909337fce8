r"""
4. Geometry, any start, the dual, many classes: eleven exercises
================================================================

*A chapter that solves every exercise of its note, with proofs.*

Hulls and planes
----------------

An *affine* combination of points has weights that sum to one; a *convex* one has, besides, no negative weight. All of the first
make the affine hull, all of the second the convex hull. A hyperplane is :math:`\{v : \langle a, v\rangle = b\}`, its normal is
:math:`a`. With :math:`|a| = 1` the number :math:`b - \langle a, u\rangle` is the *signed* distance of :math:`u`: the note calls it
the distance, which is its absolute value. The library's sign is the other one: positive on the side that the normal points to.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import separatrix as sx

points = np.array([[0.0, 0.0], [3.0, 4.0]])
print(sx.geometry.distance(points, weights=np.array([3.0, 4.0]), intercept=-5.0))

# %%
# Any start
# ---------
#
# **Theorem.** Let :math:`|u| = 1`, :math:`\langle u, z_i\rangle \ge \gamma > 0`, :math:`|z_i| \le R`. The perceptron that starts at
# :math:`w_0` and adds :math:`\eta z_i` for each mistake makes at most as many as the larger root :math:`t` of
#
# .. math:: \eta^2\gamma^2t^2 + (2\eta c_1\gamma - \eta^2R^2)\,t + c_1^2 - c_0^2 = 0, \qquad c_0 = |w_0|,\; c_1 = \langle w_0, u\rangle.
#
# **Proof.** After :math:`t` mistakes :math:`\langle w, u\rangle \ge c_1 + t\eta\gamma` and :math:`|w|^2 \le c_0^2 + t\eta^2R^2`. If
# :math:`c_1 + t\eta\gamma \ge 0`, squaring :math:`\langle w, u\rangle \le |w|` says that the quadratic is at most zero at
# :math:`t`. It opens upwards, so :math:`t` is not beyond its larger root. If :math:`c_1 + t\eta\gamma < 0`, then
# :math:`t < t_0 = -c_1/(\eta\gamma)`; at :math:`t_0` the quadratic is :math:`-\eta^2R^2t_0 - c_0^2 \le 0`, so :math:`t_0` is not
# beyond the larger root either. (There are roots: at zero the quadratic is :math:`c_1^2 - c_0^2 \le 0`.) ∎
#
# **Five slips**, each with its counterexample:
#
# - The note bounds :math:`|w_t|` by :math:`\sqrt t R + c_0` with :math:`c_0 = |w_0|^2`, but the square root of :math:`tR^2 + c_0` is
#   not that: take :math:`|w_0| = 1/2` and :math:`t = 0`, where :math:`1/2 > 1/4`. From there the note needs :math:`|w_0| \ge 1` for its
#   roots to exist; the proof above needs nothing of the kind.
# - Its loop runs while a score is :math:`< 0`; a tie must count (chapter 3).
# - It returns :math:`w_{t-1}`, the weights *before* the last correction; the answer is :math:`w_t`. Every run that makes a correction is
#   a counterexample: the row corrected last was wrong under :math:`w_{t-1}`.
# - Among its inequalities stands :math:`t \le (R/\gamma)^2`, without the start: with the one row :math:`z = (1, 0)` and
#   :math:`w_0 = (-10, 0)` that allows one update, and eleven are made.
# - It calls :math:`\rho/|w^*|` the distance of the nearest point from the plane. But :math:`w^*` has the intercept among its
#   coordinates: that is the distance in the lifted space, and smaller than the one among the points themselves unless the plane goes
#   through the origin (exercise 3).

data = sx.datasets.make_separable(100, 3, margin=0.05, random_state=2)
start = np.array([-40.0, 10.0, 5.0, 0.0])
run = sx.Perceptron(order="cyclic", init=start, max_iter=10_000).fit(data.X, data.y)
print(sx.mistake_bounds(run, data.X, data.y).summary())

lifted = np.column_stack([data.X, np.ones(len(data.X))])
signs = np.where(data.y == np.unique(data.y)[1], 1, -1)
history = (
    sx.Perceptron(order="cyclic", max_iter=10_000, trace=True)
    .fit(data.X, data.y)
    .result_.trace.weights
)
for name, weights in (
    ("before the last update", history[-2]),
    ("at the end", history[-1]),
):
    print(f"{name}: {np.count_nonzero(signs * (lifted @ weights) <= 0)} rows wrong")

# %%
# Exercise 1: implement, and measure
# ----------------------------------
#
# *How close is the answer to the known separator, how many updates are made, how does that depend on points, dimension and
# separation, and how far is the bound?* The library's experiments ``angle`` and ``updates`` measure all of it, with repetitions. In
# short: the answer comes closer with more points; the updates follow the margin, grow with the dimension while that is small, and
# hardly with the number of points. The bound knows the margin only.

figure, panels = plt.subplots(1, 3, figsize=(10, 3), layout="constrained", sharey=True)
plain = {"n_rows": 300, "n_columns": 5, "margin": 0.05}
for axes, (name, values) in zip(
    panels,
    {
        "n_rows": (50, 200, 800, 3200),
        "n_columns": (2, 5, 20, 80),
        "margin": (0.02, 0.05, 0.1, 0.2),
    }.items(),
    strict=True,
):
    made, allowed = [], []
    for value in values:
        made_problem = sx.datasets.make_separable(
            **{**plain, name: value}, random_state=0
        )
        fitted = sx.Perceptron(
            order="cyclic", fit_intercept=False, max_iter=100_000
        ).fit(made_problem.X, made_problem.y)
        made.append(fitted.mistakes_)
        allowed.append((fitted.result_.radius / made_problem.margin) ** 2)
    axes.loglog(values, made, "o-", label="made")
    axes.loglog(values, allowed, "--", label="allowed")
    axes.set(xlabel=name.replace("n_", ""))
    axes.set_xticks(values, map(str, values))
    axes.minorticks_off()
panels[0].set_ylabel("updates")
panels[0].legend()

for n_rows in (50, 500, 5000):
    known = sx.datasets.make_separable(n_rows, 5, margin=0.05, random_state=0)
    found = sx.Perceptron(order="cyclic", fit_intercept=False, max_iter=100_000).fit(
        known.X, known.y
    )
    cosine = (
        found.coef_[0]
        @ known.weights
        / np.linalg.norm(found.coef_)
        / np.linalg.norm(known.weights)
    )
    print(
        f"{n_rows:5,} points: {np.degrees(np.arccos(cosine)):4.1f} degrees from the known separator"
    )

# %%
# Exercise 2: a learning rate changes nothing
# -------------------------------------------
#
# *Show that* :math:`\eta` *has no effect on the bound.* From zero, :math:`M\eta\gamma \le \langle w, u\rangle \le |w| \le \eta R\sqrt M`:
# :math:`\eta` cancels. More is true: by induction the weights after :math:`t` updates are :math:`\eta` times those with
# :math:`\eta = 1`, so every score has the same sign and the *run* is the same. ∎ (In floating point that is exact for powers of two;
# other rates round, and a score that is nearly zero may change its sign. From a start that is not zero :math:`\eta` matters: see the
# theorem above.)

for eta in (0.25, 1.0, 8.0):
    print(
        eta,
        sx.Perceptron(order="cyclic", eta0=eta, max_iter=10_000)
        .fit(data.X, data.y)
        .mistakes_,
    )

# %%
# Exercise 3: without homogeneous coordinates
# -------------------------------------------
#
# *Redo the proof in the plain space.* Keep :math:`w` and :math:`b` apart; a mistake makes :math:`w \leftarrow w + yx` and
# :math:`b \leftarrow b + ys^2` with a constant :math:`s`. That is the perceptron on :math:`(x, s)`, with weights
# :math:`(w, b/s)`. A plane :math:`\langle u, x\rangle + \beta = 0`, :math:`|u| = 1`, with distance at least :math:`\gamma` from all points,
# becomes :math:`(u, \beta/s)` of length :math:`\sqrt{1 + \beta^2/s^2}`, and the rows are at most :math:`\sqrt{R^2 + s^2}` long. Novikoff's
# theorem allows
#
# .. math:: \frac{(R^2 + s^2)(1 + \beta^2/s^2)}{\gamma^2}.
#
# With :math:`s = R` and :math:`|\beta| \le R` (a plane that separates points within :math:`R` of the origin meets that ball) this is at
# most :math:`2R^2 \cdot 2/\gamma^2 = (2R/\gamma)^2`. **The extra factor 4** is twice a factor 2: one for longer rows, one for a longer
# normal. If :math:`\beta \ne 0`, the best :math:`s`, :math:`s^2 = R|\beta|`, gives :math:`((R + |\beta|)/\gamma)^2`. ∎
#
# Exercise 4: an update is better for its own point
# -------------------------------------------------
#
# *Show that* :math:`w_t` *classifies the corrected point better than* :math:`w_{t-1}`:
# :math:`\langle w_{t-1} + z, z\rangle = \langle w_{t-1}, z\rangle + |z|^2`. The score rises by :math:`|z|^2 > 0`. It need not become
# positive. ∎
#
# Exercise 5: weights of length one
# ---------------------------------
#
# *How does the analysis change if* :math:`w` *is scaled to length one after every update?* The first half of the proof fails:
# scaling takes back part of what :math:`\langle w, u\rangle` gained. Follow the cosine :math:`c = \langle w, u\rangle` instead. An update
# and the scaling make it :math:`c' = \langle w + \eta z, u\rangle/|w + \eta z|`, and with :math:`q = \sqrt{1 + \eta^2R^2}`, as long as
# :math:`c + \eta\gamma \ge 0`,
#
# .. math:: c' \ge \frac{c + \eta\gamma}{q}, \qquad c' - c \ge \frac{\eta\gamma - c(q - 1)}{q} \ge \frac{1 + \eta\gamma - q}{q}.
#
# The first update from zero makes :math:`c = \langle z, u\rangle/|z| \ge \gamma/R`, so the condition holds from then on. The gain is
# positive if :math:`1 + \eta\gamma > q`, that is, if :math:`\eta < 2\gamma/(R^2 - \gamma^2)`. Since :math:`c \le 1`, there are then at
# most :math:`1 + (1 - \gamma/R)\,q/(1 + \eta\gamma - q)` updates. ∎ For larger :math:`\eta` the argument says nothing, and runs
# may go on for ever:

pair = np.array([[0.05, 0.8], [-0.05, 0.8]])  # signed rows (0.05, 0.8) and (0.05, -0.8)
labels = np.array([1, -1])
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for eta in (0.1, 1.0):
        scaled = sx.Perceptron(
            order="cyclic",
            fit_intercept=False,
            renormalise=True,
            eta0=eta,
            max_iter=2000,
        ).fit(pair, labels)
        print(f"rate {eta}: {scaled.mistakes_} updates, separated: {scaled.converged_}")

# %%
# (:math:`2\gamma/(R^2 - \gamma^2)` is 0.156 here.) That the second run never ends can be proved. Let :math:`w = (a, b)` have
# length one and :math:`0.2 \le |b| \le 0.6`, as it has after four updates. Then the row on the other side of the first axis is wrong,
# since :math:`0.05a - 0.8|b| \le 0.05 - 0.16 < 0`. Its update makes :math:`|b|` the number
# :math:`s/\sqrt{(a + 0.05)^2 + s^2}` with :math:`s = 0.8 - |b|`, on the other side. That number rises with :math:`s`, from 0.229 at
# :math:`|b| = 0.6` to 0.503 at :math:`|b| = 0.2`: again it is between 0.2 and 0.6.
#
# Exercises 6 and 7: the dual form
# --------------------------------
#
# *The dual keeps a count* :math:`a_i` *for each row, and adds one where* :math:`\sum_j a_j\langle z_j, z_i\rangle \le 0`. **It is
# correct:** by induction :math:`w = \sum_j a_jz_j` after each step of both, since both begin with zero, the two conditions are the same
# number, and the two steps are the same step. So it stops after at most :math:`(R/\gamma)^2` steps, with counts whose sum of rows
# separates. ∎ **A new point** :math:`x` gets the sign of :math:`\sum_j a_jy_j\langle x_j, x\rangle` (with lifted points, if there is a lift):
# that is :math:`\langle w, x\rangle`. Only inner products occur, so any kernel may stand in their place.

primal = sx.Perceptron(order="cyclic", fit_intercept=False, max_iter=10_000).fit(
    data.X, data.y
)
dual = sx.KernelPerceptron(
    sx.kernels.Linear(), fit_intercept=False, max_iter=10_000
).fit(data.X, data.y)
print("the same counts:", np.array_equal(primal.mistake_counts_, dual.mistake_counts_))

# %%
# Exercise 8: the dual as a linear program
# ----------------------------------------
#
# *Constraints and objective whose optimum is the "best"* :math:`a`: least :math:`\sum_i a_i` subject to :math:`a \ge 0` and
# :math:`\sum_j a_j\langle z_j, z_i\rangle \ge 1` for all :math:`i`. It is feasible exactly if the rows are separable: the multipliers of the
# largest margin, which satisfy :math:`w = \sum a_iz_i` with smallest score one, are a point of it. Its optimum is between
# :math:`1/(R\gamma)` and :math:`1/\gamma^2`: the lower bound because :math:`1/\gamma \le |w| \le R\sum a_i`, the upper one because those
# multipliers sum to :math:`1/\gamma^2`: only rows of score one have any, so :math:`\sum_i a_i = \sum_i a_i\langle w, z_i\rangle = |w|^2`,
# and :math:`|w| = 1/\gamma`. ∎

best = sx.LinearProgram(form="dual").fit(data.X, data.y)
print(f"{len(best.support_)} of {len(data.y)} multipliers are not zero")
print(f"all rows on their own side: {best.converged_}")

# %%
# Exercise 9: two discriminators
# ------------------------------
#
# *Update* :math:`w_+` *and* :math:`w_-` *directly.* A mistake on a positive :math:`x` (that is, :math:`\langle w_+, x\rangle \le \langle
# w_-, x\rangle`) makes :math:`w_+ \leftarrow w_+ + x/2`, :math:`w_- \leftarrow w_- - x/2`; on a negative one the signs are exchanged. Then
# :math:`w_+ - w_-` makes the perceptron's steps exactly. From zero, :math:`w_+ = -w_- = w/2` always: they are opposite, at right angles to
# the separating plane, and :math:`x` belongs to the one it has the larger inner product with. (Largest *score*, not "the hyperplane that
# is farthest": with :math:`w_1` ten times :math:`w_2`, the distances to the two planes say something else.)
#
# Exercise 10: many classes
# -------------------------
#
# *Extend it to k classes, and bound it.* Keep :math:`w_1, \ldots, w_k`. A row :math:`x` of class :math:`y` is a mistake if some
# :math:`r \ne y` has :math:`\langle w_r, x\rangle \ge \langle w_y, x\rangle`; then :math:`w_y \leftarrow w_y + x` and
# :math:`w_r \leftarrow w_r - x`.
#
# **Theorem.** If some :math:`W^*` with :math:`\sum_j |w^*_j|^2 = 1` has :math:`\langle w^*_y, x\rangle - \langle w^*_r, x\rangle \ge \gamma > 0`
# for every row and every wrong class, then from zero there are at most :math:`2(R/\gamma)^2` updates, whatever :math:`k` is.
#
# **Proof.** Write the discriminators one after the other as one vector :math:`W`. An update adds the vector with :math:`x` at
# :math:`y`, :math:`-x` at :math:`r` and zeros elsewhere: its inner product with :math:`W^*` is at least :math:`\gamma`, its inner product
# with :math:`W` is at most zero, its squared length is :math:`2|x|^2`. Novikoff's proof, with :math:`\sqrt2R` for :math:`R`. ∎
#
# What do the discriminators look like? From zero they sum to zero, since what one gains another loses. The border between two
# classes is perpendicular to the difference of their discriminators, and the region of a class is convex: it is where
# :math:`\langle w_y - w_r, x\rangle > 0` for every other :math:`r`, a part of space that :math:`k - 1` planes cut out.
#
# The factor 2 is needed: for the three rows of the identity matrix, one a class, three mistakes are made, and
# :math:`(R/\gamma)^2 = 2`.

identity = sx.Perceptron(order="cyclic", fit_intercept=False).fit(np.eye(3), [0, 1, 2])
print(identity.mistakes_, "mistakes")
classes = sx.datasets.make_multiclass(150, 2, n_classes=4, margin=0.02, random_state=2)
many = sx.Perceptron().fit(classes.X, classes.y)
sx.plot.DecisionRegionDisplay.from_estimator(many, classes.X, classes.y)
print(sx.mistake_bounds(many, classes.X, classes.y).summary())

# %%
# Exercise 11: does the error depend on k?
# ----------------------------------------
#
# *Measure it.* With a fixed number of rows, more classes leave fewer rows for each plane, and the error rises, while the bound on the
# updates, :math:`2(R/\gamma)^2`, does not know :math:`k`. For rows drawn independently, and runs in turn until no mistake is left, the
# expected error after :math:`n` rows is at most the expected share of corrected rows among :math:`n + 1` (leave one out: if the run
# never corrected a row, the run without it is the same, and classifies that row rightly). The experiment ``error-classes`` measures it with intervals; here is one look.

for k in (2, 3, 5, 10):
    sample = sx.datasets.make_multiclass(
        2200, 20, n_classes=k, margin=0.01, random_state=1
    )
    learnt, tested = slice(0, 200), slice(200, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = sx.Perceptron(order="cyclic").fit(sample.X[learnt], sample.y[learnt])
    print(
        f"{k:2} classes: error {1 - fitted.score(sample.X[tested], sample.y[tested]):.3f}"
    )

# %%
# Measure it, and show it
# -----------------------
#
# Every exercise has its experiment, named in ``separatrix experiment list``: ``updates`` and ``angle`` (exercise 1), ``learning-rate``
# (2), ``lifted`` (3), ``own-point`` (4), ``renormalised`` (5), ``difficulty`` and ``dual`` (6 to 8), ``discriminators`` (9),
# ``multiclass-bound`` (10), ``error-classes`` (11), and ``order-start`` for the theorem with any start. All of them as one page:
# ``separatrix experiment all -o report``.
#
# As a lesson of the playground, to project or to step through: ``separatrix play --lesson 4``. (If the playground is
# running, `here it is <http://127.0.0.1:8317/?lesson=4>`_.)
#
# To think about
# --------------
#
# - The note lists three problems of the perceptron: it may take long, it does not end on inseparable data, and its answer is not
#   unique. Which tool of this library answers each?
