r"""
4. Geometry, any start, the dual, many classes: eleven exercises
================================================================

*This chapter solves every exercise of its note, with proofs.*

.. raw:: html

    <iframe class="playground" src="../play/index.html?lesson=4" title="The playground, for this chapter" loading="lazy"></iframe>

Hulls and hyperplanes
---------------------

An *affine* combination of points has weights that sum to one. In a *convex* combination, the weights are also non-negative. All affine combinations form
the affine hull, and all convex combinations form the convex hull. A hyperplane is a set :math:`\{v : \langle a, v\rangle = b\}` with normal
:math:`a`. If :math:`|a| = 1`, the number :math:`b - \langle a, u\rangle` is a *signed* distance of :math:`u` from the hyperplane. The note calls it
the distance, but the distance is its absolute value. The library uses the opposite sign: positive on the side that the normal points to.
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
# **Theorem.** Let :math:`|u| = 1`, and let :math:`\langle u, z_i\rangle \ge \gamma > 0` and :math:`|z_i| \le R` for all rows. Let the perceptron start at
# :math:`w_0` and add :math:`\eta z_i` for each mistake, with a constant :math:`\eta > 0`. Then the number of its mistakes is at most the larger root :math:`t` of
#
# .. math:: \eta^2\gamma^2t^2 + (2\eta c_1\gamma - \eta^2R^2)\,t + c_1^2 - c_0^2 = 0, \qquad c_0 = |w_0|,\; c_1 = \langle w_0, u\rangle.
#
# **Proof.** After :math:`t` mistakes, :math:`\langle w, u\rangle \ge c_1 + t\eta\gamma` and :math:`|w|^2 \le c_0^2 + t\eta^2R^2`. If
# :math:`c_1 + t\eta\gamma \ge 0`, squaring :math:`c_1 + t\eta\gamma \le \langle w, u\rangle \le |w|` shows that the quadratic is at most zero at
# :math:`t`. It opens upward, so :math:`t` is at most its larger root. If :math:`c_1 + t\eta\gamma < 0`, then
# :math:`t < t_0 = -c_1/(\eta\gamma)`. At :math:`t_0` the quadratic is :math:`-\eta^2R^2t_0 - c_0^2 \le 0`, so :math:`t_0` is at most
# the larger root, too. (Real roots exist, because the quadratic at zero is :math:`c_1^2 - c_0^2 \le 0`.) ∎
#
# **Six errors in the note**, each with a counterexample:
#
# - The note bounds :math:`|w_t|` by :math:`\sqrt t R + c_0` with :math:`c_0 = |w_0|^2`. But the correct bound is the square root of :math:`tR^2 + c_0`, which can be
#   larger: for :math:`|w_0| = 1/2` and :math:`t = 0` it is :math:`1/2 > 1/4`. Because of this, the note needs :math:`|w_0| \ge 1` for its
#   roots to exist. The proof above needs no such condition.
# - Its loop runs while some score is :math:`< 0`, but a tie must count as a mistake (chapter 3).
# - It returns :math:`w_{t-1}`, the weights *before* the last correction. The answer is :math:`w_t`. Every run with at least one correction is
#   a counterexample, because the row that was corrected last was wrong under :math:`w_{t-1}`.
# - One of its inequalities is :math:`t \le (R/\gamma)^2`, regardless of the start. For the single row :math:`z = (1, 0)` and
#   :math:`w_0 = (-10, 0)`, this allows one update, but the perceptron makes eleven.
# - Its last line divides by :math:`\rho^2` instead of :math:`2\rho^2` when it solves the quadratic, and then drops the term :math:`-2\rho\beta`. For the same row and
#   start, with :math:`w^* = (1, 0)`, this line asserts :math:`242 \le 21`.
# - It calls :math:`\rho/|w^*|` the distance of the nearest point from the hyperplane. But the intercept is one of the
#   coordinates of :math:`w^*`, so this is the distance in the lifted space. It is smaller than the distance in the space of the points, unless the hyperplane goes
#   through the origin (exercise 3).
#
# There are also two misprints: in the definition of an affine combination, the sum of the weights runs to :math:`d` instead of :math:`n`, and
# the proof about the distance writes :math:`|r| = r^\top r` for :math:`|r|^2 = r^\top r`.

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
# Three observations
# ------------------
#
# The note makes three observations, each with an experiment. *The order of the mistakes is free:* the proof never uses it, so every order has the same bound, and the count differs
# (``order-start``). *A point can be corrected several times, and can change sides often:* an update on :math:`z` adds :math:`\langle z, z_i\rangle` to the score of row :math:`i`, which may be
# negative (``toggling``). *The separator depends on the order and on the start* (``order-start``).

trace = (
    sx.Perceptron(order="cyclic", max_iter=10_000, trace=True)
    .fit(data.X, data.y)
    .result_.trace
)
right = signs[:, None] * (lifted @ trace.weights.T) > 0
changes = (right[:, 1:] != right[:, :-1]).sum(axis=1)
print(
    f"{np.count_nonzero(changes)} of {len(changes)} points change sides, one of them {changes.max()} times"
)

# %%
# Exercise 1: implement, and measure
# ----------------------------------
#
# *How close is the answer to the known separator, how many updates are made, how does that depend on points, dimension and
# separation, and how far is it from the bound?* The experiments ``angle`` and ``updates`` of the library measure all of this with repetitions.
# The data are random points in the unit ball with a given margin from a random
# hyperplane through the origin. For such data, the answer is closer to the known separator if there are more points. The number of updates depends mostly on the
# margin. It grows with the dimension as long as the dimension is small, and hardly grows with the number of points. The bound depends only on :math:`R` and the margin.

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
# Exercise 2: from zero weights, a learning rate changes nothing
# --------------------------------------------------------------
#
# *Show that* :math:`\eta` *has no effect on the bound.* From zero weights, :math:`M\eta\gamma \le \langle w, u\rangle \le |w| \le \eta R\sqrt M`,
# and :math:`\eta` cancels. In exact arithmetic even more is true: by induction, the weights after :math:`t` updates are :math:`\eta` times the weights for
# :math:`\eta = 1`. So every score has the same sign, and both runs make the same updates. ∎ From a start other than zero, :math:`\eta` does matter: see the
# theorem above.
#
# In floating point, the runs are the same if :math:`\eta` is a power of two. Other rates are rounded. This matters most for integer data, where scores are often
# exactly zero: rounding then decides whether such a tie is a mistake.

for eta in (0.25, 1.0, 8.0):
    print(
        eta,
        sx.Perceptron(order="cyclic", eta0=eta, max_iter=10_000)
        .fit(data.X, data.y)
        .mistakes_,
    )

rng = np.random.default_rng(0)
changed, made = 0, 0
for _ in range(100):
    points, normal = rng.integers(-5, 6, (12, 2)), rng.integers(-3, 4, 2)
    sides = points @ normal + 0.5 > 0
    if sides.all() or not sides.any():
        continue
    one, tenth = (
        sx.Perceptron(order="cyclic", eta0=eta, max_iter=10_000).fit(points, sides)
        for eta in (1.0, 0.1)
    )
    made += 1
    changed += one.mistakes_ != tenth.mistakes_
print(f"integer data: a rate of 0.1 changed the count in {changed} of {made} runs")

# %%
# Exercise 3: without homogeneous coordinates
# -------------------------------------------
#
# *Redo the proof in the plain space.* Keep :math:`w` and :math:`b` separate. A mistake changes :math:`w \leftarrow w + yx` and
# :math:`b \leftarrow b + ys^2` with a constant :math:`s > 0`. This is the perceptron on the rows :math:`(x, s)`, with weights
# :math:`(w, b/s)`. A hyperplane :math:`\langle u, x\rangle + \beta = 0` with :math:`|u| = 1`, whose distance from all points is at least :math:`\gamma`,
# becomes the vector :math:`(u, \beta/s)` of length :math:`\sqrt{1 + \beta^2/s^2}`. The rows have length at most :math:`\sqrt{R^2 + s^2}`. So Novikoff's
# theorem, for a start at zero, gives the bound
#
# .. math:: \frac{(R^2 + s^2)(1 + \beta^2/s^2)}{\gamma^2}.
#
# If there are points of both classes, then :math:`|\beta| \le R`, because a hyperplane that separates points within :math:`R` of the origin intersects that ball. With :math:`s = R`, the bound is then at
# most :math:`2R^2 \cdot 2/\gamma^2 = (2R/\gamma)^2`. **The extra factor 4** is the product of two factors 2: one because the rows are longer, and one because the
# normal vector is longer. If :math:`\beta \ne 0`, the best choice is :math:`s^2 = R|\beta|`, and it gives the bound :math:`((R + |\beta|)/\gamma)^2`. ∎
#
# ``sx.Perceptron(intercept_scaling=s)`` takes these steps, and ``sx.mistake_bounds`` evaluates the bound for its :math:`s`. The experiment ``lifted`` measures which :math:`s` is best.

shifted = sx.datasets.make_separable(200, 3, margin=0.05, intercept=0.4, random_state=0)
plane = sx.MaxMargin().fit(shifted.X, shifted.y)
for s in (0.1, 0.63, 1.0, 10.0):
    own = sx.Perceptron(order="cyclic", intercept_scaling=s, max_iter=100_000)
    report = sx.mistake_bounds(
        own.fit(shifted.X, shifted.y), shifted.X, shifted.y, u=plane
    )
    allowed = report["Novikoff at u"].value
    print(f"s = {s:5}: {own.mistakes_:5} mistakes, at most {allowed:,.0f}")

# %%
# Exercise 4: an update is better for its own point
# -------------------------------------------------
#
# *Show that* :math:`w_t` *classifies the corrected point better than* :math:`w_{t-1}`. We have
# :math:`\langle w_{t-1} + z, z\rangle = \langle w_{t-1}, z\rangle + |z|^2`, so the score increases by :math:`|z|^2`, which is positive unless :math:`z = 0`. With a
# learning rate, it increases by :math:`\eta|z|^2`. The new score is not necessarily positive. ∎
#
# Exercise 5: weights of length one
# ---------------------------------
#
# *How does the analysis change if* :math:`w` *is scaled to length one after every update?* The first half of the proof fails, because
# scaling cancels part of the increase of :math:`\langle w, u\rangle`. Follow the cosine :math:`c = \langle w, u\rangle` instead. An update
# followed by scaling changes it to :math:`c' = \langle w + \eta z, u\rangle/|w + \eta z|`. Let :math:`q = \sqrt{1 + \eta^2R^2}`. As long as
# :math:`c + \eta\gamma \ge 0`,
#
# .. math:: c' \ge \frac{c + \eta\gamma}{q}, \qquad c' - c \ge \frac{\eta\gamma - c(q - 1)}{q} \ge \frac{1 + \eta\gamma - q}{q}.
#
# The first update from zero gives :math:`c = \langle z, u\rangle/|z| \ge \gamma/R > 0`. By the first inequality, :math:`c` stays positive, so the condition always holds. The increase is
# positive if :math:`1 + \eta\gamma > q`, that is, if :math:`\eta < 2\gamma/(R^2 - \gamma^2)` (for :math:`\gamma < R`). Since :math:`c \le 1`, there are then at
# most :math:`1 + (1 - \gamma/R)\,q/(1 + \eta\gamma - q)` updates. ∎ For larger :math:`\eta` the argument gives no bound, and a run
# can continue forever:

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
# (Here :math:`2\gamma/(R^2 - \gamma^2)` is 0.156.) We can prove that the second run never ends. After four updates, :math:`w = (a, b)` has
# length one, :math:`a > 0` and :math:`0.2 \le |b| \le 0.6`. We show that these conditions hold after every further update. If :math:`b > 0`, the row
# :math:`(0.05, -0.8)` is wrong, and if :math:`b < 0`, the row :math:`(0.05, 0.8)` is wrong: its score is :math:`0.05a - 0.8|b| \le 0.05 - 0.16 < 0`. The other row is correct. The update changes the sign of :math:`b`, and changes :math:`|b|` to
# :math:`s/\sqrt{(a + 0.05)^2 + s^2}` with :math:`s = 0.8 - |b|`. Here :math:`a = \sqrt{1 - b^2}` depends on :math:`s`, too. The new value increases with :math:`s` if
# :math:`s/(a + 0.05)` does, that is, if :math:`s\,a'(s) < a + 0.05`. This holds because :math:`s\,a'(s) = s|b|/a \le 0.16/0.8 = 0.2`, while :math:`a \ge 0.8`. So the new value lies
# between its values at :math:`|b| = 0.6` and :math:`|b| = 0.2`, which are 0.229 and 0.503, and hence again between 0.2 and 0.6.
#
# Exercises 6 and 7: the dual form
# --------------------------------
#
# *The dual keeps a count* :math:`a_i` *for each row, and adds one if* :math:`\sum_j a_j\langle z_j, z_i\rangle \le 0`. **It is
# correct:** Both algorithms start at zero. By induction, :math:`w = \sum_j a_jz_j` after each step, so the two conditions compare the same number with zero,
# and the two algorithms make the same step if they visit the rows in the same order. So the dual stops after at most :math:`(R/\gamma)^2` steps, with counts for which :math:`\sum_j a_jz_j`
# separates. ∎ **A new point** :math:`x` gets the sign of :math:`\sum_j a_jy_j\langle x_j, x\rangle` (with lifted points, if there is a lift),
# which is :math:`\langle w, x\rangle`. Only inner products occur, so we can replace them by any kernel.

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
# *Find constraints and an objective whose optimum is the "best"* :math:`a`. One answer is to minimize :math:`\sum_i a_i` subject to :math:`a \ge 0` and
# :math:`\sum_j a_j\langle z_j, z_i\rangle \ge 1` for all :math:`i`. The program is feasible if and only if the rows are separable. If they are, let :math:`w = \sum a_iz_i` be the
# vector with the largest margin, scaled to smallest score one; its multipliers :math:`a` are a feasible point. The optimum lies between
# :math:`1/(R\gamma)` and :math:`1/\gamma^2`. The lower bound holds because every feasible :math:`a` has :math:`1/\gamma \le |w| \le R\sum a_i`. The upper bound holds because the
# multipliers of the largest margin sum to :math:`1/\gamma^2`: only rows with score one have a nonzero multiplier, so :math:`\sum_i a_i = \sum_i a_i\langle w, z_i\rangle = |w|^2`,
# and :math:`|w| = 1/\gamma`. ∎

best = sx.LinearProgram(form="dual").fit(data.X, data.y)
print(f"{len(best.support_)} of {len(data.y)} multipliers are nonzero")
print(f"all rows are on their own side: {best.converged_}")

# %%
# Exercise 9: two discriminators
# ------------------------------
#
# *Update* :math:`w_+` *and* :math:`w_-` *directly.* A mistake on a positive :math:`x` (that is, :math:`\langle w_+, x\rangle \le \langle
# w_-, x\rangle`) changes :math:`w_+ \leftarrow w_+ + x/2` and :math:`w_- \leftarrow w_- - x/2`. On a negative :math:`x` the signs are exchanged. Then
# the difference :math:`w = w_+ - w_-` makes exactly the steps of the perceptron. If both start at zero, :math:`w_+ = -w_- = w/2` throughout: the two vectors are opposite and orthogonal to
# the separating hyperplane. A point :math:`x` belongs to the class with the larger inner product. (The note says "the hyperplane that
# is farthest". For signed distances, this is the same if all discriminators have the same length, as they do here, but not in general: if :math:`w_1` is ten times as long as
# :math:`w_2`, the first class can have the larger score and the smaller signed distance.)
#
# ``discriminators()`` returns them, with the intercept last. Each is orthogonal to the separating line and points to the side of its own class:

pair = sx.datasets.make_separable(60, margin=0.1, random_state=1)
two = sx.Perceptron(fit_intercept=False).fit(pair.X, pair.y)
minus, plus = two.discriminators()[:, :2]
print("opposite:", np.array_equal(plus, -minus))
figure, axes = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
for sign, arrow, name, color in (
    (-1, minus, "$w_-$", "C0"),
    (1, plus, "$w_+$", "C1"),
):
    axes.scatter(*pair.X[pair.y == sign].T, s=16, color=color)
    tip = 0.8 * arrow / np.linalg.norm(arrow)
    axes.annotate(
        "", tip, (0, 0), arrowprops={"arrowstyle": "-|>", "color": color, "lw": 2.5}
    )
    axes.annotate(name, 1.15 * tip, ha="center", va="center", fontsize=14)
axes.axline((0, 0), (-plus[1], plus[0]), color="black")
axes.set(aspect="equal", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))

# %%
# Exercise 10: many classes
# -------------------------
#
# *Extend it to k classes, and bound it.* Keep :math:`w_1, \ldots, w_k`. A row :math:`x` of class :math:`y` is a mistake if some
# :math:`r \ne y` has :math:`\langle w_r, x\rangle \ge \langle w_y, x\rangle`; then :math:`w_y \leftarrow w_y + x` and
# :math:`w_r \leftarrow w_r - x`.
#
# **Theorem.** Let :math:`R` be the length of the longest row :math:`x` (lifted, if there is a lift). If some :math:`W^*` with :math:`\sum_j |w^*_j|^2 = 1` has
# :math:`\langle w^*_y, x\rangle - \langle w^*_r, x\rangle \ge \gamma > 0` for every row :math:`x`, with class :math:`y`, and every other class :math:`r`, then from zero weights there are at
# most :math:`2(R/\gamma)^2` updates.
#
# **Proof.** Concatenate the discriminators to one vector :math:`W`. An update adds the vector with :math:`x` at
# position :math:`y`, :math:`-x` at position :math:`r` and zeros elsewhere. Its inner product with :math:`W^*` is at least :math:`\gamma`, its inner product
# with :math:`W` is at most zero, and its squared length is :math:`2|x|^2`. So Novikoff's proof applies with :math:`\sqrt2R` instead of :math:`R`. ∎
#
# For two classes, the theorem reduces to the bound of chapter 0: a unit vector :math:`u` with margin :math:`\gamma_2` for the signed rows gives :math:`W^* = (u, -u)/\sqrt2` with
# :math:`\gamma = \sqrt2\gamma_2`, and :math:`2(R/\gamma)^2 = (R/\gamma_2)^2`.
#
# The number of classes does not appear in the bound, but :math:`\gamma` usually becomes smaller if there are more classes. For the :math:`k` rows of the identity matrix, each in its own class,
# the largest margin is :math:`\gamma = 1/\sqrt{k - 1}`, so the bound is :math:`2(k - 1)`.
#
# What do the discriminators look like? From zero, they sum to zero, because an update adds to one what it subtracts from another. The border between two
# classes is orthogonal to the difference of their discriminators. The region of a class is convex: it is the set where
# :math:`\langle w_y - w_r, x\rangle > 0` for every other :math:`r`, an intersection of :math:`k - 1` half-spaces.
#
# The factor 2 is necessary: for the three rows of the identity matrix, one per class, the perceptron makes three mistakes, but
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
# *Measure it.* If the number of rows is fixed, more classes leave fewer rows for each hyperplane, and in the data below the error increases. The bound on the
# updates, :math:`2(R/\gamma)^2`, depends on :math:`k` only through the margin. There is also a bound on the error. Suppose that the rows are drawn independently from one distribution,
# that they are separable, and that the perceptron visits them in cyclic order until no mistake is left. Then the expected error after training on :math:`n` rows is at most the expected fraction of corrected
# rows when it is trained on :math:`n + 1` rows. To see this, leave out one row at a time: if the run never corrected a row, the run without it makes the same updates, and its result classifies that row
# correctly. The experiment ``error-classes`` measures the error with confidence intervals; here is a single run.

for k in (2, 3, 5, 10):
    sample = sx.datasets.make_multiclass(
        2200, 20, n_classes=k, margin=0.01, random_state=1
    )
    trained, tested = slice(0, 200), slice(200, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = sx.Perceptron(order="cyclic").fit(sample.X[trained], sample.y[trained])
    print(
        f"{k:2} classes: error {1 - fitted.score(sample.X[tested], sample.y[tested]):.3f}"
    )

# %%
# Experiments and playground
# --------------------------
#
# Every exercise has an experiment, and ``separatrix experiment list`` shows their names: ``updates`` and ``angle`` (exercise 1), ``learning-rate``
# (2), ``lifted`` (3), ``own-point`` (4), ``renormalised`` (5), ``difficulty`` and ``dual`` (6 to 8), ``discriminators`` (9),
# ``multiclass-bound`` (10), ``error-classes`` (11), and ``order-start`` and ``toggling`` for the theorem with any start and the observations. To get all of them on one page, use
# ``separatrix experiment all -o report``.
#
# ``separatrix play --lesson 4`` opens this chapter as a lesson in the playground. (If the playground is
# already running, use `this link <http://127.0.0.1:8317/?lesson=4>`_.)
#
# Question
# --------
#
# - The note lists three problems of the perceptron: it can take a long time, it does not end on inseparable data, and its answer is not
#   unique. Which function of this library helps with each of them?
