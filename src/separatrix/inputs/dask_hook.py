"""The one place where the core reaches `separatrix.distributed`: a caller has passed a Dask collection."""

from __future__ import annotations

from typing import Any


def is_collection(X: Any) -> bool:
    """Whether X is a Dask array or data frame. Dask is not imported to know."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(type(X), "__dask_graph__")


def distributed() -> Any:
    """The package that reads Dask collections, imported when the first one is passed."""
    from .. import distributed as package

    return package
