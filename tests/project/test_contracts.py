"""Each import contract of pyproject.toml fails when it is broken."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

from tests.oldest import PYPROJECT

ROOT = PYPROJECT.parent
CONTRACTS = tomllib.loads(PYPROJECT.read_text("utf-8"))["tool"]["importlinter"]["contracts"]
NAMES = [contract["name"] for contract in CONTRACTS]
EXHAUSTIVE = [contract["name"] for contract in CONTRACTS if contract.get("exhaustive")]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the package, whose files may be broken."""
    pytest.importorskip("importlinter")
    place = tmp_path_factory.mktemp("contracts")
    shutil.copytree(
        ROOT / "src" / "separatrix", place / "separatrix", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(PYPROJECT, place)
    return place


def kept(tree):
    """What import-linter says of each contract: kept or not."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree), "COLUMNS": "200", "NO_COLOR": "1"},
    )
    said = " ".join(done.stdout.split())
    found = {name: re.search(re.escape(name) + r"(?: \([^)]*\))? (KEPT|BROKEN)", said) for name in NAMES}
    assert all(found.values()), (found, done.stdout, done.stderr)
    return {name: match[1] == "KEPT" for name, match in found.items()}


def ends(contract):
    """A module and one that it must not import."""
    if contract["type"] == "forbidden":
        [source] = contract["source_modules"]
        return source, next(name for name in contract["forbidden_modules"] if name.startswith("separatrix."))
    [container] = contract["containers"]
    highest, lowest = (
        re.findall(r"\w+", layer)[0] for layer in (contract["layers"][0], contract["layers"][-1])
    )
    return f"{container}.{lowest}", f"{container}.{highest}"


def file_of(tree, module):
    path = tree.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@pytest.mark.slow
def test_the_contracts_are_kept(tree):
    assert all(kept(tree).values())


@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACTS, ids=NAMES)
def test_an_import_against_a_contract_breaks_it(contract, tree):
    importer, imported = ends(contract)
    path = file_of(tree, importer)
    whole = path.read_text("utf-8")
    path.write_text(f"{whole}\n\ndef _broken():\n    import {imported}\n", encoding="utf-8")
    try:
        assert not kept(tree)[contract["name"]]
    finally:
        path.write_text(whole, encoding="utf-8")


@pytest.mark.slow
def test_a_module_without_a_place_breaks_the_contract_of_its_package(tree):
    containers = {each["name"]: each["containers"][0] for each in CONTRACTS if each["name"] in EXHAUSTIVE}
    added = [tree.joinpath(*container.split("."), "homeless.py") for container in containers.values()]
    for path in added:
        path.write_text('"""A module that no layer names."""\n', encoding="utf-8")
    try:
        told = kept(tree)
        assert not any(told[name] for name in EXHAUSTIVE)
        assert all(told[name] for name in NAMES if name not in EXHAUSTIVE)
    finally:
        for path in added:
            path.unlink()
