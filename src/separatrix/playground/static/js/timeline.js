// Time: forward, back, play, drag; from mistake to mistake, or from look to look.

import { state, on, tell, frames, frameAt, stops, stopNow } from "./state.js";
import { flush } from "./picture.js";
import { counted, number, say, stepKind, t } from "./texts.js";

const $ = (id) => document.getElementById(id);
const slider = $("moment");
const reduced = window.matchMedia("(prefers-reduced-motion: reduce)");
const SWING = 0.75; // seconds at most in which a line moves from one mistake to the next
let timer = 0;
let turn = null; // how Play goes: when it began, from which stop, seconds per stop

export function goTo(moment, { quiet = false } = {}) {
  state.moment = Math.max(0, Math.min(frames(), Math.round(moment)));
  state.blend = 1;
  tell("moment");
  if (!quiet) announce();
}

function announce() {
  const step = frameAt(state.moment);
  if (!step) return;
  if (step.start) say(t("live_start"));
  else if (state.run.units) say($("step").textContent);
  else {
    const end = state.moment === frames() ? ` ${t("live_end", { mistakes: counted(state.run.mistakes) })}` : "";
    say(t(step.mistake ? `live_${stepKind()}` : "live_right", { made: step.made, row: step.row + 1, score: number(step.score) }) + end);
  }
}

function tick(now) {
  if (!state.playing) return;
  const list = stops();
  const passed = (now - turn.began) / 1000 / turn.each;
  const at = Math.min(list.length - 1, turn.from + 1 + Math.floor(passed));
  const part = (passed - Math.floor(passed)) * turn.each;
  state.moment = list[at];
  state.blend = reduced.matches || turn.each < 0.1 ? 1 : Math.min(1, part / Math.min(SWING, 0.7 * turn.each));
  tell("moment");
  flush();
  if (turn.from + 1 + passed >= list.length) {
    pause();
    goTo(frames());
    return;
  }
  timer = requestAnimationFrame(tick);
}

// Play the run to its end, in as many seconds as it takes to see it: 8 to 12 for the mistakes.
export function play(seconds = null) {
  if (!frames()) return;
  if (state.moment >= frames()) goTo(0, { quiet: true });
  const count = stops().length - 1;
  const longest = state.pace === "looks" ? 40 : 12;
  const whole = seconds ?? Math.max(8, Math.min(longest, count / 4));
  turn = { began: performance.now(), from: stopNow(), each: whole / count };
  state.playing = true;
  timer = requestAnimationFrame(tick);
  tell("playing");
}

export function pause() {
  if (!state.playing) return;
  state.playing = false;
  state.blend = 1;
  cancelAnimationFrame(timer);
  tell("playing");
  tell("moment");
}

export const toggle = () => (state.playing ? pause() : play());

export function act(way) {
  pause();
  const list = stops();
  const here = stopNow();
  const exact = list[here] === state.moment;
  const moves = { start: 0, back: list[Math.max(0, exact ? here - 1 : here)], next: list[Math.min(list.length - 1, here + 1)], end: frames() };
  goTo(moves[way] ?? 0);
}

for (const way of ["start", "back", "next", "end"]) $(`to-${way}`).addEventListener("click", () => act(way));
$("play").addEventListener("click", toggle);
$("pace").addEventListener("change", () => {
  pause();
  state.pace = $("pace").value;
  goTo(stops()[stopNow()]);
});
slider.addEventListener("input", () => {
  pause();
  goTo(stops()[Number(slider.value)]);
});

function show() {
  const list = stops();
  const here = stopNow();
  const last = frames();
  const steps = Boolean(state.run?.updates || state.run?.units);
  slider.max = String(list.length - 1);
  slider.value = String(here);
  slider.disabled = !last;
  $("no-steps").hidden = !state.run || steps;
  $("timeline").classList.toggle("idle", Boolean(state.run) && !steps);
  for (const [id, off] of [["to-start", state.moment <= 0], ["to-back", state.moment <= 0], ["to-next", state.moment >= last], ["to-end", state.moment >= last], ["play", !last]]) $(id).disabled = off;
  $("pace").disabled = !state.run?.visits;
  $("pace").hidden = Boolean(state.run?.units);
  const step = frameAt(state.moment);
  const values = step && { made: step.made, all: state.run.updates?.rows.length ?? last - 1, at: state.moment, of: last };
  $("moment-text").textContent = !step ? "" : step.made > values.all ? t("at_default") : t(state.run.visits && state.pace === "looks" ? "at_look" : `at_${stepKind()}`, values);
  $("counter").textContent = step ? counted(Math.min(step.made, values.all)) : "";
  slider.setAttribute("aria-valuetext", $("moment-text").textContent);
}

function showPlaying() {
  const button = $("play");
  button.querySelector("use").setAttribute("href", state.playing ? "#i-pause" : "#i-play");
  button.dataset.label = state.playing ? "pause" : "play";
  button.setAttribute("aria-label", t(button.dataset.label));
  button.title = t(button.dataset.label);
}

on("run moment words", show);
on("playing words", showPlaying);
