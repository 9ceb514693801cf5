"""Transports: how a request reaches a store. One module a way."""
