"""The command line: what a person with a table and a question uses. No mathematics here."""

from __future__ import annotations

import sys

from ..errors import MissingPackageError, needs


def main() -> None:
    """Run the command line; what the program ``separatrix`` starts."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows another
    try:
        with needs("The command line", extra="cli"):
            from .app import app
    except MissingPackageError as problem:
        sys.stderr.write(f"{problem}\n")
        sys.exit(2)
    app(prog_name="separatrix")
