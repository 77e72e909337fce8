// The engine: it answers the page's questions in the browser, with the same JSON as the Python server.
// It does what planar points need; for everything else it returns undefined, and the page asks the server.

import { check } from "./check.js";
import { paraboloid } from "./paraboloid.js";
import { readTable } from "./pasted.js";
import { Refusal } from "./refusal.js";
import { readSettings, MOST_POINTS } from "./requests.js";
import { runKernel, runMaxMargin, runPerceptron } from "./run.js";
import { verdict } from "./separability.js";

const planar = ({ data }) => data.columns.length === 2 && data.rows.length <= MOST_POINTS;

const RUNS = { perceptron: runPerceptron, kernel: runKernel, max_margin: runMaxMargin };

const ANSWERS = {
  run(request) {
    if (!planar(request)) return undefined;
    const { method, budget } = readSettings(request.settings);
    return budget === null || method !== "kernel" ? RUNS[method]?.(request) : undefined;
  },
  verdict(request) {
    readSettings(request.settings);
    return planar(request) ? verdict(request) : undefined;
  },
  lift(request) {
    if (request.data.columns.length !== 2) throw new Refusal("not_flat", "The lift is drawn for points with two columns.");
    return planar(request) ? paraboloid(request) : undefined;
  },
  table: readTable,
  verify: (request) => (planar(request) ? check(request) : undefined),
};

// The answer, or undefined if a server has to be asked; a request that cannot be answered throws a Refusal.
export function answer(question, request) {
  return ANSWERS[question]?.(request);
}
