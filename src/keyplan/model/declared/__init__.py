"""What a user writes: tables, entities' keys and fields, patterns and their parameters, the actions of a write."""
