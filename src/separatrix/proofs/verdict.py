"""Is it separable? Ask, and get a verdict with a certificate that anybody can check."""

from __future__ import annotations

import itertools
import numbers
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..certificates.claims import Certificate
from ..certificates.digest import start_digest
from ..certificates.monomials import PLAIN, MonomialMatrix, count_columns
from ..deadline import Deadline
from ..errors import InputError, LabelError, SeparationWarning
from ..inputs.dask_hook import is_collection
from ..inputs.data import Data, read_data, read_weights
from ..inputs.labels import target_note
from ..inputs.parameters import need_intercept
from ..printable import printable
from .answer import Verdict, condition, parties, question_words, some
from .feature_space import exact_degrees, kernel_bracket, prove_without_map, read_kernel
from .problem import Combination
from .prove import Judge, Proof, margin_bracket, prove
from .signed_rows import SignedRows
from .statistics.coefficients import Coefficients, coefficient_answers
from .statistics.formula import read_formula
from .strategies.conflicts import is_conflict

if TYPE_CHECKING:  # kernels import scikit-learn, which takes longer than most verdicts without one
    from ..kernels import Kernel

__all__ = ["Verdict", "check_separation", "separability"]

INTERCEPT = "(intercept)"
CONSTANT = "(constant)"  # the monomial of degree 0, of a kernel without an intercept
# Enough for about 100 coefficients of 1,000 rows; a linear program each of more columns takes minutes.
COEFFICIENT_SECONDS = 10.0
MULTICLASS = ("joint", "one-vs-rest", "pairwise")


def separability(
    X: Any,
    y: Any,
    *,
    quasi: bool = True,
    kernel: Any = None,
    fit_intercept: bool | str = True,
    multiclass: str = "joint",
    sample_weight: Any = None,
    time_limit: float = 600.0,
    feature_names: Sequence[str] | None = None,
) -> Verdict:
    """Separate the classes, or prove that it cannot be done.

    The search is done in floating point, the answer is made exact, and nothing is returned that
    `verify` would not accept.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (rows, columns)
        Integers and floats are taken exactly as they are.
    y : array of shape (rows,)
        Class labels; the larger of two is the positive class.
    quasi : bool
        Where the classes are not separable, also find out whether they are quasi-separable or overlap.
    kernel : str, Kernel or callable, optional
        Ask in the feature space of a kernel, see `separatrix.kernels`. Where that is spanned by monomials
        and not too large, the answer is exact, and the certificate speaks of those monomials. Otherwise it
        rests on identical rows, on a theorem about the kernel, or on a margin that is positive with all
        rounding counted in; or it is "undecided", with the bracket of the margin.
    fit_intercept : bool or "lifted"
        False: hyperplanes through the origin only. True or "lifted": hyperplanes anywhere, because a
        coordinate of ones is appended to each row. The answer does not depend on how an estimator counts its
        intercept; the margin of the verdict is that of the rows with their ones.
    multiclass : {"joint", "one-vs-rest", "pairwise"}
        With more than two classes: one weight vector a class, all at once; or each class against the
        rest; or each pair of classes.
    sample_weight : array of shape (rows,), optional
        Rows of weight zero are left out; other weights do not matter to the question.
    time_limit : float
        Seconds for the search, which ends at most about a second and one scan of the data later. What was
        proved by then is returned: the status is "undecided", or "inseparable" where only the finer question
        was left. A question with parts shares them among its parts. May be infinite.
    feature_names : sequence of str, optional
        Names of the columns, where X has none.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> verdict = separability([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> verdict.status, verdict.responsible_features["x0"]
    ('separable', inf)
    >>> separability([[1], [2], [2], [3]], [0, 0, 1, 1]).status
    'quasi-separable'
    >>> verdict = separability([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> verdict.status
    'overlapping'
    >>> {row: str(weight) for row, weight in verdict.witness_rows.items()}
    {0: '1/2', 1: '1/2', 2: '1/2', 3: '1/2'}

    A product of the two columns is what is missing:

    >>> from separatrix.kernels import Polynomial
    >>> verdict = separability([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1], kernel=Polynomial(degree=2))
    >>> verdict.status, verdict.certificate.degrees
    ('separable', (1, 2))

    References
    ----------
    A. Albert and J. A. Anderson (1984). On the existence of maximum likelihood estimates in logistic
    regression models. Biometrika 71.
    """
    if multiclass not in MULTICLASS:
        raise InputError(
            f"The 'multiclass' parameter of separability must be one of {', '.join(MULTICLASS)}. "
            f"Got {multiclass!r} instead.",
            parameter="multiclass",
        )
    lift = need_intercept(fit_intercept, "separability")
    if not isinstance(quasi, bool | np.bool_):
        raise InputError(
            f"The 'quasi' parameter of separability must be True or False. Got {quasi!r} instead."
        )
    if not (isinstance(time_limit, numbers.Real) and time_limit > 0):
        raise InputError(
            f"The 'time_limit' parameter of separability must be a positive number of seconds. "
            f"Got {time_limit!r} instead.",
            parameter="time_limit",
        )
    if kernel is not None and is_collection(X):
        raise InputError(
            "A kernel is asked about with rows in memory, and X is a Dask collection.",
            remedy="Take the rows into memory first, if they fit: X.compute().",
            parameter="kernel",
        )
    data = read_data(X, y)
    if feature_names is not None:
        if len(feature_names) != data.matrix.shape[1]:
            raise InputError(
                f"feature_names has {len(feature_names)} names; X has {data.matrix.shape[1]} columns."
            )
        data = replace(data, names=tuple(map(str, feature_names)))
    n_rows = data.codes.size
    inside = np.ones(n_rows, dtype=bool) if sample_weight is None else read_weights(sample_weight, n_rows) > 0
    present = np.flatnonzero(np.bincount(data.codes[inside]))
    if present.size < 2:
        raise LabelError(
            "The rows of positive weight have fewer than two classes; two are needed to separate anything."
        )
    chosen = None if kernel is None else read_kernel(kernel, data.matrix)
    asked = _Asked(data, inside, lift, quasi, chosen, time_limit)
    if len(data.classes) == 2:
        return asked.answer("binary", ())
    note = target_note(y, data.labels)
    if multiclass == "joint":
        return replace(asked.answer("joint", ()), note=note)
    if multiclass == "one-vs-rest":
        parts = asked.answers("one-vs-rest", {data.labels[c]: (int(c),) for c in present})
    else:
        pairs = itertools.combinations(present.tolist(), 2)
        parts = asked.answers("pair", {(data.labels[a], data.labels[b]): (a, b) for a, b in pairs})
    return replace(_together(parts, multiclass, int(inside.sum())), note=note)


def check_separation(X: Any, y: Any = None, *, data: Any = None, **options: Any) -> Verdict:
    """Warn if a logistic regression of these data has no finite maximum-likelihood estimate.

    Parameters
    ----------
    X : array, data frame, sparse matrix or str
        The rows, or a formula such as ``"HG ~ NV + PI + EH"`` (needs the extra ``formula``).
    y : array of shape (rows,)
        Class labels; not with a formula.
    data : data frame or mapping, optional
        Where the formula's variables are. Rows with a missing value are left out, and rows are counted as
        in ``data``; the certificate speaks of the matrix that formulaic makes, without them.
    **options
        As for `separability`.

    Returns
    -------
    Verdict

    Warns
    -----
    SeparationWarning
        Names the coefficients that are infinite and the rows that cause it; one for each part of a question
        that has parts.

    Examples
    --------
    >>> check_separation([[0], [1], [0], [1]], [0, 1, 1, 0]).status
    'overlapping'
    """
    if isinstance(X, str):
        verdict = _ask_by_formula(X, y, data, options)
    elif y is None:
        raise InputError("check_separation needs labels: check_separation(X, y), or a formula with data=.")
    else:
        verdict = separability(X, y, **options)
    # each part of a question is a regression of its own
    for part in verdict.parts.values() or (verdict,):
        if part.status in ("separable", "quasi-separable"):
            warnings.warn(printable(_separated(part)), SeparationWarning, stacklevel=2)
    return verdict


def _separated(verdict: Verdict) -> str:
    """What a statistician has to know of data that are separated."""
    kind = "completely" if verdict.status == "separable" else "quasi-completely"
    depend, infinite, strict = verdict.not_identified, verdict.infinities(), verdict.strict_rows.tolist()
    first = f"Columns depend on each other: {some(depend)} are not identified. " if depend else ""
    named = f" ({some(infinite)})" if infinite else ""
    rows = f"{len(strict)} of {verdict.n_rows} rows are separated strictly"
    if strict:
        rows += f": {some(strict)}"
    elif verdict.partly_strict:
        rows += f" from all other classes, {verdict.partly_strict} from some of them"
    remedy = "Penalize the likelihood (Firth, ridge)."
    if verdict.kernel:
        remedy = "Penalize the likelihood (ridge), or ask in a smaller feature space."
    elif depend:
        remedy = "Leave out columns until no column depends on the others, and check again."
    elif infinite:
        remedy = "Penalize the likelihood (Firth, ridge), or leave out the variables named and check again."
    return (
        f"{first}The data are {kind} separated ({verdict.question}): maximum likelihood has no finite "
        f"estimate{named}. {rows}. {remedy}"
    )


def _ask_by_formula(formula: str, y: Any, data: Any, options: dict[str, Any]) -> Verdict:
    """The verdict on what a formula says, its rows counted as in the data."""
    if y is not None or data is None:
        raise InputError(
            'With a formula, the variables come from data=: check_separation("y ~ a + b", data=frame).'
        )
    if is_collection(data):
        raise InputError(
            "A formula reads a data frame in memory, and data is a Dask collection.",
            remedy="Pass its columns as X and y, or take it into memory first, if it fits: data.compute().",
            parameter="data",
        )
    design = read_formula(formula, data)
    weights = options.pop("sample_weight", None)
    verdict = separability(
        design.X,
        design.y,
        sample_weight=None if weights is None else design.kept(weights),
        **{"fit_intercept": design.intercept, **options},
    )
    left = formula.partition("~")[0].strip()
    if left in getattr(data, "columns", ()):  # a formula takes the order from its categories
        verdict = replace(verdict, note=target_note(data[left], np.unique(design.y).tolist()))
    return verdict if design.rows.size == design.n_data else _counted_as(verdict, design.rows)


def _counted_as(verdict: Verdict, rows: NDArray[np.int64]) -> Verdict:
    """The same verdict with its rows counted anew."""
    return replace(
        verdict,
        strict_rows=rows[verdict.strict_rows],
        witness=tuple((int(rows[row]), rival, value) for row, rival, value in verdict.witness),
        parts={key: _counted_as(part, rows) for key, part in verdict.parts.items()},
    )


class _Asked:
    """One data set, asked one question after the other."""

    def __init__(
        self,
        data: Data,
        inside: NDArray[np.bool_],
        lift: bool,
        quasi: bool,
        kernel: Kernel | None,
        time_limit: float,
    ) -> None:
        self.data, self.inside, self.lift, self.quasi, self.kernel = data, inside, bool(lift), quasi, kernel
        self.time_limit = time_limit
        self.degrees = PLAIN if kernel is None else exact_degrees(kernel, data.matrix.shape)
        # the constant is one of the kernel's monomials, or the intercept, or both: the planes are the same
        self.constant = kernel is not None and kernel.degrees is not None and 0 in kernel.degrees
        self.lifted = self.lift or (self.constant and self.degrees is not None)
        self.digest = start_digest(data)  # hashed while the search goes on

    def answers(self, question: str, chosen: dict[Any, tuple[int, ...]]) -> dict[Any, Verdict]:
        """One verdict a part; each may take an equal share of the time that is left."""
        deadline, found = Deadline.after(self.time_limit), {}
        for done, (key, each) in enumerate(chosen.items()):
            share = deadline.left / (len(chosen) - done)
            found[key] = self.answer(question, each, share) if share else self._unasked(question, each)
        return found

    def _unasked(self, question: str, chosen: tuple[int, ...]) -> Verdict:
        """The verdict on a part that no time was left for."""
        inside = self.inside & np.isin(self.data.codes, chosen) if question == "pair" else self.inside
        rows = int(np.count_nonzero(inside))
        return Verdict(
            "undecided",
            None,
            (-np.inf, np.inf),
            np.zeros(0, dtype=np.int64),
            n_rows=rows,
            **self._space(question, chosen),
        )

    def _space(self, question: str, chosen: tuple[int, ...]) -> dict[str, Any]:
        """What is asked, and where."""
        kernel = "" if self.kernel is None else str(self.kernel)
        about = question, self.data.classes, chosen
        return {
            "question": question_words(*about, condition(self.lift, kernel)),
            "parties": parties(*about),
            "lift": self.lift,
            "joint": question == "joint",
            "kernel": kernel,
        }

    def answer(self, question: str, chosen: tuple[int, ...], seconds: float | None = None) -> Verdict:
        """Answer one question in so many seconds, or in the time limit."""
        data, inside = self.data, self.inside
        positive: int | None = 1
        if question == "joint":
            positive = None
        elif question == "one-vs-rest":
            positive = chosen[0]
        elif question == "pair":
            positive = chosen[1]
            inside = inside & np.isin(data.codes, chosen)
        template = Certificate(
            claim="separable",
            question=question,
            classes=data.classes,
            chosen=chosen,
            lift=self.lifted,
            excluded=tuple(np.flatnonzero(~self.inside).tolist()),
            n_rows=data.matrix.shape[0],
            n_columns=data.matrix.shape[1],
            sha256="",
            degrees=self.degrees or PLAIN,
        )
        deadline = Deadline.after(self.time_limit if seconds is None else seconds)
        judge = Judge(template, data, deadline)
        plain = template.degrees == PLAIN
        mapped = data if plain else replace(data, matrix=MonomialMatrix(data.matrix, template.degrees))
        signed = SignedRows(mapped, positive, inside, self.lifted, deadline)
        reason = ""
        if self.kernel is None:
            proof = prove(signed, judge, quasi=self.quasi)
            margin = margin_bracket(signed, proof)
        elif self.degrees is not None:
            proof = prove(signed, judge, quasi=self.quasi)
            count = count_columns(data.matrix.shape[1], self.degrees) + self.constant
            spans = "monomials that span" if count > 1 else "monomial that spans"
            reason = f"exact, by the {count:,} {spans} the feature space of {self.kernel}"
            reason += " and by the intercept" if self.lift and not self.constant else ""
            margin = kernel_bracket(self.kernel, signed, self.lift, proof.status)
        else:
            proof, margin, reason = prove_without_map(self.kernel, signed, self.lift, judge)
        certificate = None
        if not (proof.weights is None and proof.multipliers is None and proof.approximate is None):
            certificate = judge.certificate(proof)
            certificate = replace(certificate, sha256=self.digest())
        return Verdict(
            status=proof.status,
            certificate=certificate,
            margin=margin,
            strict_rows=_strict_rows(signed, proof),
            find_coefficients=partial(self._coefficients, signed, proof, judge),
            n_rows=signed.order.size,
            witness=() if proof.witness is None else _witness(signed, proof.witness),
            reason=reason,
            conflict=proof.witness is not None and is_conflict(signed, proof.witness.ids),
            search=proof.steps,
            **self._space(question, chosen),
        )

    def _coefficients(self, signed: SignedRows, proof: Proof, judge: Judge) -> Coefficients:
        """What becomes of the coefficients; it is asked for later, and has a time limit of its own."""
        if self.degrees is None:
            return Coefficients()  # no columns span the feature space
        due = signed.due(Deadline.after(min(self.time_limit, COEFFICIENT_SECONDS)))
        return coefficient_answers(due, proof, judge, self._names(signed))

    def _names(self, signed: SignedRows) -> list[str]:
        names = _distinct(self.data.names or tuple(f"x{j}" for j in range(self.data.matrix.shape[1])))
        columns = getattr(signed.data.matrix, "columns", None)
        own = list(names) if columns is None else _monomials(columns, names)
        own += [INTERCEPT if self.lift else CONSTANT] if self.lifted else []
        if not signed.joint:
            return own
        return [f"{name} [{label}]" for label in self.data.classes[:-1] for name in own]


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names that tell every column from the others, and from the intercept."""
    often = Counter((*names, INTERCEPT, CONSTANT))
    return tuple(f"{name} (column {j})" if often[name] > 1 else name for j, name in enumerate(names))


def _monomials(columns: Any, names: tuple[str, ...]) -> list[str]:
    from ..features import monomial_name

    return [monomial_name(each, names) for each in columns]


def _witness(signed: SignedRows, witness: Combination) -> tuple[tuple[int, int, int], ...]:
    rows, rivals = signed.split(witness.ids)
    common = lcm(*(value.denominator for value in witness.values))
    whole = [int(value * common) for value in witness.values]
    return tuple(sorted(zip(rows.tolist(), rivals.tolist(), whole, strict=True)))


def _strict_rows(signed: SignedRows, proof: Proof) -> NDArray[np.int64]:
    if proof.status == "separable":
        return signed.order
    if proof.status != "quasi-separable" or proof.multipliers is None:
        return np.zeros(0, dtype=np.int64)
    return np.setdiff1d(signed.order, np.array(proof.multipliers.rows, dtype=np.int64))


def _together(parts: dict[Any, Verdict], multiclass: str, n_rows: int) -> Verdict:
    """One verdict for several: separable if every part is."""
    first, found = next(iter(parts.values())), {part.status for part in parts.values()}
    order = ("overlapping", "inseparable", "quasi-separable", "undecided", "separable")
    status = next(each for each in order if each in found)
    return Verdict(
        status=status,
        certificate=None,
        margin=(min(p.margin[0] for p in parts.values()), min(p.margin[1] for p in parts.values())),
        strict_rows=np.zeros(0, dtype=np.int64),
        question=f"{multiclass}: {len(parts)} questions, {condition(first.lift, first.kernel)}",
        n_rows=n_rows,
        parts=parts,
        lift=first.lift,
        kernel=first.kernel,
        parties=("every class", "from the rest")
        if multiclass == "one-vs-rest"
        else ("every two classes", ""),
    )
