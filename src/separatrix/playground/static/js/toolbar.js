// The tools above the picture: what a click does, and the class of new points.

import { state, on, tell } from "./state.js";
import { canRedo, canUndo, commit } from "./history.js";
import { refresh } from "./refresh.js";
import { deletePoints, relabel } from "./points.js";
import { markPath } from "./shapes.js";
import { element, t } from "./texts.js";

const $ = (id) => document.getElementById(id);
const NAMES = ["A", "B", "C", "D"];

export function chooseTool(tool) {
  state.tool = tool;
  for (const button of document.querySelectorAll("[data-tool]")) button.setAttribute("aria-pressed", String(button.dataset.tool === tool));
}

export function chooseClass(label) {
  state.current = label;
  showClasses();
}

export function swatch(label) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 14 14");
  svg.setAttribute("class", "swatch");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", markPath(label));
  path.setAttribute("class", `fill-${label}`);
  svg.append(path);
  return svg;
}

function showClasses() {
  const { classes } = state.data;
  if (state.current >= classes.length) state.current = classes.length - 1;
  const buttons = classes.map((name, label) => {
    const words = t("class_button", { name, key: label + 1 });
    const button = element("button", { type: "button", "aria-pressed": String(label === state.current), "aria-label": words, title: words, "data-class": label }, swatch(label), element("span", { text: name }));
    button.addEventListener("click", () => chooseClass(label));
    return button;
  });
  if (classes.length < 4) {
    const more = element("button", { type: "button", text: "+", "aria-label": t("class_more"), title: t("class_more"), id: "more-classes" });
    more.addEventListener("click", () => {
      const fresh = NAMES.find((name) => !classes.includes(name)) ?? `${classes.length + 1}`;
      state.data = { ...state.data, classes: [...classes, fresh] };
      chooseClass(classes.length);
      commit();
    });
    buttons.push(more);
  }
  $("classes").replaceChildren(...buttons);
}

function showSelection() {
  const menu = $("lasso-menu");
  const { selected, data } = state;
  menu.hidden = selected.length < 2;
  if (menu.hidden) return;
  const gone = element("button", { type: "button", text: t("lasso_delete", { count: selected.length }) });
  gone.addEventListener("click", () => {
    deletePoints(selected);
    finish();
  });
  const others = data.classes.map((name, label) => {
    const button = element("button", { type: "button" }, element("span", { text: t("lasso_to", { name }) }));
    button.addEventListener("click", () => {
      relabel(selected, label);
      finish();
    });
    return button;
  });
  menu.replaceChildren(gone, ...others);
}

function finish() {
  commit();
  tell("selection");
  refresh({ moment: "end" });
}

for (const button of document.querySelectorAll("[data-tool]")) button.addEventListener("click", () => chooseTool(button.dataset.tool));
$("clear").addEventListener("click", () => {
  state.data = { ...state.data, columns: ["x", "y"], rows: [], labels: [] };
  state.selected = [];
  state.preset = "";
  finish();
});

on("history", () => {
  $("undo").disabled = !canUndo();
  $("redo").disabled = !canRedo();
});
on("classes words", showClasses);
on("selection words", showSelection);
