// The picture: regions, lines, points and proofs, drawn from the answers on any pen.

import { state, places, placesNow, frameAt, frames, countsAt } from "./state.js";
import { REGION, clipSegment, colors, frame, mark, region, segment, ticks, tint } from "./shapes.js";
import { CanvasPen } from "./pen.js";
import { drawField } from "./field.js";
import { drawHulls, drawRoad, drawWitness } from "./proof_drawing.js";
import { number, t } from "./texts.js";
import { drawUnits, isTaken } from "./units.js";

export const overlay = { cursor: null, lasso: null };

const smooth = (share) => share * share * (3 - 2 * share);

// The planes at the moment that is shown: those of the step, on their way if it is being played, or those of the model.
export function planesNow() {
  const { run } = state;
  if (!run) return null;
  const last = state.moment >= frames();
  if (run.model.planes && (!run.updates || (last && state.blend >= 1))) return run.model.planes;
  const all = run.updates?.planes;
  if (!all) return null;
  const step = frameAt(state.moment);
  const after = all[step.made];
  if (state.blend >= 1 || !step.mistake) return after;
  const share = smooth(state.blend);
  return all[step.before].map((plane, at) => plane.map((value, k) => value + share * (after[at][k] - value)));
}

// The score of a point under the weights that are shown: positive if it is on its own side. Null if it is not known.
export function scoreNow(row) {
  const planes = planesNow();
  const { run } = state;
  if (!planes || !run.view.exact) return null;
  const [x, y] = places()[row];
  const own = run.classes.indexOf(state.shown.labels[row]);
  const scores = planes.map(([a, b, c]) => a * x + b * y + c);
  return scores[own] - Math.max(...scores.filter((_, at) => at !== own));
}

function drawBorders(pen, view, planes, paint) {
  for (let one = 0; one < planes.length; one += 1) {
    for (let other = one + 1; other < planes.length; other += 1) {
      let ends = segment(planes[one].map((value, at) => value - planes[other][at]), view.shown);
      // with more than two classes, only where both lead the rest
      planes.forEach((third, at) => {
        if (at === one || at === other || ends.length < 2) return;
        ends = clipSegment(ends, planes[one].map((value, k) => value - third[k]));
      });
      if (ends.length === 2) pen.path(ends.map(view.toPicture), paint);
    }
  }
}

function drawRegions(pen, view, paint, planes) {
  if (planes.every((plane) => plane.every((value) => value === 0))) return;
  planes.forEach((_, at) => {
    const area = region(planes, at, view.shown).map(view.toPicture);
    if (area.length > 2) pen.path(area, { fill: tint(paint.classes[state.run.classes[at]], paint.paper, REGION), close: true });
  });
}

function drawLines(pen, view, paint, planes, size) {
  const { run } = state;
  const step = frameAt(state.moment);
  if (step?.mistake && run.updates?.planes) drawBorders(pen, view, run.updates.planes[step.before], { stroke: paint.muted, width: 1.4 * size, dash: [5, 5] });
  drawBorders(pen, view, planes, { stroke: paint.ink, width: 2.6 * size, round: true });
  if (!run.model.margin_planes || planes.length !== 2) return;
  const line = planes[1].map((value, at) => value - planes[0][at]);
  for (const level of [1, -1]) pen.path(segment([line[0], line[1], line[2] - level], view.shown).map(view.toPicture), { stroke: paint.muted, width: 1.2 * size, dash: [2, 4] });
}

// Ticks along the edges; the names of the axes take the place of a tick that they would touch.
function drawAxes(pen, view, paint, width, height, size) {
  const box = view.shown;
  const font = 11 * size;
  const grid = { stroke: paint.faint, width: 1, alpha: 0.8 };
  const flat = state.run ? state.run.view.flat : state.shown.columns.length === 2;
  const names = flat ? state.shown.columns : [t("axis_along"), t("axis_across")];
  const [nameX, nameY] = names.map((name) => (name ?? "").slice(0, 30));
  const room = width - 18 - pen.width(nameX, 13 * size);
  for (const x of ticks(box.left, box.right, Math.max(3, width / (120 * size)))) {
    const [at] = view.toPicture([x, 0]);
    pen.path([[at, 0], [at, height]], grid);
    const words = number(x);
    if (at > 46 * size && at + 5 + pen.width(words, font) < room) pen.text(words, at + 5, height - 8, { color: paint.muted, size: font });
  }
  for (const y of ticks(box.bottom, box.top, Math.max(3, height / (110 * size)))) {
    const [, at] = view.toPicture([0, y]);
    pen.path([[0, at], [width, at]], grid);
    if (at > 44 * size && at < height - 26) pen.text(number(y), 8, at - 5, { color: paint.muted, size: font });
  }
  const [x0, y0] = view.toPicture([0, 0]);
  pen.paths([[[x0, 0], [x0, height]], [[0, y0], [width, y0]]], { stroke: paint.muted, width: 1, alpha: 0.45 });
  pen.text(nameX, width - 10, height - 9, { color: paint.ink, size: 13 * size, anchor: "end", halo: paint.paper });
  pen.text(nameY, 8, 8 + 13 * size, { color: paint.ink, size: 13 * size, halo: paint.paper });
}

function drawArrow(pen, from, to, paint) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy);
  if (length < 3) return;
  const [ux, uy] = [dx / length, dy / length];
  const head = Math.min(4.5 * paint.width, length / 2);
  const base = [to[0] - ux * head, to[1] - uy * head];
  pen.path([from, base], paint);
  pen.path([to, [base[0] - uy * head * 0.5, base[1] + ux * head * 0.5], [base[0] + uy * head * 0.5, base[1] - ux * head * 0.5]], { fill: paint.stroke, close: true });
}

// The weights before and after, and what the update added; as long as the picture has room for all of them.
function drawNormals(pen, view, paint, width, height, size) {
  const { run } = state;
  const step = frameAt(state.moment);
  if (!step || !run.updates?.planes || run.classes.length !== 2) return;
  const normals = run.updates.planes.map(([, [a, b]]) => [a, -b]);
  const edge = 34 * size;
  const foot = view.toPicture([0, 0]).map((value, at) => Math.min(Math.max(value, 2 * edge), (at ? height : width) - 2 * edge));
  let scale = Infinity;
  for (const normal of normals) {
    normal.forEach((value, at) => {
      const limit = value > 0 ? (at ? height : width) - edge - foot[at] : foot[at] - edge;
      if (value !== 0) scale = Math.min(scale, limit / Math.abs(value));
    });
    scale = Math.min(scale, (0.26 * Math.min(width, height)) / Math.hypot(...normal));
  }
  if (!Number.isFinite(scale) || scale <= 0) return;
  const tip = ([a, b]) => [foot[0] + a * scale, foot[1] + b * scale];
  const share = step.mistake ? smooth(state.blend) : 1;
  const before = tip(normals[step.before]);
  const end = tip(normals[step.made]);
  const after = before.map((value, at) => value + share * (end[at] - value));
  if (step.mistake) {
    drawArrow(pen, foot, before, { stroke: paint.muted, width: 1.6 * size, dash: [4, 3] });
    drawArrow(pen, before, after, { stroke: paint.accent, width: 2.4 * size });
  }
  drawArrow(pen, foot, after, { stroke: paint.ink, width: 2.4 * size });
  if (Math.hypot(after[0] - foot[0], after[1] - foot[1]) > 14) pen.text("w", after[0] + 8 * size, after[1] - 8 * size, { color: paint.ink, size: 15 * size, weight: 600, halo: paint.paper });
}

function drawPoints(pen, view, paint, size) {
  const { run, shown } = state;
  const step = frameAt(state.moment);
  const counts = run?.updates ? countsAt(step.made) : run?.units ? [] : (run?.counts ?? []);
  const most = Math.max(1e-12, ...(run?.counts ?? [1]));
  const base = size * (shown.rows.length > 400 ? 3.8 : shown.rows.length > 150 ? 4.8 : 6.5);
  const chosen = new Set(state.selected);
  const radius = (row) => (counts[row] > 0 ? base * (1 + 0.8 * Math.sqrt(counts[row] / most)) : base);
  places().forEach((place, row) => {
    const [x, y] = view.toPicture(place);
    const r = radius(row);
    const label = shown.labels[row];
    mark(pen, label, x, y, r, { fill: paint.classes[label], stroke: paint.ink, width: (counts[row] > 0 ? 1.8 : 1) * size, alpha: run?.units && isTaken(row) ? 0.35 : 1 });
    if (chosen.has(row)) pen.circle(x, y, r + 6 * size, { stroke: paint.ink, width: 2 * size, dash: [3, 3] });
    else if (row === state.hovered) pen.circle(x, y, r + 5 * size, { stroke: paint.muted, width: 1.5 * size });
  });
  if (step?.row >= 0 && places()[step.row]) {
    const [x, y] = view.toPicture(places()[step.row]);
    const spread = step.mistake ? 1 - state.blend : 0;
    pen.circle(x, y, radius(step.row) + (8 + 16 * spread) * size, { stroke: step.mistake ? paint.accent : paint.ink, width: (step.mistake ? 3.4 : 1.8) * size });
  }
}

// Where the points in hand are, until the run about them is there.
function drawInHand(pen, view, paint, size) {
  if (state.data === state.shown) return;
  for (const row of state.selected) {
    const place = placesNow()[row];
    if (!place) continue;
    const [x, y] = view.toPicture(place);
    mark(pen, state.data.labels[row], x, y, 6.5 * size, { fill: paint.classes[state.data.labels[row]], stroke: paint.ink, width: 1 });
  }
}

function drawCursor(pen, view, paint) {
  if (overlay.lasso?.length > 1) pen.path(overlay.lasso, { stroke: paint.ink, width: 1.5, dash: [5, 4], close: true });
  if (!overlay.cursor) return;
  const [x, y] = view.toPicture(overlay.cursor);
  for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) pen.path([[x + 4 * dx, y + 4 * dy], [x + 14 * dx, y + 14 * dy]], { stroke: paint.ink, width: 2 });
  mark(pen, state.current, x, y, 4, { fill: paint.classes[state.current] });
}

export function drawPicture(pen, width, height, { size = 1, hand = false } = {}) {
  const paint = colors();
  const view = frame(state.box, width, height);
  const planes = planesNow();
  pen.path([[0, 0], [width, 0], [width, height], [0, height]], { fill: paint.paper, close: true });
  if (state.run?.units) drawUnits(pen, view, paint, size);
  else if (state.run?.field && !planes) drawField(pen, view, paint, state.run, REGION);
  else if (planes) drawRegions(pen, view, paint, planes);
  drawAxes(pen, view, paint, width, height, size);
  const proving = !state.run?.units || state.why.kind; // a network is drawn without hulls
  if (proving) drawHulls(pen, view, paint, size);
  drawRoad(pen, view, paint, size);
  if (planes && !(state.why.kind === "road" && state.road)) drawLines(pen, view, paint, planes, size);
  if (planes && !state.why.kind) drawNormals(pen, view, paint, width, height, size);
  drawPoints(pen, view, paint, size);
  if (proving) drawWitness(pen, view, paint, size);
  if (!hand) return;
  drawInHand(pen, view, paint, size);
  drawCursor(pen, view, paint);
}

const canvas = document.getElementById("plot");
let due = 0;

// Prepare a canvas for drawing in pixels of the page; return its pen.
export function penOf(surface, width, height, ratio) {
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (surface.width !== across || surface.height !== down) [surface.width, surface.height] = [across, down];
  const context = surface.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return new CanvasPen(context);
}

export const magnified = () => (document.documentElement.classList.contains("presenting") ? 1.6 : canvas.clientWidth < 500 ? 0.85 : 1);

function paint() {
  const { clientWidth: width, clientHeight: height } = canvas;
  if (!width || !height) return;
  performance.mark("draw");
  drawPicture(penOf(canvas, width, height, window.devicePixelRatio || 1), width, height, { size: magnified(), hand: true });
  performance.measure("drawn", "draw");
}

// Draw in the next frame.
export function redraw() {
  due ||= requestAnimationFrame(() => {
    due = 0;
    paint();
  });
}

// Draw in this frame what is due, so that it is seen together with the words that changed.
export function flush() {
  if (!due) return;
  cancelAnimationFrame(due);
  due = 0;
  paint();
}
