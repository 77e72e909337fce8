"""The second checker: alone in one file, of one mind with the first, and exact."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.certificates.check import Check, check_claim
from separatrix.checker import check_certificate as second
from separatrix.errors import CertificateError
from separatrix.inputs.data import read_data
from separatrix.sparse import sparse
from tests import fuzz_certificates
from tests.second import ask, both_check

FILE = Path(second.__file__)
# What the first checker imports of the package, besides itself.
XOR = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
CSV = "a,b,y\n0,0,0\n1,1,0\n0,1,1\n1,0,1\n"
THREE = "a,b,y\n" + "".join(f"{i % 3},{i % 5},k{i % 4}\n" for i in range(30))


def alone(folder, *arguments):
    """Run a copy of the file that has nothing around it."""
    copy = shutil.copy(FILE, folder / "copied.py")
    command = [sys.executable, "-I", "-S", copy, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=60)


def document(claim, X, classes=("0", "1"), *, kind="binary", lift=True, chosen=(), excluded=(), **more):
    """The fields of a certificate."""
    rows, columns = np.shape(X)
    question = {"kind": kind, "classes": list(classes), "chosen": list(chosen), "lift": lift}
    question |= {"excluded": list(excluded)} | more.pop("question", {})
    data = {"rows": rows, "columns": columns, "sha256": "0" * 64}
    head = {"format": "separatrix certificate", "version": 1, "claim": claim, "question": question}
    return {**head, "data": data, "weights": None, "multipliers": None, **more}


def exact(rows, multipliers, rivals=()):
    return {
        "rows": list(rows),
        "rivals": list(rivals),
        "coarse": [str(each) for each in multipliers],
        "fine": [],
        "denominator": "1",
    }


def near(rows, values, left_out=(), rivals=()):
    values = [float(value).hex() for value in values]
    return {"rows": list(rows), "rivals": list(rivals), "values": values, "left_out": list(left_out)}


def said(text, X, y):
    """What the first checker says, and the second; None where a certificate cannot be read."""
    try:
        first = sx.verify(text, X, y, same_data=False).holds
    except CertificateError:
        first = None
    return first, ask(text, np.asarray(X), list(y))[0]


def test_the_second_checker_is_one_file_of_the_standard_library_and_at_most_800_lines():
    source = FILE.read_text("utf-8")
    assert len(source.splitlines()) <= 800
    tree = list(ast.walk(ast.parse(source)))
    names = [each.name for node in tree if isinstance(node, ast.Import) for each in node.names]
    assert not [node for node in tree if isinstance(node, ast.ImportFrom) and node.level]
    names += [node.module for node in tree if isinstance(node, ast.ImportFrom)]
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


@pytest.mark.parametrize(
    ("multiclass", "degree"), [("joint", None), ("joint", 2), ("one-vs-rest", None), ("pairwise", 2)]
)
def test_a_copy_of_the_file_checks_what_the_library_writes(tmp_path, multiclass, degree):
    rng = np.random.default_rng(5)
    X, y = rng.integers(-2, 3, (12, 2)) / 4, np.r_[0:3, rng.integers(0, 3, 9)]
    options = {} if degree is None else {"kernel": sx.kernels.Polynomial(degree=degree)}
    verdict = sx.separability(X, y, multiclass=multiclass, **options)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    for part in verdict.parts.values() if verdict.parts else [verdict]:
        (tmp_path / "proof.json").write_text(part.certificate.to_json())
        done = alone(tmp_path, "proof.json", "data.npz")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[1].startswith(f"{part.certificate.claim}. Proved for ")
        assert done.stdout.endswith("The certificate holds.\n")


@pytest.mark.parametrize(
    "dtype", ["f8", ">f8", "f4", "f2", "i8", ">i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"]
)
@pytest.mark.parametrize("layout", ["rows", "columns", "csr"])
def test_the_second_checker_reads_and_hashes_arrays_as_the_library_does(tmp_path, dtype, layout):
    X = np.array([[0, 1], [1, 0], [0, 0], [1, 1], [1, 1]]).astype(dtype)
    y = np.array(["no", "yes", "é", "no", "yes"])
    if dtype == "u8":
        X[0, 1] = 2**64 - 1
    if layout == "columns":
        X = np.asfortranarray(X)
    parts = {"X": X}
    if layout == "csr":
        X = sparse.csr_array(X.astype("f4") if dtype == "f2" else X.astype(X.dtype.newbyteorder("=")))
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    np.savez(tmp_path / "data.npz", y=y, **parts)
    table, columns = second.read_arrays((tmp_path / "data.npz").read_bytes(), {})
    labels = columns["y"]
    certificate = sx.separability(X, y).certificate
    codes = [sorted({*labels}).index(label) for label in labels]
    assert second.digest(table, list(certificate.classes), codes) == certificate.sha256
    assert ask(certificate.to_json(), read_data(X, y).matrix, labels, same_data=True) == (True, "")


def test_the_target_of_a_matrix_is_the_number_of_a_column(tmp_path):
    X, y = np.array([[0.5, 2.0], [1.5, 3.0], [2.5, 9.0]]), np.array([0.0, 0.0, 1.0])
    for at in (1, 2, 3):
        np.save(tmp_path / "data.npy", np.insert(X, at - 1, y, axis=1))
        table, columns = second.read_arrays((tmp_path / "data.npy").read_bytes(), {"y": str(at)})
        assert (columns["y"], table.shape, list(table.values)) == (y.tolist(), (3, 2), X.ravel().tolist())


def test_a_cell_is_read_as_the_nearest_float_and_never_rounded_if_it_is_whole():
    cells = ["0.1", "1e-400", "-0", " 7", "+1.5e3", "9007199254740992", ".5", "2."]
    table, columns = second.read_csv(
        ("x,y\n" + "".join(f"{c},{i % 2}\n" for i, c in enumerate(cells))).encode(), {"y": "y"}
    )
    assert list(map(repr, table.values)) == [repr(float(cell)) for cell in cells]
    assert columns == {"y": [0, 1] * 4}
    for bad in ("9007199254740993", "1_0", "0x10", "nan", "inf", "", "1,2", "٣", "1 2"):
        with pytest.raises(ValueError, match=r"float64|plain number|cells"):
            second.read_csv(f"x,y\n{bad},0\n1,1\n".encode(), {"y": "y"})


def test_labels_of_a_file_are_numbers_if_all_of_them_are():
    def labels(*given):
        text = "x,y\n" + "".join(f"1,{each}\n" for each in given)
        return second.read_csv(text.encode(), {"y": "y"})[1]["y"]

    assert labels("10", "9", "9.0", "1e1") == [10, 9, 9, 10]
    assert labels("9007199254740993", "9007199254740992") == [2**53 + 1, 2**53]
    assert labels("0.5", "1") == [0.5, 1.0]
    assert labels("10", "9", "x") == ["10", "9", "x"]


QUESTIONS = {
    "exact": document("overlapping", XOR[0], multipliers=exact(range(4), [1] * 4)),
    "near": document("overlapping", XOR[0], approximate=near(range(4), [1] * 4)),
    "near, by relations": document(
        "overlapping", XOR[0], approximate=near(range(4), [1] * 4, [[[0, "1"], [1, "1"], [2, "-1"]]])
    ),
    "near, degrees [1]": document(
        "inseparable", XOR[0], question={"degrees": [1]}, approximate=near(range(4), [1] * 4)
    ),
    "approximate: null": document(
        "overlapping", XOR[0], approximate=None, multipliers=exact(range(4), [1] * 4)
    ),
    "columns: null": document("overlapping", XOR[0], columns=None, multipliers=exact(range(4), [1] * 4)),
    "degrees: null": document(
        "overlapping", XOR[0], question={"degrees": None}, multipliers=exact(range(4), [1] * 4)
    ),
    "no proof": document("overlapping", XOR[0]),
    "no weights": document("separable", XOR[0]),
    "too few rows": document("inseparable", XOR[0], approximate=near(range(3), [1] * 3)),
    "a row twice": document("inseparable", XOR[0], multipliers=exact([0, 1, 2, 3, 3], [2, 2, 2, 1, 1])),
    "a row left out": document("overlapping", XOR[0], excluded=[0], multipliers=exact(range(4), [1] * 4)),
    "all left out": document("separable", XOR[0], excluded=range(4), weights=[["1", "0", "0"]]),
    "one class left": document("separable", XOR[0], excluded=[0, 1], weights=[["0", "0", "0x1p+0"]]),
    "joint of two": document(
        "overlapping", XOR[0], kind="joint", multipliers=exact(range(4), [1] * 4, [1, 1, 0, 0])
    ),
    "one-vs-rest of two": document(
        "overlapping", XOR[0], kind="one-vs-rest", chosen=[0], multipliers=exact(range(4), [1] * 4)
    ),
    "pair": document("overlapping", XOR[0], kind="pair", chosen=[1, 0], multipliers=exact(range(4), [1] * 4)),
    "pair of one": document(
        "overlapping", XOR[0], kind="pair", chosen=[1, 1], multipliers=exact(range(4), [1] * 4)
    ),
    "products": document(
        "separable",
        XOR[0],
        question={"degrees": [1, 2]},
        weights=[["0x1p+0", "1", "0", "-0x2", "-0x0", "-0x1p-2"]],
    ),
    "leading zeros": document("overlapping", XOR[0], multipliers=exact(range(4), ["01", "0x01", "1", "001"])),
    "upper case": document("overlapping", XOR[0], multipliers=exact(range(4), ["1", "0X1", "1", "1"])),
    "twenty digits": document("overlapping", XOR[0], multipliers=exact(range(4), ["0" * 19 + "1"] * 4)),
    "not a float64": document(
        "separable", XOR[0], question={"degrees": [1, 2]}, weights=[["0x1.8p-1074", "0", "0", "0", "0", "0"]]
    ),
    "beyond floats": document(
        "separable", XOR[0], question={"degrees": [1, 2]}, weights=[["0x1p+1024", "0", "0", "0", "0", "0"]]
    ),
}
ACCEPTED = {
    "exact",
    "near",
    "near, degrees [1]",
    "approximate: null",
    "columns: null",
    "one class left",
    "joint of two",
    "one-vs-rest of two",
    "pair",
    "products",
    "leading zeros",
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_both_checkers_read_the_page_alike(name):
    first, own = said(json.dumps(QUESTIONS[name]), *XOR)
    assert bool(first) == own == (name in ACCEPTED)


TEXT = json.dumps(QUESTIONS["exact"])


@pytest.mark.parametrize(
    ("old", "new", "accepted"),
    [
        ('"rows": [0,', '"rows": [-0,', True),
        ('"rows": 4', '"rows": 4.0', False),
        ('"rows": 4', '"rows": 4e0', False),
        ('"rows": 4', '"rows": 04', False),
        ('"version": 1', '"version": true', False),
        ('"lift": true', '"lift": 1', False),
        ('"0", "1"', '"0", "\\ud800"', False),
        ('"data"', '"claim": "overlapping", "data"', False),
        ("}}", '}, "columns": {"a": 1.5e400}}', True),
        ("}}", '}, "columns": {"a": NaN}}', False),
        ("}}", '}, "columns": {"a": -Infinity}}', False),
        ("}}", '}, "columns": {"a": 1, "a": 1}}', False),
        ("}}", '}, "columns": 12345678901234567890}', False),
        ("}}", '}, "columns": 1234567890123456789}', True),
        ("}}", '}, "other": null}', False),
        ("}}", "}} ", True),
        ("}}", "}} x", False),
        ("{", "\ufeff{", False),
        (TEXT, "[" * 100_000, False),
        (TEXT, "7", False),
    ],
)
def test_both_checkers_read_the_same_json(old, new, accepted):
    text = TEXT.replace(old, new, 1)
    assert text != TEXT
    first, own = said(text, *XOR)
    assert bool(first) == own == accepted


def test_rows_without_coordinates_overlap_for_both():
    for X, y, fields in (
        (np.zeros((3, 0)), [0, 1, 1], near([0], [1.0])),
        (np.zeros((3, 0)), [0, 1, 1], near([0, 1, 2], [2.0, 1.0, 1.0])),
        (np.zeros((3, 2)), [0, 1, 1], near([1], [1.0], [[[0, "1"]], [[1, "1"]]])),
    ):
        text = json.dumps(document("overlapping", X, lift=False, approximate=fields))
        assert said(text, X, y) == (True, True)


def test_the_theorem_proves_nothing_that_is_false():
    rng = np.random.default_rng(3)
    for _ in range(200):
        d, n = int(rng.integers(1, 4)), int(rng.integers(3, 9))
        X = rng.integers(-3, 4, (n, d)) * 1.0
        y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
        claim = str(rng.choice(["overlapping", "inseparable"]))
        rows = rng.permutation(n)[: int(rng.integers(1, n + 1))]
        values = 2.0 ** rng.integers(-60, 60, rows.size) * rng.random(rows.size)
        fields = document(claim, X, approximate=near(rows.tolist(), values))
        own = ask(json.dumps(fields), X, y.tolist())[0]
        assert not own or fuzz_certificates.is_true(fields, X, y)


def test_approximate_multipliers_of_rows_far_apart_in_size_are_settled_in_rational_numbers():
    X, y = np.array([[-1e150], [1e-300], [2e150], [1e150]]), [1, 1, 1, 0]
    fields = document("overlapping", X, lift=False, approximate=near(range(4), [1.0] * 4))
    first, own = said(json.dumps(fields), X, y)
    assert (first, own) == (False, True)
    assert fuzz_certificates.is_true(fields, X, np.array(y))


def test_the_two_are_asked_about_every_certificate_that_a_test_makes():
    data = read_data(*XOR)
    certificate = sx.separability(*XOR).certificate
    assert check_claim(certificate, data).holds
    assert check_claim.__wrapped__.__module__ == "separatrix.certificates.check"
    liar = both_check(lambda *_: Check(False, "no"), 10**4)
    with pytest.raises(AssertionError, match="the checkers differ: False and True"):
        liar(certificate, data)


def test_the_copied_file_checks_a_regression_whose_columns_are_named(tmp_path):
    frame = pd.DataFrame({"days": [3, 5, 5, 8, 9], "died": [1, 1, 1, 0, 1], "dose": [1, 2, 0, 1, 1.5]})
    frame.to_csv(tmp_path / "trial.csv", index=False)
    found = sx.check_estimate(frame, time="days", event="died")
    (tmp_path / "proof.json").write_text(found.certificate.to_json())
    named = ("--further", "time=days", "--further", "event=died")
    done = alone(tmp_path, "proof.json", "trial.csv", *named)
    assert done.stdout.splitlines()[0] == "5 rows, time days, event died, all other columns: 1."
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "The certificate holds.")
    assert alone(tmp_path, "proof.json", "trial.csv", *named[:2]).returncode == 1


def test_exit_codes_and_words_of_the_copied_file(tmp_path):
    (tmp_path / "data.csv").write_text(CSV)
    certificate = sx.separability(np.array(XOR[0], float), XOR[1]).certificate.to_dict()
    proof = tmp_path / "proof.json"
    proof.write_text(json.dumps(certificate))
    done = alone(tmp_path, "proof.json", "data.csv", "--target", "y")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "4 rows, target y, all other columns: 2.",
        "overlapping. Proved for 4 signed rows.",
        "The certificate holds.",
    ]
    (tmp_path / "data.csv").write_text(CSV.replace("1,0,1", "3,0,1"))
    done = alone(tmp_path, "proof.json", "data.csv")
    assert (done.returncode, "Other data." in done.stdout) == (1, True)
    done = alone(tmp_path, "proof.json", "data.csv", "--any-data")
    assert (done.returncode, "is not zero." in done.stdout) == (1, True)
    (tmp_path / "data.csv").write_text(CSV.replace("1,0,1", "red,0,1"))
    done = alone(tmp_path, "proof.json", "data.csv")
    assert (done.returncode, done.stdout, "'red' is not a plain number." in done.stderr) == (2, "", True)
    assert alone(tmp_path, "proof.json", "data.csv", "--target", "z").returncode == 2
    assert alone(tmp_path, "absent.json", "data.csv").returncode == 2
    assert alone(tmp_path, "proof.json").returncode == 2
    proof.write_text(json.dumps({**certificate, "version": 2}))
    assert alone(tmp_path, "proof.json", "data.csv").returncode == 2


class TestCommand:
    @pytest.fixture
    def run(self):
        pytest.importorskip("typer")
        from typer.testing import CliRunner

        from separatrix.cli.app import app

        return lambda *arguments: CliRunner().invoke(app, [str(each) for each in arguments])

    @pytest.mark.parametrize(
        ("text", "options"),
        [
            (CSV, []),
            ("x;light;y\n1,5;dim;no\n2,5;sunny;yes\n3;dim;no\n0,5;sunny;no\n", []),  # text, decimal commas
            (THREE, ["--multiclass", "joint"]),
            (THREE, ["--multiclass", "one-vs-rest"]),
        ],
    )
    def test_independent_asks_the_second_checker_about_any_file(self, tmp_path, run, text, options):
        data, proof = tmp_path / "data.csv", tmp_path / "proof.json"
        data.write_text(text)
        assert run("check", data, "-t", "y", "--certificate", proof, *options).exit_code == 0
        done = run("verify", proof, data, "--independent", "--json")
        assert done.exit_code == 0
        found = json.loads(done.stdout)["independent"]
        assert (found["holds"], found["words"][-1]) == (True, "The certificate holds.")
        shown = run("verify", proof, data, "--independent").stdout
        assert "The second checker says:" in shown
        assert json.loads(run("verify", proof, data, "--json").stdout)["independent"] is None

    def test_a_certificate_that_the_second_checker_refuses_does_not_hold(self, tmp_path, run, monkeypatch):
        from separatrix.cli.commands import verify_command

        data, proof = tmp_path / "data.csv", tmp_path / "proof.json"
        data.write_text(CSV)
        run("check", data, "-t", "y", "--certificate", proof)
        liar = tmp_path / "check_certificate.py"
        liar.write_text(
            "import sys\nprint(sys.argv[1:], sys.flags.isolated, sys.flags.no_site)\nsys.exit(1)\n"
        )
        monkeypatch.setattr(verify_command, "files", lambda _: tmp_path)
        done = run("verify", proof, data, "--independent", "--any-data", "--json")
        assert done.exit_code == 1
        found = json.loads(done.stdout)
        assert (found["holds"], found["certificates"][0]["holds"]) == (False, True)
        [line] = found["independent"]["words"]
        assert line.endswith("'--any-data'] 1 1")
        for path in ast.literal_eval(line.removesuffix(" 1 1"))[:2]:
            assert not Path(path).parent.exists()


def test_the_figures_of_the_page_on_trust_are_those_of_the_code():
    page = " ".join((FILE.parents[3] / "docs" / "trust.md").read_text("utf-8").split())
    source = FILE.parents[1]
    lines = {
        folder: sum(len(path.read_text("utf-8").splitlines()) for path in (source / folder).rglob("*.py"))
        for folder in ("certificates", "inputs", "rows")
    }
    known = f"{round(lines['certificates'], -2):,} of them in `certificates`"
    assert f"about {round(sum(lines.values()), -3):,} lines of Python, {known}" in page
    assert f"| {round(len(FILE.read_text('utf-8').splitlines()), -1)} lines of Python" in page
    assert f"each of {len(fuzz_certificates.by_kind(fuzz_certificates.N_QUESTIONS))} kinds" in page
