"""The colors of pictures and pages; color-blind readers can tell them apart, on light and on dark paper.

The first four colors of classes are from Okabe and Ito (2008), lightened on dark paper; the others were
chosen to differ from them under the color deficiencies of Machado, Oliveira and Fernandes (2009). No
meaning depends on color alone: classes have their own markers, and lines their own dashes.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h")
DASHES = ("-", "--", "-.", ":")


@dataclass(frozen=True)
class Palette:
    """The colors of one theme.

    Attributes
    ----------
    name : {"light", "dark"}
    paper, ink, muted, faint : str
        The background, text and lines on it, secondary text, and grid lines.
    accent : str
        The color of what the reader should see first: an update, a bound, a common point.
    classes : tuple of str
        One color per class or line; `color` and `marker` start again if there are more.

    Every color is written as ``#rrggbb``.
    """

    name: str
    paper: str
    ink: str
    muted: str
    faint: str
    accent: str
    classes: tuple[str, ...]

    @property
    def variables(self) -> dict[str, str]:
        """The colors by the names of the variables of pages: those of classes are c0, c1 and so on."""
        named = {name: getattr(self, name) for name in ("paper", "ink", "muted", "faint", "accent")}
        return named | {f"c{k}": color for k, color in enumerate(self.classes)}

    def color(self, index: int) -> str:
        """Return the color of a class or a line."""
        return self.classes[index % len(self.classes)]

    def marker(self, index: int) -> str:
        """Return the marker of a class."""
        return MARKERS[index % len(MARKERS)]

    def tint(self, index: int, strength: float) -> tuple[float, float, float]:
        """Return the color of a class, mixed with the paper: 0 is the paper, 1 is the color itself."""
        return self.mix(self.color(index), strength)

    def mix(self, color: str, strength: float) -> tuple[float, float, float]:
        """Return any color, mixed with the paper."""
        there, here = _shares(color), _shares(self.paper)
        red, green, blue = (strength * a + (1.0 - strength) * b for a, b in zip(there, here, strict=True))
        return red, green, blue


LIGHT = Palette(
    name="light",
    paper="#ffffff",
    ink="#1a1a1a",
    muted="#595959",
    faint="#dddddd",
    accent="#c44e00",
    classes=("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#3d2537", "#8e1005", "#9518f8", "#201c8f"),
)
DARK = Palette(
    name="dark",
    paper="#16181c",
    ink="#f0f0f0",
    muted="#b0b0b0",
    faint="#3a3d42",
    accent="#ff7f2a",
    classes=("#3a8fdd", "#f2b632", "#2fd6a2", "#e58fc0", "#8a55f5", "#cc4a30", "#dcf7a8", "#5f8580"),
)
THEMES = {palette.name: palette for palette in (LIGHT, DARK)}


def _shares(color: str) -> tuple[float, ...]:
    """Return red, green and blue between 0 and 1."""
    return tuple(int(color[k : k + 2], 16) / 255.0 for k in (1, 3, 5))


def page_style() -> str:
    """Return the style sheet of HTML pages, with the colors of both palettes."""
    sheet = resources.files(__package__).joinpath("page.css").read_text("utf-8")
    for palette in THEMES.values():
        colors = "".join(f"--{variable}:{color};" for variable, color in palette.variables.items())
        sheet = sheet.replace(f"/*{palette.name}*/", colors)
    return sheet
