// When questions are asked: while a run is computed, a later request replaces the one that waits.

import { state, tell, frames, classCount, places } from "./state.js";
import { Refusal, ask } from "./api.js";
import { viewOfCanvas } from "./picture.js";

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

// The visible rectangle and a little more, so that the regions of a kernel reach the edges.
function shownBox() {
  const { left, right, bottom, top } = viewOfCanvas().shown;
  return [left, right, bottom, top].every(Number.isFinite) && right > left ? { left, right, bottom, top } : state.box;
}

const askRun = newest(async (live, moment) => {
  const data = state.data;
  if (classCount() < 2) {
    state.run = null;
    state.failure = data.rows.length ? new Refusal("one_class", "", {}) : null;
    tell("run");
    return;
  }
  const atEnd = state.moment >= frames();
  try {
    const settings = state.settings;
    const box = places().length ? shownBox() : null;
    const answer = await ask("run", { data, settings, box, live });
    if (answer.view.places.length !== state.data.rows.length) return; // a newer question is on its way
    state.run = answer;
    state.failure = null;
    statistics.runs += 1;
    if (moment === "start") state.moment = 0;
    else state.moment = atEnd || moment === "end" ? frames() : Math.min(state.moment, frames());
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem;
    state.run = null;
    state.failure = problem;
    state.moment = 0;
  }
  tell("run");
});

const askVerdict = newest(async () => {
  if (classCount() < 2) {
    state.verdict = null;
    state.verdictFailure = null;
    tell("verdict");
    return;
  }
  const data = state.data;
  const text = JSON.stringify(data);
  try {
    const answer = await ask("verdict", { data, settings: state.settings });
    if (JSON.stringify(state.data) !== text) return;
    state.verdict = answer;
    state.verdictFailure = null;
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem;
    state.verdict = null;
    state.verdictFailure = problem;
  }
  tell("verdict");
});

let later = 0;

export function refresh({ live = false, moment = "keep" } = {}) {
  tell("data");
  clearTimeout(later);
  state.verdict = null;
  tell("verdict");
  askRun(live, moment);
  later = setTimeout(askVerdict, live ? 250 : 30);
}
