// Scores at the knots of a grid over the picture, and what the page needs to add up those of each step.

const GRID = 64, LEAST = 16; // knots each way
const NUMBERS = 600_000; // of all grids in one answer

function packed(numbers) {
  const bytes = new Uint8Array((numbers instanceof Float32Array ? numbers : Float32Array.from(numbers)).buffer);
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}

// `scores(place)` are those of the model, one for each class (or one for two); `steps` has the support, its kernel, and the states.
export function fieldOf(box, scores, steps) {
  const support = steps?.support ?? [];
  const size = Math.min(GRID, Math.max(LEAST, Math.floor(Math.sqrt(NUMBERS / Math.max(1, support.length)))));
  const knots = (low, high) => Array.from({ length: size }, (_, at) => low + ((high - low) * at) / (size - 1));
  const xs = knots(box.left, box.right);
  const places = knots(box.bottom, box.top).flatMap((y) => xs.map((x) => [x, y]));
  const found = places.map(scores);
  const final = found[0].length === 1 ? [...places.map(() => 0), ...found.map(([score]) => score)] : found[0].flatMap((_, code) => found.map((each) => each[code]));
  return {
    size,
    box: [box.left, box.right, box.bottom, box.top],
    support,
    columns: packed(support.flatMap((row) => places.map((place) => steps.kernel(row, place)))),
    coefficients: support.length ? packed(steps.states) : null,
    final: packed(final),
  };
}
