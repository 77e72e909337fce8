"""Every mistake bound against a thousand runs each, on random rows that may or may not be separable."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import ConvergenceWarning

ONCE = {"order": "cyclic", "max_iter": 20}
LEARNERS = {
    "perceptron": lambda _: sx.Perceptron(**ONCE),
    "margin": lambda random: sx.Perceptron(margin=float(random.exponential()), **ONCE),
    "PA": lambda _: sx.PassiveAggressive(variant="PA", **ONCE),
    "PA-I": lambda random: sx.PassiveAggressive(C=float(random.exponential()) + 0.01, **ONCE),
    "PA-II": lambda random: sx.PassiveAggressive(
        variant="PA-II", C=float(random.exponential()) + 0.01, **ONCE
    ),
    "winnow": lambda random: sx.Winnow(eta0=float(random.uniform(0.001, 0.3)), **ONCE),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_no_run_of_a_thousand_exceeds_a_bound(name):
    finite = 0
    for seed in range(1000):
        random = np.random.default_rng(seed)
        shape = int(random.integers(4, 13)), int(random.integers(1, 5))
        X = random.integers(-3, 4, size=shape).astype(float)
        y = (
            X @ random.standard_normal(shape[1]) + random.normal(scale=seed % 3, size=shape[0]) > 0.0
        ).astype(int)
        y[:2] = 0, 1
        model = LEARNERS[name](random)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            report = sx.mistake_bounds(model.fit(X, y), X, y)
        for bound in report.bounds:
            finite += np.isfinite(bound.value)
            assert bound.tightness <= 1.0 + 1e-9, (seed, bound)
            assert not np.isfinite(bound.value) or report.mistakes <= bound.value * (1 + 1e-9), (seed, bound)
    assert finite > 100
