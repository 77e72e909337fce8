"""The site: built from top to bottom, with the course run; warnings are errors."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import separatrix as sx

ROOT = Path(__file__).resolve().parents[2]


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self.targets += [told[name] for name in ("href", "src") if told.get(name)]
        self.anchors |= {told[name] for name in ("id", "name") if told.get(name)}


def public_names() -> set[str]:
    """Every public name, under the name of its home: that of a class or function, or that of its face."""
    names = set()
    for name in sx.__all__:
        value = getattr(sx, name)
        if inspect.ismodule(value):
            names |= {f"{value.__name__}.{each}" for each in value.__all__}
        else:
            names.add(f"separatrix.{name}")
    return names


def _described(inventory: Path) -> set[str]:
    """What the reference describes, by the names that links may use."""
    text = zlib.decompress(inventory.read_bytes().split(b"\n", 4)[4]).decode()
    return {line.split()[0] for line in text.splitlines() if " py:" in line}


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_every_link_inside_it_resolves(tmp_path):
    pytest.importorskip("sphinx_gallery")
    # The build writes beside its sources: let it do so in a copy, in a folder with a space in its name.
    tmp_path /= "a copy"
    tmp_path.mkdir()
    for part in ("docs", "examples", "src", "benchmarks"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("_build", "__pycache__"))
    for page in ("CONTRIBUTING.md", "ARCHITECTURE.md", "README.md", "CHANGELOG.md"):
        shutil.copy(ROOT / page, tmp_path)
    site = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", tmp_path / "docs", site],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pages = {page: Links() for page in site.rglob("*.html") if "_static" not in page.parts}
    for page, links in pages.items():
        links.feed(page.read_text(encoding="utf-8"))
    described = _described(site / "objects.inv")
    assert sorted(public_names() - described) == []
    assert len(list((site / "_downloads").rglob("plot_[0-4]_*.ipynb"))) == 5
    for page, links in pages.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                assert page.name != "index.html" or parts.scheme in ("https", "mailto", "data"), target
                continue
            found = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert found.exists(), f"{page.name}: {target}"
            if parts.fragment and found in pages and not parts.fragment.startswith("search"):
                assert unquote(parts.fragment) in pages[found].anchors | {""}, f"{page.name}: {target}"
