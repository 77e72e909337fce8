"""Slow, obvious versions of the margin solvers, written from the formulas."""

import numpy as np
from scipy import optimize


def signed_rows(X, y, *, lift):
    """z_i = y_i (x_i, 1), or y_i x_i."""
    X = np.asarray(X, dtype=float)
    if lift:
        X = np.column_stack([X, np.ones(len(X))])
    return X * np.where(np.asarray(y) > 0, 1.0, -1.0)[:, None]


def kesler_rows(X, y, classes, *, lift):
    """One signed row for each row and each wrong class."""
    X = np.asarray(X, dtype=float)
    if lift:
        X = np.column_stack([X, np.ones(len(X))])
    width = X.shape[1]
    pairs = []
    for x, own in zip(X, y, strict=True):
        for rival in range(classes):
            if rival != own:
                row = np.zeros(classes * width)
                row[own * width : (own + 1) * width] += x
                row[rival * width : (rival + 1) * width] -= x
                pairs.append(row)
    return np.array(pairs)


def max_margin(Z, penalised):
    """The largest min <w, z> / |w|, by a general solver; None where it finds no feasible point."""
    Z = np.asarray(Z, dtype=float)
    start = optimize.linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-np.ones(len(Z)), bounds=(None, None))
    if start.x is None:
        return None
    found = optimize.minimize(
        lambda w: 0.5 * w[penalised] @ w[penalised],
        start.x,
        jac=lambda w: np.where(penalised, w, 0.0),
        constraints={"type": "ineq", "fun": lambda w: Z @ w - 1.0, "jac": lambda w: Z},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    w = found.x
    return float((Z @ w).min() / np.linalg.norm(w[penalised]))


def soft_objective(Z, caps, w, penalised):
    """|w|^2 / 2 + sum of caps * hinge."""
    return 0.5 * w[penalised] @ w[penalised] + float(caps @ np.maximum(0.0, 1.0 - Z @ w))


def soft_margin(Z, caps, penalised):
    """The least soft objective, by a general solver on (w, slacks)."""
    n, d = Z.shape
    found = optimize.minimize(
        lambda v: 0.5 * v[:d][penalised] @ v[:d][penalised] + caps @ v[d:],
        np.concatenate([np.zeros(d), np.ones(n)]),
        jac=lambda v: np.concatenate([np.where(penalised, v[:d], 0.0), caps]),
        constraints={
            "type": "ineq",
            "fun": lambda v: Z @ v[:d] + v[d:] - 1.0,
            "jac": lambda v: np.hstack([Z, np.eye(n)]),
        },
        bounds=[(None, None)] * d + [(0.0, None)] * n,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    return soft_objective(Z, caps, found.x[:d], penalised)


def joint_soft_margin(X, y, classes, caps, *, lift, free):
    """The least Crammer-Singer objective, by a general solver on (W, slacks)."""
    Z = kesler_rows(X, y, classes, lift=lift)
    n, size = len(X), Z.shape[1]
    width = size // classes
    penalised = np.ones(size, dtype=bool)
    if free:
        penalised[width - 1 :: width] = False
    spread = np.repeat(np.eye(n), classes - 1, axis=0)
    found = optimize.minimize(
        lambda v: 0.5 * v[:size][penalised] @ v[:size][penalised] + caps @ v[size:],
        np.concatenate([np.zeros(size), np.ones(n)]),
        jac=lambda v: np.concatenate([np.where(penalised, v[:size], 0.0), caps]),
        constraints={
            "type": "ineq",
            "fun": lambda v: Z @ v[:size] + spread @ v[size:] - 1.0,
            "jac": lambda v: np.hstack([Z, spread]),
        },
        bounds=[(None, None)] * size + [(0.0, None)] * n,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    w = found.x[:size]
    slacks = np.maximum(0.0, 1.0 - (Z @ w).reshape(n, classes - 1)).max(axis=1)
    return 0.5 * w[penalised] @ w[penalised] + float(caps @ slacks)


def joint_objective(X, y, caps, W, b, *, penalise_b):
    """|W|^2 / 2 + sum of caps * max(0, 1 - own output + best other), row by row."""
    total = 0.5 * float((W**2).sum() + ((b**2).sum() if penalise_b else 0.0))
    for x, own, cap in zip(np.asarray(X), y, caps, strict=True):
        outputs = W @ x + b
        total += cap * max(0.0, 1.0 + np.delete(outputs, own).max() - outputs[own])
    return total


def nearest_joint_multipliers(target, own, cap):
    """The nearest point that sums to zero, with at most cap for the own class, at most zero for the rest."""
    limits = np.zeros(len(target))
    limits[own] = cap
    low, high = (target - limits).min() - cap, (target - limits).max() + cap
    for _ in range(200):
        middle = 0.5 * (low + high)
        if np.minimum(limits, target - middle).sum() > 0.0:
            low = middle
        else:
            high = middle
    return np.minimum(limits, target - low)


def joint_newton_step(X, free, sigma, ridge, gradient):
    """Solve the Newton system of many classes with its matrix written out."""
    matrix = np.diag(ridge.ravel())
    for x, face in zip(X, free, strict=True):
        if face.any():
            projection = np.diag(face.astype(float)) - np.outer(face, face) / face.sum()
            matrix += sigma * np.kron(projection, np.outer(x, x))
    return np.linalg.solve(matrix, -gradient.ravel()).reshape(gradient.shape)


def dual_program(Z):
    """min sum a subject to Z Z^T a >= 1, a >= 0, with the matrix of inner products written out."""
    gram = Z @ Z.T
    found = optimize.linprog(np.ones(len(Z)), A_ub=-gram, b_ub=-np.ones(len(Z)))
    return found.fun if found.x is not None else None


def feasible_program(Z):
    """Whether some w has Z w >= 1: the objective is zero."""
    n, d = Z.shape
    return optimize.linprog(np.zeros(d), A_ub=-Z, b_ub=-np.ones(n), bounds=[(None, None)] * d).x is not None


def primal_program(Z):
    """max t subject to Z w >= t, |w_j| <= 1."""
    n, d = Z.shape
    found = optimize.linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack([-Z, np.ones(n)]),
        b_ub=np.zeros(n),
        bounds=[(-1.0, 1.0)] * d + [(None, None)],
    )
    return -found.fun


def perceptron_mistakes(X, y, w, *, rate, passes):
    """The cyclic perceptron on two classes, from w; returns the mistakes."""
    made = 0
    for _ in range(passes):
        clean = True
        for x, label in zip(X, y, strict=True):
            if label * (w @ x) <= 0:
                w = w + rate * label * x
                made += 1
                clean = False
        if clean:
            break
    return made


def least_distance(Z):
    """The largest min <w, z> / |w| as a least-distance program (Lawson and Hanson); zero for none."""
    stacked = np.vstack([np.asarray(Z, dtype=float).T, np.ones(len(Z))])
    aim = np.append(np.zeros(stacked.shape[0] - 1), 1.0)
    multipliers, _ = optimize.nnls(stacked, aim, maxiter=100 * len(Z))
    residual = aim - stacked @ multipliers
    w = -residual[:-1]
    return float((Z @ w).min() / np.linalg.norm(w)) if np.linalg.norm(residual) > 1e-12 else 0.0
