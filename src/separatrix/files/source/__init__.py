"""What a file is before it is a table: its kind, its parts, its compression and its character set."""
