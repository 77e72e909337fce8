// The form of the settings; it shows only those that the method uses.

import { state, on } from "./state.js";
import { commit } from "./history.js";
import { refresh } from "./refresh.js";
import { CHOICES, SIZES } from "./engine/requests.js";
import { kernelForm } from "./blocks.js";
import { element, errorWords, t } from "./texts.js";

const form = document.getElementById("settings");

const BUDGET = [2, 500, "whole"]; // or empty: no limit

export const GENTLE = 1 / 32; // the learning rate of Winnow, whose weights are at most one

export function change(values, { moment = "keep" } = {}) {
  state.settings = { ...state.settings, ...values };
  state.preset = "";
  tidy();
  commit();
  refresh({ moment });
  show();
}

// Change combinations of settings that the library would refuse.
function tidy() {
  const s = state.settings;
  if (["kernel", "passive_aggressive", "winnow"].includes(s.method) && s.order !== "shuffled") s.order = "cyclic";
  if (s.renormalise) s.margin = 0;
  if (s.order === "worst" && s.average !== "last") s.order = "cyclic";
  if (s.renormalise && s.average !== "last") s.renormalise = false;
  if (s.budget !== null && s.average !== "last" && s.method === "kernel") s.average = "last";
}

function choice(name, allowed = CHOICES[name]) {
  const select = element("select", { name });
  for (const value of allowed) {
    const option = element("option", { value, text: t(`${name}_${value}`) });
    option.selected = state.settings[name] === value;
    select.append(option);
  }
  select.addEventListener("change", () => {
    if (name === "method") change({ method: select.value, rate: select.value === "winnow" ? GENTLE : 1 }, { moment: "start" });
    else change({ [name]: select.value });
  });
  return element("label", { className: "stack" }, element("span", { text: t(name) }), select);
}

function numeric(name) {
  const [min, max, whole] = name === "budget" ? BUDGET : SIZES[name];
  const input = element("input", { type: "number", name, min, max, step: whole ? 1 : "any", value: state.settings[name] ?? "" });
  input.addEventListener("change", () => {
    if (name === "budget" && input.value === "") {
      change({ [name]: null });
      return;
    }
    const value = Number(input.value);
    if (input.value === "" || !input.checkValidity() || !Number.isFinite(value)) {
      input.reportValidity();
      return;
    }
    change({ [name]: value });
  });
  return element("label", { className: "stack" }, element("span", { text: t(name) }), input);
}

function flag(name) {
  const input = element("input", { type: "checkbox", name });
  input.checked = state.settings[name];
  input.addEventListener("change", () => change({ [name]: input.checked }));
  return element("label", { className: "inline small" }, input, element("span", { text: t(name) }));
}

const pair = (...parts) => element("div", { className: "pair" }, ...parts);

function parts() {
  const { method, order, start, average, renormalise, budget } = state.settings;
  if (method === "perceptron") {
    const chance = order === "shuffled" || start === "random" || (order === "working_set" && (average !== "last" || renormalise));
    return [
      pair(choice("order", average === "last" ? CHOICES.order : ["cyclic", "shuffled", "working_set"]), choice("average", order === "worst" || renormalise ? ["last"] : CHOICES.average)),
      pair(choice("start"), numeric("rate")),
      pair(numeric("updates"), chance ? numeric("seed") : numeric("passes")),
      ...(renormalise ? [] : [numeric("margin")]),
      flag("lift"),
      ...(average === "last" ? [flag("renormalise")] : []),
    ];
  }
  if (method === "kernel") {
    return [
      kernelForm(state.settings.kernel, (kernel) => change({ kernel })),
      pair(choice("order", ["cyclic", "shuffled"]), choice("average", budget !== null ? ["last"] : CHOICES.average)),
      pair(numeric("budget"), numeric("updates")),
      flag("lift"),
    ];
  }
  const visits = [pair(choice("order", ["cyclic", "shuffled"]), numeric(order === "shuffled" ? "seed" : "passes")), numeric("updates"), flag("lift")];
  if (method === "passive_aggressive") return [pair(choice("variant"), numeric("C")), ...visits];
  if (method === "winnow") return [numeric("rate"), ...visits];
  if (method === "network") return [];
  if (method === "soft_margin") return [pair(numeric("C"), choice("intercept")), flag("lift")];
  if (method === "max_margin") return [choice("intercept"), flag("lift")];
  return [choice("form"), flag("lift")];
}

// What the method does, or why there is no run of it.
const about = element("p");

function tellAbout() {
  const { failure, settings } = state;
  about.className = failure ? "small error" : "small muted";
  about.textContent = failure ? errorWords(failure) : t(`about_${settings.method}`);
}

export function show() {
  const focused = form.contains(document.activeElement) ? document.activeElement.name : "";
  form.replaceChildren(choice("method"), about, ...parts());
  if (focused) form.querySelector(`[name="${CSS.escape(focused)}"]`)?.focus();
}

form.addEventListener("submit", (event) => event.preventDefault());
on("settings words", show);
on("run settings words", tellAbout);
