"""Transports: how a request reaches a store. One module per kind of transport."""
