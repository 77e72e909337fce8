// The convex hull of points in the plane (Andrew's monotone chain).

const turn = ([ax, ay], [bx, by], [cx, cy]) => (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);

// The rows at its corners, in order around it; two if all lie on one line.
export function hullCorners(rows, members) {
  const sorted = [...members].sort((a, b) => rows[a][0] - rows[b][0] || rows[a][1] - rows[b][1] || a - b);
  const half = (order) => {
    const chain = [];
    for (const row of order) {
      while (chain.length > 1 && turn(rows[chain.at(-2)], rows[chain.at(-1)], rows[row]) <= 0) chain.pop();
      if (!chain.length || rows[row].some((value, at) => value !== rows[chain.at(-1)][at])) chain.push(row);
    }
    return chain;
  };
  const around = [...half(sorted).slice(0, -1), ...half([...sorted].reverse()).slice(0, -1)];
  return around.length ? [...new Set(around)] : sorted.slice(0, 1);
}
