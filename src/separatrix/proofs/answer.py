"""A verdict: the question, what is proved, and how to say it in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import notebook
from ..certificates.claims import Certificate, Separation
from ..errors import InputError
from ..printable import printable
from ..result import margin_text
from .search import SearchStep
from .statistics.coefficients import Coefficients

if TYPE_CHECKING:  # it imports HiGHS, which small verdicts do without
    from .fewest.fewest_errors import FewestErrors

SHOWN_PARTS = 20  # parts listed in a notebook

# What a status means, of two classes; ``{how}`` says which hyperplanes, see `condition`.
MEANING = {
    "separable": "Some hyperplane {how} has every row strictly on its own side.",
    "quasi-separable": "Some hyperplane {how} has no row on the wrong side and at least one row strictly on"
    " its own side; but none has every row strictly on its own side.",
    "overlapping": "Every hyperplane {how} that does not contain all rows has a row on the wrong side.",
    "inseparable": "No hyperplane {how} has every row strictly on its own side. It was"
    " not asked, or not decided, whether the classes are quasi-separable or overlap.",
    "undecided": "Neither a separating hyperplane {how} nor a proof that no hyperplane separates was found.",
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
    "undecided": "Neither separating weights {how}, one vector per class, nor a proof that no weights"
    " separate were found.",
}
# What statisticians call it (Albert and Anderson 1984).
SEPARATION = {
    "separable": "complete separation",
    "quasi-separable": "quasi-complete separation",
    "overlapping": "overlap",
}


@dataclass(frozen=True)
class Question:
    """Which classes are to be separated from which, and by which hyperplanes.

    Attributes
    ----------
    kind : {"binary", "joint", "one-vs-rest", "pair", "pairwise"}
    classes : tuple of str
    chosen : tuple of int
        The class that is compared with the rest, or the two classes of a pair. If it is empty, a question
        of the kind "one-vs-rest" is about every class.
    lift : bool
        Whether hyperplanes may have an intercept.
    kernel : str
        The kernel in whose feature space the hyperplanes are; empty without one.

    Examples
    --------
    >>> question = Question("pair", ("a", "b", "c"), (0, 2), lift=False)
    >>> question.words(), question.separated("cannot")
    ('c against a, through the origin', 'class c cannot be separated from class a through the origin')
    """

    kind: str
    classes: tuple[str, ...] = ()
    chosen: tuple[int, ...] = ()
    lift: bool = True
    kernel: str = ""

    @property
    def condition(self) -> str:
        """Which hyperplanes the question is about: the words after "can be separated"."""
        where = "with an intercept" if self.lift else "through the origin"
        return f"{where} in the feature space of {self.kernel}" if self.kernel else where

    def words(self, n_parts: int = 0) -> str:
        """Return the question in a few words."""
        names = [self.classes[c] for c in self.chosen]
        if n_parts:
            asked = f"{self.kind}: {n_parts} questions"
        elif self.kind == "joint":
            asked = f"{len(self.classes)} classes at once"
        elif self.kind == "one-vs-rest":
            asked = f"{names[0]} against the rest"
        else:
            low, high = names or self.classes
            asked = f"{high} against {low}"
        return f"{asked}, {self.condition}"

    def separated(self, can: str) -> str:
        """Return the clause that the classes of the question can or cannot be separated, and how."""
        names = [f"class {self.classes[c]}" for c in self.chosen]
        who, from_whom = {
            "binary": ("the classes", ""),
            "joint": (f"the {len(self.classes)} classes", "at once"),
            "one-vs-rest": (names[0] if names else "every class", "from the rest"),
            "pair": (names[-1] if names else "", f"from {names[0]}" if names else ""),
            "pairwise": ("every pair of classes", ""),
        }[self.kind]
        return " ".join(filter(None, (who, can, "be separated", from_whom, self.condition)))


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """The answer to a question of separability.

    Attributes
    ----------
    status : {"separable", "quasi-separable", "overlapping", "inseparable", "undecided"}
        "inseparable" means: not separable; quasi-separable or overlapping was not asked or not decided.
    certificate : Certificate or None
        The proof. It is None if the verdict is undecided or has parts. It is also None if, with a kernel, the
        verdict follows from a theorem or from the bounds of the margin (see ``reason``).
    margin : (float, float)
        A lower and an upper bound of the best margin, which is the largest possible smallest score of weights
        of norm one; ``margin_kind`` says of which rows.
    strict_rows : ndarray of int64
        Rows that some hyperplane, with no row on its wrong side, separates strictly.
    question : str
        What was asked, in words.
    asked : Question
        What was asked.
    n_rows : int
        Rows that the question is about; rows of zero weight do not count.
    witness : tuple of (int, int, int)
        Row, rival class (-1 if the question is not joint) and integer weight behind ``witness_rows``.
    parts : dict
        For one-vs-rest and pairwise questions, the verdict for each class or pair of classes.
    reason : str
        With a kernel: the reason for the verdict.
    find_coefficients : callable
        Finds ``coefficients`` when they are first asked for.
    find_fewest : callable or None
        Finds the fewest errors, see `fewest`; None for questions with parts or with a kernel, and in copies.
    conflict : bool
        Whether two identical rows with different labels prove the verdict: no function of the rows separates
        them.
    lift : bool
        Whether the hyperplanes may have an intercept.
    joint : bool
        Whether the question was about three or more classes at once: then each has its own weights.
    kernel : str
        The kernel in whose feature space the question was asked; empty without one.
    note : str
        A caution if the target is ordered or may hold counts; otherwise empty.
    search : tuple of SearchStep
        The outcome of each strategy that was tried, and its seconds; the last one answered.
    """

    status: Separation
    certificate: Certificate | None
    margin: tuple[float, float]
    strict_rows: NDArray[np.int64]
    asked: Question
    n_rows: int
    witness: tuple[tuple[int, int, int], ...] = ()  # row, rival, integer weight
    parts: dict[Any, Verdict] = field(default_factory=dict)
    find_coefficients: Callable[[], Coefficients] = Coefficients  # when first asked for
    find_fewest: Callable[[float], FewestErrors] | None = None
    reason: str = ""
    conflict: bool = False
    note: str = ""
    search: tuple[SearchStep, ...] = ()

    @property
    def question(self) -> str:
        """The question in words."""
        return self.asked.words(len(self.parts))

    @property
    def lift(self) -> bool:
        """Whether the hyperplanes may have an intercept."""
        return self.asked.lift

    @property
    def joint(self) -> bool:
        """Whether the question was about three or more classes at once."""
        return self.asked.kind == "joint"

    @property
    def kernel(self) -> str:
        """The kernel in whose feature space the question was asked."""
        return self.asked.kernel

    @property
    def condition(self) -> str:
        """Which hyperplanes the question was about."""
        return self.asked.condition

    @property
    def claim(self) -> str:
        """What is known about which classes, and under which condition: a clause without a period.

        Examples
        --------
        >>> from separatrix import separability
        >>> separability([[1.0], [2.0]], [0, 1], fit_intercept=False).claim
        'the classes cannot be separated through the origin'
        """
        if self.separable is None:
            return f"it is not decided whether {self.asked.separated('can')}"
        if self.parts:  # every class, or every pair
            return f"{'' if self.separable else 'not '}{self.asked.separated('can')}"
        return self.asked.separated("can" if self.separable else "cannot")

    @property
    def separation(self) -> str | None:
        """What statisticians call it: complete or quasi-complete separation, or overlap; None if unknown."""
        return SEPARATION.get(self.status)

    @property
    def margin_kind(self) -> str:
        """Which margin is bracketed: "lifted" (weights and intercept together have norm one) or "origin"."""
        return "lifted" if self.lift else "origin"

    @property
    def separable(self) -> bool | None:
        """True, False, or None if it is undecided."""
        return None if self.status == Separation.UNDECIDED else self.status == Separation.SEPARABLE

    @property
    def meaning(self) -> str:
        """One sentence that says what the status means."""
        if self.parts:
            return f"{self.claim[0].upper()}{self.claim[1:]}. {self.hardest}".strip()
        return (JOINT_MEANING if self.joint else MEANING)[self.status].format(how=self.condition)

    @property
    def hardest(self) -> str:
        """Which part of a question with parts gave the verdict."""
        if self.separable or not self.parts:
            return ""
        open_parts = sum(part.separable is None for part in self.parts.values())
        if open_parts == len(self.parts):
            return "All parts are undecided."
        left = f"; {open_parts} of {len(self.parts)} parts are undecided" if open_parts else ""
        if self.separable is None:
            return f"Every other part is separable{left}."
        return f"The hardest question that was decided is {self.status}{left}."

    @cached_property
    def _found_coefficients(self) -> Coefficients:
        return self.find_coefficients()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs without the data: the coefficients are found first."""
        found = self._found_coefficients
        return {**self.__dict__, "find_coefficients": partial(replace, found), "find_fewest": None}

    def fewest(self, time_limit: float = 60.0) -> FewestErrors:
        """Find the fewest rows that a hyperplane gets wrong, as `fewest_errors` does, for the same question.

        Examples
        --------
        >>> from separatrix import separability
        >>> separability([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]).fewest().upper
        1
        """
        if self.find_fewest is None:
            raise InputError(
                "This verdict does not say which rows it is about, has parts, or is about a kernel.",
                remedy="Call sx.fewest_errors(X, y) on the rows.",
                parameter="X",
            )
        return self.find_fewest(time_limit)

    @property
    def coefficients(self) -> dict[str, str | None]:
        """Where maximum likelihood takes each coefficient; each answer is proved.

        - "finite"
        - "+infinity" or "-infinity": every direction that separates as many rows as possible takes it there.
        - "not determined": depending on the direction, it increases, decreases or stays the same.
        - "not identified": its column is a linear combination of others (aliased; R prints NA), so that other
          values fit equally well.
        - None: undecided, because the verdict is undecided or time was short. With more than 1,500
          coefficients no coefficient is decided; those that the certificate's direction moves are listed.

        They are computed at the first access, in at most ten seconds, or in the time limit of the question
        if that is shorter. The dict is empty for a question with parts, which have their own, and for a
        kernel whose feature space no columns span.
        """
        return self._found_coefficients.answers

    @property
    def responsible_features(self) -> dict[str, float]:
        """The coefficients that are not finite: inf or -inf; NaN if that is not determined or undecided.

        Coefficients that are not identified, because columns are linear combinations of others, are left out.
        """
        return self._found_coefficients.responsible

    @property
    def not_identified(self) -> list[str]:
        """The coefficients of columns that are linear combinations of each other."""
        return [name for name, answer in self.coefficients.items() if answer == "not identified"]

    @property
    def partly_strict(self) -> int:
        """How many rows can be separated strictly from some of the other classes, but not from all."""
        if not self.joint or self.certificate is None or self.certificate.multipliers is None:
            return 0
        if self.status != Separation.QUASI_SEPARABLE:
            return 0
        ties = Counter(self.certificate.multipliers.rows)
        return sum(count < len(self.certificate.classes) - 1 for count in ties.values())

    @cached_property
    def witness_rows(self) -> dict[Any, Fraction]:
        """The few rows that prove that no hyperplane separates, with their exact weights.

        With these weights, the signed rows sum to exactly zero. With an intercept and two classes, the
        weights of each class sum to one: both sums are the same point, which lies in both convex hulls. For
        the joint question the keys are pairs (row, class it is compared with).

        If the certificate has approximate multipliers (``certificate.approximate``), the weights are those,
        rounded, and all of this holds for exact weights near them.
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
        """How many rows prove that no weights separate; a row with several rivals counts once."""
        return len({row for row, _, _ in self.witness})

    def infinities(self) -> list[str]:
        """Return each coefficient that is not finite and its limit, in words."""
        return [f"{name} {said(self.coefficients[name])}" for name in self.responsible_features]

    def summary(self) -> str:
        """Return the verdict in a few lines of text."""
        named = "" if self.separation in (None, "overlap") else f" ({self.separation})"
        lines = [f"{self.status}{named}: {self.meaning}", f"  question      {self.question}"]
        if self.note:
            lines.append(f"  note          {self.note}")
        if self.parts:
            lines += [f"  {_key(key):<13} {part.status}" for key, part in self.parts.items()]
            return "\n".join(map(printable, lines))
        if self.reason:
            lines.append(f"  reason        {self.reason}")
        margin = margin_text(*self.margin)
        lines.append(f"  margin        {margin}{'' if margin == 'none' else f' ({self.margin_kind})'}")
        if self.witness:
            rows = dict.fromkeys(row for row, _, _ in self.witness)
            lines.append(f"  witness       {self.n_witnesses} rows: {some(rows)}")
        if self.status in (Separation.SEPARABLE, Separation.QUASI_SEPARABLE):
            lines.append(f"  strict rows   {self.strict_rows.size} of {self.n_rows}")
            if self.not_identified:
                lines.append(f"  unidentified  {some(self.not_identified)}")
            if self.responsible_features:
                lines.append(f"  not finite    {some(self.infinities())}")
        if self.certificate is not None:
            lines.append(f"  certificate   for data with SHA-256 {self.certificate.sha256[:12]}..., checked")
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
        """Return plain types, ready for JSON: numbers as floats, and beside them exact ones as text.

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
    """Return a bracket of the best margin for JSON, with None for infinity, and as exact text."""
    lower, upper = (float(bound) for bound in bounds)
    return {
        "kind": kind,
        "lower": lower if math.isfinite(lower) else None,
        "upper": upper if math.isfinite(upper) else None,
        "lower_exact": lower.hex(),
        "upper_exact": upper.hex(),
    }


def said(answer: str | None) -> str:
    """Return the limit of a coefficient in words."""
    if answer is None:
        return "undecided"
    return f"to {answer}" if answer.endswith("infinity") else answer


def some(items: Any, most: int = 8) -> str:
    """Return the first few of many items as text."""
    listed = [str(item) for item in items]
    more = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {more} more" if more > 0 else "")


def _key(key: Any) -> str:
    return " - ".join(map(str, key)) if isinstance(key, tuple) else str(key)
