"""The radial lift: points on a bowl, where a disc is cut off by a plane."""

from __future__ import annotations

import numpy as np

from ...estimators.margin import MaxMargin
from ...features import RadialLift
from ...proofs.verdict import separability
from ..api.answers import LiftAnswer
from ..api.codec import RequestError
from ..api.requests import LiftRequest
from .engine import arrays
from .verdicts import SECONDS


def lift(request: LiftRequest) -> LiftAnswer:
    """Lift points of two columns, and ask the exact question there."""
    X, y = arrays(request.data)
    if X.shape[1] != 2:
        raise RequestError("not_flat", "The lift is drawn for points with two columns.")
    lifted = np.asarray(RadialLift().fit_transform(X))
    verdict = separability(lifted, y, time_limit=SECONDS)
    margin = plane = None
    if verdict.separable:
        best = MaxMargin().fit(lifted, y)
        margin = best.margin_lower_
        if best.coef_.shape[0] == 1:
            plane = np.append(best.coef_[0], best.intercept_[0])
    return LiftAnswer(
        rows=lifted,
        low=lifted.min(axis=0),
        high=lifted.max(axis=0),
        status=verdict.status,
        margin=margin,
        plane=plane,
    )
