"""``separatrix fit``: learn a separator and say what was learned."""

from __future__ import annotations

import csv
import inspect
import io
import math
import time
import warnings
from dataclasses import dataclass
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
}


@dataclass(frozen=True)
class Score:
    """How often a model was right on rows that it had not seen."""

    how: str
    shares: tuple[float, ...]

    @property
    def words(self) -> str:
        """The score as a line of text."""
        low, high, mean = min(self.shares), max(self.shares), sum(self.shares) / len(self.shares)
        spread = f" (from {100 * low:.1f} to {100 * high:.1f})" if len(self.shares) > 1 else ""
        return f"{100 * mean:.1f} % right{spread}, {self.how}"


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model, the rows it learned from, and what was found out about it."""

    estimator: Any
    rows: Any
    X: Any
    y: Any
    seconds: float
    wrong: int
    scores: list[Score]
    bounds: Any

    @property
    def model(self) -> Any:
        """The classifier itself."""
        return last(self.estimator)


@options.reads()
def fit(
    source: options.Reading,
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="MODEL", help=f"What to learn: {', '.join(MODELS)}.")
    ] = "perceptron",
    output: options.ModelFile = None,
    intercept: options.Intercept = True,
    scale: Annotated[
        bool,
        typer.Option(
            "--scale/--no-scale", help="Bring all columns to the same scale first; the model remembers how."
        ),
    ] = False,
    order: options.Order = None,
    max_iter: options.MaxIter = None,
    eta0: options.Eta0 = None,
    start: options.Start = None,
    renormalise: options.Renormalise = False,
    trace: Annotated[
        str | None,
        typer.Option("--trace", metavar="FILE", help="Perceptrons: write every update to a CSV file."),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--form", metavar="primal|dual", help="Linear program: which of the two programs is solved."
        ),
    ] = None,
    cost: Annotated[
        float | None, typer.Option("--C", help="Soft margin: what a unit of hinge loss costs. Default: 1.")
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option("--gap", help="Margins: how narrow the proved bracket must be, relatively."),
    ] = None,
    kernel: options.Kernel = None,
    degree: options.Degree = None,
    gamma: options.Gamma = None,
    budget: Annotated[
        int | None, typer.Option("--budget", min=2, help="Kernel perceptron: the most rows it may keep.")
    ] = None,
    seed: options.Seed = 0,
    holdout: Annotated[
        float | None,
        typer.Option(
            "--holdout", metavar="SHARE", help="Also score on this share of the rows, kept back, such as 0.2."
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option("--folds", min=2, help="Also score by cross-validation with N folds.", metavar="N"),
    ] = None,
    bounds: Annotated[
        bool | None,
        typer.Option(
            "--bounds/--no-bounds",
            help="Perceptrons: compare the run with the mistake bounds of theory. Default: if the data have "
            "at most a million numbers.",
        ),
    ] = None,
    report: options.Report = None,
    json: options.Json = False,
) -> None:
    """Learn a separator; say whether it separates, how many mistakes it made, and what theory allowed.

    The model that is saved has learned from all rows; scores are of models that had not seen the rows they
    are scored on. For one pass over data of any size, in little memory, see: separatrix learn

    For example:

        separatrix fit mushrooms.svm -o model.skops

        separatrix fit german.csv --target class --model soft-margin --scale --folds 5 -o model.skops

        separatrix fit spam.parquet --target spam --model averaged --holdout 0.2 --json

        separatrix fit small.csv --target y --order cyclic --start 0,0,1 --trace updates.csv
    """
    given = {
        "order": order, "max_iter": max_iter, "C": cost, "gap": gap, "budget": budget,
        "eta0": eta0, "renormalise": renormalise or None, "form": form, "kernel": kernel, "degree": degree,
        "gamma": gamma, "init": None if start is None else options.first_weights(start), "trace": trace,
    }  # fmt: skip
    if holdout is not None and not 0.0 < holdout < 1.0:
        raise typer.BadParameter(
            f"--holdout is a share of the rows between 0 and 1. Got {holdout:g} instead."
        )
    if source.elsewhere:
        source.refuse_elsewhere(
            scale=scale,
            holdout=holdout,
            folds=folds,
            bounds=bounds,
            report=report,
            trace=trace,
            kernel=kernel,
        )
        _check_elsewhere(model, order)
    options.need_apart(source.data, output=output, report=report, trace=trace)
    estimator = _build(model, given, seed, intercept=intercept)
    if bounds and not hasattr(estimator, "eta0"):
        raise typer.BadParameter(f"--bounds is about perceptrons, not about {model}. Leave it out.")
    rows = source.open(intercept=intercept, labelled=True)
    with waiting("Reading the rows"):
        X, y = source.read(rows)
    _need_enough(y, holdout, folds)
    with options.naming_rows(rows):
        estimator = _scaled(estimator, X) if scale else estimator
        seconds = _learn(estimator, model, X, y)
    wrong = int((estimator.predict(X) != y).sum())
    options.name_features(estimator, rows.encoding)
    scores = _scores(estimator, X, y, holdout, folds, seed)
    proved = None if source.elsewhere else _bounds(estimator, X, y, bounds)
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


def _build(model: str, given: dict[str, Any], seed: int, *, intercept: bool) -> Any:
    """The estimator of a model; its parameters are the options that the model has."""
    import separatrix as sx

    if model not in MODELS:
        raise typer.BadParameter(f"--model takes one of {', '.join(MODELS)}. Got {model!r} instead.")
    name, chosen = MODELS[model]
    kind = getattr(sx, name)
    known = inspect.signature(kind).parameters
    asked = {each: value for each, value in given.items() if value is not None}
    for each in asked.keys() - known.keys():
        option = "start" if each == "init" else each.replace("_", "-")
        raise typer.BadParameter(f"--{option} is not an option of {model}. Leave it out.")
    if "trace" in asked and model == "kernel":
        raise typer.BadParameter("--trace writes weights, which a kernel perceptron does not have.")
    if {"kernel", "degree", "gamma"} & asked.keys():
        named = asked.get("kernel", known["kernel"].default)
        asked["kernel"] = options.kernel(named, asked.pop("degree", None), asked.pop("gamma", None))
    asked |= {"trace": True} if "trace" in asked else {}
    asked |= {"random_state": seed} if "random_state" in known else {}
    asked |= {} if intercept else {"fit_intercept": False}  # otherwise each estimator's own default
    return kind(**chosen, **asked)


def _check_elsewhere(model: str, order: str | None) -> None:
    """Refuse what visits the rows in turn, or needs all of them in one memory."""
    if model == "kernel" or (model == "averaged" and order != "mixed"):
        how = ", or --order mixed" if model == "averaged" else ""
        raise typer.BadParameter(f"--model {model} needs its rows in this process, not on a cluster{how}.")
    if order in ("cyclic", "shuffled"):
        raise typer.BadParameter(
            f"--order {order} visits the rows in turn, which needs them in this process. On a cluster there "
            "are the orders working_set, worst and mixed."
        )


def _trace(model: Any, rows: Any, y: Any) -> str:
    """Every update as a line: its number, the row, its class, its score before, the weights after."""
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

    refuse_not_finite(X)  # as scikit-learn's scalers do, but by its row and column
    return make_pipeline(MaxAbsScaler() if issparse(X) else StandardScaler(), estimator)


def _need_enough(y: Any, holdout: float | None, folds: int | None) -> None:
    """Every class needs a row in every fold, and one on each side of a holdout."""
    if folds is None and holdout is None:
        return
    import numpy as np

    from ...errors import InputError

    labels, counts = np.unique(y, return_counts=True)
    rare, fewest = labels[counts.argmin()], int(counts.min())
    if folds is not None and fewest < folds:
        raise InputError(
            f"Class {str(rare)!r} has {fewest:,} rows, fewer than the {folds} folds. Ask for fewer --folds."
        )
    if holdout is None:
        return
    kept_back = math.ceil(holdout * len(y))  # as train_test_split rounds
    if fewest < 2 or min(kept_back, len(y) - kept_back) < labels.size:
        raise InputError(
            f"A --holdout of {holdout:g} keeps back {kept_back:,} of {len(y):,} rows; each of {labels.size} "
            f"classes needs a row on each side, and {str(rare)!r} has {fewest:,} in all. Change --holdout."
        )


def _learn(estimator: Any, model: str, X: Any, y: Any) -> float:
    from ...inputs.dask_hook import is_collection

    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, y)
    seconds = time.perf_counter() - start
    known = used(estimator, model)
    known |= {"--scale": True} if is_collection(X) else {}  # columns cannot be scaled on a cluster
    for warning in caught:
        say(f"Note: {in_options(warning.message, known)}")
    return seconds


def used(estimator: Any, model: str = "") -> dict[str, Any]:
    """The options of this command that advice may be about, as this model was fitted."""
    return {"--scale": hasattr(estimator, "steps"), "--model": model, "--max-iter": None, "--gap": None}


def last(estimator: Any) -> Any:
    """The classifier itself, which a pipeline may hide."""
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def _scores(
    estimator: Any, X: Any, y: Any, holdout: float | None, folds: int | None, seed: int
) -> list[Score]:
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
            scores.append(Score(f"on {len(y_out):,} rows kept back", (share,)))
        if folds is not None:
            splits = StratifiedKFold(folds, shuffle=True, random_state=seed)
            shares = cross_val_score(clone(estimator), X, y, cv=splits, error_score="raise")
            scores.append(Score(f"by cross-validation with {folds} folds", tuple(map(float, shares))))
    return scores


def _bounds(estimator: Any, X: Any, y: Any, wanted: bool | None, small: int = 1_000_000) -> Any:
    """The mistake bounds of a perceptron: if they are wanted, or if the data are small."""
    from ...bounds import mistake_bounds

    model = last(estimator)
    if not hasattr(model, "eta0") or not (X.size <= small if wanted is None else wanted):
        return None
    with waiting("Computing the mistake bounds"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # X is an array, and the names are kept beside it
        seen = estimator[:-1].transform(X) if hasattr(estimator, "steps") else X
        return mistake_bounds(model, seen, y)


def _write(fitted: Fitted, output: str | None, report: str | None, trace: str | None) -> None:
    """Write the files that were asked for; if one of them cannot be written, none is."""
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
        else "Every row gets its own class."
    )
    scores = [("score", score.words) for score in fitted.scores]
    notes = [("note", note) for note in rows.notes]
    show(
        heading(headline, "bold yellow" if wrong else "bold green"),
        "",
        facts([*_learned(fitted), *scores, *notes]),
        "",
    )
    show_table(None if fitted.bounds is None else bound_table(fitted.bounds, formulas=False))


def _learned(fitted: Fitted) -> list[tuple[str, str]]:
    from ...files.encoding import shown
    from ...report.tables import short, size_of
    from ...result import often_corrected, rounded
    from .inspect_command import margin_of

    model, X, seconds = fitted.model, fitted.X, fitted.seconds
    pairs = [
        ("model", type(model).__name__),
        ("data", size_of(X)),
        ("classes", shown(model.classes_.tolist())),
    ]
    result, speed = getattr(model, "result_", None), ""
    if result is not None:
        average = " The average of all weights is used." if model.average else ""
        read = f"the rows were read {model.n_iter_:,} times"
        pairs += [
            ("status", f"{result.status.problem}{average}"),
            ("mistakes", f"{_mistakes(result)}, while {read}{often_corrected(result)}"),
        ]
        speed = f", {X.shape[0] * model.n_iter_ / max(seconds, 1e-9):,.0f} rows/s"
    if result is not None or hasattr(model, "margin_lower_"):
        pairs.append(("best margin", margin_of(model)))
    if hasattr(model, "gap_"):
        gap = rounded(model.gap_, digits=2)
        pairs.append(("objective", f"{short(model.objective_)}, with a relative gap of at most {gap}"))
    if hasattr(model, "support_"):
        pairs.append(("support", f"{len(model.support_):,} rows carry the boundary"))
    return [*pairs, ("time", f"{seconds:.2f} s{speed}")]


def _mistakes(result: Any) -> str:
    """The updates of the run, and apart from them those behind the weights where these are fewer."""
    from ...report.findings import updates

    made, kept = updates(result)
    return f"{made:,}" if made == kept else f"{made:,}, {kept:,} of them before the weights that were kept"


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
        "scores": [{"how": score.how, "shares": score.shares} for score in fitted.scores],
        "bounds": bounds,
    }
