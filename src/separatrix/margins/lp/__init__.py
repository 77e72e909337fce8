"""Linear programs: the largest smallest score, and the cone of multipliers."""
