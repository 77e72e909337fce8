// What the picture shows of the plane: all points, nearer, farther, or moved.

import { state, placesNow } from "./state.js";
import { frame } from "./shapes.js";

const canvas = document.getElementById("plot");
const FARTHEST = 1e8;

export const viewOfCanvas = () => frame(state.box, canvas.clientWidth || 1, canvas.clientHeight || 1);

// Show all points, with room around them.
export function fitBox() {
  const at = placesNow();
  if (!at.length) {
    state.box = { left: -3, right: 3, bottom: -3, top: 3 };
    return;
  }
  const [xs, ys] = [0, 1].map((axis) => at.map((place) => place[axis]));
  const range = (values) => [Math.min(...values), Math.max(...values)];
  const [[left, right], [bottom, top]] = [range(xs), range(ys)];
  const pad = 0.14 * (Math.max(right - left, top - bottom) || 2);
  state.box = { left: left - pad, right: right + pad, bottom: bottom - pad, top: top + pad };
}

// Change the scale by a factor, around a place of the picture, which keeps its point.
export function zoom(factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) {
  const [x, y] = viewOfCanvas().toPoint(px, py);
  const { left, right, bottom, top } = state.box;
  const made = { left: x + (left - x) / factor, right: x + (right - x) / factor, bottom: y + (bottom - y) / factor, top: y + (top - y) / factor };
  const size = Math.max(made.right - made.left, made.top - made.bottom);
  const far = Math.max(...Object.values(made).map(Math.abs));
  if (size > 1e-6 * Math.max(1, far) && (factor > 1 || far < FARTHEST)) state.box = made;
}

export function pan(dx, dy) {
  const { scale } = viewOfCanvas();
  const { left, right, bottom, top } = state.box;
  state.box = { left: left - dx / scale, right: right - dx / scale, bottom: bottom + dy / scale, top: top + dy / scale };
}

// Whether a point is outside the view, for example after an undo.
export function anyOutside() {
  const { left, right, bottom, top } = viewOfCanvas().shown;
  return placesNow().some(([x, y]) => x < left || x > right || y < bottom || y > top);
}
