// NumPy's default generator, PCG64 (O'Neill 2014), so that a seed gives the same shuffles and starts as in Python.

const BITS32 = 0xffffffffn;
const BITS64 = (1n << 64n) - 1n;
const BITS128 = (1n << 128n) - 1n;
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;

// The words that NumPy's SeedSequence makes of one seed.
function seedWords(seed, count) {
  let constant = 0x43b0d7e5;
  const hash = (value) => {
    let mixed = (value ^ constant) >>> 0;
    constant = Math.imul(constant, 0x931e8875) >>> 0;
    mixed = Math.imul(mixed, constant) >>> 0;
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
  const mix = (x, y) => {
    const mixed = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) >>> 0;
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
  const pool = [seed >>> 0, 0, 0, 0].map(hash);
  for (let from = 0; from < 4; from += 1) {
    for (let to = 0; to < 4; to += 1) if (from !== to) pool[to] = mix(pool[to], hash(pool[from]));
  }
  let factor = 0x8b51f9dd;
  return Array.from({ length: count }, (_, at) => {
    let word = (pool[at % 4] ^ factor) >>> 0;
    factor = Math.imul(factor, 0x58f38ded) >>> 0;
    word = Math.imul(word, factor) >>> 0;
    return BigInt((word ^ (word >>> 16)) >>> 0);
  });
}

export class Generator {
  constructor(seed) {
    const words = seedWords(seed, 8);
    const long = (at) => words[2 * at] | (words[2 * at + 1] << 32n);
    this.increment = ((((long(2) << 64n) | long(3)) << 1n) | 1n) & BITS128;
    this.state = 0n;
    this.step();
    this.state = (this.state + ((long(0) << 64n) | long(1))) & BITS128;
    this.step();
    this.kept = null; // the upper half of the last 64 bits, if it was not used
  }

  step() {
    this.state = (this.state * MULTIPLIER + this.increment) & BITS128;
  }

  bits64() {
    this.step();
    const folded = (this.state >> 64n) ^ (this.state & BITS64);
    const turn = this.state >> 122n;
    return ((folded >> turn) | (folded << ((64n - turn) & 63n))) & BITS64;
  }

  bits32() {
    if (this.kept !== null) {
      const word = this.kept;
      this.kept = null;
      return word;
    }
    const word = this.bits64();
    this.kept = Number(word >> 32n);
    return Number(word & BITS32);
  }

  // A number in [0, 1).
  uniform() {
    return Number(this.bits64() >> 11n) / 2 ** 53;
  }

  // A whole number from 0 to most: Lemire's method, without division in most cases.
  below(most) {
    if (most === 0) return 0;
    const size = BigInt(most) + 1n;
    let product = BigInt(this.bits32()) * size;
    if ((product & BITS32) < size) {
      const least = (BITS32 - BigInt(most)) % size;
      while ((product & BITS32) < least) product = BigInt(this.bits32()) * size;
    }
    return Number(product >> 32n);
  }

  permutation(values) {
    const mixed = [...values];
    for (let at = mixed.length - 1; at > 0; at -= 1) {
      const mask = 2 ** (32 - Math.clz32(at)) - 1;
      let other = at + 1;
      while (other > at) other = (this.bits32() & mask) >>> 0;
      [mixed[at], mixed[other]] = [mixed[other], mixed[at]];
    }
    return mixed;
  }

  // A standard normal number: the ziggurat of Marsaglia and Tsang (2000) with 256 layers.
  normal() {
    for (;;) {
      const word = this.bits64();
      const layer = Number(word & 0xffn);
      const size = (word >> 9n) & 0xfffffffffffffn;
      const x = (word >> 8n) & 1n ? -Number(size) * ZIGGURAT.widths[layer] : Number(size) * ZIGGURAT.widths[layer];
      if (Number(size) < ZIGGURAT.inside[layer]) return x;
      if (layer === 0) {
        for (;;) {
          const beyond = -Math.log1p(-this.uniform()) / TAIL;
          const height = -Math.log1p(-this.uniform());
          if (2 * height > beyond * beyond) return (size >> 8n) & 1n ? -(TAIL + beyond) : TAIL + beyond;
        }
      }
      const { heights } = ZIGGURAT;
      if ((heights[layer - 1] - heights[layer]) * this.uniform() + heights[layer] < Math.exp(-0.5 * x * x)) return x;
    }
  }
}

const TAIL = 3.6541528853610088; // where the tail begins
const AREA = 0.004928673233974655; // of each layer
const ZIGGURAT = ziggurat();

// Layers of equal area under exp(-x^2 / 2): their widths per step of the 52-bit grid, and the steps surely inside.
function ziggurat() {
  const widths = new Float64Array(256), inside = new Float64Array(256), heights = new Float64Array(256);
  const scale = 2 ** 52;
  const height = (x) => Math.exp(-0.5 * x * x);
  heights[255] = height(TAIL);
  widths[0] = AREA / heights[255] / scale;
  inside[0] = (TAIL * heights[255] / AREA) * scale;
  widths[255] = TAIL / scale;
  heights[0] = 1;
  let outer = TAIL;
  for (let layer = 254; layer > 0; layer -= 1) {
    const x = Math.sqrt(-2 * Math.log(AREA / outer + heights[layer + 1]));
    inside[layer + 1] = (x / outer) * scale;
    widths[layer] = x / scale;
    heights[layer] = height(x);
    outer = x;
  }
  return { widths, inside, heights };
}
