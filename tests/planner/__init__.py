"""Keys derived from questions alone."""
