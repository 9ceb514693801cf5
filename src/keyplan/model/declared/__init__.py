"""Declares tables, keys and fields of entities, access patterns, and the actions of writes."""
