"""Separation as statisticians ask about it: formulas, and the coefficients that have no finite estimate."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import linprog

from separatrix.errors import InputError, SeparationWarning
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


def signs(X, y, lift):
    """For each independent column (the ones first), the signs that separating directions give it."""
    rows = np.column_stack([np.ones(len(X)), X]) if lift else np.asarray(X, dtype=float)
    kept = []
    for j in range(rows.shape[1]):
        if np.linalg.matrix_rank(rows[:, [*kept, j]]) > len(kept):
            kept.append(j)
    signed = np.where(np.asarray(y) == 1, 1.0, -1.0)[:, None] * rows[:, kept]
    found = {}
    for k, j in enumerate(kept):
        ends = [
            linprog(c, A_ub=-signed, b_ub=np.zeros(len(signed)), bounds=[(-1, 1)] * len(kept)).fun
            for c in (np.eye(len(kept))[k], -np.eye(len(kept))[k])
        ]
        found[j] = {sign for sign, end in zip((-1, 1), ends, strict=True) if end < -1e-7}
    return found


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("formula", ["x + g", "g * h", "x * h", "0 + x + z", "g + h - 1", "x + z + I(x + z)"])
def test_infinite_coefficients_are_those_of_a_linear_program_each(formula, seed):
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
    truth = signs(right.drop(columns="Intercept") if lift else right, frame.y, lift)
    found = asked(f"y ~ {formula}", frame).responsible_features
    assert set(found) == {names[j] for j, possible in truth.items() if possible}
    for j, possible in truth.items():
        if len(possible) == 1:
            assert found[names[j]] == possible.pop() * np.inf


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
    assert asked("ill ~ dose").question == "yes against no, with intercept"
    assert asked("C(n) ~ dose").question == "1 against 0, with intercept"


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("~ dose", "no left side"),
        ("n ~ dose | sex", "no left side, or several"),
        ("n + ill ~ dose", "2 terms"),
        ("n ~ age", "`age`"),
        ("n ~ frame", "`frame`"),
        ("n ~ dose +", "cannot be used"),
        ("n ~ dose + offset(n)", "leave it out"),
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
    assert "completely separated (a against the rest, with intercept)" in str(caught[0].message)
