// One interface for drawing on two surfaces: a canvas for the screen, cards and films; SVG text for the file.

const FONT = 'system-ui, "Segoe UI", Roboto, Arial, sans-serif';

export class CanvasPen {
  constructor(context) {
    this.c = context;
    context.lineJoin = "round";
  }

  #paint({ fill, stroke, width = 1, dash = [], alpha = 1, round = false }) {
    const c = this.c;
    c.globalAlpha = alpha;
    if (fill) {
      c.fillStyle = fill;
      c.fill();
    }
    if (stroke) {
      c.strokeStyle = stroke;
      c.lineWidth = width;
      c.lineCap = round ? "round" : "butt";
      c.setLineDash(dash);
      c.stroke();
      c.setLineDash([]);
    }
    c.globalAlpha = 1;
  }

  // Several lines or areas in one stroke.
  paths(lines, options = {}) {
    const c = this.c;
    c.beginPath();
    for (const line of lines) {
      line.forEach(([x, y], at) => (at ? c.lineTo(x, y) : c.moveTo(x, y)));
      if (options.close) c.closePath();
    }
    this.#paint(options);
  }

  path(points, options = {}) {
    if (points.length > 1) this.paths([points], options);
  }

  circle(x, y, radius, options = {}) {
    this.c.beginPath();
    this.c.arc(x, y, Math.max(0, radius), 0, 2 * Math.PI);
    this.#paint(options);
  }

  text(words, x, y, { color, size = 12, anchor = "start", halo, weight = 400 } = {}) {
    const c = this.c;
    c.font = `${weight} ${size}px ${FONT}`;
    c.textAlign = anchor === "middle" ? "center" : anchor;
    if (halo) {
      c.strokeStyle = halo;
      c.lineWidth = 4;
      c.strokeText(words, x, y);
    }
    c.fillStyle = color;
    c.fillText(words, x, y);
  }

  width(words, size = 12, weight = 400) {
    this.c.font = `${weight} ${size}px ${FONT}`;
    return this.c.measureText(words).width;
  }
}

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (words) => String(words).replace(/[&<>"]/g, (letter) => escapes[letter]);
const short = (number) => Math.round(number * 100) / 100;

export class SvgPen {
  constructor(width, height, title) {
    this.parts = [];
    this.head = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img"><title>${escaped(title)}</title>`;
  }

  static paint({ fill, stroke, width = 1, dash = [], alpha = 1, round = false }) {
    let words = ` fill="${fill ?? "none"}"`;
    if (stroke) words += ` stroke="${stroke}" stroke-width="${width}" stroke-linejoin="round"`;
    if (stroke && round) words += ' stroke-linecap="round"';
    if (stroke && dash.length) words += ` stroke-dasharray="${dash.join(" ")}"`;
    if (alpha !== 1) words += ` opacity="${short(alpha)}"`;
    return words;
  }

  paths(lines, options = {}) {
    const end = options.close ? "Z" : "";
    const written = lines.map((points) => points.map(([x, y], at) => `${at ? "L" : "M"}${short(x)} ${short(y)}`).join("") + end);
    if (written.length) this.parts.push(`<path d="${written.join("")}"${SvgPen.paint(options)}/>`);
  }

  path(points, options = {}) {
    if (points.length > 1) this.paths([points], options);
  }

  circle(x, y, radius, options = {}) {
    this.parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${short(Math.max(0, radius))}"${SvgPen.paint(options)}/>`);
  }

  text(words, x, y, { color, size = 12, anchor = "start", weight = 400 } = {}) {
    this.parts.push(
      `<text x="${short(x)}" y="${short(y)}" fill="${color}" font-size="${size}" font-weight="${weight}" font-family="system-ui, sans-serif" text-anchor="${anchor}">${escaped(words)}</text>`,
    );
  }

  width(words, size = 12) {
    return words.length * size * 0.56;
  }

  toString() {
    return `${this.head}${this.parts.join("")}</svg>`;
  }
}
