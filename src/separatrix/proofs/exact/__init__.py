"""Exact linear algebra behind proofs: rational systems, integer matrices, Tucker's partition."""
