"""Every call on the page about the notes works."""

from __future__ import annotations

import pathlib
import re
import warnings

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("river")
pytest.importorskip("typer")

from matplotlib import pyplot as plt

from separatrix.cli.app import COMMANDS

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "notes.md").read_text("utf-8")
ITEMS = re.findall(r"^\| (\d+) \| (.*) \| (.*) \|$", PAGE, re.MULTILINE)


def test_every_call_of_the_page_about_the_notes_works():
    names = {}
    for line in re.findall(r"^>>> (.*)$", PAGE, re.MULTILINE):
        exec(line, names)  # the set-up of the page
    for number, what, where in ITEMS:
        calls = re.findall(r"`([^`]*)`", where)
        assert calls or re.fullmatch(r"\[.+\]\((course|applications)/\w+\.rst\)", where), (number, what)
        for call in calls:
            if call.startswith("separatrix "):
                assert call.split()[1] in COMMANDS
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                eval(call, names)
        plt.close("all")


def test_the_items_are_numbered_in_order():
    assert [int(number) for number, _, _ in ITEMS] == list(range(1, len(ITEMS) + 1))
    assert len(ITEMS) > 140
