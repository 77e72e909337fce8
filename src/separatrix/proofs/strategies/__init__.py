"""Methods that the search for a proof tries in turn, one per file."""
