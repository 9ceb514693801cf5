"""Throttling and index lag, simulated on request."""
