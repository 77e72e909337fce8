"""The command line: what a person with a table and a question uses. No mathematics here."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; what the program ``separatrix`` starts."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows another
    try:
        from .app import app
    except ImportError as problem:
        sys.stderr.write(
            f"The command line needs {problem.name}. Install it with: pip install 'separatrix[cli]'\n"
        )
        sys.exit(2)
    app(prog_name="separatrix")
