"""Stage 2: the perceptron in its primal form.

Rows flow in, a `Result` flows out: weights, counts, history. `orders` chooses which mistake is corrected
next, `run` is the state of a run, `working_set` the default order, and `voting` predicts by the votes of all
weights of a run.
"""
