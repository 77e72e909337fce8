"""Reports for people: one HTML file, and the words and tables in it."""
