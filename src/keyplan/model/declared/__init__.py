"""Declarations of a design: tables, keys and fields of entities, patterns, and the actions of writes."""
