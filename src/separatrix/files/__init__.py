"""Any file, query or stream as a table of numbers.

A path and the names of columns flow in; batches of rows of float64 flow out, with how each column was
encoded. `sources` tells what a file is, `table` opens it with the reader of its format (`table.FORMATS`),
`encoding` says how columns become features; one module reads each format, `query` and `database` let DuckDB
read what those leave, and `spill` keeps what is larger than memory.
"""
