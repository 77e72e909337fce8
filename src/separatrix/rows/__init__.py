"""Stage 1: anything that holds data, seen as signed rows."""
