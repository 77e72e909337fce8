// Averaging and voting (Freund and Schapire 1999): how long the weights after each update lasted.

import { correction, winner } from "./scores.js";

// Return the scores of the vote at one place, where `near[row]` is the inner product with a row, and `outputs` are those of
// the first weights.
export function voteOf({ updates, visits }, codes, step) {
  const times = [0, ...updates.map(({ visit }) => visit), visits];
  const lasted = times.slice(1).map((time, at) => time - times[at]); // the visits that each weights survived
  return (near, outputs) => {
    const votes = new Array(outputs.length === 1 ? 2 : outputs.length).fill(0);
    votes[winner(outputs)] += lasted[0];
    for (let made = 0; made < updates.length; made += 1) {
      const { row, rival } = updates[made];
      const amount = step * near[row];
      if (outputs.length === 1) outputs[0] += codes[row] ? amount : -amount;
      else {
        outputs[codes[row]] += amount / 2;
        outputs[rival] -= amount / 2;
      }
      votes[winner(outputs)] += lasted[made + 1];
    }
    const shares = votes.map((count) => count / Math.max(1, visits));
    return outputs.length === 1 ? [shares[1] - shares[0]] : shares;
  };
}

// The coefficients of the mean of the weights over all visits, for a kernel.
export function averagedCoefficients(run, codes) {
  const mean = run.coefficients.map((each) => each && each.map(() => 0));
  for (const { row, rival, visit } of run.updates) {
    const late = 1 - visit / Math.max(1, run.visits);
    correction(mean[row].length, codes[row], rival, late).forEach((part, code) => { mean[row][code] += part; });
  }
  return mean;
}
