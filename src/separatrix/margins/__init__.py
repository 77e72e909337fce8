"""Stage 2: the largest and the soft margin, and separation by linear program.

Rows flow in; a `Solution` flows out: weights, the multipliers that prove them, and the gap between the two.
Other packages call `hard.max_margin`, `soft.soft_margin` and `lp.linear_program`, which see rows through the
protocol, and verdicts call `lp.interior_point`. Both margins use
`soft.proximal_newton` on any rows and `soft.coordinate_descent` on rows in memory. They share `pairs` (the
working set), `brackets` (what is proved so far, steps and deadline) and `rounding` (the same bounds with all
rounding errors included).
"""
