"""The claims of the example with two lines."""

from __future__ import annotations

import pytest

import separatrix as sx
from examples import two_lines


def test_one_line_is_not_enough_and_two_are():
    assert two_lines.one_line().status == "overlapping"
    hidden = two_lines.lines()
    assert all(line.converged_ for line in hidden)
    top = two_lines.committee(hidden)
    assert top.converged_
    assert top.predict(two_lines.outputs(hidden, two_lines.CORNERS)).tolist() == two_lines.LABELS.tolist()


def test_the_labels_of_the_lines_are_chosen_by_hand():
    """Their labels are not those of the problem: that part is not learned."""
    for task in two_lines.TASKS.values():
        assert not (task == (two_lines.LABELS == "other")).all()
        assert sx.separability(two_lines.CORNERS, task).separable


def test_more_random_lines_succeed_more_often():
    few, many = two_lines.by_chance(2, tries=30), two_lines.by_chance(20, tries=30)
    assert few < many
    assert many > 0.9


def test_the_example_runs(capsys, monkeypatch):
    monkeypatch.setattr(two_lines, "by_chance", lambda count: 0.5)
    two_lines.main()
    assert "Second layer: learned" in capsys.readouterr().out


@pytest.mark.parametrize("word", ["is learned from", "is not learned"])
def test_the_example_says_what_is_learned_and_what_is_not(word):
    assert word in two_lines.__doc__
