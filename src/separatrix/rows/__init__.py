"""Stage 1: signed rows.

A matrix with its class codes flows in, and answers to the questions of solvers flow out: scans, outputs, a
few rows copied into memory. `protocol` lists the questions. `memory` answers them for rows in memory, with
the compiled loops or with `numpy_loops`, and `block_rows` for rows on a cluster. `threads` is the thread
pool, `hashing` finds equal rows, and `spill` keeps matrices that are larger than memory.
"""
