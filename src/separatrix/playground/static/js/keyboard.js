// The keyboard: points inside the picture; time and tools everywhere.

import { isFlat, state, tell } from "./state.js";
import { commit, redo, undo } from "./history.js";
import { refresh } from "./refresh.js";
import { addAtCursor, deletePoints, moveCursor, relabel, selectNext } from "./points.js";
import { fitBox, redraw, viewOfCanvas } from "./picture.js";
import { act, toggle } from "./timeline.js";
import { chooseClass, chooseTool } from "./toolbar.js";
import { say, t } from "./texts.js";

const canvas = document.getElementById("plot");

// Return whether a point is outside the view, for example after an undo.
function outside() {
  const { left, right, bottom, top } = viewOfCanvas().shown;
  return isFlat() && state.data.rows.some(([x, y]) => x < left || x > right || y < bottom || y > top);
}

export function back(again = false) {
  if (again ? redo() : undo()) {
    if (outside()) fitBox();
    tell("settings");
    tell("classes");
    refresh({ moment: "end" });
  }
}

canvas.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "a") {
    event.preventDefault();
    state.selected = state.data.rows.map((_, row) => row);
    say(t("selected", { count: state.selected.length }));
    tell("selection");
    redraw();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  if (arrows[event.key]) moveCursor(...arrows[event.key], event.shiftKey);
  else if (event.key === "Enter") addAtCursor();
  else if (event.key === "]" || event.key === "n") selectNext(1);
  else if (event.key === "[" || event.key === "p") selectNext(-1);
  else if (event.key === "Escape" && state.selected.length) {
    state.selected = [];
    tell("selection");
    redraw();
  } else if ((event.key === "Delete" || event.key === "Backspace") && state.selected.length) {
    deletePoints(state.selected);
    commit();
    refresh({ moment: "end" });
    tell("selection");
  } else return;
  event.preventDefault();
});

const typing = (target) => ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) && target.type !== "range" && target.type !== "checkbox";

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]") || typing(event.target)) return;
  const control = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  if (control && key === "z") back(event.shiftKey);
  else if (control && key === "y") back(true);
  else if (control || event.altKey) return;
  else if (key === " " && event.target.tagName !== "BUTTON" && event.target.tagName !== "SUMMARY" && event.target.type !== "checkbox") toggle();
  else if (key === ",") act("back");
  else if (key === ".") act("next");
  else if (key === "m") act("mistake");
  else if (key === "home" && event.target.type !== "range") act("start");
  else if (key === "end" && event.target.type !== "range") act("end");
  else if (key === "a") chooseTool("add");
  else if (key === "c") chooseTool("cloud");
  else if (key === "l") chooseTool("lasso");
  else if (key === "e") chooseTool("erase");
  else if (key === "f") {
    fitBox();
    refresh();
  } else if (/^[1-4]$/.test(key) && Number(key) <= state.data.classes.length) {
    if (event.target === canvas && state.selected.length) {
      relabel(state.selected, Number(key) - 1);
      commit();
      refresh({ moment: "end" });
    }
    chooseClass(Number(key) - 1);
  } else return;
  event.preventDefault();
});
