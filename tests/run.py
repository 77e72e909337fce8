"""Commands of the program, run in this process: what they print, answer in JSON, or refuse."""

from __future__ import annotations

import json

from typer.testing import CliRunner

# A dose separates those who recovered from those who did not.
PATIENTS = """dose,age,ward,recovered
1,31,a,no
2,45,b,no
2,62,a,no
3,29,b,no
3,51,a,yes
4,47,b,yes
5,33,a,yes
6,58,b,yes
"""


def run(*arguments, stdin=None, columns=None):
    """The result of a command: its exit code and what it wrote."""
    from separatrix.cli.app import app

    width = {} if columns is None else {"COLUMNS": str(columns)}
    return CliRunner().invoke(app, [str(each) for each in arguments], input=stdin, env=width)


def fine(*arguments, **options):
    """The result of a command that has to end with exit code 0."""
    result = run(*arguments, **options)
    assert result.exit_code == 0, result.output
    return result


def answer(*arguments, **options):
    """What a command answers in JSON."""
    return json.loads(fine(*arguments, "--json", **options).stdout)


def refused(*arguments, **options):
    """What a command says on standard error when it ends with exit code 2 and writes no result."""
    result = run(*arguments, **options)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return words(result)


def words(result):
    """Everything on standard error, without the frame and the lines that rich makes of it."""
    return " ".join(result.stderr.replace("│", " ").split())
