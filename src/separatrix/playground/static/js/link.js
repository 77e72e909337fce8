// The state in the address, after the #: it is never sent to a server.

import { presetAddress, sharedAddress } from "./api.js";
import { VERSION, DEFAULTS, state } from "./state.js";

const LONGEST = 60_000;

function toText(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function toBytes(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}

export function encodeState() {
  const settings = Object.fromEntries(Object.entries(state.settings).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(DEFAULTS[name])));
  const told = { v: VERSION, data: state.data, settings, moment: state.moment };
  const text = `s=${toText(new TextEncoder().encode(JSON.stringify(told)))}`;
  return text.length > LONGEST ? null : text;
}

// The whole state, or the name of a preset that is unchanged and at its end.
export function linkNow() {
  if (state.preset) return presetAddress(state.preset);
  const text = encodeState();
  return text === null ? null : `${sharedAddress()}#${text}`;
}

const isText = (value) => typeof value === "string" && value.length <= 60;
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

function readable({ columns, classes, rows, labels }) {
  return Array.isArray(columns) && columns.length >= 1 && columns.every(isText)
    && Array.isArray(classes) && classes.length >= 2 && classes.length <= 4 && classes.every(isText)
    && Array.isArray(rows) && rows.every((row) => Array.isArray(row) && row.length === columns.length && row.every(isNumber))
    && Array.isArray(labels) && labels.length === rows.length && labels.every((label) => Number.isInteger(label) && label >= 0 && label < classes.length);
}

const KINDS = ["linear", "polynomial", "gaussian", "geometric", "sum", "product", "scaled", "shifted", "power", "exp"];

function isBlock(value, depth = 0) {
  if (!value || typeof value !== "object" || !KINDS.includes(value.kind) || depth > 12) return false;
  if (["degree", "c", "exponent"].some((name) => name in value && !isNumber(value[name]))) return false;
  if (value.kind === "sum" || value.kind === "product") return Array.isArray(value.parts) && value.parts.length > 0 && value.parts.every((part) => isBlock(part, depth + 1));
  return ["scaled", "shifted", "power", "exp"].includes(value.kind) ? isBlock(value.part, depth + 1) : true;
}

// Return whether a setting has the correct type. The server decides whether its value is allowed.
function plausible(name, value) {
  if (name === "kernel") return isBlock(value);
  if (name === "budget") return value === null || isNumber(value);
  return typeof value === typeof DEFAULTS[name];
}

// Read the address: a state, or the name of the problem, or nothing.
export function readLink(hash = location.hash) {
  if (hash.startsWith("#p=")) return { preset: hash.slice(3) };
  if (!hash.startsWith("#s=")) return null;
  let told;
  try {
    told = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(toBytes(hash.slice(3))));
  } catch {
    return { problem: "link_broken" };
  }
  if (!told || typeof told !== "object" || !Number.isInteger(told.v)) return { problem: "link_broken" };
  if (told.v > VERSION) return { problem: "link_newer" };
  if (!told.data || typeof told.data !== "object" || !readable(told.data)) return { problem: "link_broken" };
  const { columns, classes, rows, labels } = told.data;
  const settings = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS)) if (told.settings && name in told.settings && plausible(name, told.settings[name])) settings[name] = told.settings[name];
  return { data: { columns, classes, rows, labels }, settings, moment: Number.isInteger(told.moment) ? told.moment : 0 };
}

let due = 0;

// Update the address without a new entry in the browser's history.
export function writeLink() {
  clearTimeout(due);
  due = setTimeout(() => {
    const text = state.data.rows.length ? encodeState() : null;
    const here = `${location.pathname}${location.search}`;
    history.replaceState(null, "", text === null ? here : `${here}#${text}`);
  }, 400);
}
