r"""
2. Online learning, data that no plane separates, and legal kernels
===================================================================

*A chapter on bounds that hold whatever comes, and on what may be called a kernel.*

The smallest example
--------------------

A positive point :math:`(1, 0)` and a negative one :math:`(0, 1)`, without a lift. From :math:`w = (0, 0)` the first is
a mistake (a tie is one): :math:`w = (1, 0)`. The second has score zero, a mistake: :math:`w = (1, -1)`. Both are right
now.
"""

import matplotlib.pyplot as plt
import numpy as np
import separatrix as sx

X, y = np.array([[1, 0], [0, 1]]), np.array([1, -1])
model = sx.Perceptron(order="cyclic", fit_intercept=False, trace=True).fit(X, y)
print(model.result_.trace.weights)
print(sx.mistake_bounds(model, X, y).summary())

# %%
# Two mistakes, and two are allowed: with :math:`k` orthonormal signed rows the theorem is tight, :math:`R = 1`,
# :math:`\gamma = 1/\sqrt k`, and :math:`k` mistakes are made.
#
# The theorem with :math:`w^*`
# ----------------------------
#
# The note measures the data by a :math:`w^*` with :math:`\langle w^*, z_i\rangle \ge 1`: there are at most
# :math:`R^2|w^*|^2` updates. With :math:`w^* = u/\gamma` that is :math:`(R/\gamma)^2`. (One slide has :math:`M \le R^2|w|^2`;
# it means :math:`w^*`.) Rows may come one at a time and never again: the proof looks at mistakes only, so it holds for any
# sequence, made by chance or by an adversary.
#
# When the best plane is not perfect
# ----------------------------------
#
# The *hinge loss* of :math:`w^*` on a signed row is :math:`\max(0, 1 - \langle w^*, z\rangle)`.
#
# **Theorem.** From zero weights, for every :math:`w^*`, the mistakes are at most :math:`R^2|w^*|^2 + 2L`, where :math:`L` is
# the sum of the hinge losses of :math:`w^*` over the rounds in which a mistake was made.
#
# **Proof.** Each mistake adds :math:`\langle w^*, z\rangle \ge 1 - \text{loss}` to :math:`\langle w, w^*\rangle`, so
# :math:`M - L \le \langle w, w^*\rangle \le |w||w^*| \le R\sqrt M\,|w^*|`. If :math:`M > L`, squaring gives
# :math:`M^2 - 2ML + L^2 \le M R^2|w^*|^2`; divide by :math:`M` and drop :math:`L^2/M`. If :math:`M \le L`, there is nothing
# to prove. ∎
#
# Solving the quadratic in :math:`\sqrt M` instead of dropping a term is sharper:
# :math:`M \le (A/2 + \sqrt{A^2/4 + L})^2` with :math:`A = R|w^*|`.
#
# **The slip: a lost square.** Several slides have :math:`R^2|w^*| + 2L`. That is false. For the two orthonormal rows above
# :math:`w^* = (1, -1)` has no loss and :math:`R = 1`, so the formula gives :math:`|w^*| = 1.41`; but 2 mistakes are made.
#
# The sum :math:`L` runs over all mistakes of the *whole run*. Taking the losses of one pass for a run of many passes is
# another way to get it wrong.

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
    title="a stream in which 5 % of the labels are wrong",
)

# %%
# Which :math:`w^*` is best? :math:`R^2|w^*|^2 + 2L` is, up to a factor, the objective of a soft-margin support vector machine with
# :math:`C = 1/R^2`. The bound is itself an SVM; ``mistake_bounds`` solves it.

# One pass, so that the mistakes are those of an online run; that it did not separate is known.
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    once = sx.Perceptron(order="cyclic", max_iter=1).fit(noisy.X, noisy.y)
print(sx.mistake_bounds(once, noisy.X, noisy.y).summary())

# %%
# Why are they legal?
# -------------------
#
# A *kernel* is a function :math:`K(x, x') = \langle\phi(x), \phi(x')\rangle` for some :math:`\phi` into a space with an inner
# product. Let :math:`K_1, K_2` be kernels.
#
# - :math:`cK_1` for :math:`c \ge 0`: take :math:`\sqrt c\,\phi_1`.
# - :math:`f(x)f(x')K_1`: take :math:`f(x)\phi_1(x)`.
# - :math:`K_1 + K_2`: write :math:`\phi_1` and :math:`\phi_2` one after the other.
# - :math:`K_1 K_2`: take all products :math:`\phi_1(x)_i\,\phi_2(x)_j`; then
#   :math:`\sum_{ij} \phi_1(x)_i\phi_2(x)_j\phi_1(x')_i\phi_2(x')_j = K_1K_2`.
# - A constant :math:`c \ge 0` is a kernel (:math:`\phi = \sqrt c`), so polynomials of a kernel with coefficients
#   :math:`\ge 0` are, and so is the limit of kernels, since :math:`\sum_{ij} v_iv_jK(x_i, x_j) \ge 0` survives limits, and a
#   symmetric function with that property for all points is a kernel (Moore and Aronszajn).
#
# Thus :math:`(c + \langle x, x'\rangle)^k` with :math:`c \ge 0` and a whole :math:`k \ge 1` is legal, a power of a sum.
# :math:`e^{K}` is a limit of polynomials with coefficients :math:`1/j!`. And for :math:`c \ge 0` the Gaussian is
# :math:`e^{-c|x-x'|^2} = f(x)f(x')\,e^{2c\langle x, x'\rangle}` with :math:`f(x) = e^{-c|x|^2}`. (The note does not say
# :math:`c \ge 0`. It is needed: for :math:`c < 0` two points have ones on the diagonal of their Gram matrix and a number
# above one beside it, so :math:`v = (1, -1)` gives :math:`v^\top K v < 0`.)
#
# The library's kernels are built by these rules, so what you build is legal by construction:

quadratic = sx.kernels.Polynomial(degree=2)
mixed = 0.5 * quadratic * sx.kernels.Linear() + sx.kernels.Gaussian(c=2.0)
points = np.random.default_rng(0).normal(size=(30, 2))
print(mixed)
smallest = np.linalg.eigvalsh(mixed(points, points)).min()
print(f"smallest eigenvalue of its Gram matrix: {smallest:.1e}")

# %%
# A function that is *not* a kernel has a proof too: points and a vector :math:`v` with :math:`v^\top K v < 0`, checked in exact
# arithmetic.


def distance(a, b):
    return np.linalg.norm(a[:, None] - b[None], axis=2)


print(sx.kernels.check_legal(distance, points))

# %%
# Measure it, and show it
# -----------------------
#
# - ``separatrix experiment label-noise``: how many mistakes when labels are wrong, and how tight is the bound?
# - ``separatrix experiment online``: how do the mistakes of a stream add up?
#
# As a lesson of the playground, to project or to step through: ``separatrix play --lesson 2``. (If the playground is
# running, `here it is <http://127.0.0.1:8317/?lesson=2>`_.)
#
# To think about
# --------------
#
# - Is :math:`K_1 - K_2` a kernel? Find two for which it is not.
# - Stream the same rows sorted by class. What happens to the mistakes, and does the bound still hold?
