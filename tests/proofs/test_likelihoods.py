"""Whether an estimate exists: every model against the path of its own likelihood."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import InputError, SeparationWarning
from separatrix.proofs.estimates import check_estimate
from tests import naive_estimate, naive_likelihood

MODELS = sorted(naive_likelihood.MODELS)
LIMITS = {"finite": 0, "+infinity": 1, "-infinity": -1}


def agrees(model, seed):
    """Compare a random design with the path of its likelihood; False if it cannot be asked about."""
    X, columns, options = naive_estimate.random_case(model, np.random.default_rng(seed))
    if (np.round(X) != X).any():
        X = np.round(10 * X)  # decimals are not exact, and a likelihood in floats cannot see the difference
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        try:
            found = check_estimate(
                X,
                model=model,
                fit_intercept=options["intercept"],
                ties=options.get("ties"),
                penalized=options.get("penalized", ()),
                **columns,
            )
        except InputError:
            return False
    limits = naive_likelihood.limits(*naive_likelihood.likelihood_of(model, X, columns, **options))
    assert found.exists == (not limits.any())
    for (name, answer), limit in zip(found.coefficients.items(), limits, strict=False):
        if answer not in LIMITS:
            continue
        # the likelihood of a gamma regression can be unbounded, and is then so with fewer coefficients too
        assert limit == LIMITS[answer] or (model == "gamma" and limit == 0), name
    return True


@pytest.mark.parametrize("model", MODELS)
@given(st.integers(0, 2**32))
@settings(max_examples=8)
def test_every_model_agrees_with_its_likelihood(model, seed):
    agrees(model, seed)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_two_hundred_designs_of_every_model_agree_with_their_likelihoods(model):
    assert sum(agrees(model, seed) for seed in range(260)) >= 200
