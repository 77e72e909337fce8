// The Python program that repeats a run and prints what is shown.

const WEIGHTS = 'print("weights", model.coef_, "intercept", model.intercept_)';
const ENDING = 'print(model.result_.status.value, f"{model.mistakes_} mistakes")';
const PRINTS = {
  perceptron: [ENDING, WEIGHTS, "trace = model.result_.trace  # every update: rows, scores before, weights after", "# sx.plot.RunDisplay.from_estimator(model, X, y).save('run.gif')"],
  kernel: [ENDING, 'print("support", model.support_, "coefficients", model.dual_coef_.tolist())', "# sx.plot.kernel_film(model, X, y).save('run.gif')"],
  passive_aggressive: [ENDING, WEIGHTS, "print(sx.mistake_bounds(model, X, y).summary())"],
  winnow: [ENDING, WEIGHTS, "print(sx.mistake_bounds(model, X, y).summary())"],
  network: ["for unit in model.units_:  # another search than the page's: the units may differ", "    print(unit)", 'print("default", model.default_, "errors", model.errors_)'],
  max_margin: [WEIGHTS, 'print("margin between", model.margin_lower_, "and", model.margin_upper_)'],
  soft_margin: [WEIGHTS, 'print("objective", model.objective_, "and its lower bound", model.dual_objective_)'],
  linear_program: [WEIGHTS],
};

// A float as Python writes it.
export function float(value) {
  if (Number.isInteger(value) && Math.abs(value) < 1e16) return Object.is(value, -0) ? "-0.0" : `${value}.0`;
  const [digits, exponent] = value.toExponential().split("e").map((part, at) => (at ? Number(part) : part));
  if (exponent >= -4 && exponent < 16) return exponent < 0 ? value.toFixed(digits.replace(/[-.]/g, "").length - 1 - exponent) : String(value);
  return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

// Text as Python writes it.
function text(value) {
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  const escaped = value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");
  return `${quote}${quote === "'" ? escaped.replaceAll("'", "\\'") : escaped}${quote}`;
}

const list = (values, write) => `[${values.map(write).join(", ")}]`;

// A kernel as an expression.
export function kernelSource(block) {
  const amount = (name) => `${name}=${name === "c" ? float(block.c) : block[name]}`;
  switch (block.kind) {
    case "sum":
    case "product": {
      const joined = block.parts.map(kernelSource).join(block.kind === "sum" ? " + " : " * ");
      return block.parts.length > 1 ? `(${joined})` : joined;
    }
    case "scaled": return `(${float(block.c)} * ${kernelSource(block.part)})`;
    case "shifted": return `(${kernelSource(block.part)} + ${float(block.c)})`;
    case "power": return `(${kernelSource(block.part)})**${block.exponent}`;
    case "exp": return `sx.kernels.exp(${kernelSource(block.part)})`;
    case "polynomial": return `sx.kernels.Polynomial(${amount("degree")}, ${amount("c")})`;
    case "gaussian": return `sx.kernels.Gaussian(${amount("c")})`;
    case "geometric": return `sx.kernels.Geometric(${amount("degree")})`;
    default: return "sx.kernels.Linear()";
  }
}

// The parameters that differ from the usual ones, by name.
function parameters(settings) {
  const steps = {
    average: settings.average === "last" ? null : text(settings.average),
    fit_intercept: settings.lift ? null : "False",
    max_iter: settings.passes === 100 ? null : settings.passes,
    max_updates: settings.updates,
    order: text(settings.order),
    random_state: settings.seed,
    trace: "True",
  };
  switch (settings.method) {
    case "perceptron":
      return {
        ...steps,
        eta0: settings.rate === 1 ? null : float(settings.rate),
        init: settings.start === "zeros" ? null : text(settings.start),
        margin: settings.margin === 0 ? null : float(settings.margin),
        n_iter_no_change: "None",
        order: settings.order === "working_set" ? null : steps.order,
        renormalise: settings.renormalise ? "True" : null,
      };
    case "kernel": return { ...steps, budget: settings.budget, kernel: kernelSource(settings.kernel), order: settings.order === "cyclic" ? null : steps.order };
    case "passive_aggressive":
    case "winnow": return {
      ...(settings.method === "winnow" ? { eta0: float(settings.rate) } : { C: float(settings.C), variant: text(settings.variant) }),
      fit_intercept: steps.fit_intercept,
      max_iter: settings.passes,
      order: text(settings.order === "shuffled" ? "shuffled" : "cyclic"),
      random_state: settings.seed,
    };
    case "network": return {};
    case "linear_program": return { fit_intercept: steps.fit_intercept, form: settings.form === "primal" ? null : text(settings.form) };
    default: return {
      C: settings.method === "soft_margin" ? float(settings.C) : null,
      fit_intercept: !settings.lift ? "False" : settings.intercept === "lifted" ? text("lifted") : "True",
    };
  }
}

const NAMES = { perceptron: "Perceptron", kernel: "KernelPerceptron", passive_aggressive: "PassiveAggressive", winnow: "Winnow", network: "PerceptronNetwork", max_margin: "MaxMargin", soft_margin: "SoftMargin", linear_program: "LinearProgram" };

export function script({ columns, classes, rows, labels }, settings) {
  const given = Object.entries(parameters(settings)).filter(([, value]) => value !== null).sort(([a], [b]) => (a < b ? -1 : 1));
  const kernel = settings.method === "kernel" ? `, kernel=${kernelSource(settings.kernel)}` : "";
  const lines = [
    "import numpy as np",
    "import separatrix as sx",
    "",
    `columns = ${list(columns, text)}`,
    `names = ${list(classes, text)}  # of the classes 0, 1, ...`,
    "X = np.array([",
    ...rows.map((row) => `    ${list(row, float)},`),
    "])",
    `y = np.array(${list(labels, String)})`,
    "",
    `model = sx.${NAMES[settings.method]}(${given.map(([name, value]) => `${name}=${value}`).join(", ")})`,
    "model.fit(X, y)",
    "",
    ...PRINTS[settings.method],
    "",
    `verdict = sx.separability(X, y${kernel}${settings.lift ? "" : ", fit_intercept=False"})`,
    "print(verdict)",
    "if verdict.certificate is not None:",
    "    print(sx.verify(verdict.certificate, X, y))",
  ];
  return `${lines.join("\n")}\n`;
}
