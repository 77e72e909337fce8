"""A verdict: what was asked, what is proved, and how it is said."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import notebook
from ..certificates.claims import Certificate

SHOWN = 8  # rows or columns named in a summary
SHOWN_PARTS = 20  # parts listed in a notebook

MEANING = {
    "separable": "A hyperplane has every row strictly on its own side.",
    "quasi-separable": "No hyperplane separates all rows, but one that does not hold them all has none on the"
    " wrong side.",
    "overlapping": "Every hyperplane that does not hold all rows has one on the wrong side.",
    "inseparable": "No hyperplane separates all rows; whether one comes close was not asked, or not settled.",
    "undecided": "Neither a separator nor a proof against one was found in the time allowed.",
}
# Three or more classes at once: there is a weight vector for each of them, and no one hyperplane.
JOINT_MEANING = {
    **MEANING,
    "separable": "With one weight vector a class, every row has its largest score for its own class alone.",
    "quasi-separable": "No weights give every row its largest score for its own class alone, but some, under"
    " which not all scores tie, give no row a larger one for another class.",
    "overlapping": "All weights but those under which every row ties give some row a larger score for another"
    " class.",
    "inseparable": "No weights give every row its largest score for its own class alone; whether some come"
    " close was not asked, or not settled.",
}
# What statisticians call it (Albert and Anderson 1984); None where it is not known which.
SEPARATION = {
    "separable": "complete separation",
    "quasi-separable": "quasi-complete separation",
    "overlapping": "overlap",
}


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """The answer to a question of separability.

    Attributes
    ----------
    status : {"separable", "quasi-separable", "overlapping", "inseparable", "undecided"}
        "inseparable" means: not separable, and the finer question was not asked or not settled.
    certificate : Certificate or None
        The proof; None where the verdict is undecided, has parts, or rests on a theorem or on the margin's
        bracket (see ``reason``), as it may with a kernel.
    margin : (float, float)
        Bounds of the best margin: the largest smallest score of weights of length one; ``margin_kind`` says
        of what rows.
    strict_rows : ndarray of int64
        Rows that some plane, with no row on its wrong side, separates strictly.
    question : str
        What was asked, in words.
    n_rows : int
        Rows that the question is about: those of zero weight are not among them.
    witness : tuple of (int, int, int)
        Row, rival class (-1 where there is none) and whole-number weight behind ``witness_rows``.
    parts : dict
        For one-vs-rest and pairwise questions, the verdict for each class or pair of classes.
    reason : str
        With a kernel: what the verdict rests on.
    features : callable
        Computes ``responsible_features`` when they are first asked for.
    conflict : bool
        Whether identical rows with different labels prove it: no function of the rows separates those.
    lift : bool
        Whether planes anywhere were asked about, and not only those through the origin.
    joint : bool
        Whether three or more classes were asked about at once: each has weights of its own then.
    kernel : str
        The kernel in whose feature space it was asked; empty without one.
    """

    status: str
    certificate: Certificate | None
    margin: tuple[float, float]
    strict_rows: NDArray[np.int64]
    question: str
    n_rows: int
    witness: tuple[tuple[int, int, int], ...] = ()  # row, rival, integer weight
    parts: dict[Any, Verdict] = field(default_factory=dict)
    features: Callable[[], dict[str, float]] = dict  # computed when first asked for
    reason: str = ""
    conflict: bool = False
    lift: bool = True
    joint: bool = False
    kernel: str = ""

    @property
    def separation(self) -> str | None:
        """What statisticians call it: complete or quasi-complete separation, or overlap; None if unknown."""
        return SEPARATION.get(self.status)

    @property
    def margin_kind(self) -> str:
        """Which margin is bracketed: "lifted" (weights and intercept together of length one) or "origin"."""
        return "lifted" if self.lift else "origin"

    @property
    def separable(self) -> bool | None:
        """True, False, or None where it is undecided."""
        return None if self.status == "undecided" else self.status == "separable"

    @property
    def meaning(self) -> str:
        """One sentence that says what the status means."""
        if self.parts:
            every = self.status == "separable"
            return "Every part is separable." if every else f"The hardest of the parts is {self.status}."
        said = (JOINT_MEANING if self.joint else MEANING)[self.status]
        if not self.kernel or self.status == "undecided":
            return said
        return f"In the feature space of the kernel, {said[0].lower()}{said[1:]}"

    @cached_property
    def responsible_features(self) -> dict[str, float]:
        """Columns whose coefficient has no finite maximum-likelihood estimate, with the sign of its infinity.

        The sign is that in the direction of the certificate: inf, -inf, or NaN where that direction leaves it
        open. Where every direction of separation has the same sign, it is that one; where the data leave room
        for both, another direction may have the other. Columns that depend linearly on others before them are
        left out. With more than 1,500 weights, these are just the columns that the certificate's direction
        moves.
        """
        return self.features()

    @cached_property
    def witness_rows(self) -> dict[Any, Fraction]:
        """The few rows that prove that no plane separates, with their exact weights.

        Weighed so, the signed rows sum to exactly zero. With an intercept and two sides, the weights of
        either side sum to one: both are the same point, which lies in both convex hulls. For the joint
        question the keys are pairs (row, class it is compared with).

        Where the certificate has approximate multipliers (``certificate.approximate``), the weights are
        those, rounded: all of this holds for exact weights near them.
        """
        whole = sum(value for _, _, value in self.witness)
        if not whole:
            return {}
        if self.certificate is not None and self.certificate.lift and self.certificate.question != "joint":
            whole //= 2  # the ones of the lift balance: each side has half of the sum
        return {
            (row if rival < 0 else (row, rival)): Fraction(value, whole) for row, rival, value in self.witness
        }

    def summary(self) -> str:
        """The verdict in a few lines of text."""
        named = "" if self.separation in (None, "overlap") else f" ({self.separation})"
        lines = [f"{self.status}{named}: {self.meaning}", f"  question      {self.question}"]
        if self.parts:
            lines += [f"  {_key(key):<13} {part.status}" for key, part in self.parts.items()]
            return "\n".join(lines)
        if self.reason:
            lines.append(f"  reason        {self.reason}")
        lower, upper = self.margin
        lines.append(f"  margin        between {lower:.6g} and {upper:.6g} ({self.margin_kind})")
        if self.witness:
            lines.append(
                f"  witness       {len(self.witness)} rows: {some(row for row, _, _ in self.witness)}"
            )
        if self.status in ("separable", "quasi-separable"):
            lines.append(f"  strict rows   {self.strict_rows.size} of {self.n_rows}")
        if self.responsible_features:
            lines.append(f"  no finite ML  {some(infinities(self.responsible_features))}")
        if self.certificate is not None:
            lines.append(f"  certificate   of data {self.certificate.sha256[:12]}..., accepted by verify")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<Verdict: {self.status}; {self.question}; {self.n_rows:,} rows>"

    def _repr_html_(self) -> str:
        head, *lines = self.summary().split("\n")
        facts = [(line[2:15].strip(), line[16:]) for line in lines]
        if self.parts:
            parts = [(_key(key), part.status) for key, part in self.parts.items()]
            facts = [("question", self.question), *parts[:SHOWN_PARTS]]
            if len(parts) > SHOWN_PARTS:
                facts.append(("and", f"{len(parts) - SHOWN_PARTS} more, see parts"))
        return notebook.card(head, facts)

    def to_dict(self) -> dict[str, Any]:
        """Plain types only, ready for JSON: numbers as numbers, and exact ones as text beside them.

        ``docs/json.md`` says what each name means.
        """
        return {
            "status": self.status,
            "separable": self.separable,
            "separation": self.separation,
            "question": self.question,
            "reason": self.reason,
            "n_rows": self.n_rows,
            "margin": margin_facts(self.margin, self.margin_kind),
            "witness_rows": [
                {
                    "row": key[0] if isinstance(key, tuple) else key,
                    "rival": key[1] if isinstance(key, tuple) else None,
                    "weight": float(weight),
                    "weight_exact": str(weight),
                }
                for key, weight in self.witness_rows.items()
            ],
            "strict_rows": self.strict_rows.tolist(),
            "responsible_features": {
                name: _sign(value) + "infinity" for name, value in self.responsible_features.items()
            },
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
            "parts": {_key(key): part.to_dict() for key, part in self.parts.items()},
        }


def margin_facts(bounds: tuple[float, float], kind: str) -> dict[str, Any]:
    """A bracket of the best margin for JSON, which has no infinity: None there, exact text beside it."""
    lower, upper = (float(bound) for bound in bounds)
    return {
        "kind": kind,
        "lower": lower if math.isfinite(lower) else None,
        "upper": upper if math.isfinite(upper) else None,
        "lower_exact": lower.hex(),
        "upper_exact": upper.hex(),
    }


def infinities(features: dict[str, float]) -> list[str]:
    """Each coefficient with its infinity, in words."""
    return [f"{name} to {_sign(value)}infinity" for name, value in features.items()]


def some(items: Any) -> str:
    """The first few of many, in words."""
    listed = [str(item) for item in items]
    more = len(listed) - SHOWN
    return ", ".join(listed[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def _sign(value: float) -> str:
    return "+" if value > 0 else "-" if value < 0 else "plus or minus "


def _key(key: Any) -> str:
    return " - ".join(map(str, key)) if isinstance(key, tuple) else str(key)
