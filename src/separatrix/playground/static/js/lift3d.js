// The radial lift in three dimensions, in place of the picture: points on a bowl and the plane that cuts it.

import { state, on, tell, isFlat, classCount } from "./state.js";
import { Refusal, ask } from "./api.js";
import { magnified, penOf } from "./picture.js";
import { colors, mark, tint } from "./shapes.js";
import { number, t } from "./texts.js";

const canvas = document.getElementById("lift");
const words = document.getElementById("lift-text");
const button = document.getElementById("lift-toggle");
const turn = { around: -0.6, up: 0.42 };
let lifted = null;
let due = false;

// Map space to the picture: a rotation and a parallel projection.
function camera(width, height) {
  const { low, high } = lifted;
  const middle = low.map((value, at) => (value + high[at]) / 2);
  const wide = Math.max(high[0] - low[0], high[1] - low[1]) || 1;
  const tall = high[2] - low[2] || 1;
  const size = 0.72 * Math.min(width, height * 1.2);
  const [c, s, cu, su] = [Math.cos(turn.around), Math.sin(turn.around), Math.cos(turn.up), Math.sin(turn.up)];
  return ([x, y, z]) => {
    const [a, b, h] = [(x - middle[0]) / wide, (y - middle[1]) / wide, ((z - middle[2]) / tall) * 0.75];
    const [across, deep] = [a * c - b * s, a * s + b * c];
    return [width / 2 + across * size, height / 2 - (h * cu - deep * su) * size, deep * cu + h * su];
  };
}

// Where a plane meets the box: the crossings of its twelve edges, in order around their middle.
function section([a, b, c, d], low, high) {
  const found = [];
  const size = (axis) => high[axis] - low[axis] || 1;
  for (let axis = 0; axis < 3; axis += 1) {
    const [one, other] = [0, 1, 2].filter((each) => each !== axis);
    for (const u of [low[one], high[one]]) {
      for (const v of [low[other], high[other]]) {
        const start = [0, 0, 0];
        start[one] = u;
        start[other] = v;
        start[axis] = low[axis];
        const here = a * start[0] + b * start[1] + c * start[2] + d;
        const there = here + [a, b, c][axis] * size(axis);
        if (here > 0 === there > 0) continue;
        start[axis] = low[axis] + (size(axis) * here) / (here - there);
        found.push(start);
      }
    }
  }
  const middle = [0, 1, 2].map((axis) => found.reduce((sum, point) => sum + point[axis], 0) / (found.length || 1));
  const scaled = (point) => point.map((value, axis) => (value - middle[axis]) / size(axis));
  const n = [a * size(0), b * size(1), c * size(2)];
  const first = found.length ? scaled(found[0]) : [1, 0, 0];
  const cross = [n[1] * first[2] - n[2] * first[1], n[2] * first[0] - n[0] * first[2], n[0] * first[1] - n[1] * first[0]];
  const dot = (p, q) => p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
  const length = Math.hypot(...n) || 1;
  return found.sort((p, q) => Math.atan2(dot(scaled(p), cross) / length, dot(scaled(p), first)) - Math.atan2(dot(scaled(q), cross) / length, dot(scaled(q), first)));
}

function draw() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width) return;
    const pen = penOf(canvas, width, height, window.devicePixelRatio || 1);
    const paint = colors();
    pen.path([[0, 0], [width, 0], [width, height], [0, height]], { fill: paint.paper, close: true });
    if (!lifted) return;
    const to = camera(width, height);
    const { low, high, rows, plane } = lifted;
    const corner = (x, y, z) => to([x ? high[0] : low[0], y ? high[1] : low[1], z ? high[2] : low[2]]);
    const floor = [[0, 0], [1, 0], [1, 1], [0, 1]].map(([x, y]) => corner(x, y, 0));
    pen.path(floor, { stroke: paint.faint, width: 1, close: true, fill: tint(paint.faint, paint.paper, 0.35) });
    for (const [x, y] of [[0, 0], [1, 0], [1, 1], [0, 1]]) pen.path([corner(x, y, 0), corner(x, y, 1)], { stroke: paint.faint, width: 1 });
    const items = rows.map((row, at) => ({ at, row, place: to(row) }));
    if (plane) {
      const sheet = section(plane, low, high);
      if (sheet.length > 2) pen.path(sheet.map(to), { fill: tint(paint.classes[2], paint.paper, 0.55), stroke: paint.muted, width: 1, alpha: 0.55, close: true });
    }
    items.sort((one, other) => other.place[2] - one.place[2]);
    for (const { at, row, place } of items) {
      const foot = to([row[0], row[1], low[2]]);
      pen.path([foot, place], { stroke: paint.muted, width: 1, alpha: 0.35 });
      const label = state.data.labels[at];
      mark(pen, label, place[0], place[1], 5.5 * magnified(), { fill: paint.classes[label], stroke: paint.ink, width: 0.8 });
    }
    pen.text("x² + y²", ...corner(0, 0, 1).slice(0, 2), { color: paint.muted, size: 12, halo: paint.paper });
  });
}

async function update() {
  if (canvas.hidden) return;
  if (!isFlat() || classCount() < 2) {
    lifted = null;
    words.textContent = isFlat() ? "" : t("lift3d_two");
    draw();
    return;
  }
  try {
    lifted = await ask("lift", { data: state.data });
    if (lifted.rows.length !== state.data.rows.length) lifted = null;
    else if (lifted.status === "separable") words.textContent = t("lift3d_separable", { margin: number(lifted.margin, 3) });
    else words.textContent = t("lift3d_not", { status: t(`status_${lifted.status}`) });
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem;
    lifted = null;
  }
  draw();
}

let held = null;
canvas.addEventListener("pointerdown", (event) => {
  held = [event.clientX, event.clientY];
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  if (!held) return;
  turn.around += (event.clientX - held[0]) / 120;
  turn.up = Math.max(-0.2, Math.min(1.5, turn.up + (event.clientY - held[1]) / 150));
  held = [event.clientX, event.clientY];
  draw();
});
for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { held = null; });
canvas.addEventListener("keydown", (event) => {
  const moves = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  event.stopPropagation();
  turn.around += move[0];
  turn.up = Math.max(-0.2, Math.min(1.5, turn.up + move[1]));
  draw();
});

// Show the lift instead of the picture, or the picture again.
export function showLift(open) {
  document.getElementById("lift-view").hidden = !open;
  canvas.hidden = !open;
  button.setAttribute("aria-pressed", String(open));
  if (open) update();
  tell("lift");
}

button.addEventListener("click", () => showLift(canvas.hidden));
new ResizeObserver(draw).observe(canvas);
on("run words", update);
on("theme", draw);
