"""Declarations of a design: tables, keys and fields of entities, patterns and their parameters, and the actions of
writes.
"""
