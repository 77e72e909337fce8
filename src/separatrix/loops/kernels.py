"""Compiled inner loops of the kernel perceptron: a block of rows, and the vote of every model of a run."""

from __future__ import annotations

from typing import Any, NamedTuple

from .compiling import loop

# Clock entries of a BlockTally, and why a block was left.
VISITS, MISTAKES, LIMIT, LOGGED, REASON = range(5)
FINISHED, UNSURE, UNKNOWN, STOPPED = range(4)
# Measures of a BlockTally.
SQUARED_LENGTH, FLOOR = range(2)


class Block(NamedTuple):
    """Consecutive rows, and what the loop needs to learn from them.

    ``scores[p, c]`` are the outputs (one column for two classes) and ``gram[p]`` the kernel of row p with
    every row of the block, filled if ``known[p]``. The error of ``scores[p, c]`` is at most
    ``errors[p] * roots[p] * reach[c]``; if that is zero, the scores are final. ``roots`` are the roots of
    the kernel's diagonal.
    """

    scores: Any
    gram: Any
    known: Any
    labels: Any
    steps: Any
    roots: Any
    errors: Any


class BlockTally(NamedTuple):
    """What a run keeps from block to block.

    ``reach[c]`` sums ``step * root`` over the updates of class c, ``log`` has (position, rival, visit) of
    each mistake of the block. ``clock`` has the visits, the mistakes, the largest number of mistakes, the
    length of the log and why the block was left. ``measures`` has the squared length of the weights and the
    smallest score visited.
    """

    reach: Any
    log: Any
    clock: Any
    measures: Any


@loop
def is_sure(outputs: Any, own: int, rival: int, unit: float, reach: Any) -> bool:
    """Return whether the row is surely right, or surely wrong with this rival, despite rounding.

    ``unit * reach[c]`` bounds the error of ``outputs[c]``.
    """
    right = wrong = True
    for c in range(outputs.shape[0]):
        if c != own:
            right &= outputs[own] - outputs[c] > unit * (reach[own] + reach[c])
        if c != rival:
            wrong &= outputs[rival] - outputs[c] > unit * (reach[rival] + reach[c])
    return right or wrong


@loop
def rival_of(outputs: Any, own: int) -> int:
    """Return the wrong class with the largest output; the first, if several are equal."""
    rival = 1 if own == 0 else 0
    for c in range(rival + 1, outputs.shape[0]):
        if c != own and not outputs[c] <= outputs[rival]:
            rival = c
    return rival


@loop
def learn_block(block: Block, tally: BlockTally, start: int) -> int:
    """Visit the rows of a block from ``start``, correcting every mistake; a tie is a mistake.

    Keeps every score of the block up to date with all updates, also of rows that were visited before.
    Returns where it stopped: at a row whose score is not sure, at a mistake whose kernel row is not known, at
    a mistake beyond the limit, or at the end.
    """
    scores, clock, reach = block.scores, tally.clock, tally.reach
    many = scores.shape[1] > 1
    for p in range(start, scores.shape[0]):
        own, rival, sign = 0, 0, 1.0
        unit = block.errors[p] * block.roots[p]
        if many:
            own = block.labels[p]
            rival = rival_of(scores[p], own)
            score = scores[p, own] - scores[p, rival]
            sure = unit == 0.0 or is_sure(scores[p], own, rival, unit, reach)
        else:
            sign = 2.0 * block.labels[p] - 1.0
            score = sign * scores[p, 0]
            sure = unit == 0.0 or abs(score) > unit * reach[0]
        if not sure:
            clock[REASON] = UNSURE
            return p
        if score < tally.measures[FLOOR]:
            tally.measures[FLOOR] = score
        if not score > 0.0:
            if clock[MISTAKES] >= clock[LIMIT]:
                clock[REASON] = STOPPED
                return p
            if not block.known[p]:
                clock[REASON] = UNKNOWN
                return p
            amount = sign * block.steps[p]
            size = block.steps[p] * block.roots[p]
            for j in range(scores.shape[0]):
                scores[j, own] += amount * block.gram[p, j]
            reach[own] += size
            if many:
                for j in range(scores.shape[0]):
                    scores[j, rival] -= amount * block.gram[p, j]
                reach[rival] += size
            tally.measures[SQUARED_LENGTH] += 2.0 * block.steps[p] * score + (1.0 + many) * size * size
            tally.log[clock[LOGGED], 0] = p
            tally.log[clock[LOGGED], 1] = rival
            tally.log[clock[LOGGED], 2] = clock[VISITS]
            clock[LOGGED] += 1
            clock[MISTAKES] += 1
        clock[VISITS] += 1
    clock[REASON] = FINISHED
    return scores.shape[0]


@loop
def vote_block(products: Any, script: Any, steps: Any, survivals: Any, votes: Any) -> None:
    """Let every intermediate model vote for the class it prefers; ties go to the lower class.

    Entry m of the script is (column of ``products``, own class, rival) of the m-th mistake, ``steps[m]``
    what it added to the own class and subtracted from the rival. The first model is zero.
    ``votes[b]`` has two numbers per class: the votes, then the outputs.
    """
    classes = votes.shape[1] // 2
    for b in range(votes.shape[0]):
        outputs = votes[b, classes:]
        outputs[:] = 0.0
        best = 0
        votes[b, 0] += survivals[0]
        for m in range(script.shape[0]):
            own, rival = script[m, 1], script[m, 2]
            amount = steps[m] * products[b, script[m, 0]]
            outputs[own] += amount
            outputs[rival] -= amount
            if own == best or best == rival:
                best = 0
                for c in range(1, classes):
                    if outputs[c] > outputs[best]:
                        best = c
            else:
                for c in (min(own, rival), max(own, rival)):
                    if outputs[c] > outputs[best] or (outputs[c] == outputs[best] and c < best):
                        best = c
            votes[b, best] += survivals[m + 1]
