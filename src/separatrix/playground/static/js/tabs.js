// The tabs beside the picture; on a narrow page they are a sheet at the bottom.

import { tell } from "./state.js";

const $ = (id) => document.getElementById(id);
const NAMES = ["step", "proof", "points", "method", "share"];
const sheet = $("sheet");
export const narrow = window.matchMedia("(max-width: 820px)");
let chosen = "step";

// On a narrow page a tab opens the sheet, and the tab that is open closes it.
export function openSheet(open) {
  sheet.classList.toggle("open", open);
  show();
}

export function openTab(name, { focus = false } = {}) {
  chosen = name;
  openSheet(true);
  if (focus) $(`tab-${name}`).focus();
}

function show() {
  const visible = !narrow.matches || sheet.classList.contains("open");
  for (const name of NAMES) {
    const here = name === chosen;
    $(`tab-${name}`).setAttribute("aria-selected", String(here && visible));
    $(`tab-${name}`).tabIndex = here ? 0 : -1;
    $(`panel-${name}`).hidden = !here || !visible;
  }
  tell("tab");
}

for (const name of NAMES) {
  $(`tab-${name}`).addEventListener("click", () => {
    if (narrow.matches && name === chosen && sheet.classList.contains("open")) openSheet(false);
    else openTab(name);
  });
}

$("tabs").addEventListener("keydown", (event) => {
  const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!way) return;
  event.preventDefault();
  event.stopPropagation();
  openTab(NAMES[(NAMES.indexOf(chosen) + way + NAMES.length) % NAMES.length], { focus: true });
});

// On a narrow page the tools are with the list of points.
function arrange() {
  if (narrow.matches) $("panel-points").prepend($("toolbar"));
  else $("stage").prepend($("toolbar"));
  show();
}

narrow.addEventListener("change", arrange);
arrange();
