"""Find labels that seem to mean the same: they differ in case or blanks, or are words for true and false."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .encoding import shown

TRUE, FALSE = frozenset({"true", "t", "yes", "y", "1"}), frozenset({"false", "f", "no", "n", "0"})


def alike(labels: Iterable[Any]) -> dict[str, list[str]]:
    """Group the text labels that seem to mean the same; the longest label of a group is its key.

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
    """Return a sentence about labels that seem to mean the same, but are different classes.

    Examples
    --------
    >>> doubts("ill", ["no", "No", "yes"])
    ["ill: 'No' and 'no' seem to mean the same, and are different classes. --merge-labels makes them one."]
    """
    groups = list(alike(labels).values())
    more = "; and more" if len(groups) > 4 else ""
    said = f"{name}: {'; '.join(map(listed, groups[:4]))}{more} seem to mean the same, and are different"
    return [f"{said} classes. --merge-labels makes them one."] if groups else []


def merge(labels: NDArray[Any], groups: dict[str, list[str]]) -> NDArray[Any]:
    """Replace each label of a group by the key of the group."""
    one = {each: label for label, group in groups.items() for each in group}
    different, places = np.unique(labels, return_inverse=True)
    return np.array([one.get(each, each) for each in different.tolist()], dtype=labels.dtype)[places]


def listed(words: list[str]) -> str:
    """Join words for a sentence."""
    return shown([*map(repr, words)], 6) if len(words) > 2 else " and ".join(map(repr, words))
