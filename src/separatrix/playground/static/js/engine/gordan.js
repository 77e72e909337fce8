// Gordan's alternative (1873), decided exactly: either some w has <w, z> > 0 for all vectors z, or a combination
// of them with weights >= 0, not all zero, is zero. Tucker's partition (1956) applies it at most once per dimension.

import { express, perpendicular, product, shortest } from "./exact.js";

// The simplex method in integers (Edmonds): find l >= 0 with sum l = 1 and sum l z = 0.
// Rows of `inverse` divided by `whole` are the inverse of the basis. The lexicographic rule excludes cycles.
export function gordan(vectors) {
  const size = vectors[0].length + 1;
  const last = size - 1;
  const columnOf = (row, vector) => product(row, vector) + row[last];
  const basis = new Array(size).fill(-1); // numbers of vectors; -1 is an artificial variable
  let inverse = basis.map((_, at) => basis.map((__, column) => (at === column ? 1n : 0n)));
  let whole = 1n;
  for (;;) {
    const dual = inverse[0].map((_, column) => inverse.reduce((total, row, at) => (basis[at] < 0 ? total + row[column] : total), 0n));
    let entering = -1;
    let most = 0n;
    vectors.forEach((vector, at) => {
      const gain = columnOf(dual, vector);
      if (gain > most) [entering, most] = [at, gain];
    });
    if (entering < 0) {
      if (dual[last] > 0n) return { separator: shortest(dual.slice(0, last).map((value) => -value)) };
      const support = basis.map((number, at) => ({ at: number, weight: inverse[at][last] })).filter(({ at, weight }) => at >= 0 && weight > 0n);
      const weights = shortest(support.map(({ weight }) => weight));
      return { support: support.map(({ at }, number) => ({ at, weight: weights[number] })) };
    }
    const column = inverse.map((row) => columnOf(row, vectors[entering]));
    const leaving = leavingRow(inverse, column, last);
    const pivot = column[leaving];
    inverse = inverse.map((row, at) => (at === leaving ? row : row.map((value, entry) => (pivot * value - column[at] * inverse[leaving][entry]) / whole)));
    whole = pivot;
    basis[leaving] = entering;
  }
}

// The row whose right-hand side, and then whose inverse, divided by the column, comes first.
function leavingRow(inverse, column, last) {
  let best = -1;
  for (let at = 0; at < column.length; at += 1) if (column[at] > 0n && (best < 0 || comesBefore(at, best))) best = at;
  return best;

  function comesBefore(a, b) {
    for (let entry = last, count = 0; count <= last; entry = count, count += 1) {
      const difference = inverse[a][entry] * column[b] - inverse[b][entry] * column[a];
      if (difference) return difference < 0n;
    }
    return false;
  }
}

// Which vectors can be strictly positive together. Returns `multipliers` > 0 of the others, whose combination is zero, the
// `witness` (the first few of them), and `weights` that are positive on the rest and zero on the others; null if none is left.
export function tuckerPartition(vectors, witness = null) {
  const width = vectors[0].length;
  const multipliers = new Map();
  let first = witness;
  let basis = Array.from({ length: width }, (_, at) => Array.from({ length: width }, (__, column) => (at === column ? 1n : 0n)));
  let left = vectors.map((_, at) => at);
  for (;;) {
    const seen = left.map((at) => basis.map((direction) => product(direction, vectors[at])));
    const found = first && !multipliers.size ? { support: first } : gordan(seen);
    if (found.separator) {
      const weights = basis[0].map((_, column) => basis.reduce((total, direction, at) => total + direction[column] * found.separator[at], 0n));
      return finished(shortest(weights));
    }
    const support = multipliers.size ? found.support.map(({ at, weight }) => ({ at: left[at], weight })) : found.support;
    first ??= support;
    absorb(support);
    basis = perpendicular([...multipliers.keys()].map((at) => vectors[at]), width);
    left = left.filter((at) => basis.some((direction) => product(direction, vectors[at]) !== 0n));
    if (!left.length) return finished(null);
  }

  // A positive combination of the multipliers' vectors is zero, so they span a subspace with weights >= 0. Give weights to
  // more vectors whose sum lies in it.
  function absorb(more) {
    if (!more.length) return;
    const known = [...multipliers.keys()];
    const total = vectors[0].map((_, column) => more.reduce((sum, { at, weight }) => sum + weight * vectors[at][column], 0n));
    const { numbers, below } = express(known.map((at) => vectors[at]), total.map((value) => -value));
    let times = 1n;
    known.forEach((at, number) => {
      const needed = 1n - numbers[number] / multipliers.get(at);
      if (needed > times) times = needed;
    });
    known.forEach((at, number) => multipliers.set(at, times * multipliers.get(at) + numbers[number]));
    for (const { at, weight } of more) multipliers.set(at, below * weight);
  }

  function finished(weights) {
    const strict = new Set(weights ? left : []);
    absorb(vectors.map((_, at) => at).filter((at) => !strict.has(at) && !multipliers.has(at)).map((at) => ({ at, weight: 1n })));
    return { witness: first, multipliers, weights };
  }
}
