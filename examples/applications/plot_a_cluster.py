r"""
Rows on a cluster
=================

If the rows do not fit on one machine, they stay where they are: the blocks of a Dask array are on the workers. Only weights, the
lowest scores, nine bytes per row and the few rows of a working set are sent over the network. In this example the two workers are threads of one process, so that the
page can be built anywhere. ``examples/cluster`` starts separate processes that communicate over TLS, and the code below works there without changes.
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
# First, a verdict with its proof. We check the proof on the cluster. Since it is about the same rows, we can also check it in
# memory:

verdict = sx.separability(X, y)
print(verdict.status)
print(
    sx.verify(verdict.certificate, X, y).holds,
    sx.verify(verdict.certificate, problem.X, problem.y).holds,
)

# %%
# Next, a model. With ``order="mixed"``, every block is a shard that learns separately, and the weights are averaged after each
# pass. The theorem bounds the number of mistakes if each mistake is weighted by the share of its shard in the average:

model = sx.Perceptron(order="mixed").fit(X, y)
print(
    f"separated: {model.converged_}, {model.mistakes_} mistakes in {model.n_iter_} epochs"
)
bound = sx.mistake_bounds(model, problem.X, problem.y)
print(
    f"weighted mistakes: {bound.mistakes:.1f}; the bound is {bound['Novikoff'].value:,.0f}"
)

# %%
# The result depends on the blocks, but not on where they are processed. Without a cluster, threads of this process give exactly the
# same weights:

client.close()
cluster.close()
again = sx.Perceptron(order="mixed").fit(
    da.from_array(problem.X, chunks=(12_500, 10)), problem.y
)
print((again.coef_ == model.coef_).all())
