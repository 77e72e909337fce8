// The two curves of Novikoff's proof, which close on the run.

import { state, on, frameAt } from "./state.js";
import { element, counted, number, t, whole } from "./texts.js";

const SVG = "http://www.w3.org/2000/svg";
const [LEFT, RIGHT, TOP, BOTTOM] = [10, 10, 16, 24];
const MOST = 300; // the most corners of a line

function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function words(text, x, y, attributes = {}) {
  const made = svg("text", { x, y, ...attributes });
  made.textContent = text;
  return made;
}

const range = (from, to, count = MOST) => Array.from({ length: count + 1 }, (_, at) => from + ((to - from) * at) / count);

// Map numbers of mistakes and values to the picture; the square root of the number is the horizontal axis.
function scales(width, height, last, high) {
  return {
    x: (mistakes) => LEFT + (width - LEFT - RIGHT) * Math.sqrt(Math.max(0, mistakes) / last),
    y: (value) => height - BOTTOM - (height - TOP - BOTTOM) * Math.min(1.02, Math.max(0, value) / high),
  };
}

const line = (points, { x, y }) => points.filter(([, value]) => Number.isFinite(value)).map(([at, value], number) => `${number ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");

function thinned(values) {
  const step = Math.max(1, Math.ceil(values.length / MOST));
  return values.flatMap((value, at) => (at % step === 0 || at === values.length - 1 ? [[at, value ?? NaN]] : []));
}

function axis(picture, { x }, width, height, marks) {
  picture.append(svg("path", { class: "axis", d: `M${LEFT} ${height - BOTTOM}H${width - RIGHT}` }));
  let edge = -Infinity;
  for (const [mistakes, text, kind] of marks) {
    const half = text.length * 3.6;
    const at = Math.max(LEFT + half, Math.min(width - RIGHT - half, x(mistakes)));
    if (at - half < edge + 4) continue;
    edge = at + half;
    picture.append(words(text, at, height - 7, { "text-anchor": "middle", class: kind ?? "" }));
  }
}

// The weights must be at least as long as the lower curve and at most as long as the upper one.
function novikoff(run, width, height) {
  const { updates, proof } = run;
  const total = updates.rows.length;
  const lengths = updates.squares.map((value) => (value === null ? NaN : Math.sqrt(value)));
  const { bound, radius, margin, start } = proof ?? {};
  const closes = bound != null && radius != null && margin != null && updates.progress !== null;
  const last = Math.max(1, closes ? bound * 1.12 : total);
  const upper = (at) => Math.sqrt(start ** 2 + radius ** 2 * at);
  const lower = (at) => updates.progress[0] + margin * at;
  const high = radius != null ? upper(last) * 1.04 : Math.max(1, ...lengths.filter(Number.isFinite)) * 1.1;
  const scale = scales(width, height, last, high);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  const at = range(0, Math.sqrt(last)).map((root) => root ** 2);
  if (closes) {
    const inside = at.filter((each) => each <= bound);
    const there = line(inside.map((each) => [each, upper(each)]), scale);
    const back = line(inside.map((each) => [each, lower(each)]).reverse(), scale).replace("M", "L");
    picture.append(svg("path", { class: "room", d: `${there}${back}z` }));
    picture.append(svg("path", { class: "lower", d: line(at.map((each) => [each, lower(each)]), scale) }));
    picture.append(svg("path", { class: "bound", d: `M${scale.x(bound)} ${TOP}V${height - BOTTOM}` }));
  }
  if (radius != null) picture.append(svg("path", { class: "upper", d: line(at.map((each) => [each, upper(each)]), scale) }));
  const length = svg("path", { class: "length" });
  const progress = svg("path", { class: "progress" });
  const dots = [svg("circle", { class: "dot", r: 4.5 }), svg("circle", { class: "dot hollow", r: 4 })];
  picture.append(progress, length, ...dots);
  axis(picture, scale, width, height, [[0, "0"], [total, counted(total), "strong"], ...(closes ? [[bound, t("chart_limit", { count: whole(bound) }), "accent"]] : [])]);
  if (radius != null) picture.append(words(t("chart_upper"), scale.x(last * 0.34), scale.y(upper(last * 0.34)) - 8, { "text-anchor": "end", class: "label" }));
  if (closes) picture.append(words(t("chart_lower"), scale.x(bound) - 6, height - BOTTOM - 7, { "text-anchor": "end", class: "label" }));
  const move = (made) => {
    const until = (values) => line(thinned(values.slice(0, made + 1)), scale);
    length.setAttribute("d", until(lengths));
    if (updates.progress) progress.setAttribute("d", until(updates.progress));
    [lengths, updates.progress].forEach((values, which) => {
      const value = values?.[made];
      dots[which].setAttribute("cx", Number.isFinite(value) ? scale.x(made).toFixed(1) : -20);
      dots[which].setAttribute("cy", Number.isFinite(value) ? scale.y(value).toFixed(1) : -20);
    });
    picture.setAttribute("aria-label", t(closes ? "chart_described" : "chart_described_open", { made, length: number(lengths[made], 3), bound: closes ? whole(bound) : "" }));
  };
  return { picture, move, caption: t(closes ? "chart_caption" : radius != null ? "chart_caption_open" : "chart_caption_bare") };
}

// What the theorem of another learner bounds, and the bound.
function tally({ theorem: { kind, values, bound } }, width, height) {
  const last = Math.max(1, values.length - 1);
  const limit = bound === null ? "" : t("chart_limit", { count: whole(kind === "mistakes" ? bound : Math.ceil(bound)) });
  const scale = scales(width, height, last, 1.15 * Math.max(bound ?? 0, values.at(-1), 1e-9));
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  if (bound !== null) {
    picture.append(svg("path", { class: "upper", d: `M${LEFT} ${scale.y(bound)}H${width - RIGHT}` }));
    picture.append(words(limit, width - RIGHT, scale.y(bound) - 6, { "text-anchor": "end", class: "label" }));
  }
  const run = svg("path", { class: "length" });
  picture.append(run);
  axis(picture, scale, width, height, [[0, "0"], [last, counted(last), "strong"]]);
  const caption = t(`chart_${kind}${bound === null ? "_open" : ""}`);
  const move = (made) => {
    run.setAttribute("d", line(thinned(values.slice(0, made + 1)), scale));
    picture.setAttribute("aria-label", `${caption} ${number(values[made], 3)} ${limit}`);
  };
  return { picture, move, caption };
}

const target = document.getElementById("chart");
const panel = document.getElementById("panel-step");
let now = null;

function rebuild() {
  const { run } = state;
  now = null;
  target.replaceChildren();
  if (!run?.updates || run.updates.rows.length < 1) return;
  const width = Math.max(280, target.clientWidth || 400);
  const room = panel.clientHeight - document.getElementById("step").offsetHeight - 110;
  now = (run.theorem ? tally : novikoff)(run, width, Math.round(Math.max(130, Math.min(width * 0.62, room))));
  target.append(element("figure", { className: "chart" }, now.picture, element("figcaption", { text: now.caption })));
  move();
}

function move() {
  const step = frameAt(state.moment);
  if (step) now?.move(step.made);
}

let due = 0;
on("run words tab", () => {
  clearTimeout(due); // while a point is dragged, the picture comes first
  due = setTimeout(rebuild, 60);
});
on("moment", move);
