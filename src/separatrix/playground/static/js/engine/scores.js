// Scores of rows under weights: one weight vector for two classes, one for each of several classes.

export function dot(w, x) {
  let total = 0;
  for (let at = 0; at < x.length; at += 1) total += x[at] * w[at];
  return total;
}

export const sum = (values) => values.reduce((total, value) => total + value, 0);
export const norm = (vectors) => Math.sqrt(sum(vectors.map((vector) => dot(vector, vector))));

// The other classes.
export const rivalsOf = (own, classes) => Array.from({ length: classes }, (_, rival) => rival).filter((rival) => rival !== own);

// The wrong class with the largest output; of equal outputs the first, and 0 if there are two classes.
export function rivalOf(outputs, own) {
  if (outputs.length === 1) return 0;
  let rival = -1;
  for (let code = 0; code < outputs.length; code += 1) if (code !== own && (rival < 0 || outputs[code] > outputs[rival])) rival = code;
  return rival;
}

// The signed score: positive if and only if the row is on its own side.
export function scoreOf(outputs, own) {
  if (outputs.length === 1) return own ? outputs[0] : -outputs[0];
  return outputs[own] - outputs[rivalOf(outputs, own)];
}

// The signed score of a row under weights, without a list of outputs: this is the innermost loop.
export function signedScore(weights, x, own) {
  if (weights.length === 1) return own ? dot(weights[0], x) : -dot(weights[0], x);
  let best = -Infinity;
  for (let code = 0; code < weights.length; code += 1) if (code !== own) best = Math.max(best, dot(weights[code], x));
  return dot(weights[own], x) - best;
}

// The class that is given: the largest output, and the first of several equal outputs; with one output, its sign decides.
export function winner(outputs) {
  if (outputs.length === 1) return outputs[0] > 0 ? 1 : 0;
  let best = 0;
  for (let code = 1; code < outputs.length; code += 1) if (outputs[code] > outputs[best]) best = code;
  return best;
}

// What an update adds to each output, per unit of the kernel (or of the row): the step, or half of it for two classes of several.
export function correction(outputs, own, rival, step) {
  const parts = new Array(outputs).fill(0);
  if (outputs === 1) parts[0] = own ? step : -step;
  else {
    parts[own] = step / 2;
    parts[rival] = -step / 2;
  }
  return parts;
}
