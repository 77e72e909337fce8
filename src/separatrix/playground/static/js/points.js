// Points by pointer, touch and keyboard: add, move, delete, clouds, lasso.

import { state, tell, isFlat, places } from "./state.js";
import { commit } from "./history.js";
import { refresh } from "./refresh.js";
import { overlay, redraw, viewOfCanvas } from "./picture.js";
import { coordinates, notify, say, t } from "./texts.js";

const canvas = document.getElementById("plot");
const menu = document.getElementById("lasso-menu");
export const bounds = { points: 5000 };
const CLOUD = 7; // points a stroke leaves at each stop

// Coordinates are multiples of a power of two, so that fractions in proofs stay short.
function snapped([x, y]) {
  const scale = viewOfCanvas().scale;
  const unit = 2 ** Math.round(Math.log2(2 / scale));
  return [Math.round(x / unit) * unit, Math.round(y / unit) * unit];
}

export function nearest(px, py, within = 16) {
  const view = viewOfCanvas();
  let best = -1;
  let distance = within;
  places().forEach((place, row) => {
    const [x, y] = view.toPicture(place);
    const there = Math.hypot(x - px, y - py);
    if (there < distance) [best, distance] = [row, there];
  });
  return best;
}

function allowed() {
  if (!isFlat()) {
    notify(t("not_flat"));
    return false;
  }
  if (state.data.rows.length >= bounds.points) {
    notify(t("error_too_many_points", { got: state.data.rows.length + 1, most: bounds.points }));
    return false;
  }
  return true;
}

export function addPoint(place, label = state.current) {
  if (!allowed()) return -1;
  state.data = { ...state.data, rows: [...state.data.rows, snapped(place)], labels: [...state.data.labels, label] };
  state.preset = "";
  return state.data.rows.length - 1;
}

export function movePoint(row, place) {
  const rows = state.data.rows.slice();
  rows[row] = snapped(place);
  state.data = { ...state.data, rows };
  state.preset = "";
}

export function deletePoints(chosen) {
  const gone = new Set(chosen);
  const keep = (_, row) => !gone.has(row);
  state.data = { ...state.data, rows: state.data.rows.filter(keep), labels: state.data.labels.filter(keep) };
  state.selected = [];
  state.hovered = -1;
  state.preset = "";
}

export function relabel(chosen, label) {
  const labels = state.data.labels.slice();
  for (const row of chosen) labels[row] = label;
  state.data = { ...state.data, labels };
  state.preset = "";
}

function inside([x, y], polygon) {
  let odd = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i, i += 1) {
    const [[a, b], [c, d]] = [polygon[i], polygon[j]];
    if (b > y !== d > y && x < ((c - a) * (y - b)) / (d - b) + a) odd = !odd;
  }
  return odd;
}

// A normal number, for clouds.
function normal() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}

let gesture = null;

function place(event) {
  const area = canvas.getBoundingClientRect();
  return [event.clientX - area.left, event.clientY - area.top];
}

function sprinkle(px, py) {
  const view = viewOfCanvas();
  for (let made = 0; made < CLOUD && state.data.rows.length < bounds.points; made += 1) {
    if (addPoint(view.toPoint(px + 22 * normal(), py + 22 * normal())) < 0) return;
  }
}

canvas.addEventListener("pointerdown", (event) => {
  if (event.button > 0 && event.button !== 2) return;
  canvas.focus({ preventScroll: true });
  canvas.setPointerCapture(event.pointerId);
  const [px, py] = place(event);
  const row = nearest(px, py, event.pointerType === "touch" ? 24 : 14);
  overlay.cursor = null;
  menu.hidden = true;
  if (state.tool === "erase" || event.button === 2 || event.altKey) {
    gesture = { kind: "erase" };
    if (row >= 0) {
      deletePoints([row]);
      refresh({ live: true, moment: "end" });
    }
  } else if (state.tool === "lasso" && row < 0) {
    gesture = { kind: "lasso" };
    overlay.lasso = [[px, py]];
    state.selected = [];
  } else if (row >= 0) {
    gesture = { kind: isFlat() ? "move" : "look", row, moved: false, group: state.selected.includes(row) ? state.selected.slice() : [row], from: places().map((each) => [...each]), at: [px, py] };
    state.selected = gesture.group;
    tell("selection");
  } else if (state.tool === "cloud") {
    gesture = { kind: "cloud", at: [px, py] };
    if (allowed()) {
      sprinkle(px, py);
      refresh({ live: true, moment: "end" });
    }
  } else {
    const made = addPoint(viewOfCanvas().toPoint(px, py));
    if (made >= 0) {
      state.selected = [made];
      gesture = { kind: "move", row: made, moved: false, group: [made], from: places().map((each) => [...each]), at: [px, py] };
      refresh({ moment: "end" });
    }
  }
  redraw();
});

canvas.addEventListener("pointermove", (event) => {
  const [px, py] = place(event);
  if (!gesture) {
    const over = nearest(px, py);
    if (over !== state.hovered) {
      state.hovered = over;
      tell("hover");
      redraw();
    }
    return;
  }
  if (gesture.kind === "move") {
    if (!gesture.moved && Math.hypot(px - gesture.at[0], py - gesture.at[1]) < 3) return;
    gesture.moved = true;
    const scale = viewOfCanvas().scale;
    const [dx, dy] = [(px - gesture.at[0]) / scale, -(py - gesture.at[1]) / scale];
    const rows = state.data.rows.slice();
    for (const row of gesture.group) rows[row] = snapped([gesture.from[row][0] + dx, gesture.from[row][1] + dy]);
    state.data = { ...state.data, rows };
    refresh({ live: true, moment: "end" });
  } else if (gesture.kind === "lasso") {
    overlay.lasso.push([px, py]);
  } else if (gesture.kind === "cloud" && Math.hypot(px - gesture.at[0], py - gesture.at[1]) > 30) {
    gesture.at = [px, py];
    if (allowed()) {
      sprinkle(px, py);
      refresh({ live: true, moment: "end" });
    }
  } else if (gesture.kind === "erase") {
    const row = nearest(px, py);
    if (row >= 0) {
      deletePoints([row]);
      refresh({ live: true, moment: "end" });
    }
  }
  redraw();
});

function finish() {
  if (!gesture) return;
  const done = gesture;
  gesture = null;
  if (done.kind === "lasso") {
    const view = viewOfCanvas();
    const line = overlay.lasso;
    overlay.lasso = null;
    state.selected = line.length > 2 ? places().map((each, row) => (inside(view.toPicture(each), line) ? row : -1)).filter((row) => row >= 0) : [];
    say(t("selected", { count: state.selected.length }));
    tell("selection");
  } else if (done.kind !== "look" && (done.kind !== "move" || done.moved)) {
    commit();
    refresh({ moment: "keep" });
  } else commit();
  redraw();
}

canvas.addEventListener("pointerup", finish);
canvas.addEventListener("pointercancel", finish);
canvas.addEventListener("contextmenu", (event) => event.preventDefault());

export function describePoint(row) {
  return t("point_is", { row, name: state.data.classes[state.data.labels[row]], at: coordinates(state.data.rows[row]) });
}

export function moveCursor(dx, dy, coarse) {
  const view = viewOfCanvas();
  const step = (coarse ? 40 : 8) / view.scale;
  if (state.selected.length && isFlat()) {
    const rows = state.data.rows.slice();
    for (const row of state.selected) rows[row] = snapped([rows[row][0] + dx * step, rows[row][1] + dy * step]);
    state.data = { ...state.data, rows };
    state.preset = "";
    commit();
    refresh({ live: true, moment: "end" });
    if (state.selected.length === 1) say(describePoint(state.selected[0]));
    return;
  }
  const [x, y] = overlay.cursor ?? [(state.box.left + state.box.right) / 2, (state.box.bottom + state.box.top) / 2];
  overlay.cursor = snapped([x + dx * step, y + dy * step]);
  say(t("cursor_at", { at: coordinates(overlay.cursor) }));
  redraw();
}

export function selectNext(way) {
  const count = state.data.rows.length;
  if (!count) return;
  const now = state.selected.length ? state.selected[0] : way > 0 ? -1 : count;
  state.selected = [(now + way + count) % count];
  overlay.cursor = null;
  say(describePoint(state.selected[0]));
  tell("selection");
  redraw();
}

export function addAtCursor() {
  const place = overlay.cursor ?? [(state.box.left + state.box.right) / 2, (state.box.bottom + state.box.top) / 2];
  overlay.cursor = place;
  if (state.tool === "cloud") sprinkle(...viewOfCanvas().toPicture(place));
  else {
    const made = addPoint(place);
    if (made < 0) return;
    say(describePoint(made));
  }
  commit();
  refresh({ moment: "end" });
}

canvas.addEventListener("blur", () => {
  overlay.cursor = null;
  redraw();
});
