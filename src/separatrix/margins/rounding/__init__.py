"""Margins and gaps with all rounding errors counted in."""
