// The rail: a lesson or a challenge above the panel that belongs to it, in place of the tabs.

import { openSheet } from "./tabs.js";
import { element, t } from "./texts.js";

const rail = document.getElementById("rail");
const sheet = document.getElementById("sheet");
let whenClosed = () => {};

// Show these parts in the rail; a list, which belongs to no panel, fills it.
export function openRail(kind, title, parts, closed = () => {}) {
  if (rail.dataset.kind !== kind) whenClosed();
  whenClosed = closed;
  const focused = rail.contains(document.activeElement) ? document.activeElement.id : "";
  const close = element("button", { type: "button", id: "rail-close", text: "×", "aria-label": t("close"), title: t("close"), className: "icon-button" });
  close.addEventListener("click", closeRail);
  rail.replaceChildren(element("div", { className: "rail-head" }, element("h2", { id: "rail-title", text: title }), close), ...parts);
  rail.dataset.kind = kind;
  rail.hidden = false;
  sheet.classList.add("railed");
  sheet.classList.toggle("listing", kind === "lessons" || kind === "challenges");
  openSheet(true);
  if (focused) document.getElementById(focused)?.focus();
}

export function closeRail() {
  whenClosed();
  whenClosed = () => {};
  rail.hidden = true;
  rail.dataset.kind = "";
  sheet.classList.remove("railed", "listing");
  openSheet(false);
}
