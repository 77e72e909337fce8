"""``python -m separatrix.cli`` is the program ``separatrix``."""

from . import main

main()
