"""Learning with a helper: a second thread scores rows ahead of the one who learns.

The two share whole numbers, which are read, written and claimed without a lock. See "One pass" in
ARCHITECTURE.md.
"""

from __future__ import annotations

import operator
import threading
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.core import cgutils

from .compiling import by_hand, loop, part
from .layouts import VISITS, Tally
from .rows import is_full, measure, row_score, update

# Entries of an Ahead's ``shared``; what both threads write is a cache line apart.
BLOCK, STATE, ORIGIN, DONE, HELPED = 0, 8, 16, 24, 32
# States: nothing to score at present, nothing any more; else the version of the weights times VERSION, plus
# the next block.
CLOSED, OVER, VERSION = 0, -1, 1 << 32
WINDOW = 64  # blocks scored ahead, at most
PATIENCE = 100_000  # readings of the state, about a tenth of a millisecond, after which a helper leaves
LEARNER, HELPER = 0, 1


class Ahead(NamedTuple):
    """What one who learns shares with a helper, who scores rows ahead.

    A mistake makes a new version of the weights. For each version, the rows from ``shared[ORIGIN]`` on are
    cut into blocks of ``shared[BLOCK]``, and the two claim one block after the other. What the learner (0)
    and the helper (1) found in block b stands in column b modulo WINDOW once ``tags`` holds the version and
    b: the position of the first mistake, the rival there, the smallest score. ``shared[DONE]`` blocks need
    not be kept any longer; ``shared[HELPED]`` counts those taken from the helper.
    """

    shared: Any
    tags: Any
    found: Any
    rivals: Any
    floors: Any


def ahead(block: int) -> Ahead:
    """Make room for scoring ahead in blocks of so many rows."""
    shared = np.zeros(40, dtype=np.int64)
    shared[BLOCK], shape = block, (2, WINDOW)
    numbers = np.zeros(shape, dtype=np.int64)
    return Ahead(shared, numbers, numbers.copy(), numbers.copy(), np.zeros(shape))


def _place(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    view = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, view, [index], wraparound=False)


# What the two threads do with shared numbers where nothing is compiled: one at a time.
ONE_AT_A_TIME = threading.Lock()


def _post(array: Any, index: int, value: int) -> None:
    with ONE_AT_A_TIME:
        array[index] = value


def _claim(array: Any, index: int, value: int) -> bool:
    with ONE_AT_A_TIME:
        unclaimed = bool(array[index] == value)
        array[index] += unclaimed
        return unclaimed


@by_hand(operator.getitem)
def peek(typing_context: Any, array: Any, index: Any) -> Any:
    """Return ``array[index]``, and see what was written before it was."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments)
        return builder.load_atomic(place, "acquire", 8)

    return types.int64(array, types.intp), compiled


@by_hand(_post)
def post(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Set ``array[index]``, visible no sooner than what was written before."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments[:2])
        builder.store_atomic(arguments[2], place, "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), compiled


@by_hand(_claim)
def claim(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Add one to ``array[index]`` if it is ``value`` still; return whether it was."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments[:2])
        seen = arguments[2]
        more = builder.add(seen, seen.type(1))
        return builder.extract_value(builder.cmpxchg(place, seen, more, "acq_rel", "acquire"), 1)

    return types.boolean(array, types.intp, types.int64), compiled


@part
def first_mistake(rows: Any, order: Any, start: int, stop: int, w: Any, norms: Any) -> tuple[int, int, float]:
    """Return the position of the first mistake from start on, or stop, the rival there, the smallest score.

    Measures the rows first where ``norms`` has room for it.
    """
    position, rival, floor = start, 0, np.inf
    if norms.shape[0] > 0:
        measure(rows, order[start:stop], norms)
    while position < stop:
        score, rival = row_score(rows, order[position], w)
        if score < floor:
            floor = score
        if not score > 0.0:
            break
        position += 1
    return position, rival, floor


@part
def score_block(
    rows: Any, order: Any, block: int, w: Any, norms: Any, ahead: Ahead, tag: int, who: int
) -> None:
    """Score a block and note what was found in it, by whom."""
    size, column = ahead.shared[BLOCK], block & (WINDOW - 1)
    start = min(peek(ahead.shared, ORIGIN) + block * size, order.shape[0])
    stop = min(start + size, order.shape[0])
    position, rival, floor = first_mistake(rows, order, start, stop, w, norms)
    ahead.found[who, column], ahead.rivals[who, column] = position, rival
    ahead.floors[who, column] = floor
    post(ahead.tags[who], column, tag)


@loop
def help_to_learn(rows: Any, order: Any, w: Any, norms: Any, ahead: Ahead) -> None:
    """Score blocks ahead of the one who learns; leave when it is over, or nothing came for a while.

    The weights may change meanwhile. Then their version does too, and what was found is not used.
    """
    waited = 0
    while waited < PATIENCE:
        state = peek(ahead.shared, STATE)
        if state == OVER:
            break
        block, waited = state & (VERSION - 1), waited + 1
        near = state != CLOSED and block - peek(ahead.shared, DONE) < WINDOW
        inside = peek(ahead.shared, ORIGIN) + block * ahead.shared[BLOCK] < order.shape[0]
        if near and inside and claim(ahead.shared, STATE, state):
            score_block(rows, order, block, w, norms, ahead, state, HELPER)
            waited = 0


@part
def next_mistake(
    rows: Any, order: Any, start: int, w: Any, norms: Any, ahead: Ahead, version: int
) -> tuple[int, int, float]:
    """Find what `first_mistake` does from start to the end, block by block, with those of a helper.

    The first block is scored alone: after it, mistakes are rare enough. Never waits: where the helper has
    claimed the block needed and is not ready, another one is scored, and after WINDOW blocks
    that one itself, because a helper may have lost its core.
    """
    shared, size, stop = ahead.shared, ahead.shared[BLOCK], order.shape[0]
    post(shared, ORIGIN, start)
    post(shared, DONE, 0)
    block, floor, rival, position = 0, np.inf, 0, start
    while position < stop:
        column, tag, who = block & (WINDOW - 1), version * VERSION + block, LEARNER
        if block > 0 and peek(ahead.tags[HELPER], column) == tag:
            who = HELPER
            shared[HELPED] += 1
        elif ahead.tags[LEARNER, column] != tag:
            state, scored, claimed = peek(shared, STATE), block, True
            following = state & (VERSION - 1)
            if block > 0 and following - block < WINDOW and start + following * size < stop:
                scored, claimed = following, claim(shared, STATE, state)
            if claimed:
                score_block(rows, order, scored, w, norms, ahead, version * VERSION + scored, LEARNER)
            continue
        floor, rival = min(floor, ahead.floors[who, column]), ahead.rivals[who, column]
        found, block = ahead.found[who, column], block + 1
        position = min(start + block * size, stop)
        if found < position:
            position = found
            break
        post(shared, DONE, block)
        if block == 1 and position < stop:
            post(shared, STATE, version * VERSION + 1)
    post(shared, STATE, CLOSED)
    return position, rival, floor


@loop
def learn_together(rows: Any, order: Any, w: Any, steps: Any, tally: Tally, ahead: Ahead) -> int:
    """Do what `learn` does, bit by bit, while a helper scores rows ahead."""
    floor, position, version = tally.floor[0], 0, 0
    while position < order.shape[0]:
        version += 1
        position, rival, lowest = next_mistake(rows, order, position, w, tally.norms, ahead, version)
        floor = min(floor, lowest)
        if position == order.shape[0] or is_full(tally):
            break
        update(rows, order[position], rival, w, steps, tally, position)
        position += 1
    post(ahead.shared, STATE, OVER)
    tally.clock[VISITS], tally.floor[0] = tally.clock[VISITS] + position, floor
    return position
