// Sequential learning (Marchand, Golea and Rujan 1990): half-planes that hold points of one class only, until one class is left.

import { binary } from "./exact.js";
import { hullCorners } from "./hulls.js";
import { Refusal } from "./refusal.js";
import { conflictOf } from "./separability.js";

const TURN = 2 * Math.PI;

// The sign of a x + b y + c, exactly.
function side([a, b, c], [x, y]) {
  const terms = [[a, x], [b, y], [c, 1]].map((pair) => {
    const [one, other] = pair.map(binary);
    return { whole: one.whole * other.whole, power: one.power + other.power };
  });
  const low = Math.min(...terms.map(({ power }) => power));
  const total = terms.reduce((left, { whole, power }) => left + (whole << BigInt(power - low)), 0n);
  return total > 0n ? 1 : total < 0n ? -1 : 0;
}

// The directions in which a corner of the hull of some points is farthest, as angles from the first to the last.
function cone(rows, corners, at) {
  const count = corners.length;
  if (count === 1) return [0, TURN];
  const outward = (from, to) => Math.atan2(rows[from][0] - rows[to][0], rows[to][1] - rows[from][1]);
  const first = outward(corners[(at + count - 1) % count], corners[at]);
  const last = outward(corners[at], corners[(at + 1) % count]);
  return [first, last > first ? last : last + TURN];
}

// The direction of a cone in which most of these points are beyond its corner: a sweep over the angles at which one comes or goes.
function farthest(rows, corner, own, [first, last]) {
  const events = own.flatMap((row) => {
    const middle = Math.atan2(rows[row][1] - rows[corner][1], rows[row][0] - rows[corner][0]);
    return [-TURN, 0, TURN].flatMap((shift) => {
      const [from, to] = [Math.max(first, middle + shift - TURN / 4), Math.min(last, middle + shift + TURN / 4)];
      return from < to ? [[from, 1], [to, -1]] : [];
    });
  }).sort(([a], [b]) => a - b);
  let [count, best] = [0, { count: 0, width: 0, angle: 0 }];
  events.forEach(([angle, change], at) => {
    count += change;
    const width = (events[at + 1]?.[0] ?? angle) - angle;
    if (width > 0 && (count > best.count || (count === best.count && width > best.width))) best = { count, width, angle: angle + width / 2 };
  });
  return best;
}

// The half-plane with most points of one class and no other point; what it holds is decided exactly.
function nextUnit(rows, codes, left) {
  const candidates = [...new Set(left.map((row) => codes[row]))].flatMap((label) => {
    const own = left.filter((row) => codes[row] === label);
    const corners = hullCorners(rows, left.filter((row) => codes[row] !== label));
    return corners.map((corner, at) => ({ label, corner, own, ...farthest(rows, corner, own, cone(rows, corners, at)) }));
  }).filter(({ count }) => count > 0).sort((one, other) => other.count - one.count || other.width - one.width);
  for (const { label, corner, own, angle } of candidates) {
    const direction = [Math.cos(angle), Math.sin(angle)];
    const along = (row) => direction[0] * rows[row][0] + direction[1] * rows[row][1];
    const edge = along(corner);
    const beyond = own.map(along).filter((value) => value > edge);
    const weights = [...direction, -(edge + Math.min(...beyond)) / 2];
    const held = beyond.length ? left.filter((row) => side(weights, rows[row]) > 0) : [];
    if (held.length && held.every((row) => codes[row] === label)) return { weights, label, rows: held };
  }
  throw new Refusal("too_close", "");
}

// The units in the order in which they are asked, and the class of points that none of them holds.
export function growNetwork({ rows, codes }) {
  if (conflictOf({ rows, codes })) throw new Refusal("conflict", "");
  const units = [];
  let left = rows.map((_, row) => row);
  while (new Set(left.map((row) => codes[row])).size > 1) {
    const unit = nextUnit(rows, codes, left);
    units.push(unit);
    left = left.filter((row) => !unit.rows.includes(row));
  }
  return { units, rest: codes[left[0]] };
}
