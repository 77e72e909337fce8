"""What the playground computes for a request."""
