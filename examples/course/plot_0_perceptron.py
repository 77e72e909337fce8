r"""
0. The perceptron, its bound, and curved separators
===================================================

*A chapter on the algorithm, on which distance its theorem needs, on embeddings, and on kernels.*

The algorithm
-------------

Given signed rows :math:`z_1, \ldots, z_n`, start with :math:`w = 0`. While some row has
:math:`\langle w, z_i\rangle \le 0`, add it: :math:`w \leftarrow w + z_i`. Each such update is a *mistake*.

**Theorem (Novikoff 1962).** Suppose a unit vector :math:`u` and a number :math:`\gamma > 0` have
:math:`\langle u, z_i\rangle \ge \gamma` for all :math:`i`, and :math:`|z_i| \le R`. Then the perceptron that starts at zero
makes at most :math:`(R/\gamma)^2` mistakes, in whatever order it meets them.

**Proof.** Watch two numbers. An update adds :math:`\langle u, z_i\rangle \ge \gamma` to :math:`\langle w, u\rangle`: after
:math:`M` mistakes :math:`\langle w, u\rangle \ge M\gamma`. And it changes :math:`|w|^2` by
:math:`2\langle w, z_i\rangle + |z_i|^2 \le R^2`, because a mistake has :math:`\langle w, z_i\rangle \le 0`: after
:math:`M` mistakes :math:`|w|^2 \le M R^2`. Together :math:`M\gamma \le \langle w, u\rangle \le |w| \le R\sqrt M`. ∎

Here is a run, with the two curves of the proof. The weights cannot be shorter than the line below, nor longer than the
curve above, and the two cross at :math:`(R/\gamma)^2`.
"""

import matplotlib.pyplot as plt
import numpy as np
import separatrix as sx

problem = sx.datasets.make_separable(40, margin=0.15, intercept=0.2, random_state=3)
model = sx.Perceptron(order="cyclic", trace=True).fit(problem.X, problem.y)
sx.plot.RunDisplay.from_estimator(model, problem.X, problem.y)
allowed = sx.mistake_bounds(model, problem.X, problem.y)["Novikoff"].value
print(f"{model.mistakes_} mistakes, allowed: {allowed:.1f}")

# %%
# The slip: which distance?
# -------------------------
#
# The note takes for :math:`\delta` the smallest distance between a good and a bad *point*, and states the bound
# :math:`4R^2/\delta^2`. That is false. Nor does the distance between the *hulls* of the two classes mend it: that is twice
# the margin of the best plane *anywhere*, while the perceptron's planes go through the origin of the space it runs in.
# What the theorem needs is :math:`\gamma`, the length of the shortest point in the hull of the signed rows.
#
# **Counterexample.** One good point :math:`(1, h)`, one bad point :math:`(\varphi, -h)` with
# :math:`\varphi = (\sqrt 5 - 1)/2`, no lift. The hulls stay at least :math:`1 - \varphi` apart, so
# :math:`4R^2/\delta^2` stays near 27. The mistakes do not stay.

golden = (np.sqrt(5) - 1) / 2
for h in (0.01, 0.001, 0.0001):
    X, y = np.array([[1, h], [golden, -h]]), np.array([1, -1])
    run = sx.Perceptron(order="cyclic", fit_intercept=False, max_iter=50_000).fit(X, y)
    apart = np.linalg.norm(X[0] - X[1])
    formula = 4 * (1 + h * h) / apart**2
    print(f"h = {h}: {run.mistakes_:6,} mistakes; 4 R²/δ² = {formula:.1f}")

# %%
# The counts are Fibonacci numbers: the run tries to write the golden ratio as a fraction. The largest margin
# through the origin is :math:`h`, and :math:`(R/\gamma)^2` is :math:`1 + 1/h^2`: the theorem holds.
#
# A lift does not mend it. Take two numbers far from the origin, good :math:`1/h` and bad :math:`\varphi/h`, and lift them to
# :math:`(x, 1)`. They lie far apart, and yet:

for h in (0.01, 0.001, 0.0001):
    numbers = np.array([[1 / h], [golden / h]])
    run = sx.Perceptron(order="cyclic", max_iter=50_000).fit(numbers, y)
    formula = 4 * (1 + 1 / h**2) / ((1 - golden) / h) ** 2
    print(f"h = {h}: {run.mistakes_:6,} mistakes; 4 R²/δ² = {formula:.1f}")

# %%
# The formula stays where it was, and the mistakes grow without end, in both cases. **Proof.** Say that weights which separate are
# the sum of :math:`n` times the first signed row and :math:`m` times the second, :math:`M = n + m`, and let
# :math:`e = n - \varphi m`. For the two points :math:`w = (e, hM)`, and its scores :math:`e + h^2M` and
# :math:`-\varphi e + h^2M` are positive only if :math:`|e| < h^2M/\varphi`. For the two numbers :math:`w = (e/h, n - m)`, with
# scores :math:`e/h^2 + n - m` and :math:`-\varphi e/h^2 - n + m`; here :math:`e > 0`, since otherwise the first would
# need :math:`n > m`, and then :math:`e > 0` after all; so the second gives the same :math:`|e| < h^2M/\varphi`. But
# :math:`(n - \varphi m)(n + m/\varphi) = n^2 + nm - m^2` is a whole number other than zero, so
# :math:`|e| \ge 1/(n + m/\varphi) \ge \varphi/M`. Together :math:`M > \varphi/h`. ∎
#
# Curves are planes elsewhere
# ---------------------------
#
# A disc in the plane is not cut out by a line. But :math:`\phi(x) = (x_1, x_2, x_1^2 + x_2^2)` lifts it onto a bowl, and
# there a plane does it: good points lie below the height :math:`r^2`, bad ones above.

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
# In general one takes all monomials up to a degree :math:`d`. A separating plane among them is a polynomial. In
# :math:`n` variables there are :math:`N(n, d) = \binom{n+d}{d}` of them: a monomial of degree at most :math:`d` is a choice
# of :math:`d` things, with repetition, among :math:`n` variables and the number one.

for n, d in ((2, 3), (3, 2), (10, 4)):
    columns = (
        sx.features.Monomials(degree=d).fit(np.zeros((1, n))).get_feature_names_out()
    )
    print(f"{n} variables, degree {d}: {len(columns)} monomials")

# %%
# For each data set there is a smallest degree that separates, if no point has two labels; the library proves each step:

X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 0, 1, 1])
print(sx.smallest_separating_degree(X, y, max_degree=3))

# %%
# The kernel trick
# ----------------
#
# The weights are a sum of rows: :math:`w = \sum_i a_i z_i`, where :math:`a_i` counts the mistakes on row :math:`i`. So a
# score is :math:`\langle w, z_j\rangle = y_j \sum_i a_i y_i K(x_i, x_j)` with
# :math:`K(x, x') = \langle\phi(x), \phi(x')\rangle`, and nobody has to write :math:`\phi` down. For
# :math:`\phi(x) = (1, x, \ldots, x^d)` on the line, :math:`K` is the geometric sum
# :math:`1 + xx' + \cdots + (xx')^d = (1 - (xx')^{d+1})/(1 - xx')`, and where :math:`xx' = 1`, where that fraction says
# nothing, it is :math:`d + 1`.

print(sx.kernels.Geometric(degree=4)(np.array([[1.0]]), np.array([[1.0], [0.5]])))

# %%
# **Two more slips.** The note's version with an embedding corrects only where the score is :math:`< 0`. From :math:`w = 0` all scores are
# zero, so it stops at once and has learnt nothing. *A tie is a mistake*; chapter 3 shows what happens otherwise. And in its last
# algorithm the indices are crossed: with :math:`\alpha_i` the signed count of row :math:`i`, the score of row :math:`j` sums
# :math:`\alpha_i K(x_i, x_j)` over :math:`i`, not :math:`\alpha_j K(x_j, x_i)`.
#
# **Counterexample.** Where the values of :math:`K` are positive, the crossed score has the sign of :math:`\alpha_j` alone. So
# each row is corrected once, and the algorithm stops, whether the rows are right or not.

gram = sx.kernels.Gaussian(c=1.0)(rings.X)
labels = np.where(rings.y == np.unique(rings.y)[1], 1, -1)


def kernel_perceptron(score):
    """Signed counts, where a mistake is a row whose score does not have its sign."""
    alpha = np.zeros(len(labels))
    while True:
        before = alpha.copy()
        for j, label in enumerate(labels):
            if label * score(alpha, j) <= 0:
                alpha[j] += label
        if np.array_equal(alpha, before):
            return alpha


rules = {
    "right": lambda alpha, j: alpha @ gram[:, j],
    "crossed": lambda alpha, j: alpha[j] * gram[:, j].sum(),
}
for name, score in rules.items():
    alpha = kernel_perceptron(score)
    wrong = np.count_nonzero(labels * (gram @ alpha) <= 0)
    print(f"{name}: {abs(alpha).sum():.0f} updates, {wrong} rows wrong at the end")

# %%
# The library's kernel perceptron on the same rows:

model = sx.KernelPerceptron(kernel=sx.kernels.Gaussian(c=1.0)).fit(rings.X, rings.y)
sx.plot.DecisionRegionDisplay.from_estimator(model, rings.X, rings.y)
used = np.count_nonzero(model.mistake_counts_)
print(f"{model.mistakes_} mistakes on {used} of {len(rings.y)} rows")
print(f"separated: {model.converged_}")

# %%
# Measure it, and show it
# -----------------------
#
# These experiments repeat what was claimed, many times, with seeds, and hold it against the theorem:
#
# - ``separatrix experiment hulls``: which distance bounds the updates?
# - ``separatrix experiment degree``: which degree separates?
# - ``separatrix experiment monomials``: how wide does the embedding become?
# - ``separatrix experiment kernel-time``: when does the kernel pay?
#
# As a lesson of the playground, to project or to step through: ``separatrix play --lesson 0``. (If the playground is
# running, `here it is <http://127.0.0.1:8317/?lesson=0>`_.)
#
# To think about
# --------------
#
# - Multiply all points by 10. What happens to the mistakes, to :math:`R`, to :math:`\gamma`?
# - Two identical points with different labels: which embedding separates them?
