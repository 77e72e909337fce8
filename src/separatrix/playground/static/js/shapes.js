// Drawing only: the marks of the classes, polygons cut by half-planes, and the picture's coordinates.

export function colors() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    paper: read("paper"), ink: read("ink"), muted: read("muted"), faint: read("faint"), accent: read("accent"), good: read("good"), amber: read("amber"),
    classes: [0, 1, 2, 3].map((at) => read(`class-${at}`)),
  };
}

export const REGION = 0.16; // how strong the color of a region is

export function tint(color, paper, strength) {
  const parts = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const here = parts(paper);
  const mixed = parts(color).map((value, at) => Math.round(strength * value + (1 - strength) * here[at]));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

// The corners of a mark of the given radius; a circle has none.
export function corners(kind, x, y, r) {
  if (kind === 1) return [[x - 0.88 * r, y - 0.88 * r], [x + 0.88 * r, y - 0.88 * r], [x + 0.88 * r, y + 0.88 * r], [x - 0.88 * r, y + 0.88 * r]];
  if (kind === 2) return [[x, y - 1.15 * r], [x + r, y + 0.75 * r], [x - r, y + 0.75 * r]];
  if (kind === 3) return [[x, y - 1.2 * r], [x + 1.1 * r, y], [x, y + 1.2 * r], [x - 1.1 * r, y]];
  return null;
}

export function mark(pen, kind, x, y, r, paint) {
  const outline = corners(kind, x, y, r);
  if (outline) pen.path(outline, { ...paint, close: true });
  else pen.circle(x, y, r, paint);
}

export function markPath(kind, size = 14) {
  const outline = corners(kind, size / 2, size / 2, size / 2 - 2);
  if (!outline) return `M${size / 2} 2a${size / 2 - 2} ${size / 2 - 2} 0 1 0 .01 0z`;
  return `M${outline.map((point) => point.map((value) => value.toFixed(2)).join(" ")).join("L")}z`;
}

// The part of a convex polygon where a x + b y + c >= 0.
export function clip(polygon, [a, b, c]) {
  const kept = [];
  for (let i = 0; i < polygon.length; i += 1) {
    const [p, q] = [polygon[i], polygon[(i + 1) % polygon.length]];
    const [u, v] = [a * p[0] + b * p[1] + c, a * q[0] + b * q[1] + c];
    if (u >= 0) kept.push(p);
    if ((u > 0 && v < 0) || (u < 0 && v > 0)) {
      const share = u / (u - v);
      kept.push([p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])]);
    }
  }
  return kept;
}

// The part of a segment where a x + b y + c >= 0.
export function clipSegment(ends, [a, b, c]) {
  if (ends.length < 2) return [];
  const [p, q] = ends;
  const [u, v] = [a * p[0] + b * p[1] + c, a * q[0] + b * q[1] + c];
  if (u < 0 && v < 0) return [];
  if (u >= 0 && v >= 0) return [p, q];
  const share = u / (u - v);
  const middle = [p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])];
  return u >= 0 ? [p, middle] : [middle, q];
}

const less = (one, other) => one.map((value, at) => value - other[at]);

export const boxCorners = ({ left, right, bottom, top }) => [[left, bottom], [right, bottom], [right, top], [left, top]];

// The region in which the score of a class exceeds every other score by at least the level.
export function region(planes, label, box, level = 0) {
  let polygon = boxCorners(box);
  planes.forEach((other, at) => {
    if (at === label || !polygon.length) return;
    const [a, b, c] = less(planes[label], other);
    polygon = clip(polygon, [a, b, c - level]);
  });
  return polygon;
}

// The segment of a line a x + b y + c = 0 inside a box.
export function segment([a, b, c], box) {
  if (a === 0 && b === 0) return [];
  const side = clip(boxCorners(box), [a, b, c]);
  const size = Math.hypot(a, b) * Math.hypot(box.right - box.left, box.top - box.bottom);
  return side.filter(([x, y]) => Math.abs(a * x + b * y + c) <= 1e-9 * size + 1e-12 * Math.abs(c)).slice(0, 2);
}

// Between the coordinates of the points and those of the picture, with equal scales on both axes.
export function frame(box, width, height) {
  const scale = Math.min(width / (box.right - box.left), height / (box.top - box.bottom));
  const middle = [(box.left + box.right) / 2, (box.bottom + box.top) / 2];
  return {
    scale,
    toPicture: ([x, y]) => [width / 2 + (x - middle[0]) * scale, height / 2 - (y - middle[1]) * scale],
    toPoint: (px, py) => [middle[0] + (px - width / 2) / scale, middle[1] - (py - height / 2) / scale],
    shown: {
      left: middle[0] - width / 2 / scale, right: middle[0] + width / 2 / scale,
      bottom: middle[1] - height / 2 / scale, top: middle[1] + height / 2 / scale,
    },
  };
}

// Round steps for the ticks of an axis.
export function ticks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) found.push(Math.abs(value) < step * 1e-6 ? 0 : value);
  return found;
}
