"""Shared parts of requests: bound expressions, legacy parameters, and prepared writes."""
