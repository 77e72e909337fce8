"""Small pictures as SVG text; the page's style sheet colours them, so that they follow light and dark."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ..markup import Markup, short, tag

WIDTH = 440


@dataclass(frozen=True)
class Scale:
    """Values between ``low`` and ``high`` on pixels between ``start`` and ``end``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """Round values, about ``count`` of them."""
        step = nice_step((self.high - self.low) / max(1, count))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]


def nice_step(rough: float) -> float:
    """The smallest 1, 2 or 5 times a power of ten that is not below.

    Examples
    --------
    >>> nice_step(0.3), nice_step(7.0)
    (0.5, 10.0)
    """
    power = 10.0 ** math.floor(math.log10(rough))
    return float(
        next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough * (1 - 1e-9))
    )


def span(values: list[float], room: float = 0.05) -> tuple[float, float]:
    """The range of values with some room on either side; never empty."""
    low, high = min(values), max(values)
    pad = room * (high - low) or abs(low) * 0.5 or 1.0
    return low - pad, high + pad


def number(value: float) -> str:
    """A short text for a tick.

    Examples
    --------
    >>> number(0.25), number(12000.0), number(-3.0), number(2.5e-7), number(4e5)
    ('0.25', '12,000', '−3', '2.5e−7', '4e5')
    """
    if value == 0.0:
        return "0"
    if 1e-4 <= abs(value) < 1e5:
        text = f"{value:,.6g}"
    else:
        mantissa, exponent = f"{value:.2e}".split("e")
        text = f"{float(mantissa):g}e{int(exponent)}"
    return text.removesuffix(".0").replace("-", "\N{MINUS SIGN}")


@dataclass
class Picture:
    """SVG elements in the order they are drawn, in a box of WIDTH by ``height``."""

    height: int
    label: str
    left: int = 66
    right: int = 12
    top: int = 12
    bottom: int = 40
    parts: list[Markup] = field(default_factory=list)

    def x_scale(self, low: float, high: float) -> Scale:
        """The scale from left to right."""
        return Scale(low, high, self.left, WIDTH - self.right)

    def y_scale(self, low: float, high: float) -> Scale:
        """The scale from the bottom to the top."""
        return Scale(low, high, self.height - self.bottom, self.top)

    def add(self, name: str, content: str = "", **attributes: float | str) -> None:
        """An element, with text or markup inside."""
        self.parts.append(tag(name, content, **attributes))

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """A straight line."""
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)

    def box(self, x1: float, y1: float, x2: float, y2: float, kind: str, tip: str = "") -> None:
        """A rectangle between two corners in any order."""
        self.add(
            "rect",
            hint(tip),
            x=min(x1, x2),
            y=min(y1, y2),
            width=abs(x2 - x1),
            height=abs(y2 - y1),
            class_=kind,
        )

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        """Words, escaped."""
        self.add("text", words, x=x, y=y, class_=kind, text_anchor=anchor)

    def path(self, points: list[tuple[float, float]], kind: str, *, closed: bool = False) -> None:
        """A line through points."""
        steps = "L".join(f"{short(x)} {short(y)}" for x, y in points)
        self.add("path", d=f"M{steps}{'Z' if closed else ''}", class_=kind)

    def x_axis(self, scale: Scale, title: str, *, count: int = 5, grid: bool = False) -> None:
        """The axis at the bottom, with its ticks and its name."""
        base = self.height - self.bottom
        for tick in scale.ticks(count):
            at = scale(tick)
            self.line(
                at, self.top if grid else base, at, base if grid else base + 4, "grid" if grid else "axis"
            )
            self.text(at, base + 16, number(tick), "tick", "middle")
        self.line(self.left, base, WIDTH - self.right, base, "axis")
        self.text((self.left + WIDTH - self.right) / 2, self.height - 6, title, "name", "middle")

    def y_axis(self, scale: Scale, title: str, *, count: int = 4) -> None:
        """The lines of the axis at the left, with its ticks and its name."""
        for tick in scale.ticks(count):
            at = scale(tick)
            self.line(self.left, at, WIDTH - self.right, at, "grid")
            self.text(self.left - 6, at + 4, number(tick), "tick", "end")
        self.y_name(title)

    def y_name(self, title: str) -> None:
        """The name of the axis at the left."""
        middle = (self.top + self.height - self.bottom) / 2
        self.add(
            "text",
            title,
            class_="name",
            text_anchor="middle",
            transform=f"translate(13 {middle:.1f}) rotate(-90)",
        )

    def __str__(self) -> str:
        return tag(
            "svg", *self.parts, viewBox=f"0 0 {WIDTH} {self.height}", role="img", aria_label=self.label
        )


def hint(words: str) -> str:
    """What is shown when the pointer rests on an element."""
    return tag("title", words) if words else ""


def cross(x: float, y: float, size: float) -> str:
    """The path of a cross that reaches beyond a marker: no class has such a shape."""
    a = 1.7 * size
    return f"M{x - a:.1f} {y - a:.1f}l{2 * a:.1f} {2 * a:.1f}m0 {-2 * a:.1f}l{-2 * a:.1f} {2 * a:.1f}"


def mark(kind: int, x: float, y: float, size: float) -> str:
    """The path of a class's own marker, so that no meaning rests on colour alone."""
    a, b = size, size * 1.15
    shapes = (
        f"M{x - a:.1f} {y:.1f}a{a:.1f} {a:.1f} 0 1 0 {2 * a:.1f} 0a{a:.1f} {a:.1f} 0 1 0 {-2 * a:.1f} 0Z",
        f"M{x - a:.1f} {y - a:.1f}h{2 * a:.1f}v{2 * a:.1f}h{-2 * a:.1f}Z",
        f"M{x:.1f} {y - b:.1f}L{x + b:.1f} {y + a:.1f}H{x - b:.1f}Z",
        f"M{x:.1f} {y - b:.1f}L{x + b:.1f} {y:.1f}L{x:.1f} {y + b:.1f}L{x - b:.1f} {y:.1f}Z",
        f"M{x:.1f} {y + b:.1f}L{x + b:.1f} {y - a:.1f}H{x - b:.1f}Z",
    )
    return shapes[kind % len(shapes)]
