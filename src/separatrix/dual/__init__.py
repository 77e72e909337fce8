"""Stage 2: learning with a kernel.

Rows with a kernel flow in; a `KernelResult` or `KernelOptimum` with updates or multipliers of the rows flows
out. The methods are the kernel perceptron, with or without a budget, and the largest and the soft margin in
feature space.
"""
