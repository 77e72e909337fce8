"""Is it separable? The verdict, with a certificate that anybody can check."""

from __future__ import annotations

import html
import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .certificates.bracket import margin_bracket
from .certificates.claims import Certificate, Data, data_digest, read_data
from .certificates.infinite import infinite_coefficients
from .certificates.prove import Judge, Outcome, prove
from .certificates.signed import SignedRows
from .errors import InputError, LabelError, SeparationWarning

MULTICLASS = ("joint", "one-vs-rest", "pairwise")
SHOWN = 8  # rows or columns named in a summary

MEANING = {
    "separable": "A hyperplane has every row strictly on its own side.",
    "quasi-separable": "No hyperplane separates all rows, but one has none on the wrong side.",
    "overlapping": "Every hyperplane has a row on the wrong side.",
    "inseparable": "No hyperplane separates all rows; whether one comes close was not asked, or not settled.",
    "undecided": "Neither a separator nor a proof against one was found.",
}


@dataclass(frozen=True, eq=False)
class Verdict:
    """The answer to a question of separability.

    Attributes
    ----------
    status : {"separable", "quasi-separable", "overlapping", "inseparable", "undecided"}
        "inseparable" means: not separable, and the finer question was not asked or not settled.
    certificate : Certificate or None
        The proof; None where the verdict is undecided or has parts.
    margin : (float, float)
        Bounds of the best margin of the (lifted) rows: the largest smallest score of weights of length one.
    strict_rows : ndarray of int64
        Rows that some plane, with no row on its wrong side, separates strictly.
    parts : dict
        For one-vs-rest and pairwise questions, the verdict for each class or pair of classes.
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

    @property
    def separable(self) -> bool | None:
        """True, False, or None where it is undecided."""
        return None if self.status == "undecided" else self.status == "separable"

    @cached_property
    def responsible_features(self) -> dict[str, float]:
        """Columns whose coefficient has no finite maximum-likelihood estimate, with the sign of its infinity.

        The sign is that in the direction of the certificate: inf, -inf, or NaN where that direction leaves it
        open. Columns that depend linearly on others before them are left out.
        """
        return self.features()

    @cached_property
    def witness_rows(self) -> dict[Any, Fraction]:
        """The few rows that prove that no plane separates, with their exact weights.

        Weighed so, the signed rows sum to exactly zero. With an intercept and two sides, the weights of
        either side sum to one: both are the same point, which lies in both convex hulls. For the joint
        question the keys are pairs (row, class it is compared with).
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
        lines = [f"{self.status}: {MEANING[self.status]}", f"  question      {self.question}"]
        if self.parts:
            lines += [f"  {_key(key):<13} {part.status}" for key, part in self.parts.items()]
            return "\n".join(lines)
        lower, upper = self.margin
        lines.append(f"  margin        between {lower:.6g} and {upper:.6g}")
        if self.witness:
            lines.append(
                f"  witness       {len(self.witness)} rows: {_some(row for row, _, _ in self.witness)}"
            )
        if self.status in ("separable", "quasi-separable"):
            lines.append(f"  strict rows   {self.strict_rows.size} of {self.n_rows}")
        if self.responsible_features:
            lines.append(f"  no finite ML  {_some(_infinities(self.responsible_features))}")
        if self.certificate is not None:
            lines.append(f"  certificate   of data {self.certificate.sha256[:12]}..., accepted by verify")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        head, *rest = self.summary().split("\n")
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(line[2:15].strip())}</th>"
            f"<td style='text-align:left'>{html.escape(line[16:])}</td></tr>"
            for line in rest
        )
        return f"<div><p><b>{html.escape(head)}</b></p><table>{cells}</table></div>"

    def to_dict(self) -> dict[str, Any]:
        """Plain types only, ready for JSON."""
        return {
            "status": self.status,
            "separable": self.separable,
            "question": self.question,
            "margin": [float(bound).hex() for bound in self.margin],
            "witness_rows": [
                {"row": row, "rival": None if rival < 0 else rival, "weight": hex(value)}
                for row, rival, value in self.witness
            ],
            "strict_rows": self.strict_rows.tolist(),
            "responsible_features": {
                name: _sign(value) + "infinity" for name, value in self.responsible_features.items()
            },
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
            "parts": {_key(key): part.to_dict() for key, part in self.parts.items()},
        }


def separability(
    X: Any,
    y: Any,
    *,
    quasi: bool = True,
    fit_intercept: bool = True,
    multiclass: str = "joint",
    sample_weight: Any = None,
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
    fit_intercept : bool
        Planes anywhere (the rows are lifted by a coordinate of ones) or only through the origin.
    multiclass : {"joint", "one-vs-rest", "pairwise"}
        With more than two classes: one weight vector a class, all at once; or each class against the
        rest; or each pair of classes.
    sample_weight : array of shape (rows,), optional
        Rows of weight zero are left out; other weights do not matter to the question.

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

    References
    ----------
    A. Albert and J. A. Anderson (1984). On the existence of maximum likelihood estimates in logistic
    regression models. Biometrika 71.
    """
    if multiclass not in MULTICLASS:
        raise InputError(
            f"The 'multiclass' parameter of separability must be one of {', '.join(MULTICLASS)}. "
            f"Got {multiclass!r} instead."
        )
    data = read_data(X, y)
    inside = _kept(sample_weight, data.codes)
    present = np.unique(data.codes[inside])
    if present.size < 2:
        raise LabelError(
            "The rows of positive weight have fewer than two classes; two are needed to separate anything."
        )
    asked = _Asked(data, inside, fit_intercept, quasi)
    n_classes = len(data.classes)
    if n_classes == 2:
        return asked.answer("binary", ())
    if multiclass == "joint":
        return asked.answer("joint", ())
    if multiclass == "one-vs-rest":
        parts = {data.labels[c]: asked.answer("one-vs-rest", (int(c),)) for c in present}
    else:
        pairs = itertools.combinations(present.tolist(), 2)
        parts = {(data.labels[a], data.labels[b]): asked.answer("pair", (a, b)) for a, b in pairs}
    return _together(parts, multiclass, int(inside.sum()))


def check_separation(X: Any, y: Any = None, *, data: Any = None, **options: Any) -> Verdict:
    """Warn if a logistic regression of these data has no finite maximum-likelihood estimate.

    Parameters
    ----------
    X : array, data frame, sparse matrix or str
        The rows, or a formula such as ``"HG ~ NV + PI + EH"`` (needs the extra ``formula``).
    y : array of shape (rows,)
        Class labels; not with a formula.
    data : data frame, optional
        Where the formula's variables are.
    **options
        As for `separability`.

    Returns
    -------
    Verdict

    Warns
    -----
    SeparationWarning
        Names the coefficients that are infinite and the rows that cause it.

    Examples
    --------
    >>> check_separation([[0], [1], [0], [1]], [0, 1, 1, 0]).status
    'overlapping'
    """
    if isinstance(X, str):
        X, y, intercept = _from_formula(X, y, data)
        options.setdefault("fit_intercept", intercept)
    elif y is None:
        raise InputError("check_separation needs labels: check_separation(X, y), or a formula with data=.")
    verdict = separability(X, y, **options)
    if verdict.status in ("separable", "quasi-separable"):
        kind = "completely" if verdict.status == "separable" else "quasi-completely"
        signs = _infinities(verdict.responsible_features)
        warnings.warn(
            f"The data are {kind} separated: maximum likelihood has no finite estimate "
            f"({_some(signs) or 'of the weights'}). {verdict.strict_rows.size} of {verdict.n_rows} rows are "
            f"separated strictly: {_some(verdict.strict_rows.tolist())}. Penalise the likelihood (Firth, "
            "ridge), or leave out the variables named.",
            SeparationWarning,
            stacklevel=2,
        )
    return verdict


class _Asked:
    """One data set, asked one question after the other."""

    def __init__(self, data: Data, inside: NDArray[np.bool_], lift: bool, quasi: bool) -> None:
        self.data, self.inside, self.lift, self.quasi = data, inside, bool(lift), quasi
        self.names = data.names or tuple(f"x{j}" for j in range(data.matrix.shape[1]))

    @cached_property
    def digest(self) -> str:
        return data_digest(self.data)

    def answer(self, question: str, chosen: tuple[int, ...]) -> Verdict:
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
            lift=self.lift,
            excluded=tuple(np.flatnonzero(~self.inside).tolist()),
            n_rows=data.matrix.shape[0],
            n_columns=data.matrix.shape[1],
            sha256=self.digest,
        )
        signed = SignedRows(data, positive, inside, self.lift)
        judge = Judge(template, data)
        outcome = prove(signed, judge, quasi=self.quasi)
        certificate = None
        if outcome.status != "undecided":
            certificate = judge.certificate(outcome.status, outcome.weights, outcome.multipliers)
        return Verdict(
            status=outcome.status,
            certificate=certificate,
            margin=margin_bracket(signed, outcome),
            strict_rows=_strict_rows(signed, outcome),
            features=partial(infinite_coefficients, signed, outcome, self._coefficients(signed)),
            question=self._describe(question, chosen),
            n_rows=signed.order.size,
            witness=_witness(signed, outcome),
        )

    def _coefficients(self, signed: SignedRows) -> list[str]:
        own = [*self.names, "(intercept)"] if self.lift else list(self.names)
        if not signed.joint:
            return own
        return [f"{name} [{label}]" for label in self.data.classes[:-1] for name in own]

    def _describe(self, question: str, chosen: Sequence[int]) -> str:
        classes = self.data.classes
        where = "with intercept" if self.lift else "through the origin"
        named = {
            "binary": f"{classes[1]} against {classes[0]}" if len(classes) == 2 else "",
            "joint": f"{len(classes)} classes at once",
            "one-vs-rest": f"{classes[chosen[0]]} against the rest" if chosen else "",
            "pair": f"{classes[chosen[-1]]} against {classes[chosen[0]]}" if chosen else "",
        }
        return f"{named[question]}, {where}"


def _kept(sample_weight: Any, codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    if sample_weight is None:
        return np.ones(codes.size, dtype=bool)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != codes.shape:
        raise InputError(
            f"sample_weight has shape {weights.shape}; one weight a row is needed: {codes.shape}."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError(
            "sample_weight has a negative, infinite or missing weight; weights must be 0 or more."
        )
    return weights > 0


def _witness(signed: SignedRows, outcome: Outcome) -> tuple[tuple[int, int, int], ...]:
    if outcome.witness is None:
        return ()
    rows, rivals = signed.split(outcome.witness.ids)
    found = zip(rows.tolist(), rivals.tolist(), outcome.witness.values, strict=True)
    return tuple(sorted(found))


def _strict_rows(signed: SignedRows, outcome: Outcome) -> NDArray[np.int64]:
    if outcome.status == "separable":
        return signed.order
    if outcome.status != "quasi-separable" or outcome.multipliers is None:
        return np.zeros(0, dtype=np.int64)
    return np.setdiff1d(signed.order, np.array(outcome.multipliers.rows, dtype=np.int64))


def _together(parts: dict[Any, Verdict], multiclass: str, n_rows: int) -> Verdict:
    """One verdict for several: separable if every part is."""
    found = {part.status for part in parts.values()}
    order = ("overlapping", "inseparable", "quasi-separable", "undecided", "separable")
    status = next(each for each in order if each in found)
    return Verdict(
        status=status,
        certificate=None,
        margin=(min(p.margin[0] for p in parts.values()), min(p.margin[1] for p in parts.values())),
        strict_rows=np.zeros(0, dtype=np.int64),
        question=f"{multiclass}: {len(parts)} questions; the verdict is that of the hardest",
        n_rows=n_rows,
        parts=parts,
    )


def _from_formula(formula: str, y: Any, data: Any) -> tuple[Any, Any, bool]:
    try:
        import formulaic
    except ImportError:
        raise InputError(
            'A formula needs formulaic. Install it with: pip install "separatrix[formula]"'
        ) from None
    if y is not None or data is None:
        raise InputError(
            'With a formula, the variables come from data=: check_separation("y ~ a + b", data=frame).'
        )
    matrices = formulaic.model_matrix(formula, data)
    if not hasattr(matrices, "lhs"):
        raise InputError(f"The formula {formula!r} has no left side; write it as 'label ~ variables'.")
    left, right = matrices.lhs, matrices.rhs
    if left.shape[1] != 1:
        # A label of text or categories becomes one column a level: the levels are the labels.
        left = left.idxmax(axis=1)
    intercept = "Intercept" in right.columns
    return right.drop(columns="Intercept") if intercept else right, np.asarray(left).ravel(), intercept


def _sign(value: float) -> str:
    return "+" if value > 0 else "-" if value < 0 else "plus or minus "


def _infinities(features: dict[str, float]) -> list[str]:
    return [f"{name} to {_sign(value)}infinity" for name, value in features.items()]


def _key(key: Any) -> str:
    return " - ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _some(items: Any) -> str:
    listed = [str(item) for item in items]
    more = len(listed) - SHOWN
    return ", ".join(listed[:SHOWN]) + (f" and {more} more" if more > 0 else "")
