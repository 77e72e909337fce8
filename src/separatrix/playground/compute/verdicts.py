"""The exact question, its proof, and the checker's word on it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ...certificates.check import verify
from ...errors import CertificateError, SeparatrixError
from ...geometry.convex import common_point
from ...proofs.verdict import Verdict, separability
from ...result import Floats, Ints
from ..api.answers import VerdictAnswer, VerifyAnswer, WitnessAnswer
from ..api.requests import VerdictRequest, VerifyRequest
from .engine import arrays
from .kernel_blocks import kernel_of, need_range

SECONDS = 6.0  # for one verdict


def ask(request: VerdictRequest) -> VerdictAnswer:
    """Separable, quasi-separable or overlapping, with the rows that prove it."""
    began = time.perf_counter()
    X, y = arrays(request.data)
    settings = request.settings
    kernel = kernel_of(settings.kernel) if settings.method == "kernel" else None
    if kernel is not None:
        need_range(kernel, X)
    verdict = separability(X, y, kernel=kernel, fit_intercept=settings.lift, time_limit=SECONDS)
    common = _common(verdict, X, y) if kernel is None and settings.lift else ()
    certificate = None if verdict.certificate is None else verdict.certificate.to_dict()
    return VerdictAnswer(
        status=verdict.status,
        meaning=verdict.meaning,
        question=verdict.question,
        reason=verdict.reason,
        margin=verdict.margin,
        witness=_witness(verdict),
        common=tuple(str(each) for each in common),
        common_at=tuple(float(each) for each in common),
        hulls=_hulls(X, y) if X.shape[1] == 2 else [],
        strict=verdict.strict_rows,
        conflict=bool(verdict.conflict),
        certificate=certificate,
        seconds=time.perf_counter() - began,
    )


def check(request: VerifyRequest) -> VerifyAnswer:
    """Let the checker, which solves nothing, read the certificate against the points."""
    X, y = arrays(request.data)
    try:
        found = verify(request.certificate, X, y)
    except CertificateError as problem:
        return VerifyAnswer(False, str(problem))
    return VerifyAnswer(bool(found.holds), found.reason)


def _witness(verdict: Verdict) -> tuple[WitnessAnswer, ...]:
    return tuple(
        WitnessAnswer(
            row=key if isinstance(key, int) else key[0],
            rival=None if isinstance(key, int) else key[1],
            weight=str(weight),
            share=float(weight),
        )
        for key, weight in verdict.witness_rows.items()
    )


def _common(verdict: Verdict, X: Floats, y: Ints) -> tuple[Any, ...]:
    """The point in both hulls, where two classes have one."""
    if verdict.separable is not False or np.unique(y).size != 2 or not verdict.witness_rows:
        return ()
    try:
        return common_point(X, y, verdict.witness_rows)
    except SeparatrixError:
        return ()


def _hulls(X: Floats, y: Ints) -> list[list[int]]:
    """The corners of each class's convex hull, as numbers of rows, in order around it."""
    found = []
    for label in np.unique(y):
        own = np.flatnonzero(y == label)
        try:
            corners = own[ConvexHull(X[own]).vertices] if own.size > 2 else own
        except QhullError:  # all on one line: its two ends
            spread = X[own] @ (X[own].max(axis=0) - X[own].min(axis=0))
            corners = own[[int(spread.argmin()), int(spread.argmax())]]
        found.append(corners.tolist())
    return found
