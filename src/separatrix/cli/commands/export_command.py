"""``separatrix export``: a model as an ONNX graph, which runs without Python."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Annotated, Any

import typer

from .. import options
from ..console import facts, heading, show, write_json


@options.reads(only=("sheet", "encoding"))
def export(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The file that fit or learn wrote.")],
    source: options.Reading,
    onnx: Annotated[str, typer.Option("--onnx", metavar="FILE", help="Where to write the ONNX graph.")],
    dtype: Annotated[
        str,
        typer.Option("--dtype", metavar="float64|float32", help="The numbers that the graph computes with."),
    ] = "float64",
    check: Annotated[
        str | None,
        typer.Option(
            "--check", metavar="DATA", help="Compare graph and model on these rows (needs onnxruntime)."
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Write a model as an ONNX graph with the outputs label and scores.

    For example:

        separatrix export model.skops --onnx model.onnx --check new.csv
    """
    from ...atomic import write_bytes
    from ...storage.models import read
    from ...storage.onnx import to_onnx

    options.need_apart(model, onnx=onnx)
    saved = read(model)
    graph = to_onnx(saved.model, dtype=dtype).SerializeToString()
    found = None if check is None else _compare(graph, saved, replace(source, data=check), dtype)
    write_bytes(onnx, graph)
    if json:
        write_json({"onnx": onnx, "bytes": len(graph), "dtype": dtype, "check": found})
        return
    pairs = [
        ("file", f"{onnx}, {len(graph):,} bytes"),
        ("input", f"X: {dtype}, one row per line"),
        ("outputs", "label, scores"),
    ]
    if found is not None:
        labels = f"{found['rows']:,} rows: {found['labels_differing']:,} labels differ"
        pairs.append(("check", f"{labels}, scores by {found['largest_difference']:.1e} of the largest"))
    show(heading("An ONNX graph"), "", facts(pairs), "")


def _compare(graph: bytes, saved: Any, source: options.Reading, dtype: str) -> dict[str, Any]:
    """How far the graph is from the model on some rows."""
    import numpy as np

    from ...errors import MissingPackageError
    from ...files.encoding import Encoding
    from ...inputs import refuse_not_finite
    from ...sparse import dense

    try:
        import onnxruntime
    except ImportError:
        raise MissingPackageError(
            "--check needs onnxruntime. Install it with: pip install onnxruntime"
        ) from None
    encoding = None if saved.columns is None else Encoding.from_dict(saved.columns)
    rows = source.open(known=encoding)
    session = onnxruntime.InferenceSession(graph)
    seen = differing = 0
    apart = largest = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for X, _ in rows.batches(4096):
            refuse_not_finite(X)
            table = np.ascontiguousarray(dense(X), dtype=dtype)
            labels, scores = session.run(["label", "scores"], {"X": table})
            expected = saved.model.decision_function(X)
            seen += len(labels)
            differing += int(np.count_nonzero(labels.astype(str) != saved.model.predict(X).astype(str)))
            apart = max(apart, float(np.abs(scores - expected).max()))
            largest = max(largest, float(np.abs(expected).max()))
    if not seen:
        raise typer.BadParameter(f"{source.data!r} has no rows to compare on.")
    return {"rows": seen, "labels_differing": differing, "largest_difference": apart / (largest or 1.0)}
