"""The fewest errors of any hyperplane, between a lower and an upper end that are both proved."""
