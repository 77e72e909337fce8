"""Commands whose rows are on a cluster: the answers, certificates and errors of the same commands without."""

from __future__ import annotations

import json
import pickle
import socket
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.app import app
from separatrix.distributed import command_rows as cluster
from separatrix.distributed import file_parts as partitions
from separatrix.errors import InputError
from separatrix.files.table import open_table

distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

N = 600
OPTIONS = [
    {},
    {"where": "b > 3"},
    {"features": ["b", "light"]},
    {"exclude": ["light", "dose"], "missing": "drop"},
    {"na": ["sun"], "missing": "drop"},
    {"text": ["b"]},
    {"row_names": "id", "intercept": False},
]


def frame():
    """Rows with an identifier, levels of which one is in the last file only, and decimal commas."""
    rng = np.random.default_rng(0)
    found = pd.DataFrame(
        {
            "id": np.arange(N),
            "a": rng.normal(size=N),
            "b": rng.integers(0, 9, N),
            "light": rng.choice(["sun", "shade", "dark"], N),
            "dose": [f"{x:.2f}".replace(".", ",") for x in rng.normal(size=N)],
        }
    )
    found.loc[N - 20 :, "light"] = "rare"
    noise = rng.uniform(-0.2, 0.2, N)
    found["y"] = np.where(found["a"] + 0.2 * found["b"] + noise > 0.5, "yes", "no")
    return found


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same table as Parquet files with several groups of rows each, and as CSV files."""
    place, rows = tmp_path_factory.mktemp("it's here"), frame()
    (place / "table").mkdir()
    for k, start in enumerate(range(0, N, 55)):
        rows[start : start + 55].to_parquet(place / "table" / f"part.{k}.parquet", row_group_size=30)
    for k in range(3):
        rows[k * 200 : k * 200 + 200].to_csv(place / f"{k}.csv", index=False)
    return place


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(partitions, "SIZE", 8 * 6 * 60)


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", ["table", "*.csv"])
def test_parts_of_a_table_are_its_rows(files, small_parts, kind, options):
    table = open_table(files / kind, target="y", **options)
    X, y = table.read()
    sent = pickle.loads(pickle.dumps(partitions.cut(table)))
    assert len(sent) > 2
    features, labels = zip(*(each.read() for each in sent), strict=True)
    assert np.array_equal(np.concatenate(features), X)
    assert np.array_equal(np.concatenate([each for each in labels if each.size]), y)


def test_files_of_a_folder_are_in_the_order_of_their_numbers(files):
    assert np.array_equal(open_table(files / "table", features=["a"]).read()[0][:, 0], frame()["a"])


def test_a_number_that_comes_late_in_a_csv_file_is_read_as_without_a_cluster(tmp_path):
    lines = ["a,b,y", *(f"{k},{k % 7},{k % 2}" for k in range(30_000)), '"1,5",3,1']
    (tmp_path / "late.csv").write_text("\n".join(lines))
    table = open_table(tmp_path / "late.csv", target="y", features=["a", "b"])
    (part,) = partitions.cut(table)
    X, y = open_table(tmp_path / "late.csv", target="y", features=["a", "b"]).read()
    found = part.read()
    assert np.array_equal(found[0], X)
    assert np.array_equal(found[1], y)
    assert X[-1, 0] == 1.5


def test_a_file_that_is_another_one_elsewhere_is_refused(tmp_path):
    path = tmp_path / "rows.parquet"
    frame().to_parquet(path)
    (part,) = partitions.cut(open_table(path, target="y", features=["a", "b"]))
    frame()[:-1].to_parquet(path)
    with pytest.raises(InputError, match="there are 599 rows; the file is another one here"):
        part.read()


def test_names_that_are_patterns_are_refused(tmp_path):
    frame().to_parquet(tmp_path / "a[1].parquet")
    with pytest.raises(InputError, match="sign of patterns"):
        partitions.cut(open_table(tmp_path / "a[1].parquet", target="y"))


def test_groups_of_rows_are_cut_only_where_they_are_large(tmp_path, monkeypatch):
    path = tmp_path / "groups.parquet"
    pd.DataFrame({"a": np.arange(100.0)}).to_parquet(path, row_group_size=10)
    for size, wanted in ((8 * 30, [30, 30, 30, 10]), (8 * 4, [5] * 20), (8 * 1000, [100])):
        monkeypatch.setattr(partitions, "SIZE", size)
        assert [stop - start for start, stop in partitions._spans(str(path), 1)] == wanted


@pytest.fixture
def there(two_workers, small_parts):
    """The option that names the cluster of the tests."""
    return ("--scheduler", two_workers.scheduler.address)


@pytest.mark.parametrize("kind", ["table", "*.csv"])
def test_a_verdict_on_a_cluster_is_the_one_without(files, there, tmp_path, kind):
    certificates = {}
    for name, where in (("here", ()), ("there", there)):
        file = tmp_path / f"{name}.json"
        found = run("check", files / kind, "--target", "y", "--certificate", file, "--json", *where)
        assert found.exit_code == 0, found.stderr
        certificates[name] = json.loads(file.read_text())
        answer = json.loads(found.stdout)
        assert (answer["status"], answer["data"]["rows"]) == ("overlapping", N)
    for key in ("columns", "data", "claim", "question"):
        assert certificates["there"][key] == certificates["here"][key]
    for name in certificates:
        for where in ((), there):
            checked = run("verify", tmp_path / f"{name}.json", files / kind, *where)
            assert checked.exit_code == 0, checked.stderr
    wrong = [run("verify", tmp_path / "here.json", files / kind, "--where", "b > 0", *w) for w in ((), there)]
    assert wrong[0].exit_code == wrong[1].exit_code != 0
    assert wrong[0].output == wrong[1].output


def test_the_words_of_an_answer_are_those_without_a_cluster(files, there):
    asked = ("check", files / "table", "--target", "y", "--features", "a,b")
    here, found = run(*asked), run(*asked, *there)
    assert here.exit_code == found.exit_code == 0
    assert "Rows that prove it" in found.stdout
    assert found.stdout.split("\n\n")[:2] == here.stdout.split("\n\n")[:2]
    separable = (
        "check",
        files / "table",
        "--target",
        "y",
        "--features",
        "a,b",
        "--where",
        "abs(a + 0.2 * b - 0.5) > 0.3",
    )
    here, found = run(*separable), run(*separable, *there)
    assert "Variables that separate" in found.stdout
    assert found.stdout.split("Variables that separate")[1] == here.stdout.split("Variables that separate")[1]


def test_a_model_of_a_cluster_predicts_alike_on_it_and_here(files, there, tmp_path):
    model, chosen = tmp_path / "model.skops", ("--where", "abs(a + 0.2 * b - 0.5) > 0.3")
    found = run("fit", files / "table", "-t", "y", "-m", "max-margin", "-o", model, "--json", *chosen, *there)
    assert found.exit_code == 0, found.stderr
    ours = json.loads(found.stdout)
    theirs = json.loads(run("fit", files / "table", "-t", "y", "-m", "max-margin", "--json", *chosen).stdout)
    assert ours["errors"] == theirs["errors"] == 0
    assert ours["data"] == theirs["data"]
    outputs = []
    for where in ((), there):
        file = tmp_path / f"predicted{len(where)}.csv"
        told = run("predict", model, files / "table", "-o", file, "--scores", "-t", "y", *where)
        assert told.exit_code == 0, told.stderr
        outputs.append((file.read_bytes(), told.stderr.replace(str(file), "")))
    assert outputs[0] == outputs[1]
    assert sx.load(model).feature_names_in_.tolist()[0] == "a"


def test_what_is_wrong_with_the_rows_is_said_as_without_a_cluster(there, tmp_path, files):
    rows = frame()
    rows.loc[431, "a"] = np.nan
    for k in range(3):
        rows[k * 200 : k * 200 + 200].to_parquet(tmp_path / f"{k}.parquet")
    asked = ("check", tmp_path / "*.parquet", "--target", "y")
    here, found = run(*asked), run(*asked, *there)
    assert here.exit_code == found.exit_code == 2
    assert "row 432" in here.stderr
    assert found.stderr == here.stderr
    rows.loc[431, "a"] = np.inf
    model = tmp_path / "model.skops"
    assert run("fit", files / "table", "-t", "y", "--max-iter", "2", "-o", model).exit_code == 0
    for k in range(3):
        rows[k * 200 : k * 200 + 200].to_parquet(tmp_path / f"{k}.parquet")
    here, found = (run("predict", model, tmp_path / "*.parquet", *where) for where in ((), there))
    assert here.exit_code == found.exit_code == 2
    assert "row 432" in here.stderr
    assert found.stderr == here.stderr
    found = run(*asked, *there)
    assert found.exit_code == 2
    assert "row 432" in found.stderr


def test_a_file_that_only_this_machine_has_is_named(files, there, two_workers, monkeypatch):
    real = Path(partitions.__file__)
    assert real.exists()
    monkeypatch.setattr(partitions.os.path, "abspath", lambda path: f"/elsewhere/{Path(path).name}")
    found = run("check", files / "table", "--target", "y", *there)
    assert found.exit_code == 2
    assert "part.0.parquet" in found.stderr
    assert "under the same path" in found.stderr


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_a_scheduler_that_does_not_answer_is_named(files, monkeypatch, tmp_path):
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    (tmp_path / "no scheduler.json").write_text("{}")
    (tmp_path / "a list.json").write_text("[1]")
    for address in (
        f"tcp://127.0.0.1:{free_port()}",
        f"tls://127.0.0.1:{free_port()}",
        "nonsense",
        "foo://host:1",
        f"tcp://[::1]:{free_port()}",
        tmp_path / "no scheduler.json",
        tmp_path / "a list.json",
    ):
        for command in ("check", "fit"):
            found = run(command, files / "table", "--target", "y", "--scheduler", address)
            assert found.exit_code == 2
            assert f"No Dask scheduler answers at {str(address)!r}" in found.stderr
            assert len(found.stderr.strip().splitlines()) == 1
            assert ("no file that a scheduler writes" in found.stderr) == str(address).endswith(".json")
            assert ("no address of the form" in found.stderr) == (address in ("nonsense", "foo://host:1"))


def test_a_scheduler_without_workers_is_named(files, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as empty:
        found = run("check", files / "table", "--target", "y", "--scheduler", empty.scheduler_address)
    assert found.exit_code == 2
    assert "has no workers" in found.stderr


@pytest.mark.slow
def test_a_scheduler_that_goes_away_is_named(files, monkeypatch):
    read = cluster.read
    with distributed.LocalCluster(
        n_workers=1, processes=False, protocol="tcp", dashboard_address=None, silence_logs=50
    ) as local:

        def read_and_close(table, client):
            rows = read(table, client)
            local.close()
            return rows

        monkeypatch.setattr(cluster, "read", read_and_close)
        found = run("check", files / "table", "--target", "y", "--scheduler", local.scheduler_address)
    assert found.exit_code == 2
    assert "lost its scheduler" in found.stderr
    assert len(found.stderr.strip().splitlines()) == 1


def test_a_worker_of_another_version_is_refused(files, there, monkeypatch):
    monkeypatch.setattr(cluster, "__version__", "0.0.1")
    found = run("check", files / "table", "--target", "y", *there)
    assert found.exit_code == 2
    assert f"has separatrix {sx.__version__}, and this is 0.0.1" in found.stderr


@pytest.mark.parametrize(
    "wrong",
    [
        ("check", "--report", "r.html"),
        ("check", "--formula", "y ~ a"),
        ("check", "--degree", "2"),
        ("check", "--memory", "1GB"),
        ("check", "--sql", "FROM data"),
        ("check", "--scheduler", "tcp://127.0.0.1:1"),
        ("fit", "--scale"),
        ("fit", "--folds", "3"),
        ("fit", "--holdout", "0.2"),
        ("fit", "--bounds"),
        ("fit", "--order", "cyclic"),
        ("fit", "--kernel", "rbf", "--model", "soft-margin"),
        ("fit", "--model", "kernel"),
        ("fit", "--model", "averaged"),
        ("fit", "--trace", "t.csv"),
    ],
    ids=lambda each: " ".join(each),
)
def test_what_a_cluster_cannot_do_is_refused_before_one_is_asked(files, monkeypatch, wrong):
    monkeypatch.setattr(distributed, "LocalCluster", None)
    command, *options = wrong
    found = run(command, files / "table", "--target", "y", "--workers", "2", *options)
    assert found.exit_code == 2
    assert options[0].removeprefix("--") in found.stderr


def test_what_is_no_parquet_or_csv_file_is_refused(tmp_path, there):
    (tmp_path / "x.svm").write_text("1 1:2\n0 1:3\n")
    found = run("check", tmp_path / "x.svm", *there)
    assert found.exit_code == 2
    assert "of the kind libsvm" in found.stderr
    found = CliRunner().invoke(app, ["check", "-", "-t", "y", *there], input="a,y\n1,0\n2,1\n3,1\n4,0\n")
    assert found.exit_code == 2
    assert "standard input" in found.stderr


def test_a_csv_file_whose_lines_end_in_two_ways_is_read(tmp_path, there):
    (tmp_path / "x.csv").write_bytes(b"a,t,y\r\n1,u,0\n2,v,1\r\n3,u,0\n4,v,1\r\n")
    found = run("check", tmp_path / "x.csv", "-t", "y", *there)
    assert found.exit_code == 0, found.stderr


def test_workers_are_started_for_one_command(files):
    found = run("check", files / "0.csv", "--target", "y", "--features", "a,b", "--workers", "1", "--json")
    assert found.exit_code == 0, found.stderr
    assert json.loads(found.stdout)["status"] == "overlapping"
    with pytest.raises(ValueError, match="No clients"):
        distributed.default_client()
