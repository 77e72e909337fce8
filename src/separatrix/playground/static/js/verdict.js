// The verdict: the word, what it means, the points that prove it, and the certificate.

import { state, on, tell, classCount } from "./state.js";
import { Refusal, ask } from "./api.js";
import { download } from "./files.js";
import { redraw } from "./picture.js";
import { element, errorWords, has, number, say, t } from "./texts.js";

const $ = (id) => document.getElementById(id);
const SHOWN = 8;
const SHAPES = {
  separable: "M3 23L23 3M5 6a3 3 0 1 0 6 0 3 3 0 1 0-6 0M15 17h6v6h-6z",
  "quasi-separable": "M3 23L23 3M10 13a3 3 0 1 0 6 0 3 3 0 1 0-6 0M16 17h6v6h-6z",
  overlapping: "M3 13a7 7 0 1 0 14 0 7 7 0 1 0-14 0M10 7h13v13H10z",
  inseparable: "M3 13a7 7 0 1 0 14 0 7 7 0 1 0-14 0M10 7h13v13H10z",
  undecided: "M8 9a5 5 0 1 1 7 5c-2 1-2 2-2 4M13 22v1",
};

export function fraction(text) {
  if (text === "1") return t("whole");
  const key = `fraction_${text.replace("/", "_")}`;
  return has(key) ? `${t(key)} (${text})` : text;
}

function show() {
  const verdict = state.verdict;
  const status = $("verdict-status");
  $("certificate").disabled = !verdict?.certificate;
  $("verify").disabled = !verdict?.certificate;
  $("verify-answer").textContent = "";
  if (!verdict) {
    const failure = state.verdictFailure;
    const words = failure ? errorWords(failure) : classCount() < 2 ? t("no_verdict") : t("waiting");
    status.className = "status";
    $("verdict-shape").replaceChildren();
    $("verdict-word").textContent = failure ? t("status_undecided") : "…";
    $("verdict-meaning").textContent = words;
    $("verdict-proof").replaceChildren();
    $("verdict-margin").textContent = "";
    return;
  }
  const word = t(`status_${verdict.status}`);
  status.className = `status ${verdict.status}`;
  $("verdict-shape").replaceChildren(shape(SHAPES[verdict.status]));
  $("verdict-word").textContent = word;
  const curved = state.settings.method === "kernel";
  const about = [curved ? t("in_features") : "", t(state.settings.lift ? "with_intercept" : "through_origin")];
  const [low, high] = verdict.margin;
  const means = t(`means_${classCount() > 2 ? "joint_" : ""}${verdict.status}`);
  const proved = verdict.status !== "separable" ? "" : verdict.certificate ? t("proved_certificate") : t(low !== null && low > 0 ? "proved_margin" : "proved_theorem");
  $("verdict-meaning").textContent = [means, proved, ...about].filter(Boolean).join(" ");
  showProof(verdict);
  $("verdict-margin").textContent = low !== null && low > 0 ? t(curved ? "margin_kernel" : state.settings.lift ? "margin_between" : "margin_origin", { low: number(low, 6), high: number(high, 6) }) : ["undecided", "separable"].includes(verdict.status) ? "" : t("margin_zero");
  say(t("live_verdict", { word }));
}

function shape(path) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 26 26");
  svg.setAttribute("class", "shape");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

function showProof(verdict) {
  const box = $("verdict-proof");
  box.replaceChildren();
  if (!verdict.witness.length) return;
  const common = verdict.common.length ? `(${verdict.common.join(", ")})` : "";
  const words = verdict.conflict ? t("witness_same") : common ? t("witness_common", { at: common }) : t("witness_sum");
  box.append(element("span", { text: words }));
  const list = element("span", { className: "proof-list" });
  for (const { row, rival, weight } of verdict.witness.slice(0, SHOWN)) {
    const values = { weight: fraction(weight), row, name: rival === null ? "" : state.data.classes[state.run?.classes[rival] ?? rival] };
    const button = element("button", { type: "button", className: "chip", text: t(rival === null ? "weighed" : "weighed_against", values) });
    button.addEventListener("click", () => {
      state.selected = [row];
      tell("selection");
      redraw();
    });
    list.append(button);
  }
  box.append(list);
  if (verdict.witness.length > SHOWN) box.append(element("span", { text: t("witness_more", { count: verdict.witness.length - SHOWN }) }));
}

$("certificate").addEventListener("click", () => {
  download("certificate.json", new Blob([`${JSON.stringify(state.verdict.certificate, null, 2)}\n`], { type: "application/json" }));
});

$("verify").addEventListener("click", async () => {
  const target = $("verify-answer");
  try {
    const answer = await ask("verify", { data: state.data, certificate: state.verdict.certificate });
    target.className = answer.holds ? "small good" : "small error";
    target.textContent = t(answer.holds ? "verified" : "refused", { reason: answer.reason });
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem;
    target.className = "small error";
    target.textContent = errorWords(problem);
  }
});

on("verdict words", show);
on("verdict", redraw);
