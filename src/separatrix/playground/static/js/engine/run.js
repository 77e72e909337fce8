// A run with every step, as the page draws it.

import { largestMargin } from "./nearest.js";
import { MOST_LOOKS, solvePerceptron } from "./perceptron.js";
import { script } from "./python.js";
import { Refusal } from "./refusal.js";
import { lifted, readPoints } from "./requests.js";
import { correction, dot, norm, scoreOf, sum, winner } from "./scores.js";

const finite = (value) => (Number.isFinite(value) ? value : null);
const SAFE = 1 + 1e-12; // covers the rounding of a few operations

export function runPerceptron({ data, settings, live }) {
  if (settings.average !== "last" && settings.order === "worst") throw new Refusal("library", "Averaging needs an order that visits every row: 'cyclic' or 'shuffled'. Got 'worst' instead.");
  if (settings.average !== "last" && settings.renormalise) throw new Refusal("library", "renormalise=True and average cannot be combined: the mean is kept as a sum of updates, which renormalising rescales. Choose one of the two.");
  const points = readPoints(data);
  const rows = lifted(points.rows, settings.lift);
  const classes = points.present.length;
  const run = solvePerceptron(rows, points.codes, classes, settings);
  const model = run.average ?? run.weights;
  const predicted = rows.map((row) => winner(model.map((vector) => dot(vector, row))));
  const updates = replay(run, rows, points.codes, settings);
  const proof = live ? null : lengthBounds(run, rows, points.codes, classes, settings);
  if (proof?.unit && !settings.renormalise) updates.progress = updates.states.map((state) => dot(state.flat(), proof.unit));
  const counts = rows.map(() => 0);
  for (const { row } of run.updates) counts[row] += 1;
  const wide = (vector) => (settings.lift ? vector : [...vector, 0]);
  const planes = (vectors) => (classes === 2 ? [[0, 0, 0], wide(vectors[0])] : vectors.map(wide));
  return {
    status: run.status,
    converged: run.status === "separated",
    mistakes: run.mistakes,
    errors: run.errors,
    classes: points.present,
    lifted: settings.lift,
    view: { labels: data.columns, places: points.rows, flat: true, exact: true },
    model: {
      planes: planes(model),
      weights: planes(model),
      margin: marginOf(run, rows, classes, settings),
      objective: [null, null],
      predicted,
      lowest: Math.min(...rows.map((row, at) => scoreOf(model.map((vector) => dot(vector, row)), points.codes[at]))),
      margin_planes: false,
    },
    updates: told(updates, planes),
    visits: live ? null : looksOf(run),
    proof: proof && proof.told,
    field: null,
    counts,
    code: live ? "" : script(data, settings),
  };
}

// Repeat the updates, and record what the weights after each of them prove.
function replay(run, rows, codes, settings) {
  const states = [run.start.map((vector) => [...vector])];
  const scores = [];
  for (const { row, rival } of run.updates) {
    const weights = states.at(-1).map((vector) => [...vector]);
    scores.push(scoreOf(weights.map((vector) => dot(vector, rows[row])), codes[row]));
    correction(weights.length, codes[row], rival, settings.rate).forEach((step, code) => {
      if (step) for (let at = 0; at < rows[row].length; at += 1) weights[code][at] += step * rows[row][at];
    });
    if (settings.renormalise) {
      const length = norm(weights);
      if (length > 0) weights.forEach((vector, code) => { weights[code] = vector.map((value) => value / length); });
    }
    states.push(weights);
  }
  const signed = states.map((weights) => rows.map((row, at) => scoreOf(weights.map((vector) => dot(vector, row)), codes[at])));
  return {
    run,
    states,
    scores,
    squares: states.map((weights) => sum(weights.map((vector) => dot(vector, vector)))),
    lowest: signed.map((each) => Math.min(...each)),
    errors: signed.map((each) => each.filter((score) => !(score > 0)).length),
    step: settings.rate / (states[0].length === 1 ? 1 : 2),
    whole: !settings.renormalise && states[0].flat().every((value) => value === 0),
    progress: null,
  };
}

// The bracket of the best margin as known after each update: the weights prove its lower end, their number the upper.
export function bracket({ squares, lowest, step, whole }) {
  const lower = [], upper = [];
  squares.forEach((square, at) => {
    const low = square > 0 ? lowest[at] / Math.sqrt(square) : -Infinity;
    const high = whole && at > 0 ? Math.sqrt(square) / (at * step) : Infinity;
    lower.push(Math.max(low, lower.at(-1) ?? -Infinity));
    upper.push(Math.min(high, upper.at(-1) ?? Infinity));
  });
  return { lower: lower.map(finite), upper: upper.map(finite) };
}

function told(updates, planes) {
  const { run, states, scores, squares, lowest, errors, progress } = updates;
  return {
    rows: run.updates.map(({ row }) => row),
    rivals: run.updates.map(({ rival }) => rival),
    scores,
    weights: states.map((state) => (state.length === 1 ? state[0] : state)),
    planes: states.map(planes),
    squares,
    progress,
    lowest,
    ...bracket(updates),
    errors,
  };
}

export function looksOf({ order, looks, updates }) {
  if (!["cyclic", "shuffled"].includes(order) || looks.length > MOST_LOOKS) return null;
  let made = 0;
  const before = looks.map((_, at) => {
    while (made < updates.length && updates[made].visit < at) made += 1;
    return made;
  });
  return { rows: looks.map(({ row }) => row), scores: looks.map(({ score }) => score), updates: before };
}

function marginOf(run, rows, classes, settings) {
  const length = norm(run.weights);
  const lower = length > 0 ? run.lowest / length : 0;
  const mass = settings.rate * run.updates.length;
  const radius = Math.sqrt(Math.max(...rows.map((row) => dot(row, row))));
  if (mass === 0) return [lower, radius * (classes === 2 ? 1 : Math.SQRT2)];
  const moved = run.weights.map((vector, code) => vector.map((value, at) => value - run.start[code][at]));
  const total = settings.renormalise ? totalOf(run, rows, classes, settings) : moved;
  return [lower, norm(total) / (classes === 2 ? mass : mass / 2)];
}

function totalOf(run, rows, classes, settings) {
  const total = run.weights.map((vector) => vector.map(() => 0));
  for (const { row, rival } of run.updates) {
    correction(total.length, run.codes[row], rival, settings.rate).forEach((step, code) => rows[row].forEach((value, at) => { total[code][at] += step * value; }));
  }
  return total;
}

// The theorems' bound on the mistakes, at the largest margin; `unit` is the best separator of length one.
function lengthBounds(run, rows, codes, classes, settings) {
  const many = classes > 2;
  const radius = Math.sqrt(Math.max(...rows.map((row) => dot(row, row))));
  const { lower: margin, unit } = largestMargin(rows, codes, classes);
  const start = norm(run.start);
  const separable = margin > 1e-12 * radius;
  const proof = { bound: null, name: "", start, radius: settings.rate * radius / (many ? Math.SQRT2 : 1), margin: null };
  if (!separable) return { told: proof };
  const reach = (many ? Math.SQRT2 / 2 : 1) * settings.rate * radius; // of an update
  const gain = (many ? 0.5 : 1) * settings.rate * margin;
  if (settings.renormalise) {
    const more = (1 + gain) / Math.sqrt(1 + reach ** 2) - 1;
    if (more > 0 && start === 0) Object.assign(proof, { bound: SAFE * (1 + (1 - gain / reach) / more), name: "renormalised" });
    return { told: { ...proof, radius: null } };
  }
  proof.margin = gain;
  if (start === 0) Object.assign(proof, { bound: SAFE * (reach / gain) ** 2, name: "Novikoff" });
  else {
    const along = dot(run.start.flat(), unit);
    const middle = reach ** 2 - 2 * along * gain;
    const root = Math.sqrt(middle ** 2 + 4 * gain ** 2 * Math.max(0, start ** 2 - along ** 2));
    Object.assign(proof, { bound: SAFE * Math.max(0, (middle + root) / (2 * gain ** 2)), name: "any start" });
  }
  return { told: proof, unit };
}
