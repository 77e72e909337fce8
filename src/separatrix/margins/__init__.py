"""Stage 2: the largest and the soft margin, and separation by linear program.

Rows flow in; a `Solution` flows out: weights, the multipliers that prove them, and the gap between. Asked
from outside: `hard.max_margin`, `soft.soft_margin` and `lp.linear_program`, which see rows through the
protocol, and the two programs of verdicts, `lp.cone_program` and `lp.interior_point`. Methods of both
margins: `soft.proximal_newton` on rows anywhere, `soft.coordinate_descent` on rows in memory. Shared: `pairs`
(the working set), `brackets` (what is proved so far, steps and deadline), `rounding` (the same with all
rounding counted).
"""
