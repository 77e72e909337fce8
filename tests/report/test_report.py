"""A report is one page that needs nothing else, says what is true, and trusts no text it is given."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

import separatrix as sx
from separatrix.errors import InputError
from separatrix.markup import join, tag
from separatrix.report import figures, tables, words
from separatrix.report.findings import investigate
from separatrix.report.page import SCRIPT, render
from separatrix.result import PassRecord

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

IRIS = load_iris()
X, SPECIES = IRIS.data, IRIS.target_names[IRIS.target]
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Reader(HTMLParser):
    """Collects tags and text, and sees whether every tag is closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.attributes, self.words = [], [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def page(X, y, **options):
    return render(investigate(X, y, **options))


CASES = {
    "separable": (X[:100], SPECIES[:100]),
    "overlapping": (X[50:], SPECIES[50:]),
    "three classes": (X[::3], SPECIES[::3]),
    "two features": (X[:100, :2], SPECIES[:100]),
    "one feature": (X[:100, :1], SPECIES[:100]),
    "sparse": (sparse.csr_array(np.round(X[:100])), SPECIES[:100]),
    "four classes": (X[::3], np.char.add(SPECIES, np.where(X[:, 0] > 6, "+", ""))[::3]),
}


@pytest.mark.parametrize("case", CASES)
def test_the_page_is_whole_and_needs_no_network(case):
    found = page(*CASES[case])
    reader = Reader(found)
    assert not {"link", "img", "iframe", "object", "embed"} & set(reader.tags)
    assert re.findall("<script.*?</script>", found, re.DOTALL) == [f"<script>{SCRIPT}</script>"]
    linked = [value for name, value in reader.attributes if name in ("src", "href", "xlink:href", "action")]
    assert all(value.startswith("#") for value in linked)  # a mark that is drawn many times
    assert re.findall(r"url\(.", found) == ["url(#"] * found.count("url(")
    named = [value for name, value in reader.attributes if name == "id"]
    assert len(named) == len(set(named))
    assert "@import" not in found
    assert not re.search(r"\bon\w+=", found)
    assert reader.tags.count("figure") >= 3
    assert "NaN" not in found
    assert not re.search(r'"-?(nan|inf)', found)
    for part in ("The proof, in words", "The boundary", "Margins", "Hardest rows", "versions"):
        assert part in found, part


def test_a_report_shows_bounds_and_updates_only_of_a_perceptron():
    X_two, y_two = CASES["separable"]
    assert "What theory allows" in page(X_two, y_two, model=sx.Perceptron().fit(X_two, y_two))
    assert "What theory allows" not in page(X_two, y_two)


def test_the_page_says_the_verdict_the_proof_and_the_facts():
    X_two, y_two = CASES["overlapping"]
    findings = investigate(
        X_two, y_two, title="flowers.csv", names=IRIS.feature_names, facts=(("Kind", "csv"),)
    )
    found = render(findings)
    said = " ".join(Reader(found).words)
    assert words.headline(findings.verdict, regression=True) in said
    assert words.plain(findings.verdict) in said
    assert findings.verdict.certificate.sha256 in said
    assert "flowers.csv" in said
    assert sx.__version__ in said
    for row, weight in findings.verdict.witness_rows.items():
        assert str(row) in said
        assert tables.fraction(weight) in said


def test_text_from_the_data_is_only_text():
    hostile = "<script>alert('1')</script>\"'&"
    names = [hostile + str(k) for k in range(4)]
    labels = np.array([hostile, "other"])[(np.arange(100) >= 50).astype(int)]
    found = page(X[:100], labels, title=hostile, names=names, facts=((hostile, hostile),))
    reader = Reader(found)
    assert reader.tags.count("script") == 1
    assert hostile in "".join(reader.words)


TONES = {("separable", True): "caution", ("separable", False): "good"}
TONES |= {("overlapping", True): "good", ("overlapping", False): "caution"}


@pytest.mark.parametrize(("case", "regression"), TONES)
def test_the_color_says_what_the_answer_means_for_whoever_asked(case, regression):
    X_two, y_two = CASES[case]
    model = None if regression else sx.Perceptron().fit(X_two, y_two)
    assert f'class="verdict {TONES[case, regression]}"' in page(X_two, y_two, model=model)


def test_one_action_comes_before_the_details_and_only_for_a_regression():
    X_two, y_two = CASES["separable"]
    before, details = page(X_two, y_two).split("<details")
    assert before.count('class="way"') == 1
    assert details.count('class="way"') >= 2
    assert (
        'class="way"' not in page(X_two, y_two, model=sx.Perceptron().fit(X_two, y_two)).split("<details")[0]
    )


def test_light_dark_phone_and_print_have_their_styles():
    found = page(*CASES["separable"])
    for rule in ("prefers-color-scheme:dark", "max-width:560px", "@media print", 'name="viewport"'):
        assert rule in found


def test_every_color_of_a_picture_follows_light_and_dark():
    for case in ("overlapping", "two features", "three classes"):
        view = figures.View(investigate(*CASES[case]))
        history = figures.bracket(records((-1.0, 4.0), (0.5, 2.0)))
        for figure in (figures.boundary(view), figures.margins(view), figures.weights(view), history):
            assert not re.findall("#[0-9a-f]{6}", figure)
            assert "var(--ink)" in figure


def test_a_name_that_looks_like_a_color_or_a_formula_stays_as_it_is():
    names = ["#0072b2", "$x$", 'style="fill: #0072b2"', "<b>"]
    said = "".join(Reader(page(*CASES["separable"], names=names)).words)
    for name in names:
        assert said.count(name) >= 2, name  # in the table and beside its weight


def test_pictures_show_any_model():
    two = investigate(*CASES["overlapping"], model=sx.KernelPerceptron(max_iter=3).fit(*CASES["overlapping"]))
    assert "The boundary" in render(two)
    voted = sx.Perceptron(average="voted", random_state=0).fit(*CASES["separable"])
    view = figures.View(investigate(*CASES["separable"], model=voted))
    assert view.model.weights is None
    assert figures.weights(view) is None


def test_distances_are_those_of_geometry():
    model = sx.MaxMargin().fit(*CASES["separable"])
    view = figures.View(investigate(*CASES["separable"], model=model))
    signs = np.where(CASES["separable"][1] == model.classes_[1], 1.0, -1.0)
    expected = signs * sx.geometry.distance(CASES["separable"][0], model.coef_[0], model.intercept_[0])
    np.testing.assert_allclose(view.leads, expected, rtol=1e-9)
    assert view.band == pytest.approx(model.margin_lower_, rel=1e-6)


def test_a_failed_report_leaves_the_old_one(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="class"):
        sx.write_report(path, [[1.0], [2.0]], ["a", "a"])
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_few_values_are_counted_and_many_ranged():
    some = np.array([0.0, 1.0, 1.0])
    assert tables.describe(some, some) == "0 (1), 1 (2)"
    many = np.arange(10.0)
    assert tables.describe(many[3:], many) == "3 to 9"
    assert tables.describe(many[:0], many) == "no rows"


def test_identical_rows_are_shown_by_what_they_hold():
    rows = np.zeros((4, 20))
    rows[1, 3], rows[2:, 17] = 1.0, 5.0
    found = investigate(rows, [0, 1, 0, 1])
    table = tables.witness_table(found.verdict, found.data)
    assert table.columns[3:] == (">x17",)
    assert {row[3] for row in table.rows} == {"5"}


@pytest.mark.parametrize(
    ("tied", "said"), [(2, "Almost: "), (20, "Almost: "), (22, "In part: 20 of 42 rows ")]
)
def test_almost_is_said_only_where_most_rows_are_separated(tied, said):
    X = np.concatenate([np.arange(-10, 0), np.zeros(tied), np.arange(1, 11)])[:, None]
    y = np.concatenate([np.zeros(10), np.arange(tied) % 2, np.ones(10)])
    assert words.answer(sx.separability(X, y)).partition(". ")[2].startswith(said)


def test_markup_is_escaped_once_and_only_where_it_is_text():
    inner = tag("b", "<&\"'>")
    assert inner == "<b>&lt;&amp;&quot;&#x27;&gt;</b>"
    assert tag("p", inner, "<", title='"') == f'<p title="&quot;">{inner}&lt;</p>'
    assert join(["<", inner]) == f"&lt;{inner}"


def records(*bounds):
    return tuple(PassRecord(1, None, lower, upper) for lower, upper in bounds)


def test_the_bracket_of_a_report_never_widens():
    """The bounds of a reading may be worse than those before it; the best so far are drawn."""
    history = records((-1.0, 4.0), (0.5, 2.0), (0.25, 3.0), (0.125, 2.5))
    figure = figures.bracket(history)
    assert "at most 2," in figure
    assert "at least 0.5," in figure


def test_updates_of_the_run_and_of_the_weights_are_shown_apart():
    """The pocket keeps earlier weights than the last: the two counts have names of their own."""
    found = investigate(*CASES["overlapping"], model=sx.Perceptron(max_iter=100).fit(*CASES["overlapping"]))
    made, kept = found.run.mistakes, found.run.kept_mistakes
    assert kept == found.model.mistake_counts_.sum() < made
    said = " ".join(Reader(render(found)).words)
    assert f"{made:,} updates" in said
    assert f"{kept:,} updates before the best weights" in said
    assert f"{kept:,} updates led to the weights" in said


def test_a_verdict_on_a_kernels_images_is_not_taken_for_one_on_the_rows():
    corners, labels = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
    exact = sx.separability(corners, labels, kernel=sx.kernels.Polynomial(2))
    found = investigate(corners, labels, verdict=exact)
    assert exact.separable
    assert isinstance(found.model, sx.SoftMargin)
    assert "monomials that span the feature space" in words.proof(exact)[-1]
    margin = sx.separability(corners, labels, kernel="rbf")
    assert margin.certificate is None
    assert margin.reason in words.proof(margin)[0]
    assert "no certificate" in render(investigate(corners, labels, verdict=margin))


def test_a_part_that_is_undecided_is_not_said_to_be_proved():
    rng = np.random.default_rng(0)
    rows, labels = rng.standard_normal((3000, 20)), rng.integers(0, 5, 3000)
    verdict = sx.separability(rows, labels, multiclass="pairwise", time_limit=1e-9)
    assert verdict.status == "undecided"
    assert "Each one that is decided" in words.proof(verdict)[0]


XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])


def test_a_report_of_a_kernel_model_is_about_its_feature_space():
    X, y = XOR
    model = sx.KernelPerceptron(kernel=sx.kernels.Polynomial(2)).fit(X, y)
    text = page(X, y, model=model)
    head = text[text.index("<header") : text.index("</header>")]
    curved = "in the feature space of (1 + &lt;x, x&#x27;&gt;)^2."
    assert f"Yes: the classes can be separated with an intercept {curved}" in head
    assert "KernelPerceptron classifies all 4 rows correctly." in head
    assert f"<b>{model.mistakes_:,}</b><span>updates</span>" in text
    assert curved in page(X, y, kernel=sx.kernels.Polynomial(2))


def test_a_report_is_written_of_a_formula_or_a_pipeline(tmp_path):
    import pandas as pd
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    path = tmp_path / "report.html"
    frame = pd.DataFrame({"dose": [1.0, 2.0, 3.0, 4.0, None], "ill": ["no", "no", "yes", "yes", "no"]})
    sx.write_report(path, "ill ~ dose", data=frame)
    text = path.read_text("utf-8")
    assert "Complete separation: there is no finite estimate" in text
    assert "ill ~ dose" in text
    assert "1 (missing values)" in text

    rows = frame[["dose"]][:4]
    pipeline = make_pipeline(StandardScaler(), sx.Perceptron()).fit(rows, frame["ill"][:4])
    sx.write_report(path, rows, frame["ill"][:4], model=pipeline)
    text = path.read_text("utf-8")
    assert "All values are those after StandardScaler." in text
    assert "-1.34164 (1), -0.447214 (1)" in text
    assert "dose" in text


@pytest.mark.parametrize("rows", ["y ~ x", XOR[0]], ids=["a formula without a frame", "no labels"])
def test_what_no_report_can_be_written_of_is_refused(tmp_path, rows):
    path = tmp_path / "report.html"
    with pytest.raises(InputError, match="write_report"):
        sx.write_report(path, rows)
    assert not path.exists()


def test_margins_on_the_page_say_which_they_are_and_one_feature_is_one():
    assert "best margin (lifted), proved" in page(*XOR)
    assert "<b>1</b><span>feature</span>" in page([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


def test_rows_on_the_wrong_side_have_a_mark_that_no_class_has():
    text = page([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    assert "Crosses mark rows on the wrong side or on the boundary." in text


def test_tables_show_that_they_scroll_and_can_be_reached_by_the_keyboard():
    text = page([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert 'class="scroll" tabindex="0"' in text
    assert "var(--shade)" in text


def test_a_picture_in_a_notebook_is_one_short_line():
    X, y = sx.datasets.make_separable(40, margin=0.1, random_state=0)
    model = sx.Perceptron(order="cyclic", trace=True).fit(X, y)
    pictures = (
        sx.plot.RunDisplay.from_estimator(model, X, y),
        sx.plot.BracketDisplay.from_estimator(model),
        sx.plot.DecisionRegionDisplay.from_estimator(model, X, y),
        sx.plot.HullDisplay.from_data(X, y),
    )
    for picture in pictures:
        assert type(picture).__name__ in repr(picture)
        assert "\n" not in repr(picture)
        assert len(repr(picture)) < 120
