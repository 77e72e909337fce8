r"""
2. Online learning, inseparable data, and legal kernels
=======================================================

*This chapter proves mistake bounds of four learners for arbitrary sequences of rows, and shows which functions are kernels.*

.. raw:: html

    <iframe class="playground" src="../play/index.html?lesson=2" title="The playground, for this chapter" loading="lazy"></iframe>

The smallest example
--------------------

Take a positive point :math:`(1, 0)` and a negative point :math:`(0, 1)`, without a lift. At :math:`w = (0, 0)`, the first point is
a mistake, because a tie counts as one, and :math:`w` becomes :math:`(1, 0)`. The second point now has score zero, which is a mistake, and :math:`w`
becomes :math:`(1, -1)`. Now both points are correct.
"""

import matplotlib.pyplot as plt
import numpy as np
import separatrix as sx

X, y = np.array([[1, 0], [0, 1]]), np.array([1, -1])
model = sx.Perceptron(order="cyclic", fit_intercept=False, trace=True).fit(X, y)
print(model.result_.trace.weights)
print(sx.mistake_bounds(model, X, y).summary())

# %%
# The run made two mistakes, and the bound is two. In general, the bound is tight for :math:`k` orthonormal signed rows: then :math:`R = 1` and
# :math:`\gamma = 1/\sqrt k`, so the bound is :math:`k`, and the run makes :math:`k` mistakes.
#
# The theorem with :math:`w^*`
# ----------------------------
#
# The note uses a vector :math:`w^*` with :math:`\langle w^*, z_i\rangle \ge 1` for all rows instead of the margin. There are at most
# :math:`R^2|w^*|^2` updates from zero. For :math:`w^* = u/\gamma` this is :math:`(R/\gamma)^2`. (One slide has :math:`M \le R^2|w|^2`, but
# means :math:`w^*`.) The proof considers only the mistakes, so the bound holds for any sequence of
# rows: each row may occur once or many times, and the order may be random or chosen by an adversary.
#
# If no hyperplane is perfect
# ---------------------------
#
# The *hinge loss* of :math:`w^*` on a signed row is :math:`\max(0, 1 - \langle w^*, z\rangle)`.
#
# **Theorem.** For a start at zero and every :math:`w^*`, the number of mistakes :math:`M` is at most :math:`R^2|w^*|^2 + 2L`, where :math:`L` is
# the sum of the hinge losses of :math:`w^*` over the rounds in which the perceptron made a mistake.
#
# **Proof.** Each mistake adds :math:`\langle w^*, z\rangle \ge 1 - \text{loss}` to :math:`\langle w, w^*\rangle`, so
# :math:`M - L \le \langle w, w^*\rangle \le |w||w^*| \le R\sqrt M\,|w^*|`. If :math:`M > L`, squaring gives
# :math:`M^2 - 2ML + L^2 \le M R^2|w^*|^2`; divide by :math:`M` and drop :math:`L^2/M`. If :math:`M \le L`, the claim holds
# because :math:`L \le 2L`. ∎
#
# It is sharper to solve the quadratic inequality in :math:`\sqrt M` than to drop a term. This gives
# :math:`M \le (A/2 + \sqrt{A^2/4 + L})^2` with :math:`A = R|w^*|`.
#
# **An error in the note: a missing square.** Several slides state the bound :math:`R^2|w^*| + 2L`. This is false. For the two orthonormal rows above,
# :math:`w^* = (1, -1)` has no loss and :math:`R = 1`, so this formula gives :math:`|w^*| = 1.41`, but the run makes 2 mistakes.
#
# The sum :math:`L` runs over all mistakes of the *whole run*. It is also wrong to use the losses of a single pass for a run with several passes.

noisy = sx.datasets.make_overlapping(400, 5, noise=0.05, random_state=0)
stream = sx.Perceptron(order="cyclic")
made = []
for start in range(0, 400, 10):
    rows = slice(start, start + 10)
    stream.partial_fit(noisy.X[rows], noisy.y[rows], classes=np.unique(noisy.y))
    made.append(stream.mistakes_)
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(range(10, 401, 10), made)
axes.set(
    xlabel="rows seen",
    ylabel="mistakes so far",
    title="A stream with 5 % wrong labels",
)

# %%
# Which :math:`w^*` gives the best bound? The expression :math:`R^2|w^*|^2 + 2L` equals :math:`2R^2(|w^*|^2/2 + L/R^2)`. If :math:`L` were the loss on a fixed set of rows,
# this would be, up to a factor, the objective of a soft-margin support vector machine with :math:`C = 1/R^2`. For a run that is finished, the
# rounds with a mistake are such a fixed set, so finding the best bound means training an SVM. ``mistake_bounds`` does this.

# With one pass, every row is visited once, as in a stream. We ignore the warning that the run did not separate the classes.
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    once = sx.Perceptron(order="cyclic", max_iter=1).fit(noisy.X, noisy.y)
print(sx.mistake_bounds(once, noisy.X, noisy.y).summary())

# %%
# Three more learners
# -------------------
#
# The perceptron has relatives whose bounds have the same kind of proof: a quantity moves in one direction with every mistake, and cannot move far.
# In this section, :math:`u` is a vector with :math:`\langle u, z\rangle \ge \gamma > 0` for all rows, :math:`R` is the length of the longest row, and :math:`w` starts at zero.
#
# **A margin.** The *perceptron with margin* :math:`b \ge 0` adds :math:`z` to :math:`w` whenever :math:`\langle w, z\rangle \le b`, so that it also corrects rows that are right by a small amount only.
#
# **Theorem.** If :math:`|u| = 1`, there are at most :math:`(R^2 + 2b)/\gamma^2` updates. If the run ends because every score is above :math:`b`, the margin of :math:`w` is
# at least :math:`\gamma b/(R^2 + 2b)`.
#
# **Proof.** An update adds at least :math:`\gamma` to :math:`\langle w, u\rangle`, and at most :math:`R^2 + 2b` to :math:`|w|^2`, because
# :math:`|w + z|^2 = |w|^2 + 2\langle w, z\rangle + |z|^2`. After :math:`M` updates, :math:`M\gamma \le |w| \le \sqrt{M(R^2 + 2b)}`, which gives the first claim.
# With it, :math:`|w| \le (R^2 + 2b)/\gamma`. At the end, the distance of every row is more than :math:`b/|w| \ge \gamma b/(R^2 + 2b)`. ∎
#
# As :math:`b` grows, this tends to half of the best margin. The run below reaches more:

balls = sx.datasets.make_separable(200, 5, margin=0.05, random_state=0)
largest = sx.MaxMargin(fit_intercept=False).fit(balls.X, balls.y).margin_upper_
limits, reached = [0.01, 0.1, 1.0, 10.0], []
for b in limits:
    wide = sx.Perceptron(order="cyclic", margin=b, fit_intercept=False, max_iter=10_000)
    w = wide.fit(balls.X, balls.y).coef_[0]
    margin = (balls.y * (balls.X @ w)).min() / np.linalg.norm(w)
    reached.append(margin / largest)
    print(f"b = {b}: {wide.mistakes_} updates, {reached[-1]:.0%} of the best margin")

# %%
# **As far as necessary.** A perceptron's step does not depend on how wrong the row is. The *passive-aggressive* learner (Crammer et al. 2006) looks at the hinge loss
# :math:`\ell = \max(0, 1 - \langle w, z\rangle)`. It does nothing if the loss is zero. Otherwise, it moves :math:`w` to the nearest point where the loss is zero,
# :math:`w + \tau z` with :math:`\tau = \ell/|z|^2`. The variant PA-I limits the step by a constant, :math:`\tau = \min(C, \ell/|z|^2)`, because labels may be wrong.
#
# **Theorem.** Let :math:`v` be any vector, and :math:`L` the sum of its hinge losses over all rounds. PA-I makes at most :math:`\max(R^2, 1/C)\,(|v|^2 + 2CL)` mistakes. If :math:`L = 0`,
# the learner without the limit has :math:`\sum \ell^2 \le R^2|v|^2`, where the sum is over all rounds.
#
# **Proof.** The squared distance from :math:`v` falls. If :math:`\ell^*` is the loss of :math:`v` in the round, then :math:`\langle v, z\rangle \ge 1 - \ell^*`, so a step with :math:`\ell > 0`
# makes :math:`|w - v|^2` smaller by
# :math:`2\tau(\langle v, z\rangle - \langle w, z\rangle) - \tau^2|z|^2 \ge 2\tau(\ell - \ell^*) - \tau^2|z|^2`. Without the limit and with
# :math:`\ell^* = 0`, this is :math:`\ell^2/|z|^2 \ge \ell^2/R^2`. With the limit, :math:`\tau|z|^2 \le \ell` and :math:`\tau \le C`, so it is at least
# :math:`\tau\ell - 2C\ell^*`. In a mistake :math:`\ell \ge 1`, hence :math:`\tau\ell = \min(C\ell, \ell^2/|z|^2) \ge \min(C, 1/R^2)`. The squared distance is :math:`|v|^2` at the start and never negative;
# summing over all rounds gives both claims. ∎
#
# With :math:`v = u/\gamma` and :math:`|u| = 1`, the second claim is the perceptron's bound :math:`(R/\gamma)^2`, because each mistake
# has a loss of at least one:

aggressive = sx.PassiveAggressive(variant="PA", order="cyclic", fit_intercept=False)
print(sx.mistake_bounds(aggressive.fit(balls.X, balls.y), balls.X, balls.y).summary())

# %%
# **Factors instead of sums.** If only a few of many columns matter, it can be better to multiply. Balanced *Winnow* (after Littlestone 1988) writes every row twice, :math:`\tilde z = (z, -z)`, and keeps
# weights :math:`p_j > 0` of sum one for these :math:`2d` columns, at first all equal. If :math:`\langle p, \tilde z\rangle \le 0`, it multiplies each :math:`p_j` by :math:`e^{\eta\tilde z_j}` and
# divides by the new sum.
#
# **Theorem.** Let :math:`\sum_j |u_j| = 1`, and let no value of a row be larger than :math:`R_\infty` in absolute value. With the rate :math:`\eta = \gamma/R_\infty^2`, Winnow makes at most
# :math:`2\ln(2d)\,(R_\infty/\gamma)^2` mistakes.
#
# **Proof.** Let :math:`q` have the positive parts of :math:`u` and then those of :math:`-u`: its sum is one, and :math:`\langle q, \tilde z\rangle = \langle u, z\rangle \ge \gamma`. The relative entropy
# :math:`\sum_j q_j\ln(q_j/p_j)` is never negative, and at most :math:`\ln(2d)` at the start. A mistake makes it smaller by
# :math:`\eta\langle q, \tilde z\rangle - \ln N \ge \eta\gamma - \ln N` with :math:`N = \sum_j p_j e^{\eta\tilde z_j}`. The exponential function is convex, so for :math:`|t| \le R_\infty`
# it is below its chord: :math:`e^{\eta t} \le \cosh(\eta R_\infty) + (t/R_\infty)\sinh(\eta R_\infty)`. The mean of :math:`t = \tilde z_j` with weights :math:`p_j` is at most zero,
# hence :math:`N \le \cosh(\eta R_\infty) \le e^{\eta^2R_\infty^2/2}` (compare the power series). So each mistake takes away at least :math:`\eta\gamma - \eta^2R_\infty^2/2`, which is
# :math:`\gamma^2/(2R_\infty^2)` for this rate. ∎
#
# For rows of :math:`d` random signs, labeled by the majority of three columns, the perceptron's bound is :math:`3d`, and Winnow's is :math:`18\ln(2d)`:

columns, added, multiplied = [25, 50, 100, 200, 400], [], []
for d in columns:
    signs = np.random.default_rng(d).choice([-1.0, 1.0], size=(10 * d, d))
    majority = np.sign(signs[:, :3].sum(axis=1))
    usual = {"order": "cyclic", "fit_intercept": False, "max_iter": 1000}
    added.append(sx.Perceptron(**usual).fit(signs, majority).mistakes_)
    multiplied.append(sx.Winnow(eta0=1 / 3, **usual).fit(signs, majority).mistakes_)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.semilogx(limits, reached, "o-")
left.set(xlabel="$b$", ylabel="share of the best margin", ylim=(0, 1.05))
left.set_title("A perceptron with margin $b$")
right.plot(columns, added, "o-", label="perceptron")
right.plot(columns, multiplied, "s--", label="Winnow")
right.plot(columns, 18 * np.log(2 * np.array(columns)), ":", label=r"$18\,\ln(2d)$")
right.set(xlabel="columns $d$", ylabel="mistakes", title="Three columns matter")
right.legend()

# %%
# Winnow has to know the margin for its rate, and the norms in its bound favor it only if few columns matter. The experiments ``bounds`` and ``winnow`` compare the four learners
# on more data, also where Winnow loses.
#
# Which functions are kernels?
# ----------------------------
#
# A *kernel* is a function :math:`K(x, x') = \langle\phi(x), \phi(x')\rangle` for some :math:`\phi` into a space with an inner
# product. If :math:`K_1` and :math:`K_2` are kernels, so are the following:
#
# - :math:`cK_1` for :math:`c \ge 0`: take :math:`\sqrt c\,\phi_1`.
# - :math:`f(x)f(x')K_1`: take :math:`f(x)\phi_1(x)`.
# - :math:`K_1 + K_2`: concatenate :math:`\phi_1` and :math:`\phi_2`.
# - :math:`K_1 K_2`: take all products :math:`\phi_1(x)_i\,\phi_2(x)_j`; then
#   :math:`\sum_{ij} \phi_1(x)_i\phi_2(x)_j\phi_1(x')_i\phi_2(x')_j = K_1K_2`.
# - A constant :math:`c \ge 0`: take :math:`\phi = \sqrt c`. Together with the previous rules, every polynomial of a kernel with coefficients
#   :math:`\ge 0` is a kernel.
# - A pointwise limit of kernels: each kernel satisfies :math:`\sum_{ij} v_iv_jK(x_i, x_j) \ge 0` for all points and all :math:`v`, and the inequality also holds in the limit. A
#   symmetric function with this property is a kernel (Moore and Aronszajn).
#
# Three examples follow from these rules. First, :math:`(c + \langle x, x'\rangle)^k` with :math:`c \ge 0` and an integer :math:`k \ge 1` is a kernel, because it is a power of a sum.
# Second, :math:`e^{K}` is a kernel if :math:`K` is one, because it is the limit of polynomials with coefficients :math:`1/j!`. Third, the Gaussian kernel with :math:`c \ge 0` is
# :math:`e^{-c|x-x'|^2} = f(x)f(x')\,e^{2c\langle x, x'\rangle}` with :math:`f(x) = e^{-c|x|^2}`. The note does not state the condition
# :math:`c \ge 0`, but it is necessary: for :math:`c < 0` and two different points, the Gram matrix has ones on its diagonal and a number
# above one off the diagonal, so :math:`v = (1, -1)` gives :math:`v^\top K v < 0`.
#
# The library combines kernels only by these rules, so every kernel that you build in this way is legal:

quadratic = sx.kernels.Polynomial(degree=2)
mixed = 0.5 * quadratic * sx.kernels.Linear() + sx.kernels.Gaussian(c=2.0)
points = np.random.default_rng(0).normal(size=(30, 2))
print(mixed)
smallest = np.linalg.eigvalsh(mixed(points, points)).min()
print(f"smallest eigenvalue of its Gram matrix: {smallest:.1e}")

# %%
# If a function is *not* a kernel, there is a proof of that as well: some points, their Gram matrix :math:`K`, and a vector :math:`v` with :math:`v^\top K v < 0`. The library
# finds such a vector if the given points allow one, and checks the inequality in exact arithmetic. Here it proves that the distance is not a kernel:


def distance(a, b):
    return np.linalg.norm(a[:, None] - b[None], axis=2)


print(sx.kernels.check_legal(distance, points))

# %%
# Experiments and playground
# --------------------------
#
# - ``separatrix experiment label-noise``: how many mistakes does a run make if labels are wrong, and how tight is the bound?
# - ``separatrix experiment online``: how does the number of mistakes grow along a stream?
# - ``separatrix experiment bounds`` and ``winnow``: which of four learners makes the fewest mistakes, and how many does its theorem allow?
#
# ``separatrix play --lesson 2`` opens this chapter as a lesson in the playground. (If the playground is
# already running, use `this link <http://127.0.0.1:8317/?lesson=2>`_.)
#
# Questions
# ---------
#
# - Is :math:`K_1 - K_2` always a kernel? Find two kernels for which it is not.
# - Sort the rows of the stream by class. What happens to the number of mistakes, and does the bound still hold?
