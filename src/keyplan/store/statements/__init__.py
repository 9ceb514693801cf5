"""PartiQL statements as native requests."""
