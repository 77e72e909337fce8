// The list of points: class, count and place of each. Selecting a line marks its point, and vice versa.

import { state, on, tell, frameAt, countsAt } from "./state.js";
import { changed, relabel } from "./points.js";
import { redraw } from "./picture.js";
import { swatch } from "./toolbar.js";
import { element, number, stepKind, t } from "./texts.js";

const MOST = 200;
const table = document.getElementById("ledger");
const panel = document.getElementById("panel-points");
let lines = new Map();

function select(row) {
  state.selected = [row];
  tell("selection");
  redraw();
}

// A button that gives the point the next class.
function classCell(row) {
  const { classes, labels } = state.shown;
  const words = t("ledger_switch", { row: row + 1, name: classes[labels[row]] });
  const button = element("button", { type: "button", className: "plain-button", title: words, "aria-label": words }, swatch(labels[row]), element("span", { text: classes[labels[row]] }));
  button.addEventListener("click", () => {
    relabel([row], (labels[row] + 1) % classes.length);
    changed();
  });
  return element("td", {}, button);
}

function show() {
  if (panel.hidden) return;
  const { run, shown } = state;
  const step = frameAt(state.moment);
  const counts = run?.updates ? countsAt(step.made) : (run?.counts ?? shown.rows.map(() => 0));
  const final = run?.counts ?? counts;
  const order = shown.rows.map((_, row) => row).sort((a, b) => final[b] - final[a] || a - b).slice(0, MOST);
  const columns = shown.columns.slice(0, 3);
  const heads = ["ledger_row", "ledger_class", run && !run.updates && !run.units ? "ledger_carried" : `ledger_${stepKind()}`].map((key) => t(key));
  lines = new Map();
  const body = element("tbody");
  for (const row of order) {
    const button = element("button", { type: "button", text: String(row + 1), "aria-label": t("ledger_show", { row: row + 1 }) });
    button.addEventListener("click", () => select(row));
    const cells = [element("td", {}, button), classCell(row), element("td", { text: number(counts[row]) })];
    cells.push(...columns.map((_, at) => element("td", { text: number(shown.rows[row][at], 3) })));
    const line = element("tr", {}, ...cells);
    line.addEventListener("pointerenter", () => {
      state.hovered = row;
      redraw();
    });
    lines.set(row, { line, cell: cells[2] });
    body.append(line);
  }
  table.replaceChildren(element("thead", {}, element("tr", {}, ...[...heads, ...columns].map((text) => element("th", { scope: "col", text })))), body);
  document.getElementById("ledger-more").textContent = shown.rows.length > MOST ? t("ledger_more", { count: MOST }) : "";
  mark();
}

function mark() {
  if (panel.hidden) return;
  const step = frameAt(state.moment);
  const counts = state.run?.updates ? countsAt(step.made) : null;
  for (const [row, { line, cell }] of lines) {
    line.className = row === step?.row || state.selected.includes(row) || row === state.hovered ? "now" : "";
    if (counts) cell.textContent = number(counts[row]);
  }
}

let due = 0;
on("run words tab", () => {
  clearTimeout(due);
  due = setTimeout(show, 80);
});
on("moment selection hover", mark);
