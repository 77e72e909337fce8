r"""
Anatomy of a certificate
========================

This example shows what the file that proves a verdict contains, and how to check it with nothing but fractions.
"""

import json
from fractions import Fraction

import numpy as np
import separatrix as sx

X = np.array(
    [[1.0, 31], [2, 45], [2, 62], [3, 29], [3, 51], [4, 47], [2.5, 33], [6, 58]]
)
y = np.array(["no", "no", "no", "no", "yes", "yes", "yes", "yes"])
verdict = sx.separability(X, y)
print(verdict.status)
certificate = json.loads(verdict.certificate.to_json())
print(json.dumps(certificate, indent=1)[:1500])
sx.plot.HullDisplay.from_verdict(verdict, X, y)

# %%
# Check it by hand
# ----------------
#
# Take the rows and multipliers that the verdict names. Lift each row, give it the sign of its class, multiply it by its multiplier, and add everything up. The sum is
# exactly zero. Every float is a fraction, so nothing is rounded.

signs = dict(zip(np.unique(y), (-1, 1), strict=True))
signed = [
    [signs[label] * Fraction(value) for value in (*row, 1.0)]
    for row, label in zip(X.tolist(), y, strict=True)
]
if verdict.witness_rows:
    total = [
        sum(weight * signed[row][j] for row, weight in verdict.witness_rows.items())
        for j in range(3)
    ]
    print("the weighted sum of the signed rows:", [str(value) for value in total])

# %%
# Check it with the library
# -------------------------

check = sx.verify(verdict.certificate, X, y)
print(check.holds, "-", check.reason)

# %%
# Finally, a false certificate, in which one multiplier is too large by one:

numbers = certificate["multipliers"]["fine"]
numbers[0] = str(int(numbers[0]) + 1)
lie = type(verdict.certificate).from_dict(certificate)
told = sx.verify(lie, X, y)
print(told.holds, "-", told.reason)
