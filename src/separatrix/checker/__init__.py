"""A second checker of certificates, which shares no code with the rest of the package."""
