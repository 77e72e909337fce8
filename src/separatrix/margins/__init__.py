"""Stage 2: the largest and the soft margin, and separation by linear program.

Rows flow in; an optimum flows out: weights, the multipliers that prove them, and the gap between. One method
a file; what they share stands in files of its own.
"""
