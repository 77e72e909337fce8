"""The program: its commands, its version, and how every error ends."""

from __future__ import annotations

import sys
import traceback
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from .. import __version__
from ..errors import SeparatrixError
from .advice import in_options
from .console import say

COMMANDS = ("check", "verify", "fit", "learn", "predict", "inspect", "export", "experiment", "play", "demo")

CODES = """
Exit codes: 0 done; 1 the answer is one that --fail-if names, or a certificate does not hold; 2 the input
cannot be used; 70 a bug of the program; 130 stopped by Ctrl-C.
"""
BUG = 70  # EX_SOFTWARE of the BSD conventions: an error inside the program itself


class Command(TyperCommand):
    """A command; whatever goes wrong in it ends here, in a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command.

        Errors of the library and of the system are about the input: a message says what to do. Any other
        error is a bug: its traceback is what the maintainers need.
        """
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise  # how a command ends, and what is wrong with its options
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
        except SeparatrixError as problem:
            say(in_options(problem, self._options(ctx)), error=True)
            raise typer.Exit(2) from None
        except OSError as problem:
            say(_words(problem), error=True)
            raise typer.Exit(2) from None
        except Exception:
            traceback.print_exc(file=sys.stderr)
            say(
                f"This is a bug of separatrix {__version__}. Please report it in the issue tracker of "
                "separatrix, with the lines above and the command.",
                error=True,
            )
            raise typer.Exit(BUG) from None

    def _options(self, ctx: Any) -> dict[str, Any]:
        """What the command was given, by the names of its options."""
        return {
            option: ctx.params.get(parameter.name)
            for parameter in self.params
            for option in (*parameter.opts, *parameter.secondary_opts)
        }


app = typer.Typer(
    help="Separate the classes, or prove that it cannot be done.",
    epilog=CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
)
for _name in COMMANDS:
    _function = getattr(import_module(f".{_name}", __package__), _name)
    app.command(_name, cls=Command)(_function)


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


def _words(problem: OSError) -> str:
    if isinstance(problem, FileNotFoundError) and problem.filename is not None:
        return f"There is no file {str(problem.filename)!r}."
    if isinstance(problem, FileExistsError) and problem.filename is not None:
        return f"{str(problem.filename)!r} is there already, and is not a directory. Name another."
    if isinstance(problem, IsADirectoryError):
        return f"{str(problem.filename)!r} is a directory. Name a file."
    if isinstance(problem, PermissionError) and problem.filename is not None:
        return f"{str(problem.filename)!r} cannot be opened: no permission."
    return str(problem) or type(problem).__name__
