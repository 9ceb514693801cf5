"""PartiQL statements, executed like the equivalent API requests."""
