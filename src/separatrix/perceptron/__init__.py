"""Stage 2: the perceptron in its primal form.

Input: rows. Output: a `Result` with weights, counts and history. `orders` chooses which mistake is corrected
next. The default order is `working_set`; with `mixing`, shards learn in parallel. A `run` makes `passes` and
scans, keeps the history and the best weights, looks for a cycle, and decides when to stop. A `learner` holds
the weights, the counts and the margin bracket. `voting` predicts with the votes of all weights of a run.
"""
