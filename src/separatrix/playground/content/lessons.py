"""Lessons, one for each chapter of the course: prepared states; the page has their sentences.

A state is a preset, or points of its own, with settings that differ, and the moment that is shown first. Its
sentence, question and answer are the texts ``lesson_CHAPTER_NUMBER``, ``..._question`` and ``..._answer``.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .presets import points


def _band(height: float) -> dict[str, Any]:
    """Two rows of five points, so far above and below the axis."""
    places = [(float(x), side * height) for side in (1, -1) for x in range(-2, 3)]
    return asdict(points(places, [1] * 5 + [0] * 5))


LESSONS: list[dict[str, Any]] = [
    {
        "name": "0",
        "states": [
            {"preset": "separable", "settings": {}, "moment": "start"},
            {"preset": "hull", "settings": {}, "moment": "end"},
            {"preset": "rings", "settings": {"method": "perceptron", "updates": 60}, "moment": "end"},
            {"preset": "rings", "settings": {}, "moment": "end"},
        ],
    },
    {
        "name": "1",
        "states": [
            {"preset": "separable", "settings": {"method": "linear_program"}, "moment": "end"},
            {"preset": "separable", "settings": {"order": "worst"}, "moment": "start"},
            {"preset": "separable", "settings": {"method": "max_margin"}, "moment": "end"},
            {"preset": "xor", "settings": {}, "moment": "end"},
        ],
    },
    {
        "name": "2",
        "states": [
            {"preset": "smallest", "settings": {}, "moment": "start"},
            {"preset": "separable", "settings": {}, "moment": "end"},
            {"preset": "orthonormal", "settings": {}, "moment": "end"},
            {"preset": "overlapping", "settings": {}, "moment": "end"},
        ],
    },
    {
        "name": "3",
        "states": [
            {"preset": "separable", "settings": {"lift": False, "updates": 100}, "moment": "end"},
            {"data": _band(0.5), "settings": {}, "moment": "end"},
            {"data": _band(0.125), "settings": {}, "moment": "end"},
            {"preset": "separable", "settings": {}, "moment": "end"},
        ],
    },
    {
        "name": "4",
        "states": [
            {"preset": "separable", "settings": {"order": "shuffled", "seed": 1}, "moment": "end"},
            {"preset": "separable", "settings": {"start": "random"}, "moment": "start"},
            {"preset": "separable", "settings": {"renormalise": True}, "moment": "end"},
            {"preset": "three", "settings": {}, "moment": "start"},
        ],
    },
]
