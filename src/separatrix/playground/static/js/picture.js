// The picture: regions, points, planes and proofs, drawn from the answer of the server on any pen.

import { state, places, frameAt, frames } from "./state.js";
import { colors, frame, mark, region, segment, ticks, tint } from "./shapes.js";
import { CanvasPen } from "./pen.js";
import { number } from "./texts.js";

const REGION = 0.16;

export const overlay = { cursor: null, lasso: null, box: null };

export function countsAt(made) {
  const counts = new Array(state.data.rows.length).fill(0);
  const rows = state.run?.updates?.rows;
  if (rows) for (let at = 0; at < made; at += 1) counts[rows[at]] += 1;
  return counts;
}

// Return the planes at the moment that is shown: those of the step, or those of the final model.
export function planesNow() {
  const run = state.run;
  if (!run) return null;
  const last = state.moment >= frames();
  if (run.model.planes && (last || !run.updates)) return run.model.planes;
  if (run.updates?.planes) return run.updates.planes[frameAt(state.moment).made];
  return null;
}

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

// Compute, at each knot of the grid, by how much the score of each class exceeds the best other score.
export function leads(run, moment) {
  const field = run.field;
  if (!field) return null;
  const { columns, states, final } = unpacked(field);
  const knots = field.size * field.size;
  const classes = run.classes.length;
  let scores = final;
  if (states && moment < frames()) {
    const width = classes === 2 ? 1 : classes;
    const support = field.support.length;
    const first = frameAt(moment).made * support * width;
    scores = new Float32Array(knots * classes);
    for (let s = 0; s < support; s += 1) {
      for (let c = 0; c < width; c += 1) {
        const amount = states[first + s * width + c];
        if (amount === 0) continue;
        const offset = (classes === 2 ? 1 : c) * knots;
        const column = s * knots;
        for (let at = 0; at < knots; at += 1) scores[offset + at] += amount * columns[column + at];
      }
    }
  }
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

// The regions of a grid of scores, cell by cell, with straight edges where the lead is zero.
function drawField(pen, view, paint, run) {
  const found = leads(run, state.moment);
  if (!found || found.every((value) => value === 0)) return;
  const { size, box: [left, right, bottom, top] } = run.field;
  const wide = (right - left) / (size - 1);
  const high = (top - bottom) / (size - 1);
  const at = (column, row) => view.toPicture([left + column * wide, bottom + row * high]);
  const edges = [];
  run.classes.forEach((label, c) => {
    const value = (column, row) => found[c * size * size + row * size + column];
    const fill = tint(paint.classes[label], paint.paper, REGION);
    for (let row = 0; row + 1 < size; row += 1) {
      let from = -1; // where a run of whole cells began
      for (let column = 0; column < size; column += 1) {
        const corners = column + 1 < size ? [[column, row], [column + 1, row], [column + 1, row + 1], [column, row + 1]] : [];
        const values = corners.map(([x, y]) => value(x, y));
        const whole = corners.length > 0 && values.every((each) => each >= 0);
        if (whole && from < 0) from = column;
        if (!whole && from >= 0) {
          const [[x0, y0], [x1, y1]] = [at(from, row), at(column, row + 1)];
          pen.path([[x0, y0 + 0.5], [x1 + 0.5, y0 + 0.5], [x1 + 0.5, y1], [x0, y1]], { fill, close: true });
          from = -1;
        }
        if (whole || !values.some((each) => each >= 0)) continue;
        const outline = [];
        const ends = [];
        corners.forEach(([x, y], k) => {
          const next = (k + 1) % 4;
          if (values[k] >= 0) outline.push(at(x, y));
          if (values[k] >= 0 !== values[next] >= 0) {
            const share = values[k] / (values[k] - values[next]);
            const crossing = at(x + share * (corners[next][0] - x), y + share * (corners[next][1] - y));
            outline.push(crossing);
            ends.push(crossing);
          }
        });
        pen.path(outline, { fill, close: true });
        if (c > 0 || run.classes.length > 2) for (let k = 0; k + 1 < ends.length; k += 2) edges.push([ends[k], ends[k + 1]]);
      }
    }
  });
  for (const edge of edges) pen.path(edge, { stroke: paint.ink, width: 1.8 });
}

function drawPlanes(pen, view, paint, run) {
  const planes = planesNow();
  if (!planes) return;
  const box = view.shown;
  const zero = planes.every((plane) => plane.every((value) => value === planes[0][0] && value === 0));
  if (!zero) {
    planes.forEach((_, at) => {
      const area = region(planes, at, box).map(view.toPicture);
      if (area.length > 2) pen.path(area, { fill: tint(paint.classes[run.classes[at]], paint.paper, REGION), close: true });
    });
  }
  const step = frameAt(state.moment);
  if (step?.mistake && run.updates?.planes && state.moment < frames() + 1) {
    drawBorders(pen, view, run.updates.planes[step.before], box, { stroke: paint.muted, width: 1.2, dash: [5, 4] });
  }
  drawBorders(pen, view, planes, box, { stroke: paint.ink, width: 2 });
  drawMargin(pen, view, paint, run, planes, box);
}

function drawBorders(pen, view, planes, box, paint, level = 0) {
  for (let one = 0; one < planes.length; one += 1) {
    for (let other = one + 1; other < planes.length; other += 1) {
      const line = planes[one].map((value, at) => value - planes[other][at]);
      let ends = segment([line[0], line[1], line[2] - level], box);
      // with more than two classes, only where both lead the rest
      planes.forEach((third, at) => {
        if (at === one || at === other || ends.length < 2) return;
        ends = cut(ends, planes[one].map((value, k) => value - third[k]));
      });
      if (ends.length === 2) pen.path(ends.map(view.toPicture), paint);
    }
  }
}

function cut([p, q], [a, b, c]) {
  const [u, v] = [a * p[0] + b * p[1] + c, a * q[0] + b * q[1] + c];
  if (u < 0 && v < 0) return [];
  if (u >= 0 && v >= 0) return [p, q];
  const share = u / (u - v);
  const middle = [p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])];
  return u >= 0 ? [p, middle] : [middle, q];
}

// The lines through the nearest points, or at scores 1 and -1 if these have a meaning for the method.
function drawMargin(pen, view, paint, run, planes, box) {
  if (planes.length !== 2 || !state.run.view.exact) return;
  const line = planes[1].map((value, at) => value - planes[0][at]);
  const paintIt = { stroke: paint.muted, width: 1.2, dash: [2, 4] };
  let levels = [];
  if (run.model.margin_planes) levels = [1, -1];
  else {
    const nearest = state.moment >= frames() ? run.model.lowest : run.updates.lowest[frameAt(state.moment).made];
    if (nearest > 0) levels = [nearest, -nearest];
  }
  for (const level of levels) {
    const ends = segment([line[0], line[1], line[2] - level], box);
    if (ends.length === 2) pen.path(ends.map(view.toPicture), paintIt);
  }
}

function drawAxes(pen, view, paint, width, height) {
  const box = view.shown;
  const grid = { stroke: paint.faint, width: 1 };
  for (const x of ticks(box.left, box.right, Math.max(3, width / 110))) {
    const [at] = view.toPicture([x, 0]);
    pen.path([[at, 0], [at, height]], grid);
    pen.text(number(x), at + 4, height - 6, { color: paint.muted, size: 11 });
  }
  for (const y of ticks(box.bottom, box.top, Math.max(3, height / 110))) {
    const [, at] = view.toPicture([0, y]);
    pen.path([[0, at], [width, at]], grid);
    pen.text(number(y), 6, at - 4, { color: paint.muted, size: 11 });
  }
  const [x0, y0] = view.toPicture([0, 0]);
  pen.path([[x0, 0], [x0, height]], { stroke: paint.muted, width: 1, alpha: 0.5 });
  pen.path([[0, y0], [width, y0]], { stroke: paint.muted, width: 1, alpha: 0.5 });
  const labels = state.run?.view.labels ?? state.data.columns;
  pen.text(labels[0] ?? "", width - 8, height - 6, { color: paint.muted, size: 12, anchor: "end", halo: paint.paper });
  pen.text(labels[1] ?? "", 30, 16, { color: paint.muted, size: 12, halo: paint.paper });
}

function drawArrow(pen, from, to, paint) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy);
  if (length < 3) return;
  pen.path([from, to], paint);
  const [ux, uy] = [dx / length, dy / length];
  const size = Math.min(10, length / 2);
  const base = [to[0] - ux * size, to[1] - uy * size];
  pen.path([to, [base[0] - uy * size * 0.5, base[1] + ux * size * 0.5], [base[0] + uy * size * 0.5, base[1] - ux * size * 0.5]], { fill: paint.stroke, close: true });
}

// The normal of the plane before and after, and what the update added.
function drawNormals(pen, view, paint, run, width, height) {
  const step = frameAt(state.moment);
  if (!step || !run.updates?.planes || run.classes.length !== 2) return;
  const normals = run.updates.planes.map(([, [a, b]]) => [a, b]);
  const longest = Math.max(...normals.map(([a, b]) => Math.hypot(a, b)));
  if (!(longest > 0)) return;
  const scale = (0.24 * Math.min(width, height)) / longest;
  const foot = view.toPicture([0, 0]).map((value, at) => Math.min(Math.max(value, 40), (at ? height : width) - 40));
  const tip = ([a, b]) => [foot[0] + a * scale, foot[1] - b * scale];
  const after = tip(normals[step.made]);
  if (step.mistake) {
    const before = tip(normals[step.before]);
    drawArrow(pen, foot, before, { stroke: paint.muted, width: 1.6, dash: [4, 3] });
    drawArrow(pen, before, after, { stroke: paint.accent, width: 2.2 });
  }
  drawArrow(pen, foot, after, { stroke: paint.ink, width: 2.4 });
  if (Math.hypot(after[0] - foot[0], after[1] - foot[1]) > 12) pen.text("w", after[0] + 6, after[1] - 6, { color: paint.ink, size: 14, halo: paint.paper });
}

function drawProof(pen, view, paint) {
  const verdict = state.verdict;
  if (!verdict || !places().length) return;
  const at = places();
  if (verdict.hulls.length && verdict.status !== "separable" && state.settings.method !== "kernel") {
    verdict.hulls.forEach((corners, place) => {
      const label = [...new Set(state.data.labels)].sort((a, b) => a - b)[place];
      const line = corners.map((row) => view.toPicture(at[row]));
      pen.path([...line, line[0]], { stroke: paint.classes[label], width: 1.5, dash: [6, 3] });
    });
  }
  for (const { row } of verdict.witness) {
    if (!at[row]) continue;
    const [x, y] = view.toPicture(at[row]);
    pen.circle(x, y, 14, { stroke: paint.accent, width: 2, dash: [3, 2] });
  }
  if (verdict.common_at.length === 2) {
    const [x, y] = view.toPicture(verdict.common_at);
    pen.circle(x, y, 8, { fill: paint.paper, stroke: paint.accent, width: 2.5 });
    pen.path([[x - 5, y - 5], [x + 5, y + 5]], { stroke: paint.accent, width: 2.5 });
    pen.path([[x - 5, y + 5], [x + 5, y - 5]], { stroke: paint.accent, width: 2.5 });
  }
}

export function pointRadius(count, most) {
  const base = state.data.rows.length > 400 ? 3.6 : state.data.rows.length > 150 ? 4.6 : 6;
  return count > 0 ? base * (1 + 0.9 * Math.sqrt(count / most)) : base;
}

function drawPoints(pen, view, paint, run) {
  const step = frameAt(state.moment);
  const counts = run?.updates ? countsAt(step.made) : (run?.counts ?? []);
  const most = Math.max(1e-12, ...(run?.counts ?? [1]));
  const chosen = new Set(state.selected);
  places().forEach((place, row) => {
    const [x, y] = view.toPicture(place);
    const r = pointRadius(counts[row] ?? 0, most);
    const label = state.data.labels[row];
    mark(pen, label, x, y, r, { fill: paint.classes[label], stroke: paint.ink, width: counts[row] > 0 ? 1.8 : 1 });
    if (chosen.has(row)) pen.circle(x, y, r + 6, { stroke: paint.ink, width: 2, dash: [3, 3] });
    if (row === state.hovered) pen.circle(x, y, r + 5, { stroke: paint.muted, width: 1.5 });
  });
  if (step && step.row >= 0 && places()[step.row]) {
    const [x, y] = view.toPicture(places()[step.row]);
    pen.circle(x, y, 17, { stroke: step.mistake ? paint.accent : paint.ink, width: step.mistake ? 3 : 1.8 });
  }
}

export function drawPicture(pen, width, height) {
  const paint = colors();
  const view = frame(state.box, width, height);
  const run = state.run && state.run.view.places.length === state.data.rows.length ? state.run : null;
  pen.path([[0, 0], [width, 0], [width, height], [0, height]], { fill: paint.paper, close: true });
  if (run) {
    if (run.field && !planesNow()) drawField(pen, view, paint, run);
    else drawPlanes(pen, view, paint, run);
  }
  drawAxes(pen, view, paint, width, height);
  drawProof(pen, view, paint);
  if (run) drawNormals(pen, view, paint, run, width, height);
  drawPoints(pen, view, paint, run);
  if (overlay.lasso?.length > 1) pen.path(overlay.lasso, { stroke: paint.ink, width: 1.5, dash: [5, 4], fill: undefined, close: true });
  if (overlay.cursor) {
    const [x, y] = view.toPicture(overlay.cursor);
    pen.path([[x - 14, y], [x - 4, y]], { stroke: paint.ink, width: 2 });
    pen.path([[x + 4, y], [x + 14, y]], { stroke: paint.ink, width: 2 });
    pen.path([[x, y - 14], [x, y - 4]], { stroke: paint.ink, width: 2 });
    pen.path([[x, y + 4], [x, y + 14]], { stroke: paint.ink, width: 2 });
    mark(pen, state.current, x, y, 4, { fill: paint.classes[state.current] });
  }
}

const canvas = document.getElementById("plot");
let due = false;

export function redraw() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    performance.mark("draw");
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width || !height) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawPicture(new CanvasPen(context), width, height);
    performance.measure("drawn", "draw");
  });
}

export function viewOfCanvas() {
  return frame(state.box, canvas.clientWidth, canvas.clientHeight);
}

// Show all points, with room around them.
export function fitBox() {
  const at = places();
  if (!at.length) {
    state.box = { left: -3, right: 3, bottom: -3, top: 3 };
    return;
  }
  const [xs, ys] = [0, 1].map((axis) => at.map((place) => place[axis]));
  const range = (values) => [Math.min(...values), Math.max(...values)];
  const [[left, right], [bottom, top]] = [range(xs), range(ys)];
  const widest = Math.max(right - left, top - bottom) || 2;
  const pad = 0.14 * widest;
  state.box = { left: left - pad, right: right + pad, bottom: bottom - pad, top: top + pad };
}

