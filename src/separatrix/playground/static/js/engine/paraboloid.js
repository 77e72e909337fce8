// The points lifted to a paraboloid, and the plane of the largest margin there.

import { largestMargin, widestRoad } from "./nearest.js";
import { readPoints } from "./requests.js";
import { norm } from "./scores.js";
import { statusOf } from "./separability.js";

const FAR = 1e4; // a constant column so much larger than the others leaves the intercept almost free

export function paraboloid({ data }) {
  const points = readPoints(data);
  const rows = points.rows.map(([x, y]) => [x, y, x * x + y * y]);
  const end = (pick) => rows[0].map((_, column) => pick(...rows.map((row) => row[column])));
  const status = statusOf({ ...points, rows }, true);
  const answer = { rows, low: end(Math.min), high: end(Math.max), status, margin: null, plane: null };
  if (status !== "separable") return answer;
  if (points.present.length > 2) return { ...answer, margin: freeMargin(rows, points) };
  const road = widestRoad(rows, points.codes);
  return { ...answer, margin: road.lower, plane: [...road.nearest.map((value) => (2 * value) / road.gap), (-2 * road.middle) / road.gap] };
}

function freeMargin(rows, { codes, present }) {
  const far = FAR * Math.max(...rows.flat().map(Math.abs));
  const { lower, unit } = largestMargin(rows.map((row) => [...row, far]), codes, present.length);
  return lower / norm([unit.filter((_, at) => at % 4 < 3)]);
}
