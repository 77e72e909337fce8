"""``separatrix inspect``: show what a model or a certificate contains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..advice import in_options
from ..console import facts, heading, show, show_table, write_json


def inspect(file: str, *, json: bool = False) -> None:
    """Show what a model or a certificate contains. Nothing in the file is executed.

    For example:

        separatrix inspect model.skops

        separatrix inspect proof.json --json

    Options
    -------
    file FILE: A model (.skops) or a certificate (.json).
    """
    with Path(file).open("rb") as stream:
        head = stream.read(64).lstrip()
    if head[:1] in (b"{", b"["):
        _certificate(file, json)
    else:
        _model(file, json)


def model_facts(estimator: Any) -> dict[str, Any]:
    """Return what is known about a fitted model, in plain values."""
    from ...proofs.answer import margin_facts
    from .fit_command import last, used

    model = last(estimator)
    steps = [type(step).__name__ for _, step in getattr(estimator, "steps", [("", estimator)])]
    known: dict[str, Any] = {
        "type": " then ".join(steps),
        "parameters": {key: _plain(value) for key, value in model.get_params(deep=False).items()},
        "classes": [_plain(label) for label in getattr(model, "classes_", [])],
        "features": getattr(model, "n_features_in_", None),
    }
    for name in ("mistakes_", "n_iter_", "converged_", "objective_", "dual_objective_", "gap_"):
        if hasattr(model, name):
            known[name.rstrip("_")] = _plain(getattr(model, name))
    found = getattr(model, "result_", None) or getattr(model, "optimum_", None)
    if found is not None:
        known["outcome"] = in_options(found.status, used(estimator))
        if hasattr(found, "margin_upper"):
            known["margin"] = margin_facts(_bounds(model), _kind(model))
        for name in ("radius", "errors"):
            if hasattr(found, name):
                known[name] = _plain(getattr(found, name))
    if hasattr(model, "units_"):
        known["units"], known["errors"] = len(model.units_), model.errors_
    if hasattr(model, "support_"):
        known["support"] = len(model.support_)
    return known


def learned(model: Any, status: str = "", margin: tuple[float, float] | None = None) -> list[tuple[str, str]]:
    """Return how the training of a model ended, in words.

    ``status`` replaces the words of its result, and ``margin`` the bounds of its best margin.
    """
    from ...report.tables import counted, margin_words, short
    from ...result import often_corrected, rounded

    pairs, run = [], getattr(model, "result_", None)
    found = run or getattr(model, "optimum_", None)
    if found is not None:
        average = " The average of all weights is used." if getattr(model, "average", False) else ""
        pairs.append(("status", f"{status or found.status.problem}{average}"))
    if run is not None:
        made, kept = run.mistakes, run.kept_mistakes
        part = "" if made == kept else f"; the weights that were kept come from mistake {kept:,}"
        read = f"{made:,} in {counted(model.n_iter_, 'scan')} of all rows"
        pairs.append(("mistakes", f"{read}{often_corrected(run)}{part}"))
    if run is not None or hasattr(model, "margin_lower_"):
        kernel = getattr(model, "kernel_", None) or getattr(model, "kernel", None)
        best = _bounds(model) if margin is None else margin
        words = margin_words(best, _kind(model), "" if kernel is None else str(kernel))
        pairs.append(("best margin", words))
    if hasattr(model, "gap_"):
        gap = rounded(model.gap_, digits=2)
        pairs.append(("objective", f"{short(model.objective_)}, with a relative gap of at most {gap}"))
    if hasattr(model, "units_"):
        size, default = counted(len(model.units_), "half-space"), model.default_
        pairs.append(("units", f"{size}; rows that none of them holds get the class {default}"))
    if hasattr(model, "support_"):
        pairs.append(("support", f"{counted(len(model.support_), 'row')} that determine the boundary"))
    return pairs


def _bounds(model: Any) -> tuple[float, float]:
    found = getattr(model, "result_", None) or model.optimum_
    return float(found.margin_lower), float(found.margin_upper)


def _kind(model: Any) -> str:
    """Return the kind of margin that a model brackets, which depends on its intercept."""
    if getattr(model, "free_intercept", False):
        return "affine"
    return "lifted" if getattr(model, "fit_intercept", True) else "origin"


def _model(file: str, json: bool) -> None:
    from ...files.encoding import Encoding
    from ...storage.models import read

    saved = read(file)
    known = model_facts(saved.model)
    if json:
        versions = {"kind": "model", "format": saved.version, "release": saved.release}
        write_json({**versions, **known, "columns": saved.columns})
        return
    encoding = None if saved.columns is None else Encoding.from_dict(saved.columns)
    notes = [] if encoding is None else [("note", note) for note in encoding.told()]
    show(heading(f"A model: {known['type']}"), "", facts([*_pairs(known, saved), *notes]), "")
    show_table(_weights(saved.model, None if encoding is None else encoding.feature_names))


def _pairs(known: dict[str, Any], saved: Any) -> list[tuple[str, str]]:
    from .fit_command import last

    given = ", ".join(f"{key}={value!r}" for key, value in known["parameters"].items() if value is not None)
    last_only = " by the last weights" if known["parameters"].get("average") else ""
    errors = known.get("errors")
    return [
        ("saved by", f"separatrix {saved.release}, format {saved.version}"),
        ("parameters", given),
        ("features", "not fitted" if known["features"] is None else f"{known['features']:,}"),
        ("classes", ", ".join(map(str, known["classes"]))),
        *learned(last(saved.model), known.get("outcome", "")),
        *([] if errors is None else [("errors", f"{errors:,}{last_only}")]),
    ]


def _weights(estimator: Any, names: tuple[str, ...] | None, most: int = 10) -> Any:
    """Return a table of the largest weights of a linear model."""
    import numpy as np

    from ...report.tables import Listing, short
    from .fit_command import last

    model = last(estimator)
    if not hasattr(model, "coef_"):
        return None
    sizes = np.abs(model.coef_).max(axis=0)
    order = [j for j in np.argsort(-sizes, kind="stable")[:most].tolist() if sizes[j] > 0.0]
    labels = [str(model.classes_[-1])] if len(model.coef_) == 1 else [str(label) for label in model.classes_]
    rows = [
        (str(j) if names is None else names[j], *(short(float(value)) for value in model.coef_[:, j]))
        for j in order
    ]
    rows.append(("(intercept)", *(short(float(value)) for value in model.intercept_)))
    left = int(np.count_nonzero(sizes)) - len(order)
    note = f"{left:,} smaller weights are not shown." if left > 0 else ""
    return Listing("Weights", ("feature", *(f">for {label}" for label in labels)), tuple(rows), note)


def _certificate(file: str, json: bool) -> None:
    from ...files.encoding import Encoding, shown
    from ...report.tables import counted
    from ..certificate_files import unpack
    from .verify_command import columns_of, question_of

    parts, columns = unpack(Path(file).read_bytes())
    target = columns.get("target")
    if json:
        claims = [{"of": of, **_claim(proof)} for of, proof in parts]
        write_json({"kind": "certificate", "target": target, "certificates": claims})
        return
    encoding = Encoding.from_dict(columns["encoding"]) if "encoding" in columns else None
    for of, proof in parts:
        left = f"; {len(set(proof.excluded)):,} of the rows are left out" if proof.excluded else ""
        pairs = [
            ("question", question_of(proof)),
            ("classes", ", ".join(proof.classes)),
            ("target", str(target or "")),
            *([] if encoding is None else [("columns", shown(columns_of(encoding)))]),
            ("data", f"{counted(proof.n_rows, 'row')}, {counted(proof.n_columns, 'column')}{left}"),
            ("SHA-256", proof.sha256),
            ("proof", _claim(proof)["proof"]),
        ]
        show(heading(f"A certificate: {proof.claim}{f' ({of})' if of else ''}"), "", facts(pairs), "")
    show("A certificate is only a claim until it is checked: separatrix verify CERTIFICATE DATA")


def _claim(proof: Any) -> dict[str, Any]:
    parts = []
    if proof.weights is not None:
        parts.append(f"{len(proof.weights)} weight vector{'s' if len(proof.weights) > 1 else ''}")
    if proof.multipliers is not None:
        parts.append(f"multipliers on {len(proof.multipliers.rows):,} rows")
    if proof.approximate is not None:
        parts.append(f"approximate multipliers on {len(proof.approximate.rows):,} rows")
    return {
        "claim": proof.claim,
        "question": proof.question,
        "classes": list(proof.classes),
        "intercept": proof.lift,
        "rows": proof.n_rows,
        "columns": proof.n_columns,
        "sha256": proof.sha256,
        "proof": " and ".join(parts) or "nothing",
    }


def _plain(value: Any) -> Any:
    """Return a number or text as it is, and anything else as text."""
    import numpy as np

    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, bool | int | float | str | None) else str(value)
