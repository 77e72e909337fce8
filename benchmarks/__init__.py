"""Measurements against the best known alternatives: ``python -m benchmarks --help``."""
