r"""
A million rows on a laptop
==========================

One million rows of twenty columns: is there a separator, with a proof? And with a few labels flipped?
"""

import time

import numpy as np
import separatrix as sx

problem = sx.datasets.make_separable(1_000_000, 20, margin=0.01, random_state=0)
sx.separability(problem.X[:1000], problem.y[:1000])  # compiles, once for this processor


def ask(y):
    begin = time.perf_counter()
    verdict = sx.separability(problem.X, y, quasi=False)
    middle = time.perf_counter()
    holds = sx.verify(verdict.certificate, problem.X, y).holds
    print(
        f"{verdict.status:12} in {middle - begin:.1f} s; "
        f"checked ({holds}) in {time.perf_counter() - middle:.1f} s"
    )
    return verdict


ask(problem.y)

# %%
# Three wrong labels in a million are enough, and a handful of rows prove it:

flipped = problem.y.copy()
flipped[np.random.default_rng(1).choice(len(flipped), 3, replace=False)] *= -1
verdict = ask(flipped)
print(f"{len(verdict.witness_rows)} rows weigh out to one point in both hulls")
