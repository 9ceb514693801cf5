"""Implements the keys, descriptions, policies and removal of tables."""
