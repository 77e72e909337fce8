"""Stage 2: the perceptron in its primal form.

Rows flow in, a `Result` flows out: weights, counts, history. `orders` chooses which mistake is corrected
next, with `working_set` as the default; in `mixing` shards learn side by side. A `run` leads a `learner`
(weights, counts, margin bracket) through passes, which a `visitor` makes, and scans; it keeps the history,
the best weights (`pocket`) and looks for a `cycle`. `voting` predicts by the votes of all weights of a run.
"""
