// The verdict strip: one sentence, live while points are moved, never blank; and the question "Why?".

import { state, on, classCount, frameAt, frames, isJudged } from "./state.js";
import { errorWords, counted, say, t, whole } from "./texts.js";
import { explain } from "./proof.js";

const $ = (id) => document.getElementById(id);
const SHAPES = {
  separable: "M3 23L23 3M5 6a3 3 0 1 0 6 0 3 3 0 1 0-6 0M15 17h6v6h-6z",
  "quasi-separable": "M3 23L23 3M10 13a3 3 0 1 0 6 0 3 3 0 1 0-6 0M16 17h6v6h-6z",
  overlapping: "M3 13a7 7 0 1 0 14 0 7 7 0 1 0-14 0M10 7h13v13H10z",
  inseparable: "M3 13a7 7 0 1 0 14 0 7 7 0 1 0-14 0M10 7h13v13H10z",
  undecided: "M8 9a5 5 0 1 1 7 5c-2 1-2 2-2 4M13 22v1",
  none: "M13 6v9M13 19v1",
};

// What separates: a line, a line through the origin, a curve of the kernel, or weights of several classes.
function separator() {
  const { columns } = state.judged ?? state.data;
  if (classCount() > 2) return "weights";
  if (state.settings.method === "kernel") return "curve";
  if (columns.length > 2) return state.settings.lift ? "plane" : "plane_origin";
  return state.settings.lift ? "line" : "line_origin";
}

function sentence(verdict) {
  const what = t(`what_${separator()}`);
  if (verdict.status === "quasi-separable" && classCount() > 2) return t("says_joint_quasi");
  if (verdict.status !== "separable") return t(`says_${verdict.status}`, { what });
  const { run } = state;
  if (!run?.updates) return t("says_separable", { what });
  const bound = run.proof?.bound ?? null;
  const step = frameAt(state.moment);
  const end = state.moment >= frames();
  const values = { what, mistakes: counted(end ? run.mistakes : step.made, end), bound: bound === null ? "" : whole(bound) };
  if (end && !run.converged) return t("says_unfinished", values);
  return t(`says_${end ? "separated" : "learning"}${bound === null ? "" : "_bound"}`, values);
}

export function strip() {
  const { verdict } = state;
  const failure = state.failure?.code === "gone" || !verdict ? (state.verdictFailure ?? state.failure) : null;
  if (failure) return { kind: "none", words: errorWords(failure) };
  if (!verdict) return { kind: "none", words: t("waiting") };
  return { kind: verdict.status, words: sentence(verdict) };
}

let said = "";

function show() {
  const { kind, words } = strip();
  const box = $("strip");
  box.className = `strip ${kind}${isJudged() || kind === "none" ? "" : " old"}`;
  $("strip-shape").setAttribute("d", SHAPES[kind]);
  $("strip-words").textContent = words;
  const proved = state.verdict?.certificate && kind !== "none";
  $("strip-proved").textContent = proved ? t("proved_exactly") : kind === "none" || kind === "undecided" ? "" : t("proved_otherwise");
  $("why").hidden = kind === "none" || kind === "undecided";
  if (kind !== said && kind !== "none") say(words);
  said = kind;
}

$("why").addEventListener("click", () => explain());

on("verdict run data moment words", show);
