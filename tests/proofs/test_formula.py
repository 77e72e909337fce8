"""Separation as statisticians ask about it: formulas, and the coefficients that have no finite estimate."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import linprog

import separatrix as sx
from separatrix.errors import InputError, SeparationWarning
from separatrix.proofs import verdict
from separatrix.proofs.statistics.formula import read_formula, variables
from separatrix.proofs.verdict import check_separation

FRAME = pd.DataFrame(
    {
        "ill": ["no", "no", "yes", "yes", "no", "yes"],
        "dose": [1.0, 2.0, 3.0, 4.0, np.nan, 5.0],
        "sex": list("fmfmfm"),
        "n": [0, 0, 1, 1, 0, 1],
    },
    index=[10, 11, 12, 13, 14, 15],
)


def asked(formula, data=FRAME, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        return check_separation(formula, data=data, **options)


def estimates(X, y, lift):
    """For each column (the ones first), what becomes of its coefficient, by a linear program each."""
    rows = np.column_stack([np.ones(len(X)), X]) if lift else np.asarray(X, dtype=float)
    width = rows.shape[1]
    signed = np.where(np.asarray(y) == 1, 1.0, -1.0)[:, None] * rows
    found = []
    for j in range(width):
        if np.linalg.matrix_rank(np.vstack([rows, np.eye(width)[j]])) > np.linalg.matrix_rank(rows):
            found.append("not identified")
            continue
        ends = [
            linprog(
                sign * np.eye(width)[j], A_ub=-signed, b_ub=np.zeros(len(signed)), bounds=[(-1, 1)] * width
            )
            for sign in (1, -1)
        ]
        down, up = (end.fun < -1e-7 for end in ends)
        found.append(
            "not determined" if down and up else "-infinity" if down else "+infinity" if up else "finite"
        )
    return found


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("formula", ["x + g", "g * h", "x * h", "0 + x + z", "g + h - 1", "x + z + I(x + z)"])
def test_coefficients_are_those_of_a_linear_program_each(formula, seed, monkeypatch):
    monkeypatch.setattr(verdict, "COEFFICIENT_SECONDS", np.inf)  # however busy the machine is
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 30))
    frame = pd.DataFrame(
        {
            "g": rng.choice(["a", "b", "c"], n),
            "h": rng.choice(["u", "v"], n),
            "x": rng.integers(-3, 4, n),
            "z": rng.integers(0, 3, n),
        }
    )
    score = 2.0 * frame.x + 3.0 * (frame.g == "a") - 1.0 + rng.choice([0.0, 1.0, 3.0]) * rng.logistic(size=n)
    frame["y"] = (score > 0).astype(int)
    if frame.y.nunique() < 2:
        return
    import formulaic

    right = formulaic.model_matrix(formula, frame)
    lift = "Intercept" in right.columns
    names = [*(["(intercept)"] if lift else []), *(name for name in right.columns if name != "Intercept")]
    truth = estimates(right.drop(columns="Intercept") if lift else right, frame.y, lift)
    assert asked(f"y ~ {formula}", frame).coefficients == dict(zip(names, truth, strict=True))


def test_rows_with_missing_values_are_left_out_and_the_others_keep_their_numbers():
    verdict = asked("ill ~ dose", sample_weight=[1, 1, 1, 0, 1, 1])
    assert verdict.strict_rows.tolist() == [0, 1, 2, 5]
    mixed = FRAME.assign(n=[0, 1, 0, 1, 0, 1])
    assert set(asked("n ~ dose", mixed).witness_rows) <= {0, 1, 2, 3, 5}


@pytest.mark.parametrize("kind", [pl.from_pandas, lambda frame: frame.to_dict("list")])
def test_data_may_be_any_frame_or_a_mapping(kind):
    verdict = asked("ill ~ dose", kind(FRAME))
    assert verdict.responsible_features == {"dose": np.inf, "(intercept)": -np.inf}


def test_labels_of_text_keep_their_names():
    assert asked("ill ~ dose").question == "yes against no, with an intercept"
    assert asked("C(n) ~ dose").question == "1 against 0, with an intercept"


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("~ dose", "no left side"),
        ("n ~ dose | sex", "no left side, or several"),
        ("n + ill ~ dose", "2 terms"),
        ("n ~ age", "`age`"),
        ("n ~ frame", "`frame`"),
        ("n ~ dose +", "cannot be used"),
        ("n ~ dose + (1 | ill/sex)", r"mixed models are not answered here.*groups='sex'"),
        ("n ~ dose + frailty(sex)", r"mixed models are not answered here.*groups='sex'"),
        ("cbind(n, dose) ~ sex", "check_estimate"),
        ("Surv(dose, n) ~ sex", "check_estimate"),
        ("dose ~ n", "one class|fractions|classes"),
    ],
)
def test_a_formula_that_asks_nothing_is_refused_with_a_reason(formula, words):
    with pytest.raises(InputError, match=words):
        asked(formula, FRAME.assign(dose=FRAME.dose + 0.5))


def test_every_part_that_is_separated_is_warned_of():
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "b", "c", "b"]
    with pytest.warns(SeparationWarning) as caught:
        verdict = check_separation(X, y, multiclass="one-vs-rest")
    assert verdict.status == "overlapping"
    assert len(caught) == sum(part.status != "overlapping" for part in verdict.parts.values()) == 1
    assert "completely separated (a against the rest, with an intercept)" in str(caught[0].message)


def test_a_caret_in_a_call_is_a_power_as_in_r():
    x = np.arange(7.0)
    data = pd.DataFrame({"y": [1, 1, 0, 0, 0, 1, 1], "x": x, "a^b": x})
    squared = asked("y ~ x + I(x**2)", data)
    assert squared.status == "separable"
    for formula in ("y ~ x + I(x^2)", "y ~ x + I( (x)^2 )", "y ~ I(`a^b`^2) + x"):
        assert asked(formula, data).status == "separable"
    assert asked("y ~ x + I(x^2)", data).certificate == squared.certificate


def test_a_caret_outside_a_call_makes_interactions():
    data = pd.DataFrame(
        {"y": [0, 1, 1, 0, 1], "a": [0.0, 1, 0, 1, 2], "b": [0.0, 0, 1, 1, 2], "z^": list("uvuvu")}
    )
    assert list(read_formula("y ~ (a + b)^2", data).X.columns) == ["a", "b", "a:b"]
    assert list(read_formula("y ~ (a + I(b^2))^2", data).X.columns) == ["a", "I(b ** 2)", "a:I(b ** 2)"]
    assert "a" in read_formula("y ~ a + C(`z^`, Treatment('u'))", data).X.columns


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("y ~ factor(z) + as.factor(a)", "y ~ C(z) + C(a)"),
        ("y ~ a + offset(log(b)) + C(z)", "y ~ a + C(z)"),
        ("y ~ Cl.thickness + log(Cl.thickness + 1)", "y ~ `Cl.thickness` + log(`Cl.thickness` + 1)"),
        ("y ~ .", "y ~ a + b + z + `Cl.thickness`"),
        ("y ~ I(a^2) + poly(b, 2)", "y ~ I(a**2) + poly(b, 2)"),
        ("y ~ np.log(b + 1)", "y ~ np.log(b + 1)"),
        ("y ~ sqrt(b) + stats::poly(a, 2, raw = TRUE)", "y ~ np.sqrt(b) + poly(a, 2, raw=True)"),
        ("y ~ as.numeric(a) + cluster(z)", "y ~ I(a)"),
        ("y > 1 ~ a", "I(y > 1) ~ a"),
        ("(Cl.thickness == 1) ~ a", "I(`Cl.thickness` == 1) ~ a"),
    ],
)
def test_formulas_mean_the_same_as_in_r(written, means):
    r = np.random.default_rng(0)
    data = pd.DataFrame(r.integers(0, 3, (12, 4)), columns=["y", "a", "b", "Cl.thickness"]).assign(
        z=list("uvw") * 4
    )
    data = data[["y", "a", "b", "z", "Cl.thickness"]]
    one, other = read_formula(written, data), read_formula(means, data)
    assert one.X.to_numpy().tolist() == other.X.to_numpy().tolist()
    assert one.y.tolist() == other.y.tolist()
    if "." not in written.split():
        assert set(variables(written)) <= set(data.columns)


def test_a_column_may_have_the_name_of_a_function():
    assert variables("died ~ C(center) + log(dose) + scale") == ["center", "died", "dose", "scale"]


def test_natural_splines_are_linear_beyond_their_knots_and_smooth_between():
    x = np.linspace(0, 4, 401)
    data = pd.DataFrame({"y": (x > 2).astype(int), "x": x})
    basis = read_formula("y ~ ns(x, 4)", data).X.to_numpy()
    assert basis.shape[1] == 4
    assert np.linalg.matrix_rank(np.column_stack([np.ones(len(x)), basis])) == 5
    second = np.diff(basis, 2, axis=0) / 0.01**2
    assert np.abs(second[[0, -1]]).max() < 0.2 * np.abs(second).max()
    assert np.abs(np.diff(second, axis=0)).max() < 0.2  # continuous second derivatives


def test_infinite_values_are_not_to_be_imputed_as_they_are():
    for value, imputed in ((np.nan, True), (np.inf, False)):
        with pytest.raises(InputError) as refused:
            check_separation(np.array([[0.0], [value]]), [0, 1])
        assert ("SimpleImputer" in str(refused.value)) is imputed


@pytest.mark.parametrize(
    "left",
    [
        'factor(g, levels = c("low", "mid", "high"))',
        'factor(g, c("low", "mid", "high"), ordered = TRUE)',
        'ordered(g, levels = c("low", "mid", "high"))',
    ],
)
def test_levels_in_a_formula_are_the_order_of_an_ordinal_response(left):
    frame = pd.DataFrame({"g": ["low", "mid", "high", "high", "mid", "low"], "x": [1, 2, 3, 1, 1, 3]})
    found = sx.check_estimate(f"{left} ~ x", frame, model="ordinal")
    assert list(found.coefficients) == ["x", "low|mid", "mid|high"]
    assert found.certificate.classes == ("low", "mid", "high")
    with pytest.raises(InputError, match="order of the categories is not known"):
        sx.check_estimate("factor(g) ~ x", frame, model="ordinal")


def test_the_first_level_in_a_formula_is_the_reference_and_no_value_may_be_another():
    frame = pd.DataFrame({"g": ["a", "b", "c", "a", "b", "c"], "y": [0, 1, 0, 1, 0, 1]})
    found = sx.check_estimate('y ~ factor(g, levels = c("b", "c", "a"))', frame, model="logit")
    assert [name.rpartition("[")[2] for name in found.coefficients] == ["T.c]", "T.a]", "(intercept)"]
    for formula in ('y ~ factor(g, levels = c("a", "b"))', 'factor(g, levels = c("a", "b")) ~ y'):
        with pytest.raises(InputError, match="outside of the nominated levels"):
            sx.check_estimate(formula, frame, model="logit")
    listed = sx.check_separation("factor(y, levels = c(1, 0)) ~ g", data=frame)
    assert listed.status == sx.check_separation("y ~ g", data=frame).status
