"""A verdict: what was asked, what is proved, and how it is said."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import notebook
from ..certificates.claims import Certificate
from ..printable import printable
from ..result import margin_text
from .problem import SearchStep
from .statistics.coefficients import Coefficients

SHOWN_PARTS = 20  # parts listed in a notebook

# What a status means, of two classes; ``{how}`` says which hyperplanes, see `condition`.
MEANING = {
    "separable": "Some hyperplane {how} has every row strictly on its own side.",
    "quasi-separable": "Some hyperplane {how} has no row on the wrong side and at least one row strictly on"
    " its own side; but none has every row strictly on its own side.",
    "overlapping": "Every hyperplane {how} that does not contain all rows has a row on the wrong side.",
    "inseparable": "No hyperplane {how} has every row strictly on its own side. It was"
    " not asked, or not decided, whether the classes are quasi-separable or overlap.",
    "undecided": "Neither a separating hyperplane {how} nor a proof that there is none was found.",
}
# Three or more classes at once: there is a weight vector for each of them, and no one hyperplane.
JOINT_MEANING = {
    "separable": "Some weights {how}, one vector per class, give every row its largest score for its own"
    " class alone.",
    "quasi-separable": "Some weights {how}, one vector per class, give no row a larger score for another"
    " class, and not every row ties with every other class; but none give every row its largest score for"
    " its own class alone.",
    "overlapping": "All weights {how}, one vector per class, give some row a larger score for another class,"
    " except for those under which every row ties with every other class.",
    "inseparable": "No weights {how}, one vector per class, give every row its largest score for its own"
    " class alone. It was not asked, or not decided, whether the classes are quasi-separable or overlap.",
    "undecided": "Neither separating weights {how}, one vector per class, nor a proof that there are none"
    " were found.",
}
# What statisticians call it (Albert and Anderson 1984); None where it is not known which.
SEPARATION = {
    "separable": "complete separation",
    "quasi-separable": "quasi-complete separation",
    "overlapping": "overlap",
}


def condition(lift: bool, kernel: str = "") -> str:
    """Which hyperplanes a statement of separability is about: the words behind "can be separated".

    Examples
    --------
    >>> condition(True), condition(False, "<x, x'>^2")
    ('with an intercept', "through the origin in the feature space of <x, x'>^2")
    """
    where = "with an intercept" if lift else "through the origin"
    return f"{where} in the feature space of {kernel}" if kernel else where


def parties(question: str, classes: Sequence[Any], chosen: Sequence[int] = ()) -> tuple[str, str]:
    """Who is to be separated, and from whom: what stands before and behind "can be separated".

    Examples
    --------
    >>> parties("binary", "ab"), parties("joint", "abc"), parties("pair", "abc", (0, 2))
    (('the classes', ''), ('the 3 classes', 'at once'), ('class c', 'from class a'))
    """
    if question == "joint":
        return f"the {len(classes)} classes", "at once"
    if question == "one-vs-rest":
        return f"class {classes[chosen[0]]}", "from the rest"
    if question == "pair":
        return f"class {classes[chosen[1]]}", f"from class {classes[chosen[0]]}"
    return "the classes", ""


def separated_words(who: tuple[str, str], can: str, how: str) -> str:
    """The one clause of separability: who (see `parties`) can or cannot be separated, and how (`condition`).

    Examples
    --------
    >>> separated_words(parties("joint", "abc"), "cannot", condition(False))
    'the 3 classes cannot be separated at once through the origin'
    """
    return " ".join(filter(None, (who[0], can, "be separated", who[1], how)))


def question_words(question: str, classes: Sequence[str], chosen: Sequence[int], how: str) -> str:
    """A question in a few words; ``how`` is its `condition`.

    Examples
    --------
    >>> question_words("binary", ("no", "yes"), (), condition(True))
    'yes against no, with an intercept'
    """
    named = {
        "binary": lambda: f"{classes[1]} against {classes[0]}",
        "joint": lambda: f"{len(classes)} classes at once",
        "one-vs-rest": lambda: f"{classes[chosen[0]]} against the rest",
        "pair": lambda: f"{classes[chosen[1]]} against {classes[chosen[0]]}",
    }
    return f"{named[question]()}, {how}"


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
    find_coefficients : callable
        Finds ``coefficients`` when they are first asked for.
    conflict : bool
        Whether identical rows with different labels prove it: no function of the rows separates those.
    lift : bool
        Whether planes anywhere were asked about, and not only those through the origin.
    joint : bool
        Whether three or more classes were asked about at once: each has weights of its own then.
    kernel : str
        The kernel in whose feature space it was asked; empty without one.
    parties : (str, str)
        Who was to be separated, and from whom.
    note : str
        What the question leaves out of a target that is ordered, or may be counts; empty for others.
    search : tuple of SearchStep
        Which strategies were tried, what each came to, and after how many seconds; the last one answered.
    """

    status: str
    certificate: Certificate | None
    margin: tuple[float, float]
    strict_rows: NDArray[np.int64]
    question: str
    n_rows: int
    witness: tuple[tuple[int, int, int], ...] = ()  # row, rival, integer weight
    parts: dict[Any, Verdict] = field(default_factory=dict)
    find_coefficients: Callable[[], Coefficients] = Coefficients  # when first asked for
    reason: str = ""
    conflict: bool = False
    lift: bool = True
    joint: bool = False
    kernel: str = ""
    parties: tuple[str, str] = ("the classes", "")
    note: str = ""
    search: tuple[SearchStep, ...] = ()

    @property
    def condition(self) -> str:
        """Which hyperplanes were asked about."""
        return condition(self.lift, self.kernel)

    @property
    def claim(self) -> str:
        """What is known of whom, and under which condition, as a clause without a full stop.

        Examples
        --------
        >>> from separatrix import separability
        >>> separability([[1.0], [2.0]], [0, 1], fit_intercept=False).claim
        'the classes cannot be separated through the origin'
        """
        if self.separable is None:
            return f"it is not decided whether {self.separated('can')}"
        if self.parts:  # of every class, or of every two
            return self.separated("can") if self.separable else f"not {self.separated('can')}"
        return self.separated("can" if self.separable else "cannot")

    def separated(self, can: str) -> str:
        """That those who were asked about can or cannot be separated, with the condition."""
        return separated_words(self.parties, can, self.condition)

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
            return f"{self.claim[0].upper()}{self.claim[1:]}. {self.hardest}".strip()
        return (JOINT_MEANING if self.joint else MEANING)[self.status].format(how=self.condition)

    @property
    def hardest(self) -> str:
        """Of a question with parts, which part gave the verdict."""
        if self.separable or not self.parts:
            return ""
        open_parts = sum(part.separable is None for part in self.parts.values())
        if open_parts == len(self.parts):
            return "All parts are undecided."
        left = f"; {open_parts} of {len(self.parts)} parts are undecided" if open_parts else ""
        if self.separable is None:
            return f"Every other part is separable{left}."
        return f"The hardest part that is decided is {self.status}{left}."

    @cached_property
    def _found_coefficients(self) -> Coefficients:
        return self.find_coefficients()

    @property
    def coefficients(self) -> dict[str, str | None]:
        """What becomes of each coefficient under maximum likelihood: each answer is proved.

        - "finite"
        - "+infinity" or "-infinity": every direction that separates as many rows as can be takes it there.
        - "not determined": such directions take it to +infinity, to -infinity, or leave it where it is.
        - "not identified": columns depend on each other, so that other values fit as well.
        - None: undecided, because the verdict is, or because time was short. With more than 1,500
          coefficients none is asked about, and those that the direction of the certificate moves are listed.

        They are found when they are first asked for, in at most ten seconds, or in the time limit of the
        question if that is shorter. Empty for a question with parts, which have their own, and for a kernel
        whose feature space no columns span.
        """
        return self._found_coefficients.answers

    @property
    def responsible_features(self) -> dict[str, float]:
        """The coefficients that are not finite: inf or -inf; NaN where that is not determined or undecided.

        Those that are not identified, because columns depend on each other, are not among them.
        """
        return self._found_coefficients.responsible

    @property
    def not_identified(self) -> list[str]:
        """The coefficients of columns that depend on each other."""
        return [name for name, answer in self.coefficients.items() if answer == "not identified"]

    @property
    def partly_strict(self) -> int:
        """How many rows can be separated strictly from some of the other classes, but not from all."""
        if not self.joint or self.certificate is None or self.certificate.multipliers is None:
            return 0
        if self.status != "quasi-separable":
            return 0
        ties = Counter(self.certificate.multipliers.rows)
        return sum(count < len(self.certificate.classes) - 1 for count in ties.values())

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

    @property
    def n_witnesses(self) -> int:
        """How many rows prove that nothing separates: each once, whatever classes it is compared with."""
        return len({row for row, _, _ in self.witness})

    def infinities(self) -> list[str]:
        """Each coefficient that is not finite, with what becomes of it, in words."""
        return [f"{name} {said(self.coefficients[name])}" for name in self.responsible_features]

    def summary(self) -> str:
        """The verdict in a few lines of text."""
        named = "" if self.separation in (None, "overlap") else f" ({self.separation})"
        lines = [f"{self.status}{named}: {self.meaning}", f"  question      {self.question}"]
        if self.note:
            lines.append(f"  note          {self.note}")
        if self.parts:
            lines += [f"  {_key(key):<13} {part.status}" for key, part in self.parts.items()]
            return "\n".join(map(printable, lines))
        if self.reason:
            lines.append(f"  reason        {self.reason}")
        lines.append(f"  margin        {margin_text(*self.margin)} ({self.margin_kind})")
        if self.witness:
            rows = dict.fromkeys(row for row, _, _ in self.witness)
            lines.append(f"  witness       {self.n_witnesses} rows: {some(rows)}")
        if self.status in ("separable", "quasi-separable"):
            lines.append(f"  strict rows   {self.strict_rows.size} of {self.n_rows}")
            if self.not_identified:
                lines.append(f"  unidentified  {some(self.not_identified)}")
            if self.responsible_features:
                lines.append(f"  no finite ML  {some(self.infinities())}")
        if self.certificate is not None:
            lines.append(f"  certificate   of data {self.certificate.sha256[:12]}..., accepted by verify")
        return "\n".join(map(printable, lines))

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
                name: self.coefficients[name] or "undecided" for name in self.responsible_features
            },
            "coefficients": self.coefficients,
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


def said(answer: str | None) -> str:
    """What becomes of a coefficient, in words."""
    if answer is None:
        return "undecided"
    return f"to {answer}" if answer.endswith("infinity") else answer


def some(items: Any, most: int = 8) -> str:
    """The first few of many, in words."""
    listed = [str(item) for item in items]
    more = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {more} more" if more > 0 else "")


def _key(key: Any) -> str:
    return " - ".join(map(str, key)) if isinstance(key, tuple) else str(key)
