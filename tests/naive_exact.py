"""The largest margin and the soft margin in rational numbers: slow, and exact to the last bit.

Both are the linear complementarity problem of one quadratic program, which Lemke's method solves by pivoting.
Nothing is taken on trust: the answer is returned only after its conditions of optimality were checked.
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq

ZERO = fmpq(0)


def rational(value):
    """An exact number."""
    exact = Fraction(value)
    return fmpq(exact.numerator, exact.denominator)


def rationals(X):
    """Rows of exact numbers."""
    return [[rational(v) for v in row] for row in X]


def dot(p, q):
    """An inner product."""
    return sum((a * b for a, b in zip(p, q, strict=True)), ZERO)


def gram_of(X, lift=False):
    """All inner products of rows; of rows with a one behind them, where they are lifted."""
    rows = rationals(X)
    return [[dot(p, q) + int(lift) for q in rows] for p in rows]


def signed_pairs(y, n_classes):
    """(row, own class, rival) of every condition: one a row with two classes, one a rival with more."""
    if n_classes == 2:
        return [(i, int(own), 1 - int(own)) for i, own in enumerate(y)]
    return [(i, int(own), rival) for i, own in enumerate(y) for rival in range(n_classes) if rival != own]


def signed_gram(gram, y, n_classes):
    """Inner products of the signed rows: with more than two classes, of Kesler's."""
    pairs = signed_pairs(y, n_classes)
    if n_classes == 2:
        return [[gram[i][j] * (1 if own == other else -1) for j, other, _ in pairs] for i, own, _ in pairs]
    return [
        [gram[i][j] * ((r == t) - (r == u) - (s == t) + (s == u)) for j, t, u in pairs] for i, r, s in pairs
    ]


def highest_bound(gram, y, n_classes, caps, free):
    """The most of ``sum a - |sum a z|^2 / 2`` over allowed multipliers a; None where it has no limit.

    With caps (one a row) this is the least objective of the soft margin; without, ``1 / (2 margin^2)``, and
    no limit means that no margin is positive. ``gram`` holds the inner products of the rows; with a free
    intercept each class gives as much as it gets.
    """
    pairs = signed_pairs(y, n_classes)
    inner = signed_gram(gram, y, n_classes)
    above, limits = [], []
    if caps is not None:
        for row in range(len(y)):
            if any(i == row for i, _, _ in pairs):
                above.append([fmpq(int(i == row)) for i, _, _ in pairs])
                limits.append(rational(caps[row]))
    if free:
        for each in range(n_classes - 1):
            balance = [fmpq((r == each) - (s == each)) for _, r, s in pairs]
            above += [balance, [-v for v in balance]]
            limits += [ZERO, ZERO]
    found = most(inner, above, limits)
    if found is None:
        return None
    a, prices = found
    check_optimal(inner, above, limits, a, prices)
    value = sum(a, ZERO) - sum((dot(row, a) * v for row, v in zip(inner, a, strict=True)), ZERO) / 2
    return Fraction(int(value.p), int(value.q))


def most(inner, above, limits):
    """Maximise ``sum a - a' inner a / 2`` with ``above a <= limits`` and ``a >= 0``: (a, prices), or None."""
    n, m = len(inner), len(limits)
    matrix = [[*inner[i], *(above[k][i] for k in range(m))] for i in range(n)] + [
        [*(-v for v in above[k]), *([ZERO] * m)] for k in range(m)
    ]
    constant = [fmpq(-1)] * n + list(limits)
    found = lemke(matrix, constant)
    return None if found is None else (found[:n], found[n:])


def lemke(matrix, constant):
    """z >= 0 with ``w = matrix z + constant >= 0`` and ``w'z = 0``, or None if the method ends in a ray.

    The matrix is that of a convex program, so a ray means that there is no such z. Ties are broken in
    lexicographic order, so no basis comes twice (Cottle, Pang and Stone, The Linear Complementarity Problem,
    chapter 4).
    """
    size = len(constant)
    if min(constant, default=ZERO) >= 0:
        return [ZERO] * size
    # columns: w, z, the artificial one, the constant
    table = [
        [fmpq(int(i == j)) for j in range(size)] + [-v for v in matrix[i]] + [fmpq(-1), constant[i]]
        for i in range(size)
    ]
    basis, entering = list(range(size)), 2 * size
    row = min(range(size), key=lambda i: [table[i][-1], *table[i][:size]])
    while True:
        pivot(table, row, entering)
        basis[row], left = entering, basis[row]
        if left == 2 * size:
            values = dict(zip(basis, (line[-1] for line in table), strict=True))
            return [values.get(size + j, ZERO) for j in range(size)]
        entering = left + size if left < size else left - size
        rows = [i for i in range(size) if table[i][entering] > 0]
        if not rows:
            return None

        def ratio(i, column=entering):
            part = table[i][column]
            return [table[i][-1] / part, *(v / part for v in table[i][:size])]

        best = min(table[i][-1] / table[i][entering] for i in rows)
        tied = [i for i in rows if table[i][-1] / table[i][entering] == best]
        artificial = [i for i in tied if basis[i] == 2 * size]
        row = artificial[0] if artificial else tied[0] if len(tied) == 1 else min(tied, key=ratio)


def pivot(table, row, column):
    """Solve a row for a column and put it into the others."""
    head = table[row][column]
    table[row] = line = [v / head if v else v for v in table[row]]
    for i, other in enumerate(table):
        factor = other[column]
        if i != row and factor:
            table[i] = [v - factor * u if u else v for v, u in zip(other, line, strict=True)]


def check_optimal(inner, above, limits, a, prices):
    """The conditions of Karush, Kuhn and Tucker; for a convex program they prove the optimum."""
    assert min(a, default=0) >= 0
    assert min(prices, default=0) >= 0
    for line, limit, price in zip(above, limits, prices, strict=True):
        room = limit - dot(line, a)
        assert room >= 0
        assert room * price == 0
    for i, line in enumerate(inner):
        slope = dot(line, a) + dot([row[i] for row in above], prices) - 1
        assert slope >= 0
        assert slope * a[i] == 0


def margin_square(X, y, intercept, n_classes=2):
    """The square of the best margin of rows, exactly; zero where there is none."""
    return margin_square_of(gram_of(X, lift=intercept == "lifted"), y, intercept is True, n_classes)


def margin_square_of(gram, y, free, n_classes=2):
    """The same from the inner products of the rows."""
    found = highest_bound(gram, y, n_classes, None, free)
    return Fraction(0) if found is None else 1 / (2 * found)


def least_objective(X, y, caps, intercept, n_classes=2):
    """The least objective of the soft margin, exactly."""
    found = highest_bound(gram_of(X, lift=intercept == "lifted"), y, n_classes, caps, intercept is True)
    assert found is not None
    return found
