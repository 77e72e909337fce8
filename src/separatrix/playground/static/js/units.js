// The network, unit by unit: each half-plane as far as no earlier one holds it, and at the end the default.

import { state, frameAt } from "./state.js";
import { REGION, boxCorners, clip, clipSegment, segment, tint } from "./shapes.js";

// The units that are shown, and whether the default is: it comes after all of them.
export function unitsNow() {
  const { units } = state.run;
  const { made } = frameAt(state.moment);
  return { shown: units.slice(0, made), complete: made > units.length };
}

// Whether a point has been taken away by a unit before the one that is shown.
export function isTaken(row) {
  const { shown, complete } = unitsNow();
  return !complete && shown.slice(0, -1).some(({ rows }) => rows.includes(row));
}

export function drawUnits(pen, view, paint, size) {
  const { shown, complete } = unitsNow();
  const box = boxCorners(view.shown);
  const fill = (area, code) => {
    if (area.length > 2) pen.path(area.map(view.toPicture), { fill: tint(paint.classes[state.run.classes[code]], paint.paper, REGION), close: true });
  };
  if (complete) fill(box, state.run.rest);
  [...shown].reverse().forEach(({ weights, label }) => fill(clip(box, weights), label));
  shown.forEach(({ weights }, at) => {
    const before = shown.slice(0, at).map((unit) => unit.weights.map((value) => -value));
    const ends = before.reduce(clipSegment, segment(weights, view.shown));
    if (ends.length < 2) return;
    const now = at === shown.length - 1 && !complete;
    const [p, q] = ends.map(view.toPicture);
    pen.path([p, q], { stroke: now ? paint.ink : paint.muted, width: (now ? 2.6 : 1.6) * size, round: true });
    pen.text(String(at + 1), (p[0] + q[0]) / 2 + 6 * size, (p[1] + q[1]) / 2 - 6 * size, { color: paint.ink, size: 13 * size, weight: 600, halo: paint.paper });
  });
}
