// Connect all parts of the page, and show the first state.

import { begin, on, state, tell, frames } from "./state.js";
import { about, ask, Refusal } from "./api.js";
import { refresh, statistics } from "./refresh.js";
import { commit, forget } from "./history.js";
import { counted, errorWords, fill, language, notify, number, say, setLanguage, t } from "./texts.js";
import { redraw } from "./picture.js";
import { fitBox } from "./view.js";
import { bounds } from "./points.js";
import { seen } from "./gestures.js";
import { goTo, pause, play } from "./timeline.js";
import { readLink, writeLink } from "./link.js";
import { back } from "./keyboard.js";
import { silence, suggest } from "./hint.js";
import { unexplain } from "./proof.js";
import { setChallenges } from "./challenges.js";
import { setLessons, startLesson } from "./lessons.js";
import { sizes, whenUsed } from "./table.js";
import "./strip.js";
import "./step.js";
import "./chart.js";
import "./method.js";
import "./side_by_side.js";
import "./ledger.js";
import "./lift3d.js";
import "./share.js";

const $ = (id) => document.getElementById(id);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const OPENING = 6; // seconds in which the first run is shown
let presets = [];
let fitting = false; // places of more than two columns are known with the run

function remembered(name, otherwise) {
  try {
    return localStorage.getItem(`separatrix-${name}`) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(`separatrix-${name}`, value);
  } catch {
    // without storage, the page works in the same way
  }
}

function showTheme() {
  const wish = $("theme").value;
  state.theme = wish === "auto" ? (dark.matches ? "dark" : "light") : wish;
  document.documentElement.dataset.theme = state.theme;
  tell("theme");
  redraw();
}

function showWords() {
  setLanguage($("language").value);
  fill();
  fillPresets();
  document.title = t("title");
  tell("words");
  redraw();
}

function fillPresets() {
  const list = $("preset");
  list.replaceChildren(...["", ...presets].map((name) => {
    const option = document.createElement("option");
    option.value = name;
    option.textContent = name ? t(`preset_${name}`) : t("preset_own");
    return option;
  }));
  list.value = state.preset;
}

// Show new points: all of them in view, then the run.
function showAll(moment = "start") {
  pause();
  unexplain();
  notify("");
  state.shown = state.data;
  state.run = null;
  state.verdict = null;
  fitting = state.data.columns.length !== 2;
  fitBox();
  for (const topic of ["settings", "classes", "selection"]) tell(topic);
  refresh({ moment });
}

async function choosePreset(name, moment = "start") {
  try {
    const { data, settings } = await ask("preset", { name });
    begin({ data, settings, preset: name });
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem;
    notify(errorWords(problem));
    return false;
  }
  commit();
  showAll(moment);
  return true;
}

$("preset").addEventListener("change", () => {
  silence();
  if ($("preset").value) choosePreset($("preset").value);
});
$("reset").addEventListener("click", () => {
  begin(state.origin);
  commit();
  showAll("end");
});
$("language").addEventListener("change", () => {
  remember("language", $("language").value);
  showWords();
});
$("theme").addEventListener("change", () => {
  remember("theme", $("theme").value);
  showTheme();
});
$("menu").addEventListener("click", () => {
  const open = $("tools").classList.toggle("open");
  $("menu").setAttribute("aria-expanded", String(open));
});
document.addEventListener("click", (event) => {
  if (event.target.closest("#tools, #menu") && !event.target.closest("#tools button")) return;
  $("tools").classList.remove("open");
  $("menu").setAttribute("aria-expanded", "false");
});
dark.addEventListener("change", showTheme);
$("undo").addEventListener("click", () => back());
$("redo").addEventListener("click", () => back(true));
whenUsed(() => showAll());

on("data settings", () => {
  $("empty").hidden = state.data.rows.length > 0;
  $("reset").disabled = !state.origin || (state.origin.data === state.data && JSON.stringify(state.origin.settings) === JSON.stringify(state.settings));
  if ($("preset").value !== state.preset) $("preset").value = state.preset;
  writeLink();
  redraw();
});
on("run", () => {
  if (fitting && state.run) {
    fitting = false;
    fitBox();
    seen();
  }
  if (state.run && !state.playing) say(state.run.updates ? t("live_run", { mistakes: counted(state.run.mistakes), ended: t(`ended_${state.run.status}`) }) : state.run.units ? t("units_all", { units: counted(state.run.units.length) }) : t("solved"));
  else if (state.failure) say(errorWords(state.failure));
  redraw();
});
on("moment", () => {
  writeLink();
  redraw();
});
let resized = 0;
new ResizeObserver(() => {
  redraw();
  clearTimeout(resized);
  resized = setTimeout(seen, 200);
}).observe($("plot"));

// Do something once, with the next run.
function once(action) {
  let done = false;
  on("run", () => {
    if (done || !state.run) return;
    done = true;
    action();
  });
}

async function open() {
  const link = readLink();
  if (!link) return false;
  silence();
  if (link.preset) return choosePreset(link.preset, "end");
  if (link.problem) {
    notify(t(link.problem));
    return false;
  }
  begin(link);
  forget();
  once(() => goTo(link.moment, { quiet: true }));
  showAll("start");
  return true;
}

// The line swings through its mistakes; then the page suggests what to try.
function opening() {
  if (still.matches) goTo(frames(), { quiet: true });
  else play(OPENING);
  const end = () => {
    if (!state.playing) suggest();
  };
  if (state.playing) on("playing", end);
  else end();
}

async function start() {
  $("language").value = remembered("language", navigator.language?.startsWith("de") ? "de" : "en");
  $("theme").value = remembered("theme", "auto");
  setLanguage($("language").value);
  showTheme();
  showWords();
  const told = await about();
  presets = told.presets;
  bounds.points = told.limits.points;
  sizes.classes = told.limits.classes;
  sizes.columns = told.limits.columns;
  $("version").textContent = told.version;
  setLessons(told.lessons, showAll);
  setChallenges(showAll);
  fillPresets();
  const patience = setTimeout(() => notify(t("starting")), 3000);
  once(() => {
    clearTimeout(patience);
    if ($("notice").textContent === t("starting")) notify("");
  });
  const wanted = new URLSearchParams(location.search).get("lesson");
  if (wanted) {
    await startLesson(wanted);
  } else if (!(await open())) {
    const broken = $("notice").textContent;
    once(opening);
    await choosePreset("separable");
    notify(broken);
  }
  forget();
  document.documentElement.dataset.ready = "true";
}

window.addEventListener("hashchange", () => {
  if (readLink()) open();
});

// For tests and for the console.
window.separatrix = { state, statistics, language, number };

start();
