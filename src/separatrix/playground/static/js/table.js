// The user's own points: paste or drop a table, choose the target and the columns.

import { begin } from "./state.js";
import { Refusal } from "./api.js";
import { commit } from "./history.js";
import { readTable } from "./pasted.js";
import { element, errorWords, notify, t } from "./texts.js";

const $ = (id) => document.getElementById(id);
const dialog = $("table-dialog");
let table = null;
let use = () => {};
export const sizes = { classes: 4, columns: 32 };

export function whenUsed(action) {
  use = action;
}

function reset() {
  table = null;
  $("table-columns").hidden = true;
  $("table-use").hidden = true;
  $("table-error").textContent = "";
}

export function open(text = "") {
  reset();
  $("table-text").value = text;
  dialog.showModal();
  if (text) read();
}

function read() {
  reset();
  try {
    table = readTable({ text: $("table-text").value || " " });
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem;
    $("table-error").textContent = errorWords(problem);
    return;
  }
  const target = $("table-target");
  target.replaceChildren(...table.columns.map((name, at) => element("option", { value: at, text: name })));
  target.value = String(table.target);
  chooseFeatures();
  $("table-columns").hidden = false;
  $("table-use").hidden = false;
  if (table.skipped) $("table-error").textContent = t("table_skipped", { count: table.skipped });
}

function chooseFeatures() {
  const target = Number($("table-target").value);
  let chosen = 0;
  $("table-features").replaceChildren(...table.columns.flatMap((name, at) => {
    if (at === target || !table.numeric[at]) return [];
    const box = element("input", { type: "checkbox", value: at });
    box.checked = chosen < 2;
    chosen += 1;
    return [element("label", {}, box, element("span", { text: name }))];
  }));
}

function accept() {
  const target = Number($("table-target").value);
  const features = [...$("table-features").querySelectorAll("input:checked")].map((box) => Number(box.value)).slice(0, sizes.columns);
  if (features.length < 2) {
    $("table-error").textContent = t("table_two");
    return;
  }
  const names = [...new Set(table.rows.map((row) => String(row[target])))].sort();
  if (names.length < 2 || names.length > sizes.classes) {
    $("table-error").textContent = t("table_classes", { count: names.length, most: sizes.classes });
    return;
  }
  const scale = $("table-scale").checked;
  const rows = table.rows.map((row, number) => features.map((at) => (scale ? table.scaled[at][number] : row[at])));
  const data = { columns: features.map((at) => table.columns[at]), classes: names.map((name) => name.slice(0, 60)), rows, labels: table.rows.map((row) => names.indexOf(String(row[target]))) };
  begin({ data, settings: {} });
  commit();
  dialog.close();
  notify("");
  use();
}

$("open-table").addEventListener("click", () => open());
$("table-read").addEventListener("click", read);
$("table-use").addEventListener("click", accept);
$("table-cancel").addEventListener("click", () => dialog.close());
$("table-target").addEventListener("change", chooseFeatures);
$("table-file").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (!file) return;
  $("table-text").value = await file.text();
  read();
});

document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer?.files ?? [];
  const text = file ? await file.text() : event.dataTransfer?.getData("text/plain");
  if (text) open(text);
});
document.addEventListener("paste", (event) => {
  if (["INPUT", "TEXTAREA"].includes(event.target.tagName)) return;
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (text.includes("\n")) open(text);
});
