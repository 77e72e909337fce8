// A kernel from its blocks: its values, and what is known about it.

import { Refusal } from "./refusal.js";
import { within } from "./requests.js";
import { dot } from "./scores.js";

const BLOCKS = 12, DEPTH = 6, DEGREE = 10; // the largest kernel
const LARGEST = 1e30; // of K(x, x): sums of these must fit into float32, the type of the pictures
const POSITIVE = [1e-9, 1e9], SHIFT = [0, 1e6], WHOLE = [1, DEGREE, "whole"];

// Each kind: `value(t, squared distance)`, the degrees of t in it (null if it is no polynomial), whether its Gram matrices
// of distinct rows are positive definite (`strict`), and whether K(x, x) > 0 everywhere (`positive`).
const KINDS = {
  linear: () => ({ value: (t) => t, degrees: [1], strict: false, positive: false }),
  polynomial({ degree, c }) {
    within(degree, WHOLE, "degree");
    within(c, SHIFT, "c");
    return { value: (t) => (c + t) ** degree, degrees: c > 0 ? upTo(degree) : [degree], strict: false, positive: c > 0 };
  },
  gaussian({ c }) {
    within(c, POSITIVE, "c");
    return { value: (_, apart) => Math.exp(-c * apart), degrees: null, strict: true, positive: true };
  },
  geometric({ degree }) {
    within(degree, WHOLE, "degree");
    return { value: (t) => upTo(degree).reduce((total) => total * t + 1, 0), degrees: upTo(degree), strict: false, positive: true };
  },
  sum({ parts }) {
    const all = parts.map(build);
    return {
      value: (t, apart) => all.reduce((total, part) => total + part.value(t, apart), 0),
      degrees: all.every((part) => part.degrees) ? distinct(all.flatMap((part) => part.degrees)) : null,
      strict: all.some((part) => part.strict),
      positive: all.some((part) => part.positive),
    };
  },
  product({ parts }) {
    const all = parts.map(build);
    const positive = all.every((part) => part.positive);
    return { value: (t, apart) => all.reduce((total, part) => total * part.value(t, apart), 1), degrees: all.map((part) => part.degrees).reduce(sums, [0]), strict: positive && all.some((part) => part.strict), positive };
  },
  scaled({ part, c }) {
    within(c, POSITIVE, "c");
    const inner = build(part);
    return { ...inner, value: (t, apart) => c * inner.value(t, apart) };
  },
  shifted({ part, c }) {
    within(c, SHIFT, "c");
    const inner = build(part);
    return { value: (t, apart) => inner.value(t, apart) + c, degrees: inner.degrees && distinct(c > 0 ? [0, ...inner.degrees] : inner.degrees), strict: inner.strict, positive: inner.positive || c > 0 };
  },
  power({ part, exponent }) {
    within(exponent, WHOLE, "exponent");
    const inner = build(part);
    return { ...inner, value: (t, apart) => inner.value(t, apart) ** exponent, degrees: new Array(exponent).fill(inner.degrees).reduce(sums, [0]) };
  },
  exp({ part }) {
    const inner = build(part);
    return { value: (t, apart) => Math.exp(inner.value(t, apart)), degrees: null, strict: inner.strict || Boolean(inner.degrees?.includes(1)), positive: true };
  },
};

const upTo = (degree) => Array.from({ length: degree + 1 }, (_, at) => at);
const distinct = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);
const sums = (some, others) => some && others && distinct(some.flatMap((a) => others.map((b) => a + b)));
export const inside = (block) => block.parts ?? (block.part ? [block.part] : []);
export const count = (block) => 1 + inside(block).reduce((total, part) => total + count(part), 0);
const depth = (block) => 1 + Math.max(0, ...inside(block).map(depth));

// The largest number of inner products that are multiplied.
function degree(block) {
  const known = inside(block).length ? inside(block).map(degree) : [block.degree ?? 1];
  if (block.kind === "power") return block.exponent * known[0];
  return block.kind === "product" ? known.reduce((total, each) => total + each, 0) : Math.max(...known);
}

function build(block) {
  if (!Object.hasOwn(KINDS, block?.kind)) throw new Refusal("invalid", `There is no kernel block ${block?.kind}.`);
  return KINDS[block.kind](block);
}

export function kernelOf(block) {
  const limits = { blocks: BLOCKS, depth: DEPTH, degree: DEGREE };
  if (count(block) > BLOCKS || depth(block) > DEPTH || degree(block) > DEGREE) throw new Refusal("kernel_too_large", `A kernel may have at most ${BLOCKS} blocks, ${DEPTH} levels of nesting and degree ${DEGREE}.`, limits);
  const kernel = build(block);
  const { value } = kernel;
  return { ...kernel, at: ([a, b], [c, d]) => value(a * c + b * d, (a - c) * (a - c) + (b - d) * (b - d)) };
}

// Refuse a kernel whose values on rows as long as these may overflow the pictures.
export function needRange(kernel, rows) {
  const square = Math.max(0, ...rows.map((row) => dot(row, row)));
  if (!(kernel.value(square, 0) <= LARGEST)) throw new Refusal("kernel_range", `The kernel grows above ${LARGEST} on these points or on the picture around them. Scale the kernel or the columns down.`, { most: LARGEST });
}
