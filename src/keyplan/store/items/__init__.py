"""Encodes items, and writes them with their conditions and index entries."""
