// The regions of a kernel: scores on a grid, and smooth edges where two classes have the same score.

import { state, frameAt, frames } from "./state.js";
import { tint } from "./shapes.js";

const PARTS = 3; // pieces of a cell that an edge crosses, each way
const decoded = new WeakMap();

function floats(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

function unpacked(field) {
  if (!decoded.has(field)) {
    decoded.set(field, {
      columns: floats(field.columns),
      states: field.coefficients ? floats(field.coefficients) : null,
      final: floats(field.final),
    });
  }
  return decoded.get(field);
}

function scoresAt(run, moment) {
  const { field } = run;
  const { columns, states, final } = unpacked(field);
  if (!states || moment >= frames()) return final;
  const knots = field.size * field.size;
  const classes = run.classes.length;
  const width = classes === 2 ? 1 : classes;
  const support = field.support.length;
  const first = frameAt(moment).made * support * width;
  const scores = new Float32Array(knots * classes);
  for (let s = 0; s < support; s += 1) {
    for (let c = 0; c < width; c += 1) {
      const amount = states[first + s * width + c];
      if (amount === 0) continue;
      const offset = (classes === 2 ? 1 : c) * knots;
      const column = s * knots;
      for (let at = 0; at < knots; at += 1) scores[offset + at] += amount * columns[column + at];
    }
  }
  return scores;
}

// By how much the score of each class exceeds the best other score, at each knot.
function leads(run, moment) {
  const knots = run.field.size * run.field.size;
  const classes = run.classes.length;
  const scores = scoresAt(run, moment);
  const found = new Float32Array(knots * classes);
  for (let c = 0; c < classes; c += 1) {
    for (let at = 0; at < knots; at += 1) {
      let other = -Infinity;
      for (let d = 0; d < classes; d += 1) if (d !== c && scores[d * knots + at] > other) other = scores[d * knots + at];
      found[c * knots + at] = scores[c * knots + at] - other;
    }
  }
  return found;
}

// The cubic through four values, between the second and the third.
const cubic = (a, b, c, d, t) => b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));

// The area of a cell in which the value is not negative, and its edges inside the cell.
function cut(corners, values, areas, edges) {
  const area = [];
  const ends = [];
  corners.forEach((corner, at) => {
    const next = (at + 1) % corners.length;
    if (values[at] >= 0) area.push(corner);
    if (values[at] >= 0 === values[next] >= 0) return;
    const share = values[at] / (values[at] - values[next]);
    const crossing = corner.map((value, axis) => value + share * (corners[next][axis] - value));
    area.push(crossing);
    ends.push(crossing);
  });
  if (area.length > 2) areas.push(area);
  for (let at = 0; at + 1 < ends.length; at += 2) edges.push([ends[at], ends[at + 1]]);
}

// Where all values are tiny, far from every point, the sign is decided by rounding: no edge is drawn there.
function regionOf(value, size, place, smooth, tiny, areas, edges) {
  const within = (at) => Math.max(0, Math.min(size - 1, at));
  const square = [[0, 0], [1, 0], [1, 1], [0, 1]];
  for (let row = 0; row + 1 < size; row += 1) {
    let from = -1; // where a run of whole cells began
    for (let column = 0; column < size; column += 1) {
      const values = column + 1 < size ? square.map(([u, v]) => value(column + u, row + v)) : [-1];
      const whole = values.every((each) => each >= 0);
      if (whole && from < 0) from = column;
      if (!whole && from >= 0) {
        areas.push([place(from, row), place(column, row), place(column, row + 1), place(from, row + 1)]);
        from = -1;
      }
      if (whole || values.every((each) => each < 0)) continue;
      const drawn = values.some((each) => Math.abs(each) > tiny) ? edges : [];
      if (!smooth) {
        cut(square.map(([u, v]) => place(column + u, row + v)), values, areas, drawn);
        continue;
      }
      const rows = [-1, 0, 1, 2].map((v) => [-1, 0, 1, 2].map((u) => value(within(column + u), within(row + v))));
      const inside = (u, v) => cubic(...rows.map((line) => cubic(...line, u)), v);
      for (let p = 0; p < PARTS; p += 1) {
        for (let q = 0; q < PARTS; q += 1) {
          const knots = square.map(([u, v]) => [(p + u) / PARTS, (q + v) / PARTS]);
          cut(knots.map(([u, v]) => place(column + u, row + v)), knots.map(([u, v]) => inside(u, v)), areas, drawn);
        }
      }
    }
  }
}

export function drawField(pen, view, paint, run, strength) {
  const found = leads(run, state.moment);
  if (found.every((value) => value === 0)) return;
  const { size, box: [left, right, bottom, top] } = run.field;
  const [wide, high] = [(right - left) / (size - 1), (top - bottom) / (size - 1)];
  const place = (column, row) => view.toPicture([left + column * wide, bottom + row * high]);
  const smooth = !(state.settings.average === "voted" && state.moment >= frames());
  const tiny = 1e-6 * found.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const edges = [];
  run.classes.forEach((label, c) => {
    const areas = [];
    const first = c * size * size;
    regionOf((column, row) => found[first + row * size + column], size, place, smooth, tiny, areas, c || run.classes.length > 2 ? edges : []);
    const fill = tint(paint.classes[label], paint.paper, strength);
    pen.paths(areas, { fill, stroke: fill, width: 0.7, close: true });
  });
  pen.paths(edges, { stroke: paint.ink, width: 2, round: true });
}
