// Lessons: prepared states, each with a sentence, a question and its answer.

import { DEFAULTS, emptyData, on, state } from "./state.js";
import { ask } from "./api.js";
import { commit } from "./history.js";
import { element, say, t } from "./texts.js";

const $ = (id) => document.getElementById(id);
const dialog = $("lessons-dialog");
let lessons = [];
let lesson = null;
let at = 0;
let show = () => {};

export function setLessons(list, shown) {
  lessons = list;
  show = shown;
  fillList();
}

function fillList() {
  $("lessons-list").replaceChildren(...lessons.map((each) => {
    const button = element("button", { type: "button", text: t(`lesson_${each.name}`) });
    button.addEventListener("click", () => {
      dialog.close();
      startLesson(each.name);
    });
    return element("li", {}, button);
  }));
}

export function startLesson(name) {
  lesson = lessons.find((each) => each.name === name) ?? null;
  at = 0;
  if (lesson) enter();
}

async function enter() {
  const step = lesson.states[at];
  const prepared = step.preset ? await ask("preset", { name: step.preset }) : null;
  state.data = step.data ?? prepared?.data ?? emptyData();
  state.settings = { ...DEFAULTS, ...(prepared?.settings ?? {}), ...step.settings };
  state.preset = step.preset ?? "";
  state.selected = [];
  commit();
  words();
  $("lesson").hidden = false;
  show(step.moment ?? "start");
  $("lesson-title").scrollIntoView({ block: "nearest" });
  say(`${$("lesson-text").textContent} ${t("question")} ${$("lesson-question").textContent}`);
}

function words() {
  fillList();
  if (!lesson) return;
  const key = `lesson_${lesson.name}_${at + 1}`;
  $("lesson-title").textContent = t(`lesson_${lesson.name}`);
  $("lesson-count").textContent = `${at + 1} / ${lesson.states.length}`;
  $("lesson-text").textContent = t(key);
  $("lesson-question").textContent = t(`${key}_question`);
  $("lesson-answer").textContent = t(`${key}_answer`);
  $("lesson-details").open = false;
  $("lesson-back").disabled = at === 0;
  $("lesson-next").disabled = at === lesson.states.length - 1;
}

$("open-lessons").addEventListener("click", () => dialog.showModal());
$("lessons-cancel").addEventListener("click", () => dialog.close());
$("lesson-back").addEventListener("click", () => { at -= 1; enter(); });
$("lesson-next").addEventListener("click", () => { at += 1; enter(); });
$("lesson-close").addEventListener("click", () => {
  $("lesson").hidden = true;
  lesson = null;
});
on("words", words);
