"""Stored forms: instances as items, values as attributes, and values in keys."""
