"""Estimates that are known from the literature to exist, or not: tables in print, with their sources."""

from __future__ import annotations

import warnings
from itertools import combinations, product

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import SeparationWarning


def asked(X, **options):
    """The answer, after its certificate passed the checker."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        found = sx.check_estimate(np.asarray(X, dtype=float), **options)
    assert sx.verify(found.certificate.to_json(), **found.data).holds
    return found


def table(text):
    return np.array([line.split() for line in text.strip().splitlines()], dtype=float)


def dummies(values, levels):
    return np.array([[float(value == level) for level in levels] for value in values])


def test_eight_points_are_separated_completely_and_ten_quasi_completely():
    # Agresti (2013). Categorical Data Analysis, 3rd edition, section 6.5.1.
    x = [10, 20, 30, 40, 60, 70, 80, 90]
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    eight = asked(np.c_[x], y=y, feature_names=["x"])
    assert eight.coefficients == {"x": "+infinity", "(intercept)": "-infinity"}
    assert eight.responsible_rows.tolist() == list(range(8))
    ten = asked(np.c_[[*x, 50, 50]], y=[*y, 0, 1], feature_names=["x"])
    assert ten.coefficients == {"x": "+infinity", "(intercept)": "-infinity"}
    assert ten.responsible_rows.tolist() == list(range(8))


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog"])
def test_scores_of_a_health_questionnaire_are_separated_under_any_link(link):
    # Silvapulle (1981), JRSS B 43; silvapulle1981 in the R package detectseparation.
    score = [2, 4, 5, 5, 5, 7, 7, 10] + [0] * 18 + [1] * 8 + [2]
    found = asked(np.c_[score], y=[1] * 8 + [0] * 27, model=link, feature_names=["ghqs"])
    assert found.coefficients == {"ghqs": "+infinity", "(intercept)": "-infinity"}
    assert found.responsible_rows.tolist() == [*range(1, 8), *range(8, 34)]  # all but those with a score of 2


def test_lizards_have_an_estimate_although_some_cells_are_empty():
    # McCullagh and Nelder (1989), after Schoener (1970): grahami, opalinus; height, diameter, light, midday,
    # late. The R package detectseparation finds six finite estimates.
    lizards = table("""
    20  2 0 0 0 0 0
     8  1 0 0 0 1 0
     4  4 0 0 0 0 1
    13  0 1 0 0 0 0
     8  0 1 0 0 1 0
    12  0 1 0 0 0 1
     8  3 0 1 0 0 0
     4  1 0 1 0 1 0
     5  3 0 1 0 0 1
     6  0 1 1 0 0 0
     1  1 1 1 0 0 1
    34 11 0 0 1 0 0
    69 20 0 0 1 1 0
    18 10 0 0 1 0 1
    31  5 1 0 1 0 0
    55  4 1 0 1 1 0
    13  3 1 0 1 0 1
    17 15 0 1 1 0 0
    60 32 0 1 1 1 0
     8  8 0 1 1 0 1
    12  1 1 1 1 0 0
    21  5 1 1 1 1 0
     4  4 1 1 1 0 1
    """)
    grahami, opalinus, X = lizards[:, 0], lizards[:, 1], lizards[:, 2:]
    found = asked(X, y=grahami, trials=grahami + opalinus)
    assert found.exists
    assert found.unique
    assert set(found.coefficients.values()) == {"finite"}


def test_food_of_alligators_has_estimates_until_the_counts_are_divided_by_three():
    # Agresti (2002), section 7.1.2: alligators by food (fish, invertebrate, reptile, bird, other), four rows
    # for each lake (male small, male large, female small, female large). The vignette "multinomial" of the R
    # package brglm2 rounds the counts after dividing them by three: estimates for reptiles become infinite.
    lakes = ["Hancock", "Oklawaha", "Trafford", "George"]
    counts = table("""
     7  1 0 0 5
     4  0 0 1 2
    16  3 2 2 3
     3  0 1 2 3
     2  2 0 0 1
    13  7 6 0 0
     3  9 1 0 2
     0  1 0 1 0
     3  7 1 0 1
     8  6 6 3 5
     2  4 1 1 4
     0  1 0 0 0
    13 10 0 2 2
     9  0 0 1 2
     3  9 1 0 1
     8  1 0 0 1
    """)
    foods = ["a fish", "b invertebrate", "c reptile", "d bird", "e other"]
    cells = list(product(range(16), range(5)))
    small = [float(row % 2 == 0) for row, _ in cells]
    X = np.column_stack([small, dummies([lakes[row // 4] for row, _ in cells], lakes[:3])])
    ask = {
        "y": [foods[food] for _, food in cells],
        "model": "multinomial",
        "feature_names": ["small", *lakes[:3]],
    }
    assert asked(X, weights=counts.ravel(), **ask).unique
    found = asked(X, weights=np.round(counts.ravel() / 3), **ask)
    # no reptile is left at the lake of reference, and no bird at Oklawaha
    assert {name.replace("c reptile", "reptile"): limit for name, limit in found.infinite.items()} == {
        "(intercept) [reptile]": -np.inf,
        **{f"{lake} [reptile]": np.inf for lake in lakes[:3]},
        "Oklawaha [d bird]": -np.inf,
    }


def test_hepatitis_after_transfusion_has_an_empty_cell():
    # Blajchman, Bull and Feinman (1995), Lancet 345; Bull, Mak and Greenwood (2002), CSDA 39: 4,588 patients
    # by outcome, whether blood was withheld, and whether they came after screening had begun.
    counts = {"a none": [389, 1864, 400, 1896], "b HCV": [5, 5, 0, 3], "c non-ABC": [3, 11, 2, 10]}
    assert sum(map(sum, counts.values())) == 4588
    groups = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]]  # withheld, after, both
    ask = {
        "y": [outcome for outcome in counts for _ in groups],
        "weights": [count for each in counts.values() for count in each],
        "model": "multinomial",
    }
    X = np.array(groups * 3, dtype=float)
    names = ["withheld", "after", "both"]
    assert asked(X, feature_names=names, **ask).infinite == {
        "withheld [b HCV]": -np.inf,
        "both [b HCV]": np.inf,
    }
    assert asked(X[:, :2], feature_names=names[:2], **ask).unique


def test_cheeses_have_estimates_in_every_ordinal_model():
    # McCullagh and Nelder (1989), chapter 5: 52 tasters rated four cheeses from 1 to 9.
    counts = table("""
    0 0  1  7  8 8 19  8  1
    6 9 12 11  7 6  1  0  0
    1 1  6  8 23 7  5  1  0
    0 0  0  1  3 7 14 16 11
    """)
    cells = list(product(range(4), range(9)))
    X = dummies([cheese for cheese, _ in cells], range(3))
    for model in ("ordinal", "adjacent", "continuation"):
        found = asked(X, y=[rating for _, rating in cells], weights=counts.ravel(), model=model)
        assert found.unique
        assert len(found.coefficients) == 3 + 8


def test_counts_of_ten_rows_are_separated_by_the_difference_of_two_columns():
    # Correia, Guimaraes and Zylkin, guide to ppmlhdfe ("lack of convergence"): y, x1, x2, x3. Rows 1 and 5
    # are separated by x2 - x1, and the coefficient of x3 is finite.
    rows = table("""
     0   0   1  0
     0   0   0  0
     0   0   0  0
     0   0   0  0
     0   1   9  0
     2  21  21 21
     3   0   0  0
     5   0   0  0
     7   0   0  0
    10 -18 -18  0
    """)
    found = asked(rows[:, 1:], y=rows[:, 0], model="poisson", feature_names=["x1", "x2", "x3"])
    assert found.responsible_rows.tolist() == [0, 4]
    assert found.infinite == {"x1": np.inf, "x2": -np.inf}
    assert found.coefficients["x3"] == found.coefficients["(intercept)"] == "finite"


def test_counts_on_which_programs_converge_without_a_warning_are_separated():
    # The same guide ("convergence to incorrect output"): y, x1 to x4. The fifth row is separated by x1 - x2.
    rows = table("""
    0  0  0  2 10
    0  0  0  0 -2
    0  0  0  0  6
    0  0  0  4  5
    0  1  0  0  3
    2  0  0  0  3
    2  0  0  0  4
    2  0  0 -2 15
    2  0  0  0 -7
    4  0  0 -3 15
    6 -3 -3  0  4
    6  0  0  0  4
    """)
    found = asked(rows[:, 1:], y=rows[:, 0], model="poisson", feature_names=["x1", "x2", "x3", "x4"])
    assert found.responsible_rows.tolist() == [4]
    assert found.infinite == {"x1": -np.inf, "x2": np.inf}


def test_counts_with_two_fixed_effects_are_separated_in_four_rows():
    # The same guide, fe1.csv (sorted as 07.csv of the tests of ppmlhdfe, which marks the separated rows):
    # y, x1, x2 and the levels of two factors.
    rows = table("""
    0 0 0 1 1
    0 0 0 1 1
    0 0 0 1 2
    0 0 0 1 3
    0 2 0 1 3
    0 0 1 2 2
    0 0 0 2 2
    0 0 0 2 2
    0 1 0 2 2
    0 1 2 2 3
    0 0 1 2 4
    0 0 0 4 2
    0 0 1 5 2
    1 0 0 1 1
    1 1 0 4 3
    1 0 0 5 4
    2 0 0 1 2
    2 0 0 2 1
    """)
    second = dummies(rows[:, 4], [2, 3, 4])
    X = np.column_stack([rows[:, 1:3], second])
    found = asked(X, y=rows[:, 0], groups=rows[:, 3].astype(int), model="poisson")
    assert found.responsible_rows.tolist() == [5, 9, 10, 12]
    assert found.infinite == {"x1": -np.inf}  # the second column
    whole = np.column_stack([X, dummies(rows[:, 3], [2, 4, 5])])
    assert asked(whole, y=rows[:, 0], model="poisson").infinite == {"x1": -np.inf}


def test_a_contingency_table_has_one_direction_of_recession():
    # Geyer (2009), Electronic Journal of Statistics 3, section 2.3 and table 1: 2^7 counts (v1 changes
    # fastest), all interactions of three factors. Table 1 has the direction, with 14 terms.
    counts = table("""
    0 8 7 8 9 7 9 5  0 4 5 10 4 2 6 7  11 6 4 0 6 3 9 5   5 3 5 0 3 3 5 9
    0 5 2 4 3 2 3 5  0 4 3 6 5 6 6 5   12 7 5 0 7 8 3 4   7 6 5 0 3 7 3 9
    0 3 1 2 5 1 4 3  0 5 5 4 1 2 6 1    3 2 5 0 4 2 5 6   3 2 4 0 4 5 6 11
    0 8 3 5 0 1 3 2  0 2 14 10 2 5 8 4  2 4 2 0 3 4 2 3   5 7 5 0 3 6 3 10
    """).ravel()
    v = np.array(list(product([0, 1], repeat=7)), dtype=float)[:, ::-1]
    terms = [each for size in (1, 2, 3) for each in combinations(range(7), size)]
    names = [":".join(f"v{k + 1}" for k in term) for term in terms]
    X = np.column_stack([v[:, term].prod(axis=1) for term in terms])
    found = asked(X, y=counts, model="poisson", feature_names=names)
    assert found.infinite == {
        "(intercept)": -np.inf,
        **dict.fromkeys(["v1", "v2", "v3", "v5"], np.inf),
        **dict.fromkeys(["v1:v2", "v1:v3", "v1:v5", "v2:v3", "v2:v5", "v3:v5"], -np.inf),
        **dict.fromkeys(["v1:v2:v3", "v1:v3:v5", "v2:v3:v5"], np.inf),
    }
    separated = np.flatnonzero(counts == 0).tolist()
    separated.remove(100)  # a zero that is not separated
    assert found.responsible_rows.tolist() == separated
    assert len(separated) == 16


def test_three_deaths_have_a_monotone_likelihood():
    # The first example of the R package coxphf, for Heinze and Schemper (2001), Biometrics 57.
    found = asked(np.c_[[1, 1, 0]], time=[1, 2, 3], event=[1, 1, 1], feature_names=["x"])
    assert found.coefficients == {"x": "+infinity"}


@pytest.mark.parametrize("ties", ["breslow", "efron", "exact"])
def test_a_cox_model_with_delayed_entry_has_an_estimate(ties):
    # The second example of coxphf.
    found = asked(
        np.c_[[1, 0, 0, 1, 0, 1, 1, 1, 0, 0]],
        entry=[1, 2, 5, 2, 1, 7, 3, 4, 8, 8],
        time=[2, 3, 6, 7, 8, 9, 9, 9, 14, 17],
        event=[1, 1, 1, 1, 1, 1, 1, 0, 0, 0],
        ties=ties,
    )
    assert found.unique


def test_a_league_has_an_estimate_until_its_last_team_never_wins():
    # Agresti (2002), section 10.6: wins in the eastern division of the American League, 1987.
    teams = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
    wins = table("""
    0 7 9 7  7 9 11
    6 0 7 5 11 9  9
    4 6 0 7  7 8 12
    6 8 6 0  6 7 10
    6 2 6 7  0 7 12
    4 4 5 6  6 0  6
    2 4 1 3  1 7  0
    """)
    assert (wins + wins.T == 13 * (1 - np.eye(7))).all()  # each pair played 13 games
    pairs = [(i, j) for i in range(7) for j in range(7) if i != j]

    def league(counts):
        return asked(
            np.zeros((len(pairs), 0)),
            winner=[f"{i} {teams[i]}" for i, _ in pairs],
            loser=[f"{j} {teams[j]}" for _, j in pairs],
            weights=[counts[pair] for pair in pairs],
        )

    assert league(wins).unique
    wins[6] = 0
    assert league(wins).infinite == {"6 Baltimore": -np.inf}  # Ford (1957)
