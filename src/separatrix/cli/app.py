"""The program: its commands, its version, and how every error ends."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from .. import __version__
from ..errors import SeparatrixError
from ..printable import printable, printable_lines
from .advice import in_options
from .console import say

# Every command with what the list of commands says of it: the first sentence of its own help.
COMMANDS = {
    "check": "Can the classes be separated? The verdict in plain words, with an exact proof.",
    "verify": "Does a certificate hold for these data? Exit code 0 if it does, 1 if it does not.",
    "fit": "Learn a separator; say whether it separates, how many mistakes it made, and what theory allowed.",
    "learn": "Learn online: each row is seen once, in order, and every mistake is corrected at once.",
    "predict": "Predict the class of every row, in bounded memory.",
    "inspect": "What does this file say? A model or a certificate; nothing in it is executed.",
    "export": "Write a model as an ONNX graph with the outputs label and scores.",
    "experiment": "Run the experiments of the course: question, theorem, figure, and an answer that "
    "was checked.",
    "film": "Watch a perceptron learn: every update with the weights before and after, and the proof of the "
    "bound.",
    "generate": "Make data whose answer is known: a separator and its margin, or rows that prove there is "
    "none.",
    "play": "See a perceptron think, on your own points, in the browser; with proofs.",
    "demo": "The whole story in under a minute: a verdict, its proof, a model, its mistakes, and a report.",
}
MARKUP: Final = "markdown"

CODES = """
Exit codes: 0 done; 1 the answer is one that --fail-if names, or a certificate does not hold; 2 the input
cannot be used; 70 a bug of the program; 130 stopped by Ctrl-C; 141 whoever read the output has gone.
"""
GONE = 141  # what shells say of a program that wrote into a closed pipe
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
            raise typer.Exit(GONE) from None  # not 0, which would be an answer
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
            say(_words(problem), error=True)
            raise typer.Exit(2) from None
        except Exception:
            import traceback

            sys.stderr.write(printable_lines(traceback.format_exc()))
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


class Program(TyperGroup):
    """The commands; one is imported when it is called, none for the list of them, which is plain text."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, summary in COMMANDS.items():
            self.add_command(TyperCommand(name, short_help=summary), name)

    def make_context(self, *given: Any, **extra: Any) -> Any:
        """Read what stands before the command."""
        with _usage_printable():
            return super().make_context(*given, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _usage_printable():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that was called, and what it was called with."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load(name), rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The list of commands, without rich: a glance at it should not wait."""
        markup, self.rich_markup_mode = self.rich_markup_mode, None
        try:
            super().format_help(ctx, formatter)
        finally:
            self.rich_markup_mode = markup


@contextmanager
def _usage_printable() -> Iterator[None]:
    """Let errors about how a command was called, which quote it, act on no terminal."""
    try:
        yield
    except Exception as problem:
        if hasattr(problem, "format_message") and hasattr(problem, "message"):
            problem.message = printable(problem.message)
        raise


def load(name: str) -> Any:
    """A command, with its options."""
    function = getattr(import_module(f".commands.{name}_command", __package__), name)
    info = CommandInfo(name=name, cls=Command, callback=function)
    return get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=MARKUP)


app = typer.Typer(
    cls=Program,
    help="Separate the classes, or prove that it cannot be done.",
    epilog=CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=MARKUP,
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


def _words(problem: OSError) -> str:
    if isinstance(problem, FileNotFoundError) and problem.filename is not None:
        return f"There is no file {str(problem.filename)!r}."
    if isinstance(problem, FileExistsError) and problem.filename is not None:
        return f"{str(problem.filename)!r} is there already, and is not a directory. Name another."
    if isinstance(problem, IsADirectoryError):
        return f"{str(problem.filename)!r} is a directory. Name a file."
    if isinstance(problem, PermissionError) and problem.filename is not None:
        return f"{str(problem.filename)!r} cannot be opened: no permission."
    if problem.filename is not None and problem.strerror:
        return f"{str(problem.filename)!r} cannot be used: {problem.strerror}."
    return f"Reading or writing failed: {problem.strerror or str(problem) or type(problem).__name__}."
