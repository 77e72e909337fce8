// The proof in words and as a drawing that grows: the combination that meets in a point, or the widest road.

import { state, on, tell, classCount, isJudged } from "./state.js";
import { Refusal, ask } from "./api.js";
import { download } from "./files.js";
import { redraw } from "./picture.js";
import { isPlanar, witnessSides } from "./proof_drawing.js";
import { askRoad } from "./refresh.js";
import { openTab } from "./tabs.js";
import { coordinates, element, errorWords, number, percent, t } from "./texts.js";

const $ = (id) => document.getElementById(id);
const reduced = window.matchMedia("(prefers-reduced-motion: reduce)");
const SECONDS = { witness: 4, road: 1.6 };
const SHOWN = 8;
let timer = 0;
let checked = { certificate: null, holds: null, reason: "" };

// Draw the proof of the verdict, and show the words for it.
export async function explain() {
  openTab("proof");
  check();
  if (!state.verdict || !isPlanar()) return;
  if (state.verdict.status !== "separable") grow("witness");
  else if (classCount() === 2) {
    if (!state.road) await askRoad();
    grow("road");
  }
}

function grow(kind) {
  cancelAnimationFrame(timer);
  const began = performance.now();
  const tick = (now) => {
    state.why = { kind, grown: reduced.matches ? 1 : Math.min(1, (now - began) / 1000 / SECONDS[kind]), pulse: 0 };
    redraw();
    if (state.why.grown < 1) timer = requestAnimationFrame(tick);
    else {
      tell("why");
      if (kind === "witness") pulse();
    }
  };
  tick(began);
  tell("why");
}

// Let the common point pulse three times.
function pulse() {
  cancelAnimationFrame(timer);
  if (reduced.matches) return;
  const began = performance.now();
  const tick = (now) => {
    const beats = (now - began) / 900;
    state.why = { ...state.why, pulse: beats < 3 ? beats % 1 : 0 };
    redraw();
    if (beats < 3) timer = requestAnimationFrame(tick);
  };
  timer = requestAnimationFrame(tick);
}

export function unexplain() {
  cancelAnimationFrame(timer);
  state.why = { kind: "", grown: 0, pulse: 0 };
  tell("why");
  redraw();
}

async function check() {
  const { verdict, judged } = state;
  const certificate = verdict?.certificate;
  if (!certificate || checked.certificate === certificate) return;
  checked = { certificate, holds: null, reason: "" };
  try {
    const { holds, reason } = await ask("verify", { data: judged, certificate });
    checked = { certificate, holds, reason };
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem;
    checked = { certificate, holds: false, reason: errorWords(problem) };
  }
  show();
}

const paragraph = (text, className) => element("p", { text, className });

function chip(row, words) {
  const button = element("button", { type: "button", className: "chip", text: words });
  button.addEventListener("click", () => {
    state.selected = [row];
    tell("selection");
    redraw();
  });
  return button;
}

const plus = (parts) => parts.flatMap((part, at) => (at ? [" + ", part] : [part]));

// The combination of each class: shares first, fractions on demand.
function combination() {
  const { verdict, judged } = state;
  const sides = witnessSides();
  const lines = sides.map(({ label, parts }) => element("p", { className: `mixture edge-${label}` },
    element("strong", { text: t("mixture_of", { name: judged.classes[label] }) }), " ",
    ...plus(parts.map(({ row, share }) => chip(row, parts.length === 1 ? t("point_itself", { row: row + 1 }) : t("share_of", { share: percent(share), row: row + 1 })))),
    ` = ${coordinates(verdict.common_at, 3)}`));
  const exact = sides.flatMap(({ label, parts }) => [
    element("dt", { text: t("mixture_of", { name: judged.classes[label] }) }),
    element("dd", { className: "math", text: parts.map(({ row, weight }) => t("weighed", { weight, row: row + 1 })).join(" + ") }),
  ]);
  exact.push(element("dt", { text: t("common_point") }), element("dd", { className: "math", text: `(${verdict.common.join(", ")})` }));
  return [
    paragraph(t("why_witness")), ...lines, paragraph(t("why_same_place")),
    element("details", { className: "exact" }, element("summary", { text: t("exact_fractions") }), element("dl", {}, ...exact)),
  ];
}

function weights() {
  const { verdict, judged } = state;
  const names = [...new Set(judged.labels)].sort((a, b) => a - b).map((label) => judged.classes[label]);
  const parts = verdict.witness.slice(0, SHOWN).map(({ row, rival, weight }) => chip(row, verdict.conflict ? t("point", { row: row + 1 }) : t(rival === null ? "weighed" : "weighed_against", { weight, row: row + 1, name: names[rival] ?? "" })));
  const more = verdict.witness.length - SHOWN;
  return [
    paragraph(t(verdict.conflict ? "why_conflict" : classCount() > 2 ? "why_sum_joint" : "why_sum")),
    element("p", { className: "chips" }, ...plus(parts), more > 0 ? ` + ${t("witness_more", { count: more })}` : ""),
  ];
}

function separableLines() {
  const { verdict, road, settings } = state;
  const [low] = verdict.margin;
  if (settings.method === "kernel") return [paragraph(t(verdict.certificate ? "why_curve" : low > 0 ? "why_curve_margin" : "why_curve_theorem"))];
  if (classCount() > 2) return [paragraph(t("why_joint"))];
  const lines = [paragraph(t(settings.lift ? "why_line" : "why_line_origin"))];
  if (!road || !isPlanar()) return lines;
  const support = road.counts.flatMap((count, row) => (count > 1e-9 ? [row] : []));
  const margin = road.model.margin[0];
  lines.push(paragraph(t("why_road", { width: number(2 * margin, 3), margin: number(margin, 3) })));
  lines.push(element("p", { className: "chips" }, `${t("why_support")} `, ...support.slice(0, SHOWN).map((row) => chip(row, t("point", { row: row + 1 })))));
  return lines;
}

// The tick of the checker, and the buttons below the proof.
function ending(drawable) {
  const { certificate } = state.verdict;
  const draw = element("button", { type: "button", id: "draw-proof", className: state.why.kind ? "" : "primary", text: t(state.why.kind ? "draw_again" : "draw_proof") });
  draw.addEventListener("click", () => explain());
  const save = element("button", { type: "button", id: "certificate", text: t("download_certificate") });
  save.addEventListener("click", () => download("certificate.json", new Blob([`${JSON.stringify(certificate, null, 2)}\n`], { type: "application/json" })));
  const { holds, reason } = checked.certificate === certificate ? checked : { holds: null };
  const words = holds === null ? t("checking") : holds ? `✓ ${t("checked")}` : t("refused", { reason });
  const tick = element("p", { id: "checked", className: holds ? "checked good" : "checked muted", text: words, title: t("checked_how") });
  return [...(certificate ? [tick] : []), element("div", { className: "row" }, ...(drawable ? [draw] : []), ...(certificate ? [save] : []))];
}

function show() {
  const panel = $("panel-proof");
  const { verdict } = state;
  if (!verdict) {
    panel.replaceChildren(paragraph(state.verdictFailure ? errorWords(state.verdictFailure) : t("waiting"), "muted"));
    return;
  }
  const separable = verdict.status === "separable";
  const kernel = state.settings.method === "kernel";
  const words = separable ? separableLines() : witnessSides().length && !verdict.conflict ? combination() : verdict.witness.length ? weights() : [paragraph(t(`means_${verdict.status}`))];
  const title = element("h2", { text: t(separable ? "why_title_yes" : verdict.status === "undecided" ? "why_title_open" : "why_title_no") });
  const drawable = isPlanar() && (separable ? classCount() === 2 : witnessSides().length > 0);
  const about = kernel ? [paragraph(t("in_features"), "muted small")] : [];
  panel.replaceChildren(title, ...words, ...about, ...ending(drawable));
}

let before = "separable";
on("verdict", () => {
  const { verdict } = state;
  const separable = !verdict || verdict.status === "separable";
  if (state.why.kind === "witness" && separable) unexplain();
  if (state.why.kind === "road" && (!separable || !state.road)) unexplain();
  if (!separable && before === "separable" && !state.why.kind && isPlanar()) pulse();
  before = verdict?.status ?? before;
  if (!$("panel-proof").hidden && isJudged()) check();
  redraw();
});
on("verdict road why words tab", show);
on("tab", () => {
  if ($("panel-proof").hidden) {
    if (state.why.kind) unexplain();
  } else check();
});
