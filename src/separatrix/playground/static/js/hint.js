// One hint on the picture: what to try first, and what has just happened.

import { state, on, isJudged } from "./state.js";
import { explain } from "./proof.js";
import { t } from "./texts.js";

const hint = document.getElementById("hint");
let stage = "off"; // "off", "drag", "why", "done"

// Suggest the first move, once the run has been watched.
export function suggest() {
  if (stage === "off") stage = "drag";
  show();
}

export function silence() {
  stage = "done";
  show();
}

function show() {
  hint.hidden = stage === "off" || stage === "done";
  if (hint.hidden) return;
  const why = stage === "why";
  hint.textContent = t(why ? "hint_why" : "hint_drag");
  hint.disabled = !why;
  hint.classList.toggle("asks", why);
}

hint.addEventListener("click", () => {
  silence();
  explain();
});

on("verdict", () => {
  if (stage === "drag" && isJudged() && ["overlapping", "quasi-separable", "inseparable"].includes(state.verdict.status)) stage = "why";
  else if (stage === "why" && state.verdict?.status === "separable") stage = "drag";
  show();
});
on("why", () => { if (state.why.kind) silence(); });
on("words", show);
