"""Mercer kernels and what may be built from them.

A kernel is an inner product in some feature space: ``K(x, x') = <phi(x), phi(x')>``. It is *legal* when
every Gram matrix is positive semidefinite. Sums, products and non-negative multiples of legal kernels
are legal, and so is ``f(x) f(x') K(x, x')``; so are polynomials of a kernel with non-negative coefficients
and their limits, as exp(K). Differences and negative multiples are refused.

>>> k = 2 * Polynomial(degree=2) + Gaussian(c=0.5)
>>> print(k)
2 * (1 + <x, x'>)^2 + exp(-0.5 |x - x'|^2)
>>> k([[0.0, 1.0], [1.0, 1.0]])
array([[ 9.        ,  8.60653066],
       [ 8.60653066, 19.        ]])

Kernels that follow from inner products are evaluated by one matrix product, mapped element by element in the
place where it stands.

References
----------
Schölkopf, B. and Smola, A. J. (2002). Learning with Kernels, chapters 2 and 13. MIT Press.

Micchelli, C. A. (1986). Interpolation of scattered data. Constructive Approximation 2.

Higham, N. J. (2002). Accuracy and Stability of Numerical Algorithms. SIAM.
"""

# Each module names what it offers in its own `__all__`, so that a new kernel is one class in one file.
from . import algebra, base, given, legal, simple
from .algebra import *
from .base import *
from .given import *
from .legal import *
from .simple import *

__all__ = [*algebra.__all__, *base.__all__, *given.__all__, *legal.__all__, *simple.__all__]
