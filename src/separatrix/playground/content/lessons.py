"""Lessons, one for each chapter of the course: prepared states; the page has the sentences.

A state is a preset, or points of its own, with settings that differ; the moment and the tab that are shown
first ("curves" is the tab of the step, with its curves on top); which option of its question is right; and a
task: what has to become true. Its texts are ``lesson_CHAPTER_NUMBER``, and with the endings ``_question``,
``_options`` (separated by ``|``), ``_answer`` and ``_task``.
"""

from __future__ import annotations

from typing import Any

import msgspec

from .presets import points


def _state(
    preset: str, answer: int, view: str, task: dict[str, Any], moment: str = "end", **settings: Any
) -> dict[str, Any]:
    told = {"answer": answer, "view": view, "task": task, "moment": moment}
    return {"preset": preset, "settings": settings, **told}


def _band(height: float, answer: int, view: str, task: dict[str, Any]) -> dict[str, Any]:
    """Return two rows of five points, at this height above and below the axis."""
    places = [(float(x), side * height) for side in (1, -1) for x in range(-2, 3)]
    data = msgspec.to_builtins(points(places, [1] * 5 + [0] * 5))
    told = {"answer": answer, "view": view, "task": task, "moment": "start"}
    return {"data": data, "settings": {}, **told}


_CHAPTERS = (
    [
        _state("separable", 0, "step", {"made": 3}, "start"),
        _state("hull", 1, "step", {"below": 20}, "start"),
        _state("rings", 1, "step", {"lift": True}, method="perceptron", updates=60),
        _state("rings", 2, "method", {"degree": 3}),
    ],
    [
        _state("separable", 1, "method", {"setting": ["method", "max_margin"]}, method="linear_program"),
        _state("separable", 1, "step", {"end": True}, "start", order="worst"),
        _state("separable", 0, "proof", {"edited": True, "status": "separable"}, method="max_margin"),
        _state("xor", 0, "proof", {"why": "witness"}),
        _state("xor", 1, "method", {"setting": ["method", "network"], "end": True}),
    ],
    [
        _state("smallest", 0, "step", {"end": True}, "start"),
        _state("separable", 0, "curves", {"bound": 1000}),
        _state("orthonormal", 1, "step", {"end": True}, "start"),
        _state("overlapping", 0, "step", {"status": "separable"}),
    ],
    [
        _state("separable", 1, "method", {"setting": ["lift", True]}, lift=False, updates=100),
        _band(0.5, 0, "step", {"bound": 50}),
        _band(0.125, 2, "step", {"end": True}),
        _state("separable", 0, "points", {"fewer": 40, "mistakes": 23}),
    ],
    [
        _state("separable", 1, "method", {"setting": ["order", "worst"]}, order="shuffled", seed=1),
        _state("separable", 0, "curves", {"end": True}, "start", start="random"),
        _state("separable", 1, "step", {"end": True}, "start", renormalise=True),
        _state("three", 1, "step", {"end": True}, "start"),
    ],
)
LESSONS: list[dict[str, Any]] = [
    {"name": str(number), "states": states} for number, states in enumerate(_CHAPTERS)
]
