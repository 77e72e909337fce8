"""Labels that seem to mean the same: text in other capital letters or blanks, or words for true and false."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .encoding import shown

TRUE, FALSE = frozenset({"true", "t", "yes", "y", "1"}), frozenset({"false", "f", "no", "n", "0"})


def alike(labels: Iterable[Any]) -> dict[str, list[str]]:
    """The labels of text that seem to mean the same, under the one of them that may stand for all.

    Examples
    --------
    >>> alike(["Yes", "no", "yes"])
    {'yes': ['Yes', 'yes']}
    >>> alike(["0", "1", "n", "y"])
    {'n': ['0', 'n'], 'y': ['1', 'y']}
    >>> alike(["n", "y", "z"])
    {}
    """
    words = sorted(label for label in labels if isinstance(label, str))
    folded = {word: "".join(word.split()).casefold() for word in words}
    truth = all(each in TRUE | FALSE for each in folded.values())
    groups: dict[object, list[str]] = {}
    for word in words:
        groups.setdefault(folded[word] in TRUE if truth else folded[word], []).append(word)
    return {
        max(group, key=lambda word: (len(word), word)): group for group in groups.values() if len(group) > 1
    }


def doubts(name: str, labels: Iterable[Any]) -> list[str]:
    """A sentence about labels that seem to mean the same, and are different classes all the same.

    Examples
    --------
    >>> doubts("ill", ["no", "No", "yes"])
    ["ill: 'No' and 'no' seem to mean the same, and are different classes. --merge-labels makes them one."]
    """
    groups = list(alike(labels).values())
    if not groups:
        return []
    said = "; ".join(_listed(group) for group in groups[:4]) + ("; and more" if len(groups) > 4 else "")
    return [
        f"{name}: {said} seem to mean the same, and are different classes. --merge-labels makes them one."
    ]


def merged_words(name: str, groups: dict[str, list[str]]) -> list[str]:
    """What is said where such labels were made one."""
    return [f"{name}: {_listed(group)} are read as {label!r}." for label, group in groups.items()]


def merge(labels: NDArray[Any], groups: dict[str, list[str]]) -> NDArray[Any]:
    """The same labels with one for each group."""
    one = {each: label for label, group in groups.items() for each in group}
    different, places = np.unique(labels, return_inverse=True)
    return np.array([one.get(each, each) for each in different.tolist()], dtype=labels.dtype)[places]


def _listed(words: list[str]) -> str:
    return shown([*map(repr, words)], 6) if len(words) > 2 else " and ".join(map(repr, words))
