"""The types of the playground's requests and answers, and how they are read and written."""
