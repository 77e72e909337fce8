"""Configuration of the site, for `make docs`. Warnings are errors; the build does not use the network."""

from __future__ import annotations

import inspect
import os
import shutil
import sys
import warnings
from importlib import import_module
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sklearn.base import BaseEstimator
from sphinx_gallery.sorting import FileNameSortKey

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE.parent)]
os.environ.setdefault("MPLBACKEND", "Agg")

# The path above finds these two.
separatrix, page = import_module("separatrix"), import_module("benchmarks.page")

project = "separatrix"
author = "the separatrix developers"
version = release = separatrix.__version__
html_title = "separatrix"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build", "**/README.md", "**/GALLERY_HEADER.rst"]
nitpicky = False
suppress_warnings = ["config.cache"]
if len(str(HERE).split()) > 1:  # our files have no spaces in their names, but a folder above may
    suppress_warnings.append("sphinx_gallery.space_in_filename")

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings state the types
numpydoc_show_class_members = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/course", "../examples/applications"],
    "gallery_dirs": ["course", "applications"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": FileNameSortKey,
    "abort_on_example_error": True,
    "capture_repr": (),
    "download_all_examples": False,
    "show_memory": False,
    "plot_gallery": "True",
    "remove_config_comments": True,
    "first_notebook_cell": "%matplotlib inline",
}

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
templates_path = ["_templates"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "separatrix"},
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_copy_source = False
# Pages without subpages have nothing to show in the sidebar.
html_sidebars = {name: [] for name in ("index", "start", "gallery", "speed", "benchmarks/index", "writing")}

warnings.filterwarnings("ignore", message=".*non-interactive.*")


def _mathml(node: nodes.Node, *, block: bool) -> str:
    """Render a formula as MathML, which browsers draw and screen readers speak without a script."""
    return tex2mathml(node.astext(), as_block=block).replace(
        '<mo stretchy="false">|</mo>', '<mo stretchy="false" lspace="0em" rspace="0em">|</mo>'
    )


def _inline(self, node):
    self.body.append(_mathml(node, block=False))
    raise nodes.SkipNode


def _block(self, node):
    self.body.append(f'<div class="math">{_mathml(node, block=True)}</div>')
    raise nodes.SkipNode


def _signature(app, what, name, obj, options, signature, returned):
    """Show the parameters of an estimator as Python sees them, without annotations."""
    if what == "class" and issubclass(obj, BaseEstimator):
        plain = [each.replace(annotation=each.empty) for each in inspect.signature(obj).parameters.values()]
        return str(inspect.Signature(plain)), None
    return None


def _trim(app, name, source):
    """Drop the empty line at the end of a block, which doctests need and readers do not."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def _write_benchmarks(app):
    """Write the page of the benchmarks from their results file."""
    page.write(HERE / "benchmarks")


def _copy_gallery(app, error):
    """Copy the pictures of the gallery: they are in HTML, for light and dark, so Sphinx does not see them."""
    if error is None:
        shutil.copytree(HERE / "gallery", Path(app.outdir) / "gallery", dirs_exist_ok=True)


def _write_playground(app, error):
    """Write the playground beside the pages that show it in a frame."""
    if error is None:
        import_module("separatrix.playground.static_site").write_site(Path(app.outdir) / "play")


def setup(app):
    app.connect("autodoc-process-signature", _signature)
    app.connect("source-read", _trim)
    app.connect("builder-inited", _write_benchmarks)
    app.connect("build-finished", _copy_gallery)
    app.connect("build-finished", _write_playground)
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))


html_math_renderer = "mathml"
