"""Regressions as statisticians ask about them: models of other libraries, formulas, and known traps."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from statsmodels.discrete.conditional_models import ConditionalLogit, ConditionalPoisson
from statsmodels.duration.hazard_regression import PHReg
from statsmodels.gam.api import BSplines, GLMGam
from statsmodels.miscmodels.ordinal_model import OrderedModel

import separatrix as sx
from separatrix.errors import CertificateError, InputError, SeparationWarning
from separatrix.proofs.estimates import check_estimate
from tests import naive_estimate, naive_likelihood

SEEDS = st.integers(0, 2**32)


def asked(design, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimate(design, *args, **options)
    assert sx.verify(found.certificate, **found.data).holds
    return found


def same(first, second):
    assert (first.exists, first.unique) == (second.exists, second.unique)
    assert list(first.coefficients.values()) == list(second.coefficients.values())
    assert first.responsible_rows.tolist() == second.responsible_rows.tolist()


def some_data(seed, n=14):
    """Columns of small integers, so that estimates often do not exist."""
    r = np.random.default_rng(seed)
    X = r.integers(0, 3, (n, 2)).astype(float)
    counts = r.poisson(0.7, n)
    counts[0] = 2
    binary = r.integers(0, 2, n)
    binary[:2] = [0, 1]
    return X, counts, binary, np.arange(n) % 4, r.integers(1, 9, n) + 0.0


@given(SEEDS)
@settings(max_examples=10)
def test_models_of_statsmodels_say_the_same_as_their_data(seed):
    X, counts, binary, groups, time = some_data(seed)
    C = sm.add_constant(X, has_constant="add")
    log = sm.families.links.Log()
    trials = counts + binary
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = [
            (sm.Logit(binary, C), {"design": C, "model": "logit", "y": binary}),
            (sm.Probit(binary, C), {"design": C, "model": "probit", "y": binary}),
            (sm.GLM(binary, C, sm.families.Binomial()), {"design": C, "model": "binary", "y": binary}),
            (
                sm.GLM(np.column_stack([counts, binary]), C, sm.families.Binomial()),
                {"design": C, "y": counts, "trials": trials},
            ),
            (sm.Poisson(counts, C), {"design": C, "model": "poisson", "y": counts}),
            (
                sm.GLM(counts, C, sm.families.NegativeBinomial(), freq_weights=groups),
                {"design": C, "model": "poisson", "y": counts, "weights": groups},
            ),
            (sm.GLM(counts + 0.0, C, sm.families.Gamma(log)), {"design": C, "model": "gamma", "y": counts}),
            (
                sm.GLM(counts + 0.0, C, sm.families.InverseGaussian(log)),
                {"design": C, "model": "inverse-gaussian", "y": counts},
            ),
            (ConditionalLogit(binary, X, groups=groups), {"design": X, "y": binary, "strata": groups}),
            (
                ConditionalPoisson(counts, X, groups=groups),
                {"design": X, "model": "poisson", "y": counts, "groups": groups},
            ),
            (
                PHReg(time, X, status=binary, strata=groups % 2),
                {"design": X, "time": time, "event": binary, "strata": groups % 2, "ties": "breslow"},
            ),
            (
                OrderedModel(np.minimum(counts, 2), X, distr="logit"),
                {"design": X, "model": "ordinal", "y": np.minimum(counts, 2)},
            ),
        ]
    for model, options in pairs:
        intercept = {"fit_intercept": False} if options["design"] is C else {}
        same(asked(model), asked(**options, **intercept))


@pytest.mark.parametrize("kind", [sm.Logit, sm.Poisson, sm.GLM, PHReg])
def test_rows_that_statsmodels_left_out_do_not_change_the_numbers_of_the_others(kind):
    frame = pd.DataFrame({"x": [np.nan, 0, 1, 0, 1, 1], "y": [1, 0, 1, 0, 1, np.nan]}).assign(one=1.0)
    more = {"family": sm.families.Binomial()} if kind is sm.GLM else {}
    names, whole = ["x"] if kind is PHReg else ["one", "x"], frame.dropna()
    found = asked(kind(frame.y, frame[names], missing="drop", **more))
    expected = whole.index[asked(kind(whole.y, whole[names], **more)).responsible_rows].tolist()
    assert found.responsible_rows.tolist() == expected
    assert expected


def test_classes_of_mnlogit_keep_their_names_and_the_first_is_the_reference():
    X = np.column_stack([np.ones(6), [0, 0, 1, 1, 2, 2.0]])
    found = asked(sm.MNLogit(pd.Series(list("bbaacc")), X))
    assert [name.split()[1] for name in found.coefficients] == ["[b]", "[b]", "[c]", "[c]"]
    assert found.exists is False


def test_check_separation_takes_models_of_statsmodels():
    X, y = sm.add_constant(np.arange(6.0)), [0, 0, 0, 1, 1, 1]
    with pytest.warns(SeparationWarning):
        assert sx.check_separation(sm.Logit(y, X)).status == "separable"
    with pytest.raises(InputError, match="check_estimate"):
        sx.check_separation(sm.Poisson(y, X))


@pytest.mark.parametrize(
    "model",
    [
        lambda X, y: sm.NegativeBinomial(y, X),
        lambda X, y: sm.OLS(y, X),
        lambda X, y: sm.GEE(y, X, np.arange(5) % 2, family=sm.families.Poisson()),
        lambda X, y: GLMGam(y, X, BSplines(X[:, 1:], df=[4], degree=[3]), 1.0, sm.families.Poisson()),
        lambda X, y: sm.GLM(y, X, sm.families.Gaussian()),
        lambda X, y: sm.GLM(y, X, sm.families.Gamma(sm.families.links.InversePower())),
        lambda X, y: LinearRegression(),
    ],
)
def test_models_without_a_theorem_are_refused(model):
    X, y = np.column_stack([np.ones(5), np.arange(5.0)]), np.array([1, 2, 0, 1, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(InputError, match="not answered here"):
            check_estimate(model(X, y))


def test_pipelines_are_asked_about_their_design_matrix_and_their_penalty():
    X, y = pd.DataFrame({"sex": list("ffffmmmm"), "dose": [1, 2, 3, 4, 1, 2, 3, 4]}), [0, 0, 0, 0, 1, 0, 1, 0]
    free = make_pipeline(OneHotEncoder(drop="first"), LogisticRegression(C=np.inf))
    found = asked(free, data=X[["sex"]], y=y)
    assert found.coefficients == {"sex_m": "+infinity", "(intercept)": "-infinity"}
    ridge = make_pipeline(OneHotEncoder(drop="first"), LogisticRegression())
    assert asked(ridge, data=X[["sex"]], y=y).exists
    assert asked(PoissonRegressor(alpha=0), data=X[["dose"]], y=y).exists
    with pytest.raises(InputError, match="needs the data"):
        check_estimate(free)


def of_lifelines(name, **attributes):
    """A fitted model with the attributes of lifelines 0.30, which are those of its columns."""
    known = {"strata": None, "weights_col": None, "formula": None, "penalizer": 0.0, "event_col": None}
    return type(name, (), {**known, **attributes})()


@given(SEEDS)
@settings(max_examples=10)
def test_models_of_lifelines_say_the_same_as_their_frames(seed):
    X, _, binary, groups, time = some_data(seed)
    frame = pd.DataFrame(X, columns=["a", "b.c"]).assign(
        T=time, E=binary, g=groups, h=groups % 2, s=time - 1.5
    )
    cox = {"duration_col": "T", "event_col": "E", "entry_col": None, "cluster_col": None}
    ask = {"time": time, "event": binary}
    same(asked(of_lifelines("CoxPHFitter", **cox), frame[["a", "T", "b.c", "E"]]), asked(X, **ask))
    strata = of_lifelines("CoxPHFitter", **{**cox, "strata": ["g", "h"], "cluster_col": "s"})
    same(asked(strata, frame), asked(X, strata=groups, **ask))
    formula = of_lifelines("CoxPHFitter", **cox, formula="a + C(h)")
    same(asked(formula, frame), asked("Surv(T, E) ~ a + C(h)", frame))
    ridge = of_lifelines("CoxPHFitter", **{**cox, "penalizer": np.array([0.0, 0.1]), "weights_col": "g"})
    found = asked(ridge, frame[["a", "b.c", "T", "E", "g"]])
    same(found, asked(X, weights=groups, penalized=[1], **ask))
    varying = of_lifelines("CoxTimeVaryingFitter", id_col="g", start_col="s", stop_col="T", event_col="E")
    same(asked(varying, frame.drop(columns="h")), asked(X, entry=time - 1.5, **ask))


def test_what_liblinear_and_class_weights_fit_is_not_called_something_else():
    X, y = np.arange(6.0)[:, None] % 4, [0, 1, 0, 1, 0, 1]
    assert asked(LogisticRegression(), X, y=y).note.endswith("except the intercept")
    assert asked(LogisticRegression(solver="liblinear"), X, y=y).note.endswith("every coefficient")
    with pytest.raises(InputError, match="one regression for each class"):
        check_estimate(LogisticRegression(solver="liblinear"), X, y=[0, 1, 2, 0, 1, 2])
    with pytest.raises(InputError, match="A class has weight zero"):
        check_estimate(LogisticRegression(class_weight={0: 0, 1: 1}), X, y=y)


def test_models_of_lifelines_need_their_frame_and_no_parametric_hazard():
    with pytest.raises(InputError, match="keeps no data"):
        check_estimate(of_lifelines("CoxPHFitter", duration_col="T"))
    spline = of_lifelines("CoxPHFitter", duration_col="T", baseline_estimation_method="spline")
    with pytest.raises(InputError, match="parametric"):
        check_estimate(spline, pd.DataFrame({"T": [1.0, 2]}))


def test_columns_of_a_frame_are_given_by_name_and_leave_the_design():
    frame = pd.DataFrame({"T": [5, 6, 2, 3, 9, 4], "E": [1, 0, 1, 1, 1, 0], "a": [1, 0, 1, 1, 0, 0.0]})
    found = asked(frame, time="T", event="E")
    same(found, asked("Surv(T, E) ~ a", frame))
    same(found, asked(frame[["a"]], time=frame["T"], event=frame["E"]))
    assert list(found.coefficients) == ["a"]
    with pytest.raises(InputError, match="no column 'X'"):
        check_estimate(frame, time="X")


@given(SEEDS)
@settings(max_examples=10)
def test_formulas_of_r_say_the_same_as_their_columns(seed):
    X, counts, binary, groups, time = some_data(seed)
    frame = pd.DataFrame(X, columns=["a", "b.c"]).assign(
        n=counts, y=binary, g=groups, t=time, f=3 - np.minimum(counts, 3), start=time - 1.5
    )
    same(
        asked("n ~ a + b.c + offset(log(t))", frame, model="poisson"),
        asked(X, y=counts, model="poisson"),
    )
    same(asked("y ~ a + b.c + strata(g)", frame), asked(X, y=binary, strata=groups))
    for both in ("strata(g) + strata(f)", "strata(g, f)"):
        found = asked(f"survival::Surv(t, y) ~ a + {both}", frame)
        same(found, asked(X[:, :1], time=time, event=binary, strata=10 * groups + frame["f"]))
    same(asked("cbind(f, n) ~ a", frame), asked(X[:, :1], y=frame["f"], trials=frame["f"] + frame["n"]))
    same(
        asked("Surv(t, y + 1) ~ a + strata(g)", frame),
        asked(X[:, :1], time=time, event=binary, strata=groups),
    )
    same(
        asked("Surv(start, t, y == 1) ~ a + b.c", frame),
        asked(X, time=time, event=binary, entry=time - 1.5),
    )
    same(
        asked("n ~ a + b.c", frame, model="poisson", groups="g"),
        asked(X, y=counts, model="poisson", groups=groups),
    )


def test_rows_with_missing_values_are_left_out_and_the_others_keep_their_numbers():
    frame = pd.DataFrame({"n": [1, 2, 0, 0, 3], "x": [0, 0, 1, 1, np.nan]}, index=list("abcde"))
    assert asked("n ~ x", frame.iloc[::-1], model="poisson").responsible_rows.tolist() == [1, 2]


def test_an_unnamed_model_is_guessed_only_if_there_is_no_choice():
    assert asked([[0.0], [1], [0], [1]], y=[0, 1, 1, 0]).asked.model == "binary"
    assert asked([[0.0], [1], [0], [1]], y=list("abca")).asked.model == "multinomial"
    with pytest.raises(InputError, match=r"looks like counts .*model='poisson'"):
        check_estimate([[0.0], [1], [0], [1]], y=[0, 1, 2, 4])
    ordered = pd.Series(pd.Categorical(list("loml"), list("lmo"), ordered=True))
    with pytest.raises(InputError, match=r"is ordered .*model='ordinal'"):
        check_estimate([[0.0], [1], [0], [1]], y=ordered)
    with pytest.raises(InputError, match="order of the categories is not known"):
        check_estimate([[0.0], [1], [0], [1]], y=list("abca"), model="ordinal")


def test_labels_without_categories_are_verified_in_the_order_of_the_certificate():
    x, texts = np.array([[0.0], [1], [2], [3]]), ["low", "high", "low", "high"]
    found = asked(x, y=pd.Categorical(texts, ["low", "middle", "high"], ordered=True), model="ordinal")
    assert sx.verify(found.certificate, x, y=texts).holds
    assert sx.verify(found.certificate, x, y=np.array(texts)).holds
    grades = pd.Categorical([1, 3, 1, 3], [1, 2, 3], ordered=True)
    proof = asked(x, y=grades, model="ordinal").certificate
    assert sx.verify(proof, x, y=[1, 3, 1, 3]).holds
    for y in ([1, 4, 1, 4], [3, 1, 3, 1], list("abab")):
        with pytest.raises(CertificateError):
            sx.verify(proof, x, y=y)


# ---------------------------------------------------------------- traps


def test_an_empty_middle_category_is_collapsed_and_named():
    x = np.array([[0.0], [1], [2], [3]])
    y = pd.Categorical(["low", "high", "low", "high"], ["low", "middle", "high"], ordered=True)
    found = asked(x, y=y, model="ordinal")
    assert found.exists
    assert list(found.coefficients) == ["x0", "low|high"]
    assert "middle" in found.dropped


def test_strata_without_variation_say_nothing():
    X, y, strata = [[0.0], [1], [1], [0], [5], [7]], [0, 1, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]
    found = asked(X, y=y, strata=strata)
    assert found.exists
    assert found.dropped == "1 of 3 strata have no variation in y and are left out"
    same(found, asked(X, y=y, groups=strata, model="logit"))


def test_of_fixed_effects_in_counts_only_groups_of_zeros_say_nothing():
    X, y, groups = [[0.0], [1], [1], [0], [5], [7]], [0, 0, 2, 1, 3, 3], [0, 0, 1, 1, 2, 2]
    found = asked(X, y=y, groups=groups, model="poisson")
    assert found.exists
    assert found.dropped == "1 of 3 groups have only zeros and are left out"


@given(SEEDS)
@settings(max_examples=20)
def test_counts_that_are_all_zero_have_an_estimate_if_and_only_if_no_direction_lowers_their_means(seed):
    X, zeros = some_data(seed, 5)[0] - 1, np.zeros(5)
    assert not asked(X, y=zeros, model="poisson").exists
    found = asked(X, y=zeros, model="poisson", fit_intercept=False)
    signed, equal, width = naive_estimate.rows_of("poisson", X, {"y": zeros}, intercept=False)
    exists, _, coefficients = naive_estimate.answers(signed, equal, width)
    assert found.exists == exists
    assert list(found.coefficients.values()) == coefficients


def test_a_gamma_regression_of_zeros_blames_all_rows_together():
    found = asked([[1.0], [2], [3]], y=[0, 0, 0], model="gamma")
    assert found.exists is False
    assert found.cause == "all 3 together"


def test_the_treatment_of_ties_can_change_the_answer():
    X, time = [[0.0], [1], [-1]], [1, 1, 2]
    assert asked(X, time=time, ties="efron").exists
    assert asked(X, time=time, ties="breslow").exists
    assert not asked(X, time=time, ties="exact").exists


def test_delayed_entry_takes_rows_out_of_earlier_risk_sets():
    X, time = [[1.0], [0], [2]], [1, 2, 3]
    assert asked(X, time=time).exists
    late = asked(X, time=time, entry=[0, 0, 2.5])
    assert not late.exists
    assert late.coefficients == {"x0": "+infinity"}


def test_weights_matter_in_a_gamma_regression_and_otherwise_only_if_they_are_zero():
    X, y = [[1.0], [-1], [-1]], [1, 0, 0]
    light, heavy = [4, 1, 1], [1, 1, 1]
    ask = {"y": y, "model": "gamma", "fit_intercept": False}
    assert asked(X, weights=light, **ask).exists
    assert not asked(X, weights=heavy, **ask).exists
    X, y = [[0.0], [1], [1], [0]], [0, 1, 0, 1]
    assert asked(X, y=y, weights=[0.5, 3, 7, 1]).exists
    found = asked(X, y=y, weights=[1, 1, 0, 0])
    assert found.exists is False
    assert found.responsible_rows.tolist() == [0, 1]


def test_a_penalty_makes_its_coefficients_finite_and_no_others():
    X, y = np.array([[0.0, 1], [1, 0], [2, 1], [3, 0]]), [0, 0, 1, 1]
    assert not asked(X, y=y).exists
    assert asked(X, y=y, penalized=[0, 1]).exists
    assert asked(X, y=y, penalized=["b"], feature_names=["a", "b"]).coefficients["b"] == "finite"
    assert not asked(X, y=y, penalized=[1]).exists


def test_a_league_needs_a_chain_of_wins_from_every_team_to_every_other():
    games = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")]
    league = {"winner": [w for w, _ in games], "loser": [second for _, second in games]}
    home = np.array([[1.0], [-1], [1], [1]])
    found = asked(np.zeros((4, 0)), **league)
    assert found.coefficients == {"b": "finite", "c": "finite", "d": "-infinity"}
    more = {name: [*teams, team] for (name, teams), team in zip(league.items(), "da", strict=True)}
    assert asked(np.zeros((5, 0)), **more).exists
    # every cycle of wins has more wins at home than away, or as many
    assert asked(np.vstack([home, [[-1]]]), **more).coefficients["x0"] == "+infinity"


def inverse_gaussian(b, X, y):
    """The logarithm of the likelihood, up to constants, with an intercept."""
    h = np.column_stack([X, np.ones(len(X))]) @ b
    return (np.exp(-h) - np.asarray(y) * np.exp(-2 * h) / 2).sum()


@given(SEEDS)
@settings(max_examples=15)
def test_an_inverse_gaussian_likelihood_is_bounded_if_and_only_if_zeros_are_in_the_hull_of_the_others(seed):
    r = np.random.default_rng(seed)
    X, y = r.integers(-2, 3, (8, 2)).astype(float), r.integers(0, 3, 8) * (np.arange(8) % 2) + [1, 0] * 4
    found = asked(X, y=y, model="inverse-gaussian")
    blocks = np.array(found.certificate.direction or (), dtype=float).reshape(-1, 3)
    assert found.exists == (not blocks.any())
    for d in blocks[blocks.any(axis=1)]:
        low = (np.column_stack([X, np.ones(8)])[y == 0] @ d).min()
        assert low < 0
        assert inverse_gaussian(-50 / low * d, X, y) > 1e20
    if found.exists:  # the sum of l_i exp(-h_i) - y_i exp(-2 h_i) / 2 is at most that of l_i^2 / (2 y_i)
        far = r.normal(size=(500, 3)) * np.exp(r.uniform(0, 4, (500, 1)))
        most = (8.0**2 / (2 * y[y > 0])).sum()
        with np.errstate(over="ignore", invalid="ignore"):
            assert not any(inverse_gaussian(b, X, y) > most for b in far)


def test_an_inverse_gaussian_estimate_need_not_be_unique_though_the_columns_are_independent():
    X, y = np.array([[-1.0], [0], [1]]), np.array([1.0, 10, 1])
    found = asked(X, y=y, model="inverse-gaussian")
    assert found.exists
    assert found.unique is None
    slopes, intercepts = np.meshgrid(np.linspace(-4, 4, 401), np.linspace(-2, 6, 401))
    values = [inverse_gaussian(np.array(b), X, y) for b in zip(slopes.flat, intercepts.flat, strict=True)]
    for slope in (-np.arccosh(4), np.arccosh(4)):  # the two maxima, of the value 9/16
        assert np.isclose(inverse_gaussian(np.array([slope, np.log(8)]), X, y), 9 / 16)
    assert max(values) <= 9 / 16 + 1e-12
    level = [inverse_gaussian(np.array([0, h]), X, y) for h in np.linspace(-2, 6, 401)]
    assert max(level) <= 3 / 8 + 1e-12


def test_without_an_intercept_a_convex_hull_does_not_answer_for_inverse_gaussian_regression():
    X, y = np.array([[1.0], [2], [3]]), [1, 2, 0]
    ask = {"model": "inverse-gaussian", "fit_intercept": False}
    with pytest.raises(InputError, match="only if there is an intercept"):
        check_estimate(X, y=y, **ask)
    same(asked(np.hstack([X, np.full((3, 1), 5.0)]), y=y, **ask), asked(X, y=y, model="inverse-gaussian"))
    with pytest.raises(InputError, match="must not be negative"):
        check_estimate(X, y=[1, -1, 2], model="inverse-gaussian")
    with pytest.raises(InputError, match="All responses are zero"):
        check_estimate(X, y=[0, 0, 0], model="inverse-gaussian")
    with pytest.raises(InputError, match="penalized inverse Gaussian"):
        check_estimate(X, y=y, model="inverse-gaussian", penalized=[0])


def test_zeros_beside_a_flat_hull_and_equal_zeros_are_told_apart():
    X = np.array([[0.0, 0], [2, 2], [1, 1], [1, 1], [1, 2], [1, 2], [0, 1]])
    y, ask = np.array([1, 1, 0, 0, 0, 0, 0]), {"model": "inverse-gaussian"}
    found = asked(X, y=y, **ask)
    assert found.responsible_rows.tolist() == [4, 5, 6]
    assert set(found.coefficients.values()) == {None}
    assert asked(X, y=y, weights=[1, 1, 2, 1, 0, 0, 0], **ask).exists
    same(found, asked(scipy.sparse.csr_array(X), y=y, **ask))
    same(found, asked(np.where(X == 0, -0.0, X), y=y, **ask))
    same(found, asked(X.astype(np.int8), y=y, **ask))


def test_too_many_different_zeros_are_refused(monkeypatch):
    monkeypatch.setattr("separatrix.certificates.models.counts.MOST_WEAK", 6)
    X, y = np.arange(5.0)[:, None], np.array([1, 0, 1, 0, 1])
    with pytest.raises(InputError, match="more than 6 pairs"):
        check_estimate(X, y=y, model="inverse-gaussian")
    assert asked(X % 2, y=y, model="inverse-gaussian").exists is False


# ---------------------------------------------------------------- what is left without the responsible rows


@pytest.mark.parametrize("model", ["binary", "binomial", "poisson"])
@given(SEEDS)
@settings(max_examples=15)
def test_the_rest_has_a_unique_estimate_to_which_a_fit_converges(model, seed):
    X, columns, options = naive_estimate.random_case(model, np.random.default_rng(seed))
    try:
        found = asked(X, model=model, fit_intercept=options["intercept"], **columns)
        rest = found.rest()
    except InputError:  # there is an estimate, or no row is left
        return
    assert set(found.estimable) <= set(rest.names)
    assert not set(rest.rows) & set(found.responsible_rows)
    if not rest.names:
        return
    y = {"y": rest.y} if rest.y.ndim == 1 else {"y": rest.y[:, 0], "trials": rest.y.sum(axis=1)}
    groups = {} if rest.groups is None else {"groups": rest.groups}
    again = asked(rest.X, model=model, fit_intercept=False, weights=rest.weights, **y, **groups)
    assert again.exists
    assert again.unique
    if rest.groups is None:
        family = sm.families.Poisson() if model == "poisson" else sm.families.Binomial()
        with warnings.catch_warnings(action="ignore"):  # as many rows as columns
            assert sm.GLM(rest.y, rest.X, family, freq_weights=rest.weights).fit().converged


def test_the_estimates_that_stay_finite_are_those_of_the_rest():
    r = np.random.default_rng(0)
    frame = pd.DataFrame({"dose": r.normal(size=80), "drug": r.choice(list("abc"), 80)})
    frame["n"] = np.where(frame.drug == "b", 0, r.poisson(2.0, 80))
    found = asked("n ~ dose + drug", frame, model="poisson")
    assert found.infinite == {"drug[T.b]": -np.inf}
    assert found.estimable == ("dose", "drug[T.c]", "(intercept)")
    rest = found.rest()
    assert rest.names == list(found.estimable)
    fitted = sm.GLM(rest.y, rest.X, sm.families.Poisson()).fit().params
    X = found.data["X"].assign(one=1.0)[["dose", "drug[T.c]", "one", "drug[T.b]"]]
    whole = sm.GLM(frame["n"], X.astype(float), sm.families.Poisson()).fit(maxiter=25)
    assert np.allclose(fitted, whole.params[:3], atol=1e-6)
    assert whole.params["drug[T.b]"] < -10


@pytest.mark.parametrize("model", ["cox", "conditional", "binary"])
@given(SEEDS)
@settings(max_examples=25)
def test_strata_of_the_rest_have_the_limits_of_the_finite_estimates(model, seed):
    X, columns, options = naive_estimate.random_case(model, np.random.default_rng(seed))
    if model == "binary":
        columns.setdefault("groups", np.arange(len(X)) % 2)
        options["intercept"] = False
    columns.pop("weights", None)
    X = np.round(X)
    try:
        found = asked(X, model=model, ties=options.get("ties"), fit_intercept=False, **columns)
        rest = found.rest()
    except InputError:  # there is an estimate, or no row is left
        return
    assert set(found.estimable) <= set(rest.names)
    if not found.estimable:
        return
    strata = {"strata": rest.groups, "y": rest.y}
    if model == "cox":
        strata = {"strata": rest.groups, "time": rest.y, "event": rest.event}
        strata |= {} if rest.entry is None else {"entry": rest.entry}
    ties = options.get("ties") or ""
    again = asked(
        rest.X,
        model="cox" if model == "cox" else "conditional",
        ties=ties or None,
        fit_intercept=False,
        **strata,
    )
    assert again.exists
    assert again.unique
    of = {"intercept": False, "ties": ties}
    whole = naive_likelihood.likelihood_of(
        "conditional" if model == "binary" else model, X, as_strata(columns), **of
    )
    part = naive_likelihood.likelihood_of("cox" if model == "cox" else "conditional", rest.X, strata, **of)
    limit, left = (naive_likelihood.maximize(*each, 1e-7) for each in (whole, part))
    for name in found.estimable:
        assert abs(limit[list(found.coefficients).index(name)] - left[rest.names.index(name)]) < 0.02


def as_strata(columns):
    return {"strata" if name == "groups" else name: values for name, values in columns.items()}


def test_models_whose_limit_is_another_model_have_no_rest():
    found = asked([[0.0], [1], [2]], y=[0, 1, 2], model="ordinal")
    assert found.exists is False
    with pytest.raises(InputError, match="no part is left"):
        found.rest()
    with pytest.raises(InputError, match="Every row is responsible"):
        asked([[0.0], [1.0]], y=[0, 1]).rest()
    with pytest.raises(InputError, match="no proof that a part"):
        asked([[0.0], [1], [0], [1]], y=[0, 0, 1, 1]).rest()


def test_the_rest_of_a_league_is_the_league_of_the_other_games():
    league = {"winner": np.array(list("abca")), "loser": np.array(list("bcad"))}
    found = asked(np.zeros((4, 0)), **league)
    assert found.responsible_rows.tolist() == [3]
    with pytest.raises(InputError, match="the model of the other games"):
        found.rest()
    others = np.delete(np.arange(4), found.responsible_rows)
    assert asked(np.zeros((3, 0)), **{name: teams[others] for name, teams in league.items()}).unique


NOT_NUMBERS = {
    "masked": np.ma.array([1, 0, 2, 3, 0, 1], mask=[1, 0, 0, 0, 0, 0]),
    "complex": np.array([1j, 0, 1, 1, 1, 1]),
    "text": ["1", "0", "2", "3", "0", "1"],
    "dates": pd.to_datetime(["2020-01-01", None, "2020-01-03", "2020-01-02", "2020-01-01", "2020-01-04"]),
    "durations": pd.to_timedelta([1, None, 2, 3, 4, 5], unit="D"),
    "large integers": np.array([2**53 + 1, 0, 2, 3, 0, 1], dtype=object),
    "a missing value": np.array([None, 0, 2, 3, 0, 1], dtype=object),
}


@pytest.mark.parametrize("values", NOT_NUMBERS.values(), ids=NOT_NUMBERS)
@pytest.mark.parametrize("name", ["y", "time"])
def test_what_is_not_a_number_is_never_read_as_one(name, values):
    with pytest.raises(InputError):
        check_estimate(
            np.arange(6.0)[:, None] % 4, model="poisson" if name == "y" else "cox", **{name: values}
        )


def test_one_penalized_column_is_named_whole():
    frame = pd.DataFrame({"a": [0, 1, 2, 3], "b": [1, 0, 1, 0], "ab": [0, 0, 1, 1]})
    y = [0, 1, 1, 0]
    listed, alone = (check_estimate(frame, y=y, penalized=each) for each in (["ab"], "ab"))
    assert listed.asked == alone.asked
    for wrong in ("nope", ["nope"], [-1]):
        with pytest.raises(InputError, match="There is no column"):
            check_estimate(frame, y=y, penalized=wrong)


def test_penalized_columns_may_be_an_array_and_have_to_exist():
    X, y = np.array([[0.0, 1], [1, 0], [2, 1], [3, 0]]), [0, 0, 1, 1]
    for first in ([0], np.array([0]), range(1)):
        assert asked(X, y=y, penalized=first).asked.penalized == (0,)
    for wrong in ([9], [2], [0.5], [True], np.array([True, False])):
        with pytest.raises(InputError, match="There is no column"):
            check_estimate(X, y=y, penalized=wrong)


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"], ["a", "a"], ["(intercept)", "a"]])
def test_every_coefficient_has_a_name_of_its_own(names):
    X, y = np.array([[0.0, 1], [1, 0], [2, 1], [3, 0]]), [0, 0, 1, 1]
    with pytest.raises(InputError, match="name"):
        check_estimate(X, y=y, feature_names=names)


@pytest.mark.parametrize("limit", [-1, 0, float("nan"), "ten", None])
def test_every_question_refuses_a_time_limit_that_is_not_positive(limit):
    X, y = [[0.0], [1], [2], [3]], [0, 1, 0, 1]
    for ask in (check_estimate, sx.separability, sx.fewest_errors):
        given = {"y": y} if ask is check_estimate else {}
        with pytest.raises(InputError, match="must be a positive number of seconds"):
            ask(X, *([] if given else [y]), **given, time_limit=limit)


@pytest.mark.parametrize("missing", [None, np.nan])
def test_a_missing_label_is_named_by_its_column(missing):
    X, labels = [[0.0], [1], [2], [0]], np.array(["a", missing, "b", "a"], dtype=object)
    for name in ("y", "groups", "strata", "winner"):
        more = {"y": [0, 1, 0, 1]} if name in ("groups", "strata") else {}
        more |= {"loser": list("cccc")} if name == "winner" else {}
        with pytest.raises(InputError, match=f"^{name} has no label in row 1"):
            check_estimate(X, **{**more, name: labels})


def test_two_columns_of_one_name_are_refused_if_the_formula_needs_them():
    frame = pd.DataFrame([[0, 1, 2, 3], [1, 2, 3, 1], [0, 2, 1, 2], [1, 1, 1, 0]], columns=list("yxzz"))
    assert asked("y ~ x", frame).exists is not None
    for formula in ("y ~ x + z", "y ~ ."):
        with pytest.raises(InputError, match="two columns have the name 'z'"):
            check_estimate(formula, frame)


def test_what_a_formula_cannot_use_is_refused_with_a_reason():
    days = pd.date_range("2020-01-01", periods=4)
    frame = pd.DataFrame({"y": [0, 1, 0, 1], "x": [1, 2, 3, 1], "day": days})
    with pytest.raises(InputError, match="cannot be used"):
        check_estimate("y ~ day", frame)
    with pytest.raises(InputError, match="There is no column 'nope'"):
        check_estimate("y ~ x", frame, weights="nope")


def test_a_negative_count_is_named_by_its_row():
    with pytest.raises(InputError, match=r"A count must not be negative: row 1\."):
        check_estimate([[0.0], [1.0]], y=[1, -1], model="poisson")


def test_events_are_zeros_and_ones_and_codes_of_r_are_read_in_formulas_only():
    frame = pd.DataFrame({"x": [0, 1, 0, 1, 1, 0], "t": [1, 2, 3, 4, 5, 6], "status": [1, 2, 1, 2, 2, 1]})
    ask = {"time": frame.t, "model": "cox"}
    with pytest.raises(InputError, match="event must be 1 for a death"):
        check_estimate(frame[["x"]], event=frame.status, **ask)
    with pytest.warns(SeparationWarning):
        right = check_estimate(frame[["x"]], event=frame.status == 2, **ask)
    with pytest.warns(SeparationWarning):
        by_formula = check_estimate("Surv(t, status) ~ x", frame)
    assert right.coefficients == by_formula.coefficients == {"x": "+infinity"}
