// The engine: it answers the page's questions in the browser, with the same JSON as the Python server.
// It does what planar points need; for everything else it returns undefined, and the page asks the server.

import { readSettings, MOST_POINTS } from "./requests.js";
import { runPerceptron } from "./run.js";

const planar = ({ data }) => data.columns.length === 2 && data.rows.length <= MOST_POINTS;

const ANSWERS = {
  run(request) {
    if (!planar(request)) return undefined;
    const { method, average } = readSettings(request.settings);
    return method === "perceptron" && average !== "voted" ? runPerceptron(request) : undefined;
  },
};

// The answer, or undefined if a server has to be asked; a request that cannot be answered throws a Refusal.
export function answer(question, request) {
  return ANSWERS[question]?.(request);
}
