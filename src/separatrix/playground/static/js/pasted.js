// Read a pasted table: its columns, and the numbers in them.

import { Refusal } from "./engine/refusal.js";

const MOST_ROWS = 5000, MOST_COLUMNS = 1000, MOST_CLASSES = 4, LONGEST = 60;
const LARGEST = 1e9;
const NUMBER = /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/;
const COMMA = /^[+-]?[0-9]+(,[0-9]+)?$/; // a number with a decimal comma

const refused = (message) => new Refusal("table", message);

function numberOf(cell, comma) {
  const text = cell.trim();
  if (!(comma ? COMMA : NUMBER).test(text)) return null;
  const value = Number(comma ? text.replace(",", ".") : text);
  return Math.abs(value) <= LARGEST ? value : null;
}

// CSV, TSV or semicolons; the first line names the columns unless all of it is numbers.
export function readTable({ text }) {
  const separator = separatorOf(text);
  const lines = linesOf(text.replace(/^\ufeff/, ""), separator).filter((line) => line.some((cell) => cell.trim()));
  if (lines.length < 2) throw refused("The table needs a line of names and at least one row.");
  const width = lines[0].length;
  if (width < 2 || width > MOST_COLUMNS) throw refused(`The table needs from 2 to ${MOST_COLUMNS} columns. Got ${width}.`);
  const commas = separator === "," ? [false] : [false, true];
  const read = (cells) => commas.map((comma) => cells.map((cell) => numberOf(cell, comma))).find((numbers) => numbers.every((value) => value !== null)) ?? null;
  const named = read(lines[0]) === null;
  const whole = lines.slice(named ? 1 : 0).filter((line) => line.length === width && line.every((cell) => cell.trim()));
  if (!whole.length) throw refused("No row of the table is complete.");
  if (whole.length > MOST_ROWS) throw new Refusal("too_many_points", `The table has ${whole.length} rows; ${MOST_ROWS} are the most here.`, { got: whole.length, most: MOST_ROWS });
  const columns = lines[0].map((_, at) => whole.map((line) => line[at].trim()));
  const numbers = columns.map(read);
  const shown = columns.map((column, at) => numbers[at] ?? column.map((cell) => cell.slice(0, LONGEST)));
  return {
    columns: lines[0].map((name, at) => (named ? name.trim().slice(0, LONGEST) || `column ${at}` : `x${at}`)),
    numeric: numbers.map(Boolean),
    rows: whole.map((_, row) => shown.map((column) => column[row])),
    scaled: numbers.map((column) => (column ? scaled(column) : [])),
    target: targetOf(columns, numbers),
    skipped: lines.length - (named ? 1 : 0) - whole.length,
  };
}

// A tab or a semicolon that is in the first two lines equally often, else the comma.
function separatorOf(text) {
  const [first, second = ""] = text.trim().split(/\r\n|\r|\n/);
  const count = (line, separator) => line.split(separator).length - 1;
  return ["\t", ";"].find((separator) => count(first, separator) && count(first, separator) === count(second, separator)) ?? ",";
}

// The cells of each line; quotation marks may enclose separators and line ends.
function linesOf(text, separator) {
  const lines = [[""]];
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const line = lines.at(-1);
    const letter = text[at];
    if (quoted) {
      if (letter !== '"') line[line.length - 1] += letter;
      else if (text[at + 1] === '"') {
        line[line.length - 1] += '"';
        at += 1;
      } else quoted = false;
    } else if (letter === '"' && line.at(-1) === "") quoted = true;
    else if (letter === separator) line.push("");
    else if (letter === "\n" || letter === "\r") {
      if (letter === "\r" && text[at + 1] === "\n") at += 1;
      lines.push([""]);
    } else line[line.length - 1] += letter;
  }
  if (quoted) throw refused("A quotation mark is not closed.");
  return lines;
}

// Mean 0 and deviation 1, in multiples of 1/64, so that fractions in proofs stay short.
function scaled(column) {
  if (column.every((value) => value === column[0])) return column.map(() => 0);
  const size = Math.max(...column.map(Math.abs));
  const mean = column.reduce((total, value) => total + value / size, 0) / column.length;
  const moved = column.map((value) => value / size - mean);
  const largest = Math.max(...moved.map(Math.abs)); // so that no square underflows
  const deviation = Math.sqrt(moved.reduce((total, value) => total + (value / largest) ** 2, 0) / column.length);
  return moved.map((value) => Math.round((64 * value) / largest / deviation) / 64);
}

// The last column of text with few values, else the last column with few values.
function targetOf(columns, numbers) {
  const few = columns.map((column, at) => [at, new Set(column).size]).filter(([, count]) => count >= 2 && count <= MOST_CLASSES).map(([at]) => at);
  const text = few.filter((at) => !numbers[at]);
  return text.at(-1) ?? few.at(-1) ?? columns.length - 1;
}
