// Save and share: the link, the card as a picture or a film, the points, the picture and the Python code.

import { state, on } from "./state.js";
import { cardGif, cardPicture, cardVideo, hasFilm, videoType } from "./card.js";
import { download } from "./files.js";
import { linkNow } from "./link.js";
import { SvgPen } from "./pen.js";
import { drawPicture } from "./picture.js";
import { script } from "./python.js";
import { pause } from "./timeline.js";
import { t } from "./texts.js";

const $ = (id) => document.getElementById(id);
const canvas = $("plot");
const bar = $("film-progress");
const tell = (words) => { $("take-answer").textContent = words; };

export async function copy(text, fallback = null, done = tell) {
  try {
    await navigator.clipboard.writeText(text);
    done(t("copied"));
  } catch {
    fallback?.select();
    done(t(fallback ? "not_copied" : "copy_by_hand", { text }));
  }
}

function svgText() {
  const { clientWidth: width, clientHeight: height } = canvas;
  const pen = new SvgPen(width, height, t("plot_label"));
  drawPicture(pen, width, height);
  return pen.toString();
}

const quoted = (value) => (/[",\n\r;]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

function csvText() {
  const { columns, classes, rows, labels } = state.data;
  const lines = [[...columns, "class"].map(quoted).join(",")];
  rows.forEach((row, at) => lines.push([...row.map(String), quoted(classes[labels[at]])].join(",")));
  return `${lines.join("\n")}\n`;
}

function save(name, blob) {
  download(name, blob);
  tell(t("saved", { name }));
}

// Make a film, with a bar that shows how much of it is done.
async function film(button, name, make) {
  pause();
  tell(t("filming"));
  [bar.hidden, bar.value, button.disabled] = [false, 0, true];
  try {
    save(name, await make((share) => { bar.value = share; }));
  } finally {
    [bar.hidden, button.disabled] = [true, false];
  }
}

$("copy-link").addEventListener("click", () => {
  const link = linkNow();
  if (link === null) tell(t("link_too_long"));
  else copy(link);
});
$("copy-code").addEventListener("click", () => copy($("code").value, $("code")));
$("save-png").addEventListener("click", async () => save("card.png", await cardPicture()));
$("save-gif").addEventListener("click", () => film($("save-gif"), "run.gif", cardGif));
$("save-mp4").addEventListener("click", () => film($("save-mp4"), "run.mp4", cardVideo));
$("save-svg").addEventListener("click", () => save("playground.svg", new Blob([svgText()], { type: "image/svg+xml" })));
$("save-csv").addEventListener("click", () => save("points.csv", new Blob([csvText()], { type: "text/csv" })));

on("run words", () => {
  $("save-gif").disabled = !hasFilm();
  $("save-mp4").hidden = videoType() === null;
  $("save-mp4").disabled = !hasFilm();
  $("no-film").textContent = state.run && !state.run.updates && !state.run.units ? t("no_film") : "";
});

let due = 0;
on("run settings", () => {
  clearTimeout(due); // while a point is dragged, the picture comes first
  due = setTimeout(() => { $("code").value = state.shown.rows.length ? script(state.shown, state.settings) : ""; }, 80);
});
