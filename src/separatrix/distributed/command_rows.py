"""The rows of a command on the workers of a Dask cluster: one that runs already, or one of this machine."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..errors import ClusterError, InputError, SeparatrixError, needs
from ..float_environment import need_exact_floats
from ..progress import Progress
from ..report.tables import NamedData

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..files.table import Table
    from .file_parts import Part

PATIENCE = 10.0  # seconds that a scheduler and a first worker have to answer
ADDRESS = re.compile(r"((tcp|tls|ws|wss)://)?([^\s:/]+|\[[0-9A-Fa-f:.%\w]+\]):\d+")
INTERVAL = 0.2  # seconds between two looks at what has been read
# After so long without a sign of life, a worker of our own is taken for dead, and others do its work.
SILENCE = "30s"


def connect(scheduler: str | None, workers: int | None, closing: ExitStack) -> Any:
    """A client of the scheduler of that address or file, or of so many new workers; current until closing."""
    with needs("A cluster", extra="dask"):
        import distributed
    if scheduler is not None and workers is not None:
        raise InputError("Use --scheduler for a cluster that runs, or --workers for one here; not both.")
    if workers is not None:
        cluster = closing.enter_context(_local(workers))
        client = closing.enter_context(distributed.Client(cluster, set_as_default=False))
    else:
        assert scheduler is not None
        client = closing.enter_context(_running(scheduler))
    closing.enter_context(client.as_current())
    _need_same_version(client)
    return client


@contextmanager
def _local(workers: int) -> Iterator[Any]:
    import dask
    import distributed

    with ExitStack() as stack:
        # Read while processes are started; and what ignores Ctrl-C now, ignores it ever after.
        with dask.config.set({"distributed.scheduler.worker-ttl": SILENCE}), _without_interrupts():
            cluster = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50
                )
            )
        yield cluster


@contextmanager
def _without_interrupts() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _running(scheduler: str) -> Iterator[Any]:
    """A client of a scheduler that runs. Its keys, if it has any, are those of Dask's own configuration."""
    import distributed

    address = scheduler
    try:
        if Path(scheduler).is_file():
            address = _written(Path(scheduler))
        if not ADDRESS.fullmatch(address):
            raise ValueError("no address of the form tcp://host:port")
        with _quiet():
            asyncio.run(_knock(address))
            client = distributed.Client(address, set_as_default=False, timeout=PATIENCE)
    except Exception as error:
        raise ClusterError(
            f"No Dask scheduler answers at {scheduler!r} ({_first_line(error)}). Needed is its address, like "
            "tcp://host:8786, or the file that it writes. Where it speaks TLS, the address begins with "
            "tls://, and Dask's configuration (DASK_CONFIG) names the keys."
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except Exception as error:
            raise ClusterError(f"The scheduler at {scheduler!r} has no workers. Start some.") from error
        yield client


def _written(path: Path) -> str:
    """The address in the file that a scheduler wrote."""
    try:
        return str(json.loads(path.read_bytes())["address"])
    except (ValueError, LookupError, TypeError):
        raise ValueError("no file that a scheduler writes") from None


async def _knock(address: str) -> None:
    """Raise where nobody answers: a client that never had a scheduler takes long to close, and complains."""
    from distributed.comm import connect as open_comm
    from distributed.security import Security

    keys = Security().get_connection_args("client")
    comm = await open_comm(address, timeout=PATIENCE, **keys)
    await comm.close()


@contextmanager
def _quiet() -> Iterator[None]:
    """What Dask logs while it tries to connect is said by the error."""
    import logging

    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def _need_same_version(client: Any) -> None:
    try:
        found = client.run(_version)
    except Exception as error:
        raise ClusterError(
            f"The workers cannot run separatrix ({_first_line(error)}). Install separatrix[cli,dask] "
            f"{__version__} on each of them."
        ) from error
    for worker, version in found.items():
        if version != __version__:
            raise ClusterError(
                f"The worker at {worker} has separatrix {version}, and this is {__version__}. Install the "
                "same version everywhere."
            )


def _version() -> str:
    return __version__


def read(table: Table, client: Any) -> tuple[Any, Any]:
    """Let the workers read a table; X and y (None without a target) are Dask arrays of what they hold."""
    import numpy as np

    from .file_parts import cut

    parts = cut(table)
    if not table.encoding.n_features:
        table.batches()  # says so
    read = client.map(_read, parts, key="separatrix-read", pure=False)
    _wait(read, parts, client, here=table.batches())
    facts = client.gather(client.map(_facts, read, key="separatrix-look", pure=False))
    full = [k for k, (length, _) in enumerate(facts) if length]
    if not full:
        raise table.empty()
    table.need_unchanged()
    X = _joined(client, read, 0, {k: (facts[k][0], table.encoding.n_features) for k in full}, np.dtype(float))
    if table.target_name is None:
        return X, None
    kind = np.result_type(*[facts[k][1] for k in full])
    return X, _joined(client, read, 1, {k: facts[k][:1] for k in full}, kind)


def _joined(client: Any, read: list[Any], place: int, shapes: dict[int, Any], kind: np.dtype[Any]) -> Any:
    """A Dask array of the features (place 0) or labels (1) of the parts that have rows."""
    import dask.array as da
    from dask.delayed import delayed

    chosen = [read[k] for k in shapes]
    parts = client.map(itemgetter(place), chosen, key="separatrix-read-part", pure=False)
    return da.concatenate(
        [
            da.from_delayed(delayed(part), shape, dtype=kind)
            for part, shape in zip(parts, shapes.values(), strict=True)
        ]
    )


def _read(part: Part) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
    need_exact_floats()  # a worker that counts subnormal numbers as zero reads them as zero
    return part.read()


def _facts(read: tuple[NDArray[np.float64], NDArray[Any] | None]) -> tuple[int, np.dtype[Any]]:
    X, y = read
    return len(X), X.dtype if y is None else y.dtype


def _wait(futures: Sequence[Any], parts: Sequence[Any], client: Any, here: Iterable[Any]) -> None:
    """Wait for all parts; what is wrong with the rows is said as without a cluster, by doing it ``here``."""
    from distributed import wait

    with Progress() as progress:
        while left := [each for each in futures if not each.done()]:
            with suppress(TimeoutError):
                wait(left, timeout=INTERVAL)
            if client.status != "running":
                raise _lost()
            if progress.due():
                progress.show(f"{len(futures) - len(left)} of {len(futures)} parts of the file read")
    for each, part in zip(futures, parts, strict=True):
        if each.status == "error":
            raise _not_read(each.exception(), part, here)
        if each.status != "finished":
            raise _lost()


def _lost() -> ClusterError:
    return ClusterError("The scheduler went away, or dropped what was asked of it. Look at its log.")


def _not_read(error: BaseException, part: Any, here: Iterable[Any]) -> Exception:
    """The error of a worker, where this process does not meet it."""
    if isinstance(error, SeparatrixError):
        for _ in here:
            pass
    if type(error).__name__ == "KilledWorker":
        return ClusterError(f"In {part.place}: every worker that read it died. Give the workers more memory.")
    return ClusterError(
        f"In {part.place}: a worker could not read it, and this process can ({_first_line(error)}). Every "
        "worker needs the file under the same path."
    )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__


@dataclass(frozen=True, eq=False)
class _There:
    """A Dask array, of which a few rows or columns are fetched."""

    array: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)

    def __getitem__(self, key: Any) -> Any:
        return self.array[key].compute()


@dataclass(frozen=True, eq=False)
class DataThere(NamedData):
    """Rows on a cluster; labels are fetched, and of the numbers what is shown."""

    def column(self, index: int) -> NDArray[np.float64]:
        """All values of a column."""
        found: NDArray[np.float64] = self.X.array[:, index].compute()
        return found


def data_there(X: Any, y: Any, table: Table) -> DataThere:
    """Rows on a cluster, to be shown."""
    return DataThere(_There(X), y.compute(), table.feature_names, table.places)


def outputs(table: Table, client: Any, model: Any, here: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """What a model says of the rows, and their labels, part after part; the workers read and compute.

    ``here`` gives the same without workers: where one of them meets an error, it is said as there.
    """
    from .file_parts import cut

    parts = cut(table)
    futures = client.map(_outputs, parts, model=model, key="separatrix-predict", pure=False)
    for k, part in enumerate(parts):
        _wait(futures[k : k + 1], [part], client, here)
        found = futures[k].result()
        futures[k] = None  # its worker need not keep it
        if len(found[0]):
            yield found
    table.need_unchanged()


def _outputs(part: Any, *, model: Any) -> tuple[Any, Any]:
    from ..inputs import refuse_not_finite

    need_exact_floats()
    X, y = part.read()
    if not len(X):
        return X[:, 0], y
    if hasattr(model, "steps"):
        refuse_not_finite(X)  # a scaler does not name the row
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # arrays have no column names; the encoding has seen to them
        return model.decision_function(X), y
