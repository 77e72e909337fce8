"""``separatrix fit``: learn a separator and say what was learned."""

from __future__ import annotations

import csv
import io
import math
import time
import warnings
from dataclasses import dataclass
from inspect import signature
from typing import Annotated, Any

import typer

from .. import options
from ..advice import in_options
from ..console import document, facts, heading, say, show, show_table, waiting, write_json

# The estimator of each model, and what the name says of its parameters.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "perceptron": ("Perceptron", {}),
    "averaged": ("Perceptron", {"average": "averaged"}),
    "kernel": ("KernelPerceptron", {}),
    "max-margin": ("MaxMargin", {}),
    "soft-margin": ("SoftMargin", {}),
    "linear-program": ("LinearProgram", {}),
    "passive-aggressive": ("PassiveAggressive", {}),
    "winnow": ("Winnow", {}),
    "network": ("PerceptronNetwork", {}),
}


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model, the rows that it was trained on, and what is known about it."""

    estimator: Any
    rows: Any
    X: Any
    y: Any
    seconds: float
    wrong: int
    scores: list[dict[str, Any]]  # shares of rows that were classified correctly, and how they were measured
    bounds: Any

    @property
    def model(self) -> Any:
        """The classifier, without the scaler."""
        return last(self.estimator)


def fit(
    source: options.Reading,
    *,
    model: str = "perceptron",
    settings: Annotated[options.Settings, {name: path for name, (path, _) in MODELS.items()}],
    output: str | None = None,
    intercept: bool = True,
    scale: bool = False,
    trace: str | None = None,
    seed: Annotated[int, {"min": 0}] = 0,
    holdout: float | None = None,
    folds: Annotated[int | None, {"min": 2}] = None,
    bounds: bool | None = None,
    report: str | None = None,
    json: bool = False,
) -> None:
    """Learn a separator. Prints whether it separates, how many mistakes it made, and how many theory allows.

    The saved model is trained on all rows. With --holdout or --folds, scores come from models that were not
    trained on the rows they are scored on. For one pass over data of any size, in little memory, see:
    separatrix learn

    For example:

        separatrix fit mushrooms.svm -o model.skops

        separatrix fit german.csv --target class --model soft-margin --scale --folds 5 -o model.skops

        separatrix fit spam.parquet --target spam --model averaged --holdout 0.2 --json

        separatrix fit small.csv --target y --order cyclic --start 0,0,1 --trace updates.csv

    Options
    -------
    model, -m MODEL: What to learn: perceptron, averaged, kernel, max-margin, soft-margin, linear-program,
        passive-aggressive, winnow, network.
    scale, --no-scale: Bring all columns to the same scale first; the model remembers how.
    trace FILE: Perceptrons: write every update to a CSV file.
    form primal|dual: Linear program: which of the two programs is solved.
    C: Soft margin: what a unit of hinge loss costs. Passive-aggressive: how large a step may be. Default: 1.
    eta0, --learning-rate: Perceptrons and Winnow: the learning rate, which scales every update.
    variant PA|PA-I|PA-II: Passive-aggressive: the rule for the size of a step.
    tol: Passive-aggressive: stop if the mean loss of five passes in a row is not lower by this number.
    max_units: Network: the maximum number of half-spaces.
    validation_fraction SHARE: Network: keep back this share of the rows to choose the number of half-spaces.
    gap: Margins: the largest relative difference between the two proved bounds.
    budget: Kernel perceptron: the maximum number of rows that it keeps.
    dtype float64|float32: Kernel perceptron: the type of the numbers when many rows are predicted.
    inseparable raise|warn: Largest margin and linear program: refuse classes that cannot be separated, or fit
        the soft margin with C = 1 instead. Network: refuse equal rows of different classes, or learn their
        most frequent class.
    holdout SHARE: Also score on this share of the rows, such as 0.2, which is kept back.
    folds N: Also score by cross-validation with N folds.
    bounds: Perceptrons, passive-aggressive and Winnow: compare the run with the mistake bounds of theory.
        Default: yes, if the data have at most a million numbers.
    """
    if holdout is not None and not 0.0 < holdout < 1.0:
        raise typer.BadParameter(
            f"--holdout is a share of the rows between 0 and 1. Got {holdout:g} instead."
        )
    options.need_apart(source.data, output=output, report=report, trace=trace)
    estimator = _build(model, settings, seed, intercept=intercept, trace=trace is not None)
    if bounds and not hasattr(estimator, "partial_fit"):
        raise typer.BadParameter(f"--bounds is about runs of mistakes, not about {model}. Leave it out.")
    rows = source.open(intercept=intercept, labelled=True)
    with waiting("Reading the rows"):
        X, y = rows.read()
    _need_enough(y, holdout, folds)
    with options.naming_rows(rows):
        estimator = _scaled(estimator, X) if scale else estimator
        seconds = _learn(estimator, model, X, y)
    wrong = int((estimator.predict(X) != y).sum())
    options.name_features(estimator, rows.encoding)
    scores = _scores(estimator, X, y, holdout, folds, seed)
    proved = _bounds(estimator, X, y, bounds)
    fitted = Fitted(estimator, rows, X, y, seconds, wrong, scores, proved)
    _write(fitted, output, report, trace)
    if json:
        files = {"model_file": output, "report_file": report, "trace_file": trace}
        write_json(_plain(fitted) | files)
        return
    _show(fitted)
    if output is not None or report is None:
        options.say_saved(output)
    if report is not None:
        say(f"Report: {report}")
    if trace is not None:
        say(f"Updates: {trace}")


def _build(model: str, settings: dict[str, Any], seed: int, *, intercept: bool, trace: bool) -> Any:
    """Return the estimator of a model."""
    import separatrix as sx

    if model not in MODELS:
        raise typer.BadParameter(f"--model takes one of {', '.join(MODELS)}. Got {model!r} instead.")
    name, chosen = MODELS[model]
    kind = getattr(sx, name)
    asked = {**chosen, **settings, **({"trace": True} if trace else {})}
    options.need_known(asked, kind, model)
    if not intercept and "fit_intercept" not in signature(kind).parameters:
        raise typer.BadParameter(f"--no-intercept is not an option of {model}. Leave it out.")
    if trace and model == "kernel":
        raise typer.BadParameter("--trace writes weights, which a kernel perceptron does not have.")
    options.need_named_kernel(asked.get("kernel"))
    asked |= {"random_state": seed} if "random_state" in signature(kind).parameters else {}
    asked |= {} if intercept else {"fit_intercept": False}  # otherwise each estimator's own default
    return kind(**asked)


def _trace(model: Any, rows: Any, y: Any) -> str:
    """Return a line per update: its number, the row, its class, the score before, the weights after."""
    trace, two = model.result_.trace, len(model.classes_) == 2
    names = [*rows.feature_names, *(["(intercept)"] if model.fit_intercept else [])]
    shown = names if two else [f"{name} [{label}]" for label in model.classes_ for name in names]
    places = rows.places(trace.rows.tolist())
    lines = [["update", "row", "class", *([] if two else ["taken for"]), "score before", *shown]]
    for k, (place, row) in enumerate(zip(places, trace.rows.tolist(), strict=True)):
        rival = [] if two else [str(model.classes_[trace.rivals[k]])]
        numbers = [repr(value) for value in [float(trace.scores[k]), *trace.weights[k].ravel().tolist()]]
        lines.append([str(k + 1), str(place.row), str(y[row]), *rival, *numbers])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([options.harmless(cell) for cell in line] for line in lines)
    return text.getvalue()


def _scaled(estimator: Any, X: Any) -> Any:
    from scipy.sparse import issparse
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    from ...inputs import refuse_not_finite

    refuse_not_finite(X)  # scikit-learn's scalers would not name the row and column
    return make_pipeline(MaxAbsScaler() if issparse(X) else StandardScaler(), estimator)


def _need_enough(y: Any, holdout: float | None, folds: int | None) -> None:
    """Refuse classes with too few rows for a row in every fold, or on each side of a holdout."""
    if folds is None and holdout is None:
        return
    import numpy as np

    from ...errors import InputError

    labels, counts = np.unique(y, return_counts=True)
    rare, fewest = labels[counts.argmin()], int(counts.min())
    if folds is not None and fewest < folds:
        raise InputError(
            f"Class {str(rare)!r} has {fewest:,} row{'s' * (fewest > 1)}, fewer than the {folds} folds. "
            "Reduce --folds."
        )
    if holdout is None:
        return
    kept_back = math.ceil(holdout * len(y))  # as train_test_split rounds
    if fewest < 2 or min(kept_back, len(y) - kept_back) < labels.size:
        raise InputError(
            f"A --holdout of {holdout:g} keeps back {kept_back:,} of {len(y):,} rows. Both parts need "
            f"a row of each of the {labels.size} classes; the smallest class, {str(rare)!r}, has "
            f"{fewest:,} row{'s' * (fewest > 1)}. Change --holdout."
        )


def _learn(estimator: Any, model: str, X: Any, y: Any) -> float:
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, y)
    seconds = time.perf_counter() - start
    for warning in caught:
        say(f"Note: {in_options(warning.message, used(estimator, model))}")
    return seconds


def used(estimator: Any, model: str = "") -> dict[str, Any]:
    """Return the options of this command that advice may name, with their values for this model."""
    return {"--scale": hasattr(estimator, "steps"), "--model": model, "--max-iter": None, "--gap": None}


def last(estimator: Any) -> Any:
    """Return the classifier, which may be the last step of a pipeline."""
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def _scores(
    estimator: Any, X: Any, y: Any, holdout: float | None, folds: int | None, seed: int
) -> list[dict[str, Any]]:
    if holdout is None and folds is None:
        return []
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split

    scores = []
    with warnings.catch_warnings(), waiting("Scoring on rows that were kept back"):
        warnings.simplefilter("ignore")
        if holdout is not None:
            X_in, X_out, y_in, y_out = train_test_split(
                X, y, test_size=holdout, stratify=y, random_state=seed
            )
            share = float(clone(estimator).fit(X_in, y_in).score(X_out, y_out))
            scores.append({"how": f"on {len(y_out):,} rows kept back", "shares": [share]})
        if folds is not None:
            splits = StratifiedKFold(folds, shuffle=True, random_state=seed)
            shares = cross_val_score(clone(estimator), X, y, cv=splits, error_score="raise")
            scores.append({"how": f"by cross-validation with {folds} folds", "shares": shares.tolist()})
    return scores


def _bounds(estimator: Any, X: Any, y: Any, wanted: bool | None, small: int = 1_000_000) -> Any:
    """Return the mistake bounds of a run if they are wanted; by default, if the data are small."""
    from ...bounds.mistakes import mistake_bounds

    model = last(estimator)
    online = hasattr(model, "partial_fit") and hasattr(model, "coef_")
    if not online or not (X.size <= small if wanted is None else wanted):
        return None
    with waiting("Computing the mistake bounds"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # X is an array, and the names are kept beside it
        seen = estimator[:-1].transform(X) if hasattr(estimator, "steps") else X
        return mistake_bounds(model, seen, y)


def _write(fitted: Fitted, output: str | None, report: str | None, trace: str | None) -> None:
    """Write the requested files; if one of them cannot be written, write none."""
    contents = {}
    if output is not None:
        from ...storage.models import packed

        contents[output] = packed(fitted.estimator, columns=fitted.rows.encoding.as_dict())
    if trace is not None:
        contents[trace] = _trace(fitted.model, fitted.rows, fitted.y).encode()
    if report is not None:
        scaled = ("Columns scaled", "yes" if hasattr(fitted.estimator, "steps") else "no")
        contents[report] = options.report_of(
            fitted.rows, fitted.X, fitted.y, model=fitted.estimator, facts=(scaled,)
        )
    if contents:
        from ...atomic import write_all

        write_all(contents)


def _show(fitted: Fitted) -> None:
    from ...report.tables import bound_table

    wrong, rows = fitted.wrong, fitted.rows
    options.show_doubts(rows.target_name, fitted.estimator.classes_)
    headline = (
        f"{wrong:,} of {fitted.X.shape[0]:,} rows get a wrong class."
        if wrong
        else "Every row is classified correctly."
    )
    scores = [("score", _score_words(**score)) for score in fitted.scores]
    notes = [("note", note) for note in rows.notes]
    show(
        heading(headline, "bold yellow" if wrong else "bold green"),
        "",
        facts([*_learned(fitted), *scores, *notes]),
        "",
    )
    show_table(None if fitted.bounds is None else bound_table(fitted.bounds))


def _score_words(how: str, shares: list[float]) -> str:
    spread = f" (from {100 * min(shares):.1f} to {100 * max(shares):.1f})" if len(shares) > 1 else ""
    return f"{100 * sum(shares) / len(shares):.1f} % correct{spread}, {how}"


def _learned(fitted: Fitted) -> list[tuple[str, str]]:
    from ...files.encoding import shown
    from ...report.tables import size_of
    from .inspect_command import learned

    model, seconds, bounds = fitted.model, fitted.seconds, fitted.bounds
    # The bounds come with a narrower bracket of the same margin than the run.
    margin = None if bounds is None else (bounds.margin_lower, bounds.margin_upper)
    visits = fitted.X.shape[0] * model.n_iter_ if hasattr(model, "result_") else 0
    speed = f", {visits / max(seconds, 1e-9):,.0f} rows/s" if visits else ""
    return [
        ("model", type(model).__name__),
        ("data", size_of(fitted.X)),
        ("classes", shown(model.classes_.tolist())),
        *learned(model, margin=margin),
        ("time", f"{seconds:.2f} s{speed}"),
    ]


def _plain(fitted: Fitted) -> dict[str, Any]:
    from ...proofs.answer import margin_facts
    from .inspect_command import model_facts

    bounds = None
    if fitted.bounds is not None:
        bounds = fitted.bounds.to_dict()
        bracket = bounds.pop("margin_lower"), bounds.pop("margin_upper")
        bounds["margin"] = margin_facts(bracket, "lifted" if fitted.model.fit_intercept else "origin")
    return {
        **document("fit", fitted.rows),
        "model": model_facts(fitted.estimator),
        "errors": fitted.wrong,
        "seconds": fitted.seconds,
        "scores": fitted.scores,
        "bounds": bounds,
    }
