"""Figures of matplotlib as SVG elements of an HTML page, in the colors of the page: light or dark."""

from __future__ import annotations

import io
import itertools
import re
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
from matplotlib.figure import Figure

from ..markup import Markup
from ..views.palettes import LIGHT
from .artists import BAND, REGION

SVG = "{http://www.w3.org/2000/svg}"


def svg_text(figure: Figure, salt: str) -> str:
    """Return a figure as the text of an SVG file; its ids depend only on the figure and on ``salt``."""
    text = io.StringIO()
    look: Any = {"svg.hashsalt": salt, "svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans"]}
    with mpl.rc_context(look):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    return text.getvalue()


def page_svg(text: str, title: str) -> Markup:
    """Return an SVG file that matplotlib drew in the light palette as an element of a page.

    Its colors become variables of the page, those of `Palette.variables`, and its font becomes ``--sans``.
    All text in it is escaped.
    """
    colors = {color: f"var(--{name})" for name, color in LIGHT.variables.items()}
    for k, share in itertools.product(range(len(LIGHT.classes)), (REGION, BAND)):
        mixed = f"color-mix(in srgb,var(--c{k}) {100 * share:.0f}%,var(--paper))"
        colors[mpl.colors.to_hex(LIGHT.tint(k, share))] = mixed
    root = ET.fromstring(text)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == f"{SVG}metadata" or child.find(f"{SVG}style") is not None:
                parent.remove(child)
        if parent.tag == f"{SVG}g":
            parent.attrib.pop("id", None)  # the ids of two pictures on one page would be the same
        if path := parent.get("d"):  # nobody sees less than a tenth of a point
            parent.set("d", re.sub(r"(\.\d)\d+", r"\1", path))
        if look := parent.get("style"):
            look = look.replace("'DejaVu Sans'", "var(--sans,system-ui)")
            parent.set("style", re.sub("#[0-9a-f]{6}", lambda found: colors.get(found[0], found[0]), look))
    box = root.attrib["viewBox"]
    wide = f"max-width:{float(box.split()[2]) * 4 / 3:.0f}px"  # a point is 4/3 pixels
    root.attrib.clear()
    root.attrib.update({"viewBox": box, "role": "img", "aria-label": title, "style": wide})
    ET.register_namespace("", SVG[1:-1])
    ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    return Markup(ET.tostring(root, encoding="unicode"))
