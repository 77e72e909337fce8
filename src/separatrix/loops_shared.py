"""Whole numbers that two threads of compiled code share: read, written and claimed without a lock."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _place(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    view = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, view, [index], wraparound=False)


@intrinsic  # type: ignore[untyped-decorator]
def peek(typing_context: Any, array: Any, index: Any) -> Any:
    """Return ``array[index]``, and see what was written before it was."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments)
        return builder.load_atomic(place, "acquire", 8)

    return types.int64(array, types.intp), compiled


@intrinsic  # type: ignore[untyped-decorator]
def post(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Set ``array[index]``, visible no sooner than what was written before."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments[:2])
        builder.store_atomic(arguments[2], place, "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), compiled


@intrinsic  # type: ignore[untyped-decorator]
def claim(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Add one to ``array[index]`` if it is ``value`` still; return whether it was."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments[:2])
        seen = arguments[2]
        more = builder.add(seen, seen.type(1))
        return builder.extract_value(builder.cmpxchg(place, seen, more, "acq_rel", "acquire"), 1)

    return types.boolean(array, types.intp, types.int64), compiled
