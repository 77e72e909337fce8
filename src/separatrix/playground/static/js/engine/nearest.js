// The point of a convex hull that is nearest to zero (Wolfe 1976). Its direction has the largest margin, its length is that margin.

import { dot, rivalsOf, sum } from "./scores.js";

const ROUNDS = 1000;
const CLOSE = 4e-16; // relative to the product of both lengths: below this, rounding decides
const DEPENDENT = 1e-13;

// `best(direction)` returns the point of the set that is lowest in a direction; points carry a `vector`.
// Returns the points that carry the nearest one, their shares, and the nearest point.
export function nearestPoint(first, best) {
  let corral = [first];
  let shares = [1];
  let nearest = first.vector;
  let size = dot(nearest, nearest);
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = best(nearest);
    size = Math.max(size, dot(next.vector, next.vector));
    if (dot(nearest, nearest) - dot(nearest, next.vector) <= CLOSE * Math.sqrt(dot(nearest, nearest) * size) || corral.includes(next)) break;
    corral.push(next);
    shares.push(0);
    [corral, shares] = descend(corral, shares);
    const before = dot(nearest, nearest);
    nearest = combine(corral, shares);
    if (!(dot(nearest, nearest) < before)) break;
  }
  return { corral, shares, nearest };
}

// Move to the nearest point of the affine hull; points whose share would become negative leave on the way.
function descend(corral, shares) {
  for (;;) {
    const wanted = affineNearest(corral.map((point) => point.vector));
    if (wanted && wanted.every((share) => share > 0)) return [corral, wanted];
    const goal = wanted ?? shares.map((_, at) => (at === shares.length - 1 ? 1 : 0));
    const steps = goal.map((share, at) => (share > 0 ? 1 : shares[at] / (shares[at] - share)));
    const step = Math.min(...steps);
    const moved = shares.map((share, at) => share + step * (goal[at] - share));
    const gone = goal.map((share, at) => share <= 0 && steps[at] <= step);
    if (!gone.some(Boolean)) gone[moved.indexOf(Math.min(...moved))] = true;
    corral = corral.filter((_, at) => !gone[at]);
    shares = moved.filter((_, at) => !gone[at]);
    const total = sum(shares);
    shares = shares.map((share) => (total > 0 ? share / total : 1 / shares.length));
    if (corral.length === 1) return [corral, [1]];
  }
}

const combine = (corral, shares) => corral[0].vector.map((_, at) => sum(corral.map((point, number) => shares[number] * point.vector[at])));

// The shares, with sum one, of the point of the affine hull that is nearest to zero; null if the points are dependent.
// Least squares by Gram and Schmidt's method: every edge is made perpendicular to those before it.
function affineNearest(vectors) {
  const [origin, ...others] = vectors;
  const units = [];
  const rest = [];
  let left = origin;
  for (const vector of others) {
    const edge = vector.map((value, at) => value - origin[at]);
    let across = edge;
    const along = units.map((unit) => {
      const share = dot(unit, across);
      across = across.map((value, at) => value - share * unit[at]);
      return share;
    });
    const length = Math.sqrt(dot(across, across));
    if (!(length > DEPENDENT * Math.sqrt(dot(edge, edge)))) return null;
    const unit = across.map((value) => value / length);
    const share = dot(unit, left);
    left = left.map((value, at) => value - share * unit[at]);
    units.push(unit);
    rest.push({ along, length, share });
  }
  const shares = rest.map(() => 0);
  for (let at = rest.length - 1; at >= 0; at -= 1) {
    const later = sum(rest.slice(at + 1).map((each, number) => each.along[at] * shares[at + 1 + number]));
    shares[at] = (-rest[at].share - later) / rest[at].length;
  }
  return [1 - sum(shares), ...shares];
}

const lowest = (points, direction) => points.reduce((best, point) => (dot(point.vector, direction) < dot(best.vector, direction) ? point : best));

// The signed rows: with several classes, one for each row and rival, with a block of coordinates for each class (Kesler).
export function signedRows(rows, codes, classes) {
  if (classes === 2) return rows.map((row, at) => ({ row: at, rival: 0, vector: codes[at] ? row : row.map((value) => -value) }));
  return rows.flatMap((row, at) => rivalsOf(codes[at], classes).map((rival) => ({
    row: at,
    rival,
    vector: Array.from({ length: classes }, (_, code) => row.map((value) => (code === codes[at] ? value : code === rival ? -value : 0))).flat(),
  })));
}

// The largest margin of weights of length one: bounds of it, the weights, and the multipliers of the signed rows.
export function largestMargin(rows, codes, classes) {
  const points = signedRows(rows, codes, classes);
  const { corral, shares, nearest } = nearestPoint(points[0], (direction) => lowest(points, direction));
  const upper = Math.sqrt(dot(nearest, nearest));
  const unit = upper > 0 ? nearest.map((value) => value / upper) : nearest;
  const lower = dot(lowest(points, unit).vector, unit);
  return { lower, upper, unit, corral, shares };
}

// The two hulls of two classes: their nearest points, and the hyperplane midway between them.
export function widestRoad(rows, codes) {
  const sides = [0, 1].map((code) => rows.map((row, at) => ({ row: at, vector: row })).filter(({ row }) => codes[row] === code));
  const pair = (low, high) => ({ low, high, vector: high.vector.map((value, at) => value - low.vector[at]) });
  const known = new Map();
  const cached = (low, high) => {
    const key = `${low.row} ${high.row}`;
    if (!known.has(key)) known.set(key, pair(low, high));
    return known.get(key);
  };
  const best = (direction) => cached(lowest(sides[0], direction.map((value) => -value)), lowest(sides[1], direction));
  const { corral, shares, nearest } = nearestPoint(cached(sides[0][0], sides[1][0]), best);
  const width = Math.sqrt(dot(nearest, nearest));
  const multipliers = rows.map(() => 0);
  corral.forEach(({ low, high }, at) => {
    multipliers[low.row] += shares[at];
    multipliers[high.row] += shares[at];
  });
  const far = best(nearest);
  const [top, bottom] = [dot(nearest, far.high.vector), dot(nearest, far.low.vector)];
  return { nearest, width, lower: width > 0 ? (top - bottom) / width / 2 : 0, upper: width / 2, middle: (top + bottom) / 2, gap: top - bottom, multipliers };
}
