"""PartiQL statements as equivalent API requests."""
