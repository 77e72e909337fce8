"""Values that are not there: masked, None, NaN, or what pandas has for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InputError


def refuse_masked(values: Any, name: str) -> None:
    """Refuse what numpy would read as if nothing were masked."""
    if np.ma.isMaskedArray(values) and np.ma.is_masked(values):
        raise InputError(
            f"{name} is a masked array, and some of its values are masked. Leave out their rows."
        )


def first_missing(values: Iterable[Any]) -> int | None:
    """Where the first missing value is; None if none is missing."""
    return next((i for i, value in enumerate(values) if is_missing(value)), None)


def is_missing(value: Any) -> bool:
    """None, NaN, or what pandas has for them (which cannot be compared, and need not be installed)."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float | np.floating) and value != value)
    )
