"""Stage 3: claims with their proofs, and the code that checks them."""
