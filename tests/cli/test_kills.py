"""A short form of ``make kills``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="elsewhere temporary files have names")
def test_a_killed_command_leaves_no_torn_file_and_nothing_after_the_next_run():
    script = Path(__file__).parents[1] / "kills.py"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), "--kills", "12", "--seed", "5"],
        capture_output=True,
        text=True,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    assert " kills in " in done.stdout
