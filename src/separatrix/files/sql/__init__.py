"""Queries of tables by DuckDB: which columns and rows are read."""
