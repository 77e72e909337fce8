"""Mercer kernels and what may be built from them.

A kernel is an inner product in some feature space: ``K(x, x') = <phi(x), phi(x')>``. It is *legal* when
every Gram matrix is positive semidefinite. Sums, products and non-negative multiples of legal kernels
are legal, and so is ``f(x) f(x') K(x, x')``; differences and negative multiples are refused.

>>> k = 2 * Polynomial(degree=2) + Gaussian(c=0.5)
>>> print(k)
2 * (1 + <x, x'>)^2 + exp(-0.5 |x - x'|^2)
>>> k([[0.0, 1.0], [1.0, 1.0]])
array([[ 9.        ,  8.60653066],
       [ 8.60653066, 19.        ]])

Evaluation is one matrix product, mapped element by element in the place where it stands.

References
----------
B. Schölkopf and A. J. Smola (2002). Learning with Kernels, chapters 2 and 13. MIT Press.
C. A. Micchelli (1986). Interpolation of scattered data. Constructive Approximation 2.
N. J. Higham (2002). Accuracy and Stability of Numerical Algorithms. SIAM.
"""

from .algebra import Product, Scaled, Sum, Warped
from .base import EPS, Kernel, as_matrix, inner_products, squared_norms
from .given import NAMES, Custom, Precomputed, as_kernel, check_gram
from .legal import Legality, check_legal
from .simple import Gaussian, Geometric, Linear, Polynomial

__all__ = [
    "EPS",
    "NAMES",
    "Custom",
    "Gaussian",
    "Geometric",
    "Kernel",
    "Legality",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sum",
    "Warped",
    "as_kernel",
    "as_matrix",
    "check_gram",
    "check_legal",
    "inner_products",
    "squared_norms",
]
