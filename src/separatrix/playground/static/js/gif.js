// Animated GIF: the most frequent colors, and the compression of Lempel, Ziv and Welch.

const CELLS = 1 << 15; // colors in steps of 8 per channel
const cellOf = (data, at) => ((data[at] >> 3) << 10) | ((data[at + 1] >> 3) << 5) | (data[at + 2] >> 3);

// The 256 most frequent colors of some pictures, each the mean of its cell.
export function paletteOf(pictures) {
  const counts = new Uint32Array(CELLS);
  const sums = [0, 1, 2].map(() => new Float64Array(CELLS));
  for (const { data } of pictures) {
    for (let at = 0; at < data.length; at += 4) {
      const cell = cellOf(data, at);
      counts[cell] += 1;
      for (let channel = 0; channel < 3; channel += 1) sums[channel][cell] += data[at + channel];
    }
  }
  const used = [...counts.keys()].filter((cell) => counts[cell] > 0).sort((one, other) => counts[other] - counts[one]).slice(0, 256);
  return used.map((cell) => sums.map((sum) => Math.round(sum[cell] / counts[cell])));
}

function nearest(palette, red, green, blue) {
  let [best, least] = [0, Infinity];
  palette.forEach(([r, g, b], at) => {
    const apart = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
    if (apart < least) [best, least] = [at, apart];
  });
  return best;
}

// Codes of growing width, in blocks of at most 255 bytes.
function compress(indices, out) {
  const codes = new Int32Array(1 << 20).fill(-1); // prefix and next index -> table number and code
  let [table, next, width, held, bits, prefix] = [0, 258, 9, 0, 0, indices[0]];
  let block = [];
  const put = (code) => {
    held |= code << bits;
    bits += width;
    while (bits >= 8) {
      block.push(held & 255);
      held >>>= 8;
      bits -= 8;
      if (block.length === 255) {
        out.push(255, ...block);
        block = [];
      }
    }
  };
  out.push(8);
  put(256);
  for (let at = 1; at < indices.length; at += 1) {
    const key = (prefix << 8) | indices[at];
    const found = codes[key];
    if (found >= 0 && found >> 12 === table) {
      prefix = found & 4095;
      continue;
    }
    put(prefix);
    prefix = indices[at];
    if (next < 4096) {
      codes[key] = (table << 12) | next;
      if (next === 1 << width) width += 1;
      next += 1;
    } else {
      put(256);
      table += 1;
      [next, width] = [258, 9];
    }
  }
  put(prefix);
  put(257);
  if (bits > 0) block.push(held & 255);
  if (block.length) out.push(block.length, ...block);
  out.push(0);
}

const two = (value) => [value & 255, value >> 8];

export class Gif {
  #bytes = [];
  #parts = [];

  constructor(width, height, palette) {
    this.size = [width, height];
    this.palette = palette;
    this.known = new Int16Array(CELLS).fill(-1);
    const colors = Array.from({ length: 256 }, (_, at) => palette[at] ?? [0, 0, 0]).flat();
    const forever = [0x21, 0xff, 11, ...[..."NETSCAPE2.0"].map((letter) => letter.charCodeAt(0)), 3, 1, 0, 0, 0];
    this.#bytes = [...[..."GIF89a"].map((letter) => letter.charCodeAt(0)), ...two(width), ...two(height), 0xf7, 0, 0, ...colors, ...forever];
  }

  // Add a picture, shown for some hundredths of a second.
  add({ data }, hundredths) {
    const indices = new Uint8Array(data.length / 4);
    for (let pixel = 0, at = 0; at < data.length; pixel += 1, at += 4) {
      const cell = cellOf(data, at);
      if (this.known[cell] < 0) this.known[cell] = nearest(this.palette, data[at], data[at + 1], data[at + 2]);
      indices[pixel] = this.known[cell];
    }
    this.#bytes.push(0x21, 0xf9, 4, 4, ...two(Math.round(hundredths)), 0, 0, 0x2c, 0, 0, 0, 0, ...this.size.flatMap(two), 0);
    compress(indices, this.#bytes);
    this.#parts.push(Uint8Array.from(this.#bytes));
    this.#bytes = [];
  }

  finish() {
    return new Blob([...this.#parts, Uint8Array.of(0x3b)], { type: "image/gif" });
  }
}
