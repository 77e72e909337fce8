r"""
Rows on a cluster
=================

When rows outgrow one machine, questions go to the rows: a Dask array lies in blocks on the workers. Weights, the
lowest scores, twelve bytes a row and the few rows of a working set travel; the others stay. Here two workers are threads of this process, so that the
page can be built anywhere; ``examples/cluster`` starts processes that talk over TLS, and nothing below changes.
"""

import dask.array as da
import separatrix as sx
from distributed import Client, LocalCluster

problem = sx.datasets.make_separable(100_000, 10, margin=0.02, random_state=0)
cluster = LocalCluster(
    n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
)
client = Client(cluster)
X = da.from_array(problem.X, chunks=(12_500, 10))
y = da.from_array(problem.y, chunks=12_500)
print(
    f"{X.shape[0]:,} rows in {X.numblocks[0]} blocks on {len(cluster.workers)} workers"
)

# %%
# A verdict with its proof. The proof is checked on the cluster, and, since it is a proof about the same rows, in
# memory too:

verdict = sx.separability(X, y)
print(verdict.status)
print(
    sx.verify(verdict.certificate, X, y).holds,
    sx.verify(verdict.certificate, problem.X, problem.y).holds,
)

# %%
# A model. With ``order="mixed"`` every block is a shard, which learns by itself; the weights are mixed after each
# pass. The theorem bounds mistakes weighed as their shards were:

model = sx.Perceptron(order="mixed").fit(X, y)
print(
    f"separated: {model.converged_}, {model.mistakes_} mistakes in {model.n_iter_} epochs"
)
bound = sx.mistake_bounds(model, problem.X, problem.y)
print(
    f"weighed {bound.mistakes:.1f}, and no more than {bound['Novikoff'].value:,.0f} are possible"
)

# %%
# The outcome depends on the blocks, not on who computes them: without a cluster, threads of this process give the
# same bits.

client.close()
cluster.close()
again = sx.Perceptron(order="mixed").fit(
    da.from_array(problem.X, chunks=(12_500, 10)), problem.y
)
print((again.coef_ == model.coef_).all())
