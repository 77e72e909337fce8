// The table of counts: how often each point was corrected. Selecting a line marks its point, and vice versa.

import { state, on, tell, frameAt } from "./state.js";
import { countsAt, redraw } from "./picture.js";
import { element, number, t } from "./texts.js";

const MOST = 200;
const table = document.getElementById("ledger");
let lines = new Map();

function show() {
  const { run, data } = state;
  const step = frameAt(state.moment);
  const counts = run?.updates ? countsAt(step.made) : (run?.counts ?? data.rows.map(() => 0));
  const final = run?.counts ?? counts;
  const order = data.rows.map((_, row) => row).sort((a, b) => final[b] - final[a] || a - b).slice(0, MOST);
  const carried = run && !run.updates;
  const head = ["ledger_row", "ledger_class", carried ? "ledger_carried" : "ledger_count", ...(run ? ["ledger_given"] : [])];
  const columns = data.columns.slice(0, 3);
  lines = new Map();
  const body = element("tbody");
  for (const row of order) {
    const button = element("button", { type: "button", text: String(row), "aria-label": t("ledger_show", { row }) });
    button.addEventListener("click", () => {
      state.selected = [row];
      tell("selection");
      redraw();
    });
    const cells = [element("td", {}, button), element("td", { text: data.classes[data.labels[row]] }), element("td", { text: number(counts[row]) })];
    if (run) cells.push(element("td", { text: data.classes[run.classes[run.model.predicted[row]]] ?? "" }));
    cells.push(...columns.map((_, at) => element("td", { text: number(data.rows[row][at]) })));
    const line = element("tr", {}, ...cells);
    line.addEventListener("pointerenter", () => {
      state.hovered = row;
      redraw();
    });
    lines.set(row, { line, cell: cells[2] });
    body.append(line);
  }
  const names = [...head.map((key) => t(key)), ...columns];
  table.replaceChildren(element("thead", {}, element("tr", {}, ...names.map((text) => element("th", { scope: "col", text })))), body);
  document.getElementById("ledger-more").textContent = data.rows.length > MOST ? t("ledger_more", { count: MOST }) : "";
  mark();
}

function mark() {
  const step = frameAt(state.moment);
  const now = step?.row ?? -1;
  const counts = state.run?.updates ? countsAt(step.made) : null;
  for (const [row, { line, cell }] of lines) {
    line.className = row === now || state.selected.includes(row) || row === state.hovered ? "now" : "";
    if (counts) cell.textContent = number(counts[row]);
  }
}

let due = 0;
on("run data words", () => {
  clearTimeout(due);
  due = setTimeout(show, 80);
});
on("moment selection hover", mark);
