"""Mercer kernels, and kernels that are built from them.

A kernel is an inner product in some feature space: ``K(x, x') = <phi(x), phi(x')>``. It is *legal* if
every Gram matrix is positive semidefinite. Sums, products and non-negative multiples of legal kernels
are legal. So are ``f(x) f(x') K(x, x')``, polynomials of a kernel with non-negative coefficients, and limits
of them such as exp(K). Differences and negative multiples raise an error.

>>> k = 2 * Polynomial(degree=2) + Gaussian(c=0.5)
>>> print(k)
2 * (1 + <x, x'>)^2 + exp(-0.5 |x - x'|^2)
>>> k([[0.0, 1.0], [1.0, 1.0]])
array([[ 9.        ,  8.60653066],
       [ 8.60653066, 19.        ]])

A kernel that is a function of inner products is evaluated with one matrix product, whose entries are then
replaced by their kernel values in place.

References
----------
Schölkopf, B. and Smola, A. J. (2002). Learning with Kernels, chapters 2 and 13. MIT Press.

Micchelli, C. A. (1986). Interpolation of scattered data. Constructive Approximation 2.

Higham, N. J. (2002). Accuracy and Stability of Numerical Algorithms. SIAM.
"""

# Each module lists its public names in `__all__`, so a new kernel is one class in one file.
from . import algebra, base, given, legal, simple
from .algebra import *
from .base import *
from .given import *
from .legal import *
from .simple import *

__all__ = [*algebra.__all__, *base.__all__, *given.__all__, *legal.__all__, *simple.__all__]
