// Read a request as the Python server does: the points with their classes, and settings within their limits.

import { Refusal } from "./refusal.js";

export const MOST_POINTS = 500; // the engine answers up to this number; a server takes more

export const CHOICES = {
  method: ["perceptron", "kernel", "passive_aggressive", "winnow", "network", "max_margin", "soft_margin", "linear_program"],
  order: ["cyclic", "shuffled", "worst", "working_set"],
  start: ["zeros", "random"],
  average: ["last", "averaged", "voted"],
  intercept: ["free", "lifted"],
  variant: ["PA", "PA-I", "PA-II"],
  form: ["primal", "dual"],
};
export const SIZES = { rate: [1e-9, 1e9], margin: [0, 1e9], C: [1e-9, 1e9], passes: [1, 5000, "whole"], updates: [1, 20000, "whole"], seed: [0, 2 ** 31 - 1, "whole"] };
const COORDINATE = 1e9;

export function within(value, [least, most, whole], name) {
  const number = typeof value === "number" && value >= least && value <= most && (!whole || Number.isInteger(value));
  if (!number) throw new Refusal("invalid", `${name} must be a ${whole ? "whole " : ""}number from ${least} to ${most}. Got ${value}.`);
  return value;
}

export function readSettings(settings) {
  for (const [name, allowed] of Object.entries(CHOICES)) {
    if (!allowed.includes(settings[name])) throw new Refusal("invalid", `${name} must be one of ${allowed.join(", ")}. Got ${settings[name]}.`);
  }
  for (const [name, limits] of Object.entries(SIZES)) within(settings[name], limits, name);
  return settings;
}

// The points: coordinates, the position of each label among the classes that occur, and these classes.
export function readPoints({ columns, classes, rows, labels }) {
  if (rows.length !== labels.length) throw new Refusal("labels", `There are ${rows.length} points and ${labels.length} labels; one each is needed.`);
  if (rows.some((row) => row.length !== columns.length)) throw new Refusal("ragged", `Every point needs ${columns.length} coordinates, one for each column.`);
  if (labels.some((label) => !(label >= 0 && label < classes.length))) throw new Refusal("labels", `Labels are counted from 0 to ${classes.length - 1}.`);
  for (const row of rows) for (const value of row) within(value, [-COORDINATE, COORDINATE], "A coordinate");
  const present = [...new Set(labels)].sort((a, b) => a - b);
  if (present.length < 2) throw new Refusal("one_class", "Add points of a second class: two are needed to separate anything.");
  return { rows: rows.map((row) => row.map((value) => value + 0)), codes: labels.map((label) => present.indexOf(label)), present };
}

// The rows with a constant 1 at the end, whose weight is the intercept.
export const lifted = (rows, lift) => (lift ? rows.map((row) => [...row, 1]) : rows);
