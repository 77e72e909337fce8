// Changes of the points: add, move, delete, other classes; by hand they are on a grid.

import { edit, isFlat, state } from "./state.js";
import { commit } from "./history.js";
import { refresh } from "./refresh.js";
import { viewOfCanvas } from "./view.js";
import { coordinates, notify, t } from "./texts.js";

export const bounds = { points: 5000 };
const CLOUD = 7; // points a stroke leaves at each stop

// The step of the grid: a power of two near three pixels, so that places are exact and fractions in proofs are short.
const unit = () => 2 ** Math.round(Math.log2(3 / viewOfCanvas().scale));

export function snapped([x, y]) {
  const step = unit();
  return [Math.round(x / step) * step, Math.round(y / step) * step];
}

export function allowed() {
  const full = state.data.rows.length >= bounds.points;
  if (!isFlat()) notify(t("not_flat"));
  else if (full) notify(t("error_too_many_points", { got: state.data.rows.length + 1, most: bounds.points }));
  return isFlat() && !full;
}

export function addPoint(place, label = state.current) {
  if (!allowed()) return -1;
  edit({ rows: [...state.data.rows, snapped(place)], labels: [...state.data.labels, label] });
  return state.data.rows.length - 1;
}

// Put some points elsewhere: places is a list of [row, place].
export function movePoints(moves) {
  const rows = state.data.rows.slice();
  for (const [row, place] of moves) rows[row] = snapped(place);
  edit({ rows });
}

export function deletePoints(chosen) {
  const gone = new Set(chosen);
  const keep = (_, row) => !gone.has(row);
  edit({ rows: state.data.rows.filter(keep), labels: state.data.labels.filter(keep) });
  state.selected = [];
  state.hovered = -1;
}

export function relabel(chosen, label) {
  const labels = state.data.labels.slice();
  for (const row of chosen) labels[row] = label;
  edit({ labels });
}

// Remember the change, and ask about it.
export function changed() {
  commit();
  refresh({ moment: "end" });
}

// A normal number, for clouds.
function normal() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}

export function sprinkle(px, py) {
  const view = viewOfCanvas();
  for (let made = 0; made < CLOUD; made += 1) if (addPoint(view.toPoint(px + 22 * normal(), py + 22 * normal())) < 0) return;
}

export function describePoint(row) {
  return t("point_is", { row: row + 1, name: state.data.classes[state.data.labels[row]], at: coordinates(state.data.rows[row]) });
}
