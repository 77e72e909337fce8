"""Print the oldest version of each dependency that pyproject.toml allows, as constraints for pip.

``make test-oldest`` installs these. pip has no way to ask for the oldest versions that fit.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)>=(?P<version>[0-9]+(\.[0-9]+)*)")


def requirements(project):
    """Yield what the project and its extras ask for; an extra that names others adds nothing of its own."""
    for group in (project["dependencies"], *project["optional-dependencies"].values()):
        yield from (asked for asked in group if not asked.startswith(f"{project['name']}["))


def lower_bounds(project):
    """Return {name: oldest version allowed} for everything that the project or one of its extras needs."""
    bounds = {}
    for requirement in requirements(project):
        found = REQUIREMENT.fullmatch(requirement)
        if not found:
            raise ValueError(f"{requirement!r} has no lower bound alone; write it as name>=version.")
        name, version = found["name"], found["version"]
        if bounds.setdefault(name, version) != version:
            raise ValueError(
                f"{name} has two lower bounds, {bounds[name]} and {version}; write the same twice."
            )
    return bounds


def read_project():
    """Return the [project] table of pyproject.toml."""
    return tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]


if __name__ == "__main__":
    sys.stdout.writelines(f"{name}=={version}\n" for name, version in lower_bounds(read_project()).items())
