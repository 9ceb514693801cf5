"""Keys planned from access patterns."""
