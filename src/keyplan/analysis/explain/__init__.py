"""Explain a pattern: its exact requests, determined without a store, and why the pattern needs no scan."""
