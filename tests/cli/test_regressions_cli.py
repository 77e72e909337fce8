"""Questions about regressions from the command line."""

from __future__ import annotations

import json
import warnings
from importlib import resources

import jsonschema
import numpy as np
import pandas as pd
import pytest

from separatrix.errors import SeparationWarning
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
            "sex": np.where(np.arange(30) % 2 == 0, "m", "f"),
            "event": np.where(smoker, 0, 1),
            "sober": np.where(smoker, 0, np.arange(30) % 2),
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


def test_times_that_count_up_by_one_are_no_row_numbers(tmp_path):
    r = np.random.default_rng(0)
    frame = pd.DataFrame({"time": np.arange(1, 25), "event": r.integers(0, 2, 24), "x": r.integers(0, 9, 24)})
    path, proof = tmp_path / "times.csv", tmp_path / "proof.json"
    frame.to_csv(path, index=False)
    found = answer("check", path, "--time", "time", "--event", "event", "--certificate", proof)
    signed, equal, width = naive_estimate.rows_of(
        "cox", frame[["x"]].to_numpy(), {"time": frame.time, "event": frame.event}, intercept=False
    )
    exists, _, coefficients = naive_estimate.answers(signed, equal, width)
    assert (found["exists"], list(found["coefficients"].values())) == (exists, coefficients)
    assert "The certificate holds" in fine("verify", proof, path).stdout
    assert "no column 'tyme'. Did you mean 'time'" in refused("check", path, "--time", "tyme")


def test_an_ordinal_response_of_text_is_told_how_to_name_its_order(tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text("grade,x\n" + "".join(f"{'abc'[k % 3]},{k % 5}\n" for k in range(15)))
    told = refused("check", path, "--target", "grade", "--model", "ordinal")
    assert "--formula 'ordered(y, levels = c(" in told


def test_survival_needs_no_target(claims):
    found = answer("check", claims, "--features", "age", "--time", "days", "--event", "died")
    assert found["model"] == "cox"
    same = answer("check", claims, "--formula", "Surv(days, died) ~ age")
    assert same["coefficients"] == found["coefficients"]
    assert "Name the response" in refused("check", claims, "--model", "poisson")


@pytest.mark.parametrize(
    ("formula", "coefficients"),
    [
        ("claims ~ .", 8),
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


QUESTIONS = {
    "poisson": ("--target", "claims", "--model", "poisson", "--features", "age,smoker"),
    "a formula": ("--formula", "claims ~ log(age) + factor(smoker)", "--model", "poisson"),
    "groups": ("--target", "claims", "--model", "poisson", "--groups", "sex", "--exclude", "days,died"),
    "weights": ("--target", "claims", "--model", "poisson", "--weights", "days", "--exclude", "died"),
    "binary": ("--target", "sober", "--model", "binary", "--features", "age,smoker"),
    "binary by formula": ("--formula", "sober ~ age + C(smoker)", "--model", "logit"),
    "binomial": ("--target", "claims", "--trials", "days", "--features", "age,smoker"),
    "matched": ("--target", "sober", "--strata", "died", "--features", "age,smoker"),
    "fixed effects": (
        "--target",
        "sober",
        "--model",
        "logit",
        "--groups",
        "died",
        "--features",
        "age,smoker",
    ),
    "cox": ("--time", "days", "--event", "event", "--features", "age,smoker"),
    "strata": (
        "--formula",
        "Surv(days, event) ~ smoker + strata(sex)",
    ),
    "delayed entry": ("--formula", "Surv(begin, end, event) ~ age + smoker"),
    "multinomial": ("--target", "stage", "--model", "multinomial", "--features", "age,smoker"),
}


@pytest.mark.parametrize("asked", QUESTIONS.values(), ids=QUESTIONS)
def test_remedies_name_the_file_and_the_variables_and_python_lines_run(claims, asked, capsys):
    if "stage" in asked or "begin" in asked[1]:
        frame = pd.read_csv(claims)
        stages = np.where(frame.smoker == "yes", "none", np.where(frame.sober == 1, "late", "early"))
        frame.assign(begin=frame.days // 2, end=frame.days + 1, stage=stages).to_csv(claims, index=False)
    told = fine("check", claims, *asked).stdout
    assert "has no finite maximum-likelihood estimate" in " ".join(told.split())
    lines = [line.strip() for line in told.splitlines() if line.strip().startswith(("Python:", "R:"))]
    for line in lines:
        language, _, code = line.partition(":")
        if "install.packages" in line:
            continue
        assert str(claims) in code
        assert "smoker" in code
        if language == "Python":
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", SeparationWarning)
                exec(code.strip(), {})
            assert capsys.readouterr().out
    assert any(line.startswith("Python:") for line in lines)


def test_remedies_write_a_name_with_brackets_whole(claims):
    claims.write_text(claims.read_text().replace("age", "age [y]"))
    told = fine("check", claims, "--target", "claims", "--model", "poisson", "--features", "age [y],smoker")
    assert "claims ~ `age [y]` + smoker" in told.stdout


def test_the_report_says_what_to_do_and_what_stays_estimable(claims, tmp_path):
    report = tmp_path / "report.html"
    found = answer("check", claims, *QUESTIONS["poisson"], "--report", report)
    page = report.read_text("utf-8")
    assert found["report_file"] == str(report)
    assert "<h1>No estimate: the Poisson regression has no finite maximum-likelihood estimate.</h1>" in page
    assert "brglm2::brglm_fit" in page.split("What to do")[1].split("<h2>Coefficients")[0]
    assert page.count("<button") >= 3
    assert "The 6 rows responsible, of 30" in page
    assert "Without these rows, these estimates are finite: age, (intercept)." in page
    fine("check", claims, "--target", "died", "--model", "binary", "--features", "age", "--report", report)
    page = report.read_text("utf-8")
    assert "<h1>Estimate exists and is unique: binary regression.</h1>" in page
    assert "What to do" not in page


def test_excluded_columns_stay_excluded_when_a_certificate_is_checked(claims, tmp_path):
    proof = tmp_path / "proof.json"
    asked = ("--target", "claims", "--model", "poisson", "--exclude", "days,died,event", "--offset", "age")
    fine("check", claims, *asked, "--certificate", proof)
    assert "columns" in json.loads(proof.read_text())
    assert "The certificate holds" in fine("verify", proof, claims).stdout


def test_zeros_of_an_inverse_gaussian_response_are_modelled_apart(tmp_path):
    frame = pd.DataFrame({"cost": [1, 2, 3, 0, 0], "age": [20, 30, 40, 30, 50]})
    frame.to_csv(tmp_path / "costs.csv", index=False)
    asked = (tmp_path / "costs.csv", "--target", "cost", "--model", "inverse-gaussian")
    found = answer("check", *asked, "--certificate", tmp_path / "proof.json")
    assert (found["exists"], found["responsible_rows"]) == (False, [5])
    verify = ("verify", tmp_path / "proof.json", tmp_path / "costs.csv")
    assert "1 of 2 rows with y = 0 are not in the convex hull" in " ".join(fine(*verify).stdout.split())
    fine(*verify, "--independent")
    [line] = r_lines(*asked)
    assert "glm(I(cost > 0) ~ 0 + X, binomial" in line
    assert "inverse.gaussian('log'), d, subset = cost > 0)" in line


def test_every_model_has_a_remedy():
    assert set(IN_R) == set(naive_estimate.RULES)


def r_lines(*asked):
    told = fine("check", *asked).stdout.splitlines()
    lines = [line.strip()[2:].strip() for line in told if line.strip().startswith("R:")]
    return [line for line in lines if "install.packages" not in line]


def test_lines_of_r_name_columns_of_the_table_and_no_coefficients(tmp_path):
    games = pd.DataFrame({"w": list("abcaa"), "l": list("bcabd"), "home": [1, 0, 0, 1, 1]})
    games.to_csv(tmp_path / "games.csv", index=False)
    [line] = r_lines(tmp_path / "games.csv", "--winner", "w", "--loser", "l")
    assert "model.matrix(~ home, d)" in line
    assert "d$w == i" in line


def test_lines_of_r_have_the_weights_the_groups_and_the_strata_of_the_question(claims):
    asked = {name: QUESTIONS[name] for name in ("weights", "groups")}
    assert "weights = days" in r_lines(claims, *asked["weights"])[0]
    assert all("factor(sex)" in line for line in r_lines(claims, *asked["groups"]))
    [line] = r_lines(claims, "--formula", "event ~ smoker + age + strata(sex, died)")
    assert line.endswith(
        "model.matrix(~ smoker + age, d)[, -1, drop = FALSE], d$event, with(d, interaction(sex, died)))"
    )


def test_lines_of_r_leave_rows_out_of_the_columns_of_all_rows(claims):
    """In the rows that are left, the factor has one level, which R would refuse in a formula."""
    line = r_lines(claims, *QUESTIONS["poisson"])[1]
    assert line.index("model.matrix(~ age + smoker") < line.index("subset = -c(1, 6, 11, 16, 21, 26)")
