// Five challenges with a score: what to start with, what counts, and the best so far.

import { DEFAULTS, begin, on, state } from "./state.js";
import { Refusal, ask } from "./api.js";
import { count, inside } from "./engine/kernels.js";
import { commit } from "./history.js";
import { silence } from "./hint.js";
import { linkNow } from "./link.js";
import { openRail } from "./rail.js";
import { copy } from "./share.js";
import { openTab } from "./tabs.js";
import { element, errorWords, number, say, t } from "./texts.js";

const SIX = [[-1.5, -0.5], [-0.75, 1], [0, -1.25], [0.25, 0.5], [1, -0.25], [1.5, 1.25]];
const points = (rows, labels) => ({ columns: ["x", "y"], classes: ["−", "+"], rows, labels });
const cubic = (degree) => ({ ...DEFAULTS, method: "kernel", kernel: { kind: "polynomial", degree, c: 1 }, updates: 5000 });
const unchanged = () => JSON.stringify(state.settings) === JSON.stringify(state.origin.settings);
const uses = (block, kind) => block.kind === kind || inside(block).some((part) => uses(part, kind));

// How far the only point that was moved is from its old place; null if not exactly one was moved.
function moved() {
  const { rows, labels } = state.origin.data;
  if (rows.length !== state.data.rows.length || JSON.stringify(labels) !== JSON.stringify(state.data.labels)) return null;
  const far = rows.map(([x, y], row) => Math.hypot(x - state.data.rows[row][0], y - state.data.rows[row][1])).filter((length) => length > 0);
  return far.length === 1 ? far[0] : null;
}

// Each: the tab, the start, whether a larger score is better, and the score, which is null while the rules are not kept.
const CHALLENGES = {
  mistakes: {
    view: "step", larger: true,
    start: () => ({ data: points([[1, 0.5], [0.5, 1], [-0.5, -1], [-1, -0.5]], [1, 1, 0, 0]), settings: { passes: 5000, updates: 20000 } }),
    score: () => (state.data.rows.length === 4 && unchanged() && state.run?.converged ? state.run.mistakes : null),
  },
  break: {
    view: "proof", larger: false,
    start: async () => ask("preset", { name: "separable" }),
    score: () => (state.verdict && !["separable", "undecided"].includes(state.verdict.status) ? moved() : null),
  },
  spirals: {
    view: "method", larger: false,
    start: async () => ({ data: (await ask("preset", { name: "spirals" })).data, settings: { method: "kernel", kernel: { kind: "linear" }, updates: 5000 } }),
    score: () => (state.data === state.origin.data && state.settings.method === "kernel" && state.run?.converged && !uses(state.settings.kernel, "gaussian") ? count(state.settings.kernel) : null),
  },
  margin: {
    view: "points", larger: true,
    start: () => ({ data: points(SIX, [1, 1, 0, 0, 0, 1]), settings: { method: "max_margin" } }),
    score: () => (JSON.stringify(state.data.rows) === JSON.stringify(SIX) && state.data.labels.filter(Boolean).length === 3 && unchanged() ? (state.run?.model.margin[0] ?? null) : null),
  },
  cubic: {
    view: "step", larger: false,
    start: () => ({ data: points([[-2, 0], [-0.5, 0.5], [0.5, -0.5], [2, 0.5], [1.5, -1], [-1.5, 1]], [0, 1, 0, 1, 0, 1]), settings: cubic(3) }),
    async score() {
      if (!unchanged() || state.verdict?.status !== "separable" || new Set(state.data.labels).size < 2) return null;
      const { status } = await ask("verdict", { data: state.data, settings: cubic(2) });
      return ["separable", "undecided"].includes(status) ? null : state.data.rows.length;
    },
  },
};

let show = () => {};
let name = "";
let now = null; // the score of the points that are shown
let problem = "";

const kept = (each) => {
  try {
    return JSON.parse(localStorage.getItem(`separatrix-best-${each}`));
  } catch {
    return null;
  }
};

function keep(score) {
  const best = kept(name);
  if (best !== null && (CHALLENGES[name].larger ? score <= best : score >= best)) return;
  try {
    localStorage.setItem(`separatrix-best-${name}`, JSON.stringify(score));
  } catch {
    // without storage, only the score of the moment is shown
  }
}

const written = (each, score) => (score === null ? "–" : t(`challenge_${each}_score`, { score: number(score, 4) }));

function button(words, action, attributes = {}) {
  const made = element("button", { type: "button", text: words, ...attributes });
  made.addEventListener("click", action);
  return made;
}

function list() {
  name = "";
  const items = Object.keys(CHALLENGES).map((each) => element("li", {}, button(`${t(`challenge_${each}`)}  ·  ${t("challenge_best", { best: written(each, kept(each)) })}`, () => enter(each))));
  openRail("challenges", t("challenges"), [element("p", { className: "small muted", text: t("challenges_help") }), element("ul", { className: "plain", id: "challenges-list" }, ...items)]);
}

async function enter(each) {
  name = each;
  silence();
  begin(await CHALLENGES[each].start());
  commit();
  openTab(CHALLENGES[each].view);
  show("end");
  await check();
}

function render() {
  const share = t("challenge_share", { title: t(`challenge_${name}`), score: written(name, kept(name)), link: linkNow() ?? "" });
  const answer = element("p", { className: "small", role: "status" });
  const rows = [
    element("p", { id: "challenge-goal", text: t(`challenge_${name}_goal`) }),
    element("p", { className: "score" }, element("span", { className: "muted", text: `${t("challenge_now")} ` }), element("strong", { id: "challenge-score", text: written(name, now) }), element("span", { className: "muted", text: ` ${t("challenge_best", { best: written(name, kept(name)) })}` })),
    ...(problem ? [element("p", { className: "small error", text: problem })] : []),
    element("div", { className: "row" }, button(t("challenge_again"), () => enter(name)), button(t("challenge_copy"), () => copy(share, null, (words) => { answer.textContent = words; }), { id: "challenge-copy", className: "primary", disabled: kept(name) === null }), button(t("challenge_list"), list)),
    answer,
  ];
  openRail("challenge", t(`challenge_${name}`), rows, () => { name = ""; });
}

async function check() {
  if (!name || state.shown !== state.data || state.judged !== state.data) return;
  const [asked, { data }] = [name, state];
  problem = "";
  let score = null;
  try {
    score = await CHALLENGES[name].score();
  } catch (failure) {
    if (!(failure instanceof Refusal)) throw failure;
    problem = errorWords(failure);
  }
  if (name !== asked || state.data !== data) return;
  if (score !== null && score !== now) {
    keep(score);
    say(written(name, score));
  }
  now = score;
  render();
}

export function setChallenges(shown) {
  show = shown;
}

document.getElementById("open-challenges").addEventListener("click", list);
on("run verdict", check);
on("words", () => { if (name) render(); });
