"""Stage 1: signed rows.

A matrix with its class codes flows in; what solvers ask flows out: scans, outputs, a few rows copied into
memory. `protocol` says what a solver may ask, wherever the rows are; `memory` holds them, `threads` reads
them in parallel, and `hashing` finds equal rows.
"""
