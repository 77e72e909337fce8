"""Whether a hyperplane separates the points, with the proof and its check."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...certificates.check import verify
from ...errors import CertificateError, SeparatrixError
from ...geometry.convex import common_point
from ...proofs.verdict import Verdict, separability
from ...result import Floats, Ints
from ...views.model import hull_rows
from ..api.answers import VerdictAnswer, VerifyAnswer, WitnessAnswer
from ..api.limits import LIMITS
from ..api.requests import PointData, VerdictRequest, VerifyRequest
from .engine import arrays
from .kernel_blocks import kernel_of, need_range


def ask(request: VerdictRequest) -> VerdictAnswer:
    """Decide whether the classes are separable, quasi-separable or overlapping, with the proof."""
    X, y = arrays(request.data)
    settings = request.settings
    kernel = kernel_of(settings.kernel) if settings.method == "kernel" else None
    if kernel is not None:
        need_range(kernel, X)
    labels = _named(request.data, y)
    verdict = separability(
        X, labels, kernel=kernel, fit_intercept=settings.lift, time_limit=LIMITS.verdict_seconds
    )
    common = _common(verdict, X, y) if kernel is None and settings.lift else ()
    sides = [np.flatnonzero(y == label) for label in np.unique(y)]
    certificate = None if verdict.certificate is None else verdict.certificate.to_dict()
    return VerdictAnswer(
        status=verdict.status,
        margin=verdict.margin,
        witness=_witness(verdict, np.searchsorted(np.unique(y), y[np.unique(labels, return_index=True)[1]])),
        common=tuple(str(each) for each in common),
        common_at=tuple(float(each) for each in common),
        hulls=[each[hull_rows(X[each])].tolist() for each in sides if X.shape[1] == 2],
        conflict=bool(verdict.conflict),
        certificate=certificate,
    )


def check(request: VerifyRequest) -> VerifyAnswer:
    """Check a certificate against the points, with code that is independent of the solver."""
    X, y = arrays(request.data)
    try:
        found = verify(request.certificate, X, _named(request.data, y))
    except CertificateError as problem:
        return VerifyAnswer(False, str(problem))
    return VerifyAnswer(bool(found.holds), found.reason)


def _named(data: PointData, y: Ints) -> Any:
    """Return the labels that a reader of the page's CSV finds, so that file and certificate fit."""
    names = [data.classes[label].strip() for label in np.unique(y)]
    try:
        read = np.array([int(name) for name in names])
    except ValueError:
        read = np.array(names)
    usable = all(names) and np.unique(read).size == len(names)
    return read[np.searchsorted(np.unique(y), y)] if usable else y


def _witness(verdict: Verdict, codes: Ints) -> tuple[WitnessAnswer, ...]:
    return tuple(
        WitnessAnswer(
            row=key if isinstance(key, int) else key[0],
            rival=None if isinstance(key, int) else int(codes[key[1]]),
            weight=str(weight),
        )
        for key, weight in verdict.witness_rows.items()
    )


def _common(verdict: Verdict, X: Floats, y: Ints) -> tuple[Any, ...]:
    """Return a point in both hulls, if two classes have one."""
    if verdict.separable is not False or np.unique(y).size != 2 or not verdict.witness_rows:
        return ()
    try:
        return common_point(X, y, verdict.witness_rows)
    except SeparatrixError:
        return ()
