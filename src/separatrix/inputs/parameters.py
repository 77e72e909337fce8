"""The options of an estimator: each check names the parameter, what it must be, and what it was."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ..errors import InputError

LARGEST_WHOLE, LARGEST = int(np.iinfo(np.int64).max), float(np.finfo(np.float64).max)


def need_choice(estimator: Any, name: str, choices: tuple[Any, ...]) -> None:
    """Check that a parameter is one of a few."""
    value = getattr(estimator, name)
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        listed = ", ".join(repr(choice) for choice in choices)
        raise _wrong(estimator, name, f"one of {listed}", value)


def need_positive(estimator: Any, name: str, *, whole: bool = False, optional: bool = False) -> None:
    """Check that a parameter is a positive, finite number."""
    value: Any = getattr(estimator, name)
    if optional and value is None:
        return
    largest = LARGEST_WHOLE if whole else LARGEST
    number = isinstance(value, numbers.Integral if whole else numbers.Real) and not isinstance(value, bool)
    if not (number and 0 < value <= largest):
        wanted = "a positive whole number" if whole else "a positive finite number"
        raise _wrong(estimator, name, wanted + (" or None" if optional else ""), value)


def need_count(estimator: Any, name: str) -> int:
    """Check that a parameter is a whole number that is not negative, and return it; True counts as one."""
    value: Any = getattr(estimator, name)
    if not isinstance(value, numbers.Integral | np.bool_) or value < 0:
        raise _wrong(estimator, name, "True, False or a whole number of 0 or more", value)
    return int(value)


def need_bool(estimator: Any, name: str) -> None:
    """Check that a parameter is true or false."""
    value = getattr(estimator, name)
    if not isinstance(value, bool | np.bool_):
        raise _wrong(estimator, name, "True or False", value)


def need_intercept(value: Any, caller: str) -> bool:
    """Whether ``fit_intercept`` asks for an intercept: True and "lifted" do, False does not."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str) and value == "lifted":
        return True
    raise InputError(
        f"The 'fit_intercept' parameter of {caller} must be True, False or 'lifted'. Got {value!r} instead.",
        parameter="fit_intercept",
    )


def generator(random_state: Any) -> np.random.Generator:
    """A numpy Generator from whatever scikit-learn allows as random_state."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as problem:
        raise InputError(
            f"The 'random_state' parameter must be None, a non-negative whole number or a generator. "
            f"Got {random_state!r} instead.",
            parameter="random_state",
        ) from problem


def _wrong(estimator: Any, name: str, wanted: str, value: Any) -> InputError:
    return InputError(
        f"The {name!r} parameter of {type(estimator).__name__} must be {wanted}. Got {value!r} instead.",
        parameter=name,
    )
