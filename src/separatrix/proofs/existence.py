"""Ask whether the maximum-likelihood estimate of a regression exists, and prove the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import lcm
from typing import Any

import numpy as np

from ..certificates.claims import Multipliers, Separation
from ..certificates.digest import start_digest
from ..certificates.estimate import EXISTS, NONE, NOT_UNIQUE, UNIQUE, EstimateClaim, proved
from ..certificates.fields import Number
from ..certificates.models.build import MODELS, build
from ..certificates.models.regression import Regression, Rows
from ..certificates.proof import Fails
from ..deadline import Deadline, OutOfTime
from ..errors import InputError
from ..inputs.data import Data
from ..inputs.response import read_regression
from ..printable import printable
from ..rows.protocol import Ints, Mask
from .answer import some
from .exact.integer_rows import Misled, modulo_primes
from .prove import Proof, prove_partition
from .search import (
    NO_ROWS,
    Combination,
    Inseparable,
    Knowledge,
    Problem,
    SearchStep,
    Separated,
    Weights,
    search,
)
from .signed_rows import SignedRows
from .statistics.coefficients import (
    FINITE,
    INFINITIES,
    NOT_IDENTIFIED,
    Coefficients,
    coefficient_answers,
)
from .statistics.rest import HAVE_REST, Rest, rest_of
from .strategies import STRATEGIES

INTERCEPT = "(intercept)"
COEFFICIENT_SECONDS = 10.0


@dataclass(frozen=True, eq=False)
class Estimate:
    """Whether the maximum-likelihood estimate of a regression exists.

    Attributes
    ----------
    exists, unique : bool or None
        None if it is undecided. If there is no estimate, ``unique`` is None. The likelihood of an inverse
        Gaussian regression is not concave: ``unique`` is False if columns depend on each other, else None.
    asked : Regression
    responsible_rows : ndarray of int64
        If there is no estimate: the rows, counted from 0, whose likelihood increases forever along the
        direction of the certificate.
    certificate : EstimateClaim or None
        The proof, for `verify`.
    n_rows : int
        Rows of the data with positive weight.
    dropped : str
        What was left out because it says nothing about the coefficients.
    note : str
        What has to be known about how the question was read.
    search : tuple of SearchStep
    data : dict
        The arguments of `verify` that the certificate is about: ``verify(certificate, **data)``.
    """

    exists: bool | None
    unique: bool | None
    asked: Regression
    responsible_rows: Ints
    certificate: EstimateClaim | None
    n_rows: int
    dropped: str = ""
    note: str = ""
    search: tuple[SearchStep, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)
    find_coefficients: Any = field(default=Coefficients, repr=False)
    find_rest: Any = field(default=None, repr=False)

    @cached_property
    def coefficients(self) -> dict[str, str | None]:
        """For each coefficient: finite, +infinity, -infinity, not determined, not identified, or None.

        If an inverse Gaussian regression has no estimate, its coefficients stay undecided (None).
        """
        found: Coefficients = self.find_coefficients()
        return found.answers

    @property
    def infinite(self) -> dict[str, float]:
        """The coefficients that are proved to be infinite, with their limits."""
        return {name: INFINITIES[a] for name, a in self.coefficients.items() if a in INFINITIES}

    @property
    def estimable(self) -> tuple[str, ...]:
        """The coefficients with finite estimates; if there is no estimate, those of the other rows."""
        return tuple(name for name, answer in self.coefficients.items() if answer == FINITE)

    def rest(self) -> Rest:
        """Return the regression without what keeps its estimate from existing; all its estimates are finite.

        Binary, binomial and Poisson regressions lose the responsible rows; conditional and Cox models, and
        binary regressions with groups, compare fewer rows: their strata are divided. Raises InputError for
        other models: in the limit, a row of an ordinal or multinomial regression can say that its category is
        one of several, which is no regression of the same kind. What is left of a Bradley-Terry model is the
        model of the other games.
        """
        if self.exists is not False:
            raise InputError(f"There is no proof that a part has to be left out: {self.headline}")
        if self.asked.model == "bradley-terry":
            raise InputError(
                "The rest of a Bradley-Terry model is not made here: it is the model of the other games.",
                remedy="Leave out the games in responsible_rows.",
            )
        if self.find_rest is None:
            raise InputError(f"Of this {self.title}, no part is left that is a regression of the same kind.")
        found: Rest = self.find_rest(set(self.estimable))
        return found

    @property
    def divides_strata(self) -> bool:
        """Whether the rest compares fewer rows with each other, instead of having fewer rows."""
        return self.asked.model in ("cox", "conditional") or (
            self.asked.model == "binary" and self.data.get("groups") is not None
        )

    @property
    def title(self) -> str:
        """What the regression is called."""
        return MODELS[self.asked.model].title

    def summary(self) -> str:
        """Return the answer, with what it is about and what follows, in a few lines."""
        lines = [self.headline]
        answers = self.coefficients
        for label, wanted in (
            ("not finite", INFINITIES),
            ("not determined", ("not determined",)),
            ("not identified", (NOT_IDENTIFIED,)),
        ):
            names = [f"{n} to {a}" if a in INFINITIES else n for n, a in answers.items() if a in wanted]
            if names:
                lines.append(f"  {label:<15} {some(names)}")
        if self.exists is False:
            lines.append(f"  {'rows':<15} {self.cause}")
            if self.find_rest is not None:
                label = "still estimable" if self.divides_strata else "without them"
                lines.append(f"  {label:<15} {some(self.estimable) or 'nothing'}")
        for label, text in (("left out", self.dropped), ("note", self.note)):
            lines += [f"  {label:<15} {text}"] if text else []
        if self.certificate is not None:
            lines.append(
                f"  {'certificate':<15} for data with SHA-256 {self.certificate.sha256[:12]}..., checked"
            )
        return "\n".join(map(printable, lines))

    @property
    def cause(self) -> str:
        """The responsible rows in a few words."""
        rows = self.responsible_rows
        if not rows.size:  # of a gamma regression, which has a signed row that is about all rows
            return f"all {self.n_rows} together"
        return f"{rows.size} of {self.n_rows}: {some(rows.tolist())} (counted from 0)"

    @property
    def headline(self) -> str:
        """The answer in one line."""
        if self.exists is None:
            return f"undecided: whether the {self.title} has a finite maximum-likelihood estimate."
        if not self.exists:
            return f"no estimate: the {self.title} has no finite maximum-likelihood estimate."
        if self.unique is False:
            return f"not unique: the {self.title} has many maximum-likelihood estimates."
        return f"estimate exists{' and is unique' if self.unique else ''}: {self.title}."

    def __str__(self) -> str:
        return self.summary()


def ask(
    asked: Regression,
    X: Any,
    columns: Mapping[str, Any],
    *,
    names: Sequence[str] | None = None,
    time_limit: float = 600.0,
) -> Estimate:
    """Answer for a design matrix, the response y and further columns by their names."""
    data = read_regression(X, MODELS[asked.model].response, columns)
    digest = start_digest(data)
    rows = build(asked, data)
    named = _names(names or data.names, rows)
    deadline = Deadline.after(time_limit)
    template = EstimateClaim(
        NONE, asked, data.classes, int(data.matrix.shape[0]), int(data.matrix.shape[1]), ""
    )
    judge = span = _Judge(template, rows, deadline)
    if rows.weak.size:  # where all rows are equal, only their span matters
        alike = {**data.columns, "y": np.ones_like(data.columns["y"])}
        span = _Judge(template, build(asked, replace(data, columns=alike)), deadline)
    signed = _signed(span.rows, deadline)
    steps: tuple[SearchStep, ...] = ()
    if rows.weak.size:
        steps = _ask_hulls(judge, data)
    elif rows.n_signed:
        steps = prove_partition(signed, judge)
    else:
        judge.accept(Proof(Separation.OVERLAPPING))
    if judge.best is not None and judge.best.claim == EXISTS:
        span.accept(Proof(Separation.OVERLAPPING))
        with suppress(OutOfTime):
            modulo_primes(partial(_uniqueness, signed, span))
        if span.best is not None and span.best.claim == NOT_UNIQUE:
            along = (*(span.best.direction or ()), *(0,) * (rows.combinations.shape[1] - signed.width))
            judge.holds(replace(judge.best, claim=NOT_UNIQUE, direction=along))
    claim = None if judge.best is None else replace(judge.best, sha256=digest())
    weights = data.columns.get("weights")
    responsible = _responsible(rows, claim)
    return Estimate(
        exists=None if claim is None else claim.claim != NONE,
        unique={UNIQUE: True, NOT_UNIQUE: False}.get("" if claim is None else claim.claim),
        asked=asked,
        responsible_rows=responsible,
        certificate=claim,
        n_rows=int(data.matrix.shape[0] if weights is None else np.count_nonzero(weights)),
        dropped=rows.dropped,
        search=steps,
        data={"X": X, **columns},
        find_coefficients=partial(_coefficients, signed, span, named, time_limit),
        find_rest=partial(rest_of, rows, data, claim, named)
        if claim is not None and claim.claim == NONE and asked.model in HAVE_REST
        else None,
    )


def _signed(rows: Rows, deadline: Deadline) -> SignedRows:
    count = rows.combinations.shape[0]
    data = Data(rows.combinations, np.ones(count, dtype=np.int64), ("", ""), ("", ""), None)
    first_equal = rows.n_signed + rows.weak.size
    return SignedRows(data, 1, np.ones(count, dtype=bool), False, deadline, first_equal)


def _ask_hulls(judge: _Judge, data: Data) -> tuple[SearchStep, ...]:
    """Ask, for each different row with y = 0, whether it is in the convex hull of those with y > 0."""
    rows, known, multipliers, direction = judge.rows, Knowledge(), dict[int, int](), list[Number]()
    made = rows.combinations
    leaders, own = np.unique(rows.weak), made.data.indices[: rows.n_signed] // made.n_base
    positive = made.about[rows.n_signed : rows.n_signed + rows.weak.size // leaders.size]
    every = np.ones(1 + positive.size, dtype=bool)

    def separates(weights: Weights, one: Rows) -> bool:
        return one.combinations.first_wrong(weights[0], ~every, judge.deadline.need) is None

    with suppress(OutOfTime):
        for block, zero in enumerate(made.about[leaders].tolist()):
            inside = np.zeros(made.n_base)
            inside[[zero, *positive]] = 1.0
            one = build(judge.template.asked, replace(data, columns={**data.columns, "weights": inside}))
            signed = _signed(one, judge.deadline)
            match search(
                Problem(signed, STRATEGIES, partial(separates, one=one), every, part=f"row {zero}"), known
            ):
                case Separated(weights):
                    direction += weights[0]
                case Inseparable(Combination() as found):
                    direction += [0] * made.block
                    common = lcm(*(value.denominator for value in found.values))
                    same = np.flatnonzero(own == block).tolist()
                    start = rows.n_signed + block * positive.size - 1
                    for number, value in zip(found.ids.tolist(), found.values, strict=True):
                        whole = int(value * common)
                        if number:
                            multipliers[start + number] = whole * len(same)
                        else:
                            multipliers |= dict.fromkeys(same, whole)
                case _:
                    return tuple(known.steps)
        listed = Multipliers(tuple(multipliers), (), (), tuple(multipliers.values()), 1)
        along = (tuple(direction),) if any(direction) else None
        judge.accept(Proof(Separation.UNDECIDED, along, listed if multipliers else None))
    return tuple(known.steps)


class _Judge:
    """The checker of one question: ``best`` is the strongest claim that it has accepted."""

    def __init__(self, template: EstimateClaim, rows: Rows, deadline: Deadline) -> None:
        self.template, self.rows, self.deadline = template, rows, deadline
        self.best: EstimateClaim | None = None
        self.proof = Proof(Separation.UNDECIDED)

    def total(self, signed: SignedRows, ids: Ints) -> dict[int, dict[int, int]]:
        return self.rows.combinations.sums(ids, np.ones_like(ids), signed.deadline.need)

    def separates(self, weights: Weights, signed: SignedRows, tight: Mask) -> bool:
        return self.rows.combinations.first_wrong(weights[0], tight, self.deadline.need) is None

    def accept(self, proof: Proof) -> bool:
        claim = NONE if proof.weights is not None else EXISTS
        direction = None if proof.weights is None else proof.weights[0]
        if self.holds(
            replace(self.template, claim=claim, direction=direction, multipliers=proof.multipliers)
        ):
            self.proof = proof
            return True
        return False

    def holds(self, claim: EstimateClaim) -> bool:
        """Whether the checker accepts a claim, which becomes the best one."""
        try:
            proved(claim, self.rows, self.deadline.need)
        except Fails:
            return False
        self.best = claim
        return True

    def due(self, deadline: Deadline) -> _Judge:
        twin = copy(self)
        twin.deadline = deadline
        return twin


def _uniqueness(signed: SignedRows, judge: _Judge, prime: int) -> None:
    """Prove that the estimate is unique, or that it is not. Raises Misled."""
    assert judge.best is not None
    basis = signed.span_basis(prime)
    if basis.size == signed.width:
        judge.holds(replace(judge.best, claim=UNIQUE, basis=(tuple(basis.tolist()), prime)))
        return
    near, exponents = np.ones(signed.width), np.zeros(signed.width, dtype=np.int64)
    null = signed.integers(basis).vanishing_weights(near, exponents, prime, signed.deadline)
    direction = signed.whole_weights(null)[0]
    if not judge.holds(replace(judge.best, claim=NOT_UNIQUE, direction=direction)):
        raise Misled


def _coefficients(signed: SignedRows, judge: _Judge, names: list[str], time_limit: float) -> Coefficients:
    due = signed.due(Deadline.after(min(time_limit, COEFFICIENT_SECONDS)))
    return coefficient_answers(due, judge.proof, judge, names)


def _names(given: Sequence[str] | None, rows: Rows) -> list[str]:
    """Return the names of all coefficients, without auxiliary coordinates; refuse a name that two have."""
    made = rows.combinations
    own = list(map(str, given or (f"x{j}" for j in range(made.n_columns))))
    if len(own) != made.n_columns:
        raise InputError(f"There are {len(own)} names of columns; X has {made.n_columns} columns.")
    own += [INTERCEPT] * made.lift
    twice = [name for name in set(own) if own.count(name) > 1] if len(set(own)) < len(own) else []
    if twice:
        raise InputError(f"Two coefficients have the name {min(twice)!r}.", remedy="Pass feature_names.")
    if rows.per_class:
        own = [f"{name} [{label}]" for label in rows.per_class for name in own]
    return own + list(rows.further)


def _responsible(rows: Rows, claim: EstimateClaim | None) -> Ints:
    """Return the rows of the data that strict signed rows are about."""
    if claim is None or claim.claim != NONE:
        return NO_ROWS
    strict = np.ones(rows.n_signed, dtype=bool)
    if claim.multipliers is not None:
        tight = np.array(claim.multipliers.rows, dtype=np.int64)
        strict[tight[tight < rows.n_signed]] = False
    about = np.unique(rows.combinations.about[: rows.n_signed][strict])
    found: Ints = about[about >= 0]
    return found
