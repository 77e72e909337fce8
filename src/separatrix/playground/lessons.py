"""Lessons, one for each of five lecture notes: prepared states; the page has their sentences."""

from __future__ import annotations

from typing import Any

LESSONS: list[dict[str, Any]] = []
