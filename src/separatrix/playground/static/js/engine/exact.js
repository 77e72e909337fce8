// Exact arithmetic: floats as integers times powers of two, and linear algebra with whole numbers of any size.

const view = new DataView(new ArrayBuffer(8));

// A float is whole * 2^power.
export function binary(value) {
  if (value === 0) return { whole: 0n, power: 0 };
  view.setFloat64(0, value);
  const high = view.getUint32(0);
  const exponent = (high >>> 20) & 0x7ff;
  let whole = (BigInt(high & 0xfffff) << 32n) | BigInt(view.getUint32(4));
  let power = exponent ? exponent - 1075 : -1074;
  if (exponent) whole |= 1n << 52n;
  while (!(whole & 1n)) {
    whole >>= 1n;
    power += 1;
  }
  return { whole: value < 0 ? -whole : whole, power };
}

export const absolute = (value) => (value < 0n ? -value : value);

export function divisor(a, b) {
  let [x, y] = [absolute(a), absolute(b)];
  while (y) [x, y] = [y, x % y];
  return x;
}

export function product(a, b) {
  let total = 0n;
  for (let at = 0; at < a.length; at += 1) if (a[at] && b[at]) total += a[at] * b[at];
  return total;
}

// Divide by the largest common divisor.
export function shortest(values) {
  const common = values.reduce(divisor, 0n);
  return common > 1n ? values.map((value) => value / common) : values;
}

// A fraction as text, in lowest terms.
export function fractionText(above, below) {
  const common = divisor(above, below) || 1n;
  const [top, bottom] = [above / common, below / common];
  return bottom === 1n ? String(top) : `${top}/${bottom}`;
}

// The float nearest to a fraction, up to rounding.
export function toFloat(above, below) {
  const size = absolute(above).toString(2).length - absolute(below).toString(2).length;
  const shift = BigInt(Math.max(0, 64 - size));
  const back = BigInt(Math.max(0, size - 64));
  return Number((above << shift) / (below << back)) * 2 ** (Number(back) - Number(shift));
}

// Columns of floats as columns of integers: each column is divided by a power of two. Returns also these powers.
export function wholeColumns(rows) {
  const parts = rows.map((row) => row.map(binary));
  const powers = rows[0].map((_, column) => parts.reduce((least, row) => (row[column].whole ? Math.min(least, row[column].power) : least), Infinity)).map((power) => (Number.isFinite(power) ? power : 0));
  const whole = parts.map((row) => row.map(({ whole: value, power }, column) => (value ? value << BigInt(power - powers[column]) : 0n)));
  return { whole, powers };
}

// Gauss and Jordan's elimination of integer rows: every pivot is the only nonzero number in its column.
function eliminate(rows, width) {
  const left = rows.map(shortest);
  const pivots = [];
  for (let column = 0; column < width; column += 1) {
    const at = left.findIndex((row, number) => number >= pivots.length && row[column]);
    if (at < 0) continue;
    const place = pivots.length;
    [left[place], left[at]] = [left[at], left[place]];
    const chosen = left[place];
    left.forEach((row, number) => {
      if (number !== place && row[column]) left[number] = shortest(row.map((value, entry) => value * chosen[column] - chosen[entry] * row[column]));
    });
    pivots.push(column);
  }
  return { rows: left.slice(0, pivots.length), pivots };
}

// A basis of the vectors that are perpendicular to all the given ones.
export function perpendicular(vectors, width) {
  const { rows, pivots } = eliminate(vectors, width);
  const scale = rows.reduce((common, row, at) => common * absolute(row[pivots[at]]) / divisor(common, row[pivots[at]]), 1n);
  const free = Array.from({ length: width }, (_, column) => column).filter((column) => !pivots.includes(column));
  return free.map((column) => {
    const found = new Array(width).fill(0n);
    found[column] = scale;
    rows.forEach((row, at) => { found[pivots[at]] = -row[column] * (scale / row[pivots[at]]); });
    return shortest(found);
  });
}

// Whole numbers and a positive one with sum numbers[i] * vectors[i] = below * target, for a target in the span.
export function express(vectors, target) {
  const equations = target.map((value, coordinate) => [...vectors.map((vector) => vector[coordinate]), value]);
  const { rows, pivots } = eliminate(equations, vectors.length);
  const below = rows.reduce((common, row, at) => common * absolute(row[pivots[at]]) / divisor(common, row[pivots[at]]), 1n);
  const numbers = vectors.map(() => 0n);
  rows.forEach((row, at) => { numbers[pivots[at]] = row[vectors.length] * (below / row[pivots[at]]); });
  return { numbers, below };
}
