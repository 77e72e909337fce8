// The words of the page in the language that is chosen, and how numbers are written in it.

import { state } from "./state.js";
import { WORDS } from "./words.js";
import { LESSON_WORDS } from "./lesson_words.js";

const TEXTS = { ...WORDS, ...LESSON_WORDS };
let place = 0;

export function setLanguage(code) {
  place = code === "de" ? 1 : 0;
  document.documentElement.lang = place ? "de" : "en";
}

export const language = () => (place ? "de" : "en");

export function t(key, values = {}) {
  const words = TEXTS[key]?.[place] ?? key;
  return words.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

export const has = (key) => key in TEXTS;

// Put the words where the page says they belong.
export function fill(root = document) {
  for (const element of root.querySelectorAll("[data-text]")) element.textContent = t(element.dataset.text);
  for (const element of root.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", t(element.dataset.label));
    if (element.tagName === "BUTTON") element.title = t(element.dataset.label);
  }
}

const MINUS = "−";

export function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : `${MINUS}∞`;
  if (value === 0) return "0";
  const size = Math.abs(value);
  const plain = size >= 1e6 || size < 1e-4 ? value.toExponential(digits - 2) : String(Number(value.toPrecision(digits)));
  const signed = plain.replace("e+", "e").replaceAll("-", MINUS);
  return place ? signed.replace(".", ",") : signed;
}

// A count: a whole number, with a mark at the thousands.
export const whole = (value) => (value < 1e9 ? Math.floor(value).toLocaleString(language()) : number(value, 3));

// What the steps of the method are: units of a network, updates that need not be mistakes, or mistakes.
export function stepKind() {
  const { method, margin } = state.settings;
  if (method === "network") return "units";
  return method === "passive_aggressive" || (method === "perceptron" && margin > 0) ? "updates" : "mistakes";
}

// "1 mistake" or "23 mistakes"; German has another form after a preposition.
export const counted = (count, after = false) => t(`${stepKind()}_${count === 1 ? "1" : after ? "after_many" : "many"}`, { count: whole(count) });

// A share, as a percentage: with a digit after the point if it is small.
export const percent = (share) => `${number(100 * share, share >= 0.0995 && share <= 0.9905 ? 2 : 3)} %`;

export const vector = (values, digits = 3) => `(${values.map((value) => number(value, digits)).join(place ? "; " : ", ")})`;
export const coordinates = (values, digits = 4) => vector(values, digits);

const live = document.getElementById("live");
let saying = 0;

// What a screen reader says next; only the last of many.
export function say(words) {
  clearTimeout(saying);
  saying = setTimeout(() => {
    live.textContent = words;
  }, 60);
}

export function errorWords(problem) {
  const key = `error_${problem.code}`;
  const { most, ...rest } = problem.values;
  const values = { ...rest, most: typeof most === "number" ? number(most) : most, message: problem.message };
  return has(key) ? t(key, values) : t("error_other", values);
}

const notice = document.getElementById("notice");

export function notify(words) {
  notice.textContent = words;
  notice.hidden = !words;
}

export function element(tag, { text, className, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
