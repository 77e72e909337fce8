"""Stage 2: the largest and the soft margin, and separation by linear program.

Rows flow in; an optimum flows out: weights, the multipliers that prove them, and the gap between. Asked from
outside: `max_margin`, `soft_margin` and `linear_program`, which see rows through the protocol, and the
verdict's own `cone_program`. Methods: `proximal_newton` (with `newton_system`) on rows anywhere;
`dual_ascent`, `hard_ascent`, `coordinate_descent` and `pivoting` on rows in memory. Shared: `pairs` and
`working_problem` (the working set), `brackets` (what is proved so far), `effort` (steps, deadline),
`algebra`, `multipliers`, `highs`.
"""
