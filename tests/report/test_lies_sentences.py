"""Sentences about separability name the classes and the condition, and claim only what is proved."""

from __future__ import annotations

import itertools
import json
import pathlib
import re
import shlex
import warnings
from fractions import Fraction

import jsonschema
import naive
import naive_exact
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix.errors import InputError, NotSeparable, SeparationWarning
from separatrix.files.table import open_table
from separatrix.kernels import Polynomial
from separatrix.report import words
from separatrix.report.findings import investigate
from separatrix.report.page import render
from separatrix.result import ROUND_FLOOR, margin_text, rounded
from tests import run as commands

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

HOW = {True: "with an intercept", False: "through the origin"}
# Separable with an intercept, not through the origin.
ONE_SIDE = [[1.0], [2.0]], [0, 1]


def run(*arguments):
    return commands.run(*arguments, columns=500)


def text_of(page):
    bare = re.sub(r"<(style|svg).*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", bare))


# One condition on a page


@pytest.mark.parametrize("command", [("check",), ("fit",), ("fit", "--model", "soft-margin")])
def test_a_report_without_an_intercept_speaks_of_models_without_one(tmp_path, command):
    data, report = tmp_path / "o.csv", tmp_path / "o.html"
    data.write_text("a,y\n1,0\n2,1\n")
    done = run(*command, data, "-t", "y", "--no-intercept", "--report", report)
    assert done.exit_code == 0, done.output
    said = text_of(report.read_text("utf-8"))
    assert "No: the classes cannot be separated through the origin." in said
    assert "with an intercept" not in said
    assert "A logistic regression without an intercept has a finite" in said
    assert not re.search(r"(?<!\d)0 rows its weights get wrong", said)


@pytest.mark.parametrize("lift", [True, False])
@pytest.mark.parametrize("kernel", [None, Polynomial(degree=2)])
def test_all_that_a_report_fits_by_itself_has_the_intercept_of_the_verdict(lift, kernel):
    X, y = [[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [5.0, 3.0]], [0, 0, 1, 1]
    verdict = sx.separability(X, y, kernel=kernel, fit_intercept=lift)
    found = investigate(X, y, verdict=verdict, kernel=kernel)
    assert found.verdict is verdict
    assert bool(found.model.fit_intercept) == lift
    assert render(found).count(HOW[not lift]) == 0


@pytest.mark.parametrize("lift", [True, False])
def test_a_report_of_a_model_asks_with_that_models_intercept(lift):
    model = sx.Perceptron(fit_intercept=lift).fit(*ONE_SIDE)
    assert investigate(*ONE_SIDE, model=model).verdict.lift == lift


@pytest.mark.parametrize("estimator", [sx.MaxMargin, sx.LinearProgram])
def test_who_refuses_to_fit_names_the_condition(estimator):
    with pytest.raises(NotSeparable, match=r"^The classes cannot be separated through the origin: 2 rows"):
        estimator(fit_intercept=False).fit(*ONE_SIDE)
    X, y = [[0.0], [0.0], [1.0], [2.0]], ["a", "b", "c", "c"]
    with pytest.raises(
        NotSeparable, match=r"^The 3 classes cannot be separated at once with an intercept: 2"
    ):
        estimator(fit_intercept="lifted").fit(X, y)


def test_a_run_that_comes_back_names_the_condition():
    with pytest.warns(match=r"No weights of this model separate.*\(X, y, fit_intercept=False\) for a cert"):
        sx.Perceptron(fit_intercept=False).fit(*ONE_SIDE)


# What a kernel's margin is not

FAR = [[1e9], [1e9], [999999997.0], [1000000004.0]], [1, 1, 0, 1]


@pytest.mark.parametrize("intercept", ["lifted", True, False])
def test_a_kernel_margin_that_floats_do_not_resolve_is_not_claimed_to_be_zero(intercept):
    X, y = FAR
    with pytest.raises(InputError, match="can be separated") as caught:
        sx.MaxMargin(kernel=Polynomial(degree=3, c=2), fit_intercept=intercept).fit(X, y)
    assert not isinstance(caught.value, NotSeparable)
    claimed = re.search(r"no margin is above (\S+)\.", str(caught.value))
    square = naive_exact.margin_square_of(cubes(X, lifted=intercept == "lifted"), y, intercept is True)
    assert square > 0
    assert claimed is None or square <= Fraction(claimed[1]) ** 2


def cubes(X, *, lifted):
    """The Gram matrix of (2 + <x, x'>)^3 in rationals."""
    rows = [naive_exact.rational(x[0]) for x in X]
    return [[(2 + p * q) ** 3 + lifted for q in rows] for p in rows]


# Warnings of separation


def warned(X, y, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SeparationWarning)
        verdict = sx.check_separation(X, y, **options)
    return verdict, [str(each.message) for each in caught]


def test_no_variables_are_called_named_where_none_are():
    verdict, (said,) = warned([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]], [0, 1, 0], kernel="rbf")
    assert verdict.responsible_features == {}
    assert "named" not in said
    assert "in the feature space of" in said


def test_without_the_variables_named_nothing_is_separated():
    rng = np.random.default_rng(0)
    told = 0
    for _ in range(60):
        X = rng.integers(-1, 2, (8, 3)).astype(float)
        y = np.r_[0, 1, rng.integers(0, 2, 6)]
        if np.linalg.matrix_rank(np.column_stack([X, np.ones(8)])) < 4:
            continue
        verdict, said = warned(X, y)
        if not said:
            continue
        assert "only if it does not belong in the model" in said[0]
        named = {int(name[1:]) for name in verdict.responsible_features if name.startswith("x")}
        left = [j for j in range(3) if j not in named]
        told += 1
        if left:
            assert sx.separability(X[:, left], y).status == "overlapping"
    assert told > 10


def test_columns_that_depend_on_each_other_are_said_first():
    rng = np.random.default_rng(1)
    X = rng.integers(-1, 2, (8, 3)).astype(float)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    said = warned(X, np.r_[0, 1, rng.integers(0, 2, 6)])[1]
    assert said[0].startswith("Columns are linear combinations of others: x0, x1, x3 are not identified.")
    assert "until none is a linear combination of the others" in said[0]


# Laws of all sentences


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(2, 7),
    columns=st.integers(1, 2),
    classes=st.integers(2, 3),
    lift=st.booleans(),
    multiclass=st.sampled_from(["joint", "one-vs-rest", "pairwise"]),
)
def test_the_claim_is_true_of_the_classes_and_the_condition_that_it_names(
    seed, rows, columns, classes, lift, multiclass
):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(classes), rng.integers(0, classes, max(0, rows - classes))]
    X = rng.integers(-1, 2, (y.size, columns))
    verdict = sx.separability(X, y, fit_intercept=lift, multiclass=multiclass)
    assert claimed(verdict.claim, lift) is truly(X, y, lift, multiclass if classes > 2 else "binary")
    for part in (verdict, *verdict.parts.values()):
        said = [part.question, words.answer(part), *words.proof(part), part.meaning, words.consequence(part)]
        assert HOW[not lift] not in " ".join(said)
        assert HOW[lift] in part.question
        assert HOW[lift] in words.answer(part)
        assert HOW[lift] in part.meaning


def claimed(clause, lift):
    """What a clause says: True or False; it must name the condition."""
    assert clause.endswith(HOW[lift])
    if clause.startswith("not every"):
        return False
    return "cannot be" not in clause


def truly(X, y, lift, question):
    """The answer in rationals, by the brute force of `naive.separation`."""
    classes = np.unique(y)
    if question == "one-vs-rest":
        return all(separable(X, (y == each).astype(int), lift) for each in classes)
    if question == "pairwise":
        pairs = [np.isin(y, pair) for pair in itertools.combinations(classes, 2)]
        return all(separable(X[some], y[some], lift) for some in pairs)
    return separable(X, y, lift)


def separable(X, y, lift):
    return naive.separation(naive.exact_signed_rows(X.tolist(), y.tolist(), lift=lift)) == "separable"


@given(
    value=st.floats(1e-300, 1e300),
    other=st.floats(1e-300, 1e300),
    digits=st.integers(2, 9),
)
def test_a_bracket_in_words_contains_the_bracket_in_numbers(value, other, digits):
    lower, upper = sorted((value, other))
    assert Fraction(rounded(lower, ROUND_FLOOR, digits)) <= lower
    assert Fraction(rounded(upper, digits=digits)) >= upper
    said = margin_text(lower, upper, digits)
    found = re.fullmatch(r"between (\S+) and (\S+)", said)
    if found is None:
        assert said == f"{lower:.{digits}g}" == f"{upper:.{digits}g}"
    else:
        assert Fraction(found[1]) <= lower <= upper <= Fraction(found[2])


# What a certificate is about

TABLE = "a,b,c,kind,label\n1,1,5,x,0\n2,5,5,y,0\n3,3,6,x,0\n10,1,5,y,1\n11,5,6,x,1\n12,3,5,y,1\n"


def verified(tmp_path, text, *options, name="s.csv"):
    """The answer of `verify` in words and as JSON, for what `check` wrote with some options."""
    data, proof = tmp_path / name, tmp_path / "proof.json"
    data.write_text(text)
    done = run("check", data, "-t", "label", *options, "--certificate", proof, "--json")
    assert done.exit_code == 0, done.output
    command = shlex.split(json.loads(done.stdout)["verify"])[1:]
    said, found = run(*command), run(*command, "--json")
    assert said.exit_code == found.exit_code == 0, said.output
    return " ".join(said.stdout.split()), json.loads(found.stdout)


def test_a_certificate_that_leaves_a_column_out_says_so(tmp_path):
    said, found = verified(tmp_path, TABLE, "--features", "b")
    assert "overlapping (1 against 0, with an intercept)" in said
    assert "This is not the plain reading of" in said
    assert "Left out: a, c, kind." in said
    assert (found["plain"], found["left_out"]) == (False, ["a", "c", "kind"])
    assert found["data"]["columns"] == {"b": "number"}
    assert (found["data"]["target"], found["target_from"]) == ("label", "certificate")


READINGS = {
    "plain": ((), ""),
    "exclude": (("--exclude", "a"), "Left out: a."),
    "where": (("--where", "a > 1"), "It was read with --where 'a > 1'."),
    "missing": (("--missing", "drop"), "It was read with --missing drop."),
    "codes": (("--na", "12", "--missing", "drop"), "Also missing: 12."),
    "text": (("--text", "c"), "c is read as text (5, 6), not as numbers."),
    "query": (("--sql", "SELECT a, label FROM data"), "It was read with --sql 'SELECT a, label FROM data'."),
}


@pytest.mark.parametrize("name", READINGS)
def test_only_the_plain_reading_is_called_plain(tmp_path, name):
    options, told = READINGS[name]
    said, found = verified(tmp_path, TABLE, *options)
    assert found["plain"] is (not options)
    assert ("This is the plain reading" in said) is (not options)
    assert told in said
    assert told in " ".join(found["differences"])
    for column in found["data"]["columns"]:
        assert re.search(rf"columns .*\b{column}\b", said)


def test_numbers_that_are_read_in_another_way_are_told(tmp_path):
    text = "a;label\n1.000;0\n2.000;0\n3.000;1\n"
    assert verified(tmp_path, text)[1]["plain"] is True
    said, found = verified(tmp_path, text, "--thousands", ".")
    assert "a is read as numbers with decimal comma, thousands point, not as numbers." in said
    assert found["plain"] is False


def test_rows_that_were_dropped_are_counted(tmp_path):
    said, found = verified(tmp_path, TABLE.replace("12,3", "12,"), "--missing", "drop")
    assert "1 of 6 rows were left out because they lack a value: b (1)." in said
    assert (found["plain"], found["data"]["rows"]) == (False, 5)


def test_a_file_that_is_refused_without_options_is_told(tmp_path):
    said, found = verified(tmp_path, "a;label\n1,234;0\n2,345;1\n", "--decimal", ",")
    assert "Without these options, the file is refused:" in said
    assert found["plain"] is False


def test_columns_beyond_those_of_the_certificate_are_told(tmp_path):
    short, long, proof = tmp_path / "short.svm", tmp_path / "long.svm", tmp_path / "proof.json"
    short.write_text("0 1:1\n1 1:1\n0 1:2\n1 1:2\n")
    long.write_text("0 1:1 2:1\n1 1:1 2:5\n0 1:2 2:1\n1 1:2 2:5\n")
    assert run("check", short, "--certificate", proof).exit_code == 0
    said = " ".join(run("verify", proof, long).stdout.split())
    assert "The certificate holds." in said  # of the first column
    assert "It has 1 columns, counted from 1, not 2 columns, counted from 1." in said
    assert json.loads(run("verify", proof, long, "--json").stdout)["plain"] is False


def test_rows_that_the_certificate_leaves_out_are_told(tmp_path):
    data, proof = tmp_path / "s.csv", tmp_path / "proof.json"
    data.write_text("a,label\n1,0\n2,0\n3,1\n0,1\n")
    X, y = np.array([[1.0], [2.0], [3.0], [0.0]]), np.array([0, 0, 1, 1])
    found = sx.separability(X, y, sample_weight=[1, 1, 1, 0]).certificate
    columns = {"target": "label", "encoding": open_table(data, target="label").encoding.as_dict()}
    proof.write_text(json.dumps({**found.to_dict(), "columns": columns}))
    said = run("verify", proof, data).stdout
    assert "The certificate holds." in said
    assert "This is not the plain reading" in said
    assert "leaves out 1 of 4 rows" in said


def test_what_verify_writes_has_its_schema(tmp_path):
    schema = json.loads((pathlib.Path(sx.__file__).parent / "cli" / "schema.json").read_text("utf-8"))
    for options, _ in READINGS.values():
        jsonschema.validate(verified(tmp_path, TABLE, *options)[1], schema)


# What estimators say


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(2, 8),
    columns=st.integers(1, 2),
    classes=st.integers(2, 3),
    lift=st.booleans(),
    kind=st.sampled_from(["perceptron", "averaged", "max-margin", "linear-program"]),
)
def test_what_an_estimator_says_of_rows_margins_and_separability_is_true(
    seed, rows, columns, classes, lift, kind
):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(classes), rng.integers(0, classes, max(0, rows - classes))]
    X = rng.integers(-2, 3, (y.size, columns)).astype(float)
    model, intercept = fitted_by(kind, lift)
    said = told_by(model, X, y)
    truth = separable(X, y, lift)
    who = "The classes" if classes == 2 else "The 3 classes"
    at_once = "" if classes == 2 else " at once"
    for sentence in re.split(r"(?<=[.:;]) ", said):
        found = re.match(r"The (\d )?classes (can|cannot) be separated", sentence)
        if found:
            assert sentence.startswith(f"{who} {found[2]} be separated{at_once} {HOW[lift]}")
            assert truth is (found[2] == "can")
    square = naive_exact.margin_square(X.tolist(), y.tolist(), intercept, classes)
    for bound in re.findall(r"no margin is (?:larger than|above) ([\d.e+-]+\d)", said):
        assert square <= Fraction(bound) ** 2 + Fraction(1, 10**18)
    counted = re.search(r" weights have (\d+) of (\d+) rows on the wrong side or on the boundary", said)
    if counted and kind == "perceptron":
        assert (int(counted[1]), int(counted[2])) == (wrong_or_tied(model, X, y), y.size)
    assert said or truth


def fitted_by(kind, lift):
    if kind in ("perceptron", "averaged"):
        average = "averaged" if kind == "averaged" else False
        return sx.Perceptron(fit_intercept=lift, max_iter=20, average=average), "lifted" if lift else False
    estimator = sx.MaxMargin if kind == "max-margin" else sx.LinearProgram
    return estimator(fit_intercept="lifted" if lift else False), "lifted" if lift else False


def told_by(model, X, y):
    """All that a fit says: its error, or its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(X, y)
        except InputError as error:
            return str(error)
    return " ".join(str(each.message) for each in caught)


def wrong_or_tied(model, X, y):
    outputs = X @ model.coef_.T + model.intercept_
    if outputs.shape[1] == 1:
        return int(np.count_nonzero((2 * y - 1) * outputs[:, 0] <= 0.0))
    own = outputs[np.arange(y.size), y]
    outputs[np.arange(y.size), y] = -np.inf
    return int(np.count_nonzero(own <= outputs.max(axis=1)))


def test_a_page_and_a_verdict_of_a_kernel_without_an_intercept_name_no_intercept():
    verdict = sx.separability([[1.0], [2.0], [4.0]], [0, 1, 0], kernel=Polynomial(2), fit_intercept=False)
    assert "(constant)" in verdict.responsible_features
    assert "intercept" not in verdict.summary()


@pytest.mark.parametrize(("kernel", "monomials"), [(Polynomial(2), "the 3 "), (Polynomial(2, c=0), "the 1 ")])
def test_the_monomials_of_a_kernel_are_counted_apart_from_the_intercept(kernel, monomials):
    verdict = sx.separability([[1.0], [2.0], [4.0]], [0, 1, 0], kernel=kernel)
    assert f"exact arithmetic on {monomials}monomial" in verdict.reason
    assert ("on the intercept" in verdict.reason) is (monomials == "the 1 ")


def test_undecided_parts_are_not_called_separable():
    X, y = [[0.0], [1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 2]
    verdict = sx.separability(X, y, multiclass="pairwise", time_limit=1e-9)
    if verdict.separable is None:
        assert verdict.hardest == "All parts are undecided."
