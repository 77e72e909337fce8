"""Everything that knows Dask: collections, and the workers of a cluster.

A Dask array or data frame flows in; a `rows.blocks.BlockMatrix` flows out, whose tasks run on the blocks.
`collections` reads a caller's X and y; `runners` has the workers of a client and the threads of this process;
`partitions` predicts, scores and learns partition by partition. The core imports nothing of this, except in
`inputs.matrix.distributed`, when a caller passes a collection.
"""

from .collections import read_collection, read_collection_labels
from .partitions import learn, mapped, score

__all__ = ["learn", "mapped", "read_collection", "read_collection_labels", "score"]
