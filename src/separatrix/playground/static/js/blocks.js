// The kernel from blocks: sums, products, multiples and powers of simple ones.

import { element, number, t } from "./texts.js";

const KINDS = ["linear", "polynomial", "gaussian", "geometric", "sum", "product", "scaled", "power"];

function fresh(kind, old) {
  const inner = old && old.kind !== "sum" && old.kind !== "product" ? old : { kind: "linear" };
  return {
    linear: { kind }, polynomial: { kind, degree: 2, c: 1 }, gaussian: { kind, c: 1 }, geometric: { kind, degree: 3 },
    sum: { kind, parts: old?.parts ?? [inner, { kind: "gaussian", c: 1 }] },
    product: { kind, parts: old?.parts ?? [inner, { kind: "gaussian", c: 1 }] },
    scaled: { kind, part: old?.part ?? old?.parts?.[0] ?? inner, c: 2 },
    power: { kind, part: old?.part ?? old?.parts?.[0] ?? inner, exponent: 2 },
  }[kind];
}

export function formula(block) {
  const grouped = (part) => (["sum"].includes(part.kind) ? `(${formula(part)})` : formula(part));
  switch (block.kind) {
    case "linear": return "⟨x, x′⟩";
    case "polynomial": return `(${number(block.c)} + ⟨x, x′⟩)^${block.degree}`;
    case "gaussian": return `exp(−${number(block.c)} |x − x′|²)`;
    case "geometric": return `Σ ⟨x, x′⟩^j, j ≤ ${block.degree}`;
    case "sum": return block.parts.map(formula).join(" + ");
    case "product": return block.parts.map(grouped).join(" · ");
    case "scaled": return `${number(block.c)} · ${grouped(block.part)}`;
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
  const whole = { min: 1, max: 10, step: 1 };
  const real = { min: 1e-9, max: 1e6, step: "any" };
  if ("degree" in block) head.append(amount(block, "degree", "block_degree", whole, changed, path));
  if ("c" in block) head.append(amount(block, "c", "block_c", block.kind === "polynomial" ? { ...real, min: 0 } : real, changed, path));
  if ("exponent" in block) head.append(amount(block, "exponent", "block_exponent", whole, changed, path));
  if (remove) {
    const button = element("button", { type: "button", text: "×", "aria-label": t("block_remove"), title: t("block_remove") });
    button.addEventListener("click", remove);
    head.append(button);
  }
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
  return element(
    "fieldset",
    {},
    element("legend", { text: t("kernel") }),
    editor(block, changed, null, "kernel"),
    element("p", { className: "math formula", text: t("kernel_is", { formula: formula(block) }) }),
  );
}
