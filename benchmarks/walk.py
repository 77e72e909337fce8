"""Call paths: the modules and functions that some calls enter, counted by ``sys.setprofile``.

python -m benchmarks.walk [--old CHECKOUT] [--list NAME]

A call runs once, so that everything is imported and compiled. Then a second run counts the modules and
functions of this package that it enters, and the largest number of its functions on the stack. Comprehensions
and lambdas belong to the function that contains them; threads are not followed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
ROWS, COLUMNS = 200, 4


class Walk(NamedTuple):
    """The counts of a call."""

    modules: int
    functions: int
    depth: int


def walk(call: Callable[[], Any], package: str, *, listing: bool = False) -> Walk:
    """Call twice, and count the functions of a directory that the second call enters.

    With ``listing``, print each function where it is first entered, below the one that called it.
    """
    call()
    entered: set[tuple[str, int]] = set()
    deepest = 0
    inside: list[FrameType] = []
    lines: list[str] = []

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal deepest
        code = frame.f_code
        if not code.co_filename.startswith(package) or code.co_name.startswith("<"):
            return
        if event == "call":
            inside.append(frame)
            if (code.co_filename, code.co_firstlineno) not in entered:
                lines.append(f"{'  ' * len(inside)}{code.co_filename[len(package) :]}: {code.co_qualname}")
            entered.add((code.co_filename, code.co_firstlineno))
            deepest = max(deepest, len(inside))
        elif event == "return" and inside and inside[-1] is frame:
            inside.pop()

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    if listing:
        print(*lines, sep="\n")
    return Walk(len({name for name, _ in entered}), len(entered), deepest)


def ways(place: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The calls, by name; their files are written into a directory."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    import separatrix as sx
    from separatrix import cli

    problem = sx.datasets.make_separable(ROWS, COLUMNS, margin=0.1, random_state=0)
    X, y = problem.X, problem.y
    table = pa.table({**{f"x{j}": X[:, j] for j in range(COLUMNS)}, "y": y})
    pa.parquet.write_table(table, place / "x.parquet")
    pa.csv.write_csv(table, place / "x.csv")

    def program(*arguments: object) -> Callable[[], None]:
        def run() -> None:
            sys.argv = ["separatrix", *map(str, arguments)]
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                try:
                    cli.main()
                except SystemExit as end:
                    if end.code:
                        raise RuntimeError(f"{arguments} ended with {end.code}") from end

        return run

    def rows_of(name: str) -> Callable[[], Any]:
        try:
            from separatrix.files.table import open_table
        except ModuleNotFoundError:  # where it was before the packages were made
            open_table = import_module("separatrix.rows.files").open_table

        def read() -> None:
            table = open_table(str(place / name), target="y")
            _ = table.classes
            table.read()

        return read

    yield "separability(X, y)", lambda: sx.separability(X, y)
    yield "Perceptron().fit(X, y)", lambda: sx.Perceptron().fit(X, y)
    yield "MaxMargin().fit(X, y)", lambda: sx.MaxMargin().fit(X, y)
    yield "check x.parquet", program("check", place / "x.parquet", "--target", "y")
    yield "learn x.csv", program("learn", place / "x.csv", "--target", "y")
    yield "the rows of x.parquet", rows_of("x.parquet")
    yield "the rows of x.csv", rows_of("x.csv")


def count_all(listed: str | None = None) -> dict[str, Walk]:
    """Count each call path of the imported package; list the functions of those with this prefix."""
    import separatrix as sx

    warnings.simplefilter("ignore")
    package = str(Path(sx.__file__).parent) + os.sep
    with tempfile.TemporaryDirectory() as folder:
        return {
            name: walk(call, package, listing=listed is not None and name.startswith(listed))
            for name, call in ways(Path(folder))
        }


def count_in(checkout: Path) -> dict[str, Walk]:
    """Count the call paths of another checkout, in a separate process."""
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve() / "src")}
    done = subprocess.run(
        [sys.executable, __file__, "--worker"], env=environment, capture_output=True, text=True, check=True
    )
    return {name: Walk(*counts) for name, counts in json.loads(done.stdout).items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.walk", description=__doc__.splitlines()[0])
    parser.add_argument("--old", type=Path, metavar="CHECKOUT", help="a tree to show beside this one")
    parser.add_argument("--list", metavar="NAME", help="print the functions on the way that begins so, too")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(count_all()))
        return
    if options.list is not None:
        count_all(options.list)
    trees = [count_in(each) for each in (options.old, ROOT) if each is not None]
    heads = ["before", "now"][-len(trees) :]
    print(f"| modules / functions / depth | {' | '.join(heads)} |")
    print(f"|---|{'---|' * len(trees)}")
    for name in trees[-1]:
        cells = [" / ".join(map(str, tree[name])) for tree in trees]
        print(f"| `{name}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
