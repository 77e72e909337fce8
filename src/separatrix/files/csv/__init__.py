"""CSV files: header, line ends, and readers of their rows."""
