// The tools: what a click does, the class of new points, undo, and the view.

import { state, on, tell, emptyData } from "./state.js";
import { canRedo, canUndo, commit } from "./history.js";
import { refresh } from "./refresh.js";
import { changed, deletePoints, relabel } from "./points.js";
import { seen } from "./gestures.js";
import { markPath } from "./shapes.js";
import { fitBox, zoom } from "./view.js";
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
    const button = element("button", { type: "button", "aria-pressed": String(label === state.current), "aria-label": words, title: words, "data-class": label }, swatch(label), element("span", { className: "class-name", text: name }));
    button.addEventListener("click", () => chooseClass(label));
    return button;
  });
  if (classes.length < 4) {
    const more = element("button", { type: "button", text: t("class_more_short"), "aria-label": t("class_more"), title: t("class_more"), id: "more-classes" });
    more.addEventListener("click", () => {
      const fresh = NAMES.find((name) => !classes.includes(name)) ?? `${classes.length + 1}`;
      state.data = { ...state.data, classes: [...classes, fresh] };
      chooseClass(classes.length);
      commit();
      refresh();
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
  const act = (words, work) => {
    const button = element("button", { type: "button", text: words });
    button.addEventListener("click", () => {
      work();
      changed();
      tell("selection");
    });
    return button;
  };
  menu.replaceChildren(
    act(t("lasso_delete", { count: selected.length }), () => deletePoints(selected)),
    ...data.classes.map((name, label) => act(t("lasso_to", { name }), () => relabel(selected, label))),
  );
}

for (const button of document.querySelectorAll("[data-tool]")) button.addEventListener("click", () => chooseTool(button.dataset.tool));
$("clear").addEventListener("click", () => {
  state.data = emptyData();
  state.selected = [];
  state.preset = "";
  tell("classes");
  tell("selection");
  commit();
  refresh({ moment: "end" });
});
for (const [id, act] of [["zoom-in", () => zoom(1.25)], ["zoom-out", () => zoom(0.8)], ["fit", fitBox]]) {
  $(id).addEventListener("click", () => {
    act();
    seen();
  });
}

on("history", () => {
  $("undo").disabled = !canUndo();
  $("redo").disabled = !canRedo();
});
on("classes words", showClasses);
on("selection words", showSelection);
