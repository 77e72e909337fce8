"""Lessons, one for each chapter of the course: prepared states; the page has the sentences.

A state is a preset, or points of its own, with settings that differ, and the moment that is shown first. Its
sentence, question and answer are the texts ``lesson_CHAPTER_NUMBER``, ``..._question`` and ``..._answer``.
"""

from __future__ import annotations

from typing import Any

import msgspec

from .presets import points


def _state(preset: str, moment: str = "end", **settings: Any) -> dict[str, Any]:
    return {"preset": preset, "settings": settings, "moment": moment}


def _band(height: float) -> dict[str, Any]:
    """Return two rows of five points, at this height above and below the axis."""
    places = [(float(x), side * height) for side in (1, -1) for x in range(-2, 3)]
    data = msgspec.to_builtins(points(places, [1] * 5 + [0] * 5))
    return {"data": data, "settings": {}, "moment": "end"}


_CHAPTERS = (
    [
        _state("separable", "start"),
        _state("hull"),
        _state("rings", method="perceptron", updates=60),
        _state("rings"),
    ],
    [
        _state("separable", method="linear_program"),
        _state("separable", "start", order="worst"),
        _state("separable", method="max_margin"),
        _state("xor"),
    ],
    [_state("smallest", "start"), _state("separable"), _state("orthonormal"), _state("overlapping")],
    [_state("separable", lift=False, updates=100), _band(0.5), _band(0.125), _state("separable")],
    [
        _state("separable", order="shuffled", seed=1),
        _state("separable", "start", start="random"),
        _state("separable", renormalise=True),
        _state("three", "start"),
    ],
)
LESSONS: list[dict[str, Any]] = [
    {"name": str(number), "states": states} for number, states in enumerate(_CHAPTERS)
]
