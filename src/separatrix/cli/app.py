"""The program: its commands, its version, and how every error ends."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from .console import say

COMMANDS = ("check", "verify", "fit", "learn", "predict", "inspect", "export", "experiment", "demo")

CODES = """
Exit codes: 0 done; 1 the answer is one that --fail-if names, or a certificate does not hold; 2 the input
cannot be used, and nothing was written.
"""


class Commands(TyperGroup):
    """The commands; whatever goes wrong in one of them ends here, in a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            sys.stderr.close()  # the reader has gone; Python would complain about the pipe when it ends
            raise typer.Exit(0) from None
        except KeyboardInterrupt:
            say("Stopped.")
            raise typer.Exit(130) from None
        except MemoryError:
            say(
                "There is not enough memory for this. Choose fewer columns or rows, or set --memory.",
                error=True,
            )
            raise typer.Exit(2) from None
        except (ImportError, OSError, OverflowError, TypeError, ValueError) as problem:
            # Every error of the library is one of these too; importing them would cost each start a second.
            say(_words(problem), error=True)
            raise typer.Exit(2) from None


app = typer.Typer(
    cls=Commands,
    help="Separate the classes, or prove that it cannot be done.",
    epilog=CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
)
for _name in COMMANDS:
    _function = getattr(import_module(f".{_name}", __package__), _name)
    app.command(_name)(_function)


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


def _words(problem: BaseException) -> str:
    if isinstance(problem, FileNotFoundError) and problem.filename is not None:
        return f"There is no file {str(problem.filename)!r}."
    if isinstance(problem, IsADirectoryError):
        return f"{str(problem.filename)!r} is a directory. Name a file."
    if isinstance(problem, PermissionError) and problem.filename is not None:
        return f"{str(problem.filename)!r} cannot be opened: no permission."
    return str(problem) or type(problem).__name__
