"""The program: its commands, its version, and how every error ends."""

from __future__ import annotations

import inspect
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from .. import __version__
from ..errors import SeparatrixError
from ..printable import printable, printable_lines
from . import commands
from .advice import in_options
from .console import say
from .signatures import declared

# Each module of `commands` is a command: the function of its name, without ``_command``.
COMMANDS = tuple(
    sorted(each.name.removesuffix("_command") for each in pkgutil.iter_modules(commands.__path__))
)

CODES = """
Exit codes: 0 done; 1 the answer is one that --fail-if names, or a certificate does not hold; 2 the input
cannot be used; 70 a bug in the program; 130 stopped by Ctrl-C; 141 the output was closed, as by head.
"""
BUG = 70  # EX_SOFTWARE of the BSD conventions: an error inside the program itself


class Command(TyperCommand):
    """A command. If something goes wrong in it, it ends with a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command.

        Errors of the library and of the system are about the input: a message says what to do. Any other
        error is a bug: its traceback is what the maintainers need.
        """
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
            raise  # how a command ends, and what is wrong with its options
        except KeyboardInterrupt:
            say("Stopped.")
            raise typer.Exit(130) from None
        except MemoryError:
            way = ", or set --memory" if "--memory" in self._options(ctx) else ""
            say(
                f"There is not enough memory for this. Choose fewer columns, rows or classes{way}.",
                error=True,
            )
            raise typer.Exit(2) from None
        except SeparatrixError as problem:
            say(in_options(problem, self._options(ctx)), error=True)
            raise typer.Exit(2) from None
        except OSError as problem:
            reason = problem.strerror or str(problem) or type(problem).__name__
            named = problem.filename is not None
            what = f"{str(problem.filename)!r} cannot be used" if named else "Reading or writing failed"
            say(f"{what}: {reason}.", error=True)
            raise typer.Exit(2) from None
        except Exception:
            import traceback

            sys.stderr.write(printable_lines(traceback.format_exc()))
            say(
                f"This is a bug in separatrix {__version__}. Please report it in the issue tracker, with the "
                "lines above and the command.",
                error=True,
            )
            raise typer.Exit(BUG) from None

    def _options(self, ctx: Any) -> dict[str, Any]:
        """Return the values that the command was given, by the names of its options."""
        return {
            option: ctx.params.get(parameter.name)
            for parameter in self.params
            for option in (*parameter.opts, *parameter.secondary_opts)
        }


class Program(TyperGroup):
    """All commands. Only the one that is called gets its options, so that the program starts quickly."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name in COMMANDS:
            self.add_command(TyperCommand(name), name)

    def make_context(self, *given: Any, **extra: Any) -> Any:
        """Read what comes before the command."""
        with _usage_printable():
            return super().make_context(*given, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _usage_printable():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that was called, and the rest of the words."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load(name), rest

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands, with the first paragraph of each docstring."""
        for name, command in self.commands.items():
            command.short_help = " ".join((inspect.getdoc(_function(name)) or "").split("\n\n")[0].split())
        super().format_commands(ctx, formatter)


@contextmanager
def _usage_printable() -> Iterator[None]:
    """Make errors about how a command was called, which quote it, harmless to a terminal.

    Of the options that click suggests, only those that differ by a letter or two are kept.
    """
    try:
        yield
    except Exception as raised:
        problem: Any = raised
        if hasattr(problem, "format_message") and hasattr(problem, "message"):
            problem.message = printable(problem.message)
        if getattr(problem, "possibilities", None):
            problem.possibilities = get_close_matches(
                problem.option_name, problem.possibilities, n=1, cutoff=0.8
            )
        raise


def load(name: str) -> Any:
    """Return a command with its options."""
    info = CommandInfo(name=name, cls=Command, callback=declared(_function(name)))
    return get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=None)


def _function(name: str) -> Any:
    return getattr(import_module(f".{name}_command", commands.__name__), name)


app = typer.Typer(
    cls=Program,
    help="Separate the classes, or prove that it cannot be done.",
    epilog=CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"separatrix {__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Separate the classes, or prove that it cannot be done."""
