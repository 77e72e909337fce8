"""The command line. It contains no mathematics."""

from __future__ import annotations

import _thread
import os
import sys
import threading
from typing import Any

from ..errors import missing_package


def main() -> None:
    """Run the program ``separatrix``."""
    sys.unraisablehook = _insist
    _reopen_closed()
    try:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # "?" would make different names equal
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
        os.write(2, b"Stopped.\n")  # `sys.stderr` cannot be written to if `reconfigure` was interrupted
        sys.exit(130)


def _reopen_closed() -> None:
    """Connect closed standard streams to the null device.

    Otherwise the next file that is opened would get the number of the stream, and its output.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w" if number else "r"))  # noqa: SIM115 (as long as we run)


def _insist(ignored: Any) -> None:
    """Repeat a Ctrl-C that Python ignored because it came during a callback, as in numba's compiler."""
    if issubclass(ignored.exc_type, KeyboardInterrupt):
        again = threading.Timer(0.05, _thread.interrupt_main)
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(ignored)
