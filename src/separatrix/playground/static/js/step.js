// What happens at this step: the point, its score, the update as a formula with its numbers.

import { state, on, frames, frameAt } from "./state.js";
import { countsAt } from "./picture.js";
import { coordinates, element, errorWords, number, t, vector } from "./texts.js";

const card = document.getElementById("step");
const line = (text, className) => element("p", { text, className });

const lifted = (row) => (state.run.lifted ? [...state.data.rows[row], 1] : state.data.rows[row]);
const sign = (row) => (state.data.labels[row] === state.run.classes[1] ? 1 : -1);
const name = (label) => state.data.classes[label];

function show() {
  const { run, failure } = state;
  if (!run) {
    card.replaceChildren(line(failure ? errorWords(failure) : t("step_none"), failure ? "error" : "muted"));
    return;
  }
  const step = frameAt(state.moment);
  card.replaceChildren(...(step ? stepLines(run, step) : solvedLines(run)));
}

function stepLines(run, step) {
  if (step.start) {
    const weights = run.updates.weights?.[0]?.flat() ?? [0];
    const zero = weights.every((value) => value === 0);
    return [line(zero ? t("step_zero") : t("step_start", { w: vector(weights) }))];
  }
  const label = state.data.labels[step.row];
  const lines = [line(t("step_row", { row: step.row, name: name(label), at: coordinates(state.data.rows[step.row]) }))];
  const wide = state.data.columns.length > 4;
  const score = element("p", { className: "math" });
  score.append(t("step_score", { score: "" }).trimEnd(), " ", scoreFormula(run, step, wide), " ");
  score.append(element("span", { className: step.mistake ? "mistake" : "right", text: t(step.mistake ? "step_mistake" : "step_right") }));
  lines.push(score);
  if (step.mistake) lines.push(...updateLines(run, step, wide));
  if (state.moment === frames()) lines.push(...endLines(run));
  return lines;
}

function scoreFormula(run, step, wide) {
  const value = element("b", { text: number(step.score) });
  const out = element("span");
  const x = lifted(step.row);
  if (run.updates.weights && run.classes.length === 2 && !wide) {
    const w = run.updates.weights[step.before];
    out.append(`y⟨w, x⟩ = ${sign(step.row) > 0 ? "" : "−"}(${w.map((each, at) => `${number(each, 3)}·${number(x[at], 3)}`).join(" + ")}) = `);
  } else if (!run.updates.weights) {
    out.append(run.classes.length === 2 ? "y Σ aᵢ yᵢ K(xᵢ, x) = " : "");
  }
  out.append(value);
  return out;
}

function updateLines(run, step, wide) {
  const { updates } = run;
  const at = step.before;
  if (!updates.weights) {
    const count = countsAt(step.made)[step.row];
    const lines = [line(t("step_kernel", { row: step.row, count }), "math")];
    if (run.classes.length > 2) lines.unshift(line(t("step_taken", { name: name(run.classes[updates.rivals[at]]) })));
    return lines;
  }
  const x = lifted(step.row);
  const rate = state.settings.rate;
  const [before, after] = [updates.weights[at], updates.weights[at + 1]];
  if (run.classes.length === 2) {
    const factor = sign(step.row) * rate;
    const told = Math.abs(factor) === 1 ? (factor > 0 ? "+" : "−") : `${factor > 0 ? "+" : "−"} ${number(Math.abs(factor))}·`;
    const lines = [];
    if (wide) lines.push(line(`w ← w ${told} x`, "math"));
    else lines.push(line(`w ← ${vector(before)} ${told} ${vector(x)}`, "math"), line(`   = ${vector(after)}`, "math"));
    if (state.settings.renormalise) lines.push(line(t("step_unit")));
    return lines;
  }
  const own = run.classes.indexOf(state.data.labels[step.row]);
  const rival = updates.rivals[at];
  const half = rate === 1 ? "½" : number(rate / 2);
  return [
    line(t("step_taken", { name: name(run.classes[rival]) })),
    line(`w[${name(run.classes[own])}] ← ${vector(before[own])} + ${half}·${vector(x)} = ${vector(after[own])}`, "math"),
    line(`w[${name(run.classes[rival])}] ← ${vector(before[rival])} − ${half}·${vector(x)} = ${vector(after[rival])}`, "math"),
  ];
}

function endLines(run) {
  const lines = [line(t(`ended_${run.status}`))];
  if (run.errors) lines.push(line(t("errors_left", { count: run.errors, all: state.data.rows.length })));
  if (state.settings.average === "averaged") lines.push(line(t("shown_average"), "muted small"));
  if (state.settings.average === "voted") lines.push(line(t("shown_vote"), "muted small"));
  return lines;
}

function solvedLines(run) {
  const { model } = run;
  const lines = [line(t("solved"))];
  if (model.weights) {
    const names = [...state.data.columns, ""];
    const written = (weights) => weights.map((value, at) => (names[at] ? `${number(value)}·${names[at]}` : number(value))).join(" + ").replaceAll("+ −", "− ");
    if (model.weights.length === 2 && names.length <= 5) {
      lines.push(line(t("solved_plane", { plane: `${written(model.weights[1].map((value, at) => value - model.weights[0][at]))} = 0` }), "math"));
    }
  }
  if (model.margin[0] !== null) lines.push(line(t("solved_margin", { low: number(model.margin[0], 6), high: number(model.margin[1], 6) })));
  if (model.objective[1] !== null) lines.push(line(t("solved_objective", { value: number(model.objective[0], 6), bound: number(model.objective[1], 6) })));
  else if (model.objective[0] !== null) lines.push(line(t("solved_value", { value: number(model.objective[0], 6) })));
  lines.push(line(t("solved_support", { count: run.counts.filter((value) => value > 0).length })));
  if (run.errors) lines.push(line(t("errors_left", { count: run.errors, all: state.data.rows.length })));
  return lines;
}

on("run moment words", show);
