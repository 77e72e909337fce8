"""``separatrix export``: write a model as an ONNX graph, which runs without Python."""

from __future__ import annotations

from .. import options
from ..console import facts, heading, show, write_json


def export(model: str, *, onnx: str, dtype: str = "float64", json: bool = False) -> None:
    """Write a model as an ONNX graph with the outputs label and scores.

    For example:

        separatrix export model.skops --onnx model.onnx

    Options
    -------
    model MODEL: The file that fit or learn wrote.
    onnx FILE: Where to write the ONNX graph.
    dtype float64|float32: The type of the numbers in the graph.
    """
    from ...atomic import write_bytes
    from ...storage.models import read
    from ...storage.onnx import to_onnx

    options.need_apart(model, onnx=onnx)
    graph = to_onnx(read(model).model, dtype=dtype).SerializeToString()
    write_bytes(onnx, graph)
    if json:
        write_json({"onnx": onnx, "bytes": len(graph), "dtype": dtype})
        return
    pairs = [
        ("file", f"{onnx}, {len(graph):,} bytes"),
        ("input", f"X: {dtype}, one row per sample"),
        ("outputs", "label, scores"),
    ]
    show(heading("An ONNX graph"), "", facts(pairs), "")
