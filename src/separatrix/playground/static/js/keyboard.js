// The keyboard: points inside the picture; time, tools and views everywhere.

import { isFlat, state, tell } from "./state.js";
import { commit, redo, undo } from "./history.js";
import { refresh } from "./refresh.js";
import { addPoint, changed, deletePoints, describePoint, movePoints, relabel, snapped, sprinkle } from "./points.js";
import { overlay, redraw } from "./picture.js";
import { anyOutside, fitBox, viewOfCanvas, zoom } from "./view.js";
import { seen } from "./gestures.js";
import { act, toggle } from "./timeline.js";
import { chooseClass, chooseTool } from "./toolbar.js";
import { togglePresentation } from "./presentation.js";
import { coordinates, say, t } from "./texts.js";

const canvas = document.getElementById("plot");
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export function back(again = false) {
  if (!(again ? redo() : undo())) return;
  if (anyOutside()) fitBox();
  tell("settings");
  tell("classes");
  refresh({ moment: "end" });
}

const middle = () => [(state.box.left + state.box.right) / 2, (state.box.bottom + state.box.top) / 2];

// Arrows move the selected points, or the cursor if none is selected.
function moveBy(dx, dy, coarse) {
  const step = (coarse ? 40 : 8) / viewOfCanvas().scale;
  if (state.selected.length && isFlat()) {
    movePoints(state.selected.map((row) => [row, [state.data.rows[row][0] + dx * step, state.data.rows[row][1] + dy * step]]));
    commit();
    refresh({ live: true, moment: "end" });
    if (state.selected.length === 1) say(describePoint(state.selected[0]));
    return;
  }
  const [x, y] = overlay.cursor ?? middle();
  overlay.cursor = snapped([x + dx * step, y + dy * step]);
  say(t("cursor_at", { at: coordinates(overlay.cursor) }));
  redraw();
}

function selectNext(way) {
  const count = state.data.rows.length;
  if (!count) return;
  const now = state.selected.length ? state.selected[0] : way > 0 ? -1 : count;
  state.selected = [(now + way + count) % count];
  overlay.cursor = null;
  say(describePoint(state.selected[0]));
  tell("selection");
  redraw();
}

function addAtCursor() {
  overlay.cursor ??= middle();
  if (state.tool === "cloud") sprinkle(...viewOfCanvas().toPicture(overlay.cursor));
  else {
    const made = addPoint(overlay.cursor);
    if (made < 0) return;
    say(describePoint(made));
  }
  changed();
}

function select(rows) {
  state.selected = rows;
  if (rows.length) say(t("selected", { count: rows.length }));
  tell("selection");
  redraw();
}

canvas.addEventListener("keydown", (event) => {
  const control = event.ctrlKey || event.metaKey;
  if (control && event.key.toLowerCase() === "a") select(state.data.rows.map((_, row) => row));
  else if (control || event.altKey) return;
  else if (ARROWS[event.key]) moveBy(...ARROWS[event.key], event.shiftKey);
  else if (event.key === "Enter") addAtCursor();
  else if (event.key === "]") selectNext(1);
  else if (event.key === "[") selectNext(-1);
  else if (event.key === "Escape" && state.selected.length) select([]);
  else if ((event.key === "Delete" || event.key === "Backspace") && state.selected.length) {
    deletePoints(state.selected);
    changed();
    tell("selection");
  } else return;
  event.preventDefault();
  event.stopPropagation();
});

const typing = (target) => ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) && target.type !== "range" && target.type !== "checkbox";
const pressable = (target) => ["BUTTON", "SUMMARY"].includes(target.tagName) || target.type === "checkbox";

const KEYS = {
  ",": () => act("back"),
  ".": () => act("next"),
  a: () => chooseTool("add"),
  c: () => chooseTool("cloud"),
  l: () => chooseTool("lasso"),
  e: () => chooseTool("erase"),
  p: togglePresentation,
  f: () => {
    fitBox();
    seen();
  },
  "+": () => {
    zoom(1.25);
    seen();
  },
  "-": () => {
    zoom(0.8);
    seen();
  },
};

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]") || typing(event.target)) return;
  const control = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  if (control && key === "z") back(event.shiftKey);
  else if (control && key === "y") back(true);
  else if (control || event.altKey) return;
  else if (key === " " && !pressable(event.target)) toggle();
  else if (key === "home" && event.target.type !== "range") act("start");
  else if (key === "end" && event.target.type !== "range") act("end");
  else if (key === "escape" && document.documentElement.classList.contains("presenting")) togglePresentation();
  else if (Object.hasOwn(KEYS, key)) KEYS[key]();
  else if (/^[1-4]$/.test(key) && Number(key) <= state.data.classes.length) {
    if (event.target === canvas && state.selected.length) {
      relabel(state.selected, Number(key) - 1);
      changed();
    }
    chooseClass(Number(key) - 1);
  } else return;
  event.preventDefault();
});
