"""Any file, query or stream as a table of numbers.

A path and the names of columns flow in; batches of rows of float64 flow out, with how each column was
encoded. `table` opens them, `sources` tells what a file is, `encoding` how columns become features; one
module reads each format, and `spill` keeps what is larger than memory.
"""
