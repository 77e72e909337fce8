"""The JSON schemas of all requests and answers, written to a file from the types that check them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...atomic import write_text
from .answers import TOLD
from .codec import schema
from .requests import ASKED

SCHEMA = Path(__file__).parent / "schema.json"


def schemas() -> dict[str, Any]:
    """One schema for each request, and one for each answer."""
    return {
        "requests": {name: schema(kind) for name, kind in ASKED.items()},
        "answers": {name: schema(kind) for name, kind in TOLD.items()},
    }


def main() -> None:
    """Write the file anew."""
    write_text(SCHEMA, json.dumps(schemas(), indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
