"""Small programs that show the library at work."""
