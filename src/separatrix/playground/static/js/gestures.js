// Pointer, touch and wheel on the picture: move, add, delete, clouds, lasso, zoom, and what is under the pointer.

import { isFlat, places, placesNow, state, tell, frameAt, countsAt } from "./state.js";
import { commit } from "./history.js";
import { refresh } from "./refresh.js";
import { addPoint, allowed, deletePoints, movePoints, sprinkle } from "./points.js";
import { overlay, redraw, scoreNow } from "./picture.js";
import { pan, viewOfCanvas, zoom } from "./view.js";
import { coordinates, number, say, stepKind, t } from "./texts.js";

const canvas = document.getElementById("plot");
const menu = document.getElementById("lasso-menu");
const tip = document.getElementById("tip");
const LONG = 450; // milliseconds of a long press
const fingers = new Map();
let gesture = null;
let press = 0;

export function nearest(px, py, within = 16) {
  const view = viewOfCanvas();
  let best = -1;
  let distance = within;
  placesNow().forEach((place, row) => {
    const [x, y] = view.toPicture(place);
    const there = Math.hypot(x - px, y - py);
    if (there < distance) [best, distance] = [row, there];
  });
  return best;
}

function inside([x, y], polygon) {
  let odd = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i, i += 1) {
    const [[a, b], [c, d]] = [polygon[i], polygon[j]];
    if (b > y !== d > y && x < ((c - a) * (y - b)) / (d - b) + a) odd = !odd;
  }
  return odd;
}

function place(event) {
  const area = canvas.getBoundingClientRect();
  return [event.clientX - area.left, event.clientY - area.top];
}

const live = () => refresh({ live: true, moment: "end" });

function hold(row, at) {
  const group = state.selected.includes(row) ? state.selected.slice() : [row];
  gesture = { kind: isFlat() ? "move" : "look", moved: false, group, from: group.map((each) => [...placesNow()[each]]), at };
  state.selected = group;
  tell("selection");
}

function add(at) {
  const made = addPoint(viewOfCanvas().toPoint(...at));
  if (made < 0) return;
  hold(made, at);
  gesture.added = true;
  live();
}

// What a press does: it depends on the tool and on what is there.
function begin(at, row, erase) {
  overlay.cursor = null;
  menu.hidden = true;
  if (state.tool === "erase" || erase) {
    gesture = { kind: "erase" };
    rub(row);
  } else if (state.tool === "lasso" && row < 0) {
    gesture = { kind: "lasso" };
    overlay.lasso = [at];
    state.selected = [];
  } else if (row >= 0) hold(row, at);
  else if (state.tool === "cloud") {
    gesture = { kind: "cloud", at };
    scatter(at);
  } else add(at);
}

function rub(row) {
  if (row < 0) return;
  deletePoints([row]);
  live();
}

function scatter(at) {
  if (!allowed()) return;
  sprinkle(...at);
  live();
}

// A finger that starts on a point moves it; elsewhere it scrolls the page, or adds a point after a long press.
function touch(event, at, row) {
  if (fingers.size === 2) {
    clearTimeout(press);
    finish();
    gesture = { kind: "pinch", ...spread() };
  } else if (row >= 0 || state.tool !== "add") begin(at, row, false);
  else {
    press = setTimeout(() => {
      begin(at, -1, false);
      navigator.vibrate?.(15);
    }, LONG);
  }
}

function spread() {
  const [[a, b], [c, d]] = [...fingers.values()];
  return { apart: Math.hypot(a - c, b - d), middle: [(a + c) / 2, (b + d) / 2] };
}

canvas.addEventListener("pointerdown", (event) => {
  if (event.button === 1) {
    gesture = { kind: "pan", at: place(event) };
    canvas.setPointerCapture(event.pointerId);
    return;
  }
  canvas.focus({ preventScroll: true });
  const at = place(event);
  hideTip();
  if (event.pointerType === "touch") {
    fingers.set(event.pointerId, at);
    touch(event, at, nearest(...at, 26));
  } else {
    canvas.setPointerCapture(event.pointerId);
    begin(at, nearest(...at, 14), event.button === 2 || event.altKey);
  }
  redraw();
});

// The browser scrolls with one finger, unless it starts on a point or there are two.
canvas.addEventListener("touchstart", (event) => {
  if (event.touches.length > 1 || state.tool !== "add" || nearest(...place(event.touches[0]), 26) >= 0) event.preventDefault();
}, { passive: false });

const MOVES = {
  move(at) {
    if (!gesture.moved && Math.hypot(at[0] - gesture.at[0], at[1] - gesture.at[1]) < 3) return;
    gesture.moved = true;
    const { scale } = viewOfCanvas();
    const [dx, dy] = [(at[0] - gesture.at[0]) / scale, -(at[1] - gesture.at[1]) / scale];
    movePoints(gesture.group.map((row, number) => [row, [gesture.from[number][0] + dx, gesture.from[number][1] + dy]]));
    live();
  },
  look() {},
  lasso(at) { overlay.lasso.push(at); },
  cloud(at) {
    if (Math.hypot(at[0] - gesture.at[0], at[1] - gesture.at[1]) < 30) return;
    gesture.at = at;
    scatter(at);
  },
  erase(at) { rub(nearest(...at)); },
  pan(at) {
    pan(at[0] - gesture.at[0], at[1] - gesture.at[1]);
    gesture.at = at;
  },
  pinch() {
    if (fingers.size < 2) return;
    const now = spread();
    zoom(now.apart / Math.max(1, gesture.apart), ...now.middle);
    pan(now.middle[0] - gesture.middle[0], now.middle[1] - gesture.middle[1]);
    gesture = { kind: "pinch", ...now };
  },
};

canvas.addEventListener("pointermove", (event) => {
  const at = place(event);
  if (fingers.has(event.pointerId)) {
    const [x, y] = fingers.get(event.pointerId);
    if (Math.hypot(at[0] - x, at[1] - y) > 8) clearTimeout(press);
    fingers.set(event.pointerId, at);
  }
  if (!gesture) {
    hover(event.pointerType === "touch" ? -1 : nearest(...at));
    return;
  }
  MOVES[gesture.kind](at);
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
    state.selected = line.length > 2 ? placesNow().map((each, row) => (inside(view.toPicture(each), line) ? row : -1)).filter((row) => row >= 0) : [];
    say(t("selected", { count: state.selected.length }));
    tell("selection");
  } else if (["pan", "pinch"].includes(done.kind)) seen();
  else if (done.kind !== "look") {
    commit();
    if (done.moved || done.added || done.kind !== "move") refresh({ moment: "end" });
  }
  redraw();
}

function lift(event) {
  clearTimeout(press);
  if (event.type === "pointerup" && event.pointerType === "touch" && !gesture) {
    const row = nearest(...place(event), 26);
    hover(row);
    if (row < 0) state.selected = [];
  }
  fingers.delete(event.pointerId);
  finish();
}

canvas.addEventListener("pointerup", lift);
canvas.addEventListener("pointercancel", lift);
canvas.addEventListener("contextmenu", (event) => event.preventDefault());
canvas.addEventListener("pointerleave", () => hover(-1));
canvas.addEventListener("blur", () => {
  overlay.cursor = null;
  redraw();
});

// The regions of a kernel are computed for what is seen.
let later = 0;
export function seen() {
  hideTip();
  redraw();
  clearTimeout(later);
  if (state.run?.field) later = setTimeout(() => refresh(), 200);
}

canvas.addEventListener("wheel", (event) => {
  if (document.documentElement.scrollHeight > window.innerHeight + 1 && !event.ctrlKey) return;
  event.preventDefault();
  zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015)), ...place(event));
  seen();
}, { passive: false });

function hideTip() {
  tip.hidden = true;
}

function hover(row) {
  if (row === state.hovered) return;
  state.hovered = row;
  tell("hover");
  redraw();
  if (row < 0 || state.shown !== state.data) hideTip();
  else showTip(row);
}

function showTip(row) {
  const { data, run } = state;
  const count = run?.updates ? countsAt(frameAt(state.moment).made)[row] : null;
  const score = scoreNow(row);
  const lines = [t("tip_point", { row: row + 1, name: data.classes[data.labels[row]] }), `${data.columns.slice(0, 2).join(", ")} = ${coordinates(data.rows[row].slice(0, 2))}`];
  if (count !== null) lines.push(t(stepKind() === "updates" ? "tip_updates" : "tip_count", { count }));
  if (score !== null) lines.push(t("tip_score", { score: number(score, 3), side: t(score > 0 ? "side_own" : "side_wrong") }));
  tip.textContent = lines.join("\n");
  tip.hidden = false;
  const [x, y] = viewOfCanvas().toPicture(places()[row]);
  const left = x + 16 + tip.offsetWidth > canvas.clientWidth ? x - 16 - tip.offsetWidth : x + 16;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, Math.min(canvas.clientHeight - tip.offsetHeight - 4, y - tip.offsetHeight / 2))}px`;
}
