"""Whether an estimate exists: every model against rows from its definition and exact programs."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix import deadline
from separatrix.certificates.models.build import build
from separatrix.certificates.models.regression import Regression
from separatrix.errors import CertificateError, InputError, SeparationWarning
from separatrix.inputs.response import read_regression
from separatrix.proofs import existence, prove
from separatrix.proofs.estimates import check_estimate
from tests import naive_estimate, second

MODELS = sorted(naive_estimate.RULES)


@pytest.fixture(autouse=True, scope="module")
def patience():
    """Let no answer be undecided only because the machine is busy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(existence, "COEFFICIENT_SECONDS", 600.0)
        yield


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
    exists, unique, coefficients = naive_estimate.expected(model, X, columns, **options)
    own = coefficients[: len(found.coefficients)]  # without the dummies of fixed effects
    assert None in own or None not in found.coefficients.values(), "undecided"
    assert found.exists == exists
    assert list(found.coefficients.values()) == own
    if unique is not None:
        unique = "not identified" not in own
    assert found.unique is unique
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


@given(st.integers(0, 2**32))
@settings(max_examples=25)
def test_changed_proofs_about_convex_hulls_hold_in_neither_checker(seed):
    X, columns, options = naive_estimate.random_case("inverse-gaussian", np.random.default_rng(seed))
    found = asked(X, model="inverse-gaussian", fit_intercept=options["intercept"], **columns)
    fields, table = found.certificate.to_dict(), second.as_table(X)
    given = {name: values.tolist() for name, values in columns.items()}
    d, m, claim = fields["direction"], fields["multipliers"], fields["claim"]
    changes = [{name: None} for name in ("direction", "multipliers") if fields[name]]
    if d:
        changes.append({"direction": [*d, "0"]})
    if claim == "does not exist":
        changes.append({"direction": ["-" + v if v[0] != "-" else v[1:] for v in d]})
    if m:
        fines = ["-" + v for v in m["fine"]], [*m["fine"][:-1], m["fine"][-1] + "1"], m["fine"][:-1]
        changes += [{"multipliers": {**m, "fine": v, "rows": m["rows"][: len(v)]}} for v in fines]
        if claim != "does not exist":  # without one on the first signed row
            changes.append({"multipliers": {**m, "rows": [row + 1 for row in m["rows"]]}})
    if claim == "exists":
        basis = {"rows": list(range(X.shape[1] + options["intercept"])), "prime": 2147483647}
        changes.append({"claim": "unique", "basis": basis})
    for change in changes:
        assert not holds({**fields, **change}, found.data), change
        assert not second.ask_about(json.dumps({**fields, **change}), table, given)[0], change


def test_auxiliary_coordinates_do_not_lengthen_the_time_that_a_proof_is_expected_to_take(monkeypatch):
    r = np.random.default_rng(0)
    X, time = r.integers(0, 9, (1200, 2)), r.integers(0, 60, 1200)
    rows = build(Regression("cox", False, "exact"), read_regression(X, "none", {"time": time}))
    assert rows.hidden > 50
    monkeypatch.setattr(deadline, "slowdown", lambda: 1.0)
    # by its two columns, the proof takes a hundred seconds; by all coordinates, more than there are
    monkeypatch.setattr(prove, "TIGHT_NUMBER", 100 / 2 / rows.n_signed)
    assert asked(X, model="cox", time=time, ties="exact", time_limit=500).unique


def holds(fields, data):
    try:
        return sx.verify(fields, **data).holds
    except CertificateError:
        return False
