"""JSON to typed values and back: one strict reader for every request, and the schema of what it takes."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import numpy as np

T = TypeVar("T")


@dataclass(frozen=True)
class Range:
    """The bounds of a number, both allowed."""

    low: float
    high: float


@dataclass(frozen=True)
class Size:
    """The most characters of a text or entries of a list, and the fewest."""

    most: int
    least: int = 0


@dataclass(frozen=True)
class Listed:
    """An array of numbers: nested lists in JSON, so many deep; null stands for what is not finite."""

    depths: tuple[int, ...] = (1,)
    whole: bool = False
    optional: bool = False  # whether all of it may be null


class RequestError(Exception):
    """A request that cannot be used.

    Attributes
    ----------
    code : str
        What is wrong, as a word that the page has a sentence for.
    message : str
        The sentence in English.
    values : dict
        The numbers and names in it.
    """

    def __init__(self, code: str, message: str, **values: Any) -> None:
        super().__init__(message)
        self.code, self.message, self.values = code, message, values


def decode(kind: type[T], value: Any) -> T:
    """Read a value of plain JSON types as the given type; refuse whatever is missing, unknown or too large.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Circle:
    ...     radius: typing.Annotated[float, Range(0.0, 10.0)]
    >>> decode(Circle, {"radius": 2})
    Circle(radius=2.0)
    >>> decode(Circle, {"radius": 11})
    Traceback (most recent call last):
    separatrix.playground.api.codec.RequestError: radius must be from 0 to 10. Got 11.
    """
    found: T = _decode(kind, value, "", ())
    return found


def encode(value: Any) -> Any:
    """Plain JSON types: data classes by their fields, arrays as lists; what is not finite is null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "dtype"):
        rough = value.dtype.kind == "f" and not np.isfinite(value).all()
        return _finite(value.tolist()) if rough else value.tolist()
    if isinstance(value, dict):
        return {str(key): encode(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [encode(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def schema(kind: Any) -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of a type; data classes are named in ``$defs``."""
    named: dict[str, Any] = {}
    top = _schema(kind, (), named)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **top,
        "$defs": dict(sorted(named.items())),
    }


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return value if math.isfinite(value) else None


@cache
def _fields(kind: Any) -> dict[str, tuple[Any, bool]]:
    """The type of each field, and whether it may be left out."""
    hints = typing.get_type_hints(kind, include_extras=True)
    absent = dataclasses.MISSING
    return {
        field.name: (hints[field.name], field.default is not absent or field.default_factory is not absent)
        for field in dataclasses.fields(kind)
    }


def _decode(kind: Any, value: Any, path: str, notes: tuple[Any, ...]) -> Any:
    origin = get_origin(kind)
    if origin is typing.Annotated:
        inner, *own = get_args(kind)
        if own and isinstance(own[0], Listed):
            return _listed(own[0], value, path)
        return _decode(inner, value, path, tuple(own))
    if kind is float and type(value) in (int, float):
        return _number(float(value) if abs(value) < 1e300 else math.inf, value, path, notes)
    if kind is int and type(value) is int:
        return _number(value, value, path, notes)
    if kind is bool and type(value) is bool:
        return value
    if kind is str and type(value) is str:
        return _sized(value, path, notes, "characters")
    if origin is dict and type(value) is dict:
        return value
    if origin is Literal:
        return _choice(get_args(kind), value, path)
    if origin is tuple and type(value) is list:
        inner = get_args(kind)[0]
        _sized(value, path, notes, "entries")
        if (numbers := _plain_numbers(inner, value)) is not None:
            return numbers
        return tuple(_decode(inner, each, f"{path}[{at}]", ()) for at, each in enumerate(value))
    if origin in (Union, types.UnionType):
        return _union(get_args(kind), value, path)
    if dataclasses.is_dataclass(kind) and type(value) is dict:
        return _record(kind, value, path)
    raise RequestError(
        "wrong_type",
        f"{path or 'The request'} must be {_words(kind)}. Got {_words_of(value)}.",
        where=path,
        wanted=_words(kind),
    )


def _plain_numbers(kind: Any, value: list[Any]) -> tuple[Any, ...] | None:
    """All of a list of numbers at once, where each is of its type and within its bounds; None elsewhere."""
    if get_origin(kind) is not typing.Annotated:
        return None
    inner, *notes = get_args(kind)
    allowed: dict[Any, set[type]] = {float: {int, float}, int: {int}}
    kinds = allowed.get(inner)
    if kinds is None or not value or not set(map(type, value)) <= kinds:
        return None
    low, high = min(value), max(value)
    if not all(note.low <= low <= high <= note.high for note in notes if isinstance(note, Range)):
        return None
    return tuple(map(inner, value)) if math.isfinite(low) and math.isfinite(high) else None


def _listed(told: Listed, value: Any, path: str) -> Any:
    """Nested lists of numbers, as deep as they should be."""
    if (value is None and told.optional) or any(_is_listed(value, deep, told.whole) for deep in told.depths):
        return value
    raise RequestError("wrong_type", f"{path} must be nested lists of numbers.", where=path, wanted="lists")


def _is_listed(value: Any, depth: int, whole: bool) -> bool:
    if depth:
        return type(value) is list and all(_is_listed(each, depth - 1, whole) for each in value)
    return type(value) is int or (not whole and (value is None or type(value) is float))


def _number(number: Any, given: Any, path: str, notes: tuple[Any, ...]) -> Any:
    for note in notes:
        if isinstance(note, Range) and not note.low <= number <= note.high:
            low, high = f"{note.low:g}", f"{note.high:g}"
            raise RequestError(
                "out_of_range",
                f"{path} must be from {low} to {high}. Got {_shown(given)}.",
                where=path,
                low=low,
                high=high,
            )
    if not math.isfinite(number):
        raise RequestError("out_of_range", f"{path} must be finite.", where=path, low="-1e300", high="1e300")
    return number


def _sized(value: Any, path: str, notes: tuple[Any, ...], what: str) -> Any:
    for note in notes:
        if isinstance(note, Size) and not note.least <= len(value) <= note.most:
            raise RequestError(
                "wrong_size",
                f"{path} must have from {note.least} to {note.most} {what}. Got {len(value)}.",
                where=path,
                least=note.least,
                most=note.most,
                got=len(value),
            )
    return value


def _choice(allowed: tuple[Any, ...], value: Any, path: str) -> Any:
    for each in allowed:
        if type(each) is type(value) and each == value:
            return each
    listed = ", ".join(map(repr, allowed))
    raise RequestError(
        "wrong_choice", f"{path} must be one of {listed}. Got {_shown(value)}.", where=path, allowed=listed
    )


def _union(kinds: tuple[Any, ...], value: Any, path: str) -> Any:
    """None, a plain type, or the data class whose ``kind`` is that of the value."""
    if value is None and type(None) in kinds:
        return None
    others = [kind for kind in kinds if kind is not type(None)]
    if len(others) == 1:
        return _decode(others[0], value, path, ())
    told = value.get("kind") if type(value) is dict else None
    for kind in others:
        if told in get_args(_fields(kind)["kind"][0]):
            return _record(kind, value, path)
    known = tuple(word for kind in others for word in get_args(_fields(kind)["kind"][0]))
    return _choice(known, told, f"{path}.kind")


def _record(kind: Any, value: dict[str, Any], path: str) -> Any:
    fields = _fields(kind)
    inside = f"{path}." if path else ""
    for name in value:
        if name not in fields:
            raise RequestError(
                "unknown_field", f"There is no {inside}{_shown(name)}.", where=f"{inside}{str(name)[:40]}"
            )
    found = {}
    for name, (hint, optional) in fields.items():
        if name in value:
            found[name] = _decode(hint, value[name], f"{inside}{name}", ())
        elif not optional:
            raise RequestError("missing_field", f"{inside}{name} is missing.", where=f"{inside}{name}")
    return kind(**found)


def _words(kind: Any) -> str:
    plain = {float: "a number", int: "a whole number", bool: "true or false", str: "text"}
    if kind in plain:
        return plain[kind]
    return "a list" if get_origin(kind) is tuple else "an object"


def _words_of(value: Any) -> str:
    plain = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return plain.get(type(value), "a number")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _schema(kind: Any, notes: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    origin = get_origin(kind)
    if origin is typing.Annotated:
        inner, *own = get_args(kind)
        if own and isinstance(own[0], Listed):
            return _listed_schema(own[0])
        return _schema(inner, tuple(own), named)
    bounds = {}
    for note in notes:
        if isinstance(note, Range):
            bounds = {"minimum": note.low, "maximum": note.high}
        elif isinstance(note, Size):
            unit = "Length" if kind is str else "Items"
            bounds = {f"min{unit}": note.least, f"max{unit}": note.most}
    plain = {float: "number", int: "integer", bool: "boolean", str: "string", type(None): "null"}
    if kind in plain:
        return {"type": plain[kind], **bounds}
    if kind is Any:
        return {}
    if origin is dict:
        return {"type": "object"}
    if origin is Literal:
        return {"enum": list(get_args(kind))}
    if origin is tuple:
        return {"type": "array", "items": _schema(get_args(kind)[0], (), named), **bounds}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(each, (), named) for each in get_args(kind)]}
    if kind.__name__ not in named:
        named[kind.__name__] = {}
        fields = _fields(kind)
        named[kind.__name__] = {
            "type": "object",
            "description": (kind.__doc__ or "").strip().split("\n")[0],
            "properties": {name: _schema(hint, (), named) for name, (hint, _) in fields.items()},
            "required": [name for name, (_, optional) in fields.items() if not optional],
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _listed_schema(told: Listed) -> dict[str, Any]:
    kinds: list[dict[str, Any]] = [{"type": "null"}] if told.optional else []
    for depth in told.depths:
        one: dict[str, Any] = {"type": "integer" if told.whole else ["number", "null"]}
        for _ in range(depth):
            one = {"type": "array", "items": one}
        kinds.append(one)
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
