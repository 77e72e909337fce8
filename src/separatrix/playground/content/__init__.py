"""Presets and lessons of the playground."""
