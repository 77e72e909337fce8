"""Check a certificate of separability in exact integers, with Python's standard library alone.

    python check_certificate.py CERTIFICATE.json DATA.csv --target y

Written from docs/certificates.md alone, it imports nothing of the package and runs wherever it is copied.
DATA is a CSV file of plain numbers (UTF-8, commas, a line of names), a .npy matrix, or an .npz file with y
and X, or y and the parts of CSR. Exit code 0: the certificate holds; 1: it does not; 2: this cannot be read.
"""

import argparse
import ast
import csv
import hashlib
import io
import json
import math
import re
import struct
import zipfile
from collections import defaultdict, namedtuple
from fractions import Fraction
from functools import lru_cache
from itertools import chain, combinations_with_replacement, count, pairwise, product, zip_longest
from operator import mul
from pathlib import Path
from types import SimpleNamespace
from typing import Any

CLAIMS = ("separable", "quasi-separable", "overlapping", "inseparable")
ESTIMATES = ("exists", "unique", "not unique", "does not exist")
TIES, NUMBERS = ("", "efron", "breslow", "exact"), ("y", "time", "entry", "trials", "event", "weights")
CHOSEN = {"binary": 0, "joint": 0, "one-vs-rest": 1, "pair": 2}  # how many classes a question chooses
MAX_PRODUCTS, PIECE = 2**22, 2**23
WHOLE = re.compile(r"-?([0-9]{1,19}|0x[0-9a-f]+)")
FLOAT = re.compile(WHOLE.pattern + r"|-?0x[01](\.[0-9a-f]{1,13})?p[+-][0-9]{1,4}")
CELL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
PARTS = ("X", "data", "indices", "indptr", "shape")  # the arrays of a matrix
CODES = dict(zip(re.findall("..", "f8f4f2i8i4i2i1u8u4u2u1b1"), "dfeqihbQIHB?", strict=True))  # for struct
Term = tuple[Any, int | None, int]  # a factor; a row of the data and a block, or None and a coordinate
Built = tuple[Any, ...]  # signed, equal; blocks, further coordinates; of one model, weak rows
Table = namedtuple("Table", "storage type shape values columns starts", defaults=[(), ()])  # these two: CSR


def need(condition: object, message: str) -> Any:
    """Raise ValueError with this message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def read_certificates(content: bytes) -> list[tuple[str, SimpleNamespace]]:
    """Read one certificate, or a list of them, each with the name of what it is about."""
    given = json.loads(
        content.decode(),
        object_pairs_hook=lambda pairs: need(len(dict(pairs)) == len(pairs), "A field twice.") or dict(pairs),
        parse_int=lambda text: need(len(text) <= 19, f"{text[:19]}... is too long.") or int(text),
        parse_float=complex,  # which is the type of no field
        parse_constant=Fraction,  # refuses NaN and infinity
    )
    need(type(given) is dict, "This is not a JSON object.")
    given.pop("columns", None)  # how the command line read a file: no part of the claim
    if given.get("format") != "separatrix certificates":
        return [("", read_certificate(given))]
    _, version, parts = fields(given, "format version parts")
    need(type(version) is int and version == 1 and entries(parts), "The list is empty, or not of version 1.")
    return [(str(of), read_certificate(one)) for of, one in (fields(p, "of certificate") for p in parts)]


def read_certificate(given: Any) -> SimpleNamespace:
    """Read the fields and check their types and sizes; weights and multipliers become integers."""
    asked = given.get("question") if type(given) is dict else None
    kind = asked.get("kind") if type(asked) is dict else None
    if type(kind) is str and kind in READERS:
        return READERS[kind](given)
    own, question, (weights, exact, *last) = read_head(given, CLAIMS, "weights multipliers", "approximate")
    near, names = [*last, None][0], "kind classes chosen lift excluded"
    kind, classes, chosen, lift, excluded, *last = fields(question, names, "degrees")
    degrees, claim, (n_rows, n_columns) = [*last, [1]][0], own["claim"], own["shape"]
    need(kind in [*CHOSEN] and type(lift) is bool, "The question is unknown.")
    need(len({*entries(chosen, len(classes))}) == len(chosen) == CHOSEN[kind], "Wrong chosen classes.")
    need(len(classes) == 2 or kind != "binary", "A binary question has two classes.")
    need(len({*entries(excluded, n_rows)}) == len(excluded), "Rows.")
    need(entries(degrees, 65) and degrees == sorted({*degrees} - {0}), "Degrees do not rise from 1 to 64.")
    size = sum(math.comb(n_columns + degree - 1, degree) for degree in degrees) + lift
    need(size <= MAX_PRODUCTS or degrees == [1], "There are too many products.")
    need((weights is None or claim in CLAIMS[:2]) and (exact is None or claim != CLAIMS[0]), "Not needed.")
    vectors = [] if weights is None else [entries(vector) for vector in entries(weights)]
    sizes = [] if weights is None else [size] * (len(classes) if kind == "joint" else 1)
    need([*map(len, vectors)] == sizes, "The number of weights is wrong.")
    rows, rivals, multipliers, relations = [], [], [], []
    if near is not None:
        need(claim in CLAIMS[2:] and exact is None and degrees == [1], "'approximate' has no place here.")
        rows, rivals, values, left_out = fields(near, "rows rivals values left_out")
        multipliers = numbers(values, binary=True)
        need(all("p" in each for each in values) and min(multipliers, default=1) > 0, "A positive float.")
        for pairs in entries(left_out):
            need(entries(pairs) and all(len(entries(pair)) == 2 for pair in pairs), "This is no pair.")
            columns = entries([c for c, _ in pairs], n_columns + lift)
            factors = numbers([factor for _, factor in pairs])
            need(all(factors) and len({*columns}) == len(columns), "A factor is zero, or a coordinate twice.")
            relations.append([*zip(columns, factors, strict=True)])
        others = {c for pairs in relations for c, _ in pairs[1:]}
        need(len({pairs[0][0] for pairs in relations} - others) == len(relations), "Left out twice, or used.")
    elif exact is not None:
        rows, rivals, multipliers = read_multipliers(exact)
    need(len(entries(rows, n_rows)) == len(multipliers), "The number of multipliers is wrong.")
    need(len(entries(rivals, len(classes))) == (len(rows) if kind == "joint" else 0), "The number of rivals.")
    own |= {"degrees": degrees, "weights": numbers([*chain(*vectors)], binary=True), "near": near is not None}
    own |= {"listed": [*zip_longest(rows, rivals)], "multipliers": multipliers, "relations": relations}
    return SimpleNamespace(**question | own)


def read_fewest(given: Any) -> SimpleNamespace:
    """Do the same for a certificate of the fewest errors."""
    names = "lower upper weights witnesses unit trees"
    own, question, (*ends, weights, witnesses, unit, trees) = read_head(given, ["fewest-errors"], names)
    _, classes, lift, costs = fields(question, "kind classes lift costs")
    (n_rows, n_columns), _ = own["shape"], need(type(lift) is bool, "The question is unknown.")
    (lower, upper), (unit,) = numbers(ends), numbers([unit])
    costs = [1] * n_rows if costs is None else numbers(costs)
    need(len(costs) == n_rows and min(costs, default=0) >= 0 and unit > 0, "The costs or the unit.")
    joint, vectors = len(classes) > 2, [entries(vector) for vector in entries(weights)]
    need(
        [*map(len, vectors)] == [n_columns + lift] * (len(classes) if joint else 1), "The number of weights."
    )
    proved = []
    for rows, rivals, factors in (fields(each, "rows rivals multipliers") for each in entries(witnesses)):
        multipliers = numbers(factors)
        need(len(entries(rows, n_rows)) == len(multipliers) > 0 < min(multipliers), "A witness.")
        need(len(entries(rivals, len(classes))) == (len(rows) if joint else 0), "The number of rivals.")
        proved.append(([*zip_longest(rows, rivals)], multipliers))
    forest: list[Any] = [[] for _ in entries(trees)]
    for tree, nodes in zip(forest, trees, strict=True):
        for node in entries(nodes):
            if type(node) is dict and "row" in node:
                tree += entries(fields(node, "row"), n_rows)
                continue
            names, u = fields(node, "witnesses u")
            prices = numbers(u)
            need(len({*entries(names, len(proved))}) == len(names) == len(prices), "A leaf.")
            need(min(prices, default=0) >= 0, "A u is negative.")
            tree.append(dict(zip(names, prices, strict=True)))
    own |= {"degrees": [1], "chosen": [], "excluded": [], "witnesses": proved}
    own |= {"weights": numbers([*chain(*vectors)], binary=True), "costs": costs, "unit": unit}
    own |= {"lower": lower, "upper": upper, "trees": forest}
    return SimpleNamespace(**question | own)


def read_network(given: Any) -> SimpleNamespace:
    """Read a list of half-spaces with their classes; the weights of each become integers."""
    own, question, (units, default) = read_head(given, ["fits"], "units default")
    _, classes, excluded = fields(question, "kind classes excluded")
    n_rows, n_columns = own["shape"]
    need(len({*entries(excluded, n_rows)}) == len(excluded), "Rows.")
    pairs = [fields(unit, "weights class") for unit in entries(units)]
    need(entries([default, *(c for _, c in pairs)], len(classes)), "A class is out of range.")
    vectors = [(numbers(weights, binary=True), c) for weights, c in pairs]
    need(all(len(vector) == n_columns + 1 for vector, _ in vectors), "The number of weights is wrong.")
    return SimpleNamespace(**question | own, default=default, units=vectors)


def read_estimate(given: Any) -> SimpleNamespace:
    """Read a certificate about the estimate of a regression."""
    own, question, (direction, exact, basis) = read_head(given, ESTIMATES, "direction multipliers basis")
    _, model, intercept, ties, penalized, _ = fields(question, "kind model intercept ties penalized classes")
    need(type(model) is str and model in MODELS and type(intercept) is bool, "The model is unknown.")
    need(type(ties) is str and ties in TIES, "The ties.")
    entries(penalized, own["shape"][1])
    own["direction"] = None if direction is None else numbers(direction, binary=True)
    rows, rivals, own["multipliers"] = ([], [], None) if exact is None else read_multipliers(exact)
    need(len(entries(rows, 2**62)) == len({*rows}) and rivals == [], "The rows of the multipliers.")
    own["listed"], own["basis"] = rows, None if basis is None else fields(basis, "rows prime")
    need(basis is None or entries([*entries(own["basis"][0]), own["basis"][1]], 2**62), "The basis.")
    return SimpleNamespace(**question | own)


READERS = {"fewest": read_fewest, "network": read_network, "estimate": read_estimate}


def read_head(given: Any, claims: Any, names: str, optional: str = "") -> tuple[dict[str, Any], Any, Any]:
    """Read what all certificates have; return it, the question, and the values of the other fields."""
    first = fields(given, "format version claim question data " + names, optional)
    word, version, claim, question, data, *rest = first
    n_rows, n_columns, sha256 = fields(data, "rows columns sha256")
    classes = question.get("classes") if type(question) is dict else None
    need(word == "separatrix certificate" and type(version) is int and version == 1, "Not version 1.")
    need(type(claim) is str and claim in claims, "The claim is unknown.")
    need(all(type(c) is str and not re.search("[\ud800-\udfff]", c) for c in entries(classes)), "A class.")
    need(entries([n_rows, n_columns], 2**63), "Rows.")
    need(type(sha256) is str and re.fullmatch("[0-9a-f]{64}", sha256), "The SHA-256 is malformed.")
    return {"claim": claim, "shape": (n_rows, n_columns), "sha256": sha256}, question, rest


def read_multipliers(exact: Any) -> tuple[Any, Any, list[int]]:
    """Read exact multipliers: their rows and rivals, unchecked, and integers in the same proportions."""
    rows, rivals, coarse, fine, denominator = fields(exact, "rows rivals coarse fine denominator")
    n, (below,) = len(entries(rows)), numbers([denominator])
    need(below > 0 and len(entries(coarse)) in (0, n) and len(entries(fine)) <= n, "The multipliers.")
    both = zip_longest(numbers(coarse) or [0] * n, numbers(fine), fillvalue=0)
    return rows, rivals, [each * below + rest for each, rest in both]


def fields(given: Any, names: str, optional: str = "") -> list[Any]:
    """Return the values of an object that has these fields, perhaps the optional one, and no other."""
    need(type(given) is dict and given.keys() - {optional} == {*names.split()}, f"The fields are {names}.")
    return [given[name] for name in [*names.split(), optional] if name in given]


def entries(given: Any, below: int | None = None) -> list[Any]:
    """Return the same list; if a limit is given, its entries must be integers from 0 to below it."""
    need(type(given) is list, "Something is not a list.")
    need(below is None or all(type(n) is int and 0 <= n < below for n in given), "A number is out of range.")
    return list(given)


def numbers(texts: Any, binary: bool = False) -> list[int]:
    """Read integers from text; if binary floats are allowed, return integers in the same proportions."""
    values, pattern = [], FLOAT if binary else WHOLE
    for text in entries(texts):
        need(type(text) is str and pattern.fullmatch(text), "A number is malformed.")
        digits, is_float, exponent = text.partition("p")
        whole = int(digits.replace(".", ""), 16 if "x" in text else 10)
        shift = int(exponent or 0) - 4 * len(digits.partition(".")[2])
        values.append(float.fromhex(text) if is_float else whole)
        above, below = values[-1].as_integer_ratio()
        need(above << max(0, -shift) == whole * below << max(0, shift), f"No float64 is {text}.")
    return in_proportion(values)


def in_proportion(values: Any) -> list[int]:
    """Return each number times the least number that makes all of them integers."""
    ratios = [value.as_integer_ratio() for value in values]
    below = math.lcm(*{ratio[1] for ratio in ratios})
    return [above * (below // own) for above, own in ratios]


def digest(table: Table, classes: list[str], codes: list[int], columns: dict[str, Any] | None = None) -> str:
    """Return the SHA-256 of the data, and of the further columns of a regression."""
    name, dense, (n, d) = table.type, table.storage == "dense", table.shape
    total = hashlib.sha256(f"separatrix certificate 1 {table.storage} {name} {n} {d}".encode())
    values = table.values if dense or "f" in name else [value % 2**64 for value in table.values]
    first = (values, name, n, d) if dense else (values, name if "f" in name else "<u8", len(values), 1)
    more = [("<i8", each) for each in [*table[4:], codes]]
    more += [("<f8" if name in NUMBERS else "<i8", each) for name, each in (columns or {}).items()]
    for each, kind, length, width in [first, *((each, kind, len(each), 1) for kind, each in more)]:
        step = max(1, PIECE // max(1, width * int(kind[2:])))
        for begin in range(0, length, step):
            piece = each[begin * width : (begin + step) * width]
            total.update(hashlib.sha256(struct.pack(f"<{len(piece)}{CODES[kind[1:]]}", *piece)).digest())
    total.update(json.dumps(classes).encode() + (json.dumps([*columns]).encode() if columns else b""))
    return total.hexdigest()


def read_csv(content: bytes, named: dict[str, str]) -> tuple[Table, dict[str, list[Any]]]:
    """Read plain numbers as float64, and named columns: numbers if all of them are, otherwise texts."""
    names, *lines = filter(None, csv.reader(io.StringIO(content.decode("utf-8-sig")), strict=True))
    for name, column in named.items():
        need(names.count(column) == 1, f"One of these columns has to be the {name}: {names}.")
    need(all(len(line) == len(names) for line in lines), "A line has too many cells, or too few.")
    values, rest = [], [j for j, name in enumerate(names) if name not in named.values()]
    for cell in (line[j].strip() for line in lines for j in rest):
        need(CELL.fullmatch(cell), f"{cell!r} is not a plain number.")
        values.append(float(cell))
        need(not cell.lstrip("+-").isdigit() or int(cell) == values[-1], f"No float64 is {cell}.")
    found: dict[str, list[Any]] = {}
    for name, column in named.items():
        found[name] = [line[names.index(column)] for line in lines]
        if all(map(CELL.fullmatch, found[name])):
            whole = all(Fraction(label).denominator == 1 for label in found[name])
            found[name] = [int(Fraction(label)) if whole else float(label) for label in found[name]]
    return Table("dense", "<f8", (len(lines), len(rest)), values), found


def read_arrays(content: bytes, named: dict[str, str]) -> tuple[Table, dict[str, list[Any]]]:
    """Read a matrix, with y and other columns in arrays, or y in the column of a number, counted from 1."""
    arrays = {} if content[:2] == b"PK" else {"X": read_npy(content)}
    if not arrays:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            for name in {*file.namelist()} - {"format.npy"}:
                arrays[name.removesuffix(".npy")] = read_npy(file.read(name))
    found = {name: [*arrays[name][2]] for name in arrays if name not in PARTS}
    if "X" not in arrays:
        values, columns, starts = (arrays[name][2] for name in ("data", "indices", "indptr"))
        lines, shape = [columns[i:j] for i, j in pairwise(starts)], tuple(arrays["shape"][2])
        need((*chain(*lines),) == columns and all([*line] == sorted({*line}) for line in lines), "Sort CSR.")
        need(len(lines) == shape[0] and all(0 <= j < shape[1] for j in columns), "The CSR arrays do not fit.")
        return Table("csr", arrays["data"][0], shape, values, columns, starts), found
    kind, (rows, n), values = arrays["X"]
    if content[:2] != b"PK":
        target = named.get("y", "")
        need(target.isdecimal() and 1 <= int(target) <= n, f"The target is a column from 1 to {n}.")
        found, n = {"y": [*values[int(target) - 1 :: n]]}, n - 1
        values = [each for j, each in enumerate(values, 1) if (j - int(target)) % (n + 1)]
    return Table("dense", kind, (rows, n), values), found


def read_npy(content: bytes) -> tuple[str, tuple[int, ...], Any]:
    """Read the type, the shape and the numbers or texts, row by row, of an array in NumPy's format."""
    need(content[:6] == b"\x93NUMPY", "This is not an array of NumPy.")
    begin = 10 if content[6] == 1 else 12
    end = begin + int.from_bytes(content[8:begin], "little")
    header = ast.literal_eval(content[begin:end].decode("latin-1"))
    name, shape, order = header["descr"], header["shape"], ">" if header["descr"][0] == ">" else "<"
    if name[1] == "U":
        text, size = content[end:].decode("utf-32-be" if order == ">" else "utf-32-le"), int(name[2:])
        return name, shape, [text[at : at + size].rstrip("\0") for at in range(0, len(text), size)]
    need(name[1:] in CODES, f"Numbers of type {name!r} are not read here.")
    values: Any = struct.unpack_from(f"{order}{math.prod(shape)}{CODES[name[1:]]}", content, end)
    if header["fortran_order"] and len(shape) == 2:
        values = [each for i in range(shape[0]) for each in values[i :: shape[0]]]
    kind = {"b1": "u1", "f2": "f4"}.get(name[1:], name[1:])
    return ("|" if kind[1:] == "1" else "<") + kind, shape, values


def check(proof: SimpleNamespace, table: Table, columns: dict[str, list[Any]], same_data: bool = True) -> int:
    """Count the signed rows of the claim, which is proved; ValueError if it is not."""
    need(proof.shape == table.shape, "The data have another shape.")
    need(all(map(math.isfinite, table.values)), "A number of the data is not finite.")
    if proof.kind == "estimate":
        codes, columns = read_regression(proof, columns)
    else:
        labels, columns = columns.get("y", []), {}
        order = sorted({*labels})
        codes = [*map({label: k for k, label in enumerate(order)}.__getitem__, labels)]
        need(len(labels) == table.shape[0], "The data have another shape.")
        need(proof.classes == [*map(str, order)] and len(order) > 1, "The data have other classes, or one.")
    kinds = [table, table._replace(type="<f8")]  # the command line reads all numbers as float64
    hashed = (digest(each, proof.classes, codes, columns) for each in kinds)
    need(not same_data or proof.sha256 in hashed, "Other data.")
    *values, unit = in_proportion([*table.values, 1])  # whole numbers; the true ones are these over unit
    if proof.kind == "network":
        return check_network(proof, table, codes, values, unit)
    if proof.kind == "estimate":
        return check_estimate(proof, table, codes, columns, values, unit)
    top, positive = proof.degrees[-1], [1, *proof.chosen][-1]

    @lru_cache(maxsize=4096)
    def lifted(i: int) -> dict[Any, int]:  # products of columns, by columns; the empty one is the intercept
        begin, end = table.starts[i : i + 2] or (i * table.shape[1], (i + 1) * table.shape[1])
        row = [*zip(table.columns[begin:end] or count(), values[begin:end], strict=False)]
        found: dict[Any, int] = {(): unit**top} if proof.lift else {}
        for degree in proof.degrees:
            for some in combinations_with_replacement(row, degree):
                found[tuple(j for j, _ in some)] = math.prod(v for _, v in some) * unit ** (top - degree)
        return found

    def signs(i: int, rival: int | None) -> dict[int, int]:  # of the blocks of a signed row that are not zero
        return {0: 1 if codes[i] == positive else -1} if rival is None else {codes[i]: 1, rival: -1}

    if proof.kind == "fewest":
        return prove_fewest(proof, codes, lifted, signs)
    among, out = {*(proof.chosen if proof.kind == "pair" else codes)}, {*proof.excluded}
    asked = [i for i, own in enumerate(codes) if own in among and i not in out]
    rivals = range(len(order)) if proof.kind == "joint" else [None]
    signed = {(i, c) for i in asked for c in rivals if c != codes[i]}
    multipliers = dict(zip(proof.listed, proof.multipliers, strict=True))
    need(signed and multipliers.keys() <= signed, "A row is listed in error, or no signed row is left.")
    need(len(multipliers) == len(proof.listed), "A row is listed twice.")
    need(min(proof.multipliers, default=proof.claim == "separable") > 0, "A multiplier is not positive.")
    need(proof.claim != "quasi-separable" or len(multipliers) < len(signed), "Every row is listed.")
    if proof.near:
        prove_near(proof, multipliers, asked, lifted, signs)
    else:
        need(proof.claim != "overlapping" or len(multipliers) == len(signed), "A row is not listed.")
        need_zero(multipliers, lifted, signs)
    if proof.claim in CLAIMS[:2]:
        chosen = (combinations_with_replacement(range(table.shape[1]), degree) for degree in proof.degrees)
        names = [*chain(*chosen), *[()] * proof.lift]
        need(proof.weights, "There are no weights.")
        begins = range(0, len(proof.weights), len(names))
        vectors = [dict(zip(names, proof.weights[at:], strict=False)) for at in begins]
        for i in asked:
            scores = [sum(vector[name] * value for name, value in lifted(i).items()) for vector in vectors]
            for one in ((i, c) for c in rivals if c != codes[i]):
                score = sum(sign * scores[block] for block, sign in signs(*one).items())
                need(score == 0 if one in multipliers else score > 0, f"The score of row {i} is wrong.")
    return len(signed)


def need_zero(multipliers: dict[Any, int], lifted: Any, signs: Any) -> None:
    """Raise ValueError unless the signed rows, times their multipliers, sum to zero."""
    sums: dict[Any, int] = defaultdict(int)
    for one, multiplier in multipliers.items():
        for (block, sign), (name, value) in product(signs(*one).items(), lifted(one[0]).items()):
            sums[block, name] += sign * multiplier * value
    need(not any(sums.values()), "The combination of rows is not zero.")


def prove_fewest(proof: Any, codes: list[int], lifted: Any, signs: Any) -> int:
    """Prove both ends of the fewest errors; return the number of signed rows."""
    first: dict[Any, int] = {}
    costs: dict[int, int] = defaultdict(int)
    for i, own in enumerate(codes):  # equal rows are one row
        row = first.setdefault((own, frozenset(each for each in lifted(i).items() if each[1])), i)
        costs[row] += proof.costs[i]
    rivals = range(len(proof.classes)) if len(proof.classes) > 2 else [None]
    names, wrong = [*((j,) for j in range(proof.shape[1])), *[()] * proof.lift], 0
    begins = range(0, len(proof.weights), max(1, len(names)))
    vectors = [dict(zip(names, proof.weights[at:], strict=False)) for at in begins] or [{}] * len(rivals)
    for i in costs:
        scores = [sum(vector[name] * value for name, value in lifted(i).items()) for vector in vectors]
        pairs = [signs(i, c).items() for c in rivals if c != codes[i]]
        if any(sum(sign * scores[block] for block, sign in pair) <= 0 for pair in pairs):
            wrong += costs[i]
    need(wrong == proof.upper, f"The wrong rows cost {wrong}.")
    for listed, multipliers in proof.witnesses:
        need(len({*listed}) == len(listed), "A row is listed twice.")
        need(all(i in costs and c != codes[i] for i, c in listed), "A row is listed in error.")
        need_zero(dict(zip(listed, multipliers, strict=True)), lifted, signs)
    supports, seen, total = [{i for i, _ in listed} for listed, _ in proof.witnesses], set[int](), 0
    for tree in proof.trees:
        bounds, rows, waiting = list[int](), set[int](), [(set[int](), set[int]())]
        for node in tree:
            need(waiting, "A tree has too many nodes.")
            lost, kept = waiting.pop()
            if type(node) is int:
                need(node in costs and node not in lost | kept, f"A branch on row {node} is wrong.")
                waiting += [(lost, kept | {node}), (lost | {node}, kept)]
                rows.add(node)
                continue
            load: dict[int, int] = defaultdict(int)
            for j, u in node.items():
                for i in supports[j]:
                    load[i] += u
            rows |= {*load}
            rest = [(i in lost, proof.unit * costs[i] - load[i]) for i in (lost | {*load}) - kept]
            bounds.append(sum(node.values()) + sum(r if out else min(0, r) for out, r in rest))
        need(not waiting and seen.isdisjoint(rows), "A tree is not complete, or shares a row.")
        seen |= rows
        total += max(0, -(-min(bounds) // proof.unit))
    need(total >= proof.lower, f"The errors are proved to cost at least {total}.")
    return len(codes) * (len(rivals) - 1 or 1)


def check_network(proof: Any, table: Table, codes: list[int], values: list[int], unit: int) -> int:
    """Count the rows of the claim; each has to get its class from the first half-space that holds it."""
    out, asked = {*proof.excluded}, 0
    for i, own in enumerate(codes):
        if i in out:
            continue
        begin, end = table.starts[i : i + 2] or (i * table.shape[1], (i + 1) * table.shape[1])
        row = [*zip(table.columns[begin:end] or count(), values[begin:end], strict=False)]
        fired = (c for w, c in proof.units if sum(w[j] * v for j, v in row) + w[-1] * unit > 0)
        need(next(fired, proof.default) == own, f"Row {i} gets another class.")
        asked += 1
    need(asked, "No row is left.")
    return asked


def read_regression(proof: Any, columns: dict[str, list[Any]]) -> tuple[list[int], dict[str, list[Any]]]:
    """Return the class of each row, and the further columns as numbers, in the order of their names."""
    _, response, needed, others, lift = MODELS[proof.model]
    place, codes, found = {c: k for k, c in enumerate(proof.classes)}, [0] * proof.shape[0], dict[str, Any]()
    need(len(place) == len(proof.classes), "A class twice.")
    if response in ("classes", "ordered"):
        columns = {**columns}
        labels = columns.pop("y", [])
        used = {*map(str, labels)}
        need(len(used) == len({*labels}) and used <= place.keys(), "The data have other classes.")
        need(response == "ordered" or len(used) == len(place), "The data have fewer classes.")
        codes = [place[str(label)] for label in labels]
        if response == "classes" or all(isinstance(label, int | float) for label in labels):
            need([*map(str, sorted({*labels}))] == [c for c in place if c in used], "Classes in disorder.")
    players = [*map(str, sorted({*columns.get("winner", []), *columns.get("loser", [])}))]
    need("winner" not in needed or players == proof.classes, "The data have other players.")
    need(response != "numbers" or "y" in columns, "The response is missing.")
    need({*needed} <= columns.keys() <= {*needed, *others, "weights", "y"}, f"{needed} and {others}.")
    need(not proof.intercept or (lift and "groups" not in columns), "There is no intercept.")
    need(not proof.penalized or proof.model not in ("gamma", "inverse-gaussian"), "There is a penalty.")
    for name, values in sorted(columns.items()):
        if name in NUMBERS:
            found[name] = [*map(float, values)]
            need(all(map(math.isfinite, values)) and found[name] == [*values], f"{name} has no numbers.")
        elif name in ("winner", "loser"):
            found[name] = [place[str(each)] for each in values]
        else:
            order = {label: k for k, label in enumerate(sorted({*values}))}
            found[name] = [order[each] for each in values]
    need({proof.shape[0]} == {len(each) for each in [codes, *found.values()]}, "A column has another length.")
    return codes, found


def check_estimate(proof: Any, table: Table, codes: list[int], columns: Any, values: Any, unit: int) -> int:
    """Count the signed rows of a regression."""
    weights, n = columns.get("weights", [1.0] * len(codes)), table.shape[1]
    rows = [i for i, weight in enumerate(weights) if weight > 0]
    need(rows and min(weights) >= 0, "No row has a positive weight, or one has a negative weight.")
    present = {code: k for k, code in enumerate(sorted({codes[i] for i in rows}))}
    y = columns.get("y") or [present.get(code, -1) for code in codes]
    size, start = n + proof.intercept, 0

    def expanded(terms: list[Term]) -> dict[int, Any]:  # a row by its coordinates, times unit
        found: dict[int, Any] = defaultdict(int)
        for factor, i, at in terms:
            if i is None:
                found[start + at] += factor * unit
                continue
            begin, end = table.starts[i : i + 2] or (i * n, (i + 1) * n)
            row = zip(table.columns[begin:end] or count(), values[begin:end], strict=False)
            for j, value in chain(row, [(n, unit)] * proof.intercept):
                found[at * size + j] += factor * value
        return found

    given = SimpleNamespace(rows=rows, y=y, top=len(present) - 1, columns=columns, ties=proof.ties)
    given.row = lambda i: {j: value for j, value in expanded([x(i)]).items() if value}
    signed, equal, blocks, further, *more = MODELS[proof.model][0](given)
    start = blocks * size
    equal = [*equal, *([(1, None, b * size + k - start)] for b in range(blocks) for k in proof.penalized)]
    weak = more[0] if more else []  # each with the signed row that it goes with
    every, sums = [*signed, *(terms for _, terms in weak), *equal], defaultdict[int, Any](int)
    listed, first = dict(zip(proof.listed, proof.multipliers or [], strict=True)), len(signed) + len(weak)
    need(all(i < len(every) and (m > 0 or i >= first) for i, m in listed.items()), "A multiplier.")
    for i, multiplier in listed.items():
        for j, value in expanded(every[i]).items():
            sums[j] += multiplier * value
    need(not any(sums.values()), "The combination of rows is not zero.")
    tight = {*(i for i in listed if i < len(signed)), *range(first, len(every))}
    tight |= {i for i, (own, _) in enumerate(weak, len(signed)) if own in listed}
    exists = len(tight) == len(every)
    need(exists != (proof.claim == "does not exist"), "Rows without multipliers, or none.")
    need(proof.direction is None or len(proof.direction) == start + further, "The direction's length.")
    if proof.claim in ("does not exist", "not unique"):
        need(proof.direction and any(proof.direction), "There is no direction.")
        for i, terms in enumerate(every):
            score = sum(proof.direction[j] * value for j, value in expanded(terms).items())
            need(score == 0 if i in tight else score > 0, f"The score of signed row {i} is wrong.")
    if proof.claim == "unique":
        need(proof.model != "inverse-gaussian", "The likelihood is not concave.")
        need(proof.basis, "There is no basis.")
        (chosen, prime), lines = proof.basis, list[list[int]]()
        need(2 < prime < 2**31 and all(prime % k for k in range(2, math.isqrt(prime) + 1)), "No odd prime.")
        need(len(chosen) == start + further and max(chosen, default=-1) < len(every), "The basis.")
        for row in (expanded(every[i]) for i in chosen):
            numbers_of = ((row[j].numerator, row[j].denominator) for j in range(start + further))
            lines.append([above * pow(below, -1, prime) % prime for above, below in numbers_of])
        while lines:
            line = lines.pop()
            need(any(line), "The rows of the basis depend on each other.")
            at = next(j for j, value in enumerate(line) if value)
            line = [value * pow(line[at], -1, prime) for value in line]
            lines = [[(a - each[at] * b) % prime for a, b in zip(each, line, strict=True)] for each in lines]
    return len(signed)


def x(i: int, factor: Any = 1, block: int = 0) -> Term:
    """A row of the data, with its intercept, times a factor, among the coordinates of a block."""
    return factor, i, block


def e(place: int, factor: int = 1) -> Term:
    """A further coordinate, times a factor."""
    return factor, None, place


def compare(pairs: list[tuple[list[int], list[int]]]) -> Built:
    """No upper row has a lower score than a lower one: pair by pair, or with a coordinate between them."""
    few = [len(u) * len(v) <= 4 * (len(u) + len(v)) for u, v in pairs]
    signed = [[x(i), x(j, -1)] for (u, v), each in zip(pairs, few, strict=True) if each for i in u for j in v]
    hubs = [*enumerate(pair for pair, each in zip(pairs, few, strict=True) if not each)]
    signed += [[x(i), e(k, -1)] for k, (u, _) in hubs for i in u]
    return signed + [[e(k), x(j, -1)] for k, (_, v) in hubs for j in v], [], 1, len(hubs)


def binary(g: Any) -> Built:
    """A binary regression."""
    if "groups" in g.columns:
        return conditional(g, "groups")
    need(g.top == 1, "There are not two classes.")
    return [[x(i, 2 * g.y[i] - 1)] for i in g.rows], [], 1, 0


def conditional(g: Any, name: str = "strata") -> Built:
    """A conditional logit: cases and controls of each stratum."""
    need(g.top <= 1, "There are more than two classes.")
    strata = defaultdict[Any, tuple[list[int], list[int]]](lambda: ([], []))
    for i in g.rows:
        strata[g.columns[name][i]][1 - g.y[i]].append(i)
    return compare([pair for _, pair in sorted(strata.items())])


def binomial(g: Any) -> Built:
    """Successes in trials."""
    m = g.columns["trials"]
    need(all(0 <= g.y[i] <= m[i] for i in g.rows), "More successes than trials.")
    signed = [[x(i, 1 if g.y[i] else -1)] for i in g.rows if m[i] and g.y[i] in (0, m[i])]
    return signed, [[x(i)] for i in g.rows if 0 < g.y[i] < m[i]], 1, 0


def multinomial(g: Any) -> Built:
    """A block of coefficients for each class but the first."""
    need(g.top > 0, "There is one class.")

    def of(i: int, k: int, factor: int) -> list[Term]:
        return [x(i, factor, k - 1)] if k else []

    both = ((i, k) for k in range(g.top + 1) for i in g.rows if g.y[i] != k)
    return [of(i, g.y[i], 1) + of(i, k, -1) for i, k in both], [], g.top, 0


def ordinal(g: Any) -> Built:
    """A threshold above and one below each row."""
    need(g.top > 0, "There is one category.")
    signed = [[x(i, -1), e(g.y[i])] for i in g.rows if g.y[i] < g.top]
    return signed + [[x(i), e(g.y[i] - 1, -1)] for i in g.rows if g.y[i]], [], 1, g.top


def continuation(g: Any) -> Built:
    """A binary regression for each category but the last, of the rows that reach it."""
    need(g.top > 0, "There is one category.")
    both = ((i, k, 1 if g.y[i] == k else -1) for k in range(g.top) for i in g.rows if g.y[i] >= k)
    return [[x(i, s), e(k, s)] for i, k, s in both], [], 1, g.top


def poisson(g: Any) -> Built:
    """Counts; with groups, relative to the first row of the group with a positive count."""
    need(all(g.y[i] >= 0 for i in g.rows), "A count is negative.")
    first: dict[Any, int] = {}
    groups = g.columns.get("groups", [0] * len(g.y))
    for i in g.rows:
        if g.y[i] > 0:
            first.setdefault(groups[i], i)

    def of(i: int, factor: int) -> list[Term]:
        return [x(i, factor)] + ([x(first[groups[i]], -factor)] if "groups" in g.columns else [])

    kept = [i for i in g.rows if "groups" not in g.columns or groups[i] in first]
    signed = [of(i, -1) for i in kept if g.y[i] == 0]
    others = (i for i in kept if g.y[i] > 0 and ("groups" not in g.columns or first[groups[i]] != i))
    return signed, [of(i, 1) for i in others], 1, 0


def gamma(g: Any) -> Built:
    """Amounts, with log link."""
    need(all(g.y[i] >= 0 for i in g.rows), "An amount is negative.")
    weights = [*map(Fraction, g.columns.get("weights", [1] * len(g.y)))]
    return [*([x(i)] for i in g.rows if g.y[i] > 0), [x(i, -weights[i]) for i in g.rows]], [], 1, 0


def inverse_gaussian(g: Any) -> Built:
    """Amounts, with log link and an intercept: a block of coordinates for each different row with y = 0."""
    need(all(g.y[i] >= 0 for i in g.rows), "An amount is negative.")
    positive, lines = [i for i in g.rows if g.y[i] > 0], [g.row(i) for i in g.rows]
    need(positive, "All amounts are zero.")
    need(any(all(each.get(j) == v for each in lines) for j, v in lines[0].items()), "There is no intercept.")
    if len(positive) == len(g.rows):
        return [], [[x(i)] for i in positive], 1, 0
    known: dict[Any, tuple[int, int]] = {}  # of each different row: its block, and its first signed row
    zeros = ((i, tuple(sorted(row.items()))) for i, row in zip(g.rows, lines, strict=True) if g.y[i] == 0)
    signed = [[x(i, -1, known.setdefault(row, (len(known), k))[0])] for k, (i, row) in enumerate(zeros)]
    weak = [(k, [x(i, 1, block)]) for block, k in known.values() for i in positive]
    return signed, [], len(known), 0, weak


def cox(g: Any) -> Built:
    """Each time of a death: the deaths, and those at risk."""
    time, entry = g.columns["time"], g.columns.get("entry")
    event, strata = (g.columns.get(name, [1] * len(time)) for name in ("event", "strata"))
    moments = sorted({(strata[i], time[i]) for i in g.rows if event[i] > 0})
    pairs, equal = [], []
    need(not entry or all(entry[i] < time[i] for i in g.rows) or not moments, "Entry after the time.")
    for (s, t), (after, end) in zip(moments, [*moments[1:], (None, None)], strict=True):
        risk = [i for i in g.rows if strata[i] == s and time[i] >= t and (not entry or entry[i] < t)]
        deaths = [i for i in risk if event[i] > 0 and time[i] == t]
        others = [i for i in risk if not (event[i] > 0 and time[i] == t)]
        if not entry and after == s:  # risk sets are nested
            following = [i for i in others if event[i] > 0 and time[i] == end]
            others = sorted((i for i in others if time[i] < end), key=time.__getitem__) + following
        elif not entry:
            others.sort(key=time.__getitem__)
        if g.ties != "exact":
            equal += [[x(deaths[0]), x(i, -1)] for i in deaths[1:]]
            del deaths[1:]
        pairs.append((deaths, others))
    signed, _, _, hubs = compare(sorted(pairs, key=lambda pair: len(pair[0]) > 1))
    return signed, equal, 1, hubs


def bradley_terry(g: Any) -> Built:
    """A coordinate for each player but the first."""
    winner, loser = g.columns["winner"], g.columns["loser"]
    need(all(winner[i] != loser[i] for i in g.rows), "A player plays against itself.")
    players = sorted({each[i] for i in g.rows for each in (winner, loser)})
    order = {player: k for k, player in enumerate(players)}

    def of(player: Any, factor: int) -> list[Term]:
        return [e(order[player] - 1, factor)] if order[player] else []

    return [[x(i), *of(winner[i], 1), *of(loser[i], -1)] for i in g.rows], [], 1, len(order) - 1


# Each model: its rows, what y holds, the columns it needs and takes, and whether there may be an intercept.
MODELS: dict[str, Any] = {
    "binary": (binary, "classes", (), ("groups",), True),
    "binomial": (binomial, "numbers", ("trials",), (), True),
    "multinomial": (multinomial, "classes", (), (), True),
    "ordinal": (ordinal, "ordered", (), (), False),
    "adjacent": (ordinal, "ordered", (), (), False),
    "continuation": (continuation, "ordered", (), (), False),
    "poisson": (poisson, "numbers", (), ("groups",), True),
    "gamma": (gamma, "numbers", (), (), True),
    "inverse-gaussian": (inverse_gaussian, "numbers", (), (), True),
    "conditional": (conditional, "classes", ("strata",), (), False),
    "cox": (cox, "none", ("time",), ("event", "entry", "strata"), False),
    "bradley-terry": (bradley_terry, "none", ("winner", "loser"), (), False),
}


def prove_near(proof: Any, multipliers: dict[Any, int], asked: list[int], lifted: Any, signs: Any) -> None:
    """Prove by the theorem on approximate multipliers that some positive combination of rows is zero."""
    names = [*((j,) for j in range(proof.shape[1])), *[()] * proof.lift]
    for i in asked if proof.claim == "overlapping" else {i for i, _ in multipliers}:
        for pairs in proof.relations:
            need(not sum(f * lifted(i).get(names[c], 0) for c, f in pairs), "A relation does not hold.")
    kept = {*names} - {names[pairs[0][0]] for pairs in proof.relations}
    blocks = sorted({block for one in multipliers for block in signs(*one)})
    if proof.kind == "joint":
        need(proof.claim != "overlapping" or len(blocks) == len(proof.classes), "A class is not listed.")
        blocks.pop()
    A = []  # signed rows and coordinates are scaled by powers of two; the unit of these numbers is 2**top
    for block, name in product(blocks, kept):
        values = (lifted(i).get(name, 0) * signs(i, c).get(block, 0) for i, c in multipliers)
        A.append([v << m.bit_length() for v, m in zip(values, multipliers.values(), strict=True)])
    if not A:
        return
    need(len(A) < len(multipliers), "There are too few rows.")
    top = max(each.bit_length() for each in chain(*A))
    A = [[each << top - max(map(int.bit_length, row)) for each in row] for row in A]
    inverse = right_inverse([[each / 2**top for each in row] for row in A])
    need(all(abs(each) < 2.0**500 for each in chain(*inverse)), "No inverse was found.")
    near = [(each << 128) >> each.bit_length() for each in multipliers.values()]  # in units of 2**-128
    rest = [sum(map(mul, row, near)) / 2**top for row in A]  # the theorem is about any l: take a nearer one
    near = [each - int(sum(map(mul, rest, b))) for each, b in zip(near, inverse, strict=True)]
    B, one, q, r = [[int(each * 2.0**64) for each in row] for row in inverse], 2 ** (top + 64), 0, 0
    for i, row in enumerate(A):
        off = (sum(map(mul, row, b)) - one * (i == c) for c, b in enumerate(zip(*B, strict=True)))
        q, r = max(q, sum(map(abs, off))), max(r, abs(sum(map(mul, row, near))))
    enough = all(sum(map(abs, b)) * r < (one - q) * each for b, each in zip(B, near, strict=True))
    need(q < one and enough, "The approximate multipliers are not near enough to exact ones.")


def right_inverse(rows: list[list[float]]) -> list[list[float]]:
    """Return the rows of B by Gram and Schmidt's method, done twice; no proof depends on their accuracy."""
    basis: list[tuple[list[float], list[float]]] = []  # orthonormal rows, and how they are combined from rows
    for i, row in enumerate(rows):
        own = [float(i == c) for c in range(len(rows))]
        for unit, other in basis * 2:
            score = sum(map(mul, row, unit))
            row = [a - score * b for a, b in zip(row, unit, strict=True)]
            own = [a - score * b for a, b in zip(own, other, strict=True)]
        norm = math.hypot(*row) or math.inf
        basis.append(([a / norm for a in row], [a / norm for a in own]))
    units, owns = ([*zip(*each, strict=True)] for each in zip(*basis, strict=True))
    return [[sum(map(mul, own, unit)) for own in owns] for unit in units]


def main() -> int:
    """Check the certificates in a file, and say which of them hold."""
    parser = argparse.ArgumentParser(description="Check a certificate of separability in exact integers.")
    parser.add_argument("certificate", help="a JSON file")
    parser.add_argument("data", help="a CSV, .npy or .npz file")
    parser.add_argument(
        "--target", help="the column of labels or the response, or its number in an .npy file"
    )
    told = "of a regression, such as time=days; may be repeated"
    parser.add_argument("--further", action="append", default=[], metavar="NAME=COLUMN", help=told)
    parser.add_argument("--any-data", action="store_true", help="do not compare the SHA-256 of the data")
    given, failed = parser.parse_args(), 0
    try:
        proofs = read_certificates(Path(given.certificate).read_bytes())
        content = Path(given.data).read_bytes()
        read = read_arrays if content[:2] == b"PK" or content[:6] == b"\x93NUMPY" else read_csv
        named = dict(each.split("=", 1) for each in given.further)
        none = any(proof.kind == "estimate" and MODELS[proof.model][1] == "none" for _, proof in proofs)
        named |= {} if none and given.target is None else {"y": given.target or "y"}
        table, columns = read(content, named)
    except Exception as error:  # of a damaged file the readers may raise anything
        parser.exit(2, f"This cannot be read: {error}\n")
    told = ", ".join(f"{'target' if name == 'y' else name} {column}" for name, column in named.items())
    print(f"{table.shape[0]} rows, {told}, all other columns: {table.shape[1]}.")
    for of, proof in proofs:
        try:
            said = f"Proved for {check(proof, table, columns, not given.any_data)} signed rows."
        except (ValueError, OverflowError) as error:
            said, failed = f"Not proved. {error}", 1
        print(f"{of!r}: " * bool(of) + f"{proof.claim}. {said}")
    print("The certificate does not hold." if failed else "The certificate holds.")
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
