"""Binds expressions, translates legacy parameters, and prepares writes for the operations."""
