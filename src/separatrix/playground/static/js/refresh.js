// When questions are asked: while one is computed, a later one replaces the one that waits.

import { DEFAULTS, state, tell, frames, classCount, placesNow } from "./state.js";
import { Refusal, ask } from "./api.js";
import { viewOfCanvas } from "./view.js";

const FARTHEST = 1e9; // the largest coordinate that a question may have
const IDLE = 250; // milliseconds after the last move until the whole run is asked for

function newest(work) {
  let busy = false;
  let waiting = null;
  return async function next(...values) {
    if (busy) {
      waiting = values;
      return;
    }
    busy = true;
    try {
      await work(...values);
    } finally {
      busy = false;
      if (waiting) {
        const again = waiting;
        waiting = null;
        next(...again);
      }
    }
  };
}

export const statistics = { runs: 0 };

// The visible rectangle, so that the regions of a kernel reach the edges.
function shownBox() {
  if (!placesNow().length) return null;
  const within = (value) => Math.max(-FARTHEST, Math.min(FARTHEST, value));
  const [left, right, bottom, top] = ["left", "right", "bottom", "top"].map((side) => within(viewOfCanvas().shown[side]));
  return right > left && top > bottom ? { left, right, bottom, top } : null;
}

function refusalOf(problem) {
  if (problem instanceof Refusal) return problem;
  throw problem;
}

// Return why the points cannot be asked about, or null.
function unready({ rows, labels }) {
  if (!rows.length) return new Refusal("empty", "", {});
  if (new Set(labels).size < 2) return new Refusal("one_class", "", {});
  return rows.some((row) => row.some((value) => Math.abs(value) > FARTHEST)) ? new Refusal("coordinates", "", { most: FARTHEST }) : null;
}

const askRun = newest(async (live, moment) => {
  const { data, settings } = state;
  const atEnd = state.moment >= frames();
  let failure = unready(data);
  let run = null;
  if (!failure) {
    try {
      run = await ask("run", { data, settings, box: shownBox(), live });
      statistics.runs += 1;
    } catch (problem) {
      failure = refusalOf(problem);
    }
  }
  state.shown = data;
  state.run = run;
  state.failure = failure;
  state.blend = 1;
  if (moment === "start" || !run) state.moment = 0;
  else state.moment = atEnd || moment === "end" ? frames() : Math.min(state.moment, frames());
  tell("run");
});

const askVerdict = newest(async () => {
  const { data, settings } = state;
  let failure = unready(data);
  let verdict = null;
  if (!failure) {
    try {
      verdict = await ask("verdict", { data, settings });
    } catch (problem) {
      failure = refusalOf(problem);
    }
  }
  state.verdict = verdict;
  state.judged = data;
  state.verdictFailure = failure;
  tell("verdict");
});

let idle = 0;

export function refresh({ live = false, moment = "keep" } = {}) {
  clearTimeout(idle);
  state.road = null;
  tell("data");
  askRun(live, moment);
  askVerdict();
  if (live) idle = setTimeout(() => askRun(false, "keep"), IDLE);
}

// Ask for the widest road between two classes; null if they have no road or nobody can tell.
export async function askRoad() {
  const { data, settings: { lift } } = state;
  if (classCount() !== 2 || data.columns.length !== 2) return;
  let road = null;
  try {
    road = await ask("run", { data, settings: { ...DEFAULTS, method: "max_margin", lift }, box: null, live: true });
  } catch (problem) {
    refusalOf(problem);
  }
  if (state.data !== data) return;
  state.road = road;
  tell("road");
}
