"""The experiments of the course, one file per theme."""
