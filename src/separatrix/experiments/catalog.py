"""Every study, in the order of the report."""

from __future__ import annotations

from .themes import convergence, dual, embedding, multiclass, noise, separators, variants

STUDIES = (
    *convergence.STUDIES,
    *variants.STUDIES,
    *dual.STUDIES,
    *multiclass.STUDIES,
    *noise.STUDIES,
    *embedding.STUDIES,
    *separators.STUDIES,
)
