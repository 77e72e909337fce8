"""The core of a working set: correct its worst row repeatedly, using stored inner products."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import by_type, loop
from .layouts import LOGGED, MISTAKES, Gram, Tally
from .rows import add_row, is_full, row_output


@by_type
def fill_keys(labels: Any, outputs: Any, steps: Any, keys: Any, spare: Any) -> Any:
    """Set ``keys[i]`` to the signed score of row i times its step; the worst row has the smallest key."""

    def binary(labels: Any, outputs: Any, steps: Any, keys: Any, spare: Any) -> Any:
        for i in range(keys.shape[0]):
            keys[i] = (2.0 * labels[i] - 1.0) * outputs[i]
        if steps.shape[0] > 1:
            for i in range(keys.shape[0]):
                keys[i] *= steps[i]

    def multiclass(labels: Any, outputs: Any, steps: Any, keys: Any, spare: Any) -> Any:
        spare[:] = -np.inf
        for c in range(outputs.shape[0]):
            for i in range(keys.shape[0]):
                own = labels[i] == c
                keys[i] = outputs[c, i] if own else keys[i]
                other = -np.inf if own else outputs[c, i]
                spare[i] = other if other > spare[i] else spare[i]
        for i in range(keys.shape[0]):
            keys[i] -= spare[i]
        if steps.shape[0] > 1:
            for i in range(keys.shape[0]):
                keys[i] *= steps[i]

    return binary if outputs.ndim == 1 else multiclass


@by_type
def rival_of(labels: Any, outputs: Any, i: Any) -> Any:
    """Return the wrong class with the largest output on row i."""

    def binary(labels: Any, outputs: Any, i: Any) -> Any:
        return 0

    def multiclass(labels: Any, outputs: Any, i: Any) -> Any:
        rival = -1
        for c in range(outputs.shape[0]):
            if c != labels[i] and (rival < 0 or not outputs[c, i] <= outputs[rival, i]):
                rival = c
        return rival

    return binary if outputs.ndim == 1 else multiclass


@loop
def lowest(keys: Any, lanes: Any) -> int:
    """Return the first position of the smallest key.

    Position i belongs to lane i % 16: sixteen running minima are found in parallel, and keys that are NaN do
    no harm. Then only the lanes that hold the minimum are searched.
    """
    size = keys.shape[0]
    whole = size - size % 16
    for lane in range(16):
        lanes[lane] = np.inf
    for first in range(0, whole, 16):
        for lane in range(16):
            key = keys[first + lane]
            lanes[lane] = key if key < lanes[lane] else lanes[lane]
    for lane in range(size - whole):
        key = keys[whole + lane]
        lanes[lane] = key if key < lanes[lane] else lanes[lane]
    best = np.inf
    for lane in range(16):
        best = lanes[lane] if lanes[lane] < best else best
    position = size - 1
    for lane in range(16):
        if lanes[lane] <= best:
            i = lane
            while i < position and not keys[i] <= best:
                i += 16
            position = min(position, i)
    return position


@by_type
def shift(labels: Any, outputs: Any, i: Any, rival: Any, step: Any, products: Any) -> Any:
    """Update the outputs of the whole working set after an update on row i."""

    def binary(labels: Any, outputs: Any, i: Any, rival: Any, step: Any, products: Any) -> Any:
        signed = (2.0 * labels[i] - 1.0) * step
        for j in range(outputs.shape[0]):
            outputs[j] += signed * products[j]

    def multiclass(labels: Any, outputs: Any, i: Any, rival: Any, step: Any, products: Any) -> Any:
        own, half = labels[i], 0.5 * step
        for j in range(outputs.shape[1]):
            outputs[own, j] += half * products[j]
            outputs[rival, j] -= half * products[j]

    return binary if outputs.ndim == 1 else multiclass


@loop
def worst_first(rows: Any, outputs: Any, steps: Any, gram: Gram, tally: Tally) -> None:
    """Correct the most violated row of a working set until none is violated.

    ``outputs`` are the outputs of the rows under the weights; the inner products keep them up to date. The
    counts tell the caller how to change the weights. The loop ends early if the limit on mistakes is reached
    or the log or the slots are full.
    """
    clock, last = tally.clock, steps.shape[0] - 1
    while True:
        fill_keys(rows.labels, outputs, steps, gram.keys, gram.spare)
        i = lowest(gram.keys, gram.lanes)
        rival = rival_of(rows.labels, outputs, i)
        if gram.keys[i] > 0.0:
            return
        if is_full(tally) or not gram.keys[i] > -np.inf:
            return
        slot = gram.slots[i]
        if slot < 0:
            slot = gram.used[0]
            if slot == gram.products.shape[0]:
                return
            add_row(rows, i, gram.row, 1.0)
            for j in range(gram.slots.shape[0]):
                gram.products[slot, j] = row_output(rows, j, gram.row)
            add_row(rows, i, gram.row, -1.0)  # zeros again
            gram.slots[i] = slot
            gram.used[0] += 1
        if tally.log.shape[0] > 0:
            tally.log[clock[LOGGED], 0] = i
            tally.log[clock[LOGGED], 1] = rival
            clock[LOGGED] += 1
        shift(rows.labels, outputs, i, rival, steps[min(i, last)], gram.products[slot])
        tally.counts[i, rival] += 1
        clock[MISTAKES] += 1
