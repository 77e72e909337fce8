// SHA-256 (FIPS 180-4). Browsers offer their own only to pages with a secure address.

const primes = [];
for (let number = 2; primes.length < 64; number += 1) if (primes.every((prime) => number % prime)) primes.push(number);
// The first 32 bits of the fractional part of a root, by whole numbers.
function rootBits(prime, degree) {
  const target = BigInt(prime) << BigInt(32 * degree);
  let low = 0n, high = 1n << 40n;
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (middle ** BigInt(degree) <= target) low = middle;
    else high = middle;
  }
  return Number(low & 0xffffffffn);
}
const START = primes.slice(0, 8).map((prime) => rootBits(prime, 2));
const CONSTANTS = primes.map((prime) => rootBits(prime, 3));
const turn = (word, bits) => (word >>> bits) | (word << (32 - bits));

export function sha256(bytes) {
  const size = Math.ceil((bytes.length + 9) / 64) * 64;
  const padded = new Uint8Array(size);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const words = new DataView(padded.buffer);
  words.setBigUint64(size - 8, BigInt(bytes.length) * 8n);
  const state = Uint32Array.from(START);
  const schedule = new Uint32Array(64);
  for (let block = 0; block < size; block += 64) {
    for (let at = 0; at < 16; at += 1) schedule[at] = words.getUint32(block + 4 * at);
    for (let at = 16; at < 64; at += 1) {
      const [a, b] = [schedule[at - 15], schedule[at - 2]];
      schedule[at] = schedule[at - 16] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + schedule[at - 7] + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let at = 0; at < 64; at += 1) {
      const one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + CONSTANTS[at] + schedule[at];
      const two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) >>> 0, c, b, a, (one + two) >>> 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, at) => { state[at] += value; });
  }
  const digest = new Uint8Array(32);
  state.forEach((word, at) => new DataView(digest.buffer).setUint32(4 * at, word));
  return digest;
}

export const hexadecimal = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
