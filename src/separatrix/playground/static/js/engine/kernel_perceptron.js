// The perceptron in its dual form: the weights are a sum of feature vectors, one for each mistake.

import { MOST_LOOKS } from "./perceptron.js";
import { Generator } from "./random.js";
import { correction, rivalOf, scoreOf } from "./scores.js";

// `values[i][j]` is the kernel of rows i and j, plus one if there is an intercept.
export function solveKernelPerceptron(values, codes, classes, settings) {
  const chance = new Generator(settings.seed);
  const every = codes.map((_, row) => row);
  const outputs = classes === 2 ? 1 : classes;
  const support = []; // rows in the order of their first mistake
  const coefficients = codes.map(() => null);
  const updates = [], looks = [];
  let passes = 0, visits = 0, square = 0, lowest = Infinity, clean = false, full = false;
  while (!clean && !full && passes < settings.passes) {
    const before = updates.length;
    lowest = Infinity;
    for (const row of settings.order === "shuffled" ? chance.permutation(every) : every) {
      const here = outputsAt(values[row]);
      const score = scoreOf(here, codes[row]);
      lowest = Math.min(lowest, score);
      if (!(score > 0)) {
        full = updates.length >= settings.updates;
        if (full) break;
        correct(row, rivalOf(here, codes[row]));
        square += outputs === 1 ? 2 * score + values[row][row] : score + values[row][row] / 2;
      }
      if (looks.length <= MOST_LOOKS) looks.push({ row, score });
      visits += 1;
    }
    passes += 1;
    clean = !full && updates.length === before;
    full ||= updates.length >= settings.updates;
  }
  const length = Math.sqrt(Math.max(0, square));
  return {
    status: clean ? "separated" : full ? "update_limit" : "pass_limit",
    order: settings.order,
    updates,
    looks,
    visits,
    support,
    coefficients,
    margin: [clean && length > 0 ? lowest / length : null, length / (updates.length * (outputs === 1 ? 1 : 0.5))],
  };

  function correct(row, rival) {
    if (!coefficients[row]) {
      coefficients[row] = new Array(outputs).fill(0);
      support.push(row);
    }
    correction(outputs, codes[row], rival, 1).forEach((part, code) => { coefficients[row][code] += part; });
    updates.push({ row, rival, visit: visits });
  }

  function outputsAt(near) {
    const totals = new Array(outputs).fill(0);
    for (const row of support) {
      const parts = coefficients[row];
      for (let code = 0; code < outputs; code += 1) totals[code] += parts[code] * near[row];
    }
    return totals;
  }
}
