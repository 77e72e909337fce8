// The state of the page: points, settings, and the answers about them. Everything that shows a part of it subscribes.

export const VERSION = 1;

export const DEFAULTS = Object.freeze({
  method: "perceptron", order: "cyclic", start: "zeros", rate: 1, margin: 0, lift: true, renormalise: false, average: "last",
  passes: 1000, updates: 2000, seed: 0, kernel: { kind: "gaussian", c: 1 }, budget: null,
  intercept: "free", C: 1, variant: "PA", form: "primal",
});

export function emptyData() {
  return { columns: ["x", "y"], classes: ["−", "+"], rows: [], labels: [] };
}

export const state = {
  data: emptyData(), // the points as they are edited
  settings: { ...DEFAULTS },
  shown: emptyData(), // the points that the run is about; the picture draws these and the run, never a mixture
  run: null, // the answer about a run
  failure: null, // why there is no run
  verdict: null, // the last verdict
  judged: null, // the points that it is about
  verdictFailure: null,
  box: { left: -3, right: 3, bottom: -3, top: 3 },
  tool: "add",
  current: 1, // the class of new points
  selected: [], // numbers of points
  hovered: -1,
  moment: 0, // how many looks, or updates if looks are not listed, have been shown
  blend: 1, // how much of the update at this moment is drawn, from 0 to 1
  pace: "mistakes", // what Play stops at: "mistakes", or every look ("looks")
  playing: false,
  why: { kind: "", grown: 0 }, // the drawing of the proof: "witness" or "road", and how much of it is drawn
  road: null, // the widest road: a run of the largest margin
  preset: "",
  origin: null, // what Reset brings back
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

// Begin with other points: what Reset brings back is set, and nothing is selected.
export function begin({ data, settings, preset = "" }) {
  state.data = data;
  state.settings = { ...DEFAULTS, ...settings };
  state.preset = preset;
  state.origin = { data, settings: state.settings, preset };
  state.selected = [];
  state.hovered = -1;
}

// Change the points; they are no longer those of the preset.
export function edit(changes) {
  state.data = { ...state.data, ...changes };
  state.preset = "";
}

export const snapshot = () => JSON.stringify({ data: state.data, settings: state.settings });

export function restore(text) {
  const { data, settings } = JSON.parse(text);
  state.data = data;
  state.settings = { ...DEFAULTS, ...settings };
  state.selected = [];
  const { origin } = state;
  state.preset = origin && JSON.stringify({ data: origin.data, settings: origin.settings }) === text ? origin.preset : "";
}

export const classCount = (data = state.data) => new Set(data.labels).size;

export const isFlat = () => state.data.columns.length === 2;

// The places of the points that are drawn.
export function places() {
  if (state.shown.columns.length === 2) return state.shown.rows;
  return state.run ? state.run.view.places : [];
}

// The places of the points as they are edited.
export const placesNow = () => (isFlat() ? state.data.rows : places());

// Whether the verdict that is shown is about the points as they are.
export const isJudged = () => Boolean(state.verdict) && state.judged === state.data;

// The steps: looks at points if the answer lists them, otherwise updates; of a network its units, and the default.
export function frames() {
  const { run } = state;
  if (run?.units) return run.units.length + 1;
  if (!run?.updates) return 0;
  return run.visits ? run.visits.rows.length : run.updates.rows.length;
}

export function frameAt(moment) {
  const { run } = state;
  if (!run || !(run.updates || run.units)) return null;
  const { visits, updates } = run;
  if (moment <= 0) return { start: true, made: 0, before: 0, mistake: false, row: -1 };
  if (run.units) return { start: false, made: moment, before: moment - 1, mistake: false, row: -1 };
  if (!visits) {
    const at = moment - 1;
    return { start: false, row: updates.rows[at], score: updates.scores[at], mistake: true, before: at, made: moment };
  }
  const at = moment - 1, row = visits.rows[at], before = visits.updates[at];
  const mistake = before < updates.rows.length && updates.rows[before] === row
    && (at + 1 === visits.rows.length ? visits.scores[at] <= 0 || before + 1 === updates.rows.length : visits.updates[at + 1] > before);
  return { start: false, row, score: visits.scores[at], mistake, before, made: before + (mistake ? 1 : 0) };
}

// The moments at which Play, the slider and the buttons stop: the start, every mistake or every look, and the end.
const known = new WeakMap();

export function stops() {
  const last = frames();
  const { run } = state;
  if (!run?.visits || state.pace === "looks") return Array.from({ length: last + 1 }, (_, at) => at);
  if (!known.has(run)) {
    const found = [0];
    for (let at = 1; at <= last; at += 1) if (frameAt(at).mistake || at === last) found.push(at);
    known.set(run, found);
  }
  return known.get(run);
}

// The place in the list of stops of the last one that is not after the moment.
export function stopNow() {
  const list = stops();
  let [low, high] = [0, list.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (list[middle] <= state.moment) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function countsAt(made) {
  const counts = new Array(state.shown.rows.length).fill(0);
  const rows = state.run?.updates?.rows;
  if (rows) for (let at = 0; at < made; at += 1) counts[rows[at]] += 1;
  return counts;
}
