"""Write the chapters of the course as notebooks: ``python -m examples.notebooks``.

They are in examples/course/notebooks, without results: they can be read and run without building the site.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from sphinx_gallery.gen_gallery import DEFAULT_GALLERY_CONF
from sphinx_gallery.notebook import jupyter_notebook
from sphinx_gallery.py_source_parser import split_code_and_text_blocks

CHAPTERS = Path(__file__).resolve().parent / "course"
FOLDER = CHAPTERS / "notebooks"
# References to other pages of the site: the text stays.
LINK = re.compile(r":(?:ref|doc):`([^<`]*?)\s*<[^`]*>`")
# The playground in a frame, which only the site has.
FRAME = re.compile(r"\.\. raw:: html\n\n +<iframe.*\n\n?")


def chapters() -> list[Path]:
    """The sources of the chapters, in order."""
    return sorted(CHAPTERS.glob("plot_*.py"))


def target(chapter: Path) -> Path:
    """The notebook of a chapter."""
    return FOLDER / f"{chapter.stem.removeprefix('plot_')}.ipynb"


def notebook(chapter: Path) -> str:
    """The text of the notebook of a chapter."""
    _, blocks = split_code_and_text_blocks(str(chapter))
    blocks = [block._replace(content=FRAME.sub("", LINK.sub(r"\1", block.content))) for block in blocks]
    settings = {**DEFAULT_GALLERY_CONF, "first_notebook_cell": "%matplotlib inline"}
    content = jupyter_notebook(blocks, settings, str(chapter.parent))
    content["metadata"].pop("language_info", None)  # the Python that made it
    for cell in content["cells"]:
        cell["source"] = "".join(cell["source"]).splitlines(keepends=True)
    return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def main() -> None:
    """Write all notebooks."""
    FOLDER.mkdir(exist_ok=True)
    for chapter in chapters():
        target(chapter).write_text(notebook(chapter), encoding="utf-8")


if __name__ == "__main__":
    main()
