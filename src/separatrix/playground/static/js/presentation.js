// Presentation mode: no header, larger type and marks, and a large counter of mistakes.

import { tell } from "./state.js";
import { redraw } from "./picture.js";
import { say, t } from "./texts.js";

const root = document.documentElement;

export function togglePresentation() {
  const on = root.classList.toggle("presenting");
  document.getElementById("present").setAttribute("aria-pressed", String(on));
  if (on) root.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen();
  say(t(on ? "presenting" : "not_presenting"));
  tell("tab");
  redraw();
}

document.getElementById("present").addEventListener("click", togglePresentation);
