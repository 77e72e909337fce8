"""Temporary files without a name: they go with the process, however that ends."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref

OPEN_FILES = "/proc/self/fd"  # where Linux lets files be opened that have no name


class Spool:
    """Temporary files that go with the last object that knows this one."""

    def new(self, suffix: str = "") -> str:
        """A path at which a new, empty file can be written and read.

        On Linux it never has a name in the temporary directory, so that not even a killed process leaves it
        there. Elsewhere it is named, with the suffix, and removed when it is no longer needed.
        """
        if os.path.isdir(OPEN_FILES):
            file = tempfile.TemporaryFile(prefix="separatrix-")  # noqa: SIM115
            weakref.finalize(self, file.close)
            return f"{OPEN_FILES}/{file.fileno()}"
        folder = tempfile.mkdtemp(prefix="separatrix-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return os.path.join(folder, f"data{suffix}")
