"""Whether an estimate exists: every model against rows from its definition and exact programs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix.errors import CertificateError, InputError, SeparationWarning
from separatrix.proofs.estimates import check_estimate
from tests import naive_estimate

MODELS = sorted(naive_estimate.RULES)


def asked(X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        return check_estimate(X, **options)


def checked(X, **options):
    """The estimate, after its certificate passed the checker as text."""
    found = asked(X, **options)
    assert found.certificate is not None, "undecided"
    check = sx.verify(found.certificate.to_json(), **found.data)
    assert check.holds, check.reason
    return found


def agrees(model, seed):
    """Compare a random design with the answers of exact programs; False if it cannot be asked about."""
    X, columns, options = naive_estimate.random_case(model, np.random.default_rng(seed))
    try:
        found = checked(
            X,
            model=model,
            fit_intercept=options["intercept"],
            ties=options.get("ties"),
            penalized=options.get("penalized", ()),
            **columns,
        )
    except InputError:
        return False
    signed, equal, width = naive_estimate.rows_of(model, X, columns, **options)
    exists, _, coefficients = naive_estimate.answers(signed, equal, width)
    own = coefficients[: len(found.coefficients)]  # without the dummies of fixed effects
    assert found.exists == exists
    assert list(found.coefficients.values()) == own
    assert found.unique == (("not identified" not in own) if exists else None)
    return True


@pytest.mark.parametrize("model", MODELS)
@given(st.integers(0, 2**32))
@settings(max_examples=15)
def test_every_model_agrees_with_exact_programs(model, seed):
    agrees(model, seed)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_two_thousand_designs_of_every_model_agree_with_exact_programs(model):
    assert sum(agrees(model, 7_000_000_000 + seed) for seed in range(2000)) == 2000


@pytest.mark.parametrize("model", MODELS)
@given(st.integers(0, 2**32))
@settings(max_examples=5)
def test_a_changed_certificate_does_not_hold(model, seed):
    r = np.random.default_rng(seed)
    X, columns, options = naive_estimate.random_case(model, r)
    try:
        found = asked(X, model=model, fit_intercept=options["intercept"], ties=options.get("ties"), **columns)
    except InputError:
        return
    fields = found.certificate.to_dict()
    for claim in {"exists", "unique", "not unique", "does not exist"} - {fields["claim"]}:
        if not (found.exists and claim == "exists"):  # this says less, and holds
            assert not holds({**fields, "claim": claim}, found.data)
    assert not holds(fields, {**found.data, "X": X + 1.0})
    multipliers = fields["multipliers"]
    if multipliers and "1" in multipliers["coarse"]:  # only signed rows have coarse ones
        negative = {name: [str(-int(v, 0)) for v in multipliers[name]] for name in ("coarse", "fine")}
        assert not holds({**fields, "multipliers": {**multipliers, **negative}}, found.data)
    if fields["direction"]:
        assert not holds({**fields, "direction": ["0"] * len(fields["direction"])}, found.data)


def holds(fields, data):
    try:
        return sx.verify(fields, **data).holds
    except CertificateError:
        return False
