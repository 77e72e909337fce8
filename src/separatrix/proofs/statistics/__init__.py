"""What a verdict says of a regression: which coefficients are infinite, and formulas of designs."""
