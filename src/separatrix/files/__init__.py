"""Any file, query or stream as a table of numbers.

A path and the names of columns flow in; batches of rows of float64 flow out, with the encoding of each
column. `source` finds out what a file is, and `table` opens it with the adapter of its format
(`table.FORMATS`), which yields named Arrow columns in batches (`named_columns`). `meaning` decides what a
column means, from all of its rows, and `named_reader` turns columns into rows. CSV files of plain numbers
have a reader of their own, which returns exactly what the general reader returns, or leaves the file to it.
LIBSVM and array files have no named columns. Data that are larger than memory are kept by `rows.spill`.
"""
