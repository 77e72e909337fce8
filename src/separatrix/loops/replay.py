"""A run made again from its mistakes: for the trace, and for the vote of all its weights."""

from __future__ import annotations

from typing import Any

from .compiling import by_type, loop
from .rows import correct, row_score


@by_type
def copy_weights(w: Any, copies: Any, m: Any) -> Any:
    """Set ``copies[m]`` to ``w``."""

    def binary(w: Any, copies: Any, m: Any) -> Any:
        for j in range(w.shape[0]):
            copies[m, j] = w[j]

    def multiclass(w: Any, copies: Any, m: Any) -> Any:
        for c in range(w.shape[0]):
            for j in range(w.shape[1]):
                copies[m, c, j] = w[c, j]

    return binary if w.ndim == 1 else multiclass


@loop
def replay(rows: Any, log: Any, w: Any, steps: Any, weights_after: Any, scores_before: Any) -> None:
    """Repeat logged mistakes from ``w``, recording the score before and the weights after each."""
    last = steps.shape[0] - 1
    for m in range(log.shape[0]):
        i, rival = log[m, 0], log[m, 1]
        scores_before[m], _ = row_score(rows, i, w)
        correct(rows, i, rival, w, steps[min(i, last)])
        copy_weights(w, weights_after, m)


@loop
def vote(products: Any, script: Any, steps: Any, survivals: Any, outputs: Any, votes: Any) -> None:
    """Let every intermediate weight vector vote for the class it prefers.

    ``outputs[b, c]`` starts as the outputs of the first weights; entry m of the script is (column of
    ``products``, own class, rival) of the m-th mistake. Ties go to the lower class.
    """
    for b in range(outputs.shape[0]):
        for m in range(survivals.shape[0]):
            if m > 0:
                amount = 0.5 * steps[m - 1] * products[b, script[m - 1, 0]]
                outputs[b, script[m - 1, 1]] += amount
                outputs[b, script[m - 1, 2]] -= amount
            best = 0
            for c in range(1, outputs.shape[1]):
                if outputs[b, c] > outputs[b, best]:
                    best = c
            votes[b, best] += survivals[m]
