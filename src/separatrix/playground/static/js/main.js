// Connect all parts of the page, and show the first state.

import { DEFAULTS, emptyData, on, state, tell } from "./state.js";
import { about, ask } from "./api.js";
import { refresh, statistics } from "./refresh.js";
import { begin, commit } from "./history.js";
import { fill, language, notify, number, say, setLanguage, t } from "./texts.js";
import { fitBox, redraw } from "./picture.js";
import { bounds } from "./points.js";
import { goTo, pause } from "./timeline.js";
import { readLink, writeLink } from "./link.js";
import { back } from "./keyboard.js";
import { setLessons, startLesson } from "./lessons.js";
import { startTour } from "./tour.js";
import { sizes, whenUsed } from "./table.js";
import "./toolbar.js";
import "./step.js";
import "./verdict.js";
import "./method.js";
import "./curves.js";
import "./ledger.js";
import "./lift3d.js";
import "./export.js";

const $ = (id) => document.getElementById(id);
const dark = window.matchMedia("(prefers-color-scheme: dark)");

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

let presets = [];

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
let fitting = false;

function showAll(moment = "start") {
  pause();
  state.run = null;
  state.verdict = null;
  fitting = state.data.columns.length !== 2;
  fitBox();
  tell("settings");
  tell("classes");
  tell("selection");
  refresh({ moment });
}

async function choosePreset(name) {
  if (!name) return;
  const answer = await ask("preset", { name });
  state.data = answer.data;
  state.settings = { ...DEFAULTS, ...answer.settings };
  state.preset = name;
  state.selected = [];
  commit();
  notify("");
  showAll();
}

$("preset").addEventListener("change", () => choosePreset($("preset").value));
$("language").addEventListener("change", () => {
  remember("language", $("language").value);
  showWords();
});
$("theme").addEventListener("change", () => {
  remember("theme", $("theme").value);
  showTheme();
});
dark.addEventListener("change", showTheme);
$("undo").addEventListener("click", () => back());
$("redo").addEventListener("click", () => back(true));
whenUsed(() => showAll());

on("data", () => {
  $("empty").hidden = state.data.rows.length > 0;
  if ($("preset").value !== state.preset) $("preset").value = state.preset;
  writeLink();
  redraw();
});
on("run", () => {
  if (fitting && state.run) {
    fitting = false;
    fitBox();
    if (state.settings.method === "kernel" || state.settings.average === "voted") refresh({ moment: "start" });
  }
  const failure = state.failure;
  if (state.run && !state.playing) say(t("live_run", { mistakes: state.run.mistakes, ended: t(state.run.updates ? `ended_${state.run.status}` : "solved") }));
  else if (failure) say(failure.message);
  redraw();
});
on("moment", () => {
  writeLink();
  redraw();
});
let resized = 0;
new ResizeObserver(() => {
  redraw();
  clearTimeout(resized); // a kernel's regions are computed for what is seen
  if (state.run?.field) resized = setTimeout(() => refresh(), 300);
}).observe($("plot"));

async function open() {
  const link = readLink();
  if (!link) return false;
  if (link.problem) {
    notify(t(link.problem));
    return false;
  }
  state.data = link.data;
  state.settings = link.settings;
  state.preset = "";
  begin();
  showAll("start");
  const arrive = () => {
    if (!state.run) return;
    goTo(link.moment, { quiet: true });
    arrived = true;
  };
  let arrived = false;
  on("run", () => { if (!arrived) arrive(); });
  return true;
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
  fillPresets();
  begin();
  const patience = setTimeout(() => notify(t("starting")), 3000);
  on("run", () => {
    clearTimeout(patience);
    if ($("notice").textContent === t("starting")) notify("");
  });
  const wanted = new URLSearchParams(location.search).get("lesson");
  if (wanted) startLesson(wanted);
  else if (!(await open())) {
    state.data = emptyData();
    await choosePreset("separable");
    begin();
    const link = readLink();
    if (link?.problem) notify(t(link.problem));
  }
  document.documentElement.dataset.ready = "true";
  if (remembered("tour", "") !== "seen" && !wanted) {
    remember("tour", "seen");
    startTour();
  }
}

window.addEventListener("hashchange", () => {
  if (readLink()) open();
});

// For tests and for the console.
window.separatrix = { state, statistics, language, number };

start();
