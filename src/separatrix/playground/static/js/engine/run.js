// A run with every step, as the page draws it.

import { fieldOf } from "./field.js";
import { kernelMargin } from "./kernel_margin.js";
import { solveKernelPerceptron } from "./kernel_perceptron.js";
import { kernelOf, needRange } from "./kernels.js";
import { largestMargin, widestRoad } from "./nearest.js";
import { growNetwork } from "./network.js";
import { solveOnline, theoremOf } from "./online.js";
import { MOST_LOOKS, solvePerceptron } from "./perceptron.js";
import { Refusal } from "./refusal.js";
import { lifted, readPoints } from "./requests.js";
import { correction, dot, norm, scoreOf, signedScore, sum, winner } from "./scores.js";
import { statusOf } from "./separability.js";
import { averagedCoefficients, voteOf } from "./votes.js";

const SAFE = 1 + 1e-12; // covers the rounding of a few operations
const MOST_STATES = 1 << 22; // coefficients of a kernel, over all steps, up to which every step is computed
const MOST_KERNEL_ROWS = 400; // the largest margin of more rows in feature space takes long

const CLOSE = 1e-7; // how far apart the bounds of the margin may be
const NARROW = 1e-12; // below this share of the coordinates, a margin may be a rounding error

const finite = (value) => (Number.isFinite(value) ? value : null);

// What every answer has; the rest differs by method.
function answerOf({ data, settings }, points, run, rest) {
  return {
    status: run.status,
    converged: run.status === "separated",
    mistakes: run.mistakes ?? run.updates.length,
    errors: run.errors ?? null,
    classes: points.present,
    lifted: settings.lift,
    view: { labels: data.columns, places: points.rows, flat: true, exact: true },
    updates: null,
    visits: null,
    proof: null,
    field: null,
    ...rest,
  };
}

function modelOf(points, scores, { weights = null, margin = [null, null], road = false }) {
  const outputs = points.rows.map(scores);
  return {
    planes: weights,
    weights,
    margin: margin.map(finite),
    objective: [null, null],
    predicted: outputs.map(winner),
    lowest: weights && Math.min(...outputs.map((each, at) => scoreOf(each, points.codes[at]))),
    margin_planes: road,
  };
}

function countsOf(points, updates) {
  const counts = points.rows.map(() => 0);
  for (const { row } of updates) counts[row] += 1;
  return counts;
}

function needAverage({ average, order, renormalise }) {
  if (average !== "last" && order === "worst") throw new Refusal("library", "Averaging needs an order that visits every row: 'cyclic' or 'shuffled'. Got 'worst' instead.");
  if (average !== "last" && renormalise) throw new Refusal("library", "renormalise=True and average cannot be combined: the mean is kept as a sum of updates, which renormalising rescales. Choose one of the two.");
}

export function runPerceptron(request) {
  const { data, settings, box, live } = request;
  needAverage(settings);
  const points = readPoints(data);
  const { codes } = points;
  const rows = lifted(points.rows, settings.lift);
  const classes = points.present.length;
  const run = solvePerceptron(rows, codes, classes, settings, !live);
  const steps = replay(run, rows, codes, settings);
  const proof = live ? null : lengthBounds(run, rows, codes, classes, settings);
  const last = run.average ?? run.weights;
  const vote = voteOf(run, codes, settings.rate);
  const voted = (place) => {
    const [x] = lifted([place], settings.lift);
    return vote(rows.map((other) => dot(other, x)), run.start.map((vector) => dot(vector, x)));
  };
  const answer = linearAnswer(request, points, run, steps, { last, proof, margin: marginOf(run, rows, classes, settings) });
  if (settings.average !== "voted") return answer;
  return { ...answer, model: modelOf(points, voted, { margin: answer.model.margin }), field: box ? fieldOf(box, voted, null) : null };
}

// The answer about a run whose steps are weights, of which the last ones predict.
function linearAnswer(request, points, run, steps, { last, proof, margin, theorem = null }) {
  const { settings: { lift }, live } = request;
  const linear = (place) => last.map((vector) => dot(vector, lifted([place], lift)[0]));
  const wide = (vector) => (lift ? vector : [...vector, 0]);
  const planes = (vectors) => (vectors.length === 1 ? [[0, 0, 0], wide(vectors[0])] : vectors.map(wide));
  return answerOf(request, points, run, {
    model: modelOf(points, linear, { weights: planes(last), margin }),
    updates: {
      ...told(run, steps),
      weights: steps.states.map((state) => (state.length === 1 ? state[0] : state)),
      planes: steps.states.map(planes),
      progress: proof?.unit ? steps.states.map((state) => dot(state.flat(), proof.unit)) : null,
    },
    visits: live ? null : looksOf(run),
    proof: proof && proof.told,
    theorem,
    counts: countsOf(points, run.updates),
  });
}

// Passive-aggressive learning and Winnow: what their theorems bound comes with the run.
export function runOnline(request) {
  const { data, settings, live } = request;
  const points = readPoints(data);
  const rows = lifted(points.rows, settings.lift);
  const classes = points.present.length;
  const run = solveOnline(rows, points.codes, classes, settings);
  const steps = { ...measured(run.states, rows, points.codes), states: run.states, scores: run.updates.map(({ score }) => score), step: 1, whole: false };
  const margin = [run.lowest / norm(run.weights), Infinity];
  if (live) return linearAnswer(request, points, run, steps, { last: run.weights, proof: null, margin });
  const theorem = theoremOf(settings, run, rows, classes, largestMargin(rows, points.codes, classes));
  if (theorem.bound !== null) theorem.bound *= SAFE;
  const told = { bound: settings.method === "winnow" ? theorem.bound : null, name: settings.method, start: 0, radius: null, margin: null };
  return linearAnswer(request, points, run, steps, { last: run.weights, proof: { told }, margin, theorem });
}

// A network of perceptrons: the first half-plane that holds a point gives it its class.
export function runNetwork(request) {
  const points = readPoints(request.data);
  const { units, rest } = growNetwork(points);
  const counts = points.rows.map(() => 0); // the number of its unit, from 1
  units.forEach(({ rows }, at) => { for (const row of rows) counts[row] = at + 1; });
  return answerOf(request, points, { status: "solved", mistakes: 0, updates: [], errors: 0 }, {
    converged: true,
    model: { planes: null, weights: null, margin: [null, null], objective: [null, null], predicted: counts.map((at) => units[at - 1]?.label ?? rest), lowest: null, margin_planes: false },
    units,
    rest,
    counts,
  });
}

export function runKernel(request) {
  const { data, settings, box, live } = request;
  if (["worst", "working_set"].includes(settings.order)) throw new Refusal("kernel_order", "The kernel perceptron visits rows in turn or shuffled.");
  const points = readPoints(data);
  const { codes, rows } = points;
  const classes = points.present.length;
  const kernel = kernelOf(settings.kernel);
  needRange(kernel, rows);
  if (box) needRange(kernel, [box.left, box.right].flatMap((x) => [box.bottom, box.top].map((y) => [x, y])));
  const one = settings.lift ? 1 : 0;
  const values = rows.map((x) => rows.map((y) => kernel.at(x, y) + one));
  const run = solveKernelPerceptron(values, codes, classes, settings);
  run.errors = run.status === "separated" ? 0 : null;
  const steps = kernelSteps(run, values, codes, classes, live);
  const proof = live ? null : kernelBounds(run, values, kernel, points, settings, steps.large);
  const coefficients = settings.average === "averaged" ? averagedCoefficients(run, codes) : run.coefficients;
  const outputs = (near) => coefficients[run.support[0]].map((_, code) => run.support.reduce((total, row) => total + coefficients[row][code] * near[row], 0));
  const vote = voteOf(run, codes, 1);
  const scores = (place) => {
    const near = [];
    for (const row of run.support) near[row] = kernel.at(rows[row], place) + one;
    return settings.average === "voted" ? vote(near, classes === 2 ? [0] : points.present.map(() => 0)) : outputs(near);
  };
  return answerOf(request, points, run, {
    model: modelOf(points, scores, { margin: run.margin }),
    updates: { ...told(run, steps), weights: null, planes: null, progress: proof?.progress ?? null },
    visits: steps.states ? looksOf(run) : null,
    proof: proof && proof.told,
    field: box ? fieldOf(box, scores, steps.states && { ...steps, kernel: (row, place) => kernel.at(rows[row], place) + one }) : null,
    counts: countsOf(points, run.updates),
  });
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
    const length = settings.renormalise ? norm(weights) : 0;
    states.push(length > 0 ? weights.map((vector) => vector.map((value) => value / length)) : weights);
  }
  return {
    ...measured(states, rows, codes),
    states,
    scores,
    step: settings.rate / (states[0].length === 1 ? 1 : 2),
    whole: !settings.renormalise && states[0].flat().every((value) => value === 0),
  };
}

// What each of these weights proves: their squared length, the lowest score, and the number of rows that are not right.
function measured(states, rows, codes) {
  const lowest = [], errors = [];
  for (const weights of states) {
    let least = Infinity, wrong = 0;
    for (let at = 0; at < rows.length; at += 1) {
      const score = signedScore(weights, rows[at], codes[at]);
      least = Math.min(least, score);
      if (!(score > 0)) wrong += 1;
    }
    lowest.push(least);
    errors.push(wrong);
  }
  return { squares: states.map((weights) => sum(weights.map((vector) => dot(vector, vector)))), lowest, errors };
}

// The same for a kernel: the states are the coefficients of the support, in the order of the rows, in one list.
function kernelSteps(run, values, codes, classes, live) {
  const columns = classes === 2 ? 1 : classes;
  const many = columns > 1 ? 2 : 1; // with several classes, an update adds half of the row to two of them
  const support = [...run.support].sort((a, b) => a - b);
  const length = support.length * columns;
  const large = (run.updates.length + 1) * support.length * classes > MOST_STATES;
  const states = live || large ? null : new Float32Array((run.updates.length + 1) * length);
  const outputs = codes.map(() => new Array(columns).fill(0));
  const scores = [], squares = [0], lowest = [0], errors = [codes.length];
  run.updates.forEach(({ row, rival }, made) => {
    const score = scoreOf(outputs[row], codes[row]);
    scores.push(score);
    const parts = correction(columns, codes[row], rival, 1);
    squares.push(Math.max(0, squares.at(-1) + (2 * score + values[row][row]) / many));
    let least = Infinity, wrong = 0;
    for (let other = 0; other < codes.length; other += 1) {
      for (let code = 0; code < columns; code += 1) outputs[other][code] += parts[code] * values[row][other];
      const signed = scoreOf(outputs[other], codes[other]);
      least = Math.min(least, signed);
      if (!(signed > 0)) wrong += 1;
    }
    lowest.push(least);
    errors.push(wrong);
    if (states) {
      states.copyWithin((made + 1) * length, made * length, (made + 1) * length);
      const place = (made + 1) * length + support.indexOf(row) * columns;
      for (let code = 0; code < columns; code += 1) states[place + code] += parts[code];
    }
  });
  const unknown = squares.map(() => null);
  if (large) return { scores, squares: unknown, lowest: unknown, errors: null, states, support, large, whole: false, step: 1 };
  return { scores, squares, lowest, errors, states, support, large, whole: true, step: 1 / many };
}

function told(run, steps) {
  const { scores, squares, lowest, errors } = steps;
  return { rows: run.updates.map(({ row }) => row), rivals: run.updates.map(({ rival }) => rival), scores, squares, lowest, ...bracket(steps), errors };
}

// The bracket of the best margin as known after each update: the weights prove its lower end, their number the upper.
function bracket({ squares, lowest, step, whole }) {
  const lower = [], upper = [];
  squares.forEach((square, at) => {
    const low = square > 0 ? lowest[at] / Math.sqrt(square) : -Infinity;
    const high = whole && at > 0 ? Math.sqrt(square) / (at * step) : Infinity;
    lower.push(Math.max(low, lower.at(-1) ?? -Infinity));
    upper.push(Math.min(high, upper.at(-1) ?? Infinity));
  });
  return { lower: lower.map(finite), upper: upper.map(finite) };
}

function looksOf({ order, looks, updates }) {
  if (!["cyclic", "shuffled"].includes(order) || looks.length > MOST_LOOKS) return null;
  let made = 0;
  const before = looks.map((_, at) => {
    while (made < updates.length && updates[made].visit < at) made += 1;
    return made;
  });
  return { rows: looks.map(({ row }) => row), scores: looks.map(({ score }) => score), updates: before };
}

// The bracket of the best margin that the last weights and the counts prove.
function marginOf(run, rows, classes, settings) {
  const length = norm(run.weights);
  const lower = length > 0 ? run.lowest / length : 0;
  const mass = settings.rate * run.updates.length;
  const radius = Math.sqrt(Math.max(...rows.map((row) => dot(row, row))));
  if (mass === 0) return [lower, radius * (classes === 2 ? 1 : Math.SQRT2)];
  const total = run.weights.map((vector, code) => vector.map((value, at) => (settings.renormalise ? 0 : value - run.start[code][at])));
  if (settings.renormalise) {
    for (const { row, rival } of run.updates) {
      correction(total.length, run.codes[row], rival, settings.rate).forEach((step, code) => rows[row].forEach((value, at) => { total[code][at] += step * value; }));
    }
  }
  return [lower, norm(total) / (classes === 2 ? mass : mass / 2)];
}

// The theorems' bound on the mistakes, at the largest margin; `unit` is the best separator of length one.
function lengthBounds(run, rows, codes, classes, settings) {
  const many = classes > 2;
  const radius = Math.sqrt(Math.max(...rows.map((row) => dot(row, row))));
  const { lower: margin, unit } = largestMargin(rows, codes, classes);
  const start = norm(run.start);
  const reach = Math.sqrt(((settings.rate * radius) ** 2 + 2 * settings.margin * settings.rate) / (many ? 2 : 1)); // of an update
  const gain = (many ? 0.5 : 1) * settings.rate * margin;
  const proof = { bound: null, name: "", start, radius: settings.renormalise ? null : reach, margin: null };
  if (!(margin > 1e-12 * radius)) return { told: proof };
  if (settings.renormalise) {
    const more = (1 + gain) / Math.sqrt(1 + reach ** 2) - 1;
    const known = more > 0 && start === 0;
    return { told: known ? { ...proof, bound: SAFE * (1 + (1 - gain / reach) / more), name: "renormalised" } : proof };
  }
  if (start === 0) return { told: { ...proof, bound: SAFE * (reach / gain) ** 2, name: "Novikoff", margin: gain }, unit };
  const along = dot(run.start.flat(), unit);
  const middle = reach ** 2 - 2 * along * gain;
  const root = Math.sqrt(middle ** 2 + 4 * gain ** 2 * Math.max(0, start ** 2 - along ** 2));
  return { told: { ...proof, bound: SAFE * Math.max(0, (middle + root) / (2 * gain ** 2)), name: "any start", margin: gain }, unit };
}

// Novikoff's bound in feature space, if the run separated the rows, and the progress of its weights toward the best separator.
function kernelBounds(run, values, kernel, points, settings, large) {
  const { present, codes, rows } = points;
  const many = present.length > 2 ? 2 : 1;
  const radius = Math.sqrt(Math.max(...values.map((row, at) => row[at])));
  const proof = { bound: null, name: "", start: 0, radius: radius / Math.sqrt(many), margin: null };
  if (run.status !== "separated" || rows.length > MOST_KERNEL_ROWS) return { told: proof };
  const { lower, upper, shares, signed } = kernelMargin(kernel, points, settings.lift);
  if (!(lower > 1e-12 * radius)) return { told: proof };
  const bounded = { ...proof, bound: SAFE * many * (radius / lower) ** 2, name: "Novikoff", margin: lower / many };
  if (large) return { told: bounded };
  const columns = signed[0].signs.length;
  const along = (row, code) => signed.reduce((total, { row: other, signs }, at) => total + shares[at] * signs[code] * values[row][other], 0) / upper;
  const progress = [0];
  for (const { row, rival } of run.updates) progress.push(progress.at(-1) + sum(correction(columns, codes[row], rival, 1).map((part, code) => part && part * along(row, code))));
  return { told: bounded, progress };
}

// The largest margin of two classes: by their two hulls, or with the intercept counted in the length of the weights.
export function runMaxMargin(request) {
  const { data, settings } = request;
  const points = readPoints(data);
  if (points.present.length > 2) return undefined;
  const { codes } = points;
  const found = settings.lift && settings.intercept === "free" ? byHulls(points) : byNearest(lifted(points.rows, settings.lift), codes);
  if (!found.sure) {
    if (statusOf(points, settings.lift) === "separable") return undefined; // by a margin that is too small for floats
    throw new Refusal("not_separable", settings.lift ? "No line separates them." : "No line through the origin separates them.");
  }
  const scores = (place) => [dot(found.weights, settings.lift ? [...place, 1] : place)];
  const errors = points.rows.filter((place, at) => winner(scores(place)) !== codes[at]).length;
  const weights = [[0, 0, 0], settings.lift ? found.weights : [...found.weights, 0]];
  return answerOf(request, points, { status: "solved", mistakes: 0, errors }, {
    converged: true,
    model: modelOf(points, scores, { weights, margin: found.margin, road: true }),
    counts: found.multipliers,
  });
}

const isSure = ({ lower, upper }, rows) => lower > NARROW * Math.max(...rows.flat().map(Math.abs)) && upper - lower <= CLOSE * upper;

// Weights whose smallest score is one.
function byHulls({ rows, codes }) {
  const road = widestRoad(rows, codes);
  const scale = 2 / road.gap;
  return {
    sure: isSure(road, rows),
    weights: [...road.nearest.map((value) => value * scale), -road.middle * scale],
    margin: [road.lower, road.upper],
    multipliers: road.multipliers.map((share) => share * scale),
  };
}

function byNearest(rows, codes) {
  const { lower, upper, unit, corral, shares } = largestMargin(rows, codes, 2);
  const multipliers = rows.map(() => 0);
  corral.forEach(({ row }, at) => { multipliers[row] = shares[at] / (upper * lower); });
  return { sure: isSure({ lower, upper }, rows), weights: unit.map((value) => value / lower), margin: [lower, upper], multipliers };
}
