"""What every kind of certificate has, and how its check fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from ..deadline import Pause
from ..inputs.data import Data


class Claim(Protocol):
    """What a certificate of any kind claims, and about which data."""

    @property
    def claim(self) -> str:
        """What is claimed, in one word."""

    @property
    def question(self) -> str:
        """The kind of the question."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The class labels as text, in sorted order."""

    @property
    def lift(self) -> bool:
        """Whether there is an intercept."""

    @property
    def excluded(self) -> tuple[int, ...]:
        """Rows that the claim leaves out."""

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""

    @property
    def n_columns(self) -> int:
        """Number of columns of the data."""

    @property
    def sha256(self) -> str:
        """Digest of the data and the labels, see `start_digest`."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain types, as they are written in JSON."""


class Fails(Exception):
    """The certificate does not prove its claim: the reason, and the row if there is one."""

    def __init__(self, reason: str, row: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.row = reason, row


class Kind(NamedTuple):
    """How certificates of one kind are read and checked.

    ``read`` takes the fields of the document and returns the claim. ``prove`` takes the claim, the data, a
    pause to be called between pieces of work, and the bytes of memory that it may use; it returns what is
    proved, in one sentence, or raises `Fails`. Its claims have a method ``words`` that returns the question.
    ``data`` reads X and further columns for a claim, if they are more than a matrix and labels.
    """

    read: Callable[[dict[str, Any]], Claim]
    prove: Callable[[Any, Data, Pause, float], str]
    data: Callable[[Any, Any, dict[str, Any]], Data] | None = None
