"""Any file, query or stream as a table of numbers.

A path and the names of columns flow in; batches of rows of float64 flow out, with how each column was
encoded. `source` tells what a file is, and `table` opens it with the adapter of its format
(`table.FORMATS`), which yields named Arrow columns in batches (`columns`). `meaning` decides what a column
means, from all of its rows; `features` turns columns into rows. Plain numbers in CSV, LIBSVM and array files
have readers of their own, which give exactly what the general way gives, or leave the file to it. `spill`
keeps what is larger than memory.
"""
