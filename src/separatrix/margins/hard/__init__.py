"""The largest margin of separable rows."""
