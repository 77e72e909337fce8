// Build a kernel from blocks: sums, products, multiples, powers and exponentials of simple kernels.

import { element, number, t } from "./texts.js";

const KINDS = ["linear", "polynomial", "gaussian", "geometric", "sum", "product", "scaled", "shifted", "power", "exp"];
const AROUND = ["sum", "product", "scaled", "shifted", "power", "exp"];

function fresh(kind, old) {
  const inner = old && old.kind !== "sum" && old.kind !== "product" ? old : { kind: "linear" };
  const part = old?.part ?? old ?? inner; // a sum goes inside whole
  return {
    linear: { kind }, polynomial: { kind, degree: 2, c: 1 }, gaussian: { kind, c: 1 }, geometric: { kind, degree: 3 },
    sum: { kind, parts: old?.parts ?? [inner, { kind: "gaussian", c: 1 }] },
    product: { kind, parts: old?.parts ?? [inner, { kind: "gaussian", c: 1 }] },
    scaled: { kind, part, c: 2 }, shifted: { kind, part, c: 1 }, power: { kind, part, exponent: 2 }, exp: { kind, part },
  }[kind];
}

// Put a block around the whole kernel.
function around(kind, block) {
  if (kind === "sum" || kind === "product") return { kind, parts: block.kind === kind ? [...block.parts, { kind: "linear" }] : [block, { kind: "linear" }] };
  return fresh(kind, { part: block });
}

export function formula(block) {
  const grouped = (part) => (["sum", "shifted"].includes(part.kind) ? `(${formula(part)})` : formula(part));
  switch (block.kind) {
    case "linear": return "⟨x, x′⟩";
    case "polynomial": return `(${number(block.c)} + ⟨x, x′⟩)^${block.degree}`;
    case "gaussian": return `exp(−${number(block.c)} |x − x′|²)`;
    case "geometric": return `Σ ⟨x, x′⟩^j, j ≤ ${block.degree}`;
    case "sum": return block.parts.map(formula).join(" + ");
    case "product": return block.parts.map(grouped).join(" · ");
    case "scaled": return `${number(block.c)} · ${grouped(block.part)}`;
    case "shifted": return `${formula(block.part)} + ${number(block.c)}`;
    case "exp": return `exp(${formula(block.part)})`;
    default: return `(${formula(block.part)})^${block.exponent}`;
  }
}

function amount(block, name, label, { min, max, step }, changed, path) {
  const input = element("input", { type: "number", name: `${path}.${name}`, min, max, step, value: block[name], "aria-label": t(label), title: t(label) });
  input.addEventListener("change", () => {
    if (!input.checkValidity() || input.value === "") input.reportValidity();
    else changed({ ...block, [name]: Number(input.value) });
  });
  return element("label", { className: "inline small" }, element("span", { text: t(`${label}_short`) }), input);
}

function editor(block, changed, remove, path) {
  const select = element("select", { name: `${path}.kind`, "aria-label": t("block_kind") });
  for (const kind of KINDS) {
    const option = element("option", { value: kind, text: t(`block_${kind}`) });
    option.selected = kind === block.kind;
    select.append(option);
  }
  select.addEventListener("change", () => changed(fresh(select.value, block)));
  const head = element("div", { className: "head" }, select);
  if (block.part || remove) {
    const words = t(block.part ? "block_unwrap" : "block_remove");
    const button = element("button", { type: "button", text: "×", "aria-label": words, title: words });
    button.addEventListener("click", block.part ? () => changed(block.part) : remove);
    head.append(button);
  }
  const whole = { min: 1, max: 10, step: 1 };
  const real = { min: 1e-9, max: 1e6, step: "any" };
  if ("degree" in block) head.append(amount(block, "degree", "block_degree", whole, changed, path));
  if ("c" in block) head.append(amount(block, "c", "block_c", ["polynomial", "shifted"].includes(block.kind) ? { ...real, min: 0 } : real, changed, path));
  if ("exponent" in block) head.append(amount(block, "exponent", "block_exponent", whole, changed, path));
  const box = element("div", { className: "block" }, head);
  if (block.part) box.append(editor(block.part, (part) => changed({ ...block, part }), null, `${path}.part`));
  if (block.parts) {
    block.parts.forEach((part, at) => {
      const others = block.parts.filter((_, other) => other !== at);
      const replaced = (one) => changed({ ...block, parts: block.parts.map((old, other) => (other === at ? one : old)) });
      box.append(editor(part, replaced, block.parts.length > 1 ? () => changed({ ...block, parts: others }) : null, `${path}.${at}`));
    });
    const more = element("button", { type: "button", text: t("block_add") });
    more.addEventListener("click", () => changed({ ...block, parts: [...block.parts, { kind: "linear" }] }));
    box.append(more);
  }
  return box;
}

export function kernelForm(block, changed) {
  const buttons = AROUND.map((kind) => {
    const button = element("button", { type: "button", name: `around.${kind}`, text: t(`block_${kind}`) });
    button.addEventListener("click", () => changed(around(kind, block)));
    return button;
  });
  return element(
    "fieldset",
    {},
    element("legend", { text: t("kernel") }),
    editor(block, changed, null, "kernel"),
    element("div", { className: "row wrap around", role: "group", "aria-label": t("block_around") }, element("span", { className: "small", text: t("block_around") }), ...buttons),
    element("p", { className: "math formula", text: t("kernel_is", { formula: formula(block) }) }),
  );
}
