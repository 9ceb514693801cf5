"""Explanations: the exact requests of a pattern, without a store, and why it needs no scan."""
