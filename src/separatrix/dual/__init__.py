"""Stage 2: what is learnt through a kernel.

Rows with a kernel flow in; the updates or multipliers of rows flow out, a `KernelResult` or a
`KernelOptimum`: the kernel perceptron, with a budget or without, and the largest and the soft margin in
feature space.
"""
