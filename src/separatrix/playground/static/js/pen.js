// One interface for drawing on two surfaces: a canvas for the screen and the PNG, SVG text for the file.

export class CanvasPen {
  constructor(context) {
    this.c = context;
  }

  path(points, { fill, stroke, width = 1, dash = [], close = false, alpha = 1 } = {}) {
    if (points.length < 2) return;
    const c = this.c;
    c.beginPath();
    points.forEach(([x, y], at) => (at ? c.lineTo(x, y) : c.moveTo(x, y)));
    if (close) c.closePath();
    c.globalAlpha = alpha;
    if (fill) {
      c.fillStyle = fill;
      c.fill();
    }
    if (stroke) {
      c.strokeStyle = stroke;
      c.lineWidth = width;
      c.setLineDash(dash);
      c.stroke();
      c.setLineDash([]);
    }
    c.globalAlpha = 1;
  }

  circle(x, y, radius, { fill, stroke, width = 1, dash = [] } = {}) {
    const c = this.c;
    c.beginPath();
    c.arc(x, y, radius, 0, 2 * Math.PI);
    if (fill) {
      c.fillStyle = fill;
      c.fill();
    }
    if (stroke) {
      c.strokeStyle = stroke;
      c.lineWidth = width;
      c.setLineDash(dash);
      c.stroke();
      c.setLineDash([]);
    }
  }

  text(words, x, y, { color, size = 12, anchor = "start", halo } = {}) {
    const c = this.c;
    c.font = `${size}px system-ui, "Segoe UI", Roboto, Arial, sans-serif`;
    c.textAlign = anchor === "middle" ? "center" : anchor;
    if (halo) {
      c.strokeStyle = halo;
      c.lineWidth = 3;
      c.strokeText(words, x, y);
    }
    c.fillStyle = color;
    c.fillText(words, x, y);
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

  static paint({ fill, stroke, width = 1, dash = [], alpha = 1 }) {
    let words = ` fill="${fill ?? "none"}"`;
    if (stroke) words += ` stroke="${stroke}" stroke-width="${width}"`;
    if (stroke && dash.length) words += ` stroke-dasharray="${dash.join(" ")}"`;
    if (alpha !== 1) words += ` opacity="${alpha}"`;
    return words;
  }

  path(points, options = {}) {
    if (points.length < 2) return;
    const line = points.map(([x, y], at) => `${at ? "L" : "M"}${short(x)} ${short(y)}`).join("");
    this.parts.push(`<path d="${line}${options.close ? "Z" : ""}"${SvgPen.paint(options)}/>`);
  }

  circle(x, y, radius, options = {}) {
    this.parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${short(radius)}"${SvgPen.paint(options)}/>`);
  }

  text(words, x, y, { color, size = 12, anchor = "start" } = {}) {
    this.parts.push(
      `<text x="${short(x)}" y="${short(y)}" fill="${color}" font-size="${size}" font-family="system-ui, sans-serif" text-anchor="${anchor}">${escaped(words)}</text>`,
    );
  }

  toString() {
    return `${this.head}${this.parts.join("")}</svg>`;
  }
}
