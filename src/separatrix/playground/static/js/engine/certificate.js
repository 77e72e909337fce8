// The certificate of a verdict, as docs/certificates.md specifies it.

import { absolute } from "./exact.js";
import { hexadecimal, sha256 } from "./sha256.js";

const INTEGER = /^[+-]?[0-9]{1,15}$/;
const LONE = /\p{Surrogate}/u; // half a character, which no certificate may contain

// The labels as a reader of points.csv finds them, sorted: integers if all are, text otherwise. Returns the names, and the
// position of each of the page's labels. Labels that a reader could not tell apart are numbered instead.
export function labelsOf(classes, present) {
  const names = present.map((label) => classes[label].trim());
  const whole = names.every((name) => INTEGER.test(name));
  const read = whole ? names.map((name) => String(Number(name))) : names;
  const usable = new Set(read).size === read.length && read.every((name) => name && !LONE.test(name));
  const written = usable ? read : present.map(String);
  const order = written.map((_, at) => at).sort((a, b) => (whole || !usable ? Number(written[a]) - Number(written[b]) : byCodePoint(written[a], written[b])));
  return { names: order.map((at) => written[at]), position: present.map((_, at) => order.indexOf(at)) };
}

function byCodePoint(a, b) {
  const [left, right] = [[...a], [...b]];
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const difference = left[at].codePointAt(0) - right[at].codePointAt(0);
    if (difference) return difference;
  }
  return left.length - right.length;
}

// A list of texts as Python's json.dumps writes it.
const asciiList = (names) => `[${names.map((name) => JSON.stringify(name).replace(/[\u007f-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`)).join(", ")}]`;

export function digestOf(rows, positions, names) {
  const values = new DataView(new ArrayBuffer(8 * rows.length * rows[0].length));
  rows.flat().forEach((value, at) => values.setFloat64(8 * at, value, true));
  const codes = new DataView(new ArrayBuffer(8 * rows.length));
  positions.forEach((code, at) => codes.setBigInt64(8 * at, BigInt(code), true));
  const text = new TextEncoder();
  const parts = [text.encode(`separatrix certificate 1 dense <f8 ${rows.length} ${rows[0].length}`), sha256(new Uint8Array(values.buffer)), sha256(new Uint8Array(codes.buffer)), text.encode(asciiList(names))];
  const bytes = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return hexadecimal(sha256(bytes));
}

// An integer in decimal if it is short, in hexadecimal otherwise.
function integerText(value) {
  const digits = absolute(value).toString();
  const written = digits.length <= 19 ? digits : `0x${absolute(value).toString(16)}`;
  return value < 0n ? `-${written}` : written;
}

// `found`: the claim; `weights` of each class (or one vector), in the columns themselves; `multipliers` with row and rival.
export function certificateOf({ data, points, lift, degrees }, found) {
  const { names, position } = labelsOf(data.classes, points.present);
  const joint = names.length > 2;
  const multipliers = found.multipliers?.map(({ row, rival, weight }) => ({ row, rival: position[rival], weight })).sort((a, b) => a.row - b.row || a.rival - b.rival);
  let { weights } = found;
  if (weights && joint) weights = names.map((_, at) => weights[position.indexOf(at)]);
  else if (weights && position[1] === 0) weights = weights.map((vector) => vector.map((value) => -value));
  return {
    format: "separatrix certificate",
    version: 1,
    claim: found.status,
    question: { kind: joint ? "joint" : "binary", classes: names, chosen: [], lift, excluded: [], ...(degrees ? { degrees } : {}) },
    data: { rows: points.rows.length, columns: points.rows[0].length, sha256: digestOf(points.rows, points.codes.map((code) => position[code]), names) },
    weights: weights ? weights.map((vector) => vector.map(integerText)) : null,
    multipliers: multipliers ? { rows: multipliers.map(({ row }) => row), rivals: joint ? multipliers.map(({ rival }) => rival) : [], coarse: multipliers.map(({ weight }) => integerText(weight)), fine: [], denominator: "1" } : null,
  };
}

// The columns of all products of `degree` entries, in lexicographic order.
export function monomials(width, degree, first = 0) {
  if (degree === 0) return [[]];
  return Array.from({ length: width - first }, (_, at) => first + at).flatMap((column) => monomials(width, degree - 1, column).map((rest) => [column, ...rest]));
}
