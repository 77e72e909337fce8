"""Every line of the migration tables runs, and what is called the same is the same."""

from __future__ import annotations

import pathlib
import re
import warnings

import numpy as np
import pytest
from sklearn import linear_model as peers
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.svm import SVC, LinearSVC

import separatrix as sx
from separatrix.datasets import make_overlapping, make_separable

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "migration.md"
PA = getattr(peers, "PassiveAggressiveClassifier", None)  # removed from scikit-learn 1.10
PROBLEM = make_overlapping(50, 3, random_state=0)
X, Y = PROBLEM.X, (PROBLEM.y == PROBLEM.y.max()).astype(int)


def lines():
    """The code of both columns, line by line."""
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 3 and cells[0].startswith("`"):
            yield tuple(re.match(r"`(.*?)`", cell)[1].replace(r"\|", "|") for cell in cells[:2])


def run(code):
    names = {
        "sx": sx, "X": X, "y": Y, "Perceptron": Perceptron, "SGDClassifier": SGDClassifier, "SVC": SVC,
        "LinearSVC": LinearSVC, "PassiveAggressiveClassifier": PA,
        "CalibratedClassifierCV": CalibratedClassifierCV,
    }  # fmt: skip
    if "river" in code or "linear_model" in code:
        from river import linear_model, preprocessing

        names |= {"linear_model": linear_model, "preprocessing": preprocessing}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = eval(code, names)
        if hasattr(made, "learn_one"):
            for row, label in zip(X.tolist(), Y.tolist(), strict=True):
                made.learn_one(dict(enumerate(row)), label)
        elif hasattr(made, "fit"):
            if isinstance(made, SVC):
                made.set_params(max_iter=10_000)  # with C near infinity it takes minutes on such rows
            made.fit(X @ X.T if "precomputed" in code else X, Y)
    return made


def commands():
    return [here for _, here in lines() if here.startswith("separatrix ")]


@pytest.mark.parametrize("code", sorted({here for _, here in lines()} - set(commands())))
def test_every_line_of_ours_runs(code):
    run(code)


def test_every_command_of_ours_runs(tmp_path, monkeypatch):
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from separatrix.cli.app import app

    monkeypatch.chdir(tmp_path)
    dump_svmlight_file(X, 2 * Y - 1, "rows.svm", zero_based=False)
    np.savetxt("rows.csv", np.column_stack([X, Y]), delimiter=",", header="a,b,c,y", comments="")
    assert len(commands()) == 8
    for line in commands():
        done = CliRunner().invoke(app, line.split()[1:])
        assert done.exit_code == 0, (line, done.output)


PYTHON = re.compile(r"Perceptron|SGD|PassiveAggressive|LinearSVC|SVC|linear_|prepro")


@pytest.mark.parametrize("code", sorted({there for there, _ in lines() if PYTHON.match(there)}))
def test_every_line_of_others_that_is_python_runs(code):
    if PA is None and "PassiveAggressive" in code:
        pytest.skip("this version of scikit-learn has no PassiveAggressiveClassifier")
    run(code)


def test_the_tables_are_read_whole():
    assert len(list(lines())) == PAGE.read_text("utf-8").count("\n| `") > 25


@pytest.mark.parametrize("seed", range(5))
def test_passes_in_order_make_the_mistakes_of_scikit_learns_perceptron(seed):
    problem = make_separable(80, 3, margin=0.1, random_state=seed)
    peer = Perceptron(max_iter=3000, tol=None, shuffle=False).fit(problem.X, problem.y)
    own = sx.Perceptron(max_iter=3000, order="cyclic").fit(problem.X, problem.y)
    assert own.converged_  # then neither moves any more
    assert np.allclose(own.coef_, peer.coef_)
    assert np.allclose(own.intercept_, peer.intercept_)


def test_the_soft_margin_has_the_objective_of_sgd_at_most():
    peer = SGDClassifier(loss="hinge", alpha=0.01, max_iter=300, tol=None, random_state=0).fit(X, Y)
    own = sx.SoftMargin(C=1 / (0.01 * len(Y)), fit_intercept=True).fit(X, Y)
    losses = np.maximum(0.0, 1.0 - (2.0 * Y - 1.0) * peer.decision_function(X)).sum()
    objective = 0.5 * float((peer.coef_**2).sum()) + losses / (0.01 * len(Y))
    assert own.dual_objective_ <= objective
    assert own.objective_ <= objective * (1 + 1e-6)


@pytest.mark.skipif(PA is None, reason="this version of scikit-learn has no PassiveAggressiveClassifier")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("loss", "variant"), [("hinge", "PA-I"), ("squared_hinge", "PA-II")])
def test_a_pass_through_the_origin_has_the_weights_of_scikit_learns_passive_aggressive(loss, variant):
    options = {"fit_intercept": False, "max_iter": 1}
    peer = PA(C=0.3, loss=loss, shuffle=False, tol=None, **options).fit(X, Y)
    own = sx.PassiveAggressive(C=0.3, variant=variant, order="cyclic", **options).fit(X, Y)
    assert np.allclose(own.coef_, peer.coef_, rtol=1e-9)
