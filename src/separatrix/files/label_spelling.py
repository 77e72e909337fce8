"""Find labels that seem to mean the same: they differ in case or blanks, or are words for true and false."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .encoding import shown

TRUE, FALSE = frozenset({"true", "t", "yes", "y", "1"}), frozenset({"false", "f", "no", "n", "0"})


def alike(labels: Iterable[Any]) -> list[list[str]]:
    """Group the text labels that seem to mean the same.

    Examples
    --------
    >>> alike(["Yes", "no", "yes"])
    [['Yes', 'yes']]
    >>> alike(["0", "1", "n", "y"])
    [['0', 'n'], ['1', 'y']]
    >>> alike(["n", "y", "z"])
    []
    """
    words = sorted(label for label in labels if isinstance(label, str))
    folded = {word: "".join(word.split()).casefold() for word in words}
    truth = all(each in TRUE | FALSE for each in folded.values())
    groups: dict[object, list[str]] = {}
    for word in words:
        groups.setdefault(folded[word] in TRUE if truth else folded[word], []).append(word)
    return [group for group in groups.values() if len(group) > 1]


def doubts(name: str, labels: Iterable[Any]) -> list[str]:
    """Return a sentence about labels that seem to mean the same, but are different classes.

    Examples
    --------
    >>> doubts("ill", ["no", "No", "yes"])
    ["ill: 'No' and 'no' seem to mean the same, and are different classes. A query (--sql) can merge them."]
    """
    groups = alike(labels)
    more = "; and more" if len(groups) > 4 else ""
    said = f"{name}: {'; '.join(map(listed, groups[:4]))}{more} seem to mean the same, and are different"
    return [f"{said} classes. A query (--sql) can merge them."] if groups else []


def listed(words: list[str]) -> str:
    """Join words for a sentence."""
    return shown([*map(repr, words)], 6) if len(words) > 2 else " and ".join(map(repr, words))
