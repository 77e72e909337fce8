"""Stage 2: from rows to a result, one file a method."""
