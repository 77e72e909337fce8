// Save and share: the link, pictures, the points as CSV, the film, and the Python code.

import { state, on } from "./state.js";
import { Refusal, ask } from "./api.js";
import { download } from "./files.js";
import { linkNow } from "./link.js";
import { SvgPen } from "./pen.js";
import { drawPicture, redraw } from "./picture.js";
import { errorWords, t } from "./texts.js";

const $ = (id) => document.getElementById(id);
const canvas = $("plot");
const tell = (words) => { $("take-answer").textContent = words; };

async function copy(text, fallback) {
  try {
    await navigator.clipboard.writeText(text);
    tell(t("copied"));
  } catch {
    fallback?.select();
    tell(t("not_copied"));
  }
}

export function svgText() {
  const { clientWidth: width, clientHeight: height } = canvas;
  const pen = new SvgPen(width, height, t("plot_label"));
  drawPicture(pen, width, height);
  return pen.toString();
}

const quoted = (value) => (/[",\n\r;]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

export function csvText() {
  const { columns, classes, rows, labels } = state.data;
  const lines = [[...columns, "class"].map(quoted).join(",")];
  rows.forEach((row, at) => lines.push([...row.map(String), quoted(classes[labels[at]])].join(",")));
  return `${lines.join("\n")}\n`;
}

$("copy-link").addEventListener("click", () => {
  const link = linkNow();
  if (link === null) tell(t("link_too_long"));
  else copy(link);
});
$("copy-code").addEventListener("click", () => copy($("code").value, $("code")));
$("save-svg").addEventListener("click", () => {
  download("playground.svg", new Blob([svgText()], { type: "image/svg+xml" }));
  tell(t("saved", { name: "playground.svg" }));
});
$("save-png").addEventListener("click", () => {
  redraw();
  requestAnimationFrame(() => canvas.toBlob((blob) => {
    download("playground.png", blob);
    tell(t("saved", { name: "playground.png" }));
  }));
});
$("save-csv").addEventListener("click", () => {
  download("points.csv", new Blob([csvText()], { type: "text/csv" }));
  tell(t("saved", { name: "points.csv" }));
});
$("save-gif").addEventListener("click", async () => {
  tell(t("filming"));
  $("save-gif").disabled = true;
  try {
    const fps = 4;
    const film = await ask("film", { data: state.data, settings: state.settings, theme: state.theme, fps });
    download("run.gif", film);
    tell(t("saved", { name: "run.gif" }));
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem;
    tell(errorWords(problem));
  } finally {
    $("save-gif").disabled = false;
  }
});

// If a method has no steps, show a sentence instead of the film.
function offerFilm() {
  const steps = ["perceptron", "kernel"].includes(state.settings.method);
  $("save-gif").hidden = !steps;
  $("no-film").textContent = steps ? "" : t("error_no_steps");
}

on("run settings words", offerFilm);
on("run", () => {
  if (state.run?.code) $("code").value = state.run.code;
  else if (!state.run) $("code").value = "";
});
