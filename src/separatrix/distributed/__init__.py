"""Everything that knows Dask: collections, the workers of a cluster, and the commands that use them.

A Dask array or data frame flows in; a `rows.blocks.BlockMatrix` flows out, whose tasks a runner of this
package sends to the blocks. `collections` reads a caller's X and y; `runners` has the workers of a client
and the threads of this process; `partitions` predicts, scores and learns partition by partition; `file_parts`
cuts a table for workers; `command_rows` connects a command to a cluster. The core imports nothing of this,
except in `inputs.dask_hook`, when a caller passes a collection.
"""

from .collections import read_collection, read_collection_labels
from .partitions import learn, mapped, score

__all__ = ["learn", "mapped", "read_collection", "read_collection_labels", "score"]
