"""Stage 1: signed rows.

A matrix with its class codes flows in; what solvers ask flows out: scans, outputs, a few rows copied into
memory. `protocol` says what a solver may ask, wherever the rows are; `memory` holds them, `threads` reads
them in parallel, `pages` hands back the pages of mapped files, `hashes` finds equal rows.
"""
