r"""
0. The perceptron, its bound, and curved separators
===================================================

*This chapter covers the algorithm, the distance that its theorem needs, embeddings, and kernels.*

.. raw:: html

    <iframe class="playground" src="../play/index.html?lesson=0" title="The playground, for this chapter" loading="lazy"></iframe>

The algorithm
-------------

The data are rows :math:`x_1, \ldots, x_n` with labels :math:`y_i = \pm 1`. Write :math:`z_i = y_i\,(x_i, 1)`, or :math:`z_i = y_i x_i` for a model
without an intercept; :math:`z_i` is called a *signed row*. Start with :math:`w = 0`. While some signed row has
:math:`\langle w, z_i\rangle \le 0`, add it: :math:`w \leftarrow w + z_i`. Each such update is called a *mistake*.

**Theorem (Novikoff 1962).** Suppose that a unit vector :math:`u` and a number :math:`\gamma > 0` satisfy
:math:`\langle u, z_i\rangle \ge \gamma` for all :math:`i`, and that :math:`|z_i| \le R` for all :math:`i`. Then the perceptron that starts at zero
makes at most :math:`(R/\gamma)^2` mistakes, in whatever order it visits the rows.

**Proof.** Follow two numbers. An update adds :math:`\langle u, z_i\rangle \ge \gamma` to :math:`\langle w, u\rangle`, so after
:math:`M` mistakes :math:`\langle w, u\rangle \ge M\gamma`. The same update changes :math:`|w|^2` by
:math:`2\langle w, z_i\rangle + |z_i|^2 \le R^2`, because a mistake has :math:`\langle w, z_i\rangle \le 0`. So after
:math:`M` mistakes :math:`|w|^2 \le M R^2`. Together, :math:`M\gamma \le \langle w, u\rangle \le |w| \le R\sqrt M`, and hence
:math:`M \le (R/\gamma)^2`. ∎

Here is a run, with the two curves of the proof. The length of the weights stays above the straight line and below the
curve, and the two cross at :math:`(R/\gamma)^2`.
"""

import matplotlib.pyplot as plt
import numpy as np
import separatrix as sx

problem = sx.datasets.make_separable(40, margin=0.15, intercept=0.2, random_state=3)
model = sx.Perceptron(order="cyclic", trace=True).fit(problem.X, problem.y)
sx.plot.RunDisplay.from_estimator(model, problem.X, problem.y)
allowed = sx.mistake_bounds(model, problem.X, problem.y)["Novikoff"].value
print(f"{model.mistakes_} mistakes; the theorem allows {allowed:.1f}")

# %%
# An error in the lecture note: which distance?
# ---------------------------------------------
#
# In the lecture note that this chapter follows, :math:`\delta` is the smallest distance between a *point* of the positive class and a *point* of the
# negative class, and the bound is :math:`4R^2/\delta^2`. This is false. It stays false if :math:`\delta` is the distance between the convex *hulls* of
# the two classes. Half of that distance is the largest margin of a hyperplane with any intercept. But the perceptron's hyperplanes go through the
# origin: that of the space of the rows, or, with an intercept, that of the space with one more coordinate, the constant 1. (To append this
# coordinate is called the *lift*.) The largest :math:`\gamma` in the theorem is the length of the shortest vector in the convex hull of the signed rows.
#
# **Counterexample.** Take one point :math:`(1, h)` of the positive class and one point :math:`(g, -h)` of the negative class, without a
# lift. Here :math:`g = (\sqrt 5 - 1)/2` is the reciprocal of the golden ratio. The hulls are at least :math:`1 - g` apart for every :math:`h`, so
# :math:`4R^2/\delta^2` stays near 27. But the number of mistakes grows as :math:`h` shrinks. (The margins are tiny, so we switch off the rule
# that stops a run without progress: ``n_iter_no_change=None``.)

golden = (np.sqrt(5) - 1) / 2
to_the_end = {"order": "cyclic", "max_iter": 50_000, "n_iter_no_change": None}
for h in (0.01, 0.001, 0.0001):
    X, y = np.array([[1, h], [golden, -h]]), np.array([1, -1])
    run = sx.Perceptron(fit_intercept=False, **to_the_end).fit(X, y)
    apart = np.linalg.norm(X[0] - X[1])
    formula = 4 * (1 + h * h) / apart**2
    print(f"h = {h}: {run.mistakes_:6,} mistakes; 4 R²/δ² = {formula:.1f}")
    assert run.converged_

# %%
# The counts 89, 987 and 10,946 are Fibonacci numbers. The run ends when the numbers of mistakes on the two points, :math:`n` and :math:`m`, have a
# quotient :math:`n/m` that is close enough to :math:`g` (the proof below says how close). The best such fractions are quotients of two consecutive Fibonacci
# numbers, and the sum of these two is the next one. The largest margin
# of a line through the origin is :math:`h`, and :math:`(R/\gamma)^2` is :math:`1 + 1/h^2`, so the theorem holds.
#
# A lift does not help. Take two numbers far from the origin, :math:`1/h` of the positive class and :math:`g/h` of the negative class, and lift them to
# :math:`(x, 1)`. They are far apart, but the number of mistakes grows again:

for h in (0.01, 0.001, 0.0001):
    numbers = np.array([[1 / h], [golden / h]])
    run = sx.Perceptron(**to_the_end).fit(numbers, y)
    formula = 4 * (1 + 1 / h**2) / ((1 - golden) / h) ** 2
    print(f"h = {h}: {run.mistakes_:6,} mistakes; 4 R²/δ² = {formula:.1f}")
    assert run.converged_

# %%
# In both cases, the formula stays bounded. But a run that ends with a separator makes :math:`M > g/h` mistakes, and this grows without
# bound as :math:`h` shrinks.
#
# **Proof.** The final weights are the sum of :math:`n` times the first signed row and :math:`m` times the second, with
# :math:`M = n + m`. Let :math:`e = n - g m`.
#
# For the two points, :math:`w = (e, hM)`. Its scores :math:`e + h^2M` and :math:`-g e + h^2M` are positive only if
# :math:`|e| < h^2M/g`.
#
# For the two numbers, :math:`w = (e/h, n - m)`, with scores :math:`e/h^2 + n - m` and :math:`-g e/h^2 - n + m`. Suppose that
# :math:`e \le 0`. Then the first score is positive only if :math:`n > m`, but :math:`n > m` implies :math:`e > 0`, a contradiction. So
# :math:`e > 0`, and the second score gives :math:`e < h^2(m - n)/g \le h^2M/g`, the same bound as before.
#
# On the other hand, :math:`(n - g m)(n + m/g) = n^2 + nm - m^2` is a nonzero integer, so
# :math:`|e| \ge 1/(n + m/g) \ge g/M`. Together, :math:`g/M < h^2M/g`, that is, :math:`M > g/h`. ∎
#
# Curved separators are hyperplanes in another space
# --------------------------------------------------
#
# A line cannot separate a disk in the plane from the points around it. But :math:`\phi(x) = (x_1, x_2, x_1^2 + x_2^2)` maps the plane onto a bowl, and
# in three dimensions a plane separates them: the points of a disk of radius :math:`r` around the origin lie below the height :math:`r^2`, and the others above.

rings = sx.datasets.make_rings(120, 2, random_state=0)
flat = sx.separability(rings.X, rings.y)
lift = sx.features.RadialLift()
lifted = sx.separability(lift.fit_transform(rings.X), rings.y)
print(f"in the plane: {flat.status}; on the bowl: {lifted.status}")

figure = plt.figure(figsize=(5, 4))
axes = figure.add_subplot(projection="3d")
bowl = lift.transform(rings.X)
for label, marker in zip(np.unique(rings.y), "os", strict=True):
    axes.scatter(*bowl[rings.y == label].T, marker=marker, label=f"class {label}")
axes.set(xlabel="$x_1$", ylabel="$x_2$", zlabel="$x_1^2 + x_2^2$")
axes.legend()

# %%
# In general, take all monomials up to a degree :math:`d` as coordinates. A separating hyperplane in these coordinates is the zero set of a polynomial in the
# original ones. In :math:`n` variables there are :math:`N(n, d) = \binom{n+d}{d}` monomials, because a monomial of degree at most
# :math:`d` is a choice of :math:`d` factors, with repetition, from the :math:`n` variables and the number one.

for n, d in ((2, 3), (3, 2), (10, 4)):
    columns = (
        sx.features.Monomials(degree=d).fit(np.zeros((1, n))).get_feature_names_out()
    )
    print(f"{n} variables, degree {d}: {len(columns)} monomials")

# %%
# If no point has two labels, there is a smallest degree that separates the data. The library proves each step:

X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 0, 1, 1])
print(sx.smallest_separating_degree(X, y, max_degree=3))

# %%
# The kernel trick
# ----------------
#
# Now the signed rows are :math:`z_i = y_i\,\phi(x_i)`. If the run starts at zero, the weights are a sum of signed rows: :math:`w = \sum_i a_i z_i`,
# where :math:`a_i` counts the mistakes on row :math:`i`. So a score is :math:`\langle w, z_j\rangle = y_j \sum_i a_i y_i K(x_i, x_j)` with
# :math:`K(x, x') = \langle\phi(x), \phi(x')\rangle`, and :math:`\phi` itself is never computed. For
# :math:`\phi(x) = (1, x, \ldots, x^d)` on the real line, :math:`K` is the geometric sum
# :math:`1 + xx' + \cdots + (xx')^d = (1 - (xx')^{d+1})/(1 - xx')`. If :math:`xx' = 1`, the fraction is undefined and the
# sum is :math:`d + 1`.

print(sx.kernels.Geometric(degree=4)(np.array([[1.0]]), np.array([[1.0], [0.5]])))

# %%
# **Two more errors in the note.** First, its version with an embedding corrects a row only if the score is :math:`< 0`. At :math:`w = 0` all scores are
# zero, so it stops immediately without learning anything. *A tie is a mistake*; chapter 3 shows what happens otherwise. Second, its last
# algorithm confuses two indices. If :math:`\alpha_i` is the signed count of row :math:`i`, the score of row :math:`j` is the sum of
# :math:`\alpha_i K(x_i, x_j)` over :math:`i`, not of :math:`\alpha_j K(x_j, x_i)`.
#
# **Counterexample.** If all values of :math:`K` are positive, the wrong score of row :math:`j` has the sign of :math:`\alpha_j`. So
# it is zero before the first correction of the row, which makes it a mistake, and has the sign of the label afterwards. Each row is corrected once, and
# then the algorithm stops, whether or not the rows are classified correctly.

gram = sx.kernels.Gaussian(c=1.0)(rings.X)
labels = np.where(rings.y == np.unique(rings.y)[1], 1, -1)


def kernel_perceptron(score):
    """Return the signed counts; a mistake is a row whose score does not have its sign."""
    alpha = np.zeros(len(labels))
    while True:
        before = alpha.copy()
        for j, label in enumerate(labels):
            if label * score(alpha, j) <= 0:
                alpha[j] += label
        if np.array_equal(alpha, before):
            return alpha


rules = {
    "correct": lambda alpha, j: alpha @ gram[:, j],
    "indices confused": lambda alpha, j: alpha[j] * gram[:, j].sum(),
}
for name, score in rules.items():
    alpha = kernel_perceptron(score)
    wrong = np.count_nonzero(labels * (gram @ alpha) <= 0)
    print(f"{name}: {abs(alpha).sum():.0f} updates, {wrong} rows wrong at the end")

# %%
# The library's kernel perceptron makes the same updates on the same rows. (By default, it also has an intercept, which the algorithm
# above does not have; the number of updates would then be different.)

kernel = sx.kernels.Gaussian(c=1.0)
model = sx.KernelPerceptron(kernel=kernel, fit_intercept=False).fit(rings.X, rings.y)
sx.plot.DecisionRegionDisplay.from_estimator(model, rings.X, rings.y)
used = np.count_nonzero(model.mistake_counts_)
print(f"{model.mistakes_} mistakes on {used} of {len(rings.y)} rows")
print(f"separated: {model.converged_}")

# %%
# Experiments and playground
# --------------------------
#
# These experiments test the claims of this chapter on many random data sets, and compare the results with the theorem:
#
# - ``separatrix experiment hulls``: which distance is the margin?
# - ``separatrix experiment degree``: which degree separates?
#
# ``separatrix play --lesson 0`` opens this chapter as a lesson in the playground. (If the playground is
# already running, use `this link <http://127.0.0.1:8317/?lesson=0>`_.)
#
# Questions
# ---------
#
# - Multiply all points by 10, without a lift. What happens to the number of mistakes, to :math:`R`, and to :math:`\gamma`?
# - Which embedding separates two identical points with different labels?
