// The same points with other learners: what each did, and what its theorem allows.

import { DEFAULTS, on, state } from "./state.js";
import { Refusal, ask } from "./api.js";
import { GENTLE } from "./method.js";
import { element, number, t, whole } from "./texts.js";

const LEARNERS = [
  { method: "perceptron" },
  { method: "perceptron", margin: 1 },
  { method: "passive_aggressive" },
  { method: "winnow", rate: GENTLE },
];
const box = document.getElementById("side-by-side");
const table = element("table");
box.append(element("summary"), element("p", { className: "small muted" }), table);

// What the theorem of the learner counts, and its bound; null if the learner does not take these points.
async function resultOf(learner) {
  const { data, settings: { lift } } = state;
  try {
    const { mistakes, proof, theorem } = await ask("run", { data, settings: { ...DEFAULTS, lift, ...learner }, box: null, live: false });
    const losses = theorem?.kind === "losses";
    return { made: losses ? t("side_losses", { value: number(theorem.values.at(-1), 3) }) : t(learner.margin ? "updates_many" : "mistakes_many", { count: whole(mistakes) }), bound: losses && theorem.bound !== null ? Math.ceil(theorem.bound) : proof.bound };
  } catch (problem) {
    if (problem instanceof Refusal) return null;
    throw problem;
  }
}

async function show() {
  const [summary, help] = box.children;
  summary.textContent = t("side_by_side");
  help.textContent = t("side_help");
  if (!box.open || state.shown !== state.data) return;
  const { data } = state;
  const lines = [];
  for (const learner of LEARNERS) {
    const found = await resultOf(learner);
    if (state.data !== data) return;
    const name = t(learner.margin ? "side_margin" : `method_${learner.method}`);
    if (found) lines.push(element("tr", {}, ...[name, found.made, found.bound === null ? "–" : whole(found.bound)].map((text) => element("td", { text }))));
  }
  const heads = ["method", "side_made", "side_allowed"].map((key) => element("th", { scope: "col", text: t(key) }));
  table.replaceChildren(element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...lines));
}

let due = 0;
const later = () => {
  clearTimeout(due); // while a point is dragged, the picture comes first
  due = setTimeout(show, 300);
};
box.addEventListener("toggle", show);
on("run words", later);
later();
