// A tour of five stops, for a first visit and whenever it is asked for.

import { t } from "./texts.js";
import { on } from "./state.js";

const $ = (id) => document.getElementById(id);
const dialog = $("tour");
const STOPS = [["1", ".canvas-frame"], ["2", "#timeline"], ["3", "#step"], ["4", "#verdict"], ["5", "#settings"]];
let at = 0;

function show() {
  const [key, where] = STOPS[at];
  for (const element of document.querySelectorAll(".spot")) element.classList.remove("spot");
  const target = document.querySelector(where);
  target.classList.add("spot");
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  target.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
  $("tour-title").textContent = t(`tour_${key}_title`);
  $("tour-text").textContent = t(`tour_${key}`);
  $("tour-count").textContent = t("tour_count", { at: at + 1, of: STOPS.length });
  $("tour-back").disabled = at === 0;
  $("tour-next").textContent = at === STOPS.length - 1 ? t("tour_close") : t("next");
  $("tour-close").hidden = at === STOPS.length - 1;
}

export function startTour() {
  at = 0;
  if (!dialog.open) dialog.showModal();
  show();
  $("tour-next").focus();
}

$("tour-next").addEventListener("click", () => {
  if (at === STOPS.length - 1) dialog.close();
  else {
    at += 1;
    show();
  }
});
$("tour-back").addEventListener("click", () => {
  at = Math.max(0, at - 1);
  show();
});
$("tour-close").addEventListener("click", () => dialog.close());
dialog.addEventListener("close", () => {
  for (const element of document.querySelectorAll(".spot")) element.classList.remove("spot");
});
$("open-tour").addEventListener("click", startTour);
on("words", () => { if (dialog.open) show(); });
