"""Transports, which send requests to stores. Each kind of transport has a module."""
