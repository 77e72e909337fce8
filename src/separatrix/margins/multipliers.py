"""Multipliers made feasible: signs, caps, sums, and no pull on a free intercept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..result import Floats


def balanced(multipliers: Floats, labels: NDArray[Any]) -> Floats:
    """Shrink multipliers until they pull no intercept: what a free intercept asks for.

    With two classes the heavier one is scaled down. With many, what each class gives to the others
    must equal what it gets: factors ``1 - p_r + p_s`` on the flow from r to s do it, where the
    potentials p solve a Laplacian system of the size of the classes.
    """
    if multipliers.ndim == 1:
        positive = labels == 1
        above, below = float(multipliers[positive].sum()), float(multipliers[~positive].sum())
        if min(above, below) == 0.0:
            return np.zeros_like(multipliers)
        return np.where(
            positive, multipliers * min(1.0, below / above), multipliers * min(1.0, above / below)
        )
    classes = multipliers.shape[1]
    against = against_rivals(multipliers, labels)
    flow = np.zeros((classes, classes))  # flow[r, s]: what rows of class r hold against class s
    np.add.at(flow, labels, against)
    return _with_own(against * _circulating(flow)[labels], labels)


def feasible(multipliers: Floats, caps: Floats, labels: NDArray[Any]) -> Floats:
    """Multipliers of many classes without what rounding added: their signs, caps and sums are right."""
    against = against_rivals(multipliers, labels)
    carried = against.sum(axis=1)
    over = carried > caps
    against[over] *= (caps[over] / carried[over])[:, None]
    return _with_own(against, labels)


def against_rivals(multipliers: Floats, labels: NDArray[Any]) -> Floats:
    """What each row holds against each class, zero for its own."""
    against = np.maximum(-multipliers, 0.0)
    against[np.arange(labels.size), labels] = 0.0
    return against


def _with_own(against: Floats, labels: NDArray[Any]) -> Floats:
    """The multipliers: each row's own class carries what the row holds against the others."""
    multipliers: Floats = -against
    multipliers[np.arange(labels.size), labels] = against.sum(axis=1)
    return multipliers


def _circulating(flow: Floats) -> Floats:
    """Factors in [0, 1] that make what each class gives equal to what it gets; zeros where none are near."""
    both = flow + flow.T
    laplacian = np.diag(both.sum(axis=1)) - both
    excess = flow.sum(axis=1) - flow.sum(axis=0)
    potentials = np.linalg.lstsq(laplacian, excess, rcond=None)[0]
    factors: Floats = 1.0 - potentials[:, None] + potentials[None, :]
    used = flow > 0.0
    if not used.any() or factors[used].min() < 0.0:
        return np.zeros_like(flow)
    return np.where(used, factors / max(1.0, float(factors[used].max())), 0.0)
