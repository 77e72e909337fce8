"""What to do next, in terms of the command line: options instead of the parameters of the library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .options import option_name

Options = Mapping[str, Any]  # what a command was given, by the names of its options


def in_options(found: Any, options: Options) -> str:
    """Return the text of an error, a warning or a status for the command line.

    The problem is that of the library. The remedy, which is for callers of the library, is replaced by a
    sentence about options, or left out if no option helps.
    """
    problem, parameter = getattr(found, "problem", None), getattr(found, "parameter", None)
    if problem is None:
        return str(found)
    wrong = getattr(found, "remedy", None) == ""  # the error is about the parameter itself
    return " ".join(filter(None, (problem, (_change if wrong else advice)(parameter, options))))


def advice(parameter: str | None, options: Options) -> str:
    """Return the sentence that says which option helps; it is empty if no option helps.

    Examples
    --------
    >>> advice("max_iter", {"--max-iter": 5, "--scale": False})
    'Raise --max-iter, or scale the columns with --scale.'
    >>> advice("max_iter", {"--max-iter": 5, "--scale": True})
    'Raise --max-iter.'
    >>> advice("max_iter", {"--max-iter": 5, "--scale": True, "--model": "averaged"})
    'If the classes can be separated, raise --max-iter. If they cannot, keep the average or try --model ...'
    """
    instead, scaling = INSTEAD.get(str(options.get("--model")), ""), _scaling(options)
    if parameter == "max_iter" and instead:
        further = " or ".join(filter(None, ("raise --max-iter", scaling)))
        return f"If the classes can be separated, {further}. If they cannot, {instead}."
    ways = {"X": [scaling], "max_updates": [scaling], "average": [instead]}
    ways["max_iter"] = ["raise --max-iter", scaling]
    if parameter in ways:
        said = ", or ".join(filter(None, ways[parameter]))
        return f"{said[0].upper()}{said[1:]}." if said else ""
    sentences = SENTENCES.get(str(parameter), ())
    return next((each for each in sentences if options_in(each) <= options.keys()), "")


def options_in(sentence: str) -> set[str]:
    """Return the options that a sentence names.

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
    "classes": ("List all classes with --classes.",),
    "exclude": ("Leave these columns out with --exclude.",),
    "features": ("Name columns other than the target with --features.",),
    "gap": ("Set a larger --gap.",),
    "groups": ("Or ask with an intercept for each group with --groups.",),
    "identifier": (
        "Choose another column with --target, or derive a few classes from this one in a query with --sql.",
        "Choose another column with --target.",
    ),
    "inseparable": ("Use --model soft-margin for classes that cannot be separated.",),
    "categories": (
        'Number them, or list them in order: --formula \'ordered(y, levels = c("low", "high")) ~ x\'.',
    ),
    "na": (
        "Correct the cell, name it as missing with --na, or read the column as text with --text.",
        "Correct the cell, or name it as missing with --na.",
    ),
    "decimals": (
        "Keep more decimals with --decimals, ask for a larger --margin or --gap, or for fewer --rows.",
    ),
    "decimal": (
        "Name the decimal or the thousands separator: --decimal ',' or --thousands ',', for example.",
    ),
    "kernel": ("Choose linear, poly, rbf, geometric or monomial with --kernel.",),
    "lesson": ("Choose a chapter of the course, 0 to 4, with --lesson.",),
    "missing": ("Fill them in, or leave these rows out with --missing drop.",),
    "host": ("Leave --host out, or name an address of this machine.",),
    "port": ("Choose another --port, or --port 0, which selects a free one.",),
    "same_data": ("Use the original data, or check the proof for these data with --any-data.",),
    "sheet": ("Name one with --sheet.",),
    "skip": ("Skip the titles above it with --skip.",),
    "query": ("Give it with --sql, and leave DATA out.",),
    "source": ("Name a file, or give a query with --sql.",),
    "sql": ("Write a query with --sql, or leave the column out with --exclude.", "Write a query with --sql."),
    "table": ("Name one with --table.",),
    "target": ("Name it with --target.",),
    "text_encoding": ("Name the encoding with --encoding, such as --encoding cp1252.",),
    "where": ("Leave these rows out, with --where if the columns have names.",),
    "y": ("Name another column with --target or, if you used --where, keep rows of two classes.",),
}


def _change(parameter: str | None, options: Options) -> str:
    option = f"--{option_name(str(parameter))}"
    return f"Change {option}, or leave it out." if option in options else ""


def _scaling(options: Options) -> str:
    """Return the advice to scale the columns, unless they are scaled; it names --scale if there is one."""
    if options.get("--scale"):
        return ""
    return "scale the columns with --scale" if "--scale" in options else "scale the columns"
