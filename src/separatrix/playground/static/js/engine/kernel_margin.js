// The largest margin in the feature space of a kernel (Mitchell, Demyanov and Malozemov 1974): move weight from the highest
// to the lowest row of the combination, until their scores agree.

// Bounds of the margin of weights of length one, and the multipliers of the signed rows, whose sum is one.
export function kernelMargin(kernel, { rows, codes, present }, lift, { gap = 1e-6, rounds = 100_000 } = {}) {
  const values = rows.map((x) => rows.map((y) => kernel.at(x, y) + (lift ? 1 : 0)));
  const signed = present.length === 2
    ? rows.map((_, row) => ({ row, signs: [codes[row] ? 1 : -1] }))
    : rows.flatMap((_, row) => present.map((__, rival) => rival).filter((rival) => rival !== codes[row]).map((rival) => ({ row, signs: present.map((__, code) => (code === codes[row] ? 1 : code === rival ? -1 : 0)) })));
  const gram = signed.map((a) => Float64Array.from(signed, (b) => values[a.row][b.row] * a.signs.reduce((agree, sign, code) => agree + sign * b.signs[code], 0)));
  const shares = new Float64Array(signed.length);
  shares[0] = 1;
  const scores = Float64Array.from(gram[0]);
  const square = () => shares.reduce((total, share, at) => total + share * scores[at], 0);
  for (let round = 0; round < rounds; round += 1) {
    let low = 0, high = -1;
    for (let at = 0; at < signed.length; at += 1) {
      if (scores[at] < scores[low]) low = at;
      if (shares[at] > 0 && (high < 0 || scores[at] > scores[high])) high = at;
    }
    if (round % 16 === 0 && square() - scores[low] <= gap * Math.max(square(), 0)) break;
    const curve = gram[low][low] + gram[high][high] - 2 * gram[low][high];
    const step = Math.min(shares[high], curve > 0 ? (scores[high] - scores[low]) / curve : Infinity);
    if (!(step > 0)) break;
    shares[low] += step;
    shares[high] -= step;
    const [up, down] = [gram[low], gram[high]];
    for (let at = 0; at < signed.length; at += 1) scores[at] += step * (up[at] - down[at]);
  }
  const upper = Math.sqrt(Math.max(0, square()));
  return { lower: upper > 0 ? Math.min(...scores) / upper : 0, upper, shares, signed };
}
