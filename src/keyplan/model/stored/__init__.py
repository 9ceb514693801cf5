"""Converts instances to items and back, and field values to the values of attributes and keys."""
