// Check a certificate against the points: whole numbers only, and nothing of the code that found it.

import { digestOf, labelsOf, monomials } from "./certificate.js";
import { binary, product } from "./exact.js";
import { readPoints } from "./requests.js";

const readInteger = (text) => (text.startsWith("-") ? -BigInt(text.slice(1)) : BigInt(text));

// Integers, or floats such as 0x1.8p-3, all multiplied by the same power of two.
function readWeights(texts) {
  const parts = texts.map((text) => {
    const [digits, power] = text.split("p");
    if (power === undefined) return { whole: readInteger(text), power: 0 };
    const [before, after = ""] = digits.split(".");
    return { whole: readInteger(before + after), power: Number(power) - 4 * after.length };
  });
  const low = Math.min(0, ...parts.map(({ power }) => power));
  return parts.map(({ whole, power }) => whole << BigInt(power - low));
}

// The multipliers times their denominator.
const readMultipliers = ({ rows, coarse, fine, denominator }) => rows.map((_, at) => readInteger(coarse[at] ?? "0") * readInteger(denominator) + readInteger(fine[at] ?? "0"));

export function check({ data, certificate }) {
  const reason = problemOf(certificate, data, readPoints(data));
  return { holds: !reason, reason: reason || "The proof holds for these points." };
}

function problemOf({ claim, approximate, question, data: told, weights, multipliers }, data, points) {
  const { names, position } = labelsOf(data.classes, points.present);
  const codes = points.codes.map((code) => position[code]);
  if (JSON.stringify(question.classes) !== JSON.stringify(names)) return "The certificate is about other classes.";
  if (told.sha256 !== digestOf(points.rows, codes, names)) return "The certificate is about other points.";
  if (approximate) return "The multipliers are approximate; the program checks those: separatrix verify";
  const joint = question.kind === "joint";
  const signed = signedRows(points.rows, codes, question, joint ? names.length : 1);
  const key = (row, rival) => `${row} ${rival}`;
  const amounts = multipliers ? readMultipliers(multipliers) : [];
  const listed = new Map(amounts.map((amount, at) => [key(multipliers.rows[at], joint ? multipliers.rivals[at] : 0), amount]));
  const known = signed.filter(({ row, rival }) => listed.has(key(row, rival)));
  if (claim !== "separable") {
    if (!known.length || known.length !== listed.size || [...listed.values()].some((value) => value <= 0n)) return "Every multiplier has to be positive, and belong to a row.";
    const total = known[0].vector.map((_, at) => known.reduce((sum, { row, rival, vector }) => sum + listed.get(key(row, rival)) * vector[at], 0n));
    if (total.some((value) => value !== 0n)) return "The multipliers do not add the rows up to zero.";
    if (claim === "overlapping" && known.length < signed.length) return "A row has no multiplier.";
    if (claim === "quasi-separable" && known.length === signed.length) return "Every row has a multiplier.";
  }
  if (claim === "separable" || claim === "quasi-separable") {
    const w = readWeights(weights.flat());
    const tight = new Set(known);
    if (signed.some((each) => (tight.has(each) ? product(w, each.vector) !== 0n : product(w, each.vector) <= 0n))) return "A row is not on its own side.";
  }
  return "";
}

// All coordinates are multiplied by the same power of two, which makes them integers.
function signedRows(rows, codes, { degrees = [1], lift }, classes) {
  const parts = rows.map((row) => row.map(binary));
  const low = Math.min(0, ...parts.flat().map(({ power }) => power));
  const top = Math.max(...degrees);
  const columns = degrees.flatMap((degree) => monomials(rows[0].length, degree));
  const scale = (value, degree) => value << BigInt(-low * (top - degree));
  return parts.flatMap((part, row) => {
    const whole = part.map(({ whole: value, power }) => value << BigInt(power - low));
    const x = columns.map((chosen) => scale(chosen.reduce((total, column) => total * whole[column], 1n), chosen.length));
    if (lift) x.push(scale(1n, 0));
    const rivals = classes === 1 ? [0] : Array.from({ length: classes }, (_, rival) => rival).filter((rival) => rival !== codes[row]);
    return rivals.map((rival) => ({ row, rival, vector: Array.from({ length: classes }, (_, code) => x.map((value) => value * signOf(code, rival))).flat() }));

    function signOf(code, rival) {
      if (classes === 1) return codes[row] ? 1n : -1n;
      return code === codes[row] ? 1n : code === rival ? -1n : 0n;
    }
  });
}
