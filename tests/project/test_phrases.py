"""The list of phrases finds what the page on writing advises against, and nothing of what it advises."""

from __future__ import annotations

import re
from pathlib import Path

from tests import phrases

PAGE = Path(__file__).parents[2] / "docs" / "writing.md"
LINES = PAGE.read_text("utf-8").splitlines()
PAIRS = [line.strip("| ").split(" | ") for line in LINES if line.startswith("| ")]


def test_every_sentence_on_the_left_is_found_and_none_on_the_right():
    assert len(PAIRS[1:]) == 10
    for before, after in PAIRS[1:]:
        assert list(phrases.found_in(before)), before
        assert not list(phrases.found_in(after)), after


def test_phrases_are_found_over_the_ends_of_lines_and_named_with_the_line_they_begin_in():
    [(line, phrase, _)] = phrases.found_in("One line.\n# It takes so\n# many rows.\n")
    assert (line, re.sub(r"\W+", " ", phrase)) == (2, "so many")
