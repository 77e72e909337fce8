"""``separatrix fit``: learn a separator and say what was learnt."""

from __future__ import annotations

import csv
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

MODELS = ("perceptron", "averaged", "kernel", "max-margin", "soft-margin", "linear-program")
SMALL = 1_000_000  # numbers of the data up to which the mistake bounds are shown unasked

# Which models know an option; the others refuse it.
KNOWS = {
    "order": ("perceptron", "averaged", "kernel"),
    "max_iter": ("perceptron", "averaged", "kernel"),
    "eta0": ("perceptron", "averaged"),
    "start": ("perceptron", "averaged"),
    "renormalise": ("perceptron", "averaged"),
    "trace": ("perceptron", "averaged"),
    "form": ("linear-program",),
    "seed": ("perceptron", "averaged", "kernel", "soft-margin"),
    "C": ("soft-margin",),
    "gap": ("max-margin", "soft-margin"),
    "kernel": ("kernel",),
    "degree": ("kernel",),
    "gamma": ("kernel",),
    "budget": ("kernel",),
    "bounds": ("perceptron", "averaged"),
}


@dataclass(frozen=True)
class Score:
    """How often a model was right on rows that it had not seen."""

    how: str
    shares: tuple[float, ...]

    @property
    def words(self) -> str:
        """The score as a line of text."""
        mean = sum(self.shares) / len(self.shares)
        spread = (
            f" (from {100 * min(self.shares):.1f} to {100 * max(self.shares):.1f})"
            if len(self.shares) > 1
            else ""
        )
        return f"{100 * mean:.1f} % right{spread}, {self.how}"


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
    order: Annotated[
        str | None,
        typer.Option(
            "--order",
            help="Perceptrons: which mistake comes next: working_set, cyclic, shuffled, worst or mixed.",
        ),
    ] = None,
    max_iter: Annotated[
        int | None, typer.Option("--max-iter", min=1, help="Perceptrons: how often all rows may be read.")
    ] = None,
    eta0: Annotated[
        float | None,
        typer.Option(
            "--eta0",
            "--learning-rate",
            help="Perceptrons: the learning rate, which scales every update. Default: 1.",
        ),
    ] = None,
    start: options.Start = None,
    renormalise: Annotated[
        bool | None,
        typer.Option(
            "--renormalise/--no-renormalise",
            help="Perceptrons: scale the weights to length one after each update.",
        ),
    ] = None,
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
    kernel: Annotated[
        str | None,
        typer.Option(
            "--kernel", help="Kernel perceptron: such as linear, poly, rbf or geometric. Default: rbf."
        ),
    ] = None,
    degree: Annotated[int | None, typer.Option("--degree", min=1, help="Of the poly kernel.")] = None,
    gamma: options.Gamma = None,
    budget: Annotated[
        int | None, typer.Option("--budget", min=2, help="Kernel perceptron: the most rows it may keep.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Makes chance repeatable. Default: 0.")
    ] = None,
    holdout: Annotated[
        float | None,
        typer.Option(
            "--holdout", metavar="SHARE", help="Also score on this share of the rows, kept back, such as 0.2."
        ),
    ] = None,
    folds: Annotated[
        int | None, typer.Option("--folds", min=2, help="Also score by cross-validation with so many folds.")
    ] = None,
    bounds: Annotated[
        bool | None,
        typer.Option(
            "--bounds/--no-bounds",
            help="Perceptrons: hold the mistake bounds of theory against the run. Default: "
            "where the data are small.",
        ),
    ] = None,
    report: options.Report = None,
    json: options.Json = False,
) -> None:
    """Learn a separator; say whether it separates, how many mistakes it made, and what theory allowed.

    The model that is saved has learnt from all rows; scores are of models that had not seen the rows they
    are scored on. A perceptron with --max-iter 1 learns each row as it is read, in order, and keeps none.

    For example:

        separatrix fit mushrooms.svm -o model.skops

        separatrix fit german.csv --target class --model soft-margin --scale --folds 5 -o model.skops

        separatrix fit spam.parquet --target spam --model averaged --holdout 0.2 --json

        separatrix fit small.csv --target y --order cyclic --start 0,0,1 --trace updates.csv
    """
    given = {
        "order": order, "max_iter": max_iter, "seed": seed, "C": cost, "gap": gap, "kernel": kernel,
        "degree": degree, "gamma": gamma, "budget": budget, "bounds": bounds, "eta0": eta0,
        "start": None if start is None else options.first_weights(start), "renormalise": renormalise or None,
        "trace": trace, "form": form,
    }  # fmt: skip
    _check_options(model, given)
    if holdout is not None and not 0.0 < holdout < 1.0:
        raise typer.BadParameter(
            f"--holdout is a share of the rows between 0 and 1. Got {holdout:g} instead."
        )
    if source.elsewhere:
        source.refuse_elsewhere(
            scale=scale, holdout=holdout, folds=folds, bounds=bounds, report=report, trace=trace
        )
        _check_elsewhere(model, order, max_iter)
    options.need_apart(source.data, output=output, report=report, trace=trace)
    rows = source.open(intercept=intercept, labelled=True)
    needs_rows = (
        scale, holdout is not None, folds is not None, bounds, report is not None, eta0 is not None,
        start is not None, renormalise, trace is not None,
    )  # fmt: skip
    once = max_iter == 1 and order in (None, "cyclic") and model != "kernel" and not any(needs_rows)
    if once:
        _learn_once(rows, output, average=model == "averaged", json=json)
        return
    with waiting("Reading the rows"):
        X, y = source.read(rows)
    _need_enough(y, holdout, folds)
    estimator = _build(model, given, intercept=intercept)
    if scale:
        with options.naming_rows(rows):
            estimator = _scaled(estimator, X)
    with options.naming_rows(rows):
        seconds = _learn(estimator, model, X, y)
    wrong = _errors(estimator, X, y)
    options.name_features(estimator, rows.encoding)
    scores = _scores(estimator, X, y, holdout, folds, seed or 0)
    found = None if source.elsewhere else _bounds(estimator, X, y, bounds)
    _write(output, report, trace, rows, X, y, estimator)
    if json:
        write_json(
            _plain(estimator, rows, wrong, seconds, scores, found)
            | {"model_file": output, "report_file": report, "trace_file": trace}
        )
        return
    _show(estimator, rows, X, wrong, seconds, scores, found)
    if output is not None:
        options.say_saved(output)
    elif report is None:
        say("The model was not saved; give a file with -o model.skops.")
    if report is not None:
        say(f"Report: {report}")
    if trace is not None:
        say(f"Updates: {trace}")


def _learn_once(rows: Any, output: str | None, *, average: bool, json: bool) -> None:
    """One pass needs no row twice: however large the data, only a few rows are in memory."""
    from ...estimators.online import learn
    from .inspect_command import model_facts
    from .learn_command import show_learnt

    start = time.perf_counter()
    with waiting("Learning each row as it is read"), options.naming_rows(rows):
        learnt = learn(rows, average=average)
    seconds = time.perf_counter() - start
    if learnt.interrupted:
        say(f"Stopped after row {learnt.rows:,}; the model has learnt from the rows up to there.")
    options.name_features(learnt.model, learnt.encoding)
    if output is not None:
        from ...storage.models import save

        save(learnt.model, output, columns=learnt.encoding.as_dict())
    if json:
        write_json(
            {
                **document("fit", rows),
                "model": model_facts(learnt.model),
                "errors": None,
                "seconds": seconds,
                "scores": [],
                "bounds": None,
                "model_file": output,
                "report_file": None,
                "trace_file": None,
            }
        )
    else:
        options.show_doubts(rows.target_name, learnt.model.classes_)
        show_learnt(learnt, seconds)
        options.say_notes(rows)
        if output is not None:
            options.say_saved(output)
        else:
            say("The model was not saved; give a file with -o model.skops.")
    if learnt.interrupted:
        raise typer.Exit(130)


def _check_options(model: str, given: dict[str, Any]) -> None:
    if model not in MODELS:
        raise typer.BadParameter(f"--model takes one of {', '.join(MODELS)}. Got {model!r} instead.")
    for name, value in given.items():
        if value is not None and model not in KNOWS[name]:
            option = name.replace("_", "-")
            raise typer.BadParameter(
                f"--{option} is an option of {' and '.join(KNOWS[name])}, not of {model}. Leave it out."
            )


def _check_elsewhere(model: str, order: str | None, max_iter: int | None) -> None:
    """Refuse what visits the rows in turn, or needs all of them in one memory."""
    if model == "kernel" or (model == "averaged" and order != "mixed"):
        how = ", or --order mixed" if model == "averaged" else ""
        raise typer.BadParameter(f"--model {model} needs its rows in this process, not on a cluster{how}.")
    if order in ("cyclic", "shuffled") or (max_iter == 1 and order is None):
        what = "--max-iter 1 without an --order" if order is None else f"--order {order}"
        raise typer.BadParameter(
            f"{what} visits the rows in turn, which needs them in this process. On a cluster there are the "
            "orders working_set, worst and mixed."
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


def _build(model: str, given: dict[str, Any], *, intercept: bool) -> Any:
    import separatrix as sx

    chosen = {name: value for name, value in given.items() if value is not None and name != "bounds"}
    chosen["random_state"] = chosen.pop("seed", 0)
    if "start" in chosen:
        chosen["init"] = chosen.pop("start")
    if "trace" in chosen:
        chosen["trace"] = True
    if not intercept:
        chosen["fit_intercept"] = False  # otherwise each estimator's own default
    if model in ("perceptron", "averaged"):
        average = "averaged" if model == "averaged" else False
        return sx.Perceptron(average=average, **chosen)
    if model == "kernel":
        chosen["kernel"] = options.kernel(
            chosen.pop("kernel", "rbf"), chosen.pop("degree", None), chosen.pop("gamma", None)
        )
        return sx.KernelPerceptron(**chosen)
    if model == "soft-margin":
        return sx.SoftMargin(**chosen)
    del chosen["random_state"]
    if model == "max-margin":
        return sx.MaxMargin(**chosen)
    return sx.LinearProgram(**chosen)


def _scaled(estimator: Any, X: Any) -> Any:
    from scipy.sparse import issparse
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    from ...inputs import refuse_not_finite

    refuse_not_finite(X)  # as scikit-learn's scalers do, but by its row and column
    return make_pipeline(MaxAbsScaler() if issparse(X) else StandardScaler(), estimator)


def _need_enough(y: Any, holdout: float | None, folds: int | None) -> None:
    """Every class needs a row in every fold, and one on either side of a holdout."""
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
            f"classes needs a row on either side, and {str(rare)!r} has {fewest:,} in all. Change --holdout."
        )


def _learn(estimator: Any, model: str, X: Any, y: Any) -> float:
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, y)
    seconds = time.perf_counter() - start
    for warning in caught:
        say(f"Note: {in_options(warning.message, _used(estimator, X, model))}")
    return seconds


def _used(estimator: Any, X: Any, model: str = "") -> dict[str, Any]:
    """The same without the advice to scale where that cannot be done: on a cluster."""
    from ...inputs.collections import is_collection

    known = used(estimator, model)
    return known | {"--scale": True} if is_collection(X) else known


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


def _bounds(estimator: Any, X: Any, y: Any, wanted: bool | None) -> Any:
    from ...bounds import mistake_bounds
    from ...estimators.linear import Perceptron

    model = last(estimator)
    if not isinstance(model, Perceptron) or wanted is False or (wanted is None and X.size > SMALL):
        return None
    with waiting("Computing the mistake bounds"):
        return mistake_bounds(model, _transformed(estimator, X), y)


def _transformed(estimator: Any, X: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # X is an array, and the names are kept beside it
        return estimator[:-1].transform(X) if hasattr(estimator, "steps") else X


def _write(
    output: str | None, report: str | None, trace: str | None, rows: Any, X: Any, y: Any, estimator: Any
) -> None:
    """Write what was asked for; where one file cannot be written, none is."""
    contents = {}
    if output is not None:
        from ...storage.models import packed

        contents[output] = packed(estimator, columns=rows.encoding.as_dict())
    if trace is not None:
        contents[trace] = _trace(last(estimator), rows, y).encode()
    if report is not None:
        contents[report] = _report(rows, X, y, estimator).encode()
    if contents:
        from ...atomic import write_all

        write_all(contents)


def _report(rows: Any, X: Any, y: Any, estimator: Any) -> str:
    from ...report.page import report_text
    from .check_command import reading

    with waiting("Drawing the report"):
        return report_text(
            X,
            y,
            title=rows.name,
            names=rows.feature_names,
            model=estimator,
            facts=(*reading(rows), ("Columns scaled", "yes" if hasattr(estimator, "steps") else "no")),
            places=rows.places,
        )


def _errors(estimator: Any, X: Any, y: Any) -> int:
    import numpy as np

    return int(np.count_nonzero(estimator.predict(X) != y))


def _show(
    estimator: Any, rows: Any, X: Any, wrong: int, seconds: float, scores: list[Score], bounds: Any
) -> None:
    from ...report.tables import bound_table
    from .check_command import notes

    options.show_doubts(rows.target_name, estimator.classes_)
    headline = (
        f"{wrong:,} of {X.shape[0]:,} rows get a wrong class." if wrong else "Every row gets its own class."
    )
    show(
        heading(headline, "bold yellow" if wrong else "bold green"),
        "",
        facts(
            [
                *_learnt(estimator, X, seconds),
                *(("score", score.words) for score in scores),
                *notes(rows),
            ]
        ),
        "",
    )
    show_table(None if bounds is None else bound_table(bounds, formulas=False))


def _learnt(estimator: Any, X: Any, seconds: float) -> list[tuple[str, str]]:
    from ...files.encoding import shown
    from ...report.tables import short, size_of
    from ...result import often_corrected, rounded
    from .inspect_command import margin_of

    model = last(estimator)
    pairs = [
        ("model", type(model).__name__),
        ("data", size_of(X)),
        ("classes", shown(model.classes_.tolist())),
    ]
    result = getattr(model, "result_", None)
    if result is not None:
        read = f"the rows were read {model.n_iter_:,} times"
        pairs += [
            (
                "status",
                result.status.problem + (" The average of all weights is used." if model.average else ""),
            ),
            ("mistakes", f"{_mistakes(result)}, while {read}{often_corrected(result)}"),
            ("best margin", margin_of(model)),
        ]
        speed = f", {X.shape[0] * model.n_iter_ / max(seconds, 1e-9):,.0f} rows/s"
    else:
        speed = ""
    if hasattr(model, "margin_lower_"):
        pairs.append(("best margin", margin_of(model)))
    if hasattr(model, "gap_"):
        pairs.append(
            (
                "objective",
                f"{short(model.objective_)}, with a relative gap of at most {rounded(model.gap_, digits=2)}",
            )
        )
    if hasattr(model, "support_"):
        pairs.append(("support", f"{len(model.support_):,} rows carry the boundary"))
    return [*pairs, ("time", f"{seconds:.2f} s{speed}")]


def _mistakes(result: Any) -> str:
    """The updates of the run, and apart from them those behind the weights where these are fewer."""
    from ...report.findings import updates

    made, kept = updates(result)
    return f"{made:,}" if made == kept else f"{made:,}, {kept:,} of them before the weights that were kept"


def _bound_facts(bounds: Any, model: Any) -> dict[str, Any]:
    """The bounds in plain values, their margin said as everywhere."""
    from ...proofs.answer import margin_facts

    known = bounds.to_dict()
    bracket = known.pop("margin_lower"), known.pop("margin_upper")
    return {**known, "margin": margin_facts(bracket, "lifted" if model.fit_intercept else "origin")}


def _plain(
    estimator: Any, rows: Any, wrong: int, seconds: float, scores: list[Score], bounds: Any
) -> dict[str, Any]:
    from .inspect_command import model_facts

    return {
        **document("fit", rows),
        "model": model_facts(estimator),
        "errors": wrong,
        "seconds": seconds,
        "scores": [{"how": score.how, "shares": score.shares} for score in scores],
        "bounds": None if bounds is None else _bound_facts(bounds, last(estimator)),
    }
