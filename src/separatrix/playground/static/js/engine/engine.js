// The engine: it answers the page's questions in the browser, with the same JSON as the Python server.
// It does what planar points need; for everything else it returns undefined, and the page asks the server.

import { check } from "./check.js";
import { paraboloid } from "./paraboloid.js";
import { Refusal } from "./refusal.js";
import { readSettings, MOST_POINTS } from "./requests.js";
import { runKernel, runMaxMargin, runNetwork, runOnline, runPerceptron } from "./run.js";
import { verdict } from "./separability.js";

const planar = ({ data }) => data.columns.length === 2 && data.rows.length <= MOST_POINTS;

const RUNS = { perceptron: runPerceptron, kernel: runKernel, passive_aggressive: runOnline, winnow: runOnline, network: runNetwork, max_margin: runMaxMargin };
const ALONE = ["passive_aggressive", "winnow", "network"]; // the server does not answer for them

const ANSWERS = {
  run(request) {
    const { method, budget } = readSettings(request.settings);
    if (!planar(request)) {
      if (ALONE.includes(method)) throw new Refusal("planar_only", "", { most: MOST_POINTS });
      return undefined;
    }
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
  verify: (request) => (planar(request) ? check(request) : undefined),
};

// The answer, or undefined if a server has to be asked; a request that cannot be answered throws a Refusal.
export function answer(question, request) {
  return ANSWERS[question]?.(request);
}
