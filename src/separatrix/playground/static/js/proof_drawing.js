// The drawings of a proof: two hulls with a common point, the combination that meets there, and the widest road.

import { state } from "./state.js";
import { boxCorners, clip, mark, segment } from "./shapes.js";
import { number, percent, t } from "./texts.js";

const between = (p, q, share) => p.map((value, at) => value + share * (q[at] - value));
const phase = (grown, from, to) => Math.max(0, Math.min(1, (grown - from) / (to - from)));

// Whether the verdict is a statement about the plane that is drawn.
export const isPlanar = () => state.judged?.columns.length === 2 && state.settings.method !== "kernel";

export function drawHulls(pen, view, paint, size) {
  const { verdict, judged } = state;
  if (!verdict || !isPlanar() || !state.settings.lift || verdict.status === "separable" || judged.rows.length !== state.shown.rows.length) return;
  const labels = [...new Set(judged.labels)].sort((a, b) => a - b);
  verdict.hulls.forEach((corners, place) => {
    const color = paint.classes[labels[place]];
    const line = corners.map((row) => view.toPicture(judged.rows[row]));
    const drawn = state.why.kind === "witness";
    if (labels.length === 2) pen.path(line, { fill: color, alpha: drawn ? 0.07 : 0.2, close: true });
    pen.path(line, { stroke: color, width: 2 * size, dash: [7, 4], alpha: drawn ? 0.5 : 1, close: true });
  });
}

// The weighted points of each class, as {label, parts: [{row, share, place}]}; empty if two classes do not meet in a point.
export function witnessSides() {
  const { verdict, judged } = state;
  if (!verdict?.witness.length || verdict.common_at.length !== 2 || !isPlanar()) return [];
  const sides = new Map();
  for (const { row, weight } of verdict.witness) {
    const label = judged.labels[row];
    const [over, under] = weight.split("/").map(Number);
    if (!sides.has(label)) sides.set(label, { label, parts: [] });
    sides.get(label).parts.push({ row, share: over / (under || 1), place: judged.rows[row], weight });
  }
  for (const { parts } of sides.values()) {
    const sum = parts.reduce((total, { share }) => total + share, 0);
    for (const part of parts) part.share /= sum;
    parts.sort((one, other) => other.share - one.share);
  }
  return [...sides.values()];
}

// The label of a share is outside the figure: away from the common point.
function drawShare(pen, view, paint, part, common, size) {
  const [x, y] = view.toPicture(part.place);
  const [dx, dy] = [x - common[0], y - common[1]];
  const length = Math.hypot(dx, dy) || 1;
  const away = 30 * size;
  pen.text(percent(part.share), x + (dx / length) * away, y + (dy / length) * away + 5 * size, { color: paint.ink, size: 15 * size, weight: 650, anchor: "middle", halo: paint.paper });
}

export function drawWitness(pen, view, paint, size) {
  const { verdict, judged, why } = state;
  if (!verdict?.witness.length || judged !== state.shown) return;
  const sides = witnessSides();
  if (!sides.length) {
    if (judged.columns.length !== 2) return;
    for (const { row } of verdict.witness) pen.circle(...view.toPicture(judged.rows[row]), 14 * size, { stroke: paint.accent, width: 2.4 * size, dash: [3, 2] });
    return;
  }
  const common = view.toPicture(verdict.common_at);
  if (why.kind === "witness") {
    const [dots, lines, meet] = [phase(why.grown, 0, 0.35), phase(why.grown, 0.3, 0.65), phase(why.grown, 0.65, 1)];
    for (const { label, parts } of sides) {
      const color = paint.classes[label];
      const corners = parts.map(({ place }) => view.toPicture(place));
      if (corners.length === 3 && lines === 1) pen.path(corners, { fill: color, alpha: 0.28, close: true });
      if (corners.length > 1) {
        corners.forEach((corner, at) => {
          const next = corners[(at + 1) % corners.length];
          pen.path([corner, between(corner, next, lines)], { stroke: color, width: 4 * size, round: true });
        });
      }
      for (const { share, place } of parts) if (parts.length > 1) mark(pen, label, ...view.toPicture(place), dots * size * (5 + 17 * Math.sqrt(share)), { fill: color, stroke: paint.ink, width: 2 * size });
      if (meet > 0) mark(pen, label, ...between(corners[0], common, meet), 8 * size, { fill: color, stroke: paint.paper, width: 2 * size });
    }
    if (dots === 1) for (const { parts } of sides) if (parts.length > 1) for (const part of parts) drawShare(pen, view, paint, part, common, size);
    if (meet < 1) return;
  }
  const beat = why.pulse ?? 0;
  if (beat > 0) pen.circle(...common, (10 + 26 * beat) * size, { stroke: paint.accent, width: 3 * size, alpha: 1 - beat });
  pen.circle(...common, 9 * size, { fill: paint.paper, stroke: paint.accent, width: 3 * size });
  pen.circle(...common, 3.5 * size, { fill: paint.accent });
}

// The widest road: the area between two parallel lines with no point inside, and the points at its edges.
export function drawRoad(pen, view, paint, size) {
  const { road, why } = state;
  if (why.kind !== "road" || !road?.model.planes || road.model.planes.length !== 2 || state.data !== state.shown) return;
  const [a, b, c] = road.model.planes[1].map((value, at) => value - road.model.planes[0][at]);
  const wide = why.grown;
  let area = clip(boxCorners(view.shown), [a, b, c + wide]);
  area = clip(area, [-a, -b, -c + wide]);
  if (area.length > 2) pen.path(area.map(view.toPicture), { fill: paint.good, alpha: 0.22, close: true });
  for (const level of [wide, -wide]) pen.path(segment([a, b, c - level], view.shown).map(view.toPicture), { stroke: paint.good, width: 2 * size });
  pen.path(segment([a, b, c], view.shown).map(view.toPicture), { stroke: paint.ink, width: 2.6 * size, dash: [12, 8] });
  if (wide < 1) return;
  road.counts.forEach((count, row) => {
    if (count > 1e-9) pen.circle(...view.toPicture(state.shown.rows[row]), 15 * size, { stroke: paint.good, width: 3.4 * size });
  });
  const ends = segment([a, b, c], view.shown);
  if (ends.length < 2) return;
  const words = t("road_width", { width: number(2 / Math.hypot(a, b), 3) });
  const [x, y] = emptiest(ends.map(view.toPicture), state.shown.rows.map(view.toPicture));
  const half = pen.width(words, 14 * size, 650) / 2 + 8;
  const limit = view.toPicture([view.shown.right, view.shown.bottom]);
  pen.text(words, Math.max(half, Math.min(limit[0] - half, x)), Math.max(70 * size, Math.min(limit[1] - 40 * size, y)), { color: paint.ink, size: 15 * size, weight: 650, anchor: "middle", halo: paint.paper });
}

// The place on a segment that is farthest from all points.
function emptiest([from, to], points) {
  const clear = (place) => Math.min(...points.map(([x, y]) => Math.hypot(x - place[0], y - place[1])));
  const tried = Array.from({ length: 17 }, (_, at) => between(from, to, 0.12 + (0.76 * at) / 16));
  return tried.reduce((best, place) => (clear(place) > clear(best) ? place : best));
}
