// The state of the page: points, settings, and the answers of the server. Everything that shows a part of it subscribes.

export const VERSION = 1;

export const DEFAULTS = Object.freeze({
  method: "perceptron", order: "cyclic", start: "zeros", rate: 1, lift: true, renormalise: false, average: "last",
  passes: 1000, updates: 2000, seed: 0, kernel: { kind: "gaussian", c: 1 }, budget: null,
  intercept: "free", C: 1, form: "primal",
});

export function emptyData() {
  return { columns: ["x", "y"], classes: ["−", "+"], rows: [], labels: [] };
}

export const state = {
  data: emptyData(),
  settings: { ...DEFAULTS },
  box: { left: -3, right: 3, bottom: -3, top: 3 },
  tool: "add",
  current: 1, // the class of new points
  selected: [], // numbers of points
  hovered: -1,
  moment: 0, // which step is shown
  playing: false,
  run: null, // the answer to the last question about a run
  verdict: null,
  failure: null, // why there is no run
  verdictFailure: null,
  preset: "",
  theme: "light",
};

const listeners = new Map();

export function on(topics, listener) {
  for (const topic of topics.split(" ")) {
    if (!listeners.has(topic)) listeners.set(topic, new Set());
    listeners.get(topic).add(listener);
  }
}

export function tell(topic) {
  for (const listener of listeners.get(topic) ?? []) listener();
}

export function snapshot() {
  return JSON.stringify({ data: state.data, settings: state.settings });
}

export function restore(text) {
  const { data, settings } = JSON.parse(text);
  state.data = data;
  state.settings = { ...DEFAULTS, ...settings };
  state.selected = [];
  state.preset = "";
}

export function classCount() {
  return new Set(state.data.labels).size;
}

export function isFlat() {
  return state.data.columns.length === 2;
}

export function places() {
  if (isFlat()) return state.data.rows;
  const run = state.run;
  return run && run.view.places.length === state.data.rows.length ? run.view.places : [];
}

// The steps: visits to rows if the answer lists them, otherwise updates.
export function frames() {
  const run = state.run;
  if (!run || !run.updates) return 0;
  return run.visits ? run.visits.rows.length : run.updates.rows.length;
}

export function frameAt(moment) {
  const run = state.run;
  if (!run || !run.updates) return null;
  const { visits, updates } = run;
  if (moment <= 0) return { start: true, made: 0, mistake: false, row: -1 };
  if (!visits) {
    const at = moment - 1;
    return { start: false, row: updates.rows[at], score: updates.scores[at], mistake: true, before: at, made: moment };
  }
  const at = moment - 1, row = visits.rows[at], before = visits.updates[at];
  const mistake = before < updates.rows.length && updates.rows[before] === row
    && (at + 1 === visits.rows.length ? visits.scores[at] <= 0 || before + 1 === updates.rows.length : visits.updates[at + 1] > before);
  return { start: false, row, score: visits.scores[at], mistake, before, made: before + (mistake ? 1 : 0) };
}

export function nextMistake(moment) {
  const last = frames();
  for (let at = moment + 1; at <= last; at += 1) if (frameAt(at).mistake) return at;
  return last;
}
