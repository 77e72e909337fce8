"""Options from plain functions: the signature gives names, types and defaults, the docstring gives the help.

A parameter of type `Reading` becomes the options for reading a table, and one of type `Settings` becomes the
options for the parameters of estimators or other functions of the library. What `Annotated` adds to a type
goes to typer, to `Reading` as the fields to leave out, or to `Settings` as the functions by short names.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import Parameter, Signature, signature
from operator import attrgetter
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from .options import SHARED, Reading, Settings, first_weights, number_or_text, option_name

# Parameters that the commands set themselves, or that make no sense in a command.
NOT_OPTIONS = (
    "fit_intercept",
    "intercept",
    "random_state",
    "trace",
    "verbose",
    "warm_start",
    "memory_limit",
    "n_rows",
)
Words = dict[str, tuple[list[str], str | None, str]]


def described(docstring: str | None) -> Words:
    r"""Return what the last section of a docstring says about options: other names, the value, the help.

    Examples
    --------
    >>> described("output, -o FILE: Write\n    to this file.\njson: Write JSON.")
    {'output': (['-o'], 'FILE', 'Write to this file.'), 'json': ([], None, 'Write JSON.')}
    """
    text = inspect.cleandoc(docstring or "").rpartition("Options\n-------\n")[2]
    lines = re.findall(r"^(\w+)((?:, -[\w-]+)*)(?: (\S+))?: (.*(?:\n .*)*)", text, re.MULTILINE)
    return {
        name: (re.findall(r"-[\w-]+", others), value or None, " ".join(said.split()))
        for name, others, value, said in lines
    }


def declared(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameters are options that typer understands."""
    words = described(SHARED) | described(Reading.__doc__) | described(command.__doc__)
    options: list[Parameter] = []
    groups: dict[str, tuple[type, list[str]]] = {}
    for each, kind, extra in _parameters(command):
        if kind is Reading:
            own = [_option(*field, words) for field in _parameters(Reading) if field[0].name not in extra]
        elif kind is Settings:
            own = _of_functions(words, extra)
        else:
            options.append(_option(each, kind, extra, words))
            continue
        groups[each.name] = kind, [option.name for option in own]
        options += own

    @wraps(command)
    def run(**given: Any) -> None:
        for name, (kind, own) in groups.items():
            given[name] = kind(**{each: given.pop(each) for each in own})
        command(**given)

    shown: Any = run
    shown.__signature__, shown.__annotations__ = Signature(options), {}
    told = inspect.cleandoc(command.__doc__ or "").partition("\nOptions\n")[0]
    shown.__doc__ = re.sub(r"(?m)^(?=    separatrix )", "\b\n", told)  # commands are not wrapped
    return run


def _parameters(function: Any) -> Iterator[tuple[Parameter, Any, Any]]:
    """Yield each parameter with its type, and with what `Annotated` adds to the type."""
    inner = function.__init__ if inspect.isclass(function) and function is not Reading else function
    hints = get_type_hints(inner, include_extras=True)
    for each in signature(function).parameters.values():
        hint = hints[each.name]
        yield each, *(get_args(hint)[:2] if get_origin(hint) is Annotated else (hint, {}))


def _option(parameter: Parameter, kind: Any, extra: dict[str, Any], words: Words) -> Parameter:
    """Return a parameter as an argument, or as an option if it is keyword-only."""
    others, value, said = words[parameter.name]
    name = f"--{option_name(parameter.name)}"
    if parameter.kind is not Parameter.KEYWORD_ONLY:
        told: Any = typer.Argument(metavar=value, help=said, **extra)
    elif kind in (bool, bool | None) and (others or parameter.default is not False):
        opposite = others[0] if others else f"--no-{option_name(parameter.name)}"
        told = typer.Option(f"{name}/{opposite}", help=said, **extra)
    else:
        told = typer.Option(name, *others, metavar=value, help=said, **extra)
    return parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=Annotated[kind, told])


def _of_functions(words: Words, functions: dict[str, str]) -> list[Parameter]:
    """Return an option for each parameter of some functions of the library."""
    import separatrix

    found: dict[str, Parameter] = {}
    for path in functions.values():
        for each, hint, _ in _parameters(attrgetter(path)(separatrix)):
            if each.name not in (*found, *NOT_OPTIONS):
                kinds = [kind for kind in (get_args(hint) or (hint,)) if kind is not type(None)]
                kind, extra = (str if str in kinds else kinds[0]) | None, {}
                if kinds == [Any]:
                    kind, extra = Any, {"parser": first_weights if each.name == "init" else number_or_text}
                usual: Words = {
                    each.name: ([], None, f"The parameter {each.name} of {path}: see the reference.")
                }
                option = each.replace(kind=Parameter.KEYWORD_ONLY, default=None)
                found[each.name] = _option(option, kind, extra, usual | words)
    return list(found.values())
