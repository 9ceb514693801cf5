"""Vector indexes and their rules."""
