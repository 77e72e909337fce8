"""Slow, obvious versions of the kernel perceptron and its budgets, written from the papers."""

from __future__ import annotations

import flint
import numpy as np

from separatrix import kernels


def gram(kernel, X, Y, lift):
    """One kernel value at a time."""
    return np.array([[kernel(x, y) + lift for y in Y] for x in X])


def off_by(kernel, x, y, lift, value):
    """The similarity of two rows, and how far a computed value is from it: 300 bits, then rounded."""
    with flint.ctx.workprec(300):
        exact = in_many_digits(kernel, x, y) + lift
        return float(exact), float(abs(exact - value))


def in_many_digits(kernel, x, y):
    """A kernel value from its formula, one number at a time."""
    if isinstance(kernel, kernels.Sum):
        return sum((in_many_digits(member, x, y) for member in kernel.members), flint.arb(0))
    if isinstance(kernel, kernels.Product):
        product = flint.arb(1)
        for member in kernel.members:
            product *= in_many_digits(member, x, y)
        return product
    if isinstance(kernel, kernels.Constant):
        return flint.arb(kernel.c)
    if isinstance(kernel, kernels.PolynomialOf):
        inner = in_many_digits(kernel.inner, x, y)
        return sum((flint.arb(a) * inner**j for j, a in enumerate(kernel.coefficients)), flint.arb(0))
    if isinstance(kernel, kernels.Exponential):
        return in_many_digits(kernel.inner, x, y).exp()
    if isinstance(kernel, kernels.Outer):
        fx, fy = (flint.arb(float(kernel.f(row[None])[0])) for row in (x, y))
        return fx * fy
    pairs = [(flint.arb(float(a)), flint.arb(float(b))) for a, b in zip(x, y, strict=True)]
    if isinstance(kernel, kernels.Gaussian):
        return (-flint.arb(kernel.c) * sum(((a - b) ** 2 for a, b in pairs), flint.arb(0))).exp()
    t = sum((a * b for a, b in pairs), flint.arb(0))
    if isinstance(kernel, kernels.Polynomial):
        return (flint.arb(kernel.c) + t) ** kernel.degree
    if isinstance(kernel, kernels.Monomial):  # the powers of each column, multiplied out up to the degree
        series = [flint.arb(1)] + [flint.arb(0)] * kernel.degree
        for a, b in pairs:
            powers = [(a * b) ** j for j in range(kernel.degree + 1)]
            degrees = range(kernel.degree + 1)
            series = [sum((series[i] * powers[j - i] for i in range(j + 1)), flint.arb(0)) for j in degrees]
        return sum(series, flint.arb(0))
    if isinstance(kernel, kernels.Geometric):
        return sum((t**power for power in range(kernel.degree + 1)), flint.arb(0))
    assert isinstance(kernel, kernels.Linear)
    return t


def signed(codes, rival, own, n_classes):
    """The direction of an update among the classes: plus and minus one for two, halves for more."""
    if n_classes == 2:
        return np.array([1.0 if own == 1 else -1.0])
    found = np.zeros(n_classes)
    found[own], found[rival] = 0.5, -0.5
    return found


def judge(outputs, own, n_classes):
    """The signed score of a row, and its rival; ties to the lowest class."""
    if n_classes == 2:
        return (1.0 if own == 1 else -1.0) * outputs[0], 0
    rival = max((c for c in range(n_classes) if c != own), key=lambda c: (outputs[c], -c))
    return outputs[own] - outputs[rival], rival


def kernel_perceptron(
    K, codes, n_classes, *, order="cyclic", max_iter=5, max_updates=np.inf, steps=None, seed=None
):
    """Mistake by mistake, from the full Gram matrix: (row, rival, visit) of each, and the end."""
    n = len(codes)
    steps = np.ones(n) if steps is None else steps
    coef = np.zeros((n, 1 if n_classes == 2 else n_classes))
    script, visit = [], 0
    generator = np.random.default_rng(seed)
    for _ in range(max_iter):
        before = len(script)
        for i in range(n) if order == "cyclic" else generator.permutation(n):
            s, rival = judge(K[i] @ coef, codes[i], n_classes)
            if s <= 0:
                if len(script) >= max_updates:
                    return script, coef, visit, False
                coef[i] += steps[i] * signed(codes, rival, codes[i], n_classes)
                script.append((i, rival, visit))
            visit += 1
        if len(script) == before:
            return script, coef, visit, True
        if len(script) >= max_updates:
            return script, coef, visit, False
    return script, coef, visit, False


def models_after_every_visit(script, visits, codes, n_classes, n):
    """A full copy of the coefficients after each visit."""
    coef = np.zeros((n, 1 if n_classes == 2 else n_classes))
    made = {visit: (i, rival) for i, rival, visit in script}
    copies = []
    for visit in range(visits):
        if visit in made:
            i, rival = made[visit]
            coef[i] += signed(codes, rival, codes[i], n_classes)
        copies.append(coef.copy())
    return copies


def on_a_budget(K, codes, n_classes, budget, *, passes=1):
    """Lists of support rows and vectors; every quantity is computed afresh from the whole Gram matrix.

    Returns the mistakes, the support (row and vector of each), the sum of the residuals, and how close
    rounding came to deciding: between right and wrong, two rivals, or whether a row lies in the span of
    the support. Classes that no update has touched tie exactly, and the first of them is the rival.
    """
    support, mistakes = [], []
    residuals, closest, touched = 0.0, np.inf, set()
    for _ in range(passes):
        for i in range(len(codes)):
            found = np.zeros(1 if n_classes == 2 else n_classes)
            for row, vector in support:
                found = found + K[row, i] * vector
            s, rival = judge(found, codes[i], n_classes)
            closest = min(closest, abs(s)) if support else closest
            if s > 0:
                continue
            others = set(range(found.size)) - {codes[i], rival}
            ties = [found[rival] - found[c] for c in others if {c, rival} & touched]
            closest = min(closest, *ties) if ties else closest
            touched |= {codes[i], rival}
            mistakes.append((i, rival))
            direction = signed(codes, rival, codes[i], n_classes)
            rows = [row for row, _ in support]
            inner = K[np.ix_(rows, rows)]
            share = np.linalg.lstsq(inner, K[rows, i], rcond=None)[0] if rows else np.zeros(0)
            residual = max(0.0, K[i, i] - K[rows, i] @ share)
            if 1e-13 * K[i, i] < residual < 1e-6 * K[i, i]:
                closest = 0.0  # the row is nearly in the span: its share of each slot is rounding error
            if len(support) < budget and residual > 1e-10 * K[i, i]:
                support.append([i, direction])
            else:
                for entry, part in zip(support, share, strict=True):
                    entry[1] = entry[1] + part * direction
                residuals += np.sqrt(residual * (1.0 if n_classes == 2 else 0.5))  # |z|^2 over K(x, x)
    return mistakes, support, residuals, closest
