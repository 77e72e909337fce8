"""Questions about regressions from the command line."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import numpy as np
import pandas as pd
import pytest

from separatrix.report.model_remedies import IN_R
from tests import naive_estimate
from tests.run import answer, fine, refused, run

SCHEMA = json.loads(resources.files("separatrix.cli").joinpath("schema.json").read_text())


@pytest.fixture
def claims(tmp_path):
    """A table in which every smoker has no claims."""
    r = np.random.default_rng(0)
    smoker = np.arange(30) % 5 == 0
    frame = pd.DataFrame(
        {
            "claims": np.where(smoker, 0, r.poisson(1.5, 30)),
            "age": r.integers(20, 60, 30),
            "smoker": np.where(smoker, "yes", "no"),
            "days": r.integers(1, 50, 30),
            "died": r.integers(0, 2, 30),
        }
    )
    frame.to_csv(tmp_path / "claims.csv", index=False)
    return tmp_path / "claims.csv"


def test_a_regression_is_asked_about_proved_and_verified(claims, tmp_path):
    proof = tmp_path / "proof.json"
    asked = ("check", claims, "--target", "claims", "--model", "poisson", "--features", "age,smoker")
    found = answer(*asked, "--certificate", proof)
    jsonschema.validate(found, SCHEMA)
    assert found["exists"] is False
    assert found["coefficients"]["smoker=yes"] == "-infinity"
    assert found["responsible_rows"] == [1, 6, 11, 16, 21, 26]
    assert "The certificate holds" in fine("verify", proof, claims).stdout
    jsonschema.validate(answer("verify", proof, claims), SCHEMA)
    twice = answer("verify", proof, claims, "--independent")
    jsonschema.validate(twice, SCHEMA)
    assert twice["independent"]["words"][-1] == "The certificate holds."
    changed = {**json.loads(proof.read_text()), "claim": "exists"}
    proof.write_text(json.dumps(changed))
    assert run("verify", proof, claims).exit_code == 1


def test_the_second_checker_gets_the_columns_of_a_survival_model(claims, tmp_path):
    proof, asked = tmp_path / "proof.json", ("--features", "age,smoker", "--strata", "smoker")
    fine("check", claims, *asked, "--time", "days", "--event", "died", "--certificate", proof)
    told = fine("verify", proof, claims, "--independent").stdout
    assert "30 rows, time days, event died, strata smoker, all other columns: 1." in told
    assert told.count("The certificate holds.") == 2


def test_survival_needs_no_target(claims):
    found = answer("check", claims, "--features", "age", "--time", "days", "--event", "died")
    assert found["model"] == "cox"
    same = answer("check", claims, "--formula", "Surv(days, died) ~ age")
    assert same["coefficients"] == found["coefficients"]
    assert "Name the response" in refused("check", claims, "--model", "poisson")


@pytest.mark.parametrize(
    ("formula", "coefficients"),
    [
        ("claims ~ .", 5),
        ("claims ~ log(age) + offset(log(days))", 2),
        ("claims ~ ns(age, 3) + factor(smoker)", 5),
        ("claims ~ poly(age, 2) + sqrt(days)", 4),
        ("claims ~ I(age^2) + as.factor(died) * days", 5),
        ("cbind(claims, days) ~ age", 2),
        ("Surv(days, died == 1) ~ age + strata(smoker)", 1),
        ("survival::Surv(days, died) ~ age + strata(smoker) + strata(claims)", 1),
        ("died ~ age + strata(smoker)", 1),
    ],
)
def test_formulas_of_r_name_the_columns_that_are_read(claims, formula, coefficients):
    model = ("--model", "poisson") if formula.startswith("claims") else ()
    found = answer("check", claims, "--formula", formula, *model)
    assert len(found["coefficients"]) == coefficients


def test_mixed_models_are_told_what_can_be_said(claims):
    told = refused("check", claims, "--formula", "died ~ age + (1 | smoker)")
    assert "If the fixed effects alone have no estimate, neither has the mixed model" in told
    assert "--groups" in told


def test_remedies_name_the_file_and_the_variables_and_python_lines_run(claims, tmp_path, capsys):
    told = fine(
        "check", claims, "--target", "claims", "--model", "poisson", "--features", "age,smoker"
    ).stdout
    assert "claims ~ age + smoker" in told
    lines = [line.strip() for line in told.splitlines() if line.strip().startswith("Python:")]
    assert len(lines) == 2
    for line in lines:
        exec(line.removeprefix("Python:").strip(), {})
    assert capsys.readouterr().out


def test_every_model_has_a_remedy():
    assert set(IN_R) == set(naive_estimate.RULES)
