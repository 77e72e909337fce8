// Rosenblatt's perceptron: add every misclassified row to the weights until no row is misclassified. With a margin b, a row is
// added until its score is above b.

import { Generator } from "./random.js";
import { correction, dot, norm, rivalOf, signedScore } from "./scores.js";

export const MOST_LOOKS = 50_000; // visits to rows that an answer lists one by one
const CLOSING = 10; // passes at the end of a run on a working set that found no separator
const ENOUGH = 1000; // updates on a working set between two scans of all rows

class Learner {
  constructor(rows, codes, classes, settings, chance, listing) {
    const outputs = classes === 2 ? 1 : classes;
    Object.assign(this, { rows, codes, outputs, settings, listing });
    this.start = Array.from({ length: outputs }, () => rows[0].map(() => (settings.start === "random" ? chance.normal() : 0)));
    this.weights = this.start.map((vector) => [...vector]);
    this.sums = this.weights.map((vector) => vector.map(() => 0)); // of updates times their visits, for the average
    this.updates = []; // row, rival and visit of each
    this.visits = 0;
    this.looks = []; // row and score of each visit
    this.history = 0; // passes and scans
    this.latest = null; // the last reading of all rows under the same weights
    this.best = null;
    this.cycle = false;
    this.kept = null;
    this.whole = rows.map((row) => row.every(Number.isInteger));
  }

  get full() {
    return this.updates.length >= this.settings.updates;
  }

  stopped(early = 0) {
    return this.history + early >= this.settings.passes || this.full || this.cycle;
  }

  score(row) {
    return signedScore(this.weights, this.rows[row], this.codes[row]);
  }

  correct(row, visit) {
    const x = this.rows[row];
    const rival = rivalOf(this.weights.map((vector) => dot(vector, x)), this.codes[row]);
    correction(this.outputs, this.codes[row], rival, this.settings.rate).forEach((step, code) => {
      if (!step) return;
      for (let at = 0; at < x.length; at += 1) {
        this.weights[code][at] += step * x[at];
        this.sums[code][at] += step * visit * x[at];
      }
    });
    this.updates.push({ row, rival, visit });
    if (this.settings.renormalise) scale(this.weights);
  }

  // Visit the rows in this order; return whether all were visited without a mistake.
  pass(order) {
    const before = this.updates.length;
    let lowest = Infinity;
    let seen = 0;
    for (const row of order) {
      const score = this.score(row);
      lowest = Math.min(lowest, score);
      if (!(score > this.settings.margin)) {
        if (this.full) break;
        this.correct(row, this.visits + seen);
      }
      if (this.listing && this.looks.length <= MOST_LOOKS) this.looks.push({ row, score });
      seen += 1;
    }
    this.visits += seen;
    const clean = seen === order.length && this.updates.length === before;
    this.endReading(clean ? { made: before, errors: 0, lowest, clear: true } : null);
    return clean;
  }

  look() {
    const scores = this.rows.map((_, row) => this.score(row));
    const lowest = Math.min(...scores);
    return { made: this.updates.length, errors: scores.filter((score) => !(score > 0)).length, lowest, clear: lowest > this.settings.margin, row: scores.indexOf(lowest) };
  }

  scan() {
    const found = this.look();
    this.endReading(found);
    return found;
  }

  endReading(standing) {
    this.history += 1;
    if (standing) {
      this.latest = standing;
      if (standing.clear) return;
      if (this.best && standing.errors < this.best.errors) this.best = { ...standing, weights: this.weights.map((vector) => [...vector]) };
    }
    this.lookForCycle();
  }

  // Weights that return prove that no separator exists: the updates between add up to zero (Brent's search; whole numbers only).
  lookForCycle() {
    const key = this.weights.flat();
    if (this.kept && this.updates.length > this.kept.made && key.every((value, at) => value === this.kept.key[at])) {
      this.cycle = this.whole.every(Boolean) && this.sumsToZero(this.updates.slice(this.kept.made));
    }
    const power = (this.history & (this.history - 1)) === 0;
    if (!this.cycle && power && !this.stopped() && this.whole[0]) this.kept = { made: this.updates.length, key };
  }

  sumsToZero(updates) {
    const total = this.weights.map((vector) => vector.map(() => 0));
    for (const { row, rival } of updates) {
      correction(this.outputs, this.codes[row], rival, 2).forEach((step, code) => this.rows[row].forEach((value, at) => { total[code][at] += step * value; }));
    }
    return total.flat().every((value) => value === 0);
  }
}

function scale(weights) {
  const length = norm(weights);
  if (length > 0) for (const vector of weights) for (let at = 0; at < vector.length; at += 1) vector[at] /= length;
}

// In turn, a few rows from each of many places.
function interleaved(order, chance, group = 4) {
  const places = 16 + chance.below(47);
  const long = Math.floor(order.length / (places * group)) * group; // rows from each place
  const mixed = [];
  for (let at = 0; at < long; at += group) for (let place = 0; place < places; place += 1) mixed.push(...order.slice(place * long + at, place * long + at + group));
  return [...mixed, ...order.slice(places * long)];
}

// Correct the worst row until all are right; of equal scores, the longest row.
function runWorkingSet(learner) {
  const chance = new Generator(0);
  const every = learner.rows.map((_, row) => row);
  const length = learner.rows.map((row) => dot(row, row));
  const order = [...every].sort((a, b) => length[b] - length[a] || a - b);
  const closing = Math.min(CLOSING, Math.floor((learner.settings.passes + 1) / 2));
  learner.best = { errors: Infinity };
  while (!learner.stopped(closing)) {
    for (let made = 0; made < ENOUGH && !learner.full; made += 1) {
      const worst = lowestOf(order, (row) => learner.score(row));
      if (learner.score(worst) > 0) break;
      learner.correct(worst, 0);
    }
    if (learner.scan().errors === 0) return;
  }
  while (!learner.stopped()) if (learner.pass(interleaved(every, chance)) || learner.stopped() || learner.scan().errors === 0) return;
}

function lowestOf(rows, score) {
  let best = rows[0];
  let least = score(best);
  for (const row of rows) {
    const here = score(row);
    if (here < least) [best, least] = [row, here];
  }
  return best;
}

function runWorst(learner) {
  while (!learner.stopped()) {
    const found = learner.scan();
    if (found.clear || learner.stopped()) return;
    learner.correct(found.row, learner.visits);
    learner.visits += 1;
  }
}

// Learn from rows, lifted or not, with codes 0, 1, ... of their classes; if asked, list every look at a row.
export function solvePerceptron(rows, codes, classes, settings, listing) {
  const chance = new Generator(settings.seed);
  const learner = new Learner(rows, codes, classes, settings, chance, listing);
  const inTurn = settings.average !== "last" || settings.renormalise || settings.margin > 0;
  const order = settings.order === "working_set" && inTurn ? "shuffled" : settings.order;
  if (order === "working_set") runWorkingSet(learner);
  else if (order === "worst") runWorst(learner);
  else {
    const every = rows.map((_, row) => row);
    while (!learner.stopped() && !learner.pass(order === "shuffled" ? chance.permutation(every) : every));
  }
  return finish(learner, order);
}

function finish(learner, order) {
  const { settings, visits } = learner;
  const mistakes = learner.updates.length;
  let standing = learner.latest && learner.latest.made === mistakes ? learner.latest : learner.look();
  let status = learner.cycle ? "inseparable" : learner.full ? "update_limit" : "pass_limit";
  if (standing.errors === 0) status = standing.clear ? "separated" : "margin_missed";
  else if (learner.best && learner.best.errors < standing.errors) {
    standing = learner.best; // the weights with the fewest errors (Gallant's pocket)
    learner.weights = standing.weights;
    learner.updates.length = standing.made;
  }
  const average = learner.weights.map((vector, code) => vector.map((value, at) => value - learner.sums[code][at] / Math.max(1, visits)));
  return { codes: learner.codes, status, mistakes, errors: standing.errors, lowest: standing.lowest, order, visits, looks: learner.looks, updates: learner.updates, start: learner.start, weights: learner.weights, average: settings.average === "averaged" ? average : null };
}
