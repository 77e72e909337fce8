// The charts of the proof: mistakes and their bound, the bracket of the margin, and the two curves of Novikoff's proof.

import { state, on, frameAt } from "./state.js";
import { element, number, t } from "./texts.js";
import { ticks } from "./shapes.js";

const target = document.getElementById("curves");
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [300, 190, 44, 10, 10, 28];
const MOST = 400; // the most corners of a line
let charts = [];

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const whole = (value) => (value < 1e6 ? String(Math.floor(value)) : number(value, 3));

// Each chart: a title, the lines by name of class, and the value at a step.
function contents(run) {
  const { updates, proof } = run;
  const total = updates.rows.length;
  const times = Array.from({ length: total + 1 }, (_, at) => at);
  const bound = proof?.bound ?? null;
  const made = [];
  const near = bound !== null && bound <= 6 * Math.max(total, 1);
  const looks = run.visits ? [...run.visits.updates, total] : times;
  made.push({
    title: bound === null ? t("chart_mistakes") : t("chart_mistakes_bound", { bound: whole(bound), name: proof.name }),
    lines: [{ kind: "line-0", values: looks }],
    level: near ? bound : null,
    value: (at) => String(looks[at]),
    total: looks.length - 1,
    unit: run.visits ? t("chart_looks") : t("chart_x"),
    position: () => state.moment,
  });
  const upper = updates.upper.map((value) => value ?? null);
  const lower = updates.lower.map((value) => (value === null ? null : Math.max(0, value)));
  made.push({
    title: t("chart_bracket"),
    band: [lower, upper],
    lines: [{ kind: "line-0", values: lower }, { kind: "line-1", values: upper }],
    value: (at) => `${number(lower[at], 3)} … ${upper[at] === null ? "∞" : number(upper[at], 3)}`,
    robust: true,
  });
  if (updates.progress) {
    made.push({
      title: t("chart_progress"),
      lines: [{ kind: "line-0", values: updates.progress }, ...(proof.margin === null ? [] : [{ kind: "theory", values: times.map((at) => proof.margin * at + updates.progress[0]) }])],
      value: (at) => number(updates.progress[at], 3),
    });
  } else made.push({ title: t("chart_progress_none"), lines: [], value: () => "–" });
  const radius = proof?.radius ?? null;
  made.push({
    title: radius === null ? t("chart_length_none") : t("chart_length"),
    lines: [{ kind: "line-0", values: updates.squares }, ...(radius === null ? [] : [{ kind: "theory", values: times.map((at) => proof.start ** 2 + radius ** 2 * at) }])],
    value: (at) => number(updates.squares[at], 3),
  });
  return made;
}

function thinned(length) {
  const step = Math.max(1, Math.ceil(length / MOST));
  const kept = [];
  for (let at = 0; at < length; at += step) kept.push(at);
  if (kept[kept.length - 1] !== length - 1) kept.push(length - 1);
  return kept;
}

function chart({ title, lines, band, level, value, robust, total, unit: words, position }) {
  if (!lines.length) return { figure: element("figure", { className: "chart" }, element("figcaption", { className: "muted", text: title })), move: () => {}, position: () => 0 };
  const all = lines.flatMap(({ values }) => values).filter((each) => each !== null && Number.isFinite(each));
  let high = Math.max(level ?? 0, ...(all.length ? all : [1]));
  if (robust && all.length > 8) {
    // the first upper bounds are so large that the end of the bracket would be invisible
    const sorted = [...all].sort((a, b) => a - b);
    high = Math.min(high, 4 * sorted[Math.floor(0.5 * (sorted.length - 1))] || high);
  }
  const low = Math.min(0, ...(all.length ? all : [0]));
  if (!(high > low)) high = low + 1;
  const x = (at) => LEFT + ((WIDTH - LEFT - RIGHT) * at) / Math.max(1, total);
  const y = (each) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (Math.min(each, high) - low)) / (high - low);
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  for (const tick of ticks(low, high, 4)) {
    picture.append(svg("path", { class: "axis", d: `M${LEFT} ${y(tick)}H${WIDTH - RIGHT}` }));
    const label = svg("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" });
    label.textContent = number(tick, 3);
    picture.append(label);
  }
  for (const tick of ticks(0, Math.max(1, total), 4).filter(Number.isInteger)) {
    const label = svg("text", { x: x(tick), y: HEIGHT - BOTTOM + 14, "text-anchor": "middle" });
    label.textContent = number(tick);
    picture.append(label);
  }
  const unit = svg("text", { x: WIDTH - RIGHT, y: HEIGHT - 2, "text-anchor": "end" });
  unit.textContent = words;
  picture.append(unit);
  const kept = thinned(total + 1);
  const line = (values) => {
    let text = "";
    let pen = false;
    for (const at of kept) {
      const each = values[at];
      if (each === null || !Number.isFinite(each)) pen = false;
      else {
        text += `${pen ? "L" : "M"}${x(at).toFixed(1)} ${y(each).toFixed(1)}`;
        pen = true;
      }
    }
    return text;
  };
  if (band) {
    const inside = kept.filter((at) => band[1][at] !== null && band[0][at] !== null);
    if (inside.length > 1) {
      const up = inside.map((at) => `${x(at).toFixed(1)} ${y(band[1][at]).toFixed(1)}`);
      const down = inside.map((at) => `${x(at).toFixed(1)} ${y(band[0][at]).toFixed(1)}`).reverse();
      picture.append(svg("path", { class: "band", d: `M${[...up, ...down].join("L")}z` }));
    }
  }
  for (const { kind, values } of lines) picture.append(svg("path", { class: kind, d: line(values) }));
  if (level !== null && level !== undefined) picture.append(svg("path", { class: "bound", d: `M${LEFT} ${y(level)}H${WIDTH - RIGHT}` }));
  const now = svg("path", { class: "now", d: "" });
  const dot = svg("circle", { class: "dot", r: 4, cx: -20, cy: -20 });
  picture.append(now, dot);
  const figure = element("figure", { className: "chart" }, element("figcaption", { text: title }), picture);
  const first = lines[0]?.values;
  const move = (at) => {
    now.setAttribute("d", `M${x(at).toFixed(1)} ${TOP}V${HEIGHT - BOTTOM}`);
    const here = first?.[at];
    dot.setAttribute("cx", here === undefined || here === null ? -20 : x(at).toFixed(1));
    dot.setAttribute("cy", here === undefined || here === null ? -20 : y(here).toFixed(1));
    picture.setAttribute("aria-label", t("chart_described", { title, value: value(at), at, unit: words }));
  };
  return { figure, move, position };
}

function rebuild() {
  const run = state.run;
  if (!run?.updates) {
    charts = [];
    target.replaceChildren(element("p", { className: "muted small", text: run ? t("no_curves") : t("step_none") }));
    return;
  }
  const total = run.updates.rows.length;
  const usual = { total, unit: t("chart_x"), position: (step) => step.made };
  charts = contents(run).map((each) => chart({ ...usual, ...each }));
  target.replaceChildren(...charts.map(({ figure }) => figure));
  move();
}

function move() {
  const step = frameAt(state.moment);
  if (!step) return;
  for (const { move: to, position } of charts) to(position(step));
}

let due = 0;
on("run words", () => {
  clearTimeout(due); // while a point is dragged, the picture comes first
  due = setTimeout(rebuild, 60);
});
on("moment", move);
