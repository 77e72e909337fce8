"""Examples: the gallery, the course, applications, and scripts."""
