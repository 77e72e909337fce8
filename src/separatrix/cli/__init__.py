"""The command line: what a person with a table and a question uses. No mathematics here."""

from __future__ import annotations

import _thread
import gc
import os
import sys
import threading
from typing import Any

from ..errors import missing_package

# After this many new objects, garbage is collected. Imports make many objects that stay: with Python's 700,
# looking through them again and again takes a tenth of the time of `separatrix demo`; with this a thirtieth,
# with half of it a fifteenth, with twice no less.
NEW_OBJECTS = 100_000


def main() -> None:
    """Run the command line; what the program ``separatrix`` starts."""
    gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])
    sys.unraisablehook = _insist
    _reopen_closed()
    try:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # "?" would make two names one
        from .app import app

        app(prog_name="separatrix")
    except ModuleNotFoundError as problem:
        sys.stderr.write(f"{missing_package(problem, 'The command line', extra='cli')}\n")
        sys.exit(2)
    except SystemExit as ending:  # click and rich end with 1 if the reader of the output has gone
        raise SystemExit(141) if isinstance(ending.__context__, BrokenPipeError) else ending from None
    except OSError as problem:  # help that could not be written; errors of commands end there
        sys.stderr.write(f"Error: {problem.strerror or problem}.\n")
        sys.exit(2)
    except KeyboardInterrupt:  # before there was a command, or after it
        sys.stderr.write("Stopped.\n")
        sys.exit(130)


def _reopen_closed() -> None:
    """Read nothing from a standard stream that is closed, and write to nowhere.

    Otherwise the next file that is opened would get its number, and what a library writes there.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w" if number else "r"))  # noqa: SIM115 (as long as we run)


def _insist(ignored: Any) -> None:
    """Repeat a Ctrl-C that came during a callback (numba's compiler has some), where Python ignores it."""
    if issubclass(ignored.exc_type, KeyboardInterrupt):
        again = threading.Timer(0.05, _thread.interrupt_main)
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(ignored)
