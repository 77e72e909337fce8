// Time: forward, back, play at any speed, drag, jump to the next mistake.

import { state, on, tell, frames, frameAt, nextMistake } from "./state.js";
import { number, say, t } from "./texts.js";

const $ = (id) => document.getElementById(id);
const slider = $("moment");
const reduced = window.matchMedia("(prefers-reduced-motion: reduce)");
let timer = 0;
let owed = 0;
let before = 0;

export function goTo(moment, { quiet = false } = {}) {
  const last = frames();
  state.moment = Math.max(0, Math.min(last, Math.round(moment)));
  tell("moment");
  if (!quiet) announce();
}

function announce() {
  const step = frameAt(state.moment);
  if (!step) return;
  if (step.start) say(t("live_start"));
  else {
    const values = { made: step.made, row: step.row, score: number(step.score) };
    const end = state.moment === frames() ? ` ${t("live_end", { mistakes: state.run.mistakes })}` : "";
    say(t(step.mistake ? "live_mistake" : "live_right", values) + end);
  }
}

// Steps per second: from one in two seconds to two thousand per second.
export const stepsPerSecond = () => 0.5 * 4000 ** (Number($("speed").value) / 100);

function tick(now) {
  if (!state.playing) return;
  owed += ((now - before) / 1000) * stepsPerSecond();
  before = now;
  const whole = Math.floor(owed);
  if (whole > 0) {
    owed -= whole;
    goTo(state.moment + whole, { quiet: true });
    if (state.moment >= frames()) {
      pause();
      announce();
      return;
    }
  }
  timer = requestAnimationFrame(tick);
}

export function play() {
  if (!frames()) return;
  if (state.moment >= frames()) goTo(0, { quiet: true });
  state.playing = true;
  owed = reduced.matches ? 0 : 1;
  before = performance.now();
  timer = requestAnimationFrame(tick);
  tell("playing");
}

export function pause() {
  if (!state.playing) return;
  state.playing = false;
  cancelAnimationFrame(timer);
  tell("playing");
}

export const toggle = () => (state.playing ? pause() : play());

export function act(way) {
  pause();
  const moves = {
    start: () => 0,
    back: () => state.moment - 1,
    next: () => state.moment + 1,
    mistake: () => nextMistake(state.moment),
    end: () => frames(),
  };
  goTo(moves[way]());
}

$("to-start").addEventListener("click", () => act("start"));
$("step-back").addEventListener("click", () => act("back"));
$("step-next").addEventListener("click", () => act("next"));
$("next-mistake").addEventListener("click", () => act("mistake"));
$("to-end").addEventListener("click", () => act("end"));
$("play").addEventListener("click", toggle);
slider.addEventListener("input", () => {
  pause();
  goTo(Number(slider.value));
});

function show() {
  const last = frames();
  const steps = Boolean(state.run?.updates);
  slider.max = String(last);
  slider.value = String(state.moment);
  slider.disabled = !last;
  $("no-steps").hidden = !state.run || steps;
  $("timeline").hidden = Boolean(state.run) && !steps;
  for (const [id, off] of [["to-start", state.moment <= 0], ["step-back", state.moment <= 0], ["step-next", state.moment >= last], ["next-mistake", state.moment >= last], ["to-end", state.moment >= last], ["play", !last]]) $(id).disabled = off;
  const step = frameAt(state.moment);
  if (!step) $("moment-text").textContent = "";
  else if (state.run.visits) $("moment-text").textContent = t("at_look", { at: state.moment, of: last, made: step.made, all: state.run.updates.rows.length });
  else $("moment-text").textContent = t("at_update", { at: state.moment, of: last });
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
