"""Ask whether the classes can be separated, and get a verdict with a certificate that anyone can check."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..certificates.claims import Certificate, Separation
from ..certificates.digest import start_digest
from ..certificates.monomials import PLAIN, MonomialMatrix, count_columns
from ..deadline import Deadline, need_time_limit
from ..errors import InputError, LabelError, SeparationWarning
from ..inputs.data import Data, need_intercept, read_data, read_weights, target_note
from ..inputs.matrix import is_collection
from ..printable import printable
from .answer import Question, Verdict, some
from .feature_space import exact_degrees, kernel_bracket, prove_without_map, read_kernel
from .prove import Judge, Proof, margin_bracket, prove
from .search import NO_ROWS, Combination
from .signed_rows import SignedRows
from .statistics.asked import Asked
from .statistics.coefficients import Coefficients, coefficient_answers
from .statistics.fitted import read_fitted
from .statistics.formula import read_formula
from .strategies.conflicts import is_conflict

if TYPE_CHECKING:  # kernels import scikit-learn, which takes longer than most verdicts without one
    from ..kernels import Kernel
    from .fewest.fewest_errors import FewestErrors

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

    The search uses floating-point arithmetic. Without a kernel, or with a kernel whose feature space is
    spanned by monomials, its result is then proved in exact arithmetic. The proof is the certificate of the
    verdict, and `verify` has accepted it before it is returned.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (rows, columns)
        Integers and floats are used exactly, without rounding.
    y : array of shape (rows,)
        Class labels. With two classes, the label that is last in sorted order is the positive class.
    quasi : bool
        If the classes are not separable, also find out whether they are quasi-separable or overlap.
    kernel : str, Kernel or callable, optional
        Ask in the feature space of a kernel, see `separatrix.kernels`. If monomials span this space, at most
        5,000 of them, and at most 2**25 numbers for all rows, the answer is exact, and the certificate is
        about these monomials. Otherwise there is no certificate: the answer follows from identical rows with
        different labels, from a theorem about the kernel, or from a margin that is larger than all rounding
        errors. If none of these applies, the status is "undecided".
    fit_intercept : bool or "lifted"
        False: only hyperplanes through the origin. True or "lifted": hyperplanes with an intercept, which is
        the weight of a constant column. True and "lifted" mean the same here. The margin of the verdict is
        that of the rows with the constant column.
    multiclass : {"joint", "one-vs-rest", "pairwise"}
        The question for more than two classes: all classes at once, with one weight vector per class; each
        class against the rest; or each pair of classes.
    sample_weight : array of shape (rows,), optional
        Rows with weight zero are left out. Other weights do not change the answer.
    time_limit : float
        Seconds for the search. It may exceed this by about one second plus one scan of the data. The verdict
        contains what was proved by then: the status is "undecided", or "inseparable" if it was proved that
        the classes are not separable, but not whether they are quasi-separable. With "one-vs-rest" or
        "pairwise", all comparisons together have this time. The limit may be infinite.
    feature_names : sequence of str, optional
        Names of the columns, if X has none.

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

    The product of the two columns makes the classes separable:

    >>> from separatrix.kernels import Polynomial
    >>> verdict = separability([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1], kernel=Polynomial(degree=2))
    >>> verdict.status, verdict.certificate.degrees
    ('separable', (1, 2))

    References
    ----------
    A. Albert and J. A. Anderson (1984). On the existence of maximum likelihood estimates in logistic
    regression models. Biometrika 71.
    """
    need_time_limit(time_limit, "separability")
    for name, value, valid, wanted in (
        ("multiclass", multiclass, multiclass in MULTICLASS, f"one of {', '.join(MULTICLASS)}"),
        ("quasi", quasi, isinstance(quasi, bool | np.bool_), "True or False"),
    ):
        if not valid:
            message = f"The {name!r} parameter of separability must be {wanted}. Got {value!r} instead."
            raise InputError(message, parameter=name)
    lift = need_intercept(fit_intercept, "separability")
    if kernel is not None and is_collection(X):
        raise InputError(
            "A question with a kernel needs rows in memory, and X is a Dask collection.",
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
            "The rows of positive weight have fewer than two classes; at least two classes are needed."
        )
    chosen = None if kernel is None else read_kernel(kernel, data.matrix)
    asked = _Asked(data, inside, lift, quasi, chosen, time_limit)
    if len(data.classes) == 2:
        return asked.answer(asked.question("binary"), time_limit)
    question, note = asked.question(multiclass), target_note(y, data.labels)
    if multiclass == "joint":
        return replace(asked.answer(question, time_limit), note=note)
    if multiclass == "one-vs-rest":
        parts = {data.labels[c]: asked.question("one-vs-rest", (int(c),)) for c in present}
    else:
        pairs = itertools.combinations(present.tolist(), 2)
        parts = {(data.labels[a], data.labels[b]): asked.question("pair", (a, b)) for a, b in pairs}
    return replace(asked.answer_parts(question, parts), note=note)


def check_separation(X: Any, y: Any = None, *, data: Any = None, **options: Any) -> Verdict:
    """Warn if it is proved that a logistic regression has no finite maximum-likelihood estimate.

    Parameters
    ----------
    X : array, data frame, sparse matrix, str or model
        The rows, or a formula such as ``"HG ~ NV + I(PI^2) + EH"``, as in R (needs the extra ``formula``), or
        a binary or multinomial model of statsmodels, or its result.
    y : array of shape (rows,)
        Class labels. Leave them out if X is a formula.
    data : data frame or mapping, optional
        The variables of the formula. Rows with a missing value are left out, but row numbers are those of
        ``data``. The certificate is about the matrix that formulaic computes, without the rows left out.
    **options
        As for `separability`.

    Returns
    -------
    Verdict

    Warns
    -----
    SeparationWarning
        Names the infinite coefficients and the rows that cause them. With "one-vs-rest" or "pairwise", there
        is one warning per comparison that is separated.

    Examples
    --------
    >>> check_separation([[0], [1], [0], [1]], [0, 1, 1, 0]).status
    'overlapping'
    """
    fitted = read_fitted(X) if y is None and not isinstance(X, str) else None
    if isinstance(X, str):
        verdict = _ask_by_formula(X, y, data, options)
    elif fitted is not None:
        verdict = _ask_by_model(fitted, options)
    elif y is None:
        raise InputError("check_separation needs labels: check_separation(X, y), or a formula with data=.")
    else:
        verdict = separability(X, y, **options)
    # each part of a question is a regression of its own
    for part in verdict.parts.values() or (verdict,):
        if part.status in (Separation.SEPARABLE, Separation.QUASI_SEPARABLE):
            warnings.warn(printable(_separated(part)), SeparationWarning, stacklevel=2)
    return verdict


def _separated(verdict: Verdict) -> str:
    """Return what a statistician has to know about data that are separated."""
    kind = "completely" if verdict.status == Separation.SEPARABLE else "quasi-completely"
    depend, infinite, strict = verdict.not_identified, verdict.infinities(), verdict.strict_rows.tolist()
    first = (
        f"Columns are linear combinations of others: {some(depend)} are not identified. " if depend else ""
    )
    named = f" ({some(infinite)})" if infinite else ""
    rows = f"{len(strict)} of {verdict.n_rows} rows {'is' if len(strict) == 1 else 'are'} strictly separated"
    if strict:
        rows += f": {some(strict)} (counted from 0)"
    elif verdict.partly_strict:
        rows += f" from all other classes, {verdict.partly_strict} from some of them"
    remedy = "Penalize the likelihood (Firth, ridge)."
    if verdict.kernel:
        remedy = "Penalize the likelihood (ridge), or ask in a smaller feature space."
    elif depend:
        remedy = (
            "Leave out one column at a time until none is a linear combination of the others. Check again."
        )
    elif infinite:
        remedy += (
            " Leave a variable out only if it does not belong in the model, never because it predicts too "
            "well."
        )
    return (
        f"{first}The data are {kind} separated ({verdict.question}): maximum likelihood has no finite "
        f"estimate{named}. {rows}. {remedy}"
    )


def _ask_by_formula(formula: str, y: Any, data: Any, options: dict[str, Any]) -> Verdict:
    """Return the verdict on a formula, with the row numbers of the data."""
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
    _need_classes(design.model)
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


def _ask_by_model(fitted: Asked, options: dict[str, Any]) -> Verdict:
    """Return the verdict on a model of statsmodels."""
    _need_classes(fitted.model)
    return separability(
        fitted.X,
        fitted.columns["y"],
        **{
            "fit_intercept": False,
            "feature_names": fitted.names,
            "sample_weight": fitted.columns.get("weights"),
            **options,
        },
    )


def _need_classes(model: str | None) -> None:
    if model not in (None, "binary", "multinomial"):
        raise InputError(
            f"This is a question about a {model} model, not about classes.",
            remedy="Ask sx.check_estimate, which answers for such models too.",
        )


def _counted_as(verdict: Verdict, rows: NDArray[np.int64]) -> Verdict:
    """Return the same verdict with other row numbers."""
    return replace(
        verdict,
        strict_rows=rows[verdict.strict_rows],
        witness=tuple((int(rows[row]), rival, value) for row, rival, value in verdict.witness),
        parts={key: _counted_as(part, rows) for key, part in verdict.parts.items()},
    )


class _Asked:
    """One data set, and the settings that all questions about it share."""

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
        # The constant is a monomial of the kernel, or the intercept, or both: the hyperplanes are the same.
        self.constant = kernel is not None and kernel.degrees is not None and 0 in kernel.degrees
        self.lifted = self.lift or (self.constant and self.degrees is not None)
        self.digest = start_digest(data)  # computed during the search

    def question(self, kind: str, chosen: tuple[int, ...] = ()) -> Question:
        """Return a question about these data."""
        kernel = "" if self.kernel is None else str(self.kernel)
        return Question(kind, self.data.classes, chosen, self.lift, kernel)

    def answer_parts(self, whole: Question, parts: dict[Any, Question]) -> Verdict:
        """Answer a question by its parts: it is separable if all of them are.

        Each part gets an equal share of the time that is left.
        """
        deadline, found = Deadline.after(self.time_limit), dict[Any, Verdict]()
        for key, each in parts.items():
            share = deadline.left / (len(parts) - len(found))
            found[key] = self.answer(each, share) if share else self._not_asked(each)
        statuses = {part.status for part in found.values()}
        order = (
            Separation.OVERLAPPING,
            Separation.INSEPARABLE,
            Separation.QUASI_SEPARABLE,
            Separation.UNDECIDED,
            Separation.SEPARABLE,
        )
        return Verdict(
            status=next(each for each in order if each in statuses),
            certificate=None,
            margin=(min(p.margin[0] for p in found.values()), min(p.margin[1] for p in found.values())),
            strict_rows=NO_ROWS,
            asked=whole,
            n_rows=int(self.inside.sum()),
            parts=found,
        )

    def _among(self, question: Question) -> NDArray[np.bool_]:
        """Return a mask of the rows that a question is about."""
        pair = question.kind == "pair"
        return self.inside & np.isin(self.data.codes, question.chosen) if pair else self.inside

    def _not_asked(self, question: Question) -> Verdict:
        """Return the verdict on a part for which no time was left."""
        n_rows = int(np.count_nonzero(self._among(question)))
        return Verdict(Separation.UNDECIDED, None, (-np.inf, np.inf), NO_ROWS, question, n_rows)

    def answer(self, question: Question, seconds: float) -> Verdict:
        """Answer a question without parts."""
        data, chosen = self.data, question.chosen
        template = Certificate(
            claim=Separation.SEPARABLE,
            question=question.kind,
            classes=data.classes,
            chosen=chosen,
            lift=self.lifted,
            excluded=tuple(np.flatnonzero(~self.inside).tolist()),
            n_rows=data.matrix.shape[0],
            n_columns=data.matrix.shape[1],
            sha256="",
            degrees=self.degrees or PLAIN,
        )
        deadline = Deadline.after(seconds)
        judge = Judge(template, data, deadline)
        if template.degrees != PLAIN:
            data = replace(data, matrix=MonomialMatrix(data.matrix, template.degrees))
        positive = None if question.kind == "joint" else chosen[-1] if chosen else 1
        signed = SignedRows(data, positive, self._among(question), self.lifted, deadline)
        if self.kernel is None:
            proof, reason = prove(signed, judge, quasi=self.quasi), ""
            margin = margin_bracket(signed, proof)
        elif self.degrees is not None:
            proof = prove(signed, judge, quasi=self.quasi)
            reason = self._monomials_reason(self.degrees)
            margin = kernel_bracket(self.kernel, signed, self.lift, proof.status)
        else:
            proof, margin, reason = prove_without_map(self.kernel, signed, self.lift, judge)
        certificate = None
        if not (proof.weights is None and proof.multipliers is None and proof.approximate is None):
            certificate = replace(judge.certificate(proof), sha256=self.digest())
        return Verdict(
            status=proof.status,
            certificate=certificate,
            margin=margin,
            strict_rows=_strict_rows(signed, proof),
            asked=question,
            n_rows=signed.order.size,
            witness=() if proof.witness is None else _witness(signed, proof.witness),
            find_coefficients=partial(self._coefficients, signed, proof, judge),
            find_fewest=self._fewest if self.kernel is None and not chosen else None,
            reason=reason,
            conflict=proof.witness is not None and is_conflict(signed, proof.witness.ids),
            search=proof.steps,
        )

    def _fewest(self, seconds: float) -> FewestErrors:
        from .fewest.fewest_errors import fewest_of

        return fewest_of(self.data, self.inside.astype(np.float64), self.lifted, seconds)

    def _monomials_reason(self, degrees: tuple[int, ...]) -> str:
        count = count_columns(self.data.matrix.shape[1], degrees) + self.constant
        spans = "monomials that span" if count > 1 else "monomial that spans"
        more = " and on the intercept" if self.lift and not self.constant else ""
        return f"exact arithmetic on the {count:,} {spans} the feature space of {self.kernel}{more}"

    def _coefficients(self, signed: SignedRows, proof: Proof, judge: Judge) -> Coefficients:
        """Find the limits of the coefficients: later, and within a time limit of its own."""
        if self.degrees is None:
            return Coefficients()  # no columns span the feature space
        due = signed.due(Deadline.after(min(self.time_limit, COEFFICIENT_SECONDS)))
        return coefficient_answers(due, proof, judge, self._names(signed))

    def _names(self, signed: SignedRows) -> list[str]:
        names = _distinct(self.data.names or tuple(f"x{j}" for j in range(self.data.matrix.shape[1])))
        own = list(names)
        if isinstance(signed.data.matrix, MonomialMatrix):
            from ..features import monomial_name

            own = [monomial_name(each, names) for each in signed.data.matrix.columns]
        own += [INTERCEPT if self.lift else CONSTANT] if self.lifted else []
        if not signed.joint:
            return own
        return [f"{name} [{label}]" for label in self.data.classes[:-1] for name in own]


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names that differ from each other and from the intercept."""
    often = Counter((*names, INTERCEPT, CONSTANT))
    return tuple(f"{name} (column {j})" if often[name] > 1 else name for j, name in enumerate(names))


def _witness(signed: SignedRows, witness: Combination) -> tuple[tuple[int, int, int], ...]:
    rows, rivals = signed.split(witness.ids)
    common = lcm(*(value.denominator for value in witness.values))
    whole = [int(value * common) for value in witness.values]
    return tuple(sorted(zip(rows.tolist(), rivals.tolist(), whole, strict=True)))


def _strict_rows(signed: SignedRows, proof: Proof) -> NDArray[np.int64]:
    if proof.status == Separation.SEPARABLE:
        return signed.order
    if proof.status != Separation.QUASI_SEPARABLE or proof.multipliers is None:
        return NO_ROWS
    return np.setdiff1d(signed.order, np.array(proof.multipliers.rows, dtype=np.int64))
