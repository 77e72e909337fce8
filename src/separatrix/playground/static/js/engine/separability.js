// Separable, quasi-separable or overlapping, decided exactly, with the proof.

import { certificateOf, monomials } from "./certificate.js";
import { fractionText, product, shortest, toFloat, wholeColumns } from "./exact.js";
import { tuckerPartition } from "./gordan.js";
import { hullCorners } from "./hulls.js";
import { kernelOf, needRange } from "./kernels.js";
import { kernelMargin } from "./kernel_margin.js";
import { largestMargin } from "./nearest.js";
import { lifted, readPoints } from "./requests.js";
import { dot, rivalsOf } from "./scores.js";

const ROUGH = { gap: 1e-3, rounds: 2000 }; // how far apart the bounds of a kernel's margin may be, unless the rounds end
const MOST_MONOMIALS = 28; // exact arithmetic on more of them takes seconds

export function verdict({ data, settings }) {
  const points = readPoints(data);
  const kernel = settings.method === "kernel" ? kernelOf(settings.kernel) : null;
  if (kernel) needRange(kernel, points.rows);
  const hulls = points.present.map((_, code) => hullCorners(points.rows, points.codes.flatMap((own, row) => (own === code ? [row] : []))));
  const answer = { status: "undecided", margin: [null, null], witness: [], common: [], common_at: [], hulls, conflict: false, certificate: null };
  const conflict = conflictOf(points);
  if (kernel && !kernel.degrees) {
    const known = withoutMap(kernel, points, conflict, data, settings);
    return known && { ...answer, ...known };
  }
  const degrees = kernel ? kernel.degrees.filter(Boolean) : [1];
  const lift = settings.lift || Boolean(kernel?.degrees.includes(0));
  if (degrees.reduce((total, degree) => total + degree + 1, 0) > MOST_MONOMIALS) return undefined;
  const exact = exactRows(points.rows, degrees, lift);
  const signed = signedRows(exact.rows, points.codes, points.present.length);
  let margin = kernel ? null : largestMargin(lifted(points.rows, lift), points.codes, points.present.length);
  const quick = margin && separates(signed, margin.unit, exact.powers, points.present.length);
  const found = quick ? { multipliers: new Map(), weights: quick } : tuckerPartition(signed.map(({ vector }) => vector), conflict && pairIn(signed, points.codes, conflict));
  const status = statusBy(found.multipliers, found.weights);
  if (kernel && status === "separable") margin = kernelMargin(kernel, points, settings.lift, ROUGH);
  const claim = {
    status,
    weights: found.weights && inColumns(found.weights, exact.powers, points.present.length),
    multipliers: found.multipliers.size ? [...found.multipliers].map(([at, weight]) => ({ ...signed[at], weight })) : null,
  };
  return {
    ...answer,
    status,
    margin: status === "separable" ? [Math.max(0, margin.lower), margin.upper] : status === "overlapping" ? [-radius(points, kernel), 0] : [0, 0],
    ...witnessOf(found.witness, signed, points, lift, !kernel && lift),
    conflict: Boolean(conflict) && status !== "separable",
    certificate: certificateOf({ data, points, lift, degrees: kernel && String(degrees) !== "1" ? degrees : null }, claim),
  };
}

// The status of the points alone, in any number of dimensions.
export function statusOf(points, lift) {
  const signed = signedRows(exactRows(points.rows, [1], lift).rows, points.codes, points.present.length);
  const { multipliers, weights } = tuckerPartition(signed.map(({ vector }) => vector));
  return statusBy(multipliers, weights);
}

function statusBy(multipliers, weights) {
  if (!multipliers.size) return "separable";
  return weights ? "quasi-separable" : "overlapping";
}

// The rows as integers: products of columns of these degrees, then a one. Each column is divided by a power of two.
function exactRows(rows, degrees, lift) {
  const { whole, powers } = wholeColumns(rows);
  const columns = degrees.flatMap((degree) => monomials(powers.length, degree));
  return {
    rows: whole.map((row) => [...columns.map((chosen) => chosen.reduce((total, column) => total * row[column], 1n)), ...(lift ? [1n] : [])]),
    powers: [...columns.map((chosen) => chosen.reduce((total, column) => total + powers[column], 0)), ...(lift ? [0] : [])],
  };
}

// With several classes there is one signed row for each rival. The block of the last class is left out: it is minus the sum of the others.
function signedRows(rows, codes, classes) {
  if (classes === 2) return rows.map((x, row) => ({ row, rival: 1 - codes[row], vector: codes[row] ? x : x.map((value) => -value) }));
  return rows.flatMap((x, row) => rivalsOf(codes[row], classes).map((rival) => ({
    row,
    rival,
    vector: Array.from({ length: classes - 1 }, (_, code) => (code === codes[row] ? x : code === rival ? x.map((value) => -value) : x.map(() => 0n))).flat(),
  })));
}

// The weights of floats, rounded to few digits, if they separate the signed rows exactly.
function separates(signed, unit, powers, classes) {
  const blocks = classes === 2 ? [unit] : Array.from({ length: classes - 1 }, (_, code) => powers.map((__, at) => unit[code * powers.length + at] - unit[(classes - 1) * powers.length + at]));
  const scaled = blocks.map((block) => block.map((value, at) => value * 2 ** powers[at])).flat();
  const largest = Math.max(...scaled.map(Math.abs));
  if (!(largest > 0 && largest < Infinity)) return null;
  for (const bits of [6, 12, 24, 48]) {
    const weights = scaled.map((value) => BigInt(Math.round((value / largest) * 2 ** bits)));
    if (signed.every(({ vector }) => product(weights, vector) > 0n)) return shortest(weights);
  }
  return null;
}

// Weights of the integer columns as weights of the columns themselves: one vector, or one for each class.
function inColumns(weights, powers, classes) {
  const most = Math.max(...powers);
  const scaled = weights.map((value, at) => value << BigInt(most - powers[at % powers.length]));
  if (classes === 2) return [shortest(scaled)];
  const short = shortest(scaled);
  return Array.from({ length: classes }, (_, code) => (code < classes - 1 ? short.slice(code * powers.length, (code + 1) * powers.length) : powers.map(() => 0n)));
}

// Two equal points of different classes.
export function conflictOf({ rows, codes }) {
  const seen = new Map();
  for (let row = 0; row < rows.length; row += 1) {
    const key = rows[row].join(" ");
    if (!seen.has(key)) seen.set(key, row);
    else if (codes[seen.get(key)] !== codes[row]) return [seen.get(key), row];
  }
  return null;
}

function pairIn(signed, codes, [one, other]) {
  return [[one, other], [other, one]].map(([row, against]) => ({ at: signed.findIndex((each) => each.row === row && each.rival === codes[against]), weight: 1n }));
}

// The few rows that prove inseparability, with fractions; for lines in the plane also the point that they place in both hulls.
function witnessOf(witness, signed, { rows, codes, present }, lift, flat = false) {
  if (!witness) return {};
  const binary = present.length === 2;
  const total = witness.reduce((sum, { weight }) => sum + weight, 0n);
  const one = binary && lift ? total / 2n : total; // the ones of the lift balance: each class has half of the sum
  const told = witness.map(({ at, weight }) => ({ row: signed[at].row, rival: binary ? null : signed[at].rival, weight: fractionText(weight, one) }));
  if (!binary || !flat) return { witness: told };
  const { whole, powers } = wholeColumns(rows);
  const means = powers.map((power, column) => {
    const above = witness.reduce((sum, { at, weight }) => (codes[signed[at].row] ? sum + weight * whole[signed[at].row][column] : sum), 0n);
    return [above << BigInt(Math.max(0, power)), one << BigInt(Math.max(0, -power))];
  });
  return { witness: told, common: means.map(([above, below]) => fractionText(above, below)), common_at: means.map(([above, below]) => toFloat(above, below)) };
}

// A kernel that is no polynomial: by equal points, or by a theorem (Micchelli 1986).
function withoutMap(kernel, points, conflict, data, settings) {
  if (conflict) {
    const signed = signedRows(points.rows.map((row) => row.map(() => 0n)), points.codes, points.present.length);
    const witness = pairIn(signed, points.codes, conflict);
    const multipliers = witness.map(({ at, weight }) => ({ ...signed[at], weight }));
    return { status: "inseparable", margin: [-radius(points, kernel), 0], witness: witnessOf(witness, signed, points, settings.lift).witness, conflict: true, certificate: certificateOf({ data, points, lift: settings.lift }, { status: "inseparable", weights: null, multipliers }) };
  }
  if (!kernel.strict) return undefined;
  const { lower, upper } = kernelMargin(kernel, points, settings.lift, ROUGH);
  return { status: "separable", margin: [Math.max(0, lower), upper] };
}

// A bound of the length of every signed row.
function radius({ rows }, kernel) {
  const square = Math.max(...rows.map((row) => (kernel ? kernel.at(row, row) : dot(row, row))));
  return Math.sqrt(2 * (square + 1)) * (1 + 1e-9);
}
