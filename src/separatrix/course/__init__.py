"""Work sheets of the course: exercises with data by seed, sheets for students, a key, and a checker."""
