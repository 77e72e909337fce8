"""What to do next, in terms of the command line: options instead of the parameters of the library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Options = Mapping[str, Any]  # what a command was given, by the names of its options


def in_options(told: Any, options: Options) -> str:
    """An error, a warning or an ending of the library as the command line says it.

    The problem stays as it is; the remedy, which is for callers of the library, becomes a sentence about
    options, or is left out if no option helps.
    """
    problem, parameter = getattr(told, "problem", None), getattr(told, "parameter", None)
    if problem is None:
        return str(told)
    wrong = getattr(told, "remedy", None) == ""  # the error is about the parameter itself
    return " ".join(filter(None, (problem, (_change if wrong else advice)(parameter, options))))


def advice(parameter: str | None, options: Options) -> str:
    """The sentence that says which option helps; empty if none does.

    Examples
    --------
    >>> advice("max_iter", {"--max-iter": 5, "--scale": False})
    'Raise --max-iter, or scale the columns with --scale.'
    >>> advice("max_iter", {"--max-iter": 5, "--scale": True})
    'Raise --max-iter.'
    >>> advice("max_iter", {"--max-iter": 5, "--scale": True, "--model": "averaged"})
    'If the classes can be separated, raise --max-iter. If they cannot, keep the average or try --model ...'
    """
    if parameter is None:
        return ""
    if parameter == "X":
        return _sentence(_scaling(options))
    if parameter == "max_iter" and (instead := INSTEAD.get(str(options.get("--model")))):
        further = " or ".join(filter(None, ("raise --max-iter", _scaling(options))))
        return f"If the classes can be separated, {further}. If they cannot, {instead}."
    if parameter == "max_iter":
        return _sentence("raise --max-iter", _scaling(options))
    if parameter == "max_updates":
        return _sentence(_scaling(options))
    if parameter == "average":
        return _sentence(INSTEAD.get(str(options.get("--model")), ""))
    return next((each for each in SENTENCES.get(parameter, ()) if options_in(each) <= options.keys()), "")


def options_in(sentence: str) -> set[str]:
    """The options that a sentence names.

    Examples
    --------
    >>> sorted(options_in("Look at --where, or name another column with --target."))
    ['--target', '--where']
    """
    return {word.rstrip(".,") for word in sentence.split() if word.startswith("--")}


# What to do with a model if the classes cannot be separated.
INSTEAD = {
    "perceptron": "try --model averaged or --model soft-margin",
    "averaged": "keep the average or try --model soft-margin",
}

# What to do, for each parameter that a remedy may be about: the first sentence whose options all exist.
SENTENCES = {
    "answer": ("Give it with --sql.",),
    "classes": ("Name every class to come with --classes.",),
    "exclude": ("Leave such columns out with --exclude.",),
    "features": ("Name columns other than the target with --features.",),
    "gap": ("Ask for a wider --gap.",),
    "identifier": (
        "Choose another column with --target, or make a few classes of this one in a query with --sql.",
        "Choose another column with --target.",
    ),
    "inseparable": ("Use --model soft-margin for classes that cannot be separated.",),
    "na": (
        "Correct the cell, name it as missing with --na, or read the column as text with --text.",
        "Correct the cell, or name it as missing with --na.",
    ),
    "decimal": ("Say what separates fractions or thousands, such as --decimal ',' or --thousands ','.",),
    "missing": ("Fill them in, or leave such rows out with --missing drop.",),
    "host": ("Leave --host out, or name an address of this machine.",),
    "port": ("Choose another --port, or --port 0, which takes any that is free.",),
    "radius": ("Lower --margin.",),
    "same_data": ("Check it against the original data, or only its mathematics with --any-data.",),
    "sheet": ("Name one with --sheet.",),
    "query": ("Give it with --sql, and leave DATA out.",),
    "source": ("Name a file, or give a query with --sql.",),
    "sql": (
        "Write a query with --sql, or leave the column out with --exclude.",
        "Write a query with --sql.",
    ),
    "table": ("Name one with --table.",),
    "target": ("Name it with --target.",),
    "text_encoding": ("Name how it is written with --encoding, such as --encoding latin-1.",),
    "where": ("Leave such rows out, with --where if the columns have names.",),
    "y": ("Look at --where, or name another column with --target.",),
}


def _change(parameter: str | None, options: Options) -> str:
    other = {"init": "--start", "random_state": "--seed", "text_encoding": "--encoding"}
    option = other.get(str(parameter), f"--{str(parameter).replace('_', '-')}")
    return f"Change {option}, or leave it out." if option in options else ""


def _scaling(options: Options) -> str:
    """Advise to scale only what was not scaled, and name the option only if there is one."""
    if options.get("--scale"):
        return ""
    return "scale the columns with --scale" if "--scale" in options else "scale the columns"


def _sentence(*ways: str) -> str:
    said = ", or ".join(filter(None, ways))
    return f"{said[0].upper()}{said[1:]}." if said else ""
