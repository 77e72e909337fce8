// Learners beside the perceptron, one visit after another: passive-aggressive steps (Crammer et al. 2006), and balanced Winnow.

import { MOST_LOOKS } from "./perceptron.js";
import { Generator } from "./random.js";
import { correction, dot, rivalOf, scoreOf, sum } from "./scores.js";

const PATIENCE = 5; // passes whose losses are compared with those before
const TOLERANCE = 1e-3; // by how much their mean loss has to be lower
const ROUNDING = 1e-12; // a score of one, up to rounding

// A learner says which scores make it learn, how large its step on such a row is, what the weights of its state are, and when it
// has ended.
function passiveAggressive({ variant, C }, vectors) {
  const cap = variant === "PA-I" ? vectors * C : Infinity;
  const slack = variant === "PA-II" ? 0.5 / (C * vectors) : 0;
  return {
    learns: (score) => score < 1 - ROUNDING,
    step: (score, x) => (dot(x, x) + slack > 0 ? Math.min(cap, (1 - score) / (dot(x, x) + slack)) : 0),
    weights: (state) => state,
    ended: (losses) => {
      const before = Math.min(...losses.slice(0, -PATIENCE));
      return losses.at(-1) === 0 || Math.min(...losses.slice(-PATIENCE)) > before - TOLERANCE;
    },
  };
}

// Each column has two positive weights, exp(e) and exp(-e); they sum to one, and their difference predicts.
function winnow({ rate }, vectors) {
  return {
    learns: (score) => !(score > 0),
    step: () => rate * vectors,
    weights: (state) => {
      const largest = Math.max(...state.flat().map(Math.abs));
      const pairs = state.map((vector) => vector.map((e) => [Math.exp(e - largest), Math.exp(-e - largest)]));
      const total = sum(pairs.flat(2));
      return pairs.map((vector) => vector.map(([grown, shrunk]) => (grown - shrunk) / total));
    },
    ended: (losses, mistakes) => mistakes.at(-1) === 0,
  };
}

// Visit the rows, pass after pass; the answer has the weights after each update.
export function solveOnline(rows, codes, classes, settings) {
  const vectors = classes === 2 ? 1 : 2; // that a step changes, each by half of it
  const learner = settings.method === "winnow" ? winnow(settings, vectors) : passiveAggressive(settings, vectors);
  const state = Array.from({ length: classes === 2 ? 1 : classes }, () => rows[0].map(() => 0));
  const [states, updates, looks, losses, mistakes] = [[learner.weights(state).map((vector) => [...vector])], [], [], [], []];
  const chance = new Generator(settings.seed);
  const every = rows.map((_, row) => row);
  const full = () => updates.length >= settings.updates;
  let visits = 0;
  let ended = false;
  while (!ended && !full() && losses.length < settings.passes) {
    let [loss, wrong] = [0, 0];
    for (const row of settings.order === "shuffled" ? chance.permutation(every) : every) {
      const outputs = states.at(-1).map((vector) => dot(vector, rows[row]));
      const score = scoreOf(outputs, codes[row]);
      const learns = learner.learns(score);
      if (learns && full()) break;
      loss += learns ? 1 - score : 0;
      wrong += score > 0 ? 0 : 1;
      if (looks.length <= MOST_LOOKS) looks.push({ row, score });
      if (learns) {
        const rival = rivalOf(outputs, codes[row]);
        correction(state.length, codes[row], rival, learner.step(score, rows[row])).forEach((part, code) => {
          if (part) rows[row].forEach((value, at) => { state[code][at] += part * value; });
        });
        updates.push({ row, rival, score, visit: visits });
        states.push(learner.weights(state).map((vector) => [...vector]));
      }
      visits += 1;
    }
    losses.push(loss / rows.length);
    mistakes.push(wrong);
    ended = learner.ended(losses, mistakes);
  }
  const weights = states.at(-1);
  const scores = rows.map((x, row) => scoreOf(weights.map((vector) => dot(vector, x)), codes[row]));
  const errors = scores.filter((score) => !(score > 0)).length;
  const status = errors === 0 ? "separated" : ended ? "settled" : full() ? "update_limit" : "pass_limit";
  return { status, errors, lowest: Math.min(...scores), order: settings.order === "shuffled" ? "shuffled" : "cyclic", visits, looks, updates, states, weights };
}

// What the theorem of the learner bounds, after each update, and its bound at the best separator u (none if there is no separator):
// the squared losses for PA and PA-II, the mistakes for PA-I and Winnow.
export function theoremOf({ method, variant, C, rate }, run, rows, classes, { lower: margin, unit }) {
  const counts = method === "winnow" || variant === "PA-I";
  const values = [0];
  for (const { score } of run.updates) values.push(values.at(-1) + (counts ? Number(!(score > 0)) : (1 - score) ** 2));
  const square = (classes === 2 ? 1 : 2) * Math.max(...rows.map((row) => dot(row, row)));
  const found = { kind: counts ? "mistakes" : "losses", values, bound: null };
  if (!(margin > 1e-12 * Math.sqrt(square))) return found;
  const length = 1 / margin ** 2; // of the u whose lowest score is one, squared
  if (method === "winnow") {
    const gain = rate * (margin / sum(unit.map(Math.abs))) - (rate * Math.max(...rows.flat().map(Math.abs))) ** 2 / 2;
    return { ...found, bound: gain > 0 ? Math.log(2 * unit.length) / gain : null };
  }
  const factor = { PA: square, "PA-I": Math.max(square, 1 / C), "PA-II": square + 0.5 / C }[variant];
  return { ...found, bound: factor * length };
}
