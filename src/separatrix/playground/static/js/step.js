// What happens at this step: in words, then with its numbers.

import { state, on, frames, frameAt, countsAt } from "./state.js";
import { counted, element, errorWords, number, stepKind, t, vector } from "./texts.js";

const card = document.getElementById("step");
const line = (text, className) => element("p", { text, className });

const lifted = (row) => (state.run.lifted ? [...state.shown.rows[row], 1] : state.shown.rows[row]);
const sign = (row) => (state.shown.labels[row] === state.run.classes[1] ? 1 : -1);
const name = (label) => state.shown.classes[label];

function show() {
  const { run, failure } = state;
  if (!run) {
    card.replaceChildren(line(failure ? errorWords(failure) : t("step_none"), failure ? "error" : "muted"));
    return;
  }
  const step = frameAt(state.moment);
  card.replaceChildren(...(!step ? solvedLines(run) : run.units ? unitLines(run, step) : stepLines(run, step)));
}

// The score that a point needs, so that the method leaves the weights as they are.
function level() {
  const { method, margin } = state.settings;
  return method === "passive_aggressive" ? 1 : method === "perceptron" ? margin : 0;
}

function mistakeWords(step) {
  if (stepKind() === "updates") return step.score > 0 ? "step_update_close" : "step_update_wrong";
  return step.score === 0 ? "step_tie" : "step_mistake";
}

function scoreWords({ mistake }) {
  if (state.settings.method === "passive_aggressive") return mistake ? "step_below" : "step_reaches";
  return mistake ? "step_not_above" : "step_above";
}

// What the unit that is shown holds, or the class of the points that no unit holds.
function unitLines({ units, rest, classes }, step) {
  if (step.start) return [line(t("unit_start"))];
  const unit = units[step.made - 1];
  if (unit) return [line(t("unit_holds", { made: step.made, count: unit.rows.length, name: name(classes[unit.label]) }), "lead"), line(t("unit_first"))];
  return [line(t("units_all", { units: counted(units.length) }), "lead right"), line(t("unit_rest", { name: name(classes[rest]) }))];
}

function stepLines(run, step) {
  if (step.start) {
    const weights = run.updates.weights?.[0]?.flat() ?? [0];
    const zero = weights.every((value) => value === 0);
    const kernel = state.settings.method === "kernel";
    return [line(t(kernel ? "step_zero_kernel" : zero ? "step_zero" : "step_start")), line(t("what_score"), "muted"), ...(zero ? [] : [line(`w = ${vector(weights)}`, "math")])];
  }
  const values = { made: step.made, row: step.row + 1, name: name(state.shown.labels[step.row]) };
  const end = state.moment === frames();
  const wide = state.shown.columns.length > 4;
  const lines = [];
  if (end) lines.push(...endLines(run));
  if (!end || step.mistake) {
    lines.push(line(t(step.mistake ? mistakeWords(step) : "step_right", values), `lead ${step.mistake ? "mistake" : "right"}`));
    const score = element("p", { className: "math" }, `${t("step_score")} `, scoreFormula(run, step, wide), ` ${t(scoreWords(step), { level: number(level()) })}`);
    lines.push(score);
    if (step.made <= 1) lines.push(line(t("what_score"), "muted small"));
  }
  if (step.mistake) lines.push(line(t(state.settings.method === "perceptron" ? "step_fix" : `step_fix_${state.settings.method}`), ""), ...updateLines(run, step, wide));
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
    const lines = [line(t("step_kernel", { row: step.row + 1, count }), "math")];
    if (run.classes.length > 2) lines.unshift(line(t("step_taken", { name: name(run.classes[updates.rivals[at]]) })));
    return lines;
  }
  const x = lifted(step.row);
  const [before, after] = [updates.weights[at], updates.weights[at + 1]];
  if (state.settings.method === "winnow") return wide || run.classes.length > 2 ? [] : [line(`w = ${vector(before.flat())}`, "math"), line(`  → ${vector(after.flat())}`, "math")];
  // a passive-aggressive step is as long as it has to be
  const added = after.flat().map((value, k) => value - before.flat()[k]);
  const parts = run.classes.length === 2 ? 1 : 2; // half of the step changes each of two vectors
  const rate = run.theorem ? Math.hypot(...added) / Math.hypot(...x) * Math.sqrt(parts) : state.settings.rate;
  if (run.classes.length === 2) {
    const factor = sign(step.row) * rate;
    const told = Math.abs(factor) === 1 ? (factor > 0 ? "+" : "−") : `${factor > 0 ? "+" : "−"} ${number(Math.abs(factor))}·`;
    const lines = [];
    if (wide) lines.push(line(`w ← w ${told} x`, "math"));
    else lines.push(line(`w ← ${vector(before)} ${told} ${vector(x)}`, "math"), line(`   = ${vector(after)}`, "math"));
    if (state.settings.renormalise) lines.push(line(t("step_unit")));
    return lines;
  }
  const own = run.classes.indexOf(state.shown.labels[step.row]);
  const rival = updates.rivals[at];
  const half = rate === 1 ? "½" : number(rate / 2);
  return [
    line(t("step_taken", { name: name(run.classes[rival]) })),
    line(`w[${name(run.classes[own])}] ← ${vector(before[own])} + ${half}·${vector(x)} = ${vector(after[own])}`, "math"),
    line(`w[${name(run.classes[rival])}] ← ${vector(before[rival])} − ${half}·${vector(x)} = ${vector(after[rival])}`, "math"),
  ];
}

function endLines(run) {
  const reached = run.converged && stepKind() === "updates" ? "ended_right" : `ended_${run.status}`;
  const lines = [line(t(reached), run.converged ? "lead right" : "lead mistake")];
  if (run.errors) lines.push(line(t("errors_left", { count: run.errors, all: state.shown.rows.length })));
  if (run.updates && !run.theorem && !state.settings.margin && state.settings.start === "zeros" && state.settings.average === "last" && run.classes.length === 2) lines.push(line(t("step_sum", { count: run.counts.filter((count) => count > 0).length, all: state.shown.rows.length })));
  if (run.updates && run.model.weights && run.classes.length === 2 && state.shown.columns.length < 5) lines.push(line(equation(run.model.weights), "math"));
  if (state.settings.average === "averaged") lines.push(line(t("shown_average"), "muted small"));
  if (state.settings.average === "voted") lines.push(line(t("shown_vote"), "muted small"));
  return lines;
}

function equation([first, second]) {
  const names = [...state.shown.columns, ""];
  const weights = second.map((value, at) => value - first[at]);
  const written = weights.map((value, at) => (names[at] ? `${number(value, 3)}·${names[at]}` : number(value, 3))).join(" + ").replaceAll("+ −", "− ");
  return t(state.shown.columns.length === 2 ? "solved_line" : "solved_plane", { plane: `${written} = 0` });
}

function solvedLines(run) {
  const { model } = run;
  const lines = [line(t("solved"), "lead")];
  if (model.weights?.length === 2 && state.shown.columns.length < 5) lines.push(line(equation(model.weights), "math"));
  if (model.margin[0] !== null) lines.push(line(t("solved_margin", { low: number(model.margin[0], 6), high: number(model.margin[1], 6) })));
  if (model.objective[1] !== null) lines.push(line(t("solved_objective", { value: number(model.objective[0], 6), bound: number(model.objective[1], 6) })));
  else if (model.objective[0] !== null) lines.push(line(t("solved_value", { value: number(model.objective[0], 6) })));
  lines.push(line(t("solved_support", { count: run.counts.filter((value) => value > 0).length })));
  if (run.errors) lines.push(line(t("errors_left", { count: run.errors, all: state.shown.rows.length })));
  return lines;
}

on("run moment words", show);
