// Lessons in place of the tabs: each step has a sentence, a prediction before its answer, and a task that is checked.

import { begin, emptyData, on, state, frameAt, frames, isJudged } from "./state.js";
import { ask } from "./api.js";
import { commit } from "./history.js";
import { silence } from "./hint.js";
import { showLift } from "./lift3d.js";
import { closeRail, openRail } from "./rail.js";
import { openTab } from "./tabs.js";
import { element, say, t } from "./texts.js";

const lift = document.getElementById("lift-view");
const sheet = document.getElementById("sheet");
let lessons = [];
let show = () => {};
let lesson = null;
let at = 0;
let guess = -1; // the option that was chosen
let done = false; // whether the task was done

// What a task may ask for, each with its value.
const HOLDS = {
  made: (count) => (frameAt(state.moment)?.made ?? 0) >= count,
  end: () => frames() > 0 && state.moment >= frames() && !state.playing,
  below: (count) => Boolean(state.run?.converged) && state.run.mistakes < count,
  mistakes: (count) => state.run?.mistakes === count,
  bound: (least) => (state.run?.proof?.bound ?? 0) > least,
  status: (status) => isJudged() && state.verdict.status === status,
  setting: ([name, value]) => state.settings[name] === value,
  degree: (degree) => state.settings.kernel.degree === degree,
  edited: () => state.data !== state.origin.data,
  fewer: (count) => state.data.rows.length < count,
  lift: () => !lift.hidden,
  why: (kind) => state.why.kind === kind && state.why.grown >= 1,
};

const isDone = (task) => state.shown === state.data && Object.entries(task).every(([name, value]) => HOLDS[name](value));

export function setLessons(list, shown) {
  lessons = list;
  show = shown;
}

export async function startLesson(name) {
  lesson = lessons.find((each) => each.name === name) ?? null;
  at = 0;
  if (lesson) await enter();
}

async function enter() {
  const step = lesson.states[at];
  const prepared = step.preset ? await ask("preset", { name: step.preset }) : null;
  silence();
  [guess, done] = [-1, false];
  begin({ data: step.data ?? prepared?.data ?? emptyData(), settings: { ...prepared?.settings, ...step.settings }, preset: "" });
  commit();
  showLift(false);
  openTab(step.view === "curves" ? "step" : step.view);
  sheet.classList.toggle("curves", step.view === "curves");
  show(step.moment);
  render();
  say(`${t(key())} ${t(`${key()}_question`)}`);
}

const key = () => `lesson_${lesson.name}_${at + 1}`;

function button(words, action, attributes = {}) {
  const made = element("button", { type: "button", text: words, ...attributes });
  made.addEventListener("click", action);
  return made;
}

function list() {
  const items = lessons.map(({ name }) => element("li", {}, button(t(`lesson_${name}`), () => startLesson(name))));
  openRail("lessons", t("lessons"), [element("p", { className: "small muted", text: t("lessons_help") }), element("ul", { className: "plain", id: "lessons-list" }, ...items)]);
}

// The options of the question; after a choice, which one is right, and why.
function prediction(step) {
  const options = t(`${key()}_options`).split("|").flatMap((words, option) => {
    if (guess >= 0 && option !== guess && option !== step.answer) return [];
    const chosen = option === guess;
    const mark = guess < 0 ? "" : option === step.answer ? "✓ " : chosen ? "✗ " : "";
    const kind = guess < 0 ? "" : option === step.answer ? "right" : chosen ? "mistake" : "muted";
    return button(mark + words, () => {
      guess = option;
      render();
      document.getElementById("lesson-task").scrollIntoView({ block: "nearest" });
      say(t(`${key()}_answer`));
    }, { className: `option ${kind}`, "aria-pressed": String(chosen), disabled: guess >= 0 });
  });
  return [
    element("p", { className: "lead", id: "lesson-question", text: t(`${key()}_question`) }),
    element("div", { className: "options" }, ...options),
    ...(guess < 0 ? [] : [element("p", { id: "lesson-answer", text: t(`${key()}_answer`) })]),
  ];
}

function render() {
  if (!lesson) return;
  const step = lesson.states[at];
  const task = element("p", { id: "lesson-task", className: done ? "task right" : "task", text: `${done ? "☑" : "☐"} ${t(`${key()}_task`)}` });
  const last = at === lesson.states.length - 1;
  const buttons = element("div", { className: "row" },
    button(t("back"), () => { at -= 1; enter(); }, { id: "lesson-back", disabled: at === 0 }),
    button(t("next"), () => { at += 1; enter(); }, { id: "lesson-next", disabled: last, className: done ? "primary" : "" }),
    element("span", { className: "muted small", id: "lesson-count", text: `${at + 1} / ${lesson.states.length}` }));
  openRail("lesson", t(`lesson_${lesson.name}`), [element("p", { id: "lesson-text", text: t(key()) }), ...prediction(step), task, buttons], () => { lesson = null; });
}

function check() {
  if (!lesson || done || !isDone(lesson.states[at].task)) return;
  done = true;
  render();
  say(t("task_done"));
}

document.getElementById("open-lessons").addEventListener("click", () => {
  if (lesson) closeRail();
  list();
});
on("run verdict moment playing settings why tab lift", check);
on("words", () => { if (lesson) render(); });
